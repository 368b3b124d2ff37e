// SPDX-License-Identifier: Apache-2.0
package sukima.closures;

import java.io.Serializable;

/**
 * Marks the types of nested functions. A lambda whose type is a functional interface that extends this one can read and
 * change the local variables of the method that contains it.
 */
public interface Nested extends Serializable {
    /**
     * Returns the activation to which a nested function belongs, null for an ordinary object. Generated code overrides it.
     */
    default Owner owner$() {
        return null;
    }
}
