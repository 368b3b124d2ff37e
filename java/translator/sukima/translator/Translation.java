// SPDX-License-Identifier: Apache-2.0
package sukima.translator;

import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.Tree;
import java.util.TreeMap;

/** The standard Java text of a file. Text outside translated methods stays as it is. */
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

    /** The translated text, null if the file needs no translation. */
    static Marks of(Program program, CaptureGraph graph, CompilationUnitTree file) {
        Translation translation = new Translation(program, graph, file);
        for (Unit unit : program.units) {
            if (!unit.isNested() && unit.isTranslated() && program.file(unit.tree()) == file) {
                translation.translate(unit);
            }
        }
        return translation.edits.isEmpty() ? null : translation.apply();
    }

    private void translate(Unit unit) {
        MethodTree method = (MethodTree) unit.tree();
        if (unit.mayBeCaptured) {
            int start = program.start(method);
            edits.put(start, new Edit(start, "@sukima.closures.Capturing " + mark(start)));
        }
        int end = program.end(method.getBody());
        String body = new FastWriter(program, unit, graph).body();
        edits.put(program.start(method.getBody()), new Edit(end, body + mark(end)));
        Tree type = unit.path.getParentPath().getLeaf();
        int brace = program.end((ClassTree) type) - 1;
        String frame = new FrameWriter(program, unit, graph).declaration();
        edits.merge(brace, new Edit(brace, frame + mark(brace)), (old, added) -> new Edit(brace, old.text() + added.text()));
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
