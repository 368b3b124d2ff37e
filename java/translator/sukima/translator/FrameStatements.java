// SPDX-License-Identifier: Apache-2.0
package sukima.translator;

import com.sun.source.tree.AssertTree;
import com.sun.source.tree.BlockTree;
import com.sun.source.tree.DoWhileLoopTree;
import com.sun.source.tree.EnhancedForLoopTree;
import com.sun.source.tree.ExpressionStatementTree;
import com.sun.source.tree.ExpressionTree;
import com.sun.source.tree.ForLoopTree;
import com.sun.source.tree.IfTree;
import com.sun.source.tree.LabeledStatementTree;
import com.sun.source.tree.LambdaExpressionTree;
import com.sun.source.tree.ReturnTree;
import com.sun.source.tree.StatementTree;
import com.sun.source.tree.SwitchTree;
import com.sun.source.tree.SynchronizedTree;
import com.sun.source.tree.ThrowTree;
import com.sun.source.tree.Tree;
import com.sun.source.tree.TryTree;
import com.sun.source.tree.VariableTree;
import com.sun.source.tree.WhileLoopTree;
import com.sun.source.tree.YieldTree;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The statements of a frame's state machine. Those without calls that may be captured are copied as they are. */
final class FrameStatements {
    /** A jump that leaves all handlers and finally blocks except the outer `depth` ones. */
    record Exit(JumpTargets.Jump jump, int depth, String text) {}

    /** The targets of break and continue of a statement; -1 if there is no such jump. */
    private record Target(int afterState, int continueState, int depth) {}

    private final FrameWriter to;
    final FrameSwitches switches;
    private final FrameCopies copies;
    private final Map<Tree, Target> targets = new IdentityHashMap<>();
    /** The finally blocks around the code being written, the innermost last. */
    final List<FinallyBlock> finallyBlocks = new ArrayList<>();

    FrameStatements(FrameWriter to) {
        this.to = to;
        switches = new FrameSwitches(to, this);
        copies = new FrameCopies(to);
    }

    /** Code that runs after a statement, such as a finally block or the end of a resource, with the jumps that run it. */
    static final class FinallyBlock {
        final Tree tree;
        final String reason;
        final int entry;
        /** The jumps by their numbers. */
        final Map<Integer, Exit> exits = new TreeMap<>();

        FinallyBlock(Tree tree, String reason, int entry) {
            this.tree = tree;
            this.reason = reason;
            this.entry = entry;
        }
    }

    void all(List<? extends StatementTree> statements) {
        statements.forEach(this::statement);
    }

    /** Writes the body of a construct's block. `return` leaves the block for that state. */
    void blockBody(LambdaExpressionTree block, int afterState) {
        target(block, afterState, -1);
        if (block.getBody() instanceof ExpressionTree expression) {
            to.position(expression);
            effect(expression);
        } else {
            statement((StatementTree) block.getBody());
        }
    }

    private void effect(ExpressionTree tree) {
        String text = to.effect(tree);
        if (text != null) {
            to.simple(FastWriter.asStatement(to.renderer, tree, text));
        }
    }

    void statement(StatementTree tree) {
        to.position(tree);
        if (tree instanceof VariableTree variable) {
            variable(variable);
        } else if (!to.unit.rewritten.contains(tree)) {
            copies.write(tree);
        } else {
            rewritten(tree);
        }
    }

    private void variable(VariableTree tree) {
        Variable variable = to.program.variable(tree);
        if (variable.constant == null) {
            to.assignInitialValue(variable);
        }
    }

    private void rewritten(StatementTree tree) {
        if (tree instanceof BlockTree block) {
            all(block.getStatements());
        } else if (tree instanceof IfTree condition) {
            ifStatement(condition);
        } else if (tree instanceof WhileLoopTree loop) {
            whileLoop(loop);
        } else if (tree instanceof DoWhileLoopTree loop) {
            doLoop(loop);
        } else if (tree instanceof ForLoopTree loop) {
            forLoop(loop);
        } else if (tree instanceof EnhancedForLoopTree loop) {
            forEach(loop);
        } else if (tree instanceof LabeledStatementTree labeled) {
            labeled(labeled);
        } else if (tree instanceof SwitchTree choice) {
            switches.statement(choice);
        } else if (tree instanceof TryTree attempt) {
            new FrameTry(to, this).write(attempt);
        } else if (tree instanceof SynchronizedTree block) {
            synchronizedBlock(block);
        } else if (tree instanceof ReturnTree end) {
            returnOf(end.getExpression());
        } else if (tree instanceof YieldTree yield) {
            String text = to.value(yield.getValue());
            to.simple(switches.result(yield) + " = " + text + ";");
            to.jump(jump(yield));
        } else if (tree instanceof ThrowTree thrower) {
            String text = to.value(thrower.getExpression());
            to.put("if (true) { " + to.takeCopies() + "throw " + text + "; }");
        } else if (tree instanceof ExpressionStatementTree expression) {
            effect(expression.getExpression());
        } else if (tree instanceof AssertTree && !to.unit.capturing.contains(tree)) {
            to.simple(to.renderer.text(tree));
        } else {
            Refusals.statement(to.program, tree);
        }
    }

    /** Writes a return of that value, or the body of a nested function that is an expression. */
    void returnOf(ExpressionTree value) {
        if (value != null && to.unit.isVoid()) {
            effect(value);
        } else if (value != null) {
            String text = to.value(value);
            to.simple(to.result() + " = " + text + ";");
        }
        to.jump(exit(leaving()));
    }

