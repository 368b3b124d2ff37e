// SPDX-License-Identifier: Apache-2.0
package sukima.translator;

import com.sun.tools.javac.code.Type;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import javax.lang.model.element.Element;
import javax.lang.model.element.ElementKind;
import javax.lang.model.element.Modifier;
import javax.lang.model.element.TypeElement;
import javax.lang.model.type.ArrayType;
import javax.lang.model.type.DeclaredType;
import javax.lang.model.type.IntersectionType;
import javax.lang.model.type.TypeKind;
import javax.lang.model.type.TypeMirror;
import javax.lang.model.type.TypeVariable;
import javax.lang.model.type.UnionType;
import javax.lang.model.type.WildcardType;

/** Writes types in the form that a source can contain. */
final class TypeNames {
    private static final Set<String> PRIMITIVE = Set.of("boolean", "byte", "short", "int", "long", "char", "float", "double");

    private final Program program;

    TypeNames(Program program) {
        this.program = program;
    }

    /** Returns the text of the type; null if it cannot be written. */
    String of(TypeMirror type) {
        switch (type.getKind()) {
            case BOOLEAN, BYTE, SHORT, INT, LONG, CHAR, FLOAT, DOUBLE, VOID:
                return type.getKind().name().toLowerCase(java.util.Locale.ROOT);
            case NULL:
                return "java.lang.Object";
            case ARRAY:
                String element = of(((ArrayType) type).getComponentType());
                return element == null ? null : element + "[]";
            case TYPEVAR:
                return ofVariable((TypeVariable) type);
            case DECLARED:
                return ofDeclared((DeclaredType) type);
            case UNION:
                return of(commonClass((UnionType) type));
            default:
                return null;
        }
    }

    private static boolean isCaptured(TypeMirror type) {
        return type.getKind() == TypeKind.TYPEVAR && ((TypeVariable) type).asElement().getSimpleName().toString().startsWith("<");
    }

    private String ofVariable(TypeVariable type) {
        return isCaptured(type) ? of(type.getUpperBound()) : type.asElement().getSimpleName().toString();
    }

    private String ofDeclared(DeclaredType type) {
        TypeElement element = (TypeElement) type.asElement();
        if (element.getSimpleName().length() == 0) {
            return null;
        }
        boolean isInner = type.getEnclosingType().getKind() == TypeKind.DECLARED && !element.getModifiers().contains(Modifier.STATIC);
        String outer = isInner ? of(type.getEnclosingType()) : null;
        String name = outer == null ? element.getQualifiedName().toString() : outer + "." + element.getSimpleName();
        if (element.getEnclosingElement().getKind() == ElementKind.METHOD) {
            name = element.getSimpleName().toString();
        }
        List<? extends TypeMirror> arguments = type.getTypeArguments();
        if (arguments.isEmpty()) {
            return name;
        }
        List<String> names = arguments.stream().map(this::ofArgument).collect(Collectors.toList());
        return names.contains(null) ? null : name + "<" + String.join(", ", names) + ">";
    }

    private String ofArgument(TypeMirror argument) {
        if (argument instanceof WildcardType wildcard) {
            return ofWildcard(wildcard);
        }
        if (argument instanceof Type.CapturedType captured) {
            return ofWildcard(captured.wildcard); // the bounds of the variable may contain the variable itself
        }
        return of(argument);
    }

    private String ofWildcard(WildcardType wildcard) {
        if (wildcard.getExtendsBound() != null) {
            return bounded("extends", wildcard.getExtendsBound());
        }
        return wildcard.getSuperBound() != null ? bounded("super", wildcard.getSuperBound()) : "?";
    }

    private String bounded(String word, TypeMirror bound) {
        String name = of(bound);
        return name == null ? null : "? " + word + " " + name;
    }

    /** Returns the nearest class that all exceptions of a multi-catch extend. */
    private TypeMirror commonClass(UnionType union) {
        TypeMirror found = union.getAlternatives().get(0);
        while (true) {
            TypeMirror candidate = found;
            if (union.getAlternatives().stream().allMatch(type -> program.types.isSubtype(type, candidate))) {
                return found;
            }
            found = program.types.directSupertypes(found).get(0);
        }
    }

    /**
     * Returns the text of a value that a variable of the type's name holds, for a place in that class. The parameter of a
     * multi-catch also has the common interfaces of its exceptions, which the name cannot express, but a cast can.
     */
    String typed(String value, TypeMirror type, TypeElement place) {
        if (!(type instanceof UnionType union) || !(((Type) type).tsym.type instanceof IntersectionType common)) {
            return value;
        }
        String interfaces = common.getBounds().stream().filter(bound -> isAccessibleInterface(bound, place))
            .map(bound -> " & " + ofInterface((DeclaredType) bound)).collect(Collectors.joining());
        return interfaces.isEmpty() ? value : "((" + of(union) + interfaces + ") " + value + ")";
    }

    /** Returns the text of the type, without its arguments if these cannot be written. */
    private String ofInterface(DeclaredType type) {
        String name = of(type);
        return name != null ? name : ((TypeElement) type.asElement()).getQualifiedName()
            + type.getTypeArguments().stream().map(argument -> "?").collect(Collectors.joining(", ", "<", ">"));
    }

    private boolean isAccessibleInterface(TypeMirror type, TypeElement place) {
        Element element = program.types.asElement(type);
        if (!element.getKind().isInterface()) {
            return false;
        }
        boolean isInPackage = program.elements.getPackageOf(element).equals(program.elements.getPackageOf(place));
        boolean isInFile = outermost(element).equals(outermost(place));
        boolean isAccessible = true;
        for (Element at = element; at.getKind() != ElementKind.PACKAGE; at = at.getEnclosingElement()) {
            boolean isPrivate = at.getModifiers().contains(Modifier.PRIVATE);
            isAccessible &= isInFile || !isPrivate && (isInPackage || at.getModifiers().contains(Modifier.PUBLIC));
        }
        return isAccessible;
    }

    private static Element outermost(Element element) {
        Element at = element;
        while (at.getEnclosingElement().getKind() != ElementKind.PACKAGE) {
            at = at.getEnclosingElement();
        }
        return at;
    }

    /** Returns whether a type of that name is a primitive type. */
    static boolean isPrimitive(String name) {
        return PRIMITIVE.contains(name);
    }

    /** Returns the value of a variable of the type before the program gives it one. */
    static String defaultValue(TypeMirror type) {
        switch (type.getKind()) {
            case BOOLEAN:
                return "false";
            case BYTE, SHORT, INT, LONG, CHAR, FLOAT, DOUBLE:
                return "0";
            default:
                return "null";
        }
    }
}
