// SPDX-License-Identifier: Apache-2.0
package sukima.tascell;

import sukima.closures.Frame;

/**
 * The frame of a method with constructs. Generated subclasses know which constructs are running, by numbers called places,
 * and run their blocks.
 */
public abstract class SplitFrame extends Frame {
    private static final long serialVersionUID = 1;

    /**
     * Not saved in a checkpoint. The worker of each construct is not serializable, so there is no checkpoint of such a
     * frame.
     */
    private final transient GivenTasks[] splits$;

    protected SplitFrame(int state, int places) {
        super(state);
        splits$ = new GivenTasks[places];
    }

    /** Returns the constructs that contain the current state, the outermost first. */
    public abstract int[] places$();

    /** Returns whether a task can be split off there. */
    public abstract boolean canSplit$(int place);

    /** Takes a part of the work out of the construct, and makes a task of it. */
    public abstract Task<?> put$(int place);

    /** Runs the block {@code after} of a dynamicWind to backtrack; does nothing for other constructs. */
    public abstract void undo$(int place);

    /** Runs the block `before` again. */
    public abstract void redo$(int place);

    /** Returns the first number of the upper part of a loop's remaining iterations. */
    protected static int middle$(int index, int end) {
        return (int) (index + (1L + end - index) / 2);
    }

    protected final boolean isSplit$(int place) {
        return splits$[place] != null;
    }

    final GivenTasks split$(int place, Job job) {
        if (splits$[place] == null) {
            splits$[place] = new GivenTasks(job);
        }
        return splits$[place];
    }

    /** Awaits the first of the construct's tasks, and returns its result. */
    protected final Object joined$(int place, Worker worker) {
        GivenTasks split = splits$[place];
        Object result = worker.join(split);
        if (split.given.isEmpty()) {
            splits$[place] = null;
        }
        return result;
    }

    /** Aborts the construct's tasks when an exception leaves the construct, and returns the exception to throw. */
    protected final Throwable abandoned$(int place, Worker worker, Throwable thrown) {
        GivenTasks split = splits$[place];
        splits$[place] = null;
        return split == null ? thrown : worker.abandon(split, thrown);
    }
}
