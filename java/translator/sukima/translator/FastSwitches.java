// SPDX-License-Identifier: Apache-2.0
package sukima.translator;

import com.sun.source.tree.CaseTree;
import com.sun.source.tree.ExpressionTree;
import com.sun.source.tree.StatementTree;
import com.sun.source.tree.SwitchExpressionTree;
import com.sun.source.tree.SwitchTree;
import com.sun.source.tree.Tree;
import com.sun.source.tree.YieldTree;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** The switch statements and switch expressions of a unit's usual form. */
final class FastSwitches {
    /** The label and the temporary by which a yield leaves a switch expression that is written as a statement. */
    private record Target(String label, String result) {}

    private final FastWriter in;
    private final Map<Tree, Target> targets = new IdentityHashMap<>();
    private int labelCount;

    FastSwitches(FastWriter in) {
        this.in = in;
    }

    void statement(SwitchTree tree) {
        write(in.takeLabel(), tree.getExpression(), tree.getCases(), null);
    }

    void expression(SwitchExpressionTree tree, String result) {
        String label = "switch$" + in.unit.number + "_" + labelCount++;
        targets.put(tree, new Target(label, result));
        write(label + ": ", tree.getExpression(), tree.getCases(), result);
    }

    private void write(String label, ExpressionTree selector, List<? extends CaseTree> groups, String result) {
        String text = in.consumed(selector);
        in.put(in.takeCopies() + label + "switch " + text + " {");
        boolean isRule = false;
        for (CaseTree group : groups) {
            isRule = group.getCaseKind() == CaseTree.CaseKind.RULE;
            in.put(labels(in.renderer, group) + (isRule ? " ->" : ":"));
            if (!isRule) {
                in.statements(group.getStatements());
            } else if (group.getBody() instanceof ExpressionTree value) {
                store(value, result);
            } else {
                in.block((StatementTree) group.getBody());
            }
        }
        if (result != null && groups.stream().noneMatch(FastSwitches::isDefault)) {
            in.put("default" + (isRule ? " -> " : ": ") + in.program.noCase);
        }
        in.put("}");
    }

    private void store(ExpressionTree value, String result) {
        in.put("{" + Marks.line(in.program.line(value)));
        in.scoped(() -> {
            String text = in.value(value);
            in.simple(result + " = " + text + ";");
        });
        in.put("}");
    }

    /** Returns whether the yield ends a switch expression that is written as a statement. */
    boolean isOpen(YieldTree yield) {
        return targets.containsKey(JumpTargets.of(in.program, yield));
    }

    /** Returns statements that end the switch expression with that value. */
    String yielded(YieldTree yield, String value) {
        Target target = targets.get(JumpTargets.of(in.program, yield));
        JumpTargets.Jump jump = JumpTargets.jump(in.program, in.unit, yield);
        return target.result() + " = " + value + "; " + in.finallyBlocks.leave(jump, "break " + target.label() + ";", null);
    }

    static boolean isDefault(CaseTree group) {
        return group.getExpressions().isEmpty();
    }

    static String labels(Renderer renderer, CaseTree group) {
        return isDefault(group) ? "default"
            : "case " + group.getExpressions().stream().map(renderer::text).collect(Collectors.joining(", "));
    }
}
