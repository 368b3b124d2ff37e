// SPDX-License-Identifier: Apache-2.0
package sukima.translator;

import com.sun.source.tree.CatchTree;
import com.sun.source.tree.Tree;
import com.sun.source.tree.TryTree;
import com.sun.source.tree.UnionTypeTree;
import com.sun.source.tree.VariableTree;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/** The state machine's form of try, in which states have the handler that receives their exceptions. */
final class FrameTry {
    private final FrameWriter to;
    private final FrameStatements statements;

    FrameTry(FrameWriter to, FrameStatements statements) {
        this.to = to;
        this.statements = statements;
    }

    void write(TryTree tree) {
        if (tree.getFinallyBlock() != null) {
            guarded(tree, end -> withHandlers(tree, end), (reason, pending) -> statements.statement(tree.getFinallyBlock()));
            return;
        }
        int after = to.unit.newState();
        withHandlers(tree, to.jumpTo(after));
        to.stateAfterJump(after);
    }

    /** Writes code that ends with the given jump, and code that runs after it, no matter how the first code ends. */
    private void guarded(Tree tree, Consumer<String> code, BiConsumer<String, String> last) {
        int after = to.unit.newState();
        int number = to.unit.newState();
        int handler = to.unit.newState();
        String reason = to.unit.temporary(tree, "reason", "int");
        String pending = to.unit.temporary(tree, "pending", "java.lang.Throwable");
        var block = new FrameStatements.FinallyBlock(tree, reason, number);
        statements.finallyBlocks.add(block);
        to.activeHandlers.add(handler);
        code.accept(reason + " = 0; " + to.jumpTo(number));
        pop(to.activeHandlers);
        pop(statements.finallyBlocks);
        to.stateAfterJump(handler);
        to.put(pending + " = thrown$; " + reason + " = -1;");
        to.state(number);
        keepResult(tree, true);
        last.accept(reason, pending);
        keepResult(tree, false);
        to.put("switch (" + reason + ") {\ncase -1: throw rethrow$(" + pending + ");");
        block.exits.forEach((exit, leaving) -> to.put("case " + exit + ": " + statements.exit(leaving)));
        to.put("default: " + to.jumpTo(after) + " }");
        to.stateAfterJump(after);
    }

    /** A return inside the finally block that does not complete must not change the result of an earlier return. */
    private void keepResult(Tree tree, boolean isBefore) {
        if (to.unit.isVoid()) {
            return;
        }
        String kept = to.unit.temporary(tree, "kept", to.resultType());
        to.put(isBefore ? kept + " = " + to.result() + ";" : to.result() + " = " + kept + ";");
    }

    /** Writes the resources from that number on, and the block that uses them. */
    private void resources(TryTree tree, int index) {
        if (index == tree.getResources().size()) {
            statements.statement(tree.getBlock());
            return;
        }
        Tree resource = tree.getResources().get(index);
        String name = Resources.open(to, resource, statements::statement);
        guarded(resource, end -> {
            to.state(to.unit.newState());
            resources(tree, index + 1);
            to.jump(end);
        }, (reason, pending) -> to.put(Resources.close(name, reason + " == -1", pending)));
    }

    private static void pop(List<?> list) {
        list.remove(list.size() - 1);
    }

    /** Writes the block and its catch blocks; the jump follows each of them. */
    private void withHandlers(TryTree tree, String end) {
        boolean hasCatches = !tree.getCatches().isEmpty();
        int handler = hasCatches ? to.unit.newState() : -1;
        if (hasCatches) {
            to.activeHandlers.add(handler);
        }
        to.state(to.unit.newState());
        resources(tree, 0);
        to.jump(end);
        if (!hasCatches) {
            return;
        }
        pop(to.activeHandlers);
        to.stateAfterJump(handler);
        to.put("if (thrown$ instanceof sukima.closures.Unwinding) { throw rethrow$(thrown$); }");
        List<Integer> states = new ArrayList<>();
        for (CatchTree catcher : tree.getCatches()) {
            states.add(to.unit.newState());
            VariableTree parameter = catcher.getParameter();
            Variable variable = to.program.variable(parameter);
            to.put("if (" + test(parameter.getType()) + ") { " + variable.field + " = (" + to.variableType(variable) + ") thrown$; "
                + to.jumpTo(states.get(states.size() - 1)) + " }");
        }
        to.jump("throw rethrow$(thrown$);");
        for (int i = 0; i < states.size(); i++) {
            to.stateAfterJump(states.get(i));
            statements.statement(tree.getCatches().get(i).getBlock());
            to.jump(end);
        }
    }

    private String test(Tree type) {
        List<? extends Tree> types = type instanceof UnionTypeTree union ? union.getTypeAlternatives() : List.of(type);
        return types.stream().map(each -> "thrown$ instanceof " + to.renderer.text(each)).collect(Collectors.joining(" || "));
    }
}
