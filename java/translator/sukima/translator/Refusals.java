// SPDX-License-Identifier: Apache-2.0
package sukima.translator;

import com.sun.source.tree.BindingPatternTree;
import com.sun.source.tree.CaseTree;
import com.sun.source.tree.ClassTree;
import com.sun.source.tree.ExpressionStatementTree;
import com.sun.source.tree.ExpressionTree;
import com.sun.source.tree.LambdaExpressionTree;
import com.sun.source.tree.MemberSelectTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.StatementTree;
import com.sun.source.tree.Tree;
import com.sun.source.tree.VariableTree;
import com.sun.source.util.TreePath;
import com.sun.source.util.TreeScanner;
import com.sun.tools.javac.tree.JCTree;
import java.util.List;
import javax.lang.model.element.Element;
import javax.lang.model.element.ElementKind;
import javax.lang.model.element.ExecutableElement;

/** Refuses constructs that are not translated yet, and suggests what to write instead. */
final class Refusals {
    private final Program program;
    private final Unit unit;

    private Refusals(Program program, Unit unit) {
        this.program = program;
        this.unit = unit;
    }

    static void check(Program program) {
        for (Unit unit : program.units) {
            Refusals own = new Refusals(program, unit);
            if (unit.isTranslated()) {
                own.check();
            }
            if (unit.isTranslated() || unit.isNested()) {
                unit.body().accept(own.new CallsOfInterface(), null);
            }
        }
    }

    private void check() {
        checkPlace();
        for (Variable variable : unit.variables) {
            check(variable);
        }
        unit.constructs.forEach(this::check);
        unit.usesInNested.forEach((use, variable) -> {
            if (variable.isAssigned) {
                program.refuse(use, variable.name + " changes, so the ordinary lambda around this nested function cannot use it: make the "
                    + "lambda a nested function, too, or copy the value to a variable that never changes");
            }
        });
        unit.body().accept(new Statements(), null);
    }

    private void checkPlace() {
        if (unit.isNested()) {
            return;
        }
        String problem = unit.isOwner() ? unit.title() + " contains a nested function" : unit.title() + " can be captured";
        problem = problem.replace("<init>", "constructor");
        if (unit.isConstructor()) {
            checkConstructor();
        }
        if (unit.isInLocalClass) {
            program.refuse(unit.tree(), problem + ", which is not supported in local and anonymous classes: make the class a member class");
        } else if (unit.enclosing.getKind().isInterface()) {
            program.refuse(unit.tree(), problem + ", which is not supported in interfaces: move the body to a method of a class");
        }
    }

    private void checkConstructor() {
        MethodTree tree = (MethodTree) unit.tree();
        List<? extends StatementTree> statements = tree.getBody().getStatements();
        boolean callsOther = !statements.isEmpty() && Constructors.isCallOfOther(statements.get(0), tree);
        if (callsOther && unit.rewritten.contains(statements.get(0))) {
            program.refuse(statements.get(0), "a call that can be captured, or a nested function, is in the call of another constructor. "
                + "Java allows no handler there: compute the value before the constructor is called, and pass it as a parameter");
        }
        boolean callsThis = callsOther && program.element(((ExpressionStatementTree) statements.get(0)).getExpression()) instanceof ExecutableElement other
            && other.getEnclosingElement() == unit.enclosing;
        if (unit.enclosing.getKind() == ElementKind.RECORD && !callsThis) {
            program.refuse(unit.tree(), "the constructor of a record assigns all its final fields at once, so it cannot continue after a capture: "
                + "make the call in a static method that creates the record");
        }
    }

    private void check(Variable variable) {
        if (variable.name.indexOf('$') >= 0) {
            program.refuse(variable.tree, "a variable of a translated method must not have a $ in its name: rename "
                + variable.name);
        }
        if (variable.name.equals("sukima") || variable.name.equals("java") && unit.isConstructor()) {
            program.refuse(variable.tree, "a variable with this name hides the package " + variable.name + ", whose classes the "
                + "translation uses: rename it");
        }
        boolean hasNoValue = variable.tree.getInitializer() == null && program.parent(variable.tree) instanceof StatementTree
            && !isLoopVariable(variable) && Hoisting.scope(program, variable) != unit.tree();
        if (variable.ordinaryUse != null && hasNoValue && Hoisting.isHoisted(program, variable)) {
            program.refuse(variable.tree, variable.name + " is used in a lambda or class, but has no initial value: initialize it "
                + "where it is declared");
        }
        if (program.parent(variable.tree) instanceof BindingPatternTree) {
            checkBinding(variable);
        }
        Tree scope = Hoisting.scope(program, variable);
        boolean isOfSwitch = scope.getKind() == Tree.Kind.SWITCH || scope.getKind() == Tree.Kind.SWITCH_EXPRESSION;
        if (isOfSwitch && program.parent(variable.tree).getKind() == Tree.Kind.CASE && unit.rewritten.contains(scope)
            && variable.uses.stream().anyMatch(use -> !program.isBelow(use, program.parent(variable.tree)))) {
            program.refuse(variable.tree, variable.name + " is declared under one case label and used under another: declare it before "
                + "the switch");
        }
    }

