// SPDX-License-Identifier: Apache-2.0
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.LongStream;
import sukima.closures.NestedRunnable;

/** Takes half of a running loop's work from outside: a nested function changes the end of the loop. */
public final class Balancer {
    /** Completed with the first number and the end of the part that was given away. */
    private static final AtomicReference<CompletableFuture<int[]>> REQUEST = new AtomicReference<>();

    private static long sum(int first, int last) {
        int i = first;
        int end = last;
        NestedRunnable giveHalf = () -> {
            CompletableFuture<int[]> request = REQUEST.getAndSet(null);
            int middle = i + (end - i) / 2;
            request.complete(new int[] {middle, end});
            end = middle;
        };
        long sum = 0;
        while (i < end) {
            sum += work(i, giveHalf);
            i++;
        }
        return sum;
    }

    /** The work of one iteration, which is independent of the loop that calls it. */
    private static long work(int i, NestedRunnable giveHalf) {
        if (REQUEST.get() != null) {
            giveHalf.run();
        }
        return (long) i * i;
    }

    public static void main(String[] arguments) {
        CompletableFuture<int[]> request = new CompletableFuture<>();
        CompletableFuture<Long> outside = request.thenApplyAsync(part -> {
            System.out.println("taken: from " + part[0] + " to " + part[1]);
            return LongStream.range(part[0], part[1]).map(i -> i * i).sum();
        });
        REQUEST.set(request);
        long own = sum(0, 1000);
        System.out.println("sum: " + (own + outside.join()));
    }
}
