// SPDX-License-Identifier: Apache-2.0
package sukima.translator;

import com.sun.source.tree.AnnotationTree;
import com.sun.source.tree.AssignmentTree;
import com.sun.source.tree.BlockTree;
import com.sun.source.tree.ExpressionStatementTree;
import com.sun.source.tree.IdentifierTree;
import com.sun.source.tree.MemberSelectTree;
import com.sun.source.tree.MethodInvocationTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.StatementTree;
import com.sun.source.tree.Tree;
import com.sun.source.tree.VariableTree;
import com.sun.source.util.TreeScanner;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.lang.model.element.Element;
import javax.lang.model.element.Modifier;

/**
 * Constructors keep the call of another constructor before their translated statements. A frame continues inside the same
 * object and cannot assign final fields. So the fields that such a constructor assigns are not final in the translation. A
 * fence at the end of each constructor has the same effect: other threads that see the object see the values of these
 * fields.
 */
final class Constructors {
    static final String FREEZE = "java.lang.invoke.VarHandle.releaseFence(); ";

    /** The word final, or a comment, because a comment may contain that word. */
    private static final Pattern WORD = Pattern.compile("\\bfinal\\b|//[^\r\n]*|/\\*.*?\\*/", Pattern.DOTALL);

    private Constructors() {}

    static boolean isCallOfOther(Program program, Tree call) {
        return program.parent(call) instanceof ExpressionStatementTree statement && isCall(statement);
    }

    /** Returns whether the statement is the call of another constructor with which this constructor begins. */
    static boolean isCallOfOther(Tree statement, MethodTree constructor) {
        if (!constructor.getName().contentEquals("<init>") || constructor.getBody().getStatements().isEmpty()
            || statement != constructor.getBody().getStatements().get(0)) {
            return false;
        }
        return isCall(statement);
    }

    private static boolean isCall(Tree statement) {
        if (!(statement instanceof ExpressionStatementTree first && first.getExpression() instanceof MethodInvocationTree call)) {
            return false;
        }
        Tree select = call.getMethodSelect();
        String name = select instanceof MemberSelectTree member ? member.getIdentifier().toString()
            : select instanceof IdentifierTree identifier ? identifier.getName().toString() : "";
        return name.equals("this") || name.equals("super");
    }

    /** Returns the statements of a unit's body; in a constructor, those after the call of another constructor. */
    static List<? extends StatementTree> ownStatements(Unit unit) {
        List<? extends StatementTree> all = ((BlockTree) unit.body()).getStatements();
        boolean isFirstOther = !all.isEmpty() && unit.isConstructor() && isCallOfOther(all.get(0), (MethodTree) unit.tree());
        return isFirstOther ? all.subList(1, all.size()) : all;
    }

    /** Returns the call of another constructor in the source; null if there is none. */
    static StatementTree callOfOther(Program program, MethodTree constructor) {
        List<? extends StatementTree> all = constructor.getBody().getStatements();
        boolean isWritten = !all.isEmpty() && isCallOfOther(all.get(0), constructor) && program.end(all.get(0)) >= 0;
        return isWritten ? all.get(0) : null;
    }

    /** Returns the final fields that the constructor assigns. */
    static List<VariableTree> finalFields(Program program, Unit constructor) {
        List<VariableTree> found = new ArrayList<>();
        new TreeScanner<Void, Void>() {
            @Override
            public Void visitAssignment(AssignmentTree tree, Void nothing) {
                Element assigned = program.element(tree.getVariable());
                if (assigned != null && assigned.getKind().isField() && assigned.getModifiers().contains(Modifier.FINAL)
                    && assigned.getEnclosingElement() == constructor.enclosing) {
                    found.add((VariableTree) program.trees.getTree(assigned));
                }
                return super.visitAssignment(tree, nothing);
            }
        }.scan(constructor.body(), null);
        return found;
    }

    /** Returns the position of the word final in the field's declaration. */
    static int positionOfFinal(Program program, VariableTree field) {
        Matcher found = WORD.matcher(program.source(program.file(field)));
        int from = program.start(field.getModifiers());
        for (AnnotationTree annotation : field.getModifiers().getAnnotations()) {
            if (findsWord(found, from, program.start(annotation))) {
                return found.start();
            }
            from = program.end(annotation);
        }
        if (!findsWord(found, from, program.end(field.getModifiers()))) {
            throw new AssertionError(field);
        }
        return found.start();
    }

    private static boolean findsWord(Matcher found, int from, int to) {
        found.region(from, to);
        while (found.find()) {
            if (found.group().equals("final")) {
                return true;
            }
        }
        return false;
    }

    /**
     * Returns the start of the own statements of a constructor in the source: after the call of another one, or after the
     * brace.
     */
    static int startOfOwn(Program program, MethodTree constructor) {
        StatementTree call = callOfOther(program, constructor);
        return call == null ? program.start(constructor.getBody()) + 1 : program.end(call);
    }
}
