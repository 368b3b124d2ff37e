// SPDX-License-Identifier: Apache-2.0
package sukima.translator;

import com.sun.source.tree.CaseTree;
import com.sun.source.tree.ExpressionTree;
import com.sun.source.tree.StatementTree;
import com.sun.source.tree.SwitchExpressionTree;
import com.sun.source.tree.SwitchTree;
import com.sun.source.tree.Tree;
import com.sun.source.tree.YieldTree;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/** The state machine's form of switch, in which the labels lead to states. */
final class FrameSwitches {
    private final FrameWriter to;
    private final FrameStatements statements;
    /** The temporaries of switch expressions. */
    private final Map<Tree, String> results = new IdentityHashMap<>();

    FrameSwitches(FrameWriter to, FrameStatements statements) {
        this.to = to;
        this.statements = statements;
    }

    void statement(SwitchTree tree) {
        int after = to.unit.newState();
        statements.target(tree, after, -1);
        write(tree.getExpression(), tree.getCases(), after, null);
    }

    void expression(SwitchExpressionTree tree, String result) {
        int after = to.unit.newState();
        statements.target(tree, after, -1);
        results.put(tree, result);
        write(tree.getExpression(), tree.getCases(), after, result);
    }

    /** Returns the temporary of the switch expression that the yield ends. */
    String result(YieldTree yield) {
        return results.get(JumpTargets.of(to.program, yield));
    }

    private void write(ExpressionTree selector, List<? extends CaseTree> groups, int after, String result) {
        String text = to.value(selector);
        List<Integer> states = new ArrayList<>();
        to.put("{ " + to.takeCopies() + "switch " + text + " {");
        for (CaseTree group : groups) {
            states.add(to.unit.newState());
            to.put(FastSwitches.labels(to.renderer, group) + ": " + to.jumpTo(states.get(states.size() - 1)));
        }
        if (groups.stream().noneMatch(FastSwitches::isDefault)) {
            to.put("default: " + (result == null ? to.jumpTo(after) : to.program.noCase));
        }
        to.put("} }");
        boolean isAfterJump = true;
        for (int i = 0; i < states.size(); i++) {
            CaseTree group = groups.get(i);
            start(states.get(i), isAfterJump);
            isAfterJump = group.getCaseKind() == CaseTree.CaseKind.RULE;
            if (isAfterJump) {
                rule(group.getBody(), result);
                to.jump(to.jumpTo(after));
            } else {
                statements.all(group.getStatements());
            }
        }
        start(after, isAfterJump);
    }

    private void start(int state, boolean isAfterJump) {
        if (isAfterJump) {
            to.stateAfterJump(state);
        } else {
            to.state(state);
        }
    }

    private void rule(Tree body, String result) {
        if (body instanceof ExpressionTree value) {
            to.position(value);
            String text = to.value(value);
            to.simple(result + " = " + text + ";");
        } else {
            statements.statement((StatementTree) body);
        }
    }
}
