// SPDX-License-Identifier: Apache-2.0
package sukima.translator;

import com.sun.source.tree.Tree;
import com.sun.source.tree.VariableTree;
import java.util.ArrayList;
import java.util.List;
import javax.lang.model.element.VariableElement;
import javax.lang.model.type.TypeMirror;

/** A local variable or parameter of a unit. */
final class Variable {
    final Unit unit;
    final VariableTree tree;
    final TypeMirror type;
    final String name;
    /** Name of its field in the frame. */
    final String field;
    final List<Tree> uses = new ArrayList<>();
    /**
     * The text that replaces the uses of a constant variable; null for other variables. A constant variable is in no frame.
     */
    final String constant;
    /** Whether the variable is assigned after its declaration, or also in a nested function. */
    boolean isAssigned;
    /** Whether a nested function uses it. */
    boolean isUsedInNested;
    /** A use in an ordinary lambda or a class; null if there is none. */
    Tree ordinaryUse;

    /** Whether the variable is an ordinary lambda's copy of an outer variable, which becomes a parameter. */
    final boolean isCopy;

    Variable(Program program, Unit unit, VariableTree tree, int number, boolean isCopy) {
        this.isCopy = isCopy;
        this.unit = unit;
        this.tree = tree;
        VariableElement element = (VariableElement) program.element(tree);
        type = element.asType();
        Object value = element.getConstantValue();
        constant = value == null ? null : "(" + program.elements.getConstantExpression(value) + ")";
        name = tree.getName().toString();
        field = name + "$v" + number;
    }
}
