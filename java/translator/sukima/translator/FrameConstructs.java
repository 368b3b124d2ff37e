// SPDX-License-Identifier: Apache-2.0
package sukima.translator;

import com.sun.source.tree.ExpressionTree;
import com.sun.source.tree.LambdaExpressionTree;
import com.sun.source.tree.Tree;
import com.sun.source.tree.VariableTree;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;

/**
 * The constructs of a frame. From its state the frame knows which constructs are running. It runs their blocks to backtrack,
 * and joins the tasks that were split off.
 */
final class FrameConstructs {
    private static final String TASK = "sukima.tascell.Task<?>";

    private final FrameWriter to;
    private final FrameStatements statements;
    /** Numbers of the constructs that are running in the code being written, the innermost last. */
    private final List<Integer> active = new ArrayList<>();
    private final Map<Integer, List<Integer>> activeIn = new TreeMap<>();
    private final StringBuilder blocks = new StringBuilder();

    FrameConstructs(FrameWriter to, FrameStatements statements) {
        this.to = to;
        this.statements = statements;
    }

    private boolean isNeeded() {
        return !to.unit.constructs.isEmpty();
    }

    String superclass() {
        return isNeeded() ? "sukima.tascell.SplitFrame" : "sukima.closures.Frame";
    }

    String superArguments() {
        return isNeeded() ? "state, " + to.unit.constructs.size() : "state";
    }

    void enterState(int number) {
        if (!active.isEmpty()) {
            activeIn.put(number, List.copyOf(active));
        }
    }

    /** Returns the methods that split, and the methods that contain the blocks. */
    String members() {
        if (!isNeeded()) {
            return "";
        }
        String places = FrameWriter.table("int[]", "places$", "new int[0]", activeIn,
            numbers -> "new int[] {" + numbers.toString().replaceAll("[\\[\\]]", "") + "}");
        return places + choice("boolean", "canSplit$", "return false;", this::canSplit) + choice(TASK, "put$", "throw new AssertionError(place);",
            this::put) + choice("void", "undo$", "", construct -> construct.isWind() ? "after$" + id(construct) + "(); break;" : "break;")
            + choice("void", "redo$", "", construct -> construct.isWind() ? "before$" + id(construct) + "(); break;" : "break;") + blocks;
    }

    private String choice(String type, String name, String otherwise, Function<Construct, String> text) {
        StringBuilder cases = new StringBuilder();
        for (Construct construct : to.unit.constructs) {
            cases.append("case ").append(construct.place).append(": ").append(text.apply(construct)).append("\n");
        }
        return "@Override public " + type + " " + name + "(int place) { switch (place) {\n" + cases + "default: } " + otherwise + " }\n";
    }

    private String id(Construct construct) {
        return to.unit.number + "_" + construct.place;
    }

    private String index(Construct construct) {
        return to.unit.temporary(construct.call, "index", "int");
    }

    private String end(Construct construct) {
        return to.unit.temporary(construct.call, "end", "int");
    }

    private String canSplit(Construct construct) {
        return "return " + (construct.isWind() ? "false"
            : construct.isLoop() ? index(construct) + " < " + end(construct) + " - 1" : "!isSplit$(" + construct.place + ")") + ";";
    }

    private String put(Construct construct) {
        if (construct.isWind()) {
            return "break;";
        }
        String call = "put$" + id(construct);
        return construct.isLoop() ? "{ int middle = middle$(" + index(construct) + ", " + end(construct) + "); " + TASK + " task = " + call
            + "(middle, " + end(construct) + "); if (task != null) { " + end(construct) + " = middle; } return task; }" : "return " + call + "();";
    }

    void write(Construct construct) {
        if (construct.isWind()) {
            wind(construct);
            return;
        }
        method(construct, construct.put(), TASK, "put$", List.of("int from$", "int to$"));
        method(construct, construct.get(), "void", "get$", List.of("Object result$"));
        if (construct.isLoop()) {
            loop(construct);
        } else {
            two(construct);
        }
    }

