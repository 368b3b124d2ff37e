// SPDX-License-Identifier: Apache-2.0
package sukima.translator;

import com.sun.source.tree.DoWhileLoopTree;
import com.sun.source.tree.EnhancedForLoopTree;
import com.sun.source.tree.ExpressionTree;
import com.sun.source.tree.ForLoopTree;
import com.sun.source.tree.StatementTree;
import com.sun.source.tree.Tree;
import com.sun.source.tree.VariableTree;
import com.sun.source.tree.WhileLoopTree;
import java.util.IdentityHashMap;
import java.util.Map;

/** The loops of a unit's usual form. */
final class FastLoops {
    private final FastWriter in;
    /** Loops whose body is a labelled block that `continue` leaves. */
    private final Map<Tree, String> bodyLabels = new IdentityHashMap<>();
    private int labelCount;

    FastLoops(FastWriter in) {
        this.in = in;
    }

    String bodyLabel(Tree loop) {
        return bodyLabels.get(loop);
    }

    /** Writes the body of a loop as a block that begins the iteration. */
    private void body(StatementTree loop, StatementTree body) {
        in.put("{" + in.countedTurn(loop));
        in.scoped(() -> in.statement(body));
        in.put("}");
    }

    /** Writes the condition that ends a loop, if there is one, and begins the iteration before or after it. */
    private void condition(StatementTree loop, ExpressionTree condition) {
        boolean isCountedBefore = Turns.isInCondition(in.program, in.unit, loop);
        in.put(isCountedBefore ? in.countedTurn(loop) : "");
        if (condition != null) {
            in.scoped(() -> leaveUnless(condition));
        }
        in.put(isCountedBefore ? "" : in.countedTurn(loop));
    }

    /**
     * Returns whether that part of a loop's header needs its own statements, for a call or for copies that a lambda uses.
     */
    private boolean needsStatements(Tree part) {
        if (in.unit.capturing.contains(part)) {
            return true;
        }
        in.renderer.text(part);
        return !in.takeCopies().isEmpty();
    }

    void whileLoop(WhileLoopTree tree) {
        if (!needsStatements(tree.getCondition())) {
            in.put(in.takeLabel() + "while " + in.renderer.text(tree.getCondition()));
            body(tree, tree.getStatement());
            return;
        }
        in.put(in.takeLabel() + "while (true) {");
        condition(tree, tree.getCondition());
        in.block(tree.getStatement());
        in.put("}");
    }

    private void leaveUnless(ExpressionTree condition) {
        String text = in.consumed(condition);
        in.put(in.takeCopies() + "if (!(" + text + ")) { break; }");
    }

    void doLoop(DoWhileLoopTree tree) {
        in.put(in.takeLabel() + "do {" + in.countedTurn(tree));
        if (!needsStatements(tree.getCondition())) {
            in.block(tree.getStatement());
            in.put("} while " + in.renderer.text(tree.getCondition()) + ";");
            return;
        }
        labelledBody(tree, tree.getStatement());
        in.scoped(() -> leaveUnless(tree.getCondition()));
        in.put("} while (true);");
    }

    /** Writes a body that the loop's own statements follow, so `continue` must leave only the body. */
    private void labelledBody(StatementTree loop, StatementTree body) {
        bodyLabels.put(loop, "body$" + in.unit.number + "_" + labelCount++);
        in.put(bodyLabels.get(loop) + ": if (true)");
        in.block(body);
    }

    void forLoop(ForLoopTree tree) {
        boolean isHeaderHot = tree.getInitializer().stream().anyMatch(this::needsStatements)
            || tree.getCondition() != null && needsStatements(tree.getCondition()) || tree.getUpdate().stream().anyMatch(this::needsStatements)
            || tree.getInitializer().stream().anyMatch(this::outlivesLoop);
        String own = in.takeLabel();
        if (!isHeaderHot) {
            in.put(own + in.renderer.text(tree, in.program.start(tree), in.program.start(tree.getStatement())));
            in.renderer.copies.clear(); // these belong to lambdas in the body
            in.scoped(() -> {
                tree.getInitializer().forEach(in::addVariable);
                body(tree, tree.getStatement());
            });
            return;
        }
        in.put("{");
        in.scoped(() -> {
            tree.getInitializer().forEach(in::statement);
            in.put(own + "for (;;) {");
            condition(tree, tree.getCondition());
            labelledBody(tree, tree.getStatement());
            tree.getUpdate().forEach(update -> in.scoped(() -> in.statement(update)));
            in.put("}");
        });
        in.put("}");
    }

    private boolean outlivesLoop(StatementTree tree) {
        return tree instanceof VariableTree variable && Hoisting.outlivesBlock(in.program, in.program.variable(variable));
    }

    void forEach(EnhancedForLoopTree tree) {
        String own = in.takeLabel();
        ForEach loop = new ForEach(in, tree);
        in.put("{");
        in.scoped(() -> {
            loop.start();
            String advance = loop.advance();
            in.put(own + (advance == null ? "while (" + loop.condition() + ") {" : "for (; " + loop.condition() + "; " + advance + ") {"));
            in.bind(tree.getVariable(), loop.element(), false);
            body(tree, tree.getStatement());
            in.put("}");
        });
        in.put("}");
    }
}
