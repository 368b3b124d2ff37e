// SPDX-License-Identifier: Apache-2.0
package sukima.closures;

import java.util.ArrayList;
import java.util.List;

/** Inspects the methods that wait for the running one. */
public final class Sleeping {
    private Sleeping() {}

    /** Returns the methods from the owner of the nested function to the caller of this method. */
    @Capturing
    public static List<SleepingFrame> frames(Nested function) {
        Owner owner = owner(function, "Sleeping.frames");
        List<SleepingFrame> found = new ArrayList<>();
        for (Frame frame = owner.enterCollected(); frame != null; frame = frame.below$) {
            found.add(new SleepingFrame(frame));
        }
        return found;
    }

    static Owner owner(Nested function, String caller) {
        Owner owner = function == null ? null : function.owner$();
        if (owner == null) {
            throw new IllegalArgumentException(caller + " received " + (function == null ? "null" : "an object of "
                + function.getClass()) + " instead of a nested function: pass a lambda of a type that extends Nested, compiled "
                + "with sukima-javac");
        }
        return owner;
    }
}
