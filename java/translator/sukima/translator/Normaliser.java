// SPDX-License-Identifier: Apache-2.0
package sukima.translator;

import com.sun.source.tree.ArrayAccessTree;
import com.sun.source.tree.AssignmentTree;
import com.sun.source.tree.BinaryTree;
import com.sun.source.tree.CompoundAssignmentTree;
import com.sun.source.tree.ConditionalExpressionTree;
import com.sun.source.tree.ExpressionTree;
import com.sun.source.tree.IdentifierTree;
import com.sun.source.tree.InstanceOfTree;
import com.sun.source.tree.LambdaExpressionTree;
import com.sun.source.tree.LiteralTree;
import com.sun.source.tree.MemberReferenceTree;
import com.sun.source.tree.MemberSelectTree;
import com.sun.source.tree.MethodInvocationTree;
import com.sun.source.tree.NewArrayTree;
import com.sun.source.tree.NewClassTree;
import com.sun.source.tree.ParenthesizedTree;
import com.sun.source.tree.SwitchExpressionTree;
import com.sun.source.tree.Tree;
import com.sun.source.tree.TypeCastTree;
import com.sun.source.tree.UnaryTree;
import com.sun.tools.javac.code.Type;
import java.util.ArrayList;
import java.util.List;
import javax.lang.model.element.Element;
import javax.lang.model.element.Modifier;
import javax.lang.model.type.TypeKind;
import javax.lang.model.type.TypeMirror;

/**
 * Takes calls that may be captured out of expressions. Each becomes a statement of its own that stores its result in a
 * temporary. Operands that Java evaluates before the call are stored before it.
 */
abstract class Normaliser {
    final Program program;
    final Unit unit;
    final CaptureGraph graph;
    final TypeNames typeNames;
    final Renderer renderer;

    Normaliser(Program program, Unit unit, CaptureGraph graph, boolean isFrame) {
        this.program = program;
        this.unit = unit;
        this.graph = graph;
        typeNames = new TypeNames(program);
        renderer = new Renderer(program, unit, isFrame, this::jumpText, this::nestedText);
    }

    abstract String jumpText(Tree jump);

    /** Writes a statement that does not jump. */
    abstract void simple(String statement);

    /** Declares the temporary; its value is the type's default. */
    abstract void declare(String temporary, String type, String value);

    /** Writes a call that may be captured; the result is null if it is not needed. */
    abstract void call(ExpressionTree tree, String text, String result, String type);

    /** Writes `if (condition) then else otherwise`. */
    abstract void branch(String condition, Runnable then, Runnable otherwise);

    /** Writes a switch expression as a statement that stores its value in the temporary. */
    abstract void switchExpression(SwitchExpressionTree tree, String result);

    /** Writes a construct. */
    abstract void construct(Construct construct);

    String nestedText(Unit nested) {
        return NestedFunctions.creation(this, nested);
    }

    /** Writes the calls inside the expression, and returns the text of the remaining expression. */
    final String value(ExpressionTree tree) {
        prepare(tree);
        return renderer.text(tree);
    }

    /** Does the same for an expression whose value is not needed; returns null if nothing remains. */
    final String effect(ExpressionTree tree) {
        ExpressionTree plain = tree;
        while (plain instanceof ParenthesizedTree parenthesized) {
            plain = parenthesized.getExpression();
        }
        if (program.constructs.containsKey(plain)) {
            construct(program.constructs.get(plain));
            return null;
        }
        if (unit.capturing.contains(plain) && graph.captures(plain)) {
            prepareOperands(plain);
            call(plain, renderer.text(plain), null, null);
            return null;
        }
        return value(tree);
    }

    /** Writes the initial value of a variable that is declared elsewhere, under its field's name. */
    final void assignInitialValue(Variable variable) {
        ExpressionTree initializer = variable.tree.getInitializer();
        if (initializer == null) {
            return;
        }
        String value = value(initializer);
        boolean isBraced = initializer instanceof NewArrayTree array && array.getType() == null;
        String creation = isBraced ? "new " + variableType(variable) + " " : "";
        simple(variable.field + " = " + creation + value + ";");
    }

