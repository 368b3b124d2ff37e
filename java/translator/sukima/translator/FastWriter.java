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
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.ReturnTree;
import com.sun.source.tree.StatementTree;
import com.sun.source.tree.SwitchExpressionTree;
import com.sun.source.tree.SwitchTree;
import com.sun.source.tree.SynchronizedTree;
import com.sun.source.tree.ThrowTree;
import com.sun.source.tree.Tree;
import com.sun.source.tree.TryTree;
import com.sun.source.tree.VariableTree;
import com.sun.source.tree.WhileLoopTree;
import com.sun.source.tree.YieldTree;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Writes the usual form of a unit: the program's own statements. Each call that may be captured has a handler, which costs
 * nothing without a capture. The handler makes the frame and passes the capture on to the caller.
 */
final class FastWriter extends Normaliser {
    private final StringBuilder out = new StringBuilder();
    private final List<Variable> inScope = new ArrayList<>();
    private final List<String> temporaries = new ArrayList<>();
    private final FastLoops loops = new FastLoops(this);
    private final FastBlocks blocks = new FastBlocks(this);
    private final FastConstructs constructs = new FastConstructs(this);
    private final FastSwitches switches = new FastSwitches(this);
    final FastFinally finallyBlocks = new FastFinally(this);
    private String label = "";

    FastWriter(Program program, Unit unit, CaptureGraph graph) {
        super(program, unit, graph, false);
    }

    /** Returns the block that replaces the unit's body. */
    String body() {
        unit.variables.stream().filter(variable -> Hoisting.scope(program, variable) == unit.tree()).forEach(inScope::add);
        put("{");
        if (unit.isConstructor()) {
            StatementTree call = Constructors.callOfOther(program, (MethodTree) unit.tree());
            put((call == null ? "" : Marks.line(program.line(call)) + renderer.text(call)) + "\ntry {");
        }
        if (needsFlag()) {
            put("boolean " + unit.isCapturedFlag() + " = false;");
        }
        if (unit.isOwner()) {
            put("final sukima.closures.Owner " + unit.owner() + " = new sukima.closures.Owner(\"" + unit.title() + "\");\ntry {");
        }
        unit.turns.values().forEach(counter -> declare(counter, "int", "0"));
        unit.variables.stream().filter(variable -> Hoisting.outlivesBlock(program, variable)).forEach(this::declareEarly);
        put("if (true) {");
        if (unit.body() instanceof ExpressionTree expression) {
            expressionBody(expression);
        } else {
            statements(Constructors.ownStatements(unit));
        }
        put("}");
        if (!unit.isVoid()) {
            put("throw new AssertionError();"); // never reached, but that follows only from the program's own statements
        }
        if (unit.isOwner()) {
            putOwnersHandler();
        }
        if (unit.isConstructor()) {
            put("} finally { " + Constructors.FREEZE + "}");
        }
        return put("}").toString();
    }

    private void declareEarly(Variable variable) {
        put(variableType(variable) + " " + variable.field + " = " + TypeNames.defaultValue(variable.type) + ";");
        inScope.add(variable);
    }

    private void expressionBody(ExpressionTree tree) {
        if (unit.isVoid()) {
            effectStatement(tree);
            return;
        }
        put(Marks.line(program.line(tree)));
        valueStatement("return ", tree);
    }

    private void effectStatement(ExpressionTree tree) {
        out.append(Marks.line(program.line(tree)));
        String text = effect(tree);
        if (text != null) {
            simple(asStatement(renderer, tree, text));
        }
    }

    /** Writes the body of a construct's block. */
    void blockBody(Tree body) {
        scoped(() -> {
            if (body instanceof ExpressionTree expression) {
                effectStatement(expression);
            } else {
                statement((StatementTree) body);
            }
        });
    }

    @Override
    void construct(Construct construct) {
        constructs.write(construct);
    }

    private boolean needsFlag() {
        return unit.isOwner() || unit.capturing.stream()
            .anyMatch(tree -> tree instanceof TryTree attempt && (attempt.getFinallyBlock() != null || !attempt.getResources().isEmpty()));
    }

    private void putOwnersHandler() {
        String result = unit.isVoid() ? "c$.resume();" : "return (" + returnType() + ") c$.resume();";
        put("} catch (sukima.closures.Capture c$) { if (c$.owner() != " + unit.owner() + ") { throw c$; } " + result
            + " } finally { if (!" + unit.isCapturedFlag() + ") { " + unit.owner() + ".end(); } }");
    }

