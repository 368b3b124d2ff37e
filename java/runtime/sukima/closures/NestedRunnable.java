// SPDX-License-Identifier: Apache-2.0
package sukima.closures;

/** A nested function without arguments and without a result. */
public interface NestedRunnable extends Nested {
    void run();
}