    final String typeName(Tree tree) {
        String name = typeNames.of(program.type(tree));
        if (name == null && isPartOfString(tree)) {
            return "java.lang.Object"; // only its text is needed
        }
        if (name == null) {
            program.refuse(tree, "the type of this value has no name, so the value cannot be kept while a call is captured: assign it "
                + "to a variable of a named type");
            return "java.lang.Object";
        }
        return name;
    }

    /** Returns whether the value is an operand of `+` or `+=` that makes a string. */
    private boolean isPartOfString(Tree tree) {
        Tree part = tree;
        while (program.parent(part) instanceof ParenthesizedTree around) {
            part = around;
        }
        Tree sum = program.parent(part);
        boolean isSum = sum.getKind() == Tree.Kind.PLUS || sum.getKind() == Tree.Kind.PLUS_ASSIGNMENT;
        return isSum && program.type(sum).toString().equals("java.lang.String");
    }

    private String temporary(ExpressionTree tree, String role) {
        return temporary(tree, role, typeName(tree), program.type(tree));
    }

    private String temporary(ExpressionTree tree, String role, String type, TypeMirror ofType) {
        String name = unit.temporary(tree, role, type);
        declare(name, type, TypeNames.defaultValue(ofType));
        return name;
    }

    /**
     * Stores the operand's value, unboxed if Java unboxes it before it evaluates the next operand. Where any object will do,
     * Java does not check its class, so neither does the temporary.
     */
    private String stored(ExpressionTree tree, String role) {
        String text = renderer.text(tree);
        TypeMirror unboxed = Conversions.unboxed(program, tree);
        TypeMirror type = unboxed != null ? unboxed : Conversions.isWantedAsObject(program, tree) ? program.objectType : null;
        String name = type == null ? temporary(tree, role) : temporary(tree, role, typeNames.of(type), type);
        simple(name + " = " + text + ";");
        return name;
    }

    private void prepare(ExpressionTree tree) {
        if (!unit.capturing.contains(tree)) {
            return;
        }
        if (tree instanceof BinaryTree binary && isShortCircuit(binary) && unit.capturing.contains(binary.getRightOperand())) {
            prepareShortCircuit(binary);
        } else if (tree instanceof ConditionalExpressionTree conditional) {
            prepareConditional(conditional);
        } else if (tree instanceof SwitchExpressionTree choice) {
            String result = temporary(tree, "result");
            switchExpression(choice, result);
            renderer.replaced.put(tree, result);
        } else if (tree instanceof CompoundAssignmentTree compound && unit.capturing.contains(compound.getExpression())) {
            prepareCompound(compound);
        } else if (graph.captures(tree)) {
            prepareOperands(tree);
            String text = renderer.text(tree);
            String result = temporary(tree, "result");
            call(tree, text, result, typeName(tree));
            renderer.replaced.put(tree, result);
        } else {
            prepareOperands(tree);
        }
    }

    private static boolean isShortCircuit(BinaryTree tree) {
        return tree.getKind() == Tree.Kind.CONDITIONAL_AND || tree.getKind() == Tree.Kind.CONDITIONAL_OR;
    }

    private void prepareShortCircuit(BinaryTree tree) {
        String left = value(tree.getLeftOperand());
        String result = temporary(tree, "result");
        simple(result + " = " + left + ";");
        boolean isAnd = tree.getKind() == Tree.Kind.CONDITIONAL_AND;
        branch(isAnd ? result : "!" + result, () -> simple(result + " = " + value(tree.getRightOperand()) + ";"), null);
        renderer.replaced.put(tree, result);
    }

    private void prepareConditional(ConditionalExpressionTree tree) {
        prepare(tree.getCondition());
        if (!unit.capturing.contains(tree.getTrueExpression()) && !unit.capturing.contains(tree.getFalseExpression())) {
            return;
        }
        String condition = renderer.text(tree.getCondition());
        String result = temporary(tree, "result");
        branch(condition, () -> simple(result + " = " + value(tree.getTrueExpression()) + ";"),
            () -> simple(result + " = " + value(tree.getFalseExpression()) + ";"));
        renderer.replaced.put(tree, result);
    }

