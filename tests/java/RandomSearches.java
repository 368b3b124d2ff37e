// SPDX-License-Identifier: Apache-2.0
import java.util.concurrent.atomic.AtomicLong;
import sukima.tascell.Task;
import sukima.tascell.Worker;
import sukima.tascell.Workers;

/**
 * Random computations give the same with constructs as without: RandomSearches FIRST COUNT. A seed decides at each node what
 * its method does. Results depend on the order of the parts, and on a board that dynamicWind changes.
 */
public final class RandomSearches {
    private static final int DEPTH = 8;
    private static final AtomicLong TASKS = new AtomicLong();

    private static final class Stop extends RuntimeException {
        private static final long serialVersionUID = 1;

        Stop() {
            super(null, null, false, false);
        }
    }

    /** A map x -> times * x + plus; their composition is associative, but not commutative. */
    private record Step(long times, long plus) {
        static final Step NONE = new Step(1, 0);

        Step then(Step next) {
            return new Step(times * next.times, plus * next.times + next.plus);
        }
    }

    private static final class Board {
        private final long[] marks = new long[64];
        private int depth;

        Board copy() {
            Board other = new Board();
            System.arraycopy(marks, 0, other.marks, 0, depth);
            other.depth = depth;
            return other;
        }

        void push(long mark) {
            marks[depth++] = mark;
        }

        void pop(long mark) {
            if (marks[--depth] != mark) {
                throw new AssertionError("undone in another order than done");
            }
        }

        long sum() {
            long sum = depth;
            for (int i = 0; i < depth; i++) {
                sum = sum * 31 + marks[i];
            }
            return sum;
        }
    }

    private static long mix(long x) {
        long y = (x + 0x9e3779b97f4a7c15L) * 0xbf58476d1ce4e5b9L;
        y = (y ^ y >>> 27) * 0x94d049bb133111ebL;
        return y ^ y >>> 31;
    }

    private static Step own(Board board, long seed) {
        return new Step(mix(seed + 5) | 1, board.sum() + mix(seed + 6));
    }

    private static Step leaf(Board board, long seed) {
        if (Long.remainderUnsigned(mix(seed), 401) == 0) {
            throw new Stop();
        }
        return own(board, seed);
    }

    private static int kind(long seed) {
        return (int) (mix(seed) >>> 40 & 7);
    }

    private static int width(long seed) {
        return (int) (mix(seed + 1) >>> 20 & 3) + 1;
    }

    /** A node, or some of the children of one, as a task. */
    private record Part(Board board, long seed, int depth, int from, int to) implements Task<Step> {
        @Override
        public Step run(Worker worker) {
            TASKS.incrementAndGet();
            long before = board.sum();
            try {
                return to < 0 ? node(worker, board, seed, depth) : children(worker, board, seed, depth, from, to);
            } finally {
                if (board.sum() != before) {
                    throw new AssertionError("a task has left its board changed");
                }
            }
        }
    }

    private static Part part(Board board, long seed, int depth) {
        return new Part(board.copy(), seed, depth, 0, -1);
    }

    private static Step children(Worker worker, Board board, long seed, int depth, int first, int end) {
        Step all = Step.NONE;
        worker.doMany(first, end, i -> {
            if (mix(seed + i) % 5 == 0) {
                return;
            }
            Step child = node(worker, board, mix(seed) + i, depth - 1);
            all = all.then(child);
        }, (from, to) -> new Part(board.copy(), seed, depth, from, to), result -> all = all.then(result));
        return all;
    }

    private static Step node(Worker worker, Board board, long seed, int depth) {
        if (depth == 0) {
            return leaf(board, seed);
        }
        Step own = own(board, seed);
        long one = mix(seed + 11);
        long other = mix(seed + 12);
        switch (kind(seed)) {
            case 0:
                return own.then(children(worker, board, seed, depth, 0, width(seed)));
            case 1:
                Step found = Step.NONE;
                worker.dynamicWind(() -> board.push(one), () -> {
                    found = node(worker, board, one, depth - 1);
                    found = found.then(own(board, other));
                }, () -> board.pop(one));
                return found.then(own);
            case 2:
                return tried(worker, board, seed, depth);
            case 3:
                Step all = own;
                for (int i = 0; i < 3; i++) {
                    all = all.then(node(worker, board, one + i, depth - 1)).then(i == 1 ? node(worker, board, other, depth - 1) : own);
                    if ((one >>> i & 1) == 0) {
                        break;
                    }
                }
                return all;
            case 4:
                return nested(worker, board, seed, depth);
            default:
                Step a = Step.NONE;
                Step b = Step.NONE;
                worker.doTwo(() -> a = node(worker, board, one, depth - 1), () -> b = node(worker, board, other, depth - 1),
                    () -> part(board, other, depth - 1), result -> b = result);
                return own.then(a).then(b);
        }
    }

    /** A try whose handler and finally block see the board as it was. */
    private static Step tried(Worker worker, Board board, long seed, int depth) {
        long before = board.sum();
        Step result = Step.NONE;
        try {
            long mark = mix(seed + 21);
            worker.dynamicWind(() -> board.push(mark), () -> result = children(worker, board, seed, depth, 0, width(seed)),
                () -> board.pop(mark));
        } catch (Stop e) {
            result = own(board, seed);
        } catch (Throwable e) {
            throw new AssertionError("this is not for the program", e);
        } finally {
            if (board.sum() != before) {
                throw new AssertionError("an exception has left the board changed");
            }
        }
        return result;
    }

