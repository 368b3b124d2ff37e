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
 * Constructors keep the call of another constructor in front of their translated statements. A frame goes on inside the same
 * object, and cannot assign final fields, so the fields that such a constructor assigns lose that word in the translation.
 * A fence at the end of each constructor keeps its effect: other threads that see the object see these fields' values.
 */
final class Constructors {
    static final String FREEZE = "java.lang.invoke.VarHandle.releaseFence(); ";

    /** The word final, or a comment, which may contain it. */
    private static final Pattern WORD = Pattern.compile("\\bfinal\\b|//[^\r\n]*|/\\*.*?\\*/", Pattern.DOTALL);

    private Constructors() {}

    static boolean isCallOfOther(Program program, Tree call) {
        return program.parent(call) instanceof ExpressionStatementTree statement && isCall(statement);
    }

    /** Whether it is the call of another constructor with which that constructor begins. */
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

    /** The statements of a unit's body, in a constructor those behind the call of another one. */
    static List<? extends StatementTree> ownStatements(Unit unit) {
        List<? extends StatementTree> all = ((BlockTree) unit.body()).getStatements();
        boolean isFirstOther = !all.isEmpty() && unit.isConstructor() && isCallOfOther(all.get(0), (MethodTree) unit.tree());
        return isFirstOther ? all.subList(1, all.size()) : all;
    }

    /** The call of another constructor in the source, null if there is none. */
    static StatementTree callOfOther(Program program, MethodTree constructor) {
        List<? extends StatementTree> all = constructor.getBody().getStatements();
        boolean isWritten = !all.isEmpty() && isCallOfOther(all.get(0), constructor) && program.end(all.get(0)) >= 0;
        return isWritten ? all.get(0) : null;
    }

    /** The final fields that the constructor assigns. */
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

    /** Where the field's declaration has the word final. */
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

    /** Where the own statements of a constructor start in the source: behind the call of another one, or behind the brace. */
    static int startOfOwn(Program program, MethodTree constructor) {
        StatementTree call = callOfOther(program, constructor);
        return call == null ? program.start(constructor.getBody()) + 1 : program.end(call);
    }
}
