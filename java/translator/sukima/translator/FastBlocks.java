// SPDX-License-Identifier: Apache-2.0
package sukima.translator;

import com.sun.source.tree.CatchTree;
import com.sun.source.tree.SynchronizedTree;
import com.sun.source.tree.TryTree;
import com.sun.source.tree.VariableTree;

/** The blocks of a unit's usual form that do something when a capture leaves them: with handlers, `finally` or a monitor. */
final class FastBlocks {
    private final FastWriter in;

    FastBlocks(FastWriter in) {
        this.in = in;
    }

    /** A capture that leaves the block releases the monitor; the frame acquires it again. */
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
        in.put(in.takeLabel() + "try {");
        in.statements(tree.getBlock().getStatements());
        in.put("}");
        if (in.unit.hot.contains(tree.getBlock())) {
            in.put("catch (sukima.closures.Unwinding c$) { throw c$; }"); // not for the program's own handlers
        }
        for (CatchTree handler : tree.getCatches()) {
            in.put("catch (" + in.renderer.text(handler.getParameter()) + ") {");
            in.scoped(() -> {
                bound(handler.getParameter());
                in.statements(handler.getBlock().getStatements());
            });
            in.put("}");
        }
        if (tree.getFinallyBlock() != null) {
            boolean isHot = in.unit.hot.contains(tree);
            in.put(isHot ? "finally { if (!" + in.unit.isCapturedFlag() + ") {" : "finally {");
            in.statements(tree.getFinallyBlock().getStatements());
            in.put(isHot ? "} }" : "}");
        }
    }

    /** Makes a parameter of a handler known. */
    private void bound(VariableTree tree) {
        Variable variable = in.program.variable(tree);
        if (Hoisting.outlivesBlock(in.program, variable)) {
            in.put(variable.field + " = " + variable.name + ";");
        } else {
            in.addVariable(tree);
        }
    }
}
