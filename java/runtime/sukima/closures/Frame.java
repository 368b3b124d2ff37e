// SPDX-License-Identifier: Apache-2.0
package sukima.closures;

import java.io.Serializable;

/**
 * The variables and the resume point of a captured method. Generated subclasses have a field for each variable. All names
 * end with a dollar sign, so that they hide no name of the program.
 */
public abstract class Frame implements Serializable {
    private static final long serialVersionUID = 1;

    /** The state in which the method goes on. */
    public int state$;
    /** The captured frame of the method that this one has called; null to repeat the call instead. */
    public transient Frame inner$;
    /** The same for inspection: it stays while that method runs. */
    transient Frame below$;
    /** The exception that the handler of the current state receives. */
    public Throwable thrown$;

    protected Frame(int state) {
        state$ = state;
    }

    /** Continues the method and returns its result, null for void. */
    public abstract Object resume$();

    /** The name of the method, with its class. */
    public abstract String method$();

    /** The simple name of the method that the current state calls. */
    public abstract String callee$();

    /** Whether the current state repeats its call if no frame was captured below it. */
    public abstract boolean repeats$();

    /** Drops references that the method does not need any more when its current call ends. */
    public void forget$() {
        thrown$ = null;
    }

    /** The number of the source line that the current state is on. */
    public abstract int line$();

    /** Whether this frame belongs to a nested function. */
    public boolean isNested$() {
        return false;
    }

    /** Whether a call of that name can have led here. */
    final boolean answers$(String name, boolean isCallOfNested) {
        String own = method$();
        return isNested$() ? isCallOfNested : own.substring(own.lastIndexOf('.') + 1).equals(name);
    }

    /** Takes the inner frame out and continues its method. */
    public final Object resumeInner$() {
        Frame next = inner$;
        inner$ = null;
        return next.resume$();
    }

    /** Handles a capture that passes this frame: if the frame belongs to the owner, resuming goes on here. */
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
