// SPDX-License-Identifier: Apache-2.0
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import sukima.closures.NestedFunction;
import sukima.closures.NestedRunnable;
import sukima.tascell.Task;
import sukima.tascell.Worker;
import sukima.tascell.Workers;

/** Calls that are captured in ordinary lambdas, constructors and synchronized blocks; with frames that are new, and in use. */
public final class Forms {
    /** An interface of the program: only translated code calls its lambdas. */
    private interface Step<T> {
        T step(T x) throws InterruptedException;
    }

    private interface Renamed<T> extends Step<T> {
        default boolean isRenamed() {
            return true;
        }
    }

    private static final Step<Integer> IN_INITIALIZER = x -> visited(x, 1, null);
    private final Step<Integer> inField = x -> visited(x, this.added, null);
    private final int added = 5;

    private static int visited(int x, int by, NestedFunction<Integer, Integer> visit) {
        return visit == null ? x + by : visit.apply(x) + by;
    }

    private static <T> T down(int n, T x, Step<T> step) throws InterruptedException {
        if (n == 0) {
            return step.step(x);
        }
        T found = down(n - 1, x, step);
        return found;
    }

    private <T extends Comparable<T>> T larger(T one, T other, NestedFunction<T, T> visit) throws InterruptedException {
        Step<T> larger = x -> {
            T seen = visit.apply(x);
            Renamed<T> inner = y -> {
                this.calls += added;
                return visit.apply(y).compareTo(seen) > 0 ? y : seen;
            };
            return inner.isRenamed() ? inner.step(other) : null;
        };
        return down(2, one, larger);
    }

    private int calls;

