// SPDX-License-Identifier: Apache-2.0
package sukima.translator;

import com.sun.source.tree.LambdaExpressionTree;
import com.sun.source.tree.MethodInvocationTree;
import com.sun.source.tree.MethodTree;
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
import javax.lang.model.element.ExecutableElement;
import javax.lang.model.element.TypeElement;
import javax.lang.model.type.ExecutableType;
import javax.lang.model.type.TypeKind;
import javax.lang.model.type.TypeMirror;

/** A piece of the program with a frame of its own: a method, or a nested function. */
final class Unit {
    final int number;
    final TreePath path;
    final ExecutableElement method;
    /** The method's type; that of a nested function as a member of the lambda's type. */
    final ExecutableType signature;
    /** The class that contains it. */
    final TypeElement enclosing;
    /** The unit that a nested function belongs to, null for a method. */
    final Unit outer;
    final List<Unit> nested = new ArrayList<>();
    final List<Variable> variables = new ArrayList<>();
    final List<Construct> constructs = new ArrayList<>();
    /** A use of an ordinary lambda's or class's kind that hides the unit from its class. */
    boolean isInLocalClass;
    boolean mayBeCaptured;
    /** Trees that contain a call that may capture, nested functions and classes not counted. */
    final Set<Tree> hot = Collections.newSetFromMap(new IdentityHashMap<>());
    /** Trees that contain such a call or a nested function. */
    final Set<Tree> flat = Collections.newSetFromMap(new IdentityHashMap<>());
    /**
     * Loops with variables of their iterations that nested functions use, and the temporaries that count the iterations.
     */
    final Map<Tree, String> turns = new LinkedHashMap<>();
    /** The loop of the outer unit in whose current iteration a nested function must be called, null if there is none. */
    Tree loop;
    /** Names and types of the temporaries, in the order of their creation. */
    final Map<String, String> temporaries = new LinkedHashMap<>();
    private final Map<Tree, Map<String, String>> temporaryOf = new IdentityHashMap<>();
    final Map<MethodInvocationTree, Integer> stateOf = new IdentityHashMap<>();
    /** The fields with values that the unit still needs, by the states of its calls. */
    final Map<Integer, Set<String>> liveIn = new TreeMap<>();
    private int states = 1;

    Unit(int number, TreePath path, ExecutableElement method, ExecutableType signature, TypeElement enclosing, Unit outer) {
        this.number = number;
        this.path = path;
        this.method = method;
        this.signature = signature;
        this.enclosing = enclosing;
        this.outer = outer;
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

    /** The method that contains the unit, or the unit itself. */
    Unit root() {
        return outer == null ? this : outer.root();
    }

    Tree body() {
        return isNested() ? ((LambdaExpressionTree) tree()).getBody() : ((MethodTree) tree()).getBody();
    }

    List<? extends VariableTree> parameters() {
        return isNested() ? ((LambdaExpressionTree) tree()).getParameters() : ((MethodTree) tree()).getParameters();
    }

    TypeMirror result() {
        return signature.getReturnType();
    }

    boolean isVoid() {
        return result().getKind() == TypeKind.VOID;
    }

    /** The name that messages and frames show. */
    String title() {
        return (enclosing.getSimpleName().contentEquals("") ? "(anonymous class)" : enclosing.getSimpleName()) + "." + root().method.getSimpleName() + (isNested() ? " (nested function)" : "");
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

    /** The name of the method in the frame of its owner that a nested function becomes. */
    String bodyMethod() {
        return "nested$" + number;
    }

    String temporary(Tree tree, String role, String type) {
        return temporaryOf.computeIfAbsent(tree, key -> new HashMap<>()).computeIfAbsent(role, key -> {
            String name = "t$" + number + "_" + temporaries.size();
            temporaries.put(name, type);
            return name;
        });
    }

    int state(MethodInvocationTree call) {
        return stateOf.computeIfAbsent(call, key -> newState());
    }

    int newState() {
        return states++;
    }
}
