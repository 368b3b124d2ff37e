// SPDX-License-Identifier: Apache-2.0
package sukima.closures;

/** Thrown when a nested function is called after its method, or the iteration to which it belongs, has ended. */
public final class EndedMethodException extends IllegalStateException {
    private static final long serialVersionUID = 1;

    private EndedMethodException(String method, String end, String advice) {
        super("a nested function of " + method + " was called after " + end + " had ended: call it only " + advice);
    }

    static EndedMethodException ofMethod(String method) {
        return new EndedMethodException(method, "that method", "while the method is active");
    }

    /** Makes the exception for a nested function that uses variables declared in a loop. */
    public static EndedMethodException ofIteration(String method) {
        return new EndedMethodException(method, "the iteration of the loop that created it",
            "during that iteration, or declare the variables that it uses before the loop");
    }
}
