// SPDX-License-Identifier: Apache-2.0
package sukima.closures;

/** Thrown when a method that was not translated is between a nested function's call and its owner. */
public final class LostFrameError extends Error {
    private static final long serialVersionUID = 1;

    /**
     * @param owner  the method that contains the nested function
     * @param below  the outermost frame that was collected; null: none
     */
    LostFrameError(String owner, Frame below) {
        super("a nested function of " + owner + " was called "
            + (below == null ? "" : "below " + below.method$() + " ") + "through a method that sukima-javac has not "
            + "translated: compile all methods between " + owner + " and the call with sukima-javac");
    }
}
