// SPDX-License-Identifier: Apache-2.0
package sukima.translator;

import com.sun.source.tree.ClassTree;
import com.sun.source.tree.LambdaExpressionTree;
import com.sun.source.tree.Tree;
import com.sun.source.util.TreePath;
import com.sun.source.util.TreeScanner;
import java.util.List;
import javax.tools.Diagnostic;
import javax.tools.JavaFileObject;

/** Errors that javac reports about the extended source, without those that nested functions allow. */
final class FirstErrors {
    static final String CAPTURE = "compiler.err.cant.ref.non.effectively.final.var";

    private final Program program;

    FirstErrors(Program program) {
        this.program = program;
    }

    List<Diagnostic<? extends JavaFileObject>> remaining(List<Diagnostic<? extends JavaFileObject>> all) {
        return all.stream().filter(each -> !isOfNestedFunction(each)).toList();
    }

    /** Whether the innermost lambda or class around the use is a nested function, which may use any variable. */
    private boolean isOfNestedFunction(Diagnostic<? extends JavaFileObject> diagnostic) {
        if (!diagnostic.getCode().equals(CAPTURE)) {
            return false;
        }
        Tree[] innermost = {null};
        for (Unit unit : program.units) {
            if (unit.isNested() && program.file(unit.tree()).getSourceFile().toUri().equals(diagnostic.getSource().toUri())
                && contains(unit.tree(), diagnostic.getPosition()) && isDeeper(unit.path, innermost[0])) {
                innermost[0] = unit.tree();
            }
        }
        return innermost[0] != null && !isInOrdinary((LambdaExpressionTree) innermost[0], diagnostic.getPosition());
    }

    private boolean contains(Tree tree, long position) {
        return program.start(tree) <= position && position < program.end(tree);
    }

    private static boolean isDeeper(TreePath path, Tree than) {
        for (TreePath above = path; than != null && above != null; above = above.getParentPath()) {
            if (above.getLeaf() == than) {
                return true;
            }
        }
        return than == null;
    }

    private boolean isInOrdinary(LambdaExpressionTree nested, long position) {
        boolean[] found = {false};
        nested.getBody().accept(new TreeScanner<Void, Void>() {
            @Override
            public Void visitLambdaExpression(LambdaExpressionTree tree, Void nothing) {
                found[0] |= contains(tree, position);
                return super.visitLambdaExpression(tree, nothing);
            }

            @Override
            public Void visitClass(ClassTree tree, Void nothing) {
                found[0] |= contains(tree, position);
                return super.visitClass(tree, nothing);
            }
        }, null);
        return found[0];
    }
}
