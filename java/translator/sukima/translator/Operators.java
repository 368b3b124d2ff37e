// SPDX-License-Identifier: Apache-2.0
package sukima.translator;

import com.sun.source.tree.CompoundAssignmentTree;

/** The operators of compound assignments. */
final class Operators {
    private Operators() {}

    static String of(CompoundAssignmentTree tree) {
        return switch (tree.getKind()) {
            case PLUS_ASSIGNMENT -> "+";
            case MINUS_ASSIGNMENT -> "-";
            case MULTIPLY_ASSIGNMENT -> "*";
            case DIVIDE_ASSIGNMENT -> "/";
            case REMAINDER_ASSIGNMENT -> "%";
            case AND_ASSIGNMENT -> "&";
            case OR_ASSIGNMENT -> "|";
            case XOR_ASSIGNMENT -> "^";
            case LEFT_SHIFT_ASSIGNMENT -> "<<";
            case RIGHT_SHIFT_ASSIGNMENT -> ">>";
            case UNSIGNED_RIGHT_SHIFT_ASSIGNMENT -> ">>>";
            default -> throw new AssertionError(tree.getKind());
        };
    }
}
