// SPDX-License-Identifier: Apache-2.0
package sukima.translator;

import com.sun.source.tree.ClassTree;
import com.sun.source.tree.MemberReferenceTree;
import com.sun.source.tree.MethodInvocationTree;
import com.sun.source.tree.NewClassTree;
import com.sun.source.tree.SwitchExpressionTree;
import com.sun.source.tree.Tree;
import com.sun.source.util.TreePath;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Predicate;
import javax.lang.model.element.Element;
import javax.lang.model.element.ElementKind;
import javax.lang.model.element.ExecutableElement;
import javax.lang.model.element.Modifier;
import javax.lang.model.element.TypeElement;
import javax.lang.model.type.DeclaredType;
import javax.lang.model.type.TypeMirror;

/** Determines which units may be captured, and through which of their calls. */
final class CaptureGraph {
    private final Program program;
    private final List<Analysis.Call> calls;
    /** Methods whose calls may capture, with the methods that they override. */
    private final Set<ExecutableElement> methods = new HashSet<>();

    CaptureGraph(Program program, List<Analysis.Call> calls, List<MemberReferenceTree> references) {
        this.program = program;
        this.calls = calls;
        program.classes.forEach(this::addInherited);
        for (boolean hasChanged = true; hasChanged;) {
            hasChanged = false;
            for (Analysis.Call call : calls) {
                if (call.unit() != null && !call.unit().mayBeCaptured && captures(call.callee())) {
                    hasChanged = true;
                    call.unit().mayBeCaptured = true;
                    if (!call.unit().isNested()) {
                        addWithOverridden(call.unit());
                    }
                }
            }
        }
        calls.forEach(this::mark);
        program.units.stream().filter(Unit::isNested).forEach(CaptureGraph::mark);
        references.forEach(this::check);
    }

    /** Returns whether a call of that method may throw a capture. */
    boolean captures(ExecutableElement callee) {
        return repeats(callee) || methods.contains(callee) || isMarked(callee);
    }

    /** Returns whether a resumed caller repeats the call, because the callee has no frame of its own. */
    boolean repeats(ExecutableElement callee) {
        TypeElement type = (TypeElement) callee.getEnclosingElement();
        boolean isCallOfNested = type.getKind() == ElementKind.INTERFACE && program.isNestedType(type.asType())
            && !callee.getModifiers().contains(Modifier.STATIC) && !callee.getSimpleName().contentEquals("owner$");
        return isCallOfNested || isMarked(callee) && program.elements.getPackageOf(type).getQualifiedName().contentEquals("sukima.closures");
    }

    static boolean isMarked(ExecutableElement method) {
        return method.getAnnotationMirrors().stream()
            .anyMatch(mark -> mark.getAnnotationType().toString().equals("sukima.closures.Capturing"));
    }

    /** Returns whether the class file must tell other runs of the translator that calls of the method may capture. */
    boolean needsMark(ExecutableElement method) {
        return methods.contains(method) && !isMarked(method);
    }

    private void addWithOverridden(Unit unit) {
        methods.add(unit.method);
        if (unit.isLambda()) {
            DeclaredType type = (DeclaredType) program.type(unit.tree());
            // An interface may inherit the method from several others, none of which overrides another.
            addAbove(type, method -> program.isImplementedWith(unit.method, method, type), method -> add(unit.tree(), unit.title(), method));
            return;
        }
        addOverridden(unit.method, unit.enclosing, unit.tree(), unit.title());
        for (ClassTree tree : program.classes) {
            TypeElement subclass = (TypeElement) program.element(tree);
            if (subclass != unit.enclosing && isBelow(subclass, unit.enclosing)) {
                addOverridden(unit.method, subclass, unit.tree(), unit.title() + " in " + subclass);
            }
        }
    }

    private boolean isBelow(TypeElement one, TypeElement other) {
        return program.types.isSubtype(program.types.erasure(one.asType()), program.types.erasure(other.asType()));
    }

    /** Handles a class that inherits a method which another run has marked, and that implements an interface with it. */
    private void addInherited(ClassTree tree) {
        TypeElement type = (TypeElement) program.element(tree);
        for (Element member : program.elements.getAllMembers(type)) {
            if (member instanceof ExecutableElement method && isMarked(method) && program.trees.getTree(method) == null) {
                addOverridden(method, type, tree, method.getEnclosingElement() + "." + method.getSimpleName() + " in " + type);
            }
        }
    }

