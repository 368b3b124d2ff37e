// SPDX-License-Identifier: Apache-2.0
package sukima.translator;

import com.sun.source.tree.Tree;
import com.sun.source.tree.TryTree;
import com.sun.tools.javac.tree.JCTree;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The `finally` blocks of a unit's usual form that contain calls which may be captured. A frame must know why the block
 * runs, which Java's own `finally` does not reveal. So a jump out of the statement stores its number and leaves a labelled
 * block. A handler of all exceptions contains one copy of the program's block; a second copy follows the statement. This
 * class also writes resources.
 */
final class FastFinally {
    /** A statement whose `finally` block the code being written will run. */
    private static final class Open {
        final TryTree tree;
        final String label;
        final String reason;
        /** The value of a return; null in a unit without one. */
        final String kept;
        /** The jumps to make after the block, by their numbers. */
        final Map<Integer, Exit> exits = new TreeMap<>();

        Open(TryTree tree, String label, String reason, String kept) {
            this.tree = tree;
            this.label = label;
            this.reason = reason;
            this.kept = kept;
        }
    }

    /** A jump, its own text, and whether it returns a value. */
    private record Exit(JumpTargets.Jump jump, String text, boolean hasValue) {}

    private final FastWriter in;
    /** The innermost is last. */
    private final List<Open> open = new ArrayList<>();
    private int count;

    FastFinally(FastWriter in) {
        this.in = in;
    }

    private Open innermost() {
        return open.get(open.size() - 1);
    }

    /** Returns whether the jump leaves a statement that is open. */
    boolean isLeftBy(JumpTargets.Jump jump) {
        return !open.isEmpty() && in.program.isBelow(innermost().tree, jump.target());
    }

    /** Returns statements that run the blocks on the way out, and then jump. The value is that of a return, or null. */
    String leave(JumpTargets.Jump jump, String text, String value) {
        if (!isLeftBy(jump)) {
            return value == null ? text : "return " + value + ";";
        }
        Open left = innermost();
        int number = in.unit.exit(left.tree, jump);
        left.exits.put(number, new Exit(jump, text, value != null));
        return (value == null ? "" : left.kept + " = " + value + "; ") + left.reason + " = " + number + "; break " + left.label + ";";
    }

    void write(String label, TryTree tree, Runnable handled) {
        in.put(label + "{");
        in.scoped(() -> {
            int number = count++;
            String reason = in.unit.temporary(tree, "reason", "int");
            in.declare(reason, "int", "0");
            String pending = in.unit.temporary(tree, "pending", "java.lang.Throwable");
            in.declare(pending, "java.lang.Throwable", "null");
            String kept = in.unit.isVoid() ? null : in.unit.temporary(tree, "kept", in.returnType());
            if (kept != null) {
                in.declare(kept, in.returnType(), TypeNames.defaultValue(in.unit.result()));
            }
            Open opened = new Open(tree, "try$" + in.unit.number + "_" + number, reason, kept);
            open.add(opened);
            in.put(opened.label + ": try { if (true) {");
            handled.run();
            open.remove(open.size() - 1);
            String caught = "e$" + in.unit.number + "_" + number;
            // If the statement ends normally, a close or a finally block on the way of a jump has cancelled that jump.
            in.put("} " + reason + " = 0; } catch (java.lang.Throwable " + caught + ") { if (" + in.unit.isCapturedFlag() + ") { throw sukima.closures.Frame.rethrow$("
                + caught + "); }");
            in.put(pending + " = " + caught + "; " + reason + " = -1;");
            Map<Tree, String> replaced = new IdentityHashMap<>(in.renderer.replaced);
            block(tree);
            // After a block that does not end normally, Java does not require that the exception is declared.
            in.put((((JCTree.JCTry) tree).finallyCanCompleteNormally ? "throw " + caught + ";" : "") + " }");
            in.renderer.replaced.clear(); // the second copy of the block computes its temporaries again
            in.renderer.replaced.putAll(replaced);
            block(tree);
            opened.exits.forEach((exit, leaving) -> in.put("if (" + reason + " == " + exit + ") { "
                + leave(leaving.jump(), leaving.text(), leaving.hasValue() ? kept : null) + " }"));
        });
        in.put("}");
    }

    /** Writes the block so that the compiler treats the code after it as reachable. */
    private void block(TryTree tree) {
        in.put("if (true) {");
        in.statements(tree.getFinallyBlock().getStatements());
        in.put("}");
    }

    /** Writes the resources from that number on, and the block that uses them. */
    void resources(TryTree tree, int index) {
        if (index == tree.getResources().size()) {
            in.statements(tree.getBlock().getStatements());
            return;
        }
        Tree resource = tree.getResources().get(index);
        String primary = "primary$" + in.unit.number + "_" + count++;
        in.put("{");
        in.scoped(() -> {
            String name = Resources.open(in, resource, in::statement);
            in.put("java.lang.Throwable " + primary + " = null;");
            in.put("try {");
            resources(tree, index + 1);
            boolean isCapturing = in.unit.capturing.contains(tree);
            in.put("} catch (java.lang.Throwable " + primary + "e) { " + primary + " = " + primary + "e; throw " + primary + "e; } finally { "
                + (isCapturing ? "if (!" + in.unit.isCapturedFlag() + ") { " : "{ ") + Resources.close(name, primary + " != null", primary) + " } }");
        });
        in.put("}");
    }
}
