// SPDX-License-Identifier: Apache-2.0
package sukima.translator;

import com.sun.source.tree.ExpressionTree;
import com.sun.source.tree.LambdaExpressionTree;
import com.sun.source.tree.MemberSelectTree;
import com.sun.source.tree.MethodInvocationTree;
import com.sun.source.tree.ReturnTree;
import com.sun.source.tree.Tree;
import com.sun.source.util.TreePath;
import java.util.List;
import java.util.Map;
import javax.lang.model.element.ExecutableElement;
import javax.lang.model.element.TypeElement;

/** A call of doTwo, doMany or dynamicWind. Its blocks are statements of the unit that contains the call. */
final class Construct {
    /** The number of arguments of each construct before its blocks. */
    private static final Map<String, Integer> FIRST_BLOCK = Map.of("doTwo", 0, "doMany", 2, "dynamicWind", 0);

    final MethodInvocationTree call;
    final String name;
    /** The construct's number in its unit. */
    final int place;

    private Construct(MethodInvocationTree call, String name, int place) {
        this.call = call;
        this.name = name;
        this.place = place;
    }

    /** Returns the construct that the unit calls there; null if it is an ordinary call, or if an argument is wrong. */
    static Construct of(Unit unit, MethodInvocationTree call, ExecutableElement callee, Map<Tree, String> argumentsToRefuse) {
        String name = callee.getSimpleName().toString();
        boolean isOfWorker = ((TypeElement) callee.getEnclosingElement()).getQualifiedName().contentEquals("sukima.tascell.Worker");
        if (!isOfWorker || !FIRST_BLOCK.containsKey(name)) {
            return null;
        }
        for (ExpressionTree argument : call.getArguments().subList(FIRST_BLOCK.get(name), call.getArguments().size())) {
            if (!(argument instanceof LambdaExpressionTree)) {
                argumentsToRefuse.put(argument, "a block of " + name + " must be a lambda: write () -> { ... } here");
                return null;
            }
        }
        Construct found = new Construct(call, name, unit.constructs.size());
        unit.constructs.add(found);
        return found;
    }

    ExpressionTree worker() {
        return ((MemberSelectTree) call.getMethodSelect()).getExpression();
    }

    ExpressionTree argument(int index) {
        return call.getArguments().get(index);
    }

    /** Returns the blocks in the order of the call. */
    List<LambdaExpressionTree> blocks() {
        return call.getArguments().stream().filter(LambdaExpressionTree.class::isInstance).map(LambdaExpressionTree.class::cast).toList();
    }

    LambdaExpressionTree block(int index) {
        return blocks().get(index);
    }

    boolean isWind() {
        return name.equals("dynamicWind");
    }

    boolean isLoop() {
        return name.equals("doMany");
    }

    LambdaExpressionTree put() {
        return block(isLoop() ? 1 : 2);
    }

    LambdaExpressionTree get() {
        return block(isLoop() ? 2 : 3);
    }

    /** Returns whether the block may contain constructs and calls that can be captured. */
    boolean isBody(LambdaExpressionTree block) {
        return isWind() ? block == block(1) : block != put() && block != get();
    }

    /** Returns the block that a return ends; null if the return leaves the method or a nested function. */
    static Tree blockOf(Program program, ReturnTree tree) {
        for (TreePath path = program.paths.get(tree); path != null; path = path.getParentPath()) {
            if (path.getLeaf() instanceof LambdaExpressionTree lambda) {
                return program.blocks.containsKey(lambda) ? lambda : null;
            }
        }
        return null;
    }
}
