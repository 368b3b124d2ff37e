// SPDX-License-Identifier: Apache-2.0
package sukima.translator;

import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.ExpressionTree;
import com.sun.source.tree.MethodInvocationTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.VariableTree;
import com.sun.source.tree.Tree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.TreePath;
import com.sun.source.util.Trees;
import com.sun.tools.javac.api.BasicJavacTask;
import com.sun.tools.javac.code.Source;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import javax.lang.model.element.Element;
import javax.lang.model.element.ExecutableElement;
import javax.lang.model.element.Modifier;
import javax.lang.model.type.DeclaredType;
import javax.lang.model.type.ExecutableType;
import javax.lang.model.type.TypeMirror;
import javax.lang.model.util.Elements;
import javax.lang.model.util.Types;

/** The analysed sources: trees, types, units and errors. */
final class Program {
    final Trees trees;
    final Types types;
    final Elements elements;
    final TypeMirror nestedType;
    final TypeMirror captureType;
    final TypeMirror objectType;
    /** The statement that Java's own switch expression executes for an enum constant that did not exist at compile time. */
    final String noCase;
    final Map<Tree, TreePath> paths = new IdentityHashMap<>();
    final List<Unit> units = new ArrayList<>();
    final Map<Tree, Unit> unitOf = new IdentityHashMap<>();
    /** The constructs by their calls, and by their blocks. */
    final Map<Tree, Construct> constructs = new IdentityHashMap<>();
    final Map<Tree, Construct> blocks = new IdentityHashMap<>();
    final Map<Element, Variable> variables = new HashMap<>();
    /** All classes, including local and anonymous ones. */
    final List<ClassTree> classes = new ArrayList<>();
    /** Methods without a body. */
    final List<MethodTree> abstractMethods = new ArrayList<>();
    private int variableCount;
    private final Map<CompilationUnitTree, String> sources = new IdentityHashMap<>();
    /** Messages by file and position, so that they appear in the order of the text. */
    private final Map<String, TreeMap<Long, String>> errors = new TreeMap<>();

    Program(JavacTask task) {
        trees = Trees.instance(task);
        types = task.getTypes();
        elements = task.getElements();
        nestedType = known("sukima.closures.Nested");
        captureType = known("sukima.closures.Capture");
        objectType = known("java.lang.Object");
        Source first = Source.lookup("21"); // null in a compiler that does not know it
        boolean isMatch = first != null && Source.instance(((BasicJavacTask) task).getContext()).compareTo(first) >= 0;
        noCase = "throw new java.lang." + (isMatch ? "MatchException(null, null);" : "IncompatibleClassChangeError();");
    }

    private TypeMirror known(String name) {
        var element = elements.getTypeElement(name);
        return element == null ? null : element.asType();
    }

    boolean hasRuntime() {
        return nestedType != null && captureType != null;
    }

    boolean isNestedType(TypeMirror type) {
        return type != null && types.isSubtype(types.erasure(type), nestedType);
    }

    /** Returns whether a lambda of that type that implements one method also implements the other. */
    boolean isImplementedWith(ExecutableElement one, ExecutableElement other, DeclaredType type) {
        boolean isInherited = !other.getModifiers().contains(Modifier.STATIC) && !other.getModifiers().contains(Modifier.PRIVATE);
        if (!isInherited || !one.getSimpleName().equals(other.getSimpleName())) {
            return false;
        }
        ExecutableType oneType = (ExecutableType) types.asMemberOf(type, one);
        ExecutableType otherType = (ExecutableType) types.asMemberOf(type, other);
        return types.isSubsignature(oneType, otherType) || types.isSubsignature(otherType, oneType);
    }

    String source(CompilationUnitTree file) {
        return sources.computeIfAbsent(file, key -> {
            try {
                return file.getSourceFile().getCharContent(true).toString();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
    }

    CompilationUnitTree file(Tree tree) {
        return paths.get(tree).getCompilationUnit();
    }

    int start(Tree tree) {
        return (int) trees.getSourcePositions().getStartPosition(file(tree), tree);
    }

    int end(Tree tree) {
        return (int) trees.getSourcePositions().getEndPosition(file(tree), tree);
    }

    int line(Tree tree) {
        return (int) file(tree).getLineMap().getLineNumber(start(tree));
    }

    /** Returns the line of a call's name. */
    int callLine(ExpressionTree tree) {
        return tree instanceof MethodInvocationTree call ? (int) file(tree).getLineMap().getLineNumber(end(call.getMethodSelect()) - 1) : line(tree);
    }

    Tree parent(Tree tree) {
        TreePath path = paths.get(tree).getParentPath();
        return path == null ? null : path.getLeaf();
    }

    boolean isBelow(Tree tree, Tree above) {
        for (TreePath path = paths.get(tree); path != null; path = path.getParentPath()) {
            if (path.getLeaf() == above) {
                return true;
            }
        }
        return false;
    }

    Element element(Tree tree) {
        return trees.getElement(paths.get(tree));
    }

    TypeMirror type(Tree tree) {
        return trees.getTypeMirror(paths.get(tree));
    }

    Variable variable(Tree tree) {
        return variables.get(element(tree));
    }

    Variable newVariable(Unit unit, VariableTree tree, boolean isCopy) {
        Variable made = new Variable(this, unit, tree, variableCount++, isCopy);
        unit.variables.add(made);
        return made;
    }

    void refuse(Tree tree, String message) {
        refuse(file(tree), start(tree), message);
    }

    void refuse(CompilationUnitTree file, long at, String message) {
        String text = file.getSourceFile().getName() + ":" + file.getLineMap().getLineNumber(at) + ":"
            + file.getLineMap().getColumnNumber(at) + ": error: " + message;
        errors.computeIfAbsent(file.getSourceFile().getName(), key -> new TreeMap<>()).putIfAbsent(at, text);
    }

    boolean hasErrors() {
        return !errors.isEmpty();
    }

    List<String> errors() {
        List<String> all = new ArrayList<>();
        errors.values().forEach(of -> all.addAll(of.values()));
        return all;
    }
}
