// SPDX-License-Identifier: Apache-2.0
package sukima.translator;

import com.sun.source.tree.ExpressionStatementTree;
import com.sun.source.tree.ExpressionTree;
import com.sun.source.tree.StatementTree;
import com.sun.source.tree.Tree;
import com.sun.source.tree.TryTree;
import com.sun.source.util.TreePath;
import java.util.ArrayList;
import java.util.List;

/**
 * The statements that a frame's state machine copies. Java's own finally blocks and resources in them run before the state
 * changes, because they may throw an exception, which the handler of the statement's state receives, or jump elsewhere. So a
 * jump out of them leaves a labelled block of its own, and the machine's jump follows that block.
 */
final class FrameCopies {
    private final FrameWriter to;
    /** The statement that is being copied. */
    private StatementTree copied;
    /** The texts that follow the labelled blocks, the innermost first. */
    private final List<String> exits = new ArrayList<>();
    private final StringBuilder values = new StringBuilder();
    private int count;

    FrameCopies(FrameWriter to) {
        this.to = to;
    }

    void write(StatementTree tree) {
        copied = tree;
        exits.clear();
        values.setLength(0);
        String text = FastWriter.copied(to.renderer, tree);
        if (!exits.isEmpty()) {
            text = withExits(text);
        }
        String copies = to.takeCopies();
        // `if (true)` makes the compiler treat the code after a statement that jumps as reachable.
        to.put(tree instanceof ExpressionStatementTree && copies.isEmpty() ? text : "if (true) { " + copies + text + " }");
    }

    private String label(int exit) {
        return "copy$" + to.unit.number + "_" + (count - exits.size() + exit);
    }

    private String withExits(String text) {
        String end = "end$" + to.unit.number + "_" + count;
        StringBuilder all = new StringBuilder(values).append(end).append(": { ");
        for (int i = exits.size() - 1; i >= 0; i--) {
            all.append(label(i)).append(": { ");
        }
        // `if (true)` makes the compiler treat the end of each block as reachable, even if a finally block always jumps
        // elsewhere.
        all.append("if (true) { ").append(text).append(" } if (true) { break ").append(end).append("; }");
        exits.forEach(exit -> all.append(" } if (true) { ").append(exit).append(" }"));
        return all.append(" }").toString();
    }

    /** Returns the text of a jump out of the statement. It stores the value, if there is one, in a field of that type. */
    String jump(Tree jump, String field, String type, ExpressionTree value, String leave) {
        String text = value == null ? "" : to.renderer.text(value);
        if (!leavesTry(jump)) {
            return "{ " + (value == null ? "" : field + " = " + text + "; ") + leave + " }";
        }
        String label = "copy$" + to.unit.number + "_" + count;
        String kept = "kept" + label;
        count++;
        if (value == null) {
            exits.add(leave);
            return "break " + label + ";";
        }
        String none = !TypeNames.isPrimitive(type) ? "null" : type.equals("boolean") ? "false" : "0";
        values.append(type).append(' ').append(kept).append(" = ").append(none).append("; ");
        exits.add(field + " = " + kept + "; " + leave);
        return "{ " + kept + " = " + text + "; break " + label + "; }";
    }

    /** Returns whether code of a try statement in the copied statement runs after the jump. */
    private boolean leavesTry(Tree jump) {
        for (TreePath path = to.program.paths.get(jump); path != null; path = path.getParentPath()) {
            if (path.getLeaf() instanceof TryTree tree && (tree.getFinallyBlock() != null || !tree.getResources().isEmpty())) {
                return true;
            }
            if (path.getLeaf() == copied) {
                return false;
            }
        }
        return false;
    }
}
