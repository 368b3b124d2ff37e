// SPDX-License-Identifier: Apache-2.0
package sukima.tascell;

import sukima.closures.Unwinding;

/** Leaves a task that is no longer needed, or the methods below a construct of which a task has failed. */
final class Aborted extends Unwinding {
    private static final long serialVersionUID = 1;

    /** The construct to leave; null for the whole task. */
    final transient GivenTasks target;

    Aborted(GivenTasks target) {
        this.target = target;
    }
}
