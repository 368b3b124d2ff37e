// SPDX-License-Identifier: Apache-2.0
package sukima.tascell;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

/** The workers of one computation, and the lock that guards what they exchange. */
final class Pool {
    private static final long STACK_BYTES = 256L << 20; // address space; the system provides memory as the stack grows
    final ReentrantLock lock = new ReentrantLock();
    final List<Worker> workers = new ArrayList<>();
    boolean isOver;

    Pool(int count) {
        for (int i = 0; i < count; i++) {
            workers.add(new Worker(this, i));
        }
    }

    /** Runs the task and returns when all threads have ended. */
    Job run(Task<?> task) {
        Job root = new Job(task, null);
        List<Thread> threads = new ArrayList<>();
        try {
            // The thread of the task starts last: if a thread cannot be started, the task has not begun.
            for (int i = workers.size() - 1; i >= 0; i--) {
                threads.add(started(workers.get(i), root));
            }
        } catch (OutOfMemoryError e) {
            end();
            throw new IllegalStateException("only " + threads.size() + " of " + workers.size() + " threads could be started ("
                + e.getMessage() + "): run fewer workers, or raise the process's limits of threads and memory", e);
        } finally {
            threads.forEach(Pool::await);
        }
        return root;
    }

    private static Thread started(Worker worker, Job root) {
        Runnable body = worker.number() == 0 ? () -> worker.runRoot(root) : worker::help;
        Thread thread = new Thread(null, body, "sukima-worker-" + worker.number(), STACK_BYTES);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    private static void await(Thread thread) {
        boolean wasInterrupted = false;
        for (;;) {
            try {
                thread.join();
                break;
            } catch (InterruptedException e) {
                wasInterrupted = true;
            }
        }
        if (wasInterrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Makes all workers look whether something was aborted. The caller has the lock. */
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