    String returnType() {
        String name = typeNames.of(unit.result());
        return name == null ? "java.lang.Object" : name;
    }

    StringBuilder put(String text) {
        return out.append(text).append(Marks.NEW_LINE);
    }

    @Override
    void simple(String statement) {
        put(takeCopies() + statement);
    }

    @Override
    void declare(String temporary, String type, String value) {
        put(type + " " + temporary + " = " + value + ";");
        temporaries.add(temporary);
    }

    @Override
    void call(ExpressionTree tree, String text, String result, String type) {
        String store = result == null ? "" : result + " = ";
        put(Marks.line(program.callLine(tree)) + takeCopies() + "try { " + store + text + "; } catch (sukima.closures.Capture c$) { " + save(unit.state(tree), result) + " }");
    }

    /** Returns statements that store the variables in a frame of that state and pass the capture on. */
    String save(int state, String result) {
        Set<String> live = unit.liveIn.computeIfAbsent(state, key -> new HashSet<>());
        Map<String, String> values = new LinkedHashMap<>();
        for (Variable variable : inScope) {
            values.put(variable.field, Hoisting.outlivesBlock(program, variable) ? variable.field : variable.name);
        }
        temporaries.stream().filter(temporary -> !temporary.equals(result)).forEach(temporary -> values.put(temporary, temporary));
        if (unit.isOwner()) {
            values.put(unit.owner(), unit.owner());
        }
        live.addAll(values.keySet());
        return (needsFlag() ? unit.isCapturedFlag() + " = true; " : "")
            + unit.saves.handler(state, FrameWriter.classUse(program, unit), values);
    }

    @Override
    void branch(String condition, Runnable then, Runnable otherwise) {
        put(takeCopies() + "if (" + condition + ") {");
        scoped(then);
        put("}");
        if (otherwise != null) {
            put("else {");
            scoped(otherwise);
            put("}");
        }
    }

    void scoped(Runnable body) {
        int variables = inScope.size();
        int live = temporaries.size();
        body.run();
        inScope.subList(variables, inScope.size()).clear();
        temporaries.subList(live, temporaries.size()).clear();
    }

    /** Returns the value of an expression whose temporaries the following statements do not need. */
    String consumed(ExpressionTree tree) {
        int live = temporaries.size();
        String text = value(tree);
        temporaries.subList(live, temporaries.size()).clear();
        return text;
    }

    void statements(List<? extends StatementTree> all) {
        scoped(() -> all.forEach(this::statement));
    }

    /** Returns the name of the constant copy of a loop's counter of iterations. */
    static String fixed(String counter) {
        return counter + "f";
    }

    /** Returns the text that counts an iteration if a nested function belongs to one, for the start of the loop's body. */
    String countedTurn(Tree loop) {
        String counter = unit.turns.get(loop);
        return counter == null ? "" : " final int " + fixed(counter) + " = ++" + counter + ";";
    }

    /** Writes the statement as a block. */
    void block(StatementTree tree) {
        put("{");
        scoped(() -> statement(tree));
        put("}");
    }

    void statement(StatementTree tree) {
        out.append(Marks.line(program.line(tree)));
        int live = temporaries.size();
        if (tree instanceof VariableTree variable) {
            variable(variable);
        } else if (!unit.rewritten.contains(tree)) {
            String text = copied(renderer, tree);
            put(takeCopies() + takeLabel() + text);
        } else {
            flatStatement(tree);
        }
        temporaries.subList(live, temporaries.size()).clear();
    }

    /** Returns the text of a statement, with a semicolon, which the text of a for loop's update does not have. */
    static String copied(Renderer renderer, StatementTree tree) {
        String text = renderer.text(tree);
        return tree instanceof ExpressionStatementTree && !text.endsWith(";") ? text + ";" : text;
    }

    private void variable(VariableTree tree) {
        Variable variable = program.variable(tree);
        if (variable.constant != null) {
            return;
        }
        if (Hoisting.outlivesBlock(program, variable)) {
            assignInitialValue(variable);
            return;
        }
        String type = variableType(variable);
        ExpressionTree initializer = tree.getInitializer();
        String value = initializer == null ? TypeNames.defaultValue(variable.type) : value(initializer);
        put(takeCopies() + type + " " + variable.name + " = " + value + ";");
        inScope.add(variable);
    }

