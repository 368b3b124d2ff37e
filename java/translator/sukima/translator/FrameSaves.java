// SPDX-License-Identifier: Apache-2.0
package sukima.translator;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * The methods that store a unit's variables in a new frame. They keep the usual form short: the length of a method,
 * including its handlers, determines whether the virtual machine inlines it and how well it compiles it.
 */
final class FrameSaves {
    /** A method can have at most 255 words of parameters, and a value takes up to two. */
    private static final int MOST_VALUES = 120;

    private final Unit unit;
    /** The fields that each method stores. */
    private final List<List<String>> methods = new ArrayList<>();

    FrameSaves(Unit unit) {
        this.unit = unit;
    }

    /**
     * Returns the end of a handler: it makes a frame of that state with these values of its fields, and passes the capture
     * on.
     */
    String handler(int state, String frameClass, Map<String, String> values) {
        if (values.size() > MOST_VALUES) {
            return body(String.valueOf(state), frameClass, values, "throw");
        }
        List<String> fields = List.copyOf(values.keySet());
        if (!methods.contains(fields)) {
            methods.add(fields);
        }
        return "throw " + method(methods.indexOf(fields)) + "(c$, " + state
            + values.values().stream().map(value -> ", " + value).collect(Collectors.joining()) + ");";
    }

    private String method(int index) {
        return "save$" + unit.number + "_" + index;
    }

    private String body(String state, String frameClass, Map<String, String> values, String leave) {
        StringBuilder text = new StringBuilder(frameClass + " f$ = new " + frameClass + "(" + state + "); ");
        values.forEach((field, value) -> text.append("f$.").append(field).append(" = ").append(value).append("; "));
        if (unit.isOwner()) {
            text.append(unit.owner()).append(".sleep(f$); ");
        }
        return text.append(leave).append(" c$.add(f$);").toString();
    }

    /** Returns the methods. The types are those of the fields, by name. */
    String declarations(String typeParameters, String frameClass, Map<String, String> types) {
        StringBuilder text = new StringBuilder();
        String head = "\n@SuppressWarnings(\"all\") private " + (!unit.isNested() && unit.isStatic() ? "static " : "") + typeParameters
            + (typeParameters.isEmpty() ? "" : " ") + "sukima.closures.Capture ";
        for (List<String> fields : methods) {
            Map<String, String> values = new LinkedHashMap<>();
            fields.forEach(field -> values.put(field, field));
            text.append(head).append(method(methods.indexOf(fields))).append("(sukima.closures.Capture c$, int state$")
                .append(fields.stream().map(field -> ", " + types.get(field) + " " + field).collect(Collectors.joining())).append(") { ")
                .append(body("state$", frameClass, values, "return")).append(" }\n");
        }
        return text.toString();
    }
}
