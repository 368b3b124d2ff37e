// SPDX-License-Identifier: Apache-2.0
package sukima.closures;

/** A nested function that returns a value. */
public interface NestedSupplier<T> extends Nested {
    T get();
}