    /** Constructs in each other, in one method. */
    private static Step nested(Worker worker, Board board, long seed, int depth) {
        Step all = own(board, seed);
        long one = mix(seed + 31);
        worker.doMany(0, 2, i -> {
            Step a = Step.NONE;
            Step b = Step.NONE;
            worker.dynamicWind(() -> board.push(one + i), () -> {
                worker.doTwo(() -> a = node(worker, board, one + 3 * i, depth - 1), () -> {
                    b = node(worker, board, one - i, depth - 1);
                }, () -> part(board, one - i, depth - 1), (Step result) -> b = result);
            }, () -> board.pop(one + i));
            all = all.then(a).then(b);
        }, (from, to) -> new Rest(board.copy(), one, depth, from), result -> all = all.then(result));
        return all;
    }

    /** The second of the two iterations of nested. */
    private record Rest(Board board, long one, int depth, int i) implements Task<Step> {
        @Override
        public Step run(Worker worker) {
            Step result = Step.NONE;
            worker.dynamicWind(() -> board.push(one + i), () -> {
                Step a = node(worker, board, one + 3 * i, depth - 1);
                result = a.then(node(worker, board, one - i, depth - 1));
            }, () -> board.pop(one + i));
            return result;
        }
    }

    /** The same in plain Java. */
    private static final class Plain {
        private static Step children(Board board, long seed, int depth, int end) {
            Step all = Step.NONE;
            for (int i = 0; i < end; i++) {
                if (mix(seed + i) % 5 != 0) {
                    all = all.then(node(board, mix(seed) + i, depth - 1));
                }
            }
            return all;
        }

        private static Step node(Board board, long seed, int depth) {
            if (depth == 0) {
                return leaf(board, seed);
            }
            Step own = own(board, seed);
            long one = mix(seed + 11);
            long other = mix(seed + 12);
            switch (kind(seed)) {
                case 0:
                    return own.then(children(board, seed, depth, width(seed)));
                case 1:
                    board.push(one);
                    try {
                        Step inner = node(board, one, depth - 1);
                        return inner.then(own(board, other)).then(own);
                    } finally {
                        board.pop(one);
                    }
                case 2:
                    return tried(board, seed, depth);
                case 3:
                    Step all = own;
                    for (int i = 0; i < 3; i++) {
                        all = all.then(node(board, one + i, depth - 1)).then(i == 1 ? node(board, other, depth - 1) : own);
                        if ((one >>> i & 1) == 0) {
                            break;
                        }
                    }
                    return all;
                case 4:
                    return nested(board, seed, depth);
                default:
                    Step a = node(board, one, depth - 1);
                    return own.then(a).then(node(board, other, depth - 1));
            }
        }

        private static Step tried(Board board, long seed, int depth) {
            long mark = mix(seed + 21);
            try {
                board.push(mark);
                try {
                    return children(board, seed, depth, width(seed));
                } finally {
                    board.pop(mark);
                }
            } catch (Stop e) {
                return own(board, seed);
            }
        }

        private static Step nested(Board board, long seed, int depth) {
            Step all = own(board, seed);
            long one = mix(seed + 31);
            for (int i = 0; i < 2; i++) {
                board.push(one + i);
                try {
                    all = all.then(node(board, one + 3 * i, depth - 1)).then(node(board, one - i, depth - 1));
                } finally {
                    board.pop(one + i);
                }
            }
            return all;
        }
    }

    /** Computes the part here, and again as a task if there is another worker for it. */
    private record Twice(Part part, int workers) implements Task<Step> {
        @Override
        public Step run(Worker worker) {
            long before = TASKS.get();
            Step here = Step.NONE;
            Step again = Step.NONE;
            worker.doTwo(() -> {
                while (workers > 1 && TASKS.get() == before) {
                    worker.doMany(0, 1, i -> { }, (from, to) -> null, result -> { }); // polls
                }
                here = part.run(worker);
            }, () -> again = here, () -> RandomSearches.part(part.board, part.seed, part.depth), (Step result) -> again = result);
            if (!again.equals(here)) {
                throw new AssertionError("a task has another result");
            }
            return here;
        }
    }

    private static String outcome(java.util.function.Supplier<Step> computation) {
        try {
            return computation.get().toString();
        } catch (Stop e) {
            return "stopped";
        }
    }

    public static void main(String[] arguments) {
        long first = Long.parseLong(arguments[0]);
        long count = Long.parseLong(arguments[1]);
        int stopped = 0;
        for (long seed = first; seed < first + count; seed++) {
            long start = mix(seed);
            String expected = outcome(() -> Plain.node(new Board(), start, DEPTH));
            stopped += expected.equals("stopped") ? 1 : 0;
            for (int workers : new int[] {1, 2, 4}) {
                String result = outcome(() -> Workers.run(workers, new Twice(part(new Board(), start, DEPTH), workers)));
                if (!result.equals(expected)) {
                    System.out.println("seed " + seed + ", " + workers + " workers: " + result + " instead of " + expected);
                    System.exit(1);
                }
            }
        }
        long splitOff = TASKS.get() - 3 * count;
        if (splitOff < 2 * count) {
            System.out.println("only " + splitOff + " tasks were split off: each computation with other workers has at least one");
            System.exit(1);
        }
        System.out.println(count + " computations alike, " + stopped + " of them ended by an exception; "
            + splitOff + " tasks were split off");
    }
}
