// SPDX-License-Identifier: Apache-2.0
package sukima.translator;

import com.sun.source.tree.BindingPatternTree;
import com.sun.source.tree.ClassTree;
import com.sun.source.tree.LambdaExpressionTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.StatementTree;
import com.sun.source.tree.Tree;
import com.sun.source.tree.TryTree;
import com.sun.source.tree.VariableTree;
import com.sun.source.util.TreePath;
import com.sun.source.util.TreeScanner;
import javax.lang.model.element.ElementKind;
import javax.lang.model.element.Modifier;

/** Refuses what is not translated yet, with what to write instead. */
final class Refusals {
    /** A capture would leave the monitor, and so let other threads in before the method goes on. */
    private static final String USE_LOCK = ": use a java.util.concurrent.locks.ReentrantLock, with lock() before a try and unlock() in its "
        + "finally block; it stays locked when the call is captured";

    private final Program program;
    private final Unit unit;

    private Refusals(Program program, Unit unit) {
        this.program = program;
        this.unit = unit;
    }

    static void check(Program program) {
        for (Unit unit : program.units) {
            if (unit.isTranslated()) {
                new Refusals(program, unit).check();
            }
        }
    }

    private void check() {
        checkPlace();
        for (Variable variable : unit.variables) {
            check(variable);
        }
        unit.constructs.forEach(this::check);
        unit.body().accept(new Statements(), null);
    }

    private void checkPlace() {
        if (unit.isNested()) {
            return;
        }
        String problem = unit.isOwner() ? unit.title() + " contains a nested function" : unit.title() + " can be captured";
        if (unit.method.getKind() == ElementKind.CONSTRUCTOR) {
            program.refuse(unit.tree(), problem.replace("<init>", "constructor") + ", which is not supported in constructors: move the "
                + "statements to a method, and call that after the constructor");
        } else if (unit.isInLocalClass) {
            program.refuse(unit.tree(), problem + ", which is not supported in local and anonymous classes: make the class a member class");
        } else if (unit.enclosing.getKind().isInterface()) {
            program.refuse(unit.tree(), problem + ", which is not supported in interfaces: move the body to a method of a class");
        } else if (unit.method.getModifiers().contains(Modifier.SYNCHRONIZED) && unit.mayBeCaptured) {
            program.refuse(unit.tree(), problem + ", which is not supported in synchronized methods" + USE_LOCK);
        }
    }

    private void check(Variable variable) {
        if (variable.name.indexOf('$') >= 0) {
            program.refuse(variable.tree, "variables of methods that are translated must not have a $ in their names: rename "
                + variable.name);
        }
        boolean hasNoValue = variable.tree.getInitializer() == null && program.parent(variable.tree) instanceof StatementTree
            && !isLoopVariable(variable) && Hoisting.scope(program, variable) != unit.tree();
        if (variable.ordinaryUse != null && hasNoValue && Hoisting.isHoisted(program, variable)) {
            program.refuse(variable.tree, variable.name + " is used in a lambda or class, but has no initial value: give it its value "
                + "where it is declared");
        }
        if (program.parent(variable.tree) instanceof BindingPatternTree) {
            checkBinding(variable);
        }
        Tree scope = Hoisting.scope(program, variable);
        if (scope.getKind() == Tree.Kind.SWITCH && program.parent(variable.tree).getKind() == Tree.Kind.CASE && unit.flat.contains(scope)
            && variable.uses.stream().anyMatch(use -> !program.isBelow(use, program.parent(variable.tree)))) {
            program.refuse(variable.tree, variable.name + " is used behind another case label than it is declared: declare it before the "
                + "switch");
        }
    }

    private void check(Construct construct) {
        for (LambdaExpressionTree block : construct.blocks()) {
            if (!construct.isBody(block) && unit.flat.contains(block.getBody())) {
                program.refuse(block, "this block of " + construct.name + " contains a construct, a nested function or a call that can be "
                    + "captured, which is not supported: move it to " + (construct.isWind() ? "the second block" : "the block that computes, or to the task"));
            }
        }
    }

    private boolean isLoopVariable(Variable variable) {
        return program.parent(variable.tree).getKind() == Tree.Kind.ENHANCED_FOR_LOOP;
    }

    /** A pattern's variable must stay inside a statement that is copied. */
    private void checkBinding(Variable variable) {
        TreePath path = program.paths.get(variable.tree);
        while (!(path.getLeaf() instanceof StatementTree) || path.getLeaf() instanceof VariableTree
            && path.getParentPath().getLeaf() instanceof BindingPatternTree) {
            path = path.getParentPath();
        }
        Tree statement = path.getLeaf();
        if (unit.flat.contains(statement) || variable.uses.stream().anyMatch(use -> !program.isBelow(use, statement))) {
            program.refuse(variable.tree, "the variable of a pattern cannot be kept while a call is captured: test with instanceof, and "
                + "assign a cast to a variable");
        }
    }

    /** Refuses a statement that no writer knows. */
    static void statement(Program program, Tree tree) {
        String hint = switch (tree.getKind()) {
            case SYNCHRONIZED -> "a call that can be captured, or a nested function, is in a synchronized block, which is not supported"
                + USE_LOCK;
            case ASSERT -> "a call that can be captured is in an assertion, which is not supported: assign its result to a variable before";
            default -> "a call that can be captured, or a nested function, is in a statement that sukima-javac does not translate: "
                + "write it with if, while, for, do, switch or try";
        };
        program.refuse(tree, hint);
    }

    /** Refuses an expression around a call. */
    static void expression(Program program, Tree tree) {
        program.refuse(tree, "a call that can be captured is inside this expression, which sukima-javac does not translate: assign the "
            + "call's result to a variable before");
    }

    private final class Statements extends TreeScanner<Void, Void> {
        @Override
        public Void scan(Tree tree, Void nothing) {
            if (tree == null || program.unitOf.containsKey(tree)) {
                return null; // checked as a unit of its own
            }
            boolean isRefused = tree.getKind() == Tree.Kind.SYNCHRONIZED && unit.flat.contains(tree)
                || tree.getKind() == Tree.Kind.ASSERT && unit.hot.contains(tree);
            if (isRefused) {
                statement(program, tree);
            } else if (tree.getKind() == Tree.Kind.SWITCH_EXPRESSION && unit.hot.contains(tree)) {
                expression(program, tree);
            }
            return super.scan(tree, nothing);
        }

        @Override
        public Void visitClass(ClassTree tree, Void nothing) {
            if (!tree.getSimpleName().contentEquals("")) {
                program.refuse(tree, "the class " + tree.getSimpleName() + " is in a method that is translated, which is not supported: "
                    + "make it a member class");
            }
            return null;
        }

        @Override
        public Void visitMethod(MethodTree tree, Void nothing) {
            return null;
        }

        @Override
        public Void visitTry(TryTree tree, Void nothing) {
            if (tree.getFinallyBlock() != null && unit.hot.contains(tree.getFinallyBlock())) {
                program.refuse(tree.getFinallyBlock(), "a call that can be captured is in a finally block, which is not supported: catch "
                    + "the exception, make the call, and throw the exception again");
            }
            if (!tree.getResources().isEmpty() && unit.flat.contains(tree)) {
                program.refuse(tree, "a call that can be captured, or a nested function, is in a try with resources, which is not "
                    + "supported: close the resource in a finally block");
            }
            return super.visitTry(tree, nothing);
        }
    }
}
