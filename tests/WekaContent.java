import java.io.File;
import java.io.PrintStream;
import weka.core.Attribute;
import weka.core.Instance;
import weka.core.Instances;
import weka.core.converters.AbstractFileLoader;
import weka.core.converters.ArffLoader;
import weka.core.converters.XRFFLoader;

/** Prints what Weka (3.6 or 3.9) reads from each ARFF or XRFF file that is named, one line of JSON a file. */
public class WekaContent {
  static String text(String s) {
    StringBuilder b = new StringBuilder("\"");
    for (char c : s.toCharArray()) {
      if (c == '"' || c == '\\' || c < 32 || c > 126) b.append(String.format("\\u%04x", (int) c));
      else b.append(c);
    }
    return b.append('"').toString();
  }

  static String number(double v) {
    if (Double.isInfinite(v)) return text(Double.toString(v));
    return Double.isNaN(v) ? "null" : Double.toString(v);
  }

  static String attributes(Instances data) {
    StringBuilder b = new StringBuilder("[");
    for (int j = 0; j < data.numAttributes(); j++) {
      Attribute a = data.attribute(j);
      b.append(j > 0 ? "," : "").append("{\"name\":").append(text(a.name()));
      b.append(",\"weight\":").append(number(a.weight())).append(",\"type\":");
      if (a.isDate()) {
        b.append("\"date\",\"format\":").append(text(a.getDateFormat()));
      } else if (a.isNominal()) {
        b.append("\"nominal\",\"values\":[");
        for (int v = 0; v < a.numValues(); v++) b.append(v > 0 ? "," : "").append(text(a.value(v)));
        b.append("]");
      } else if (a.isRelationValued()) {
        b.append("\"relational\",\"attributes\":").append(attributes(a.relation()));
      } else {
        b.append(a.isString() ? "\"string\"" : "\"numeric\"");
      }
      b.append("}");
    }
    return b.append("]").toString();
  }

  static String value(Instance row, int j) {
    Attribute a = row.attribute(j);
    if (Double.isNaN(row.value(j))) return "null";
    if (a.isNominal() || a.isString()) return text(a.value((int) row.value(j)));
    return a.isRelationValued() ? rows(a.relation((int) row.value(j))) : number(row.value(j));
  }

  static String rows(Instances data) {
    StringBuilder b = new StringBuilder("[");
    for (int i = 0; i < data.numInstances(); i++) {
      Instance row = data.instance(i);
      b.append(i > 0 ? "," : "").append("{\"weight\":").append(number(row.weight())).append(",\"values\":[");
      for (int j = 0; j < data.numAttributes(); j++) b.append(j > 0 ? "," : "").append(value(row, j));
      b.append("]}");
    }
    return b.append("]").toString();
  }

  public static void main(String[] files) throws Exception {
    PrintStream out = new PrintStream(System.out, false, "US-ASCII");
    for (String file : files) {
      try {
        AbstractFileLoader loader = file.endsWith(".xrff") ? new XRFFLoader() : new ArffLoader();
        loader.setFile(new File(file));
        Instances data = loader.getDataSet();
        String relation = text(data.relationName());
        out.println("{\"relation\":" + relation + ",\"attributes\":" + attributes(data) + ",\"rows\":" + rows(data) + "}");
      } catch (Exception error) {
        out.println("{\"error\":" + text(error.toString()) + "}");
      }
    }
    out.flush();
  }
}
