// SPDX-License-Identifier: Apache-2.0
import java.lang.reflect.InvocationTargetException;
import java.util.concurrent.SynchronousQueue;
import sukima.closures.NestedRunnable;

/**
 * Times a call to a method that sleeps below DEPTH others, for lab/scripts/java-speed.py: Handover WAY DEPTH CALLS REPEATS.
 * Prints the seconds for a call, once for each repeat; the first third warms up. Each call descends DEPTH methods first.
 *
 * The ways: `plain` changes a variable in an array, so nothing is captured. `sukima` captures and resumes all methods. In `virtual`
 * and `platform` the methods run in another thread, which hands over to the thread of the variable and waits for it.
 */
public final class Handover {
    private static final int NO_VIRTUAL_THREADS = 3;

    private Handover() {}

    private static int plainDown(int depth, Runnable atBottom) {
        if (depth == 0) {
            atBottom.run();
            return 0;
        }
        return plainDown(depth - 1, atBottom) + 1;
    }

    private static int plain(int depth) {
        int[] calls = {0};
        return plainDown(depth, () -> calls[0]++) + calls[0];
    }

    private static int down(int depth, NestedRunnable atBottom) {
        if (depth == 0) {
            atBottom.run();
            return 0;
        }
        return down(depth - 1, atBottom) + 1;
    }

    private static int sukima(int depth) {
        int calls = 0;
        NestedRunnable count = () -> calls++;
        return down(depth, count) + calls;
    }

    private static void check(int found, int expected) {
        if (found != expected) {
            throw new AssertionError(found + " instead of " + expected);
        }
    }

    private static <T> T taken(SynchronousQueue<T> queue) {
        try {
            return queue.take();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static void put(SynchronousQueue<Integer> queue) {
        try {
            queue.put(1);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static Thread started(boolean isVirtual, Runnable run) {
        if (!isVirtual) {
            Thread made = new Thread(run);
            made.start();
            return made;
        }
        try { // the sources need Java 17 only
            return (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, run);
        } catch (NoSuchMethodException | IllegalAccessException | InvocationTargetException e) {
            System.err.println("this virtual machine has no virtual threads; they need Java 21 or later");
            System.exit(NO_VIRTUAL_THREADS);
            throw new AssertionError(e);
        }
    }

    private static void threads(boolean isVirtual, int depth, int calls) throws InterruptedException {
        SynchronousQueue<Integer> asked = new SynchronousQueue<>();
        SynchronousQueue<Integer> answered = new SynchronousQueue<>();
        int[] count = {0};
        Thread owner = started(isVirtual, () -> {
            for (int i = 0; i < calls; i++) {
                count[0] += taken(asked);
                put(answered);
            }
        });
        Thread caller = started(isVirtual, () -> {
            for (int i = 0; i < calls; i++) {
                check(plainDown(depth, () -> {
                    put(asked);
                    taken(answered);
                }), depth);
            }
        });
        caller.join();
        owner.join();
        check(count[0], calls);
    }

    private static void alone(boolean isPlain, int depth, int calls) {
        for (int i = 0; i < calls; i++) {
            check(isPlain ? plain(depth) : sukima(depth), depth + 1);
        }
    }

    private static void run(String way, int depth, int calls) throws InterruptedException {
        switch (way) {
            case "plain" -> alone(true, depth, calls);
            case "sukima" -> alone(false, depth, calls);
            case "virtual" -> threads(true, depth, calls);
            case "platform" -> threads(false, depth, calls);
            default -> throw new IllegalArgumentException("there is no way " + way + ": give plain, sukima, virtual or platform");
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        int depth = Integer.parseInt(arguments[1]);
        int calls = Integer.parseInt(arguments[2]);
        int repeats = Integer.parseInt(arguments[3]);
        for (int i = 0; i < repeats; i++) {
            long start = System.nanoTime();
            run(arguments[0], depth, calls);
            double seconds = (System.nanoTime() - start) * 1e-9 / calls;
            if (i >= repeats / 3) {
                System.out.println(seconds);
            }
        }
    }
}
