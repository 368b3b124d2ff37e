// SPDX-License-Identifier: Apache-2.0
package sukima.tascell;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.function.BooleanSupplier;

/**
 * Requests tasks from other workers, and answers their requests while it has no task. The computation's lock guards all
 * fields.
 */
final class Thief {
    private static final long FIRST_PAUSE_NANOS = 20_000;
    private static final long LONGEST_PAUSE_NANOS = 5_000_000;
    /** If a victim has not polled for this time, the thief stops waiting for it. */
    private static final long PATIENCE_NANOS = 1_000_000;
    /**
     * How long it stays awake at the start of a wait, and for an answer. To sleep and be woken takes longer than most waits.
     */
    private static final long AWAKE_NANOS = Runtime.getRuntime().availableProcessors() > 1 ? 150_000 : 0;
    /** Handing over a task that ends sooner is not worthwhile, and the next task is likely to be equally short. */
    private static final long SHORT_NANOS = 300_000;

    private final Worker worker;
    private final Computation computation;
    private final Condition isWoken;
    /** The workers that have sent this one a request for a task. */
    private final Deque<Thief> askers = new ArrayDeque<>();
    /** The worker that has this thief's request and has not answered. */
    private Thief victim;
    private Job received;
    private boolean isRunning;
    private int next;
    /** The time when it last stopped waiting. */
    private long workingSince = System.nanoTime() - SHORT_NANOS;
    private long awakeUntil;
    /** Whether the thread was interrupted during its wait. Only that thread uses it. */
    private boolean wasInterrupted;
    /** Number of times that this thief was woken. The thief also reads it without the lock. */
    private volatile int wakes;

    Thief(Worker worker, Computation computation) {
        this.worker = worker;
        this.computation = computation;
        isWoken = computation.lock.newCondition();
        next = worker.number();
    }

    void begin() {
        computation.lock.lock();
        isRunning = true;
        computation.lock.unlock();
    }

    /** The caller holds the lock. */
    void wake() {
        wakes++;
        isWoken.signal();
    }

    boolean isAskedByOthers() {
        return !askers.isEmpty();
    }

    /** Removes and returns the requests. The caller must answer each of them. */
    List<Thief> takeAskers() {
        computation.lock.lock();
        try {
            List<Thief> all = new ArrayList<>(askers);
            askers.clear();
            return all;
        } finally {
            computation.lock.unlock();
        }
    }

    /** Answers this thief; null: there is no task for it. */
    void answer(Job job) {
        Delays.step();
        computation.lock.lock();
        try {
            victim = null;
            received = job;
            if (job != null) {
                job.runner = worker;
                job.parent.given.addFirst(job);
            }
            wake();
        } finally {
            computation.lock.unlock();
        }
    }

    /**
     * Returns a task that another worker has split off, or null as soon as the condition holds. If the worker waits for a
     * job, it only takes tasks that are parts of that job.
     *
     * A request for parts of a job that ends is refused before its victim runs code further out. The victim awaits a job
     * that cannot end before the thief continues, so the victim calls refuseAll here or in awaitEnd.
     */
    Job steal(Job awaited, BooleanSupplier isEnough) {
        wasInterrupted = false;
        computation.lock.lock();
        try {
            isRunning = false;
            long now = System.nanoTime();
            awakeUntil = now + AWAKE_NANOS;
            long pause = now - workingSince < SHORT_NANOS ? SHORT_NANOS : 0;
            while (received == null && !(isEnough.getAsBoolean() && withdraw())) {
                refuseAll();
                if (victim == null) {
                    pause(pause);
                    pause = Math.min(Math.max(2 * pause, FIRST_PAUSE_NANOS), LONGEST_PAUSE_NANOS);
                    if (received == null && !isEnough.getAsBoolean()) {
                        ask(awaited == null ? nextVictim() : awaited.runner.thief);
                    }
                } else {
                    pause(PATIENCE_NANOS);
                    withdrawFromSilent();
                }
            }
            Job job = received;
            received = null;
            workingSince = System.nanoTime();
            return job;
        } finally {
            isRunning = true;
            computation.lock.unlock();
            if (wasInterrupted && awaited != null) { // without a job to await, no task runs that could see it
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Waits until it is woken, at most for this time. The caller holds the lock. */
    private void pause(long nanos) {
        int before = wakes;
        long now = System.nanoTime();
        long end = now + (Delays.areOn() ? nanos / 10 : nanos);
        computation.lock.unlock();
        while (wakes == before && now - end < 0 && now - awakeUntil < 0) {
            Thread.onSpinWait();
            now = System.nanoTime();
        }
        computation.lock.lock();
        try {
            if (wakes == before) {
                isWoken.awaitNanos(end - now);
            }
        } catch (InterruptedException e) {
            wasInterrupted = true; // the threads belong to the computation, so an interrupt does not end their wait
        }
    }

    private Thief nextVictim() {
        int count = computation.workers.size();
        for (int i = 0; i < count; i++) {
            next = (next + 1) % count;
            Thief candidate = computation.workers.get(next).thief;
            if (candidate != this && candidate.isRunning) {
                return candidate;
            }
        }
        return null;
    }

    private void ask(Thief candidate) {
        if (candidate != null && candidate.isRunning) {
            victim = candidate;
            awakeUntil = System.nanoTime() + AWAKE_NANOS;
            candidate.askers.add(this);
            candidate.worker.isAsked$ = true;
        }
    }

    /** Withdraws the request; returns false if it is being answered. */
    private boolean withdraw() {
        if (victim != null && !victim.askers.remove(this)) {
            return false;
        }
        victim = null;
        return true;
    }

    private void withdrawFromSilent() {
        if (received == null && victim != null) {
            withdraw();
        }
    }

    private void refuseAll() {
        for (Thief asker : askers) {
            asker.victim = null;
            asker.wake();
        }
        askers.clear();
    }

    /** Waits for the end of a job that was aborted. The caller holds the lock. */
    void awaitEnd(Job job) {
        isRunning = false;
        while (!job.hasEnded) {
            refuseAll();
            isWoken.awaitUninterruptibly();
        }
        isRunning = true;
    }
}