    private static String lambdas(boolean isAsleep) throws InterruptedException {
        StringBuilder log = new StringBuilder();
        int sum = 0;
        NestedFunction<Integer, Integer> add = x -> sum += x;
        if (isAsleep) {
            add.apply(0);
        }
        int ten = 10;
        List<Step<Integer>> steps = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            int number = i;
            steps.add(x -> {
                int own = x;
                int start = x;
                NestedFunction<Integer, Integer> both = y -> {
                    own += number + y;
                    return add.apply(own) + ten;
                };
                return down(1, 1, z -> both.apply(z) + both.apply(start));
            });
        }
        steps.add(x -> visited(x, 100, add));
        for (Step<Integer> step : steps) {
            log.append(down(2, 3, step)).append(' ');
        }
        log.append(IN_INITIALIZER.step(1)).append(' ').append(new Forms().inField.step(1)).append(' ');
        Forms forms = new Forms();
        String last = "";
        log.append(forms.larger("a", "b", x -> last = x)).append(last).append(forms.calls).append(' ');
        return log.append(sum).toString();
    }

    /** Its final fields get values before, between and behind calls that are captured. */
    private static class Built {
        private final int first;
        private final List<Integer> all = new ArrayList<>();
        private final String second;
        private int later = 1;

        {
            all.add(-1);
        }

        Built(int n, NestedFunction<Integer, Integer> visit) {
            super();
            int own = n;
            NestedRunnable change = () -> own++;
            first = visit.apply(n) + later;
            change.run();
            if (own > 100) {
                second = "large";
                return;
            }
            for (int i = 0; i < 2; i++) {
                all.add(visit.apply(own) + i);
            }
            second = "small" + new Built(own + 100, visit).second;
            later += visit.apply(1);
        }

        Built(String text) {
            first = 0;
            second = text;
            if (text.isEmpty()) {
                return;
            }
            later = 7;
        }

        @Override
        public String toString() {
            return first + " " + second + " " + all + " " + later;
        }
    }

    private static final class Derived extends Built {
        final Inner inner;

        <T> Derived(T text, NestedFunction<T, String> visit) {
            super(text.toString());
            Inner made = this.new Inner(visit.apply(text));
            inner = made;
        }

        final class Inner {
            final String text;

            Inner(String text) {
                this.text = text + Derived.this.toString();
            }
        }
    }

    private static String constructors(boolean isAsleep) {
        int sum = 0;
        NestedFunction<Integer, Integer> add = x -> sum += x;
        if (isAsleep) {
            add.apply(0);
        }
        Built built = new Built(2, add);
        String seen = "";
        Derived derived = new Derived("x", x -> seen = "seen " + x);
        new Built(500, add);
        return built + "|" + derived.inner.text + "|" + seen + "|" + new Built("").second + sum;
    }

    private int guarded;

    private static void check(boolean isTrue) {
        if (!isTrue) {
            throw new AssertionError();
        }
    }

    private synchronized int method(NestedFunction<Integer, Integer> visit) {
        check(Thread.holdsLock(this));
        int found = visit.apply(1);
        check(Thread.holdsLock(this));
        return found;
    }

    private static synchronized int staticMethod(NestedFunction<Integer, Integer> visit) {
        int found = visit.apply(2);
        check(Thread.holdsLock(Forms.class));
        return found;
    }

    private int blocks(Object outer, NestedFunction<Integer, Integer> visit) {
        int found = 0;
        loop:
        for (int i = 0; i < 6; i++) {
            synchronized (outer) {
                try {
                    found += visit.apply(i);
                    check(Thread.holdsLock(outer) && !Thread.holdsLock(this));
                    synchronized (this) {
                        found += visit.apply(i);
                        check(Thread.holdsLock(outer) && Thread.holdsLock(this));
                        if (i == 1) {
                            continue;
                        }
                        if (i == 2) {
                            throw new IllegalStateException();
                        }
                        if (i == 3) {
                            continue loop;
                        }
                        if (i == 4) {
                            return found + visit.apply(0);
                        }
                    }
                    check(!Thread.holdsLock(this));
                } catch (IllegalStateException e) {
                    check(Thread.holdsLock(outer) && !Thread.holdsLock(this));
                    found += visit.apply(100);
                } finally {
                    check(Thread.holdsLock(outer) && !Thread.holdsLock(this));
                    found += 1000;
                }
            }
            check(!Thread.holdsLock(outer));
        }
        return -1;
    }

    private static String monitors(boolean isAsleep) {
        int sum = 0;
        NestedFunction<Integer, Integer> add = x -> sum += x;
        if (isAsleep) {
            add.apply(0);
        }
        Forms forms = new Forms();
        Object outer = new Object();
        String found = forms.method(add) + " " + staticMethod(add) + " " + forms.blocks(outer, add) + " " + sum;
        check(!Thread.holdsLock(forms) && !Thread.holdsLock(Forms.class) && !Thread.holdsLock(outer));
        synchronized (outer) {
            NestedRunnable inBlock = () -> {
                check(Thread.holdsLock(outer));
                sum++;
            };
            inBlock.run();
            check(Thread.holdsLock(outer));
        }
        try {
            forms.blocks(null, add);
        } catch (NullPointerException e) {
            return found + " " + add.apply(0) + " null";
        }
        return found;
    }

    /** Threads whose blocks are captured are alone in them before and behind the call. */
    private static int exclusive() throws InterruptedException {
        Forms shared = new Forms();
        CountDownLatch start = new CountDownLatch(1);
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            threads.add(new Thread(() -> {
                try {
                    start.await();
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
                Workers.run(1, new Repeated(shared));
            }));
            threads.get(i).start();
        }
        start.countDown();
        for (Thread thread : threads) {
            thread.join();
        }
        return shared.guarded;
    }

    private record Repeated(Forms shared) implements Task<Integer> {
        @Override
        public Integer run(Worker worker) {
            for (int k = 0; k < 200; k++) {
                owner(shared);
            }
            return 0;
        }
    }

    private static void owner(Forms shared) {
        int own = 0;
        NestedRunnable count = () -> own++;
        shared.counted(count);
        check(own == 1);
    }

    private synchronized void counted(NestedRunnable count) {
        guarded++;
        count.run();
        int was = guarded;
        Thread.yield();
        guarded = was + 1;
    }

    private record OnThread(InheritableThreadLocal<String> value) implements Task<String> {
        @Override
        public String run(Worker worker) {
            Thread own = Thread.currentThread();
            return own.getName() + " " + own.isDaemon() + " " + own.isInterrupted() + " " + own.getContextClassLoader() + " " + value.get();
        }
    }

    /** What a worker's thread takes from the caller of Workers.run: the class loader of this run, no values of thread-locals. */
    private static String threads() {
        InheritableThreadLocal<String> value = new InheritableThreadLocal<>();
        value.set("of the caller");
        Thread own = Thread.currentThread();
        ClassLoader loader = own.getContextClassLoader();
        StringBuilder found = new StringBuilder();
        for (String name : new String[] {"one", "two"}) {
            own.setContextClassLoader(new ClassLoader(null) {
                @Override
                public String toString() {
                    return name;
                }
            });
            found.append(Workers.run(1, new OnThread(value))).append("; ");
        }
        own.setContextClassLoader(loader);
        return found.toString();
    }

    private static void expect(String expected, String found) {
        if (!found.equals(expected)) {
            throw new AssertionError(found + " instead of " + expected);
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        for (boolean isAsleep : new boolean[] {false, true}) {
            expect("35 61 128 2 6 bb5 28", lambdas(isAsleep));
            expect("3 smalllarge [-1, 5, 9] 113|seen x0 x [-1] 7|seen x|612", constructors(isAsleep));
            expect("1 3 4732 123 124 null", monitors(isAsleep));
        }
        expect("sukima-worker-0 true false one null; sukima-worker-0 true false two null; ", threads());
        expect("1600", String.valueOf(exclusive()));
        System.out.println("all as expected");
    }
}
