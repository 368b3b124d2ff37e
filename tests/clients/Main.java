// SPDX-License-Identifier: Apache-2.0
// A Java program for the tests of `sukima run`.
import java.util.concurrent.ForkJoinPool;
import java.util.stream.LongStream;

public class Main {
  public static void main(String[] arguments) {
    long sum = LongStream.rangeClosed(1, 1_000_000).parallel().sum();
    System.out.println("threads " + Runtime.getRuntime().availableProcessors());
    System.out.println("pool " + ForkJoinPool.getCommonPoolParallelism());
    System.out.println("result " + sum);
  }
}
