// SPDX-License-Identifier: Apache-2.0
package sukima.closures;

/** A nested function from a value to a value. */
public interface NestedFunction<T, R> extends Nested {
    R apply(T value);
}
