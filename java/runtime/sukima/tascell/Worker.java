// SPDX-License-Identifier: Apache-2.0
package sukima.tascell;

import java.util.function.BiFunction;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import java.util.function.Supplier;
import sukima.closures.Capture;
import sukima.closures.Capturing;
import sukima.closures.Frame;
import sukima.closures.Owner;

/**
 * A thread of a computation. Its constructs run as ordinary statements until another worker is idle. Then the worker
 * backtracks to the oldest construct with remaining work, makes a {@link Task} of a part of that work, replays the younger
 * constructs, and continues. All arguments that are blocks are lambdas written at the call; they can read and change the
 * variables of the surrounding method. sukima-javac translates them.
 */
public final class Worker {
    /** Whether the worker must check for requests and aborts. */
    public volatile boolean isAsked$;

    private final Computation computation;
    private final int number;
    final Thief thief;
    private Job running;
    /** The thread that works; null before and after. Another thread that reads it only sees that it is not its own. */
    private Thread thread;

    Worker(Computation computation, int number) {
        this.computation = computation;
        this.number = number;
        thief = new Thief(this, computation);
    }

    /** Returns the number of the worker, from 0. */
    public int number() {
        return number;
    }

    /**
     * Runs the first block, then the second. While the first one runs, an idle worker may receive the task that {@code put}
     * returns. In that case {@code get} receives the task's result, and the second block does not run.
     */
    @Capturing
    public <R> void doTwo(Runnable first, Runnable second, Supplier<? extends Task<R>> put, Consumer<R> get) {
        throw untranslated();
    }

    /**
     * Runs the body for each number from {@code from} to {@code to - 1}. During that time idle workers may receive tasks for
     * the upper part of the remaining numbers: {@code put} makes a task from the first number and the end. {@code get}
     * receives the results, in the order of the numbers, after the last number that runs here.
     */
    @Capturing
    public <R> void doMany(int from, int to, IntConsumer body, BiFunction<Integer, Integer, ? extends Task<R>> put, Consumer<R> get) {
        throw untranslated();
    }

    /**
     * Runs the blocks in this order. {@code after} also runs if an exception leaves {@code body}. When the worker backtracks
     * to split off work further out, {@code after} undoes the changes of {@code before}; then {@code before} makes them
     * again.
     */
    @Capturing
    public void dynamicWind(Runnable before, Runnable body, Runnable after) {
        throw untranslated();
    }

    private static IllegalStateException untranslated() {
        return new IllegalStateException("a construct of sukima.tascell.Worker was called in a method that javac compiled: "
            + "compile it with sukima-javac");
    }

    /** Handles requests and aborts. If frames must be collected for that, it throws a {@link Capture}. */
    public void poll$() {
        if (Thread.currentThread() != thread) {
            throw new IllegalStateException("a construct of worker " + number + " was called on the thread "
                + Thread.currentThread().getName() + ", where that worker does not run: call only constructs of the Worker that "
                + "the task's method run receives, before that method returns");
        }
        computation.lock.lock();
        try {
            throwWhatStops();
            isAsked$ = false; // not before: a finally block may replace the exception, and the next poll must rethrow it
            if (!thief.isAskedByOthers()) {
                return;
            }
        } finally {
            computation.lock.unlock();
        }
        Delays.step();
        throw running.base.all$();
    }

    /** The caller holds the lock. */
    private void throwWhatStops() {
        if (running.mustStop()) {
            throw new Aborted(null);
        }
        for (GivenTasks split : running.splits) {
            if (split.hasFailed) {
                throw new Aborted(split);
            }
        }
        Throwable failure = running.failureOfBlock;
        running.failureOfBlock = null;
        if (failure != null) {
            throw Frame.rethrow$(failure);
        }
    }

    /** Makes the worker check at its next poll, or now if it waits. The caller holds the lock. */
    void alarm() {
        isAsked$ = true;
        thief.wake();
    }

