// SPDX-License-Identifier: Apache-2.0
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import sukima.tascell.Task;
import sukima.tascell.Worker;
import sukima.tascell.Workers;

/** What each construct does when a part of it is given away. All waits are for events, so the parts are always given away. */
public final class Constructs {
    /** How many tasks have begun. */
    private static final AtomicInteger BEGUN = new AtomicInteger();
    /** Counted down when tasks may end: before, their workers ask for no more work. */
    private static CountDownLatch mayEnd;
    private static final StringBuffer LOG = new StringBuffer();

    /** Polls until that many tasks have begun; the construct that polls has no work that could be given away first. */
    private static void awaitTasks(Worker worker, int count) {
        while (BEGUN.get() < count) {
            poll(worker);
        }
    }

    private static void releaseIf(boolean isTime) {
        if (isTime) {
            mayEnd.countDown();
        }
    }

    private static void poll(Worker worker) {
        worker.doMany(0, 1, i -> { }, (from, to) -> null, result -> { });
    }

    /** A task that returns a number, or throws an exception if that is negative. It waits until it may end, except for 0. */
    private record Number(int value, boolean isEndless) implements Task<Integer> {
        @Override
        public Integer run(Worker worker) {
            BEGUN.incrementAndGet();
            if (value != 0) {
                awaitRelease();
            }
            if (isEndless) {
                worker.dynamicWind(() -> LOG.append("[task "), () -> forever(worker), () -> LOG.append("task] "));
            }
            if (value < 0) {
                throw new IllegalArgumentException("task " + value);
            }
            return value;
        }
    }

