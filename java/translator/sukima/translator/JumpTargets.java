// SPDX-License-Identifier: Apache-2.0
package sukima.translator;

import com.sun.source.tree.BreakTree;
import com.sun.source.tree.ContinueTree;
import com.sun.source.tree.LabeledStatementTree;
import com.sun.source.tree.ReturnTree;
import com.sun.source.tree.SwitchExpressionTree;
import com.sun.source.tree.SwitchTree;
import com.sun.source.tree.Tree;
import com.sun.source.tree.YieldTree;
import com.sun.source.util.TreePath;
import javax.lang.model.element.Name;

/** The statements that jumps leave or continue, and the expressions to which they give a value. */
final class JumpTargets {
    /**
     * The target of a jump: after a statement, the next iteration of a loop, or out of the unit, whose tree is then the
     * target.
     */
    record Jump(Tree target, boolean isContinue) {}

    private JumpTargets() {}

    static Jump jump(Program program, Unit unit, Tree tree) {
        if (tree instanceof ReturnTree end) {
            Tree block = Construct.blockOf(program, end);
            return new Jump(block == null ? unit.tree() : block, false);
        }
        return new Jump(of(program, tree), tree instanceof ContinueTree);
    }

    static Tree of(Program program, Tree jump) {
        if (jump instanceof YieldTree) {
            return switchAround(program, jump);
        }
        Name label = jump instanceof BreakTree leave ? leave.getLabel() : ((ContinueTree) jump).getLabel();
        for (TreePath path = program.paths.get(jump); path != null; path = path.getParentPath()) {
            Tree tree = path.getLeaf();
            if (label == null && (isLoop(tree) || jump instanceof BreakTree && tree instanceof SwitchTree)) {
                return tree;
            }
            if (label != null && tree instanceof LabeledStatementTree labeled && labeled.getLabel().equals(label)) {
                return labeled.getStatement();
            }
        }
        throw new AssertionError(jump);
    }

    private static Tree switchAround(Program program, Tree yield) {
        TreePath path = program.paths.get(yield);
        while (!(path.getLeaf() instanceof SwitchExpressionTree)) {
            path = path.getParentPath();
        }
        return path.getLeaf();
    }

    static boolean isLoop(Tree tree) {
        return switch (tree.getKind()) {
            case WHILE_LOOP, DO_WHILE_LOOP, FOR_LOOP, ENHANCED_FOR_LOOP -> true;
            default -> false;
        };
    }
}
