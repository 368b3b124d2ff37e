// SPDX-License-Identifier: Apache-2.0
package sukima.closures;

/** Leaves methods without being an exception of the program, so the program's catch blocks do not receive it. */
public abstract class Unwinding extends Error {
    private static final long serialVersionUID = 1;

    protected Unwinding() {
        super(null, null, false, false);
    }
}
