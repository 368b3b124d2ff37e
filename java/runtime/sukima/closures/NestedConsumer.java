// SPDX-License-Identifier: Apache-2.0
package sukima.closures;

/** A nested function that takes a value. */
public interface NestedConsumer<T> extends Nested {
    void accept(T value);
}
