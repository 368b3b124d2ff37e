// SPDX-License-Identifier: Apache-2.0
package sukima.translator;

import com.sun.source.tree.BreakTree;
import com.sun.source.tree.CaseTree;
import com.sun.source.tree.CatchTree;
import com.sun.source.tree.ClassTree;
import com.sun.source.tree.ContinueTree;
import com.sun.source.tree.IdentifierTree;
import com.sun.source.tree.LambdaExpressionTree;
import com.sun.source.tree.ReturnTree;
import com.sun.source.tree.Tree;
import com.sun.source.tree.YieldTree;
import com.sun.source.util.TreeScanner;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import javax.lang.model.element.Element;
import javax.lang.model.element.ElementKind;
import javax.lang.model.element.ExecutableElement;
import javax.lang.model.element.Modifier;
import javax.lang.model.element.TypeElement;

/** Copies the text of trees, with other names for variables and other text for some trees. */
final class Renderer {
    private final Program program;
    private final TypeNames typeNames;
    private final Unit unit;
    private final NestedText nestedText;
    private final boolean isFrame;
    private final Jumps jumps;
    /** Text that replaces a tree's own text. */
    final Map<Tree, String> replaced = new IdentityHashMap<>();
    /** Copies of fields that ordinary lambdas in the rendered text need, from the field to the name of the copy. */
    final Map<Variable, String> copies = new LinkedHashMap<>();
    private int copyCount;

    /** Returns the text of a statement that jumps; null if its text does not change. */
    interface Jumps {
        String text(Tree jump);
    }

    /** Returns the text of nested functions. */
    interface NestedText {
        String text(Unit nested);
    }

    Renderer(Program program, Unit unit, boolean isFrame, Jumps jumps, NestedText nestedText) {
        this.program = program;
        typeNames = new TypeNames(program);
        this.unit = unit;
        this.isFrame = isFrame;
        this.jumps = jumps;
        this.nestedText = nestedText;
    }

    String text(Tree tree) {
        return text(tree, program.start(tree), program.end(tree));
    }

    /** Returns the text between two positions, which belongs to the tree. */
    String text(Tree tree, int from, int to) {
        Splice splice = new Splice(program.source(program.file(tree)), from, to);
        splice.scan(tree, null);
        return splice.finish();
    }

    /** Returns the name of the variable at this place of the translation, or the value of a constant. */
    String name(Variable variable) {
        if (variable.constant != null) {
            return variable.constant;
        }
        Variable own = unit.own(variable);
        boolean isLocal = own.unit == unit && !isFrame && (!Hoisting.outlivesBlock(program, own) || isOfHandler(own));
        return isLocal || !Hoisting.isHoisted(program, own) ? own.name : own.field;
    }

    /** The compiler knows the exact exceptions of a parameter that is thrown again, but not those of a copy. */
    private boolean isOfHandler(Variable variable) {
        return program.parent(variable.tree) instanceof CatchTree && !variable.isAssigned;
    }

    /** Returns the name of the variable inside an ordinary lambda or a class at this place. */
    private String nameInOrdinary(Variable variable) {
        Variable own = unit.own(variable);
        String name = name(own);
        return name.equals(own.field) ? copy(own) : name;
    }

    private String copy(Variable variable) {
        return copies.computeIfAbsent(variable, key -> key.field + "c" + unit.number + "_" + copyCount++);
    }

    private final class Splice extends TreeScanner<Void, Void> {
        private final String source;
        private final StringBuilder out = new StringBuilder();
        private int at;
        private final int to;
        private int ordinary;
        /** The classes around the place inside the unit, the innermost last. */
        private final List<Element> classes = new ArrayList<>();

        Splice(String source, int from, int to) {
            this.source = source;
            this.at = from;
            this.to = to;
        }

        String finish() {
            return out.append(source, at, Math.max(at, to)).toString();
        }

        private void put(Tree tree, String text) {
            int start = program.start(tree);
            int end = program.end(tree);
            if (start < at || end > to) {
                return; // it is outside the wanted text, or has no text of its own
            }
            out.append(source, at, start).append(text);
            at = end;
        }

        @Override
        public Void scan(Tree tree, Void nothing) {
            if (tree == null || program.end(tree) < 0) {
                return null;
            }
            String text = replaced.get(tree);
            if (text != null) {
                put(tree, text);
                return null;
            }
            return super.scan(tree, nothing);
        }

