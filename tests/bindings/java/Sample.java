// A user's program: the number with its reason, and the pool of parallel streams.
import java.util.stream.IntStream;
import sukima.Capacity;

public class Sample {
  public static void main(String[] arguments) {
    try {
      System.out.println("usable " + Capacity.usableCpus());
    } catch (IllegalStateException error) {
      System.err.println(error.getMessage());
      System.exit(2);
    }
    System.out.println("pool " + (Capacity.sizeCommonPool() + 1));
    System.out.println("threads " + Capacity.threads());
    System.out.println("most " + Capacity.threadsFor(Double.POSITIVE_INFINITY));
    System.out.println("free " + Capacity.freeCpus(0.25));
    System.out.println("reason " + Capacity.reason());
    System.out.println("sum " + IntStream.rangeClosed(1, 1000).parallel().sum());
  }
}
