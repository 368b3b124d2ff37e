// SPDX-License-Identifier: Apache-2.0
import sukima.tascell.Task;
import sukima.tascell.Worker;
import sukima.tascell.Workers;

/** Fibonacci numbers on all CPUs, without a cut-off. */
public final class Fib {
    /** The task that an idle worker takes. */
    private record Part(int n) implements Task<Integer> {
        @Override
        public Integer run(Worker worker) {
            return fib(worker, n);
        }
    }

    private static int fib(Worker worker, int n) {
        if (n < 2) {
            return n;
        }
        int a = 0;
        int b = 0;
        worker.doTwo(
            () -> a = fib(worker, n - 1),
            () -> b = fib(worker, n - 2), // here, or
            () -> new Part(n - 2), // as a task of an idle worker,
            result -> b = result); // whose result comes back
        return a + b;
    }

    public static void main(String[] arguments) {
        System.out.println("fib(32) = " + Workers.run(new Part(32)));
    }
}