        @Override
        public Void visitIdentifier(IdentifierTree tree, Void nothing) {
            String own = tree.getName().toString();
            String name = nameOf(tree, own);
            if (!name.equals(own)) {
                put(tree, name);
            }
            return null;
        }

        private String nameOf(IdentifierTree tree, String own) {
            Variable variable = program.variable(tree);
            if (variable != null) {
                String name = isInOrdinary() ? nameInOrdinary(variable) : name(variable);
                boolean isItself = unit.own(variable) == variable && name.equals(variable.name);
                return isItself ? name : typeNames.typed(name, variable.type, unit.enclosing);
            }
            if (own.indexOf('$') >= 0 && !isLabel(tree)) {
                return qualified(program.element(tree), own);
            }
            boolean isInFrame = isFrame || unit.isNested();
            if (!isInFrame || !classes.isEmpty()) {
                return own;
            }
            if (own.equals("this") || own.equals("super")) {
                return unit.enclosing.getSimpleName() + "." + own;
            }
            return program.element(tree) instanceof ExecutableElement method && isOfObject(own) ? qualified(method, own) : own;
        }

        private boolean isInOrdinary() {
            return ordinary > 0 || !classes.isEmpty();
        }

        /**
         * Returns the name of a field or method with its class, because a name of the translation could hide it.
         * Inside the unit's own classes, their members hide those names.
         */
        private String qualified(Element member, String own) {
            if (member == null || !member.getKind().isField() && member.getKind() != ElementKind.METHOD
                || classes.stream().anyMatch(inner -> isMember(member, inner))) {
                return own;
            }
            boolean isStatic = member.getModifiers().contains(Modifier.STATIC);
            for (Element at = unit.enclosing; at.getKind() != ElementKind.PACKAGE; at = at.getEnclosingElement()) {
                if (at instanceof TypeElement type && isMember(member, type)) {
                    return type.getSimpleName() + (isStatic ? "." : ".this.") + own;
                }
            }
            return isStatic ? ((TypeElement) member.getEnclosingElement()).getQualifiedName() + "." + own : own;
        }

        /** Returns whether this is a label of a switch, which need not be qualified and often must not be. */
        private boolean isLabel(Tree tree) {
            Tree parent = program.parent(tree);
            return parent instanceof CaseTree group && group.getBody() != tree
                || parent.getKind().name().equals("CONSTANT_CASE_LABEL"); // Java 17 does not know it
        }

        private boolean isMember(Element member, Element type) {
            return program.types.isSubtype(program.types.erasure(type.asType()), program.types.erasure(member.getEnclosingElement().asType()));
        }

        /** Returns whether the generated class has a method of this name itself. */
        private boolean isOfObject(String name) {
            return program.elements.getTypeElement("java.lang.Object").getEnclosedElements().stream()
                .anyMatch(member -> member.getSimpleName().contentEquals(name));
        }

        @Override
        public Void visitLambdaExpression(LambdaExpressionTree tree, Void nothing) {
            Unit nested = program.unitOf.get(tree);
            if (nested != null && nested.isNested()) {
                put(tree, nestedText.text(nested));
                return null;
            }
            if (nested != null && nested.isTranslated()) {
                put(tree, OrdinaryLambdas.text(program, nested, Renderer.this::nameInOrdinary));
                return null;
            }
            ordinary++;
            super.visitLambdaExpression(tree, nothing);
            ordinary--;
            return null;
        }

        @Override
        public Void visitClass(ClassTree tree, Void nothing) {
            classes.add(program.element(tree));
            super.visitClass(tree, nothing);
            classes.remove(classes.size() - 1);
            return null;
        }

        private boolean jump(Tree tree) {
            String text = isInOrdinary() ? null : jumps.text(tree);
            if (text != null) {
                put(tree, text);
            }
            return text != null;
        }

        @Override
        public Void visitBreak(BreakTree tree, Void nothing) {
            jump(tree);
            return null;
        }

        @Override
        public Void visitContinue(ContinueTree tree, Void nothing) {
            jump(tree);
            return null;
        }

        @Override
        public Void visitReturn(ReturnTree tree, Void nothing) {
            return jump(tree) ? null : super.visitReturn(tree, nothing);
        }

        @Override
        public Void visitYield(YieldTree tree, Void nothing) {
            return jump(tree) ? null : super.visitYield(tree, nothing);
        }
    }
}
