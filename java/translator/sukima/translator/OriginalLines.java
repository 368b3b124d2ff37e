// SPDX-License-Identifier: Apache-2.0
package sukima.translator;

import com.sun.source.util.TaskEvent;
import com.sun.source.util.TaskListener;
import com.sun.tools.javac.tree.JCTree.JCCompilationUnit;
import com.sun.tools.javac.util.Position;
import java.net.URI;
import java.util.Map;

/** Gives classes of translated sources the line numbers of the originals, for stack traces and debuggers. */
final class OriginalLines implements TaskListener {
    private final Map<URI, Marks> translations;

    OriginalLines(Map<URI, Marks> translations) {
        this.translations = translations;
    }

    @Override
    public void finished(TaskEvent event) {
        Marks marks = event.getKind() == TaskEvent.Kind.PARSE ? translations.get(event.getSourceFile().toUri()) : null;
        if (marks != null) {
            JCCompilationUnit unit = (JCCompilationUnit) event.getCompilationUnit();
            unit.lineMap = new MarkedLines(marks, unit.getLineMap());
        }
    }

    private static final class MarkedLines implements Position.LineMap {
        private final Marks marks;
        private final Position.LineMap plain;

        MarkedLines(Marks marks, Position.LineMap plain) {
            this.marks = marks;
            this.plain = plain;
        }

        @Override
        public int getStartPosition(int line) {
            return plain.getStartPosition(line);
        }

        @Override
        public int getPosition(int line, int column) {
            return plain.getPosition(line, column);
        }

        @Override
        public int getLineNumber(int position) {
            return marks.lineAt(position);
        }

        @Override
        public int getColumnNumber(int position) {
            return plain.getColumnNumber(position);
        }

        @Override
        public long getStartPosition(long line) {
            return plain.getStartPosition(line);
        }

        @Override
        public long getPosition(long line, long column) {
            return plain.getPosition(line, column);
        }

        @Override
        public long getLineNumber(long position) {
            return marks.lineAt((int) position);
        }

        @Override
        public long getColumnNumber(long position) {
            return plain.getColumnNumber(position);
        }
    }
}
