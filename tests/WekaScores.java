import weka.attributeSelection.ASEvaluation;
import weka.attributeSelection.AttributeEvaluator;
import weka.core.Instances;
import weka.core.Utils;
import weka.core.converters.ConverterUtils.DataSource;

/**
 * Prints, for each attribute of a file but the last, the class, its scores by some evaluators, each given as the name of
 * its class and options, such as "weka.attributeSelection.InfoGainAttributeEval -B".
 */
public class WekaScores {
  public static void main(String[] arguments) throws Exception {
    Instances data = DataSource.read(arguments[0]);
    data.setClassIndex(data.numAttributes() - 1);
    AttributeEvaluator[] evaluators = new AttributeEvaluator[arguments.length - 1];
    for (int k = 0; k < evaluators.length; k++) {
      String[] words = Utils.splitOptions(arguments[k + 1]);
      String name = words[0];
      words[0] = "";
      ASEvaluation evaluator = ASEvaluation.forName(name, words);
      evaluator.buildEvaluator(data);
      evaluators[k] = (AttributeEvaluator) evaluator;
    }
    StringBuilder text = new StringBuilder();
    for (int i = 0; i + 1 < data.numAttributes(); i++) {
      for (AttributeEvaluator evaluator : evaluators) {
        text.append(evaluator.evaluateAttribute(i)).append(' ');
      }
      text.append('\n');
    }
    System.out.print(text);
  }
}
