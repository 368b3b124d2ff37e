// SPDX-License-Identifier: Apache-2.0
package sukima.translator;

import com.sun.source.tree.AssignmentTree;
import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.CompoundAssignmentTree;
import com.sun.source.tree.ExpressionTree;
import com.sun.source.tree.IdentifierTree;
import com.sun.source.tree.LambdaExpressionTree;
import com.sun.source.tree.MemberReferenceTree;
import com.sun.source.tree.MethodInvocationTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.NewClassTree;
import com.sun.source.tree.ParenthesizedTree;
import com.sun.source.tree.Tree;
import com.sun.source.tree.UnaryTree;
import com.sun.source.tree.VariableTree;
import com.sun.source.util.TreePath;
import com.sun.source.util.TreePathScanner;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import javax.lang.model.element.Element;
import javax.lang.model.element.ElementKind;
import javax.lang.model.element.ExecutableElement;
import javax.lang.model.element.Modifier;
import javax.lang.model.element.TypeElement;
import javax.lang.model.type.DeclaredType;
import javax.lang.model.type.ExecutableType;
import javax.lang.model.type.TypeKind;

/** Finds the units of a file with their variables, and the calls between units. */
final class Analysis extends TreePathScanner<Void, Void> {
    /** A call, with the unit that makes it; the unit is null in an initializer. */
    record Call(ExpressionTree tree, Unit unit, boolean isInOrdinaryLambda, ExecutableElement callee) {}

    private final Program program;
    final List<Call> calls = new ArrayList<>();
    final List<MemberReferenceTree> references = new ArrayList<>();
    private Unit unit;
    /** The innermost unit, including inside a class in it. */
    private Unit around;
    private TypeElement enclosing;
    private boolean isInOrdinaryLambda;
    private boolean isInLocalClass;

    Analysis(Program program) {
        this.program = program;
    }

    @Override
    public Void scan(Tree tree, Void nothing) {
        if (tree != null) {
            TreePath path = getCurrentPath();
            program.paths.put(tree, path == null ? new TreePath((CompilationUnitTree) tree) : new TreePath(path, tree));
        }
        return super.scan(tree, nothing);
    }

    @Override
    public Void scan(TreePath path, Void nothing) {
        program.paths.put(path.getLeaf(), path);
        return super.scan(path, nothing);
    }

    @Override
    public Void visitClass(ClassTree tree, Void nothing) {
        Unit outerUnit = unit;
        TypeElement outerClass = enclosing;
        boolean wasOrdinary = isInOrdinaryLambda;
        boolean wasLocal = isInLocalClass;
        isInLocalClass |= unit != null || isInOrdinaryLambda || tree.getSimpleName().length() == 0;
        unit = null;
        isInOrdinaryLambda = false;
        enclosing = (TypeElement) program.element(tree);
        program.classes.add(tree);
        super.visitClass(tree, nothing);
        unit = outerUnit;
        enclosing = outerClass;
        isInOrdinaryLambda = wasOrdinary;
        isInLocalClass = wasLocal;
        return null;
    }

    @Override
    public Void visitMethod(MethodTree tree, Void nothing) {
        if (tree.getBody() == null || program.end(tree) < 0) {
            visitOther(tree);
            return null;
        }
        ExecutableElement method = (ExecutableElement) program.element(tree);
        inUnit(new Unit(program.units.size(), getCurrentPath(), method, (ExecutableType) method.asType(), enclosing, null, around),
            () -> super.visitMethod(tree, nothing));
        return null;
    }

    /** Visits a method without a body, or a constructor made by the compiler, which calls that of the superclass. */
    private void visitOther(MethodTree tree) {
        if (tree.getBody() == null) {
            program.abstractMethods.add(tree);
        } else if (tree.getName().contentEquals("<init>")) {
            super.visitMethod(tree, null);
        }
    }

