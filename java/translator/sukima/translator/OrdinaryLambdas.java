// SPDX-License-Identifier: Apache-2.0
package sukima.translator;

import com.sun.source.tree.TypeParameterTree;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The text of ordinary lambdas whose body is translated. The body becomes a method with the variables of the surrounding
 * units as parameters, because these never change. The lambda only calls that method, so it needs no frame.
 */
final class OrdinaryLambdas {
    private OrdinaryLambdas() {}

    /** Returns the lambda itself, for a place where variables have these names. */
    static String text(Program program, Unit lambda, Function<Variable, String> nameOf) {
        String source = program.source(program.file(lambda.tree()));
        String parameters = lambda.parameters().stream().map(parameter -> source.substring(program.start(parameter), program.end(parameter)))
            .collect(Collectors.joining(", ")); // with their types if the source has them
        String arguments = Stream.concat(lambda.captured.keySet().stream().map(nameOf),
            lambda.parameters().stream().map(parameter -> parameter.getName().toString())).collect(Collectors.joining(", "));
        String receiver = lambda.enclosing.getSimpleName() + (lambda.isStatic() ? "." : ".this.");
        return "(" + parameters + ") -> " + receiver + typeArguments(lambda) + lambda.lambdaMethod() + "(" + arguments + ")";
    }

    private static String typeArguments(Unit lambda) {
        List<? extends TypeParameterTree> parameters = FrameWriter.parameters(lambda);
        return parameters.isEmpty() ? "" : parameters.stream().map(parameter -> parameter.getName().toString())
            .collect(Collectors.joining(", ", "<", ">"));
    }

    /** Returns the method with the lambda's body. */
    static String method(Program program, CaptureGraph graph, Unit lambda) {
        FastWriter writer = new FastWriter(program, lambda, graph);
        String typeParameters = FrameWriter.parameters(lambda).stream().map(writer.renderer::text).collect(Collectors.joining(", "));
        return "\nprivate " + (lambda.isStatic() ? "static " : "") + (typeParameters.isEmpty() ? "" : "<" + typeParameters + "> ")
            + NestedFunctions.name(writer, lambda, lambda.result()) + " " + lambda.lambdaMethod() + NestedFunctions.parameters(writer, lambda)
            + NestedFunctions.thrown(writer, lambda) + " " + writer.body() + "\n";
    }
}
