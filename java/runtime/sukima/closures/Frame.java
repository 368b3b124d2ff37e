// SPDX-License-Identifier: Apache-2.0
package sukima.closures;

import java.io.Serializable;

/**
 * The variables and the resume point of a captured method. Generated subclasses have a field for each variable. All names
 * end with a dollar sign, so that they hide no name of the program.
 */
public abstract class Frame implements Serializable {
    private static final long serialVersionUID = 1;

    /** The state in which the method continues. */
    public int state$;
    /** The captured frame of the method that this method has called; null: the call must be repeated. */
    public transient Frame inner$;
    /** The same frame for inspection: it stays set while that method runs. */
    transient Frame below$;
    /** The exception that the handler of the current state receives. */
    public Throwable thrown$;

    protected Frame(int state) {
        state$ = state;
    }

    /** Continues the method and returns its result, null for void. */
    public abstract Object resume$();

    /** Returns the name of the method, with its class. */
    public abstract String method$();

    /** Returns the simple name of the method that the current state calls. */
    public abstract String callee$();

    /** Returns whether the current state repeats its call if no frame was captured below it. */
    public abstract boolean repeats$();

    /** Drops references that the method no longer needs when its current call ends. */
    public void forget$() {
        thrown$ = null;
    }

    /** Returns the number of the source line of the current state. */
    public abstract int line$();

    /** Returns whether this frame belongs to a nested function. */
    public boolean isNested$() {
        return false;
    }

    /** Returns whether a call of that name can have called this method. */
    final boolean answers$(String name, boolean isCallOfNested) {
        String own = method$();
        return isNested$() ? isCallOfNested : own.substring(own.lastIndexOf('.') + 1).equals(name);
    }

    /** Removes the inner frame and continues its method. */
    public final Object resumeInner$() {
        Frame next = inner$;
        inner$ = null;
        return next.resume$();
    }

    /**
     * Handles a capture that passes this frame. If the frame belongs to the owner, the capture ends and the frame can be
     * resumed here.
     */
    public final void captured$(Capture capture, Owner own) {
        if (own == null || capture.owner() != own) {
            throw capture.add(this);
        }
        capture.giveTo(this);
    }

    /** Throws any exception, checked or not. */
    public static RuntimeException rethrow$(Throwable exception) {
        return Frame.<RuntimeException>throwAs(exception);
    }

    @SuppressWarnings("unchecked")
    private static <E extends Throwable> RuntimeException throwAs(Throwable exception) throws E {
        throw (E) exception;
    }
}
