// SPDX-License-Identifier: Apache-2.0
package sukima.translator;

import com.sun.source.tree.EnhancedForLoopTree;
import com.sun.source.tree.Tree;
import javax.lang.model.element.ExecutableElement;
import javax.lang.model.type.ArrayType;
import javax.lang.model.type.DeclaredType;
import javax.lang.model.type.ExecutableType;
import javax.lang.model.type.TypeKind;
import javax.lang.model.type.TypeMirror;
import javax.lang.model.util.ElementFilter;

/** A loop over an array or an iterable, with its hidden variables as temporaries. */
final class ForEach {
    private final Normaliser in;
    private final EnhancedForLoopTree tree;
    private final boolean isArray;
    private String array;
    private String position;

    ForEach(Normaliser in, EnhancedForLoopTree tree) {
        this.in = in;
        this.tree = tree;
        isArray = in.program.type(tree.getExpression()) instanceof ArrayType;
    }

    /** Writes the statements before the loop. */
    void start() {
        String source = in.value(tree.getExpression());
        if (isArray) {
            array = declare("array", in.typeName(tree.getExpression()), "null");
            position = declare("position", "int", "0");
            in.simple(array + " = " + source + ";");
            in.simple(position + " = 0;");
        } else {
            position = declare("iterator", "java.util.Iterator<?>", "null");
            in.simple(position + " = (" + source + ").iterator();");
        }
    }

    private String declare(String role, String type, String value) {
        String name = in.unit.temporary((Tree) tree, role, type);
        in.declare(name, type, value);
        return name;
    }

    String condition() {
        return isArray ? position + " < " + array + ".length" : position + ".hasNext()";
    }

    /** Returns the expression that advances to the next element; null if fetching an element does that. */
    String advance() {
        return isArray ? position + "++" : null;
    }

    String element() {
        if (isArray) {
            return array + "[" + position + "]";
        }
        return "(" + elementType() + ") (java.lang.Object) " + position + ".next()";
    }

    private String elementType() {
        Program program = in.program;
        TypeMirror variable = program.variable(tree.getVariable()).type;
        if (!variable.getKind().isPrimitive()) {
            return in.variableType(program.variable(tree.getVariable()));
        }
        // The elements are boxed, and a cast such as (long) of an Integer would fail.
        DeclaredType source = (DeclaredType) program.types.capture(upper(program.type(tree.getExpression())));
        TypeMirror iterator = ((ExecutableType) program.types.asMemberOf(source, method("java.lang.Iterable", "iterator"))).getReturnType();
        TypeMirror element = ((ExecutableType) program.types.asMemberOf((DeclaredType) program.types.capture(iterator),
            method("java.util.Iterator", "next"))).getReturnType();
        return in.typeNames.of(program.types.unboxedType(upper(element)));
    }

    private static TypeMirror upper(TypeMirror type) {
        return type.getKind() == TypeKind.TYPEVAR ? upper(((javax.lang.model.type.TypeVariable) type).getUpperBound()) : type;
    }

    private ExecutableElement method(String type, String name) {
        return ElementFilter.methodsIn(in.program.elements.getTypeElement(type).getEnclosedElements()).stream()
            .filter(method -> method.getSimpleName().contentEquals(name)).findFirst().orElseThrow();
    }
}