    private static void awaitRelease() {
        try {
            mayEnd.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static void forever(Worker worker) {
        try {
            for (;;) {
                poll(worker);
            }
        } catch (Throwable e) {
            LOG.append("caught ");
        } finally {
            LOG.append("finally ");
        }
    }

    /** A task that waits until that thread waits. */
    private record UntilAsleep(Thread other) implements Task<Boolean> {
        @Override
        public Boolean run(Worker worker) {
            BEGUN.incrementAndGet();
            while (other.getState() != Thread.State.TIMED_WAITING) {
                Thread.onSpinWait();
            }
            return Thread.currentThread().isInterrupted();
        }
    }

    private record Interrupted() implements Task<String> {
        @Override
        public String run(Worker worker) {
            String isOther = "";
            worker.doTwo(() -> {
                Thread.currentThread().interrupt();
                awaitTasks(worker, 1);
            }, () -> isOther = "not given", () -> new UntilAsleep(Thread.currentThread()), (Boolean result) -> isOther += result);
            return isOther + " " + Thread.interrupted();
        }
    }

    private record Two() implements Task<String> {
        @Override
        public String run(Worker worker) {
            int a = 0;
            int b = 0;
            worker.doTwo(() -> {
                awaitTasks(worker, 1);
                a = 1;
            }, () -> b = 2, () -> new Number(20, false), result -> b = result);
            return a + " " + b;
        }
    }

    private record Many() implements Task<String> {
        @Override
        public String run(Worker worker) {
            List<Integer> found = new ArrayList<>();
            worker.doMany(Integer.MAX_VALUE - 9, Integer.MAX_VALUE, i -> {
                awaitTasks(worker, 1);
                found.add(Integer.MAX_VALUE - i);
                releaseIf(found.size() == 5);
            }, (from, to) -> new Number(100 * (Integer.MAX_VALUE - from) + Integer.MAX_VALUE - to, false),
                result -> found.add(result));
            return found.toString();
        }
    }

    /** What is split off first is the upper half, then the upper half of the rest; the results come in the order of the numbers. */
    private record Order() implements Task<String> {
        @Override
        public String run(Worker worker) {
            List<Integer> found = new ArrayList<>();
            worker.doMany(0, 8, i -> {
                awaitTasks(worker, 2);
                found.add(i);
                releaseIf(i == 1);
            }, (from, to) -> new Number(10 * from + to, false), result -> found.add(result));
            return found.toString();
        }
    }

    /** Negative numbers are halved like positive ones. */
    private record Negative() implements Task<String> {
        @Override
        public String run(Worker worker) {
            worker.doMany(-5, -3, i -> {
                awaitTasks(worker, 1);
                LOG.append(i).append(' ');
            }, (from, to) -> {
                LOG.append(from).append("..").append(to).append(' ');
                return new Number(-from, false);
            }, result -> LOG.append(result));
            return LOG.toString();
        }
    }

    /** There are more numbers than an int can count. */
    private record Widest() implements Task<String> {
        @Override
        public String run(Worker worker) {
            worker.doMany(Integer.MIN_VALUE, Integer.MAX_VALUE, i -> {
                awaitTasks(worker, 1);
                releaseIf(true);
                throw new IllegalArgumentException(LOG.toString());
            }, (from, to) -> {
                LOG.append(from).append("..").append(to);
                return new Number(1, false);
            }, (Integer result) -> LOG.append(result));
            return "not thrown";
        }
    }

    /** Of two constructs the outer one is split. */
    private record Oldest() implements Task<String> {
        @Override
        public String run(Worker worker) {
            worker.doTwo(() -> {
                worker.doTwo(() -> awaitTasks(worker, 1), () -> {
                    LOG.append("inner ");
                    releaseIf(true);
                }, () -> new Number(0, false), result -> LOG.append("get inner "));
            }, () -> LOG.append("outer "), () -> new Number(2, false), result -> LOG.append("get outer "));
            return LOG.toString();
        }
    }

    /** Runs a task while the other worker has a task already: that one asks for more only after the release. */
    private record WhileBusy(Task<String> tested) implements Task<String> {
        @Override
        public String run(Worker worker) {
            String found = "";
            worker.doTwo(() -> {
                awaitTasks(worker, 1);
                found = tested.run(worker);
            }, () -> LOG.append("not given away "), () -> new Number(1, false), result -> { });
            return found;
        }
    }

    /** Blocks run in the order that going back needs; a task of the outer construct sees no change of the inner one. */
    private record Wind() implements Task<String> {
        @Override
        public String run(Worker worker) {
            worker.doTwo(() -> {
                worker.dynamicWind(() -> LOG.append("(1 "), () -> {
                    worker.dynamicWind(() -> LOG.append("(2 "), () -> {
                        releaseIf(true);
                        awaitTasks(worker, 2);
                    }, () -> LOG.append("2) "));
                }, () -> LOG.append("1) "));
            }, () -> LOG.append("second "), () -> {
                LOG.append("put ");
                return new Number(0, false);
            }, result -> LOG.append("get "));
            return LOG.toString();
        }
    }

    /** A block before that fails when it runs again does not keep the blocks further in from running again. */
    private record FailingBefore() implements Task<String> {
        @Override
        public String run(Worker worker) {
            try {
                worker.doTwo(() -> wind(worker), () -> LOG.append("second "), () -> new Number(0, false), result -> { });
            } catch (IllegalArgumentException e) {
                LOG.append(e.getMessage());
            }
            return LOG.toString();
        }

        private static void wind(Worker worker) {
            int runs = 0;
            worker.dynamicWind(() -> LOG.append("(1 "), () -> {
                worker.dynamicWind(() -> {
                    LOG.append("(2 ");
                    if (runs++ > 0) {
                        throw new IllegalArgumentException("before");
                    }
                }, () -> {
                    worker.dynamicWind(() -> LOG.append("(3 "), () -> {
                        releaseIf(true);
                        for (;;) {
                            poll(worker);
                        }
                    }, () -> LOG.append("3) "));
                }, () -> LOG.append("2) "));
            }, () -> LOG.append("1) "));
        }
    }

    /** The exception of a task stops the first block, whose own handlers do not see it. */
    private record FailingTask() implements Task<String> {
        @Override
        public String run(Worker worker) {
            try {
                worker.doTwo(() -> {
                    worker.dynamicWind(() -> LOG.append("[first "), () -> {
                        releaseIf(true);
                        forever(worker);
                    }, () -> LOG.append("first] "));
                }, () -> LOG.append("second "), () -> new Number(-1, false), result -> LOG.append("get "));
            } catch (IllegalArgumentException e) {
                LOG.append(e.getMessage());
            }
            return LOG.toString();
        }
    }

    /** The exception of an outer construct's task reaches a worker that waits for an inner construct's task, and that task. */
    private record FailingOutside() implements Task<String> {
        @Override
        public String run(Worker worker) {
            try {
                worker.doTwo(() -> {
                    awaitTasks(worker, 1);
                    worker.doTwo(() -> {
                        awaitTasks(worker, 2);
                        releaseIf(true);
                    }, () -> LOG.append("second "), () -> new Number(1, true), result -> LOG.append("get inner "));
                }, () -> LOG.append("second "), () -> new Number(-1, false), result -> LOG.append("get "));
            } catch (IllegalArgumentException e) {
                LOG.append(e.getMessage());
            }
            return LOG.toString();
        }
    }

    /** Throws an exception after the other task has failed, which is the first that makes its worker look. */
    private record FailingLater(int value) implements Task<Integer> {
        @Override
        public Integer run(Worker worker) {
            BEGUN.incrementAndGet();
            while (!worker.isAsked$) {
                Thread.onSpinWait();
            }
            throw new IllegalArgumentException("task " + value);
        }
    }

    /** Two tasks fail, that of the inner construct later; its exception comes first nevertheless, and may be caught. */
    private record FailingTwice(boolean isCaught) implements Task<String> {
        @Override
        public String run(Worker worker) {
            try {
                worker.doTwo(() -> {
                    awaitTasks(worker, 1);
                    try {
                        worker.doTwo(() -> {
                            awaitTasks(worker, 2);
                            releaseIf(true);
                            forever(worker);
                        }, () -> LOG.append("second "), () -> new FailingLater(-2), (Integer result) -> LOG.append("get inner "));
                    } catch (IllegalArgumentException e) {
                        LOG.append("inner ").append(e.getMessage()).append(' ');
                        if (!isCaught) {
                            throw e;
                        }
                        forever(worker);
                    }
                }, () -> LOG.append("second "), () -> new Number(-1, false), result -> LOG.append("get "));
            } catch (IllegalArgumentException e) {
                LOG.append(e.getMessage());
            }
            return LOG.toString();
        }
    }

    /** An exception that leaves the construct ends its tasks first. */
    private record FailingFirst() implements Task<String> {
        @Override
        public String run(Worker worker) {
            try {
                worker.doTwo(() -> {
                    awaitTasks(worker, 1);
                    throw new IllegalArgumentException("first");
                }, () -> LOG.append("second "), () -> new Number(1, true), result -> LOG.append("get "));
            } catch (IllegalArgumentException e) {
                LOG.append(e.getMessage());
            }
            return LOG.toString();
        }
    }

    /** A finally block that returns replaces what leaves the task; the next poll throws it again. */
    private record Stubborn() implements Task<Integer> {
        @Override
        public Integer run(Worker worker) {
            BEGUN.incrementAndGet();
            returnAnyway(worker);
            LOG.append("goes on ");
            forever(worker);
            return 0;
        }
    }

    @SuppressWarnings("finally")
    private static void returnAnyway(Worker worker) {
        try {
            forever(worker);
        } finally {
            return;
        }
    }

    private record AbortingStubborn() implements Task<String> {
        @Override
        public String run(Worker worker) {
            try {
                worker.doTwo(() -> {
                    awaitTasks(worker, 1);
                    throw new IllegalArgumentException("first");
                }, () -> LOG.append("second "), () -> new Stubborn(), (Integer result) -> LOG.append("get "));
            } catch (IllegalArgumentException e) {
                LOG.append(e.getMessage());
            }
            return LOG.toString();
        }
    }

    private record FailingPut() implements Task<String> {
        @Override
        public String run(Worker worker) {
            worker.doTwo(() -> awaitTasks(worker, 1), () -> LOG.append("second "), () -> {
                throw new IllegalArgumentException("put");
            }, (Integer result) -> LOG.append("get "));
            return LOG.toString();
        }
    }

    /** Numbers for which put has returned null stay in the loop, which a handler in its body can make go on. */
    private record NullPut() implements Task<String> {
        @Override
        public String run(Worker worker) {
            List<Integer> found = new ArrayList<>();
            int puts = 0;
            worker.doMany(0, 4, i -> {
                try {
                    awaitTasks(worker, 1);
                } catch (NullPointerException e) {
                    LOG.append("null ");
                }
                awaitTasks(worker, 1);
                found.add(i);
                releaseIf(i == 1);
            }, (from, to) -> puts++ == 0 ? null : new Number(10 * from + to, false), result -> found.add(result));
            return LOG + found.toString();
        }
    }

    private static String outcome(boolean areHeld, Supplier<String> computation) {
        mayEnd = new CountDownLatch(areHeld ? 1 : 0);
        BEGUN.set(0);
        LOG.setLength(0);
        try {
            return computation.get();
        } catch (IllegalArgumentException e) {
            return "threw " + e.getMessage();
        }
    }

    /** Runs the task; the tasks that other workers are given end at once, or when the first task releases them. */
    private static void check(String name, int workers, boolean areHeld, Task<String> task, String expected) {
        String found = outcome(areHeld, () -> Workers.run(workers, task));
        if (!found.equals(expected)) {
            System.out.println(name + ": " + found + "\ninstead of " + expected);
            System.exit(1);
        }
    }

    public static void main(String[] arguments) {
        check("doTwo", 2, false, new Two(), "1 20");
        check("interrupt", 2, true, new Interrupted(), "false true");
        check("doMany", 2, true, new Many(), "[9, 8, 7, 6, 5, 400]");
        check("order of doMany", 3, true, new Order(), "[0, 1, 24, 48]");
        check("negative numbers", 2, false, new Negative(), "-4..-3 -5 4");
        check("all numbers", 2, true, new Widest(), "threw 0.." + Integer.MAX_VALUE);
        check("oldest", 2, true, new Oldest(), "inner get outer ");
        check("dynamicWind", 2, true, new WhileBusy(new Wind()), "(1 (2 2) 1) put (1 (2 2) 1) get ");
        check("exception of a before", 2, true, new WhileBusy(new FailingBefore()), "(1 (2 (3 3) 2) 1) (1 (2 (3 3) 2) 1) before");
        check("exception of a task", 2, true, new WhileBusy(new FailingTask()), "[first first] [first finally first] task -1");
        check("exception outside", 3, true, new FailingOutside(), "[task finally task] task -1");
        check("two exceptions", 3, true, new FailingTwice(false), "finally inner task -2 task -2");
        check("two exceptions, one caught", 3, true, new FailingTwice(true), "finally inner task -2 finally task -1");
        check("exception of a first block", 2, false, new FailingFirst(), "[task finally task] first");
        check("stubborn task", 2, false, new AbortingStubborn(), "finally goes on finally first");
        check("exception of a put", 2, false, new FailingPut(), "threw put");
        check("put of null", 2, true, new NullPut(), "null [0, 1, 24]");
        check("no workers", 0, false, new Two(), "threw a computation cannot have 0 workers: give a number from 1 to 1024");
        check("too many workers", 1025, false, new Two(), "threw a computation cannot have 1025 workers: give a number from 1 to 1024");
        System.out.println("all as expected");
    }
}
