import weka.attributeSelection.ASEvaluation;
import weka.attributeSelection.BestFirst;
import weka.core.Instances;
import weka.core.Utils;
import weka.core.converters.ConverterUtils.DataSource;
import weka.attributeSelection.SubsetEvaluator;

/** Prints the numbers from 0 of the attributes that BestFirst chooses from a file whose last attribute is the class. */
public class WekaSubset {
  public static void main(String[] arguments) throws Exception {
    Instances data = DataSource.read(arguments[0]);
    data.setClassIndex(data.numAttributes() - 1);
    String[] words = Utils.splitOptions(arguments[1]);
    String name = words[0];
    words[0] = "";
    ASEvaluation evaluator = ASEvaluation.forName(name, words);
    evaluator.buildEvaluator(data);
    BestFirst search = new BestFirst();
    for (int attribute : evaluator.postProcess(search.search(evaluator, data))) {
      System.out.println(attribute);
    }
  }
}
