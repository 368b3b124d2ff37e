// SPDX-License-Identifier: Apache-2.0
import sukima.closures.NestedRunnable;

/** Counts the leaves of a recursion in a local variable of the method that started it. */
public final class CountCalls {
    private static int fib(int n, NestedRunnable atLeaf) {
        if (n < 2) {
            atLeaf.run();
            return n;
        }
        return fib(n - 1, atLeaf) + fib(n - 2, atLeaf);
    }

    public static void main(String[] arguments) {
        int leaves = 0;
        NestedRunnable count = () -> leaves++; // changes the variable of main
        int result = fib(20, count);
        System.out.println("fib(20) = " + result + ", leaves: " + leaves);
    }
}
