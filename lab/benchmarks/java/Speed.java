// SPDX-License-Identifier: Apache-2.0
import java.util.Arrays;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.RecursiveTask;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import sukima.tascell.Task;
import sukima.tascell.Worker;
import sukima.tascell.Workers;

/**
 * Times one way to compute a Fibonacci number or to count placements of queens, for lab/scripts/java-speed.py:
 * Speed PROBLEM WAY SIZE WORKERS CUT_OFF REPEATS. Prints the seconds of each repeat. The first third warms up.
 */
public final class Speed {
    private Speed() {}

    private static int plainFib(int n) {
        return n < 2 ? n : plainFib(n - 1) + plainFib(n - 2);
    }

    private record FibPart(int n) implements Task<Integer> {
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
        worker.doTwo(() -> a = fib(worker, n - 1), () -> b = fib(worker, n - 2), () -> new FibPart(n - 2), result -> b = result);
        return a + b;
    }

    /** Below the cut-off a task calls plain functions. */
    private static final class PoolFib extends RecursiveTask<Integer> {
        private static final long serialVersionUID = 1;

        private final int n;
        private final int cutOff;

        PoolFib(int n, int cutOff) {
            this.n = n;
            this.cutOff = cutOff;
        }

        @Override
        protected Integer compute() {
            if (n < 2 || n < cutOff) {
                return plainFib(n);
            }
            PoolFib first = new PoolFib(n - 1, cutOff);
            first.fork();
            int second = new PoolFib(n - 2, cutOff).compute();
            return first.join() + second;
        }
    }

    private static boolean isFree(int[] columnOf, int at, int column) {
        for (int i = 0; i < at; i++) {
            if (columnOf[i] == column || Math.abs(columnOf[i] - column) == at - i) {
                return false;
            }
        }
        return true;
    }

    private static int plainQueens(int[] columnOf, int at) {
        int found = 0;
        for (int column = 0; column < columnOf.length; column++) {
            if (isFree(columnOf, at, column)) {
                columnOf[at] = column;
                found += at + 1 == columnOf.length ? 1 : plainQueens(columnOf, at + 1);
                columnOf[at] = -1;
            }
        }
        return found;
    }

    private record QueensPart(int[] columnOf, int at, int from, int to) implements Task<Integer> {
        @Override
        public Integer run(Worker worker) {
            return queens(worker, columnOf, at, from, to);
        }
    }

    private static int queens(Worker worker, int[] columnOf, int at, int from, int to) {
        int found = 0;
        worker.doMany(from, to, column -> {
            if (!isFree(columnOf, at, column)) {
                return;
            }
            worker.dynamicWind(
                () -> columnOf[at] = column,
                () -> found += at + 1 == columnOf.length ? 1 : queens(worker, columnOf, at + 1, 0, columnOf.length),
                () -> columnOf[at] = -1);
        }, (low, high) -> new QueensPart(columnOf.clone(), at, low, high), result -> found += result);
        return found;
    }

    /** Rows from the cut-off on are searched by a plain function; each task has a board of its own. */
    private static final class PoolQueens extends RecursiveTask<Integer> {
        private static final long serialVersionUID = 1;

        private final int[] columnOf;
        private final int at;
        private final int cutOff;

        PoolQueens(int[] columnOf, int at, int cutOff) {
            this.columnOf = columnOf;
            this.at = at;
            this.cutOff = cutOff;
        }

        @Override
        protected Integer compute() {
            if (at == columnOf.length) {
                return 1;
            }
            if (at >= cutOff) {
                return plainQueens(columnOf, at);
            }
            PoolQueens[] parts = new PoolQueens[columnOf.length];
            for (int column = 0; column < columnOf.length; column++) {
                if (isFree(columnOf, at, column)) {
                    int[] board = columnOf.clone();
                    board[at] = column;
                    parts[column] = new PoolQueens(board, at + 1, cutOff);
                    parts[column].fork();
                }
            }
            int found = 0;
            for (int column = parts.length - 1; column >= 0; column--) {
                found += parts[column] == null ? 0 : parts[column].join();
            }
            return found;
        }
    }

    private static int[] empty(int size) {
        int[] board = new int[size];
        Arrays.fill(board, -1);
        return board;
    }

    /** Its threads stay between the repeats, as those of Workers do. */
    private static IntSupplier inPool(int workers, Supplier<RecursiveTask<Integer>> task) {
        ForkJoinPool pool = new ForkJoinPool(workers);
        return () -> pool.invoke(task.get());
    }

    private static IntSupplier way(String name, int size, int workers, int cutOff) {
        return switch (name) {
            case "fib plain" -> () -> plainFib(size);
            case "fib sukima" -> () -> Workers.run(workers, new FibPart(size));
            case "fib pool" -> inPool(workers, () -> new PoolFib(size, cutOff));
            case "queens plain" -> () -> plainQueens(empty(size), 0);
            case "queens sukima" -> () -> Workers.run(workers, new QueensPart(empty(size), 0, 0, size));
            case "queens pool" -> inPool(workers, () -> new PoolQueens(empty(size), 0, cutOff));
            default -> throw new IllegalArgumentException("there is no way " + name + ": give fib or queens, and plain, sukima or pool");
        };
    }

    public static void main(String[] arguments) {
        int[] numbers = Arrays.stream(arguments).skip(2).mapToInt(Integer::parseInt).toArray();
        IntSupplier run = way(arguments[0] + " " + arguments[1], numbers[0], numbers[1], numbers[2]);
        int expected = arguments[0].equals("fib") ? plainFib(numbers[0]) : plainQueens(empty(numbers[0]), 0);
        for (int i = 0; i < numbers[3]; i++) {
            long start = System.nanoTime();
            int result = run.getAsInt();
            double seconds = (System.nanoTime() - start) * 1e-9;
            if (result != expected) {
                throw new AssertionError(result + " instead of " + expected);
            }
            if (i >= numbers[3] / 3) {
                System.out.println(seconds);
            }
        }
    }
}
