// SPDX-License-Identifier: Apache-2.0
package sukima.closures;

/** Thrown when a method that was not translated is between a nested function's call and its owner. */
public final class LostFrameError extends Error {
    private static final long serialVersionUID = 1;

    LostFrameError(String message) {
        super(message);
    }
}
