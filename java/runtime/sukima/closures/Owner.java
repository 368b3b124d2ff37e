// SPDX-License-Identifier: Apache-2.0
package sukima.closures;

import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.Serializable;

/** One activation of a method that contains nested functions. Generated code uses it; programs need not use it. */
public final class Owner implements Serializable {
    private static final long serialVersionUID = 1;

    private final String method;
    private transient Thread thread = Thread.currentThread();
    private Frame frame;
    private boolean hasEnded;
    /** Whether all frames between the owner and the running method have just been collected. */
    private transient boolean isCollected;
    /** Whether the frames come from a checkpoint whose call has not been repeated yet. */
    private transient boolean isRestored;

    public Owner(String method) {
        this.method = method;
    }

    /** Returns the frame with the variables of the method. Throws {@link Capture} while they are on the Java stack. */
    public Frame enter() {
        check();
        if (frame == null) {
            throw new Capture(this);
        }
        isCollected = false;
        return frame;
    }

    /**
     * Returns the frame if all frames from the owner to the caller have been collected. Otherwise throws {@link Capture},
     * which collects them.
     */
    Frame enterCollected() {
        check();
        if (!isCollected) {
            throw new Capture(this);
        }
        isCollected = false;
        return frame;
    }

    private void check() {
        if (hasEnded) {
            throw EndedMethodException.ofMethod(method);
        }
        if (Thread.currentThread() != thread) {
            throw new IllegalStateException("a nested function of " + method + " was called on the thread "
                + Thread.currentThread().getName() + ": call it on the thread that runs the method, " + thread.getName());
        }
    }

    /** Returns the throwable that collects all frames up to the owner. */
    public Capture all$() {
        return new Capture(this);
    }

    /** Records that the variables are now in that frame. */
    public void sleep(Frame saved) {
        frame = saved;
    }

    boolean isAsleepIn(Frame outermost) {
        return frame == outermost;
    }

    /** Records that all frames up to the owner have been collected. */
    void collected() {
        isCollected = true;
    }

    private void readObject(ObjectInputStream in) throws IOException, ClassNotFoundException {
        in.defaultReadObject();
        thread = Thread.currentThread();
    }

    /** Records that all frames up to the owner were read from a checkpoint. The call that wrote it is repeated next. */
    void restored() {
        isCollected = true;
        isRestored = true;
    }

    boolean takeRestored() {
        boolean was = isRestored;
        isRestored = false;
        return was;
    }

    boolean hasEnded() {
        return hasEnded;
    }

    /** Records that the method has ended. */
    public void end() {
        hasEnded = true;
        frame = null;
    }

    String method() {
        return method;
    }
}
