// SPDX-License-Identifier: Apache-2.0
package sukima.tascell;

import java.util.ArrayDeque;
import java.util.Deque;

/** The tasks that were split off from one run of a construct. The computation's lock guards this object. */
final class GivenTasks {
    /** The job that runs the construct. */
    final Job job;
    /** The surrounding construct in the same job from which tasks were split off; null if there is none. */
    final GivenTasks outer;
    /** The tasks in sequential order, which is the reverse of the order in which they were split off. */
    final Deque<Job> given = new ArrayDeque<>();
    /** Whether a task has thrown an exception. */
    boolean hasFailed;

    GivenTasks(Job job) {
        this.job = job;
        // Constructs are split in the order of their nesting, so the last one split is the surrounding one.
        outer = job.splits.isEmpty() ? null : job.splits.get(job.splits.size() - 1);
    }

    /** Returns the outermost failed construct among this one and those around it in its job; null if none has failed. */
    GivenTasks failed() {
        GivenTasks found = null;
        for (GivenTasks split = this; split != null; split = split.outer) {
            if (split.hasFailed) {
                found = split;
            }
        }
        return found;
    }
}
