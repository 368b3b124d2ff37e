// SPDX-License-Identifier: Apache-2.0
package sukima.translator;

import com.sun.source.tree.ExpressionTree;
import com.sun.source.tree.StatementTree;
import com.sun.source.tree.Tree;
import com.sun.source.tree.VariableTree;
import java.util.function.Consumer;

/** The resources of a try statement, rewritten as the Java language specification describes (14.20.3.1). */
final class Resources {
    private Resources() {}

    /** Writes statements that open the resource, and returns the text of the variable that holds it. */
    static String open(Normaliser in, Tree resource, Consumer<StatementTree> statement) {
        if (resource instanceof VariableTree variable) {
            statement.accept(variable);
            return in.renderer.name(in.program.variable(variable));
        }
        String text = in.saved((ExpressionTree) resource).trim();
        return text.endsWith(";") ? text.substring(0, text.length() - 1) : text; // javac includes the semicolon after a resource
    }

    /** Returns statements that close it. The condition is true if there is an exception, which the text `primary` holds. */
    static String close(String resource, String condition, String primary) {
        return "if (" + resource + " != null) { if (" + condition + ") { try { " + resource + ".close(); } catch (java.lang.Throwable s$) { "
            + primary + ".addSuppressed(s$); } } else { " + resource + ".close(); } }";
    }
}
