// SPDX-License-Identifier: Apache-2.0
package sukima.translator;

import com.sun.source.tree.ArrayAccessTree;
import com.sun.source.tree.BinaryTree;
import com.sun.source.tree.CompoundAssignmentTree;
import com.sun.source.tree.ExpressionTree;
import com.sun.source.tree.MethodInvocationTree;
import com.sun.source.tree.NewArrayTree;
import com.sun.source.tree.NewClassTree;
import com.sun.source.tree.Tree;
import com.sun.tools.javac.tree.JCTree;
import java.util.List;
import javax.lang.model.element.ExecutableElement;
import javax.lang.model.element.VariableElement;
import javax.lang.model.type.ArrayType;
import javax.lang.model.type.TypeKind;
import javax.lang.model.type.TypeMirror;

/** The conversions of operands that can throw an exception before the next operand is evaluated. */
final class Conversions {
    private Conversions() {}

    /** Returns the primitive type to which Java converts the boxed operand before it evaluates the next one; null if none. */
    static TypeMirror unboxed(Program program, ExpressionTree operand) {
        TypeMirror type = program.type(operand);
        if (type == null || type.getKind() != TypeKind.DECLARED || !isPrimitive(wanted(program, operand))) {
            return null;
        }
        try {
            return program.types.unboxedType(type);
        } catch (IllegalArgumentException e) {
            return null; // for example the array that a parameter list of variable length receives
        }
    }

    /** Returns whether the expression around an object needs only that: for example a parameter of the type Object. */
    static boolean isWantedAsObject(Program program, ExpressionTree operand) {
        TypeMirror type = program.type(operand);
        TypeMirror wanted = type == null || type.getKind() != TypeKind.DECLARED ? null : wanted(program, operand);
        return wanted != null && program.types.isSameType(wanted, program.objectType);
    }

    private static boolean isPrimitive(TypeMirror type) {
        return type != null && type.getKind().isPrimitive();
    }

    /** Returns the type that the expression around the operand needs; null if it is not known. */
    private static TypeMirror wanted(Program program, ExpressionTree operand) {
        Tree user = program.parent(operand);
        if (user instanceof BinaryTree binary) {
            return ((JCTree.JCBinary) user).operator.type.getParameterTypes().get(binary.getLeftOperand() == operand ? 0 : 1);
        }
        if (user instanceof CompoundAssignmentTree compound && compound.getVariable() == operand) {
            return ((JCTree.JCAssignOp) user).operator.type.getParameterTypes().get(0);
        }
        if (user instanceof ArrayAccessTree access) {
            return access.getIndex() == operand ? program.types.getPrimitiveType(TypeKind.INT) : null;
        }
        if (user instanceof NewArrayTree array) {
            return array.getDimensions().contains(operand) ? program.types.getPrimitiveType(TypeKind.INT)
                : ((ArrayType) program.type(user)).getComponentType();
        }
        if (user instanceof MethodInvocationTree call) {
            return parameter(program, call, call.getArguments().indexOf(operand));
        }
        return user instanceof NewClassTree creation ? parameter(program, creation, creation.getArguments().indexOf(operand)) : null;
    }

    private static TypeMirror parameter(Program program, Tree call, int index) {
        if (index < 0 || !(program.element(call) instanceof ExecutableElement callee)) {
            return null;
        }
        List<? extends VariableElement> parameters = callee.getParameters();
        int last = parameters.size() - 1;
        if (callee.isVarArgs() && index >= last) {
            return ((ArrayType) parameters.get(last).asType()).getComponentType();
        }
        return index <= last ? parameters.get(index).asType() : null;
    }

    /** Returns whether the operand is the object whose inner class is instantiated. Java checks it before the arguments. */
    static boolean isOuterObject(Program program, ExpressionTree operand) {
        return program.parent(operand) instanceof NewClassTree creation && creation.getEnclosingExpression() == operand;
    }
}