    /** Writes `a op= b`, which reads a before it evaluates b. */
    private void prepareCompound(CompoundAssignmentTree tree) {
        operandsOfTarget(tree.getVariable()).forEach(this::prepareAndSave);
        String target = renderer.text(tree.getVariable());
        String old = stored(tree.getVariable(), "old");
        String right = value(tree.getExpression());
        String operator = Operators.of(tree);
        renderer.replaced.put(tree, "(" + target + " = (" + typeName(tree.getVariable()) + ") (" + old + " " + operator + " ("
            + right + ")))");
    }

    private void prepareOperands(ExpressionTree tree) {
        List<ExpressionTree> operands = new ArrayList<>();
        collectOperands(tree, operands);
        int last = operands.size() - 1;
        boolean isRepeated = graph.captures(tree) && graph.repeats(tree);
        while (!isRepeated && last >= 0 && !unit.capturing.contains(operands.get(last))) {
            last--;
        }
        for (int i = 0; i <= last; i++) {
            if (i < last || isRepeated) {
                prepareAndSave(operands.get(i));
            } else {
                prepare(operands.get(i));
            }
        }
    }

    /** Returns the text of an operand that is evaluated now and is also needed later. */
    final String saved(ExpressionTree tree) {
        prepareAndSave(tree);
        return renderer.text(tree);
    }

    private void prepareAndSave(ExpressionTree tree) {
        prepare(tree);
        // A temporary is assigned once in each evaluation. The text of a compound assignment is not a temporary.
        boolean isTemporary = renderer.replaced.containsKey(tree) && !(tree instanceof CompoundAssignmentTree);
        boolean isUnboxed = Conversions.unboxed(program, tree) != null;
        if (isUnboxed || !isConstant(tree) && !isTemporary) {
            renderer.replaced.put(tree, typeNames.typed(stored(tree, "value"), program.type(tree), unit.enclosing));
        }
        if (Conversions.isOuterObject(program, tree) && !isTypeOrThis(tree)) {
            simple(renderer.text(tree) + ".getClass();"); // throws the exception for null
        }
    }

    /** Returns whether a later evaluation has the same value and no side effect. */
    private boolean isConstant(ExpressionTree tree) {
        if (tree instanceof ParenthesizedTree parenthesized) {
            return isConstant(parenthesized.getExpression());
        }
        if (tree instanceof LambdaExpressionTree || isTypeOrThis(tree) || isConstantExpression(tree)) {
            return true;
        }
        if (tree instanceof MemberReferenceTree reference) {
            return isTypeOrThis(reference.getQualifierExpression());
        }
        Variable variable = tree instanceof IdentifierTree ? program.variable(tree) : null;
        boolean hasInitialValue = variable != null
            && (variable.tree.getInitializer() != null || Hoisting.scope(program, variable) == variable.unit.tree());
        return hasInitialValue && !variable.isAssigned;
    }

    /** Java narrows a constant that initializes an element of an array, but would not narrow a temporary. */
    private boolean isConstantExpression(ExpressionTree tree) {
        return tree instanceof LiteralTree || ((Type) program.type(tree)).constValue() != null;
    }

    private boolean isTypeOrThis(Tree tree) {
        if (tree instanceof IdentifierTree identifier
            && (identifier.getName().contentEquals("this") || identifier.getName().contentEquals("super"))) {
            return true;
        }
        if (tree instanceof MemberSelectTree select
            && (select.getIdentifier().contentEquals("this") || select.getIdentifier().contentEquals("super")
                || select.getIdentifier().contentEquals("class"))) {
            return true;
        }
        Element element = program.element(tree);
        return !(tree instanceof ExpressionTree) || program.type(tree) == null || element != null
            && (element.getKind().isClass() || element.getKind().isInterface()) && !(tree instanceof NewClassTree);
    }

