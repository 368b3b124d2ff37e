// SPDX-License-Identifier: Apache-2.0
package sukima.translator;

import com.sun.source.tree.CaseTree;
import com.sun.source.tree.CatchTree;
import com.sun.source.tree.Tree;
import java.util.List;

/** Determines which variables are fields of their unit's frame. */
final class Hoisting {
    private Hoisting() {}

    /** Returns the statement whose scope contains the variable; for parameters, the unit's own tree. */
    static Tree scope(Program program, Variable variable) {
        if (variable.isCopy) {
            return variable.unit.tree();
        }
        Tree parent = program.parent(variable.tree);
        return parent instanceof CatchTree || parent instanceof CaseTree ? program.parent(parent) : parent;
    }

    /**
     * Returns whether the variable is a field. A frame has all variables that a capture or a nested function can need: those
     * that are not inside a statement copied as a whole. Constants are not needed, because their values replace them.
     */
    static boolean isHoisted(Program program, Variable variable) {
        Tree scope = scope(program, variable);
        return variable.constant == null && variable.unit.isTranslated() && (scope == variable.unit.tree() || variable.unit.rewritten.contains(scope));
    }

    /**
     * Returns whether the unit's usual form declares the variable before all statements, under its field's name. A nested
     * function can use such a variable after the end of the block that declares it, so the frame must keep its value.
     */
    static boolean outlivesBlock(Program program, Variable variable) {
        Tree scope = scope(program, variable);
        return variable.isUsedInNested && scope != variable.unit.tree() && scope != variable.unit.body() && isHoisted(program, variable);
    }

    static List<Variable> hoisted(Program program, Unit unit) {
        return unit.variables.stream().filter(variable -> isHoisted(program, variable)).toList();
    }
}
