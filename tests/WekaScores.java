import weka.attributeSelection.ASEvaluation;
import weka.attributeSelection.AttributeEvaluator;
import weka.core.Instances;
import weka.core.converters.ConverterUtils.DataSource;

/** Prints what a Weka evaluator, with option -B, says of each attribute but the class, which is the last, in full. */
public class WekaScores {
  public static void main(String[] arguments) throws Exception {
    Instances data = DataSource.read(arguments[1]);
    data.setClassIndex(data.numAttributes() - 1);
    ASEvaluation evaluator = ASEvaluation.forName(arguments[0], new String[] {"-B"});
    evaluator.buildEvaluator(data);
    StringBuilder text = new StringBuilder();
    for (int i = 0; i + 1 < data.numAttributes(); i++) {
      text.append(((AttributeEvaluator) evaluator).evaluateAttribute(i)).append('\n');
    }
    System.out.print(text);
  }
}