    @Override
    public Void visitLambdaExpression(LambdaExpressionTree tree, Void nothing) {
        if (program.isNestedType(program.type(tree))) {
            visitNested(tree);
            return null;
        }
        if (!isInOrdinaryLambda && !program.blocks.containsKey(tree) && program.type(tree).getKind() == TypeKind.DECLARED) {
            DeclaredType type = (DeclaredType) program.type(tree);
            ExecutableElement method = functionalMethod(type);
            if (program.trees.getTree(method) != null || CaptureGraph.isMarked(method)) {
                inUnit(new Unit(program.units.size(), getCurrentPath(), method,
                    (ExecutableType) program.types.asMemberOf(type, method), enclosing, null, around), () -> super.visitLambdaExpression(tree, nothing));
                return null;
            }
        }
        boolean was = isInOrdinaryLambda;
        isInOrdinaryLambda |= !program.blocks.containsKey(tree);
        super.visitLambdaExpression(tree, nothing);
        isInOrdinaryLambda = was;
        return null;
    }

    private void visitNested(LambdaExpressionTree tree) {
        if (unit == null || isInOrdinaryLambda) {
            program.refuse(tree, "a nested function must be directly in a method or in another nested function: create it "
                + "there, not in " + (isInOrdinaryLambda ? "an ordinary lambda" : "an initializer"));
            return;
        }
        DeclaredType type = (DeclaredType) program.type(tree);
        ExecutableElement method = functionalMethod(type);
        TypeElement foreign = foreign(method, type, type);
        if (foreign != null) {
            program.refuse(tree, "the method " + method.getSimpleName() + " of this nested function is also declared by "
                + foreign + ", which does not extend sukima.closures.Nested, so untranslated code may call it: give the "
                + "lambda the type of an interface that declares its own method");
        }
        Unit nested = new Unit(program.units.size(), getCurrentPath(), method,
            (ExecutableType) program.types.asMemberOf(type, method), enclosing, unit, around);
        unit.nested.add(nested);
        inUnit(nested, () -> super.visitLambdaExpression(tree, null));
    }

    private ExecutableElement functionalMethod(DeclaredType type) {
        return program.elements.getAllMembers((TypeElement) type.asElement()).stream()
            .filter(member -> member.getKind() == ElementKind.METHOD && member.getModifiers().contains(Modifier.ABSTRACT))
            .map(member -> (ExecutableElement) member)
            .filter(member -> !overridesObject(member))
            .findFirst().orElseThrow();
    }

    /** Returns a type that also declares the method but is not a type of nested functions; null if there is none. */
    private TypeElement foreign(ExecutableElement method, DeclaredType lambda, DeclaredType type) {
        TypeElement element = (TypeElement) type.asElement();
        boolean declares = element.getEnclosedElements().stream()
            .anyMatch(of -> of instanceof ExecutableElement other && program.isImplementedWith(method, other, lambda));
        if (declares && !program.isNestedType(type)) {
            return element;
        }
        return program.types.directSupertypes(type).stream().map(above -> foreign(method, lambda, (DeclaredType) above))
            .filter(Objects::nonNull).findFirst().orElse(null);
    }

    private boolean overridesObject(ExecutableElement method) {
        TypeElement object = program.elements.getTypeElement("java.lang.Object");
        return object.getEnclosedElements().stream().anyMatch(of -> of instanceof ExecutableElement
            && program.elements.overrides(method, (ExecutableElement) of, (TypeElement) method.getEnclosingElement()));
    }

    private void inUnit(Unit entered, Runnable scan) {
        Unit outer = unit;
        Unit outerAround = around;
        unit = entered;
        around = entered;
        entered.isInLocalClass = isInLocalClass;
        program.units.add(entered);
        program.unitOf.put(entered.tree(), entered);
        scan.run();
        unit = outer;
        around = outerAround;
    }