    private Exit leaving() {
        return new Exit(new JumpTargets.Jump(to.unit.tree(), false), 0, to.exit());
    }

    /** Returns text that runs the finally blocks on the way out, and then jumps. */
    String exit(Exit exit) {
        if (finallyBlocks.size() <= exit.depth()) {
            return exit.text();
        }
        FinallyBlock block = finallyBlocks.get(finallyBlocks.size() - 1);
        int number = to.unit.exit(block.tree, exit.jump());
        block.exits.put(number, exit);
        return block.reason + " = " + number + "; " + to.jumpTo(block.entry);
    }

    void target(Tree tree, int afterState, int continueState) {
        targets.put(tree, new Target(afterState, continueState, finallyBlocks.size()));
    }

    String jumpText(Tree jump) {
        Tree block = jump instanceof ReturnTree end ? Construct.blockOf(to.program, end) : null;
        if (block == null && jump instanceof ReturnTree end) {
            return copies.jump(jump, to.result(), to.resultType(), end.getExpression(), exit(leaving()));
        }
        if (!targets.containsKey(block == null ? JumpTargets.of(to.program, jump) : block)) {
            return null; // the jump stays inside a copied statement
        }
        if (jump instanceof YieldTree yield) {
            String field = switches.result(yield);
            return copies.jump(jump, field, to.unit.temporaries.get(field), yield.getValue(), jump(jump));
        }
        return copies.jump(jump, null, null, null, jump(jump));
    }

    /** Returns the text of a jump out of a statement of the unit, or out of a switch expression. */
    private String jump(Tree jump) {
        Tree block = jump instanceof ReturnTree end ? Construct.blockOf(to.program, end) : null;
        Target target = targets.get(block == null ? JumpTargets.of(to.program, jump) : block);
        int state = jump.getKind() != Tree.Kind.CONTINUE ? target.afterState() : target.continueState();
        return exit(new Exit(JumpTargets.jump(to.program, to.unit, jump), target.depth(), to.jumpTo(state)));
    }

    private void ifStatement(IfTree tree) {
        String condition = to.value(tree.getCondition());
        Runnable otherwise = tree.getElseStatement() == null ? null : () -> statement(tree.getElseStatement());
        to.branch(condition, () -> statement(tree.getThenStatement()), otherwise);
    }

    private void body(StatementTree loop, StatementTree body) {
        to.countTurn(loop);
        statement(body);
    }

    /** Writes the condition that ends a loop, if there is one, and begins the iteration before or after it. */
    private void condition(StatementTree loop, ExpressionTree condition, int after) {
        boolean isCountedBefore = Turns.isInCondition(to.program, to.unit, loop);
        if (isCountedBefore) {
            to.countTurn(loop);
        }
        if (condition != null) {
            to.jumpUnless(to.value(condition), after);
        }
        if (!isCountedBefore) {
            to.countTurn(loop);
        }
    }

    private void whileLoop(WhileLoopTree tree) {
        int top = to.unit.newState();
        int after = to.unit.newState();
        target(tree, after, top);
        to.state(top);
        condition(tree, tree.getCondition(), after);
        statement(tree.getStatement());
        to.jump(to.jumpTo(top));
        to.stateAfterJump(after);
    }

    private void doLoop(DoWhileLoopTree tree) {
        int top = to.unit.newState();
        int test = to.unit.newState();
        int after = to.unit.newState();
        target(tree, after, test);
        to.state(top);
        body(tree, tree.getStatement());
        to.state(test);
        to.jumpUnless(to.value(tree.getCondition()), after);
        to.jump(to.jumpTo(top));
        to.stateAfterJump(after);
    }

    private void forLoop(ForLoopTree tree) {
        int top = to.unit.newState();
        int update = to.unit.newState();
        int after = to.unit.newState();
        target(tree, after, update);
        all(tree.getInitializer());
        to.state(top);
        condition(tree, tree.getCondition(), after);
        statement(tree.getStatement());
        to.state(update);
        all(tree.getUpdate());
        to.jump(to.jumpTo(top));
        to.stateAfterJump(after);
    }

    private void forEach(EnhancedForLoopTree tree) {
        int top = to.unit.newState();
        int advance = to.unit.newState();
        int after = to.unit.newState();
        target(tree, after, advance);
        ForEach loop = new ForEach(to, tree);
        loop.start();
        to.state(top);
        to.jumpUnless(loop.condition(), after);
        to.put(to.program.variable(tree.getVariable()).field + " = " + loop.element() + ";");
        body(tree, tree.getStatement());
        to.state(advance);
        if (loop.advance() != null) {
            to.put(loop.advance() + ";");
        }
        to.jump(to.jumpTo(top));
        to.stateAfterJump(after);
    }

    private void synchronizedBlock(SynchronizedTree tree) {
        String monitor = to.unit.temporary(tree, "monitor", "java.lang.Object");
        to.simple(monitor + " = " + to.value(tree.getExpression()) + ";");
        int first = to.unit.newState();
        int after = to.unit.newState();
        to.jump(to.jumpTo(first));
        to.regions.enter(monitor);
        to.stateAfterJump(first);
        statement(tree.getBlock());
        to.jump(to.jumpTo(after));
        to.regions.leave();
        to.stateAfterJump(after);
    }

    private void labeled(LabeledStatementTree tree) {
        StatementTree statement = tree.getStatement();
        if (JumpTargets.isLoop(statement) || statement instanceof SwitchTree) {
            statement(statement);
            return;
        }
        int after = to.unit.newState();
        target(statement, after, -1);
        statement(statement);
        to.state(after);
    }
}
