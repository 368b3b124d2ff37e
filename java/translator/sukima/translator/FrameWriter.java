// SPDX-License-Identifier: Apache-2.0
package sukima.translator;

import com.sun.source.tree.ExpressionTree;
import com.sun.source.tree.SwitchExpressionTree;
import com.sun.source.tree.Tree;
import com.sun.source.tree.TypeParameterTree;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import javax.lang.model.element.Modifier;

/**
 * Writes the frame class of a unit: its variables as fields, and a method that continues at any call that was captured. That
 * method is a state machine. A state starts at each call, and at each target of a jump.
 */
final class FrameWriter extends Normaliser {
    /** The method that a state calls. */
    private record Callee(String name, boolean isRepeated) {}

    final FrameRegions regions = new FrameRegions(this);
    private final FrameStatements statements;
    private final FrameConstructs constructs;
    private final Map<Integer, Callee> callees = new TreeMap<>();
    private final Map<Integer, Integer> lines = new TreeMap<>();
    /** The state that handles the exceptions thrown in a state; a state without one throws them on. */
    private final Map<Integer, Integer> handlers = new TreeMap<>();
    /** Fields that only the frame needs, with their types. No state of a call needs their values. */
    private final Map<String, String> extraFields = new LinkedHashMap<>();
    /** Handlers of the code being written, the innermost last. */
    final List<Integer> activeHandlers = new ArrayList<>();
    private int line;
    /** The state in which the method returns, for jumps out of synchronized blocks; negative if there are none. */
    private int exitState = -1;

    FrameWriter(Program program, Unit unit, CaptureGraph graph) {
        super(program, unit, graph, true);
        statements = new FrameStatements(this);
        constructs = new FrameConstructs(this, statements);
    }

    /** Returns the class's name with the type variables of the method. */
    static String classUse(Program program, Unit unit) {
        String names = parameters(unit).stream().map(parameter -> parameter.getName().toString()).collect(Collectors.joining(", "));
        return unit.frameClass() + (names.isEmpty() ? "" : "<" + names + ">");
    }

    static List<? extends TypeParameterTree> parameters(Unit unit) {
        return unit.isNested() || unit.enclosingMethod() == null ? List.of() : unit.enclosingMethod().getTypeParameters();
    }

    /** Returns the class's declaration. */
    String declaration() {
        String machine = machine();
        String typeParameters = parameters(unit).stream().map(renderer::text).collect(Collectors.joining(", ", "<", ">")).replace("<>", "");
        boolean isStatic = !unit.isNested() && unit.isStatic();
        Map<String, String> fields = fields();
        StringBuilder text = new StringBuilder(unit.saves.declarations(typeParameters, classUse(program, unit), fields));
        text.append("\n@SuppressWarnings(\"all\") " + (isStatic ? "static " : "") + "final class "
            + unit.frameClass() + typeParameters + " extends " + constructs.superclass() + " {\n");
        fields.forEach((name, type) -> text.append(type).append(' ').append(name).append(";\n"));
        text.append(unit.frameClass()).append("(int state) { super(").append(constructs.superArguments()).append("); }\n");
        text.append("@Override public String method$() { return \"").append(unit.title()).append("\"; }\n");
        if (unit.isNested()) {
            text.append("@Override public boolean isNested$() { return true; }\n");
        }
        text.append(table("String", "callee$", "\"\"", callees, callee -> "\"" + callee.name() + "\""));
        text.append(table("boolean", "repeats$", "false", callees, callee -> String.valueOf(callee.isRepeated())));
        text.append(table("int", "line$", "0", lines, String::valueOf)).append(forgetting(fields)).append(constructs.members()).append(machine);
        for (Unit nested : unit.nested) {
            text.append(NestedFunctions.method(program, graph, nested));
            if (nested.isTranslated()) {
                text.append(new FrameWriter(program, nested, graph).declaration());
            }
        }
        return text.append("}\n").toString();
    }

    /** Returns the types of the fields by their names. */
    private Map<String, String> fields() {
        Map<String, String> found = new LinkedHashMap<>();
        Hoisting.hoisted(program, unit).forEach(variable -> found.put(variable.field, variableType(variable)));
        found.putAll(unit.temporaries);
        found.putAll(extraFields);
        if (unit.isOwner()) {
            found.put(unit.owner(), "sukima.closures.Owner");
        }
        return found;
    }

    /** Returns the method that drops references which no code after the current state's call uses. */
    private String forgetting(Map<String, String> fields) {
        Map<String, String> statesOf = new LinkedHashMap<>();
        unit.liveIn.forEach((state, live) -> {
            String dead = fields.keySet().stream().filter(name -> !live.contains(name) && !TypeNames.isPrimitive(fields.get(name)))
                .map(name -> name + " = null; ").collect(Collectors.joining());
            statesOf.merge(dead, "case " + state + ": ", String::concat);
        });
        statesOf.remove("");
        StringBuilder cases = new StringBuilder();
        statesOf.forEach((dead, states) -> cases.append(states).append(dead).append("break;\n"));
        return cases.isEmpty() ? "" : "@Override public void forget$() { super.forget$(); switch (state$) {\n" + cases + "default: } }\n";
    }

    static <T> String table(String type, String name, String otherwise, Map<Integer, T> values,
        java.util.function.Function<T, String> text) {
        String cases = values.entrySet().stream().map(entry -> "case " + entry.getKey() + ": return " + text.apply(entry.getValue()) + ";\n")
            .collect(Collectors.joining());
        return "@Override public " + type + " " + name + "() { switch (state$) {\n" + cases + "default: return " + otherwise + "; } }\n";
    }