    @Override
    public Void visitVariable(VariableTree tree, Void nothing) {
        Element element = program.element(tree);
        boolean isLocal = element != null && !element.getKind().isField();
        if (unit != null && isLocal && !isInOrdinaryLambda) {
            program.variables.put(element, program.newVariable(unit, tree, false));
        }
        return super.visitVariable(tree, nothing);
    }

    @Override
    public Void visitIdentifier(IdentifierTree tree, Void nothing) {
        Variable variable = program.variable(tree);
        if (variable != null) {
            variable.uses.add(tree);
            variable.isUsedInNested |= unit != variable.unit;
            if (isInOrdinaryLambda || unit == null || unit.root() != variable.unit.root()) {
                variable.ordinaryUse = tree;
            }
            copyToLambdas(variable, tree);
        }
        return super.visitIdentifier(tree, nothing);
    }

    /** Adds a copy of the variable to each ordinary lambda between the variable and its use. */
    private void copyToLambdas(Variable variable, Tree use) {
        for (Unit at = around.root(); at != variable.unit.root(); at = at.around.root()) {
            if (at.isLambda() && !at.captured.containsKey(variable)) {
                at.captured.put(variable, program.newVariable(at, variable.tree, true));
            }
            if (at.isLambda() && around.isNested()) {
                at.usesInNested.put(use, variable);
            }
        }
    }

    private void assigned(ExpressionTree target) {
        ExpressionTree plain = target;
        while (plain instanceof ParenthesizedTree) {
            plain = ((ParenthesizedTree) plain).getExpression();
        }
        if (plain instanceof IdentifierTree && program.paths.containsKey(plain)) {
            Variable variable = program.variable(plain);
            if (variable != null) {
                variable.isAssigned = true;
            }
        }
    }

    @Override
    public Void visitAssignment(AssignmentTree tree, Void nothing) {
        super.visitAssignment(tree, nothing);
        assigned(tree.getVariable());
        return null;
    }

    @Override
    public Void visitCompoundAssignment(CompoundAssignmentTree tree, Void nothing) {
        super.visitCompoundAssignment(tree, nothing);
        assigned(tree.getVariable());
        return null;
    }

    @Override
    public Void visitUnary(UnaryTree tree, Void nothing) {
        super.visitUnary(tree, nothing);
        switch (tree.getKind()) {
            case PREFIX_INCREMENT, PREFIX_DECREMENT, POSTFIX_INCREMENT, POSTFIX_DECREMENT -> assigned(tree.getExpression());
            default -> { }
        }
        return null;
    }

    @Override
    public Void visitMethodInvocation(MethodInvocationTree tree, Void nothing) {
        if (program.element(tree) instanceof ExecutableElement callee) {
            calls.add(new Call(tree, unit, isInOrdinaryLambda, callee));
            Map<Tree, String> wrong = new IdentityHashMap<>();
            addConstruct(tree, callee, wrong);
            super.visitMethodInvocation(tree, nothing);
            wrong.forEach(program::refuse); // their places are known only now
            return null;
        }
        return super.visitMethodInvocation(tree, nothing);
    }

    @Override
    public Void visitNewClass(NewClassTree tree, Void nothing) {
        if (program.element(tree) instanceof ExecutableElement callee) {
            calls.add(new Call(tree, unit, isInOrdinaryLambda, callee));
        }
        return super.visitNewClass(tree, nothing);
    }

    private void addConstruct(MethodInvocationTree tree, ExecutableElement callee, Map<Tree, String> wrong) {
        Construct construct = unit == null || isInOrdinaryLambda ? null : Construct.of(unit, tree, callee, wrong);
        if (construct != null) {
            program.constructs.put(tree, construct);
            construct.blocks().forEach(block -> program.blocks.put(block, construct));
        }
    }

    @Override
    public Void visitMemberReference(MemberReferenceTree tree, Void nothing) {
        references.add(tree);
        return super.visitMemberReference(tree, nothing);
    }
}
