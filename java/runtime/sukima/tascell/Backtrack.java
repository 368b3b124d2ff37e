// SPDX-License-Identifier: Apache-2.0
package sukima.tascell;

import java.util.ArrayList;
import java.util.List;
import sukima.closures.Frame;

/**
 * Backtracks through the constructs of a job whose frames have been collected, splits the oldest one, and replays the
 * others.
 */
final class Backtrack {
    private record Place(SplitFrame frame, int number) {}

    private final Job job;
    /** The running constructs, the oldest first. */
    private final List<Place> places = new ArrayList<>();
    /** The constructs from this index on are undone. */
    private int reached;

    private Backtrack(Job job, Frame outermost) {
        this.job = job;
        for (Frame frame = outermost; frame != null; frame = frame.inner$) {
            if (frame instanceof SplitFrame split) {
                for (int place : split.places$()) {
                    places.add(new Place(split, place));
                }
            }
        }
        reached = places.size();
    }

    /** Gives a task to each worker that has sent a request, as long as there is work. */
    static void serve(Worker worker, Job job, Frame outermost) {
        Backtrack way = new Backtrack(job, outermost);
        for (Thief asker : worker.thief.takeAskers()) {
            asker.answer(way.splitSafely(worker));
        }
        try {
            way.go(way.places.size());
        } catch (Throwable e) {
            way.fail(worker, e);
        }
    }

    private Job splitSafely(Worker worker) {
        try {
            return job.failureOfBlock == null ? split() : null;
        } catch (Throwable e) {
            fail(worker, e);
            return null;
        }
    }

    private void fail(Worker worker, Throwable failure) {
        if (job.failureOfBlock == null) {
            job.failureOfBlock = failure;
        }
        worker.isAsked$ = true;
    }

    private Job split() {
        for (int i = 0; i < places.size(); i++) {
            Place place = places.get(i);
            if (place.frame().canSplit$(place.number())) {
                go(i + 1);
                Delays.step();
                Task<?> task = place.frame().put$(place.number());
                if (task == null) {
                    throw new NullPointerException("the block put returned null: return a task from it");
                }
                GivenTasks split = place.frame().split$(place.number(), job);
                if (!job.splits.contains(split)) {
                    job.splits.add(split);
                }
                return new Job(task, split);
            }
        }
        return null;
    }

    /**
     * Undoes the constructs behind the first {@code count}, the youngest first, or redoes constructs until {@code count} are
     * done. If redoing one throws, the exception is thrown after all have been redone. It then starts at the innermost
     * construct, so the {@code after} blocks run.
     */
    private void go(int count) {
        while (reached > count) {
            Place place = places.get(--reached);
            place.frame().undo$(place.number());
        }
        Throwable failure = null;
        while (reached < count) {
            Place place = places.get(reached++);
            try {
                place.frame().redo$(place.number());
            } catch (Throwable e) {
                failure = failure == null ? e : failure;
            }
        }
        if (failure != null) {
            throw Frame.rethrow$(failure);
        }
    }
}
