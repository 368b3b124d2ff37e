// SPDX-License-Identifier: Apache-2.0
package sukima.tascell;

import java.util.ArrayList;
import java.util.List;
import sukima.closures.Owner;

/** One run of a task. The computation's lock guards the fields that change. */
final class Job {
    final Task<?> task;
    /** The construct from which the task was split off; null for the first task. */
    final GivenTasks parent;
    /** The owner for which the frames of this run are collected. The thread that runs the task sets it. */
    Owner base;
    /** The worker that runs it. */
    Worker runner;
    /** The constructs of this run from which tasks were split off. */
    final List<GivenTasks> splits = new ArrayList<>();
    /** An exception of a block that ran while a task was split off. The next poll throws it. */
    Throwable failureOfBlock;
    boolean isAborted;
    boolean hasEnded;
    Object result;
    /** The exception that ended the task; an {@link Aborted} if it was aborted. */
    Throwable failure;

    Job(Task<?> task, GivenTasks parent) {
        this.task = task;
        this.parent = parent;
    }

    /** Returns whether the result is not needed, because the job is part of a job or of a construct that is being left. */
    boolean mustStop() {
        for (Job job = this; job != null; job = job.parent == null ? null : job.parent.job) {
            if (job.isAborted || job.parent != null && job.parent.failed() != null) {
                return true;
            }
        }
        return false;
    }
}