    /** Writes a block as a method that stores its parameters in the frame's fields. */
    private void method(Construct construct, LambdaExpressionTree block, String type, String name, List<String> parameters) {
        List<? extends VariableTree> variables = block.getParameters();
        blocks.append(type).append(' ').append(name).append(id(construct)).append('(')
            .append(String.join(", ", parameters.subList(0, variables.size()))).append(") { ");
        for (int i = 0; i < variables.size(); i++) {
            Variable variable = to.program.variable(variables.get(i));
            String value = parameters.get(i).substring(parameters.get(i).indexOf(' ') + 1);
            blocks.append(variable.field).append(" = (").append(to.variableType(variable)).append(") ").append(value).append("; ");
        }
        Tree body = block.getBody();
        String text = to.renderer.text(body);
        String copies = to.takeCopies();
        blocks.append(Marks.line(to.program.line(body))).append(copies);
        if (body instanceof ExpressionTree) {
            blocks.append(type.equals("void") ? "" : "return ").append(text).append(';');
        } else {
            blocks.append(text);
        }
        blocks.append(" }\n");
    }

    private void poll(Construct construct, String worker) {
        int state = to.unit.state(construct.call);
        to.put("if (" + worker + ".isAsked$) { state$ = " + state + "; " + worker + ".poll$(); }");
        active.add(construct.place);
        to.state(state);
        to.callee(state, construct.call, true);
    }

    /** Writes a block inside the construct. The code after it is outside. */
    private void body(LambdaExpressionTree block) {
        int after = to.unit.newState();
        statements.blockBody(block, after);
        active.remove(active.size() - 1);
        to.state(after);
    }

    private void pop() {
        to.activeHandlers.remove(to.activeHandlers.size() - 1);
    }

    private void two(Construct construct) {
        String worker = to.saved(construct.worker());
        int handler = to.unit.newState();
        int join = to.unit.newState();
        int after = to.unit.newState();
        to.activeHandlers.add(handler);
        poll(construct, worker);
        body(construct.block(0));
        to.put("if (isSplit$(" + construct.place + ")) { " + to.jumpTo(join) + " }");
        pop();
        to.state(to.unit.newState());
        statements.blockBody(construct.block(1), after);
        to.jump(to.jumpTo(after));
        to.activeHandlers.add(handler);
        to.stateAfterJump(join);
        to.put(join(construct, worker));
        pop();
        abandon(construct, worker, handler, after);
    }

    private String join(Construct construct, String worker) {
        return "get$" + id(construct) + "(joined$(" + construct.place + ", " + worker + "));";
    }

    /** Writes the handler of exceptions that leave the construct. */
    private void abandon(Construct construct, String worker, int handler, int after) {
        to.jump(to.jumpTo(after));
        to.stateAfterJump(handler);
        to.jump("throw rethrow$(abandoned$(" + construct.place + ", " + worker + ", thrown$));");
        to.stateAfterJump(after);
    }

    private void loop(Construct construct) {
        String worker = to.saved(construct.worker());
        to.simple(index(construct) + " = " + to.value(construct.argument(0)) + ";");
        to.simple(end(construct) + " = " + to.value(construct.argument(1)) + ";");
        int handler = to.unit.newState();
        int top = to.unit.newState();
        int done = to.unit.newState();
        int after = to.unit.newState();
        to.activeHandlers.add(handler);
        to.state(top);
        to.jumpUnless(index(construct) + " < " + end(construct), done);
        poll(construct, worker);
        to.countTurn(construct.block(0));
        to.put(to.program.variable(construct.block(0).getParameters().get(0)).field + " = " + index(construct) + ";");
        body(construct.block(0));
        to.put(index(construct) + "++;");
        to.jump(to.jumpTo(top));
        to.stateAfterJump(done);
        to.put("while (isSplit$(" + construct.place + ")) { " + join(construct, worker) + " }");
        pop();
        abandon(construct, worker, handler, after);
    }

    private void wind(Construct construct) {
        method(construct, construct.block(0), "void", "before$", List.of());
        method(construct, construct.block(2), "void", "after$", List.of());
        String undo = "after$" + id(construct) + "();";
        int handler = to.unit.newState();
        int after = to.unit.newState();
        to.put("before$" + id(construct) + "();");
        to.activeHandlers.add(handler);
        active.add(construct.place);
        to.state(to.unit.newState());
        statements.blockBody(construct.block(1), after);
        active.remove(active.size() - 1);
        pop();
        to.state(after);
        to.put(undo);
        int end = to.unit.newState();
        to.jump(to.jumpTo(end));
        to.stateAfterJump(handler);
        to.put(undo);
        to.jump("throw rethrow$(thrown$);");
        to.stateAfterJump(end);
    }
}