    /** Collects the operands of an expression in the order of their evaluation. */
    private void collectOperands(ExpressionTree tree, List<ExpressionTree> to) {
        if (tree instanceof ParenthesizedTree parenthesized) {
            to.add(parenthesized.getExpression());
        } else if (tree instanceof BinaryTree binary) {
            to.add(binary.getLeftOperand());
            to.add(binary.getRightOperand());
        } else if (tree instanceof UnaryTree unary) {
            collectOfUnary(unary, to);
        } else if (tree instanceof TypeCastTree cast) {
            to.add(cast.getExpression());
        } else if (tree instanceof InstanceOfTree test) {
            to.add(test.getExpression());
        } else if (tree instanceof MemberSelectTree || tree instanceof ArrayAccessTree) {
            to.addAll(operandsOfTarget(tree));
        } else if (tree instanceof AssignmentTree assignment) {
            to.addAll(operandsOfTarget(assignment.getVariable()));
            to.add(assignment.getExpression());
        } else if (tree instanceof CompoundAssignmentTree compound) {
            to.addAll(operandsOfTarget(compound.getVariable()));
        } else if (tree instanceof MethodInvocationTree call) {
            collectReceiver(call, to);
            to.addAll(call.getArguments());
        } else if (tree instanceof NewClassTree creation) {
            if (creation.getEnclosingExpression() != null) {
                to.add(creation.getEnclosingExpression());
            }
            to.addAll(creation.getArguments());
        } else if (tree instanceof NewArrayTree array) {
            collectOfArray(array, to);
        } else {
            Refusals.expression(program, tree);
        }
    }

    private void collectOfUnary(UnaryTree tree, List<ExpressionTree> to) {
        switch (tree.getKind()) {
            case PREFIX_INCREMENT, PREFIX_DECREMENT, POSTFIX_INCREMENT, POSTFIX_DECREMENT ->
                to.addAll(operandsOfTarget(tree.getExpression()));
            default -> to.add(tree.getExpression());
        }
    }

    private void collectReceiver(MethodInvocationTree call, List<ExpressionTree> to) {
        if (call.getMethodSelect() instanceof MemberSelectTree select && !isTypeOrThis(select.getExpression())) {
            to.add(select.getExpression());
        }
    }

    private void collectOfArray(NewArrayTree array, List<ExpressionTree> to) {
        to.addAll(array.getDimensions());
        if (array.getInitializers() == null) {
            return;
        }
        for (ExpressionTree element : array.getInitializers()) {
            if (element instanceof NewArrayTree inner && inner.getType() == null) {
                collectOfArray(inner, to);
            } else {
                to.add(element);
            }
        }
    }

    /** Returns the operands of a variable that is assigned: an array and its index, or an object. */
    private List<ExpressionTree> operandsOfTarget(ExpressionTree target) {
        if (target instanceof ParenthesizedTree parenthesized) {
            return operandsOfTarget(parenthesized.getExpression());
        }
        if (target instanceof ArrayAccessTree access) {
            return List.of(access.getExpression(), access.getIndex());
        }
        if (target instanceof MemberSelectTree select && !isTypeOrThis(select.getExpression())) {
            Element field = program.element(select);
            boolean isStatic = field != null && field.getModifiers().contains(Modifier.STATIC);
            return isStatic && !unit.capturing.contains(select.getExpression()) ? List.of() : List.of(select.getExpression());
        }
        return List.of();
    }

    /**
     * Returns declarations of copies for ordinary lambdas: one for each variable of which the text just rendered needs a
     * copy.
     */
    final String takeCopies() {
        StringBuilder text = new StringBuilder();
        renderer.copies.forEach((variable, copy) -> text.append("final ").append(variableType(variable)).append(' ').append(copy)
            .append(" = ").append(variable.field).append("; "));
        renderer.copies.clear();
        return text.toString();
    }

    final String variableType(Variable variable) {
        String name = typeNames.of(variable.type);
        if (name == null) {
            program.refuse(variable.tree, "the type of " + variable.name + " has no name, so a frame cannot keep it: declare it with a "
                + "named type");
            return "java.lang.Object";
        }
        return name;
    }

    final boolean isPrimitive(Tree tree) {
        TypeKind kind = program.type(tree).getKind();
        return kind.isPrimitive();
    }
}