    void runRoot(Job root) {
        thread = Thread.currentThread();
        try {
            thief.begin();
            root.runner = this;
            execute(root);
        } finally {
            thread = null; // the thread may become that of another worker
            computation.end();
        }
    }

    /** Takes tasks of other workers until the computation ends. */
    void help() {
        BooleanSupplier isOver = () -> computation.isOver;
        thread = Thread.currentThread();
        for (Job job = thief.steal(null, isOver); job != null; job = thief.steal(null, isOver)) {
            execute(job);
        }
        thread = null; // the thread may become that of another worker
    }

    private void execute(Job job) {
        Job outer = running;
        running = job;
        Object result = null;
        Throwable failure = null;
        try {
            result = called(job);
        } catch (Throwable e) {
            failure = e;
        }
        Thread.interrupted(); // an interrupt concerns only the task that has ended
        running = outer;
        Delays.step();
        computation.lock.lock();
        try {
            job.result = result;
            job.failure = failure == null ? job.failureOfBlock : failure;
            job.hasEnded = true;
            if (job.parent != null && job.failure != null && !(job.failure instanceof Aborted)) {
                job.parent.hasFailed = true;
                computation.alarm();
            } else if (job.parent != null) {
                job.parent.job.runner.thief.wake();
            }
            isAsked$ = true; // the outer job may have missed requests
        } finally {
            computation.lock.unlock();
        }
    }

    private Object called(Job job) {
        job.base = new Owner("a task");
        try {
            stopIfNotNeeded();
            return job.task.run(this);
        } catch (Capture capture) {
            return resumed(job, capture);
        }
    }

    private void stopIfNotNeeded() {
        computation.lock.lock();
        try {
            throwWhatStops();
        } finally {
            computation.lock.unlock();
        }
    }

    private Object resumed(Job job, Capture first) {
        for (Capture capture = first;;) {
            if (capture.owner() != job.base) {
                throw capture;
            }
            Frame outermost = capture.frames$("run");
            Backtrack.serve(this, job, outermost);
            try {
                return outermost.resume$();
            } catch (Capture next) {
                capture = next;
            }
        }
    }

    /** Awaits the first task of the construct, removes it, and returns its result. Keeps the thread's interrupt. */
    Object join(GivenTasks split) {
        boolean wasInterrupted = Thread.interrupted();
        Job first = split.given.getFirst();
        for (;;) {
            Delays.step();
            Job stolen = thief.steal(first, () -> first.hasEnded || running.mustStop() || split.failed() != null);
            wasInterrupted |= Thread.interrupted();
            if (stolen == null) {
                break;
            }
            execute(stolen);
        }
        if (wasInterrupted) {
            Thread.currentThread().interrupt();
        }
        computation.lock.lock();
        try {
            if (running.mustStop()) {
                throw new Aborted(null);
            }
            GivenTasks failed = split.failed();
            if (failed != null) {
                throw new Aborted(failed);
            }
            split.given.removeFirst();
            if (split.given.isEmpty()) {
                running.splits.remove(split);
            }
            return first.result;
        } finally {
            computation.lock.unlock();
        }
    }

    /** Aborts and awaits the tasks. Returns the exception to throw when {@code thrown} leaves the construct. */
    Throwable abandon(GivenTasks split, Throwable thrown) {
        computation.lock.lock();
        try {
            split.given.forEach(job -> job.isAborted = true);
            computation.alarm();
            Throwable first = null;
            for (Job job : split.given) {
                thief.awaitEnd(job);
                if (first == null && job.failure != null && !(job.failure instanceof Aborted)) {
                    first = job.failure;
                }
            }
            running.splits.remove(split);
            // This also applies if a construct further out has failed: an exception of these tasks comes before that one in
            // sequential order.
            return thrown instanceof Aborted aborted && aborted.target != null && first != null ? first : thrown;
        } finally {
            computation.lock.unlock();
        }
    }
}
