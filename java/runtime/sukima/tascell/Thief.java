// SPDX-License-Identifier: Apache-2.0
package sukima.tascell;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.function.BooleanSupplier;

/** How a worker asks others for tasks, and what it answers while it has none. The lock of the pool guards all fields. */
final class Thief {
    private static final long FIRST_PAUSE_NANOS = 20_000;
    private static final long LONGEST_PAUSE_NANOS = 5_000_000;
    /** The thief stops waiting for a victim that has not polled for this time. */
    private static final long PATIENCE_NANOS = 1_000_000;
    /** It stays awake so long when it begins to wait, and for an answer: to sleep and be woken takes longer than most of them. */
    private static final long AWAKE_NANOS = Runtime.getRuntime().availableProcessors() > 1 ? 150_000 : 0;
    /** To hand a task over that ends sooner is not worth while, and the next one is likely to be as short. */
    private static final long SHORT_NANOS = 300_000;

    private final Worker worker;
    private final Pool pool;
    private final Condition isWoken;
    /** The workers that ask this one for a task. */
    private final Deque<Thief> askers = new ArrayDeque<>();
    /** The worker that has been asked and has not answered. */
    private Thief victim;
    private Job received;
    private boolean isRunning;
    private int next;
    /** When it last stopped waiting. */
    private long workingSince = System.nanoTime() - SHORT_NANOS;
    private long awakeUntil;
    /** How often this thief has been woken; it also reads that without the lock. */
    private volatile int wakes;

    Thief(Worker worker, Pool pool) {
        this.worker = worker;
        this.pool = pool;
        isWoken = pool.lock.newCondition();
        next = worker.number();
    }

    void begin() {
        pool.lock.lock();
        isRunning = true;
        pool.lock.unlock();
    }

    /** The caller has the lock. */
    void wake() {
        wakes++;
        isWoken.signal();
    }

    boolean isAskedByOthers() {
        return !askers.isEmpty();
    }

    /** Takes the requests; each of them must be answered. */
    List<Thief> takeAskers() {
        pool.lock.lock();
        try {
            List<Thief> all = new ArrayList<>(askers);
            askers.clear();
            return all;
        } finally {
            pool.lock.unlock();
        }
    }

    /** Answers this thief; null if there is no task for it. */
    void answer(Job job) {
        Delays.step();
        pool.lock.lock();
        try {
            victim = null;
            received = job;
            if (job != null) {
                job.runner = worker;
                job.parent.given.addFirst(job);
            }
            wake();
        } finally {
            pool.lock.unlock();
        }
    }

    /**
     * Returns a task that another worker has split off, or null as soon as the condition holds. If the worker waits for a job,
     * all tasks that it takes are parts of that. A request for parts of a job that ends is refused before its victim runs code
     * further out: the victim awaits a job that cannot end before the asker goes on, so it passes refuseAll here or in awaitEnd.
     */
    Job steal(Job awaited, BooleanSupplier isEnough) {
        pool.lock.lock();
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
            pool.lock.unlock();
        }
    }

    /** Waits until it is woken, so long at most. The caller has the lock. */
    private void pause(long nanos) {
        int before = wakes;
        long now = System.nanoTime();
        long end = now + (Delays.areOn() ? nanos / 10 : nanos);
        pool.lock.unlock();
        while (wakes == before && now - end < 0 && now - awakeUntil < 0) {
            Thread.onSpinWait();
            now = System.nanoTime();
        }
        pool.lock.lock();
        try {
            if (wakes == before) {
                isWoken.awaitNanos(end - now);
            }
        } catch (InterruptedException e) {
            // The threads are the pool's own: a program that interrupts them cannot end its wait.
        }
    }

    private Thief nextVictim() {
        int count = pool.workers.size();
        for (int i = 0; i < count; i++) {
            next = (next + 1) % count;
            Thief candidate = pool.workers.get(next).thief;
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

    /** Takes the request back; false if it is being answered. */
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

    /** Waits for the end of a job that was aborted. The caller has the lock. */
    void awaitEnd(Job job) {
        isRunning = false;
        while (!job.hasEnded) {
            refuseAll();
            isWoken.awaitUninterruptibly();
        }
        isRunning = true;
    }
}
