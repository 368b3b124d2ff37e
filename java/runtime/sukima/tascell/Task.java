// SPDX-License-Identifier: Apache-2.0
package sukima.tascell;

import sukima.closures.Capturing;

/**
 * A part of a computation that an idle worker can take. It holds all data that the part needs, such as a copy of a board.
 */
public interface Task<R> {
    /** Computes the result. A class that overrides this method must be compiled by sukima-javac. */
    @Capturing
    R run(Worker worker);
}
