// SPDX-License-Identifier: Apache-2.0
package sukima.tascell;

import java.util.ArrayDeque;
import java.util.Deque;

/** The tasks that were split off from one run of a construct. The lock of the pool guards it. */
final class Split {
    /** The job that runs the construct. */
    final Job job;
    /** The tasks in sequential order, which is the reverse of the order in which they were split off. */
    final Deque<Job> given = new ArrayDeque<>();
    /** Whether a task has thrown an exception. */
    boolean hasFailed;

    Split(Job job) {
        this.job = job;
    }
}