    private void flatStatement(StatementTree tree) {
        if (tree instanceof BlockTree block) {
            put(takeLabel() + "{");
            statements(block.getStatements());
            put("}");
        } else if (tree instanceof IfTree condition) {
            ifStatement(condition);
        } else if (tree instanceof WhileLoopTree loop) {
            loops.whileLoop(loop);
        } else if (tree instanceof DoWhileLoopTree loop) {
            loops.doLoop(loop);
        } else if (tree instanceof ForLoopTree loop) {
            loops.forLoop(loop);
        } else if (tree instanceof EnhancedForLoopTree loop) {
            loops.forEach(loop);
        } else if (tree instanceof LabeledStatementTree labeled) {
            label += labeled.getLabel() + ": ";
            statement(labeled.getStatement());
            label = ""; // a statement that no jump can leave does not take it
        } else if (tree instanceof SwitchTree choice) {
            switches.statement(choice);
        } else if (tree instanceof TryTree attempt) {
            blocks.tryStatement(attempt);
        } else if (tree instanceof SynchronizedTree block) {
            blocks.synchronizedBlock(block);
        } else if (tree instanceof ReturnTree end) {
            String text = value(end.getExpression()); // a return without a value is not rewritten
            simple(finallyBlocks.leave(JumpTargets.jump(program, unit, end), null, text));
        } else if (tree instanceof YieldTree yield) {
            String text = value(yield.getValue());
            simple(switches.yielded(yield, text));
        } else if (tree instanceof ThrowTree thrower) {
            valueStatement("throw ", thrower.getExpression());
        } else if (tree instanceof ExpressionStatementTree expression) {
            effectStatement(expression.getExpression());
        } else if (tree instanceof AssertTree && !unit.capturing.contains(tree)) {
            simple(renderer.text(tree));
        } else {
            Refusals.statement(program, tree);
        }
    }

    /** Returns the text of an expression as a statement. */
    static String asStatement(Renderer renderer, ExpressionTree tree, String text) {
        boolean isInParentheses = renderer.replaced.containsKey(tree) && text.startsWith("(") && text.endsWith(")");
        return (isInParentheses ? text.substring(1, text.length() - 1) : text) + ";";
    }

    private void valueStatement(String word, ExpressionTree tree) {
        String text = value(tree);
        simple(word + text + ";");
    }

    String takeLabel() {
        String text = label;
        label = "";
        return text;
    }

    private void ifStatement(IfTree tree) {
        String own = takeLabel();
        if (!own.isEmpty()) {
            put(own + "{");
        }
        String condition = consumed(tree.getCondition());
        put(takeCopies() + "if " + condition);
        block(tree.getThenStatement());
        if (tree.getElseStatement() != null) {
            put("else");
            block(tree.getElseStatement());
        }
        if (!own.isEmpty()) {
            put("}");
        }
    }

    void addVariable(Tree tree) {
        if (tree instanceof VariableTree && program.variable(tree).constant == null) {
            inScope.add(program.variable(tree));
        }
    }

    /** Gives the variable of a loop its value for an iteration. */
    void bind(VariableTree tree, String value, boolean isFinal) {
        Variable variable = program.variable(tree);
        if (Hoisting.outlivesBlock(program, variable)) {
            put(variable.field + " = " + value + ";");
        } else {
            put((isFinal ? "final " : "") + variableType(variable) + " " + variable.name + " = " + value + ";");
            inScope.add(variable);
        }
    }

    @Override
    void switchExpression(SwitchExpressionTree tree, String result) {
        switches.expression(tree, result);
    }

    @Override
    String jumpText(Tree jump) {
        if (jump instanceof YieldTree yield) {
            return switches.isOpen(yield) ? "{ " + switches.yielded(yield, renderer.text(yield.getValue())) + " }" : null;
        }
        JumpTargets.Jump way = JumpTargets.jump(program, unit, jump);
        String changed = changedText(jump, way);
        if (!finallyBlocks.isLeftBy(way)) {
            return changed;
        }
        ExpressionTree value = jump instanceof ReturnTree end ? end.getExpression() : null;
        String own = program.source(program.file(jump)).substring(program.start(jump), program.end(jump));
        return "{ " + finallyBlocks.leave(way, changed == null ? own : changed, value == null ? null : renderer.text(value)) + " }";
    }

    /** Returns the text of a jump to a place that the translation has moved; null for other jumps. */
    private String changedText(Tree jump, JumpTargets.Jump way) {
        if (way.isContinue()) {
            String body = loops.bodyLabel(way.target());
            return body == null ? null : "break " + body + ";";
        }
        String block = constructs.label(way.target());
        return jump instanceof ReturnTree && block != null ? "break " + block + ";" : null;
    }
}
