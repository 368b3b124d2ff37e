// SPDX-License-Identifier: Apache-2.0
package sukima.closures;

/** Carries the frames of the methods that it leaves to the owner of a nested function. Only generated code catches it. */
public final class Capture extends Unwinding {
    private static final long serialVersionUID = 1;

    private final transient Owner owner;
    private transient Frame outermost;

    Capture(Owner owner) {
        this.owner = owner;
    }

    public Owner owner() {
        return owner;
    }

    /**
     * Adds the frame of the next outer method. Each frame has the name of the method for which it waits, so this detects a
     * method between them that was not translated.
     */
    public Capture add(Frame frame) {
        String expected = frame.callee$();
        boolean isComplete = outermost == null ? frame.repeats$() : outermost.answers$(expected, frame.repeats$());
        if (!isComplete) {
            throw lost();
        }
        frame.forget$();
        frame.inner$ = outermost;
        frame.below$ = outermost;
        outermost = frame;
        return this;
    }

    /** Returns the outermost frame, which must be that of the method of this name. */
    public Frame frames$(String name) {
        if (outermost == null || !outermost.answers$(name, false)) {
            throw lost();
        }
        return outermost;
    }

    /** Resumes all frames, the outermost first, and returns the result of the outermost method. */
    public Object resume() {
        if (outermost == null || !owner.isAsleepIn(outermost)) {
            throw lost();
        }
        owner.collected();
        return outermost.resume$();
    }

    /** Passes the collected frames to the owner's own frame, which then continues. */
    void giveTo(Frame frame) {
        owner.collected();
        add(frame);
    }

    private LostFrameError lost() {
        return new LostFrameError(owner.method(), outermost);
    }
}
