// SPDX-License-Identifier: Apache-2.0
package sukima.translator;

import com.sun.source.tree.EnhancedForLoopTree;
import com.sun.source.tree.ForLoopTree;
import com.sun.source.tree.Tree;
import com.sun.source.tree.WhileLoopTree;
import com.sun.source.util.TreePath;

/**
 * Nested functions that use variables declared in a loop or in an iteration of doMany. A frame has one field for such a
 * variable, so the function may be called only in the iteration that has created it. A counter of the loop's iterations
 * checks this.
 */
final class Turns {
    private Turns() {}

    static void find(Program program) {
        for (Unit unit : program.units) {
            if (!unit.isNested()) {
                continue;
            }
            unit.loop = innermostLoop(program, unit);
            if (unit.loop != null) {
                unit.outer.turns.computeIfAbsent(unit.loop, loop -> unit.outer.temporary(loop, "turn", "int"));
            }
        }
    }

    private static Tree innermostLoop(Program program, Unit nested) {
        Tree part = null;
        for (TreePath path = nested.path; path.getLeaf() != nested.outer.tree(); path = path.getParentPath()) {
            Tree loop = path.getLeaf();
            boolean isRepeated = JumpTargets.isLoop(loop) && !isStart(loop, part) || isBodyOfDoMany(program, loop);
            boolean isUsed = isRepeated && nested.outer.variables.stream().anyMatch(variable ->
                isOfIteration(program, variable, loop) && variable.uses.stream().anyMatch(use -> program.isBelow(use, nested.tree())));
            if (isUsed) {
                return loop;
            }
            part = loop;
        }
        return null;
    }

    /** Returns whether that part of the loop runs once, before the first iteration. */
    private static boolean isStart(Tree loop, Tree part) {
        return loop instanceof ForLoopTree counting ? counting.getInitializer().contains(part)
            : loop instanceof EnhancedForLoopTree each && each.getExpression() == part;
    }

    /**
     * Returns whether the loop's condition contains a nested function that may be called only in its iteration. The iteration
     * then begins before the condition.
     */
    static boolean isInCondition(Program program, Unit unit, Tree loop) {
        Tree condition = loop instanceof WhileLoopTree repeated ? repeated.getCondition()
            : loop instanceof ForLoopTree counting ? counting.getCondition() : null;
        return condition != null && unit.nested.stream().anyMatch(nested -> nested.loop == loop && program.isBelow(nested.tree(), condition));
    }

    private static boolean isBodyOfDoMany(Program program, Tree tree) {
        Construct construct = program.blocks.get(tree);
        return construct != null && construct.isLoop() && tree == construct.block(0);
    }

    private static boolean isOfIteration(Program program, Variable variable, Tree loop) {
        boolean isOfAllIterations = loop.getKind() == Tree.Kind.FOR_LOOP && program.parent(variable.tree) == loop;
        return !isOfAllIterations && program.isBelow(variable.tree, loop);
    }
}
