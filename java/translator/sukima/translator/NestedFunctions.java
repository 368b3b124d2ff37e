// SPDX-License-Identifier: Apache-2.0
package sukima.translator;

import com.sun.source.tree.ExpressionTree;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import javax.lang.model.type.TypeMirror;

/** The text of nested functions: objects where they are created, methods in the frame of their owner. */
final class NestedFunctions {
    private NestedFunctions() {}

    /** Returns an object that finds the frame of its owner, or causes it to be made, and calls the function there. */
    static String creation(Normaliser in, Unit nested) {
        Unit owner = nested.outer;
        String type = name(in, nested, in.program.type(nested.tree()));
        String arguments = nested.parameters().stream().map(parameter -> parameter.getName().toString())
            .collect(Collectors.joining(", "));
        String frame = FrameWriter.classUse(in.program, owner);
        String call = "f$." + nested.bodyMethod() + "(" + arguments + ");";
        return "new " + type + "() { " + turn(in, nested) + "@Override public " + name(in, nested, nested.result()) + " " + nested.method.getSimpleName()
            + parameters(in, nested) + thrown(in, nested) + " { " + frame + " f$ = (" + frame + ") " + owner.owner()
            + ".enter(); " + checkOfTurn(nested) + (nested.isVoid() ? "" : "return ") + call
            + " } @Override public sukima.closures.Owner owner$() { return " + owner.owner() + "; } }";
    }

    private static String turn(Normaliser in, Unit nested) {
        String counter = nested.outer.turns.get(nested.loop);
        return counter == null ? "" : "final int turn$ = " + (in instanceof FastWriter ? FastWriter.fixed(counter) : counter) + "; ";
    }

    private static String checkOfTurn(Unit nested) {
        String counter = nested.outer.turns.get(nested.loop);
        return counter == null ? "" : "if (f$." + counter + " != turn$) { throw sukima.closures.EndedMethodException.ofIteration(\""
            + nested.outer.title() + "\"); } ";
    }

    /** Returns the method in the owner's frame. */
    static String method(Program program, CaptureGraph graph, Unit nested) {
        FastWriter writer = new FastWriter(program, nested, graph);
        return name(writer, nested, nested.result()) + " " + nested.bodyMethod() + parameters(writer, nested) + thrown(writer, nested)
            + " " + body(writer, nested) + "\n";
    }

    private static String body(FastWriter writer, Unit nested) {
        if (nested.isTranslated()) {
            return writer.body();
        }
        String text = writer.renderer.text(nested.body());
        if (nested.body() instanceof ExpressionTree) {
            text = (nested.isVoid() ? "" : "return ") + text + ";";
        }
        return "{ " + writer.takeCopies() + Marks.line(writer.program.line(nested.body())) + text + " }";
    }

    static String parameters(Normaliser in, Unit nested) {
        List<String> all = new ArrayList<>();
        nested.captured.values().forEach(copy -> all.add(in.variableType(copy) + " " + copy.name));
        List<? extends TypeMirror> types = nested.signature.getParameterTypes();
        for (int i = 0; i < types.size(); i++) {
            all.add(name(in, nested, types.get(i)) + " " + nested.parameters().get(i).getName());
        }
        return "(" + String.join(", ", all) + ")";
    }

    static String thrown(Normaliser in, Unit nested) {
        String names = nested.signature.getThrownTypes().stream().map(type -> name(in, nested, type)).collect(Collectors.joining(", "));
        return names.isEmpty() ? "" : " throws " + names;
    }

    static String name(Normaliser in, Unit nested, TypeMirror type) {
        String name = in.typeNames.of(type);
        if (name == null) {
            in.program.refuse(nested.tree(), "a type of this lambda has no name: use a named type");
            return "java.lang.Object";
        }
        return name;
    }
}
