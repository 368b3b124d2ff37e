// SPDX-License-Identifier: Apache-2.0
// A Java program for the tests of `sukima run`. With a number it does so many pieces of work, for
// lab/scripts/run-table.py.
import java.util.concurrent.ForkJoinPool;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

public class Main {
  /** Half a millisecond of work, and some garbage. */
  private static long piece(long seed) {
    long[] values = new long[4096];
    long x = seed * 2 + 1;
    for (int i = 0; i < 200_000; i++) {
      x ^= x << 13;
      x ^= x >>> 7;
      x ^= x << 17;
      values[i & 4095] += x;
    }
    return values[(int) (seed & 4095)];
  }

  public static void main(String[] arguments) {
    if (arguments.length > 0) {
      int pieces = Integer.parseInt(arguments[0]);
      System.out.println("result " + IntStream.range(0, pieces).parallel().mapToLong(Main::piece).sum());
      return;
    }
    long sum = LongStream.rangeClosed(1, 1_000_000).parallel().sum();
    System.out.println("threads " + Runtime.getRuntime().availableProcessors());
    System.out.println("pool " + ForkJoinPool.getCommonPoolParallelism());
    System.out.println("result " + sum);
  }
}