    private void check(Construct construct) {
        for (LambdaExpressionTree block : construct.blocks()) {
            if (!construct.isBody(block) && unit.rewritten.contains(block.getBody())) {
                program.refuse(block, "this block of " + construct.name + " contains a construct, a nested function or a call that can be "
                    + "captured, which is not supported: move it to " + (construct.isWind() ? "the second block" : "the block that computes, or to the task"));
            }
        }
    }

    /**
     * Returns whether there is a label that is neither a constant nor just `default`. Java 17 has no public interface for
     * these.
     */
    private static boolean hasPatterns(CaseTree group) {
        int constants = group.getExpressions().size();
        List<?> labels = ((JCTree.JCCase) group).labels;
        boolean isDefault = labels.size() == 1 && ((Tree) labels.get(0)).getKind().name().equals("DEFAULT_CASE_LABEL");
        return constants == 0 ? !isDefault : constants != labels.size();
    }

    private boolean isLoopVariable(Variable variable) {
        return program.parent(variable.tree).getKind() == Tree.Kind.ENHANCED_FOR_LOOP;
    }

    /** Checks that all uses of a pattern's variable are in the code that is copied with the pattern. */
    private void checkBinding(Variable variable) {
        Tree copied = unit.body() instanceof ExpressionTree ? copiedPart(variable) : statementOf(variable);
        if (unit.rewritten.contains(copied) || variable.uses.stream().anyMatch(use -> !program.isBelow(use, copied))) {
            program.refuse(variable.tree, "a pattern variable cannot be kept while a call is captured: test with instanceof, and "
                + "assign a cast to a variable");
        }
    }

    private Tree statementOf(Variable variable) {
        TreePath path = program.paths.get(variable.tree);
        while (!(path.getLeaf() instanceof StatementTree) || path.getLeaf() instanceof VariableTree
            && path.getParentPath().getLeaf() instanceof BindingPatternTree) {
            path = path.getParentPath();
        }
        return path.getLeaf();
    }

    /** Returns the largest part of the unit's expression that contains the pattern and is copied as a whole. */
    private Tree copiedPart(Variable variable) {
        TreePath path = program.paths.get(variable.tree);
        while (path.getLeaf() != unit.body() && !unit.rewritten.contains(path.getParentPath().getLeaf())) {
            path = path.getParentPath();
        }
        return path.getLeaf();
    }

    /** Refuses a statement that no writer can write. */
    static void statement(Program program, Tree tree) {
        String hint = switch (tree.getKind()) {
            case ASSERT -> "a call that can be captured, or a switch with a nested function, is in an assertion, which is not supported: "
                + "assign its result to a variable first";
            default -> "a call that can be captured, or a nested function, is in a statement that sukima-javac does not translate: "
                + "write it with if, while, for, do, switch or try";
        };
        program.refuse(tree, hint);
    }

    /** Refuses an expression that contains a call and cannot be translated. */
    static void expression(Program program, Tree tree) {
        program.refuse(tree, "a call that can be captured is inside this expression, which sukima-javac does not translate: assign the "
            + "call's result to a variable first");
    }

    private final class Statements extends TreeScanner<Void, Void> {
        @Override
        public Void scan(Tree tree, Void nothing) {
            if (tree == null || program.unitOf.containsKey(tree)) {
                return null; // checked as a unit of its own
            }
            if (tree.getKind() == Tree.Kind.ASSERT && unit.capturing.contains(tree)) {
                statement(program, tree);
            } else if (tree instanceof CaseTree group && unit.rewritten.contains(program.parent(group)) && hasPatterns(group)) {
                program.refuse(tree, "a call that can be captured, or a nested function, is in a switch with patterns, which is not "
                    + "supported: use if with instanceof and casts");
            }
            return super.scan(tree, nothing);
        }

        @Override
        public Void visitClass(ClassTree tree, Void nothing) {
            if (!tree.getSimpleName().contentEquals("")) {
                program.refuse(tree, "the class " + tree.getSimpleName() + " is in a translated method, which is not supported: "
                    + "make it a member class");
            }
            return null;
        }

        @Override
        public Void visitMethod(MethodTree tree, Void nothing) {
            return null;
        }
    }

    /** Refuses calls such as `Shape.super.area()`, which Java permits only in the class itself, not in a frame. */
    private final class CallsOfInterface extends TreeScanner<Void, Void> {
        @Override
        public Void scan(Tree tree, Void nothing) {
            return program.unitOf.containsKey(tree) ? null : super.scan(tree, nothing);
        }

        @Override
        public Void visitMemberSelect(MemberSelectTree tree, Void nothing) {
            Element type = program.element(tree.getExpression());
            if (tree.getIdentifier().contentEquals("super") && type != null && type.getKind().isInterface()) {
                program.refuse(tree, "a method of the interface " + type.getSimpleName() + " is called by super in a translated method, which is "
                    + "not supported: move the call to a method of its own");
            }
            return super.visitMemberSelect(tree, nothing);
        }

        @Override
        public Void visitClass(ClassTree tree, Void nothing) {
            return null;
        }
    }
}
