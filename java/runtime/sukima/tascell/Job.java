// SPDX-License-Identifier: Apache-2.0
package sukima.tascell;

import java.util.ArrayList;
import java.util.List;
import sukima.closures.Owner;

/** One run of a task. The lock of the pool guards the fields that change. */
final class Job {
    final Task<?> task;
    /** The construct that the task was split off from, null for the first task. */
    final GivenTasks parent;
    /** What the frames of this run are collected for; the thread that runs it sets it. */
    Owner base;
    /** The worker that runs it. */
    Worker runner;
    /** The constructs of this run that tasks were split off from. */
    final List<GivenTasks> splits = new ArrayList<>();
    /** An exception of a block that was run to split a task off; the next poll throws it. */
    Throwable failureOfBlock;
    boolean isAborted;
    boolean hasEnded;
    Object result;
    /** The exception that ended it; an {@link Aborted} if it was aborted. */
    Throwable failure;

    Job(Task<?> task, GivenTasks parent) {
        this.task = task;
        this.parent = parent;
    }

    /** Whether its result is not needed: it is a part of a job or of a construct that is being left. */
    boolean mustStop() {
        for (Job job = this; job != null; job = job.parent == null ? null : job.parent.job) {
            if (job.isAborted || job.parent != null && job.parent.failed() != null) {
                return true;
            }
        }
        return false;
    }
}
