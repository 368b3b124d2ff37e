// SPDX-License-Identifier: Apache-2.0
package sukima.translator;

import com.sun.source.tree.BlockTree;
import com.sun.source.tree.ClassTree;
import com.sun.source.tree.LambdaExpressionTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.StatementTree;
import com.sun.source.tree.Tree;
import com.sun.source.tree.VariableTree;
import com.sun.source.util.TreePath;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import javax.lang.model.element.ElementKind;
import javax.lang.model.element.ExecutableElement;
import javax.lang.model.element.Modifier;
import javax.lang.model.element.TypeElement;
import javax.lang.model.type.ExecutableType;
import javax.lang.model.type.TypeKind;
import javax.lang.model.type.TypeMirror;

/** A piece of the program with a frame of its own: a method, a nested function, or an ordinary lambda. */
final class Unit {
    final int number;
    final TreePath path;
    final ExecutableElement method;
    /** The method's type; for a nested function, its type as a member of the lambda's type. */
    final ExecutableType signature;
    /** The class that contains the unit. */
    final TypeElement enclosing;
    /** The unit to which a nested function belongs; null for methods and ordinary lambdas. */
    final Unit outer;
    /** The innermost surrounding unit in the source; null if there is none. */
    final Unit around;
    /** The variables of surrounding units that an ordinary lambda uses, and its own copies of them. */
    final Map<Variable, Variable> captured = new LinkedHashMap<>();
    /** Uses of these variables in nested functions. */
    final Map<Tree, Variable> usesInNested = new LinkedHashMap<>();
    final List<Unit> nested = new ArrayList<>();
    final List<Variable> variables = new ArrayList<>();
    final List<Construct> constructs = new ArrayList<>();
    /** Whether the unit is in an anonymous class, or in a class inside another unit or an ordinary lambda. */
    boolean isInLocalClass;
    boolean mayBeCaptured;
    /** Trees that contain a call that may capture. Nested functions and classes do not count. */
    final Set<Tree> capturing = Collections.newSetFromMap(new IdentityHashMap<>());
    /** Trees that contain such a call or a nested function, and so cannot be copied unchanged. */
    final Set<Tree> rewritten = Collections.newSetFromMap(new IdentityHashMap<>());
    /** Loops with variables of their iterations that nested functions use, and the temporaries that count the iterations. */
    final Map<Tree, String> turns = new LinkedHashMap<>();
    /** The loop of the outer unit in whose current iteration a nested function must be called; null if there is none. */
    Tree loop;
    /** Names and types of the temporaries, in the order of their creation. */
    final Map<String, String> temporaries = new LinkedHashMap<>();
    private final Map<Tree, Map<String, String>> temporaryOf = new IdentityHashMap<>();
    final Map<Tree, Integer> stateOf = new IdentityHashMap<>();
    /** The fields whose values the unit still needs, by the states of its calls. */
    final Map<Integer, Set<String>> liveIn = new TreeMap<>();
    /** The jumps that leave a statement after which code must run. Both forms give them the same numbers, from 1 on. */
    private final Map<Tree, List<JumpTargets.Jump>> exits = new IdentityHashMap<>();
    final FrameSaves saves = new FrameSaves(this);
    private int states = 1;

    Unit(int number, TreePath path, ExecutableElement method, ExecutableType signature, TypeElement enclosing, Unit outer, Unit around) {
        this.number = number;
        this.path = path;
        this.method = method;
        this.signature = signature;
        this.enclosing = enclosing;
        this.outer = outer;
        this.around = around;
    }

    Tree tree() {
        return path.getLeaf();
    }

    boolean isNested() {
        return outer != null;
    }

    boolean isOwner() {
        return !nested.isEmpty();
    }

    boolean isTranslated() {
        return mayBeCaptured || isOwner();
    }

    boolean isLambda() {
        return outer == null && tree() instanceof LambdaExpressionTree;
    }

    /** Returns the method or ordinary lambda that contains the unit, or the unit itself. */
    Unit root() {
        return outer == null ? this : outer.root();
    }