    /** Adds the methods that the given method overrides in that class, which declares or inherits it. */
    private void addOverridden(ExecutableElement overriding, TypeElement type, Tree place, String title) {
        addAbove(type.asType(), method -> program.elements.overrides(overriding, method, type), method -> add(place, title, method));
    }

    private void addAbove(TypeMirror type, Predicate<ExecutableElement> isOverridden, Consumer<ExecutableElement> add) {
        for (TypeMirror above : program.types.directSupertypes(type)) {
            for (Element member : ((DeclaredType) above).asElement().getEnclosedElements()) {
                if (member instanceof ExecutableElement method && isOverridden.test(method)) {
                    add.accept(method);
                }
            }
            addAbove(above, isOverridden, add);
        }
    }

    private void add(Tree place, String title, ExecutableElement overridden) {
        boolean isTranslated = program.trees.getTree(overridden) != null;
        if (!isTranslated && !isMarked(overridden) && !repeats(overridden)) {
            program.refuse(place, title + " can be captured, but overrides "
                + overridden.getEnclosingElement() + "." + overridden.getSimpleName()
                + ", which untranslated code may call: call the nested function elsewhere, or rename the method");
        }
        methods.add(overridden);
    }

    private void mark(Analysis.Call call) {
        if (!captures(call.callee())) {
            return;
        }
        if (Constructors.isCallOfOther(program, call.tree())) {
            program.refuse(call.tree(), "this constructor begins with a call of the constructor of "
                + call.callee().getEnclosingElement().getSimpleName() + ", which can be captured. Java allows no handler around that "
                + "call: move the code that calls a nested function from that constructor to a method");
            return;
        }
        if (call.unit() == null || call.isInOrdinaryLambda()) {
            program.refuse(call.tree(), call.isInOrdinaryLambda()
                ? "this call can be captured, but untranslated code may call the lambda around it. Make the lambda a nested function: give "
                    + "it a type that extends sukima.closures.Nested, or, directly in a method, the type of an interface of your program"
                : "this call can be captured, which is not possible in an initializer: move the call to a method");
            return;
        }
        TreePath path = program.paths.get(call.tree());
        markUp(path, call.unit(), call.unit().capturing);
        markUp(path, call.unit(), call.unit().rewritten);
        Construct construct = program.constructs.get(call.tree());
        if (construct != null) {
            call.unit().rewritten.addAll(construct.blocks()); // the frame holds their parameters
        }
    }

    /**
     * The frame keeps the variables of the statements around a nested function, so a switch expression there must not be
     * copied.
     */
    private static void mark(Unit nested) {
        markUp(nested.path.getParentPath(), nested.outer, nested.outer.rewritten);
        for (TreePath path = nested.path; path.getLeaf() != nested.outer.tree(); path = path.getParentPath()) {
            if (path.getLeaf() instanceof SwitchExpressionTree) {
                markUp(path, nested.outer, nested.outer.capturing);
            }
        }
    }

    private static void markUp(TreePath from, Unit unit, Set<Tree> set) {
        for (TreePath path = from; path != null && path.getLeaf() != unit.tree(); path = path.getParentPath()) {
            set.add(path.getLeaf());
        }
    }

    private void check(MemberReferenceTree reference) {
        if (program.element(reference) instanceof ExecutableElement method && captures(method)) {
            String name = method.getKind() == ElementKind.CONSTRUCTOR ? "constructor" : "method " + method.getSimpleName();
            program.refuse(reference, "the " + name + " can be captured, but untranslated code may call "
                + "this reference to it: write a lambda of a type that extends sukima.closures.Nested");
        }
    }

    /** Returns whether the tree is a call of a method or constructor that may be captured. */
    boolean captures(Tree tree) {
        return (tree instanceof MethodInvocationTree || tree instanceof NewClassTree)
            && program.element(tree) instanceof ExecutableElement callee && captures(callee);
    }

    boolean repeats(Tree call) {
        return repeats((ExecutableElement) program.element(call));
    }
}