    private String machine() {
        if (!unit.isVoid()) {
            extraFields.put(result(), resultType());
        }
        put("case 0:");
        if (unit.body() instanceof ExpressionTree expression) {
            position(expression);
            statements.returnOf(expression);
        } else {
            position(unit.body());
            statements.all(Constructors.ownStatements(unit));
        }
        put(exit());
        if (exitState >= 0) {
            put("case " + exitState + ": " + exit());
        }
        String owner = unit.isOwner() ? unit.owner() : "null";
        String monitor = unit.method.getModifiers().contains(Modifier.SYNCHRONIZED) && !unit.isNested()
            ? "synchronized (" + unit.enclosing.getSimpleName() + (unit.isStatic() ? ".class" : ".this") + ") { " : "";
        return "@Override public Object resume$() { " + monitor + dispatch() + ": for (;;) { try { switch (state$) {\n" + regions.text()
            + "default: throw new AssertionError(state$); } } catch (Throwable e$) {\n"
            + "if (e$ instanceof sukima.closures.Capture) { captured$((sukima.closures.Capture) e$, " + owner
            + "); continue; }\nswitch (state$) {\n" + handlerCases() + "default: "
            + (unit.isOwner() ? unit.owner() + ".end(); " : "") + "throw rethrow$(e$); }\n} } }\n" + (monitor.isEmpty() ? "" : "}\n")
            + regions.methods(owner, handlerCases());
    }

    private String handlerCases() {
        Map<Integer, List<Integer>> statesOf = new TreeMap<>();
        handlers.forEach((state, handler) -> statesOf.computeIfAbsent(handler, key -> new ArrayList<>()).add(state));
        StringBuilder text = new StringBuilder();
        statesOf.forEach((handler, states) -> {
            states.forEach(state -> text.append("case ").append(state).append(": "));
            text.append("thrown$ = e$; state$ = ").append(handler).append("; continue;\n");
        });
        return text.toString();
    }

    String resultType() {
        String name = typeNames.of(unit.result());
        return name == null ? "java.lang.Object" : name;
    }

    /** Returns the field that holds the value of a return. */
    String result() {
        return "return$" + unit.number;
    }

    String dispatch() {
        return "dispatch$" + unit.number;
    }

    /** Returns statements that leave the method. */
    String exit() {
        if (regions.isInside()) {
            exitState = exitState < 0 ? unit.newState() : exitState;
            return jumpTo(exitState);
        }
        return (unit.isOwner() ? unit.owner() + ".end(); " : "") + frozen() + "return " + returned() + ";";
    }

    /** Returns the value that a caller which waits for the unit receives. */
    private String returned() {
        return unit.isConstructor() ? unit.enclosing.getSimpleName() + ".this" : unit.isVoid() ? "null" : result();
    }

    private String frozen() {
        return unit.isConstructor() ? Constructors.FREEZE : "";
    }

    void put(String text) {
        regions.text().append(text).append(Marks.NEW_LINE);
    }

    /** Writes the count of an iteration if a nested function belongs to one, for the start of the loop's body. */
    void countTurn(Tree loop) {
        String counter = unit.turns.get(loop);
        if (counter != null) {
            put("++" + counter + ";");
        }
    }

    /** Records that the text that follows comes from the tree's line. */
    void position(Tree tree) {
        line = program.line(tree);
        regions.text().append(Marks.line(line));
    }

    /** Starts a state that the preceding code also enters. */
    void state(int number) {
        put("state$ = " + number + ";");
        stateAfterJump(number);
    }

    /** Starts a state that follows a jump. */
    void stateAfterJump(int number) {
        put("case " + number + ":");
        lines.put(number, line);
        regions.enterState(number);
        constructs.enterState(number);
        if (!activeHandlers.isEmpty()) {
            handlers.put(number, activeHandlers.get(activeHandlers.size() - 1));
        }
    }

    String jumpTo(int state) {
        return "state$ = " + state + "; continue " + dispatch() + ";";
    }

    /** Writes a jump after which the compiler must treat code as reachable. */
    void jump(String text) {
        put("if (true) { " + text + " }");
    }

    void jumpUnless(String condition, int state) {
        simple("if (!(" + condition + ")) { " + jumpTo(state) + " }");
    }

    @Override
    void simple(String statement) {
        String copies = takeCopies();
        put(copies.isEmpty() ? statement : "{ " + copies + statement + " }");
    }

    @Override
    void declare(String temporary, String type, String value) {
        // Temporaries are fields, so nothing is declared here.
    }

    @Override
    void call(ExpressionTree tree, String text, String result, String type) {
        int number = unit.state(tree);
        line = program.callLine(tree);
        regions.text().append(Marks.line(line));
        state(number);
        callee(number, tree, graph.repeats(tree));
        String store = result == null ? "" : result + " = ";
        String cast = result == null ? "" : "(" + type + ") ";
        put("if (inner$ == null) { " + takeCopies() + store + text + "; } else { " + store + cast + "resumeInner$(); }");
    }

    /** Records the callee of a state. If the callee leaves no frame, the state continues without it. */
    void callee(int state, ExpressionTree tree, boolean isRepeated) {
        callees.put(state, new Callee(program.element(tree).getSimpleName().toString(), isRepeated));
    }

    @Override
    void construct(Construct construct) {
        constructs.write(construct);
    }

    @Override
    void branch(String condition, Runnable then, Runnable otherwise) {
        int other = unit.newState();
        jumpUnless(condition, other);
        then.run();
        if (otherwise == null) {
            state(other);
            return;
        }
        int after = unit.newState();
        jump(jumpTo(after));
        stateAfterJump(other);
        otherwise.run();
        state(after);
    }

    @Override
    void switchExpression(SwitchExpressionTree tree, String result) {
        statements.switches.expression(tree, result);
    }

    @Override
    String jumpText(Tree jump) {
        return statements.jumpText(jump);
    }
}