    Tree body() {
        return tree() instanceof LambdaExpressionTree lambda ? lambda.getBody() : ((MethodTree) tree()).getBody();
    }

    List<? extends VariableTree> parameters() {
        return tree() instanceof LambdaExpressionTree lambda ? lambda.getParameters() : ((MethodTree) tree()).getParameters();
    }

    /** Returns the unit's variable for the given one: a copy if the unit or an ordinary lambda around it has one. */
    Variable own(Variable variable) {
        for (Unit unit = this; unit != null; unit = unit.outer) {
            Variable copy = unit.captured.get(variable);
            if (copy != null) {
                return copy;
            }
        }
        return variable;
    }

    /** Returns the class that contains the unit. */
    ClassTree enclosingClass() {
        TreePath at = path.getParentPath();
        while (!(at.getLeaf() instanceof ClassTree)) {
            at = at.getParentPath();
        }
        return (ClassTree) at.getLeaf();
    }

    /** Returns the method of the class that contains the unit, or that is the unit; null in an initializer. */
    MethodTree enclosingMethod() {
        TreePath at = path;
        while (!(at.getLeaf() instanceof MethodTree || at.getLeaf() instanceof ClassTree)) {
            at = at.getParentPath();
        }
        return at.getLeaf() instanceof MethodTree found ? found : null;
    }

    /** Returns whether there is no `this`. */
    boolean isStatic() {
        Tree below = tree();
        for (TreePath at = path; !(at.getLeaf() instanceof ClassTree); at = at.getParentPath()) {
            Tree tree = at.getLeaf();
            boolean isMember = at.getParentPath().getLeaf() instanceof ClassTree;
            if (tree instanceof MethodTree found) {
                return found.getModifiers().getFlags().contains(Modifier.STATIC) || Constructors.isCallOfOther(below, found);
            }
            if (isMember) {
                return tree instanceof BlockTree block ? block.isStatic()
                    : ((VariableTree) tree).getModifiers().getFlags().contains(Modifier.STATIC);
            }
            below = tree instanceof StatementTree && at.getParentPath().getLeaf() instanceof BlockTree ? tree : below;
        }
        return false;
    }

    boolean isConstructor() {
        return method.getKind() == ElementKind.CONSTRUCTOR;
    }

    TypeMirror result() {
        return signature.getReturnType();
    }

    boolean isVoid() {
        return result().getKind() == TypeKind.VOID;
    }

    /** Returns the name that messages and frames show. */
    String title() {
        String type = enclosing.getSimpleName().contentEquals("") ? "(anonymous class)" : enclosing.getSimpleName().toString();
        return type + (root().isLambda() ? " (lambda)." : ".") + root().method.getSimpleName() + (isNested() ? " (nested function)" : "");
    }

    String frameClass() {
        return "Frame$" + number;
    }

    String owner() {
        return "owner$" + number;
    }

    String isCapturedFlag() {
        return "isCaptured$" + number;
    }

    /** Returns the name of the method in the owner's frame that a nested function becomes. */
    String bodyMethod() {
        return "nested$" + number;
    }

    /** Returns the name of the method that an ordinary lambda becomes. */
    String lambdaMethod() {
        return "lambda$" + number;
    }

    String temporary(Tree tree, String role, String type) {
        return temporaryOf.computeIfAbsent(tree, key -> new HashMap<>()).computeIfAbsent(role, key -> {
            String name = "t$" + number + "_" + temporaries.size();
            temporaries.put(name, type);
            return name;
        });
    }

    int exit(Tree left, JumpTargets.Jump jump) {
        List<JumpTargets.Jump> all = exits.computeIfAbsent(left, key -> new ArrayList<>());
        if (!all.contains(jump)) {
            all.add(jump);
        }
        return all.indexOf(jump) + 1;
    }

    int state(Tree call) {
        return stateOf.computeIfAbsent(call, key -> newState());
    }

    int newState() {
        return states++;
    }
}
