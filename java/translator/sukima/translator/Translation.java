// SPDX-License-Identifier: Apache-2.0
package sukima.translator;

import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.Tree;
import com.sun.source.tree.VariableTree;
import java.util.List;
import java.util.TreeMap;
import java.util.stream.Stream;
import javax.lang.model.element.ExecutableElement;

/** The standard Java text of a file. Text outside translated methods does not change. */
final class Translation {
    private record Edit(int end, String text) {}

    private final Program program;
    private final CaptureGraph graph;
    private final CompilationUnitTree file;
    private final String source;
    private final TreeMap<Integer, Edit> edits = new TreeMap<>();

    private Translation(Program program, CaptureGraph graph, CompilationUnitTree file) {
        this.program = program;
        this.graph = graph;
        this.file = file;
        source = program.source(file);
    }

    /** Returns the translated text; null if the file needs no translation. */
    static Marks of(Program program, CaptureGraph graph, CompilationUnitTree file) {
        Translation translation = new Translation(program, graph, file);
        for (Unit unit : program.units) {
            if (!unit.isNested() && unit.isTranslated() && program.file(unit.tree()) == file) {
                translation.translate(unit);
            }
        }
        Stream<Tree> withBody = program.units.stream().map(Unit::tree).filter(tree -> tree instanceof MethodTree);
        Stream.concat(program.abstractMethods.stream(), withBody)
            .filter(method -> program.file(method) == file && graph.needsMark((ExecutableElement) program.element(method)))
            .forEach(translation::markCapturing);
        if (translation.edits.isEmpty()) {
            return null;
        }
        int at = Marks.find(translation.source);
        if (at >= 0) {
            program.refuse(file, at, "the file contains the control character with the code " + (int) translation.source.charAt(at)
                + ", which the translation uses itself: write it as an escape sequence such as \\1 in a string, and remove it elsewhere");
            return null;
        }
        return translation.apply();
    }

    private void translate(Unit unit) {
        if (unit.isLambda()) {
            translateLambda(unit);
        } else {
            translateMethod(unit);
        }
        addMember(unit, new FrameWriter(program, unit, graph).declaration());
    }

    private void translateMethod(Unit unit) {
        MethodTree method = (MethodTree) unit.tree();
        if (unit.isConstructor()) {
            releaseFinalFields(unit);
        }
        int end = program.end(method.getBody());
        String body = new FastWriter(program, unit, graph).body();
        edits.put(program.start(method.getBody()), new Edit(end, body + mark(end)));
    }

    /**
     * Removes `final` from these fields, because the frame cannot assign final fields. All constructors of the class get the
     * fence that replaces it.
     */
    private void releaseFinalFields(Unit constructor) {
        List<VariableTree> fields = Constructors.finalFields(program, constructor);
        for (VariableTree field : fields) {
            int at = Constructors.positionOfFinal(program, field);
            edits.put(at, new Edit(at + "final".length(), ""));
        }
        if (fields.isEmpty()) {
            return;
        }
        for (Tree member : constructor.enclosingClass().getMembers()) {
            Unit other = program.unitOf.get(member);
            if (other != null && other.isConstructor() && !other.isTranslated()) {
                MethodTree method = (MethodTree) member;
                int start = Constructors.startOfOwn(program, method);
                int end = program.end(method.getBody()) - 1;
                if (start < end) { // otherwise only the other constructor has statements, and it has the fence
                    edits.put(start, new Edit(start, " try {"));
                    edits.put(end, new Edit(end, "} finally { " + Constructors.FREEZE + "}"));
                }
            }
        }
    }

    /**
     * Makes a method of the lambda's body. If a translated unit surrounds the lambda, that unit's text already calls the
     * method.
     */
    private void translateLambda(Unit unit) {
        addMember(unit, OrdinaryLambdas.method(program, graph, unit));
        Unit above = unit.around;
        while (above != null && !above.isTranslated()) {
            above = above.around;
        }
        if (above == null) {
            int end = program.end(unit.tree());
            edits.put(program.start(unit.tree()), new Edit(end, OrdinaryLambdas.text(program, unit, variable -> variable.name) + mark(end)));
        }
    }

    private void markCapturing(Tree method) {
        int start = program.start(method);
        edits.put(start, new Edit(start, "@sukima.closures.Capturing " + mark(start)));
    }

    private void addMember(Unit unit, String text) {
        int brace = program.end(unit.enclosingClass()) - 1;
        edits.merge(brace, new Edit(brace, text + mark(brace)), (old, added) -> new Edit(brace, old.text() + added.text()));
    }

    private String mark(int position) {
        return Marks.line((int) file.getLineMap().getLineNumber(position));
    }

    private Marks apply() {
        StringBuilder text = new StringBuilder();
        int at = 0;
        for (var edit : edits.entrySet()) {
            text.append(source, at, edit.getKey()).append(edit.getValue().text());
            at = edit.getValue().end();
        }
        return new Marks(text.append(source, at, source.length()).toString());
    }
}
