// SPDX-License-Identifier: Apache-2.0
package sukima.closures;

/** A nested function that takes a value and returns a value. */
public interface NestedFunction<T, R> extends Nested {
    R apply(T value);
}
