// SPDX-License-Identifier: Apache-2.0
package sukima.translator;

import com.sun.source.tree.CatchTree;
import com.sun.source.tree.SynchronizedTree;
import com.sun.source.tree.TryTree;
import com.sun.source.tree.VariableTree;

/** The blocks of a unit's usual form that act when a capture leaves them: those with handlers, `finally` or a monitor. */
final class FastBlocks {
    private final FastWriter in;

    FastBlocks(FastWriter in) {
        this.in = in;
    }

    /** Writes a synchronized block. A capture that leaves the block releases the monitor; the frame acquires it again. */
    void synchronizedBlock(SynchronizedTree tree) {
        in.put(in.takeLabel() + "{");
        in.scoped(() -> {
            String monitor = in.unit.temporary(tree, "monitor", "java.lang.Object");
            in.declare(monitor, "java.lang.Object", "null");
            in.simple(monitor + " = " + in.value(tree.getExpression()) + ";");
            in.put("synchronized (" + monitor + ") {");
            in.statements(tree.getBlock().getStatements());
            in.put("}");
        });
        in.put("}");
    }

    void tryStatement(TryTree tree) {
        String label = in.takeLabel();
        if (tree.getFinallyBlock() != null && in.unit.capturing.contains(tree.getFinallyBlock())) {
            in.finallyBlocks.write(label, tree, () -> handled("", tree, false));
        } else {
            handled(label, tree, tree.getFinallyBlock() != null);
        }
    }

    /** Writes the statement. It writes the `finally` block only if that contains no calls that may be captured. */
    private void handled(String label, TryTree tree, boolean hasFinally) {
        boolean hasHandlers = hasFinally || !tree.getCatches().isEmpty();
        in.put(label + (hasHandlers ? "try {" : "{"));
        in.finallyBlocks.resources(tree, 0);
        in.put("}");
        boolean isBlockCapturing = in.unit.capturing.contains(tree.getBlock()) || tree.getResources().stream().anyMatch(in.unit.capturing::contains);
        if (isBlockCapturing && hasHandlers) {
            in.put("catch (sukima.closures.Unwinding c$) { throw c$; }"); // the program's own handlers must not receive it
        }
        for (CatchTree handler : tree.getCatches()) {
            in.put("catch (" + in.renderer.text(handler.getParameter()) + ") {");
            in.scoped(() -> {
                bound(handler.getParameter());
                in.statements(handler.getBlock().getStatements());
            });
            in.put("}");
        }
        if (hasFinally) {
            boolean isCapturing = in.unit.capturing.contains(tree);
            in.put(isCapturing ? "finally { if (!" + in.unit.isCapturedFlag() + ") {" : "finally {");
            in.statements(tree.getFinallyBlock().getStatements());
            in.put(isCapturing ? "} }" : "}");
        }
    }

    /** Makes a parameter of a handler known to the writer. */
    private void bound(VariableTree tree) {
        Variable variable = in.program.variable(tree);
        if (Hoisting.outlivesBlock(in.program, variable)) {
            in.put(variable.field + " = " + variable.name + ";");
        } else {
            in.addVariable(tree);
        }
    }
}
