import java.io.BufferedReader;
import java.io.InputStreamReader;
import weka.attributeSelection.ASEvaluation;
import weka.attributeSelection.AttributeEvaluator;
import weka.core.Instances;
import weka.core.OptionHandler;
import weka.core.Utils;
import weka.core.converters.ConverterUtils.DataSource;
import weka.filters.Filter;

/**
 * Answers many questions in one process. Each line of standard input is a file, a tabulator, and the name of a class with
 * options. A filter puts out the file as ARFF, and a supervised one takes the last attribute as the class; an evaluator of
 * attributes puts out a score a line, for each attribute but the last, the class. A line of a single form feed ends each answer.
 */
public class WekaAnswers {
  public static void main(String[] arguments) throws Exception {
    BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      String[] parts = line.split("\t");
      Instances data = DataSource.read(parts[0]);
      String[] words = Utils.splitOptions(parts[1]);
      String name = words[0];
      words[0] = "";
      System.out.print(name.startsWith("weka.filters.") ? filtered(data, name, words) : scores(data, name, words));
      System.out.println("\n\f");
    }
  }

  static String filtered(Instances data, String name, String[] words) throws Exception {
    if (name.startsWith("weka.filters.supervised.")) {
      data.setClassIndex(data.numAttributes() - 1);
    }
    Filter filter = (Filter) Class.forName(name).getDeclaredConstructor().newInstance();
    ((OptionHandler) filter).setOptions(words);
    filter.setInputFormat(data);
    return Filter.useFilter(data, filter).toString();
  }

  static String scores(Instances data, String name, String[] words) throws Exception {
    data.setClassIndex(data.numAttributes() - 1);
    ASEvaluation evaluator = ASEvaluation.forName(name, words);
    evaluator.buildEvaluator(data);
    StringBuilder text = new StringBuilder();
    for (int i = 0; i + 1 < data.numAttributes(); i++) {
      text.append(((AttributeEvaluator) evaluator).evaluateAttribute(i)).append('\n');
    }
    return text.toString();
  }
}
