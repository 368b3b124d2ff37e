// SPDX-License-Identifier: Apache-2.0
package sukima.translator;

import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.LambdaExpressionTree;
import com.sun.source.tree.Tree;
import com.sun.source.util.TreeScanner;
import java.util.List;
import javax.tools.Diagnostic;
import javax.tools.JavaFileObject;

/** The errors that javac reports about the extended source, without those that nested functions permit. */
final class FirstErrors {
    static final String CAPTURE = "compiler.err.cant.ref.non.effectively.final.var";

    private final Program program;
    private final List<CompilationUnitTree> files;

    FirstErrors(Program program, List<CompilationUnitTree> files) {
        this.program = program;
        this.files = files;
    }

    List<Diagnostic<? extends JavaFileObject>> remaining(List<Diagnostic<? extends JavaFileObject>> all) {
        return all.stream().filter(each -> !isOfNestedFunction(each)).toList();
    }

    /**
     * Returns whether the innermost lambda or class around the use is a nested function. Blocks of constructs do not count.
     */
    private boolean isOfNestedFunction(Diagnostic<? extends JavaFileObject> diagnostic) {
        if (!diagnostic.getCode().equals(CAPTURE)) {
            return false;
        }
        Use use = new Use(diagnostic.getPosition());
        for (CompilationUnitTree file : files) {
            if (file.getSourceFile().toUri().equals(diagnostic.getSource().toUri())) {
                use.scan(file, null);
            }
        }
        Unit unit = use.innermost == null ? null : program.unitOf.get(use.innermost);
        return unit != null && unit.isNested() || use.isInBlock;
    }

    /** Finds the lambdas and classes around a position. */
    private final class Use extends TreeScanner<Void, Void> {
        private final long position;
        /** The innermost lambda or class that is not a block of a construct. */
        private Tree innermost;
        /** Whether the innermost lambda or class is a block of a construct. */
        private boolean isInBlock;

        Use(long position) {
            this.position = position;
        }

        private void enter(Tree tree) {
            if (program.start(tree) > position || position >= program.end(tree)) {
                return;
            }
            isInBlock = program.blocks.containsKey(tree);
            if (!isInBlock) {
                innermost = tree;
            }
        }

        @Override
        public Void visitLambdaExpression(LambdaExpressionTree tree, Void nothing) {
            enter(tree);
            return super.visitLambdaExpression(tree, nothing);
        }

        @Override
        public Void visitClass(ClassTree tree, Void nothing) {
            if (program.end(tree) >= 0) {
                enter(tree);
            }
            return super.visitClass(tree, nothing);
        }
    }
}
