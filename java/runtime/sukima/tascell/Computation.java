// SPDX-License-Identifier: Apache-2.0
package sukima.tascell;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.ReentrantLock;

/** The workers of one computation, and the lock that guards the data that they exchange. */
final class Computation {
    final ReentrantLock lock = new ReentrantLock();
    final List<Worker> workers = new ArrayList<>();
    boolean isOver;

    Computation(int count) {
        for (int i = 0; i < count; i++) {
            workers.add(new Worker(this, i));
        }
    }

    /** Runs the task. Returns after it and all of its parts have ended. */
    Job run(Task<?> task) {
        Job root = new Job(task, null);
        CountDownLatch hasEnded = new CountDownLatch(1);
        // The thread of the task starts last. So if a thread cannot be started, the task has not begun.
        for (int i = workers.size() - 1; i >= 0; i--) {
            Worker worker = workers.get(i);
            try {
                CachedThreads.run("sukima-worker-" + i, i > 0 ? worker::help : () -> {
                    try {
                        worker.runRoot(root);
                    } finally {
                        hasEnded.countDown();
                    }
                });
            } catch (OutOfMemoryError e) {
                end();
                throw new IllegalStateException("only " + (workers.size() - 1 - i) + " of " + workers.size()
                    + " threads could be started (" + e.getMessage()
                    + "): run fewer workers, or raise the process's limits of threads and memory", e);
            }
        }
        await(hasEnded);
        return root;
    }

    private static void await(CountDownLatch latch) {
        boolean wasInterrupted = false;
        for (;;) {
            try {
                latch.await();
                break;
            } catch (InterruptedException e) {
                wasInterrupted = true;
            }
        }
        if (wasInterrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Makes all workers check whether something was aborted. The caller holds the lock. */
    void alarm() {
        for (Worker worker : workers) {
            worker.alarm();
        }
    }

    void end() {
        lock.lock();
        try {
            isOver = true;
            alarm();
        } finally {
            lock.unlock();
        }
    }
}
