import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.nio.charset.StandardCharsets;

/**
 * Runs one program after the other in this process, as standard input asks: the number of words; each word, the name of
 * a class and its arguments; and what the program gets as standard input. It answers with 0, or 1 for a failure, and
 * with what the program wrote to standard output and to standard error. Each text comes as its length and bytes.
 */
public class WekaServer {
  public static void main(String[] none) throws Exception {
    DataInputStream questions = new DataInputStream(System.in);
    DataOutputStream answers = new DataOutputStream(System.out);
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    ByteArrayOutputStream errors = new ByteArrayOutputStream();
    while (true) {
      String[] words;
      try {
        words = new String[questions.readInt()];
      } catch (EOFException end) {
        return;
      }
      System.setOut(new PrintStream(out, true, "UTF-8")); // new each time, because Weka closes it
      System.setErr(new PrintStream(errors, true, "UTF-8"));
      for (int i = 0; i < words.length; i++) words[i] = new String(bytes(questions), StandardCharsets.UTF_8);
      System.setIn(new ByteArrayInputStream(bytes(questions)));
      answers.writeInt(run(words));
      for (ByteArrayOutputStream stream : new ByteArrayOutputStream[] {out, errors}) {
        answers.writeInt(stream.size());
        stream.writeTo(answers);
        stream.reset();
      }
      answers.flush();
    }
  }

  static byte[] bytes(DataInputStream stream) throws IOException {
    byte[] bytes = new byte[stream.readInt()];
    stream.readFully(bytes);
    return bytes;
  }

  static int run(String[] words) {
    String[] arguments = java.util.Arrays.copyOfRange(words, 1, words.length);
    try {
      Class.forName(words[0]).getMethod("main", String[].class).invoke(null, (Object) arguments);
      return 0;
    } catch (InvocationTargetException error) {
      error.getCause().printStackTrace();
    } catch (Throwable error) {
      error.printStackTrace();
    } finally {
      System.out.flush();
      System.err.flush();
    }
    return 1;
  }
}
