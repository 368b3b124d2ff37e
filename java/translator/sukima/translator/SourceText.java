// SPDX-License-Identifier: Apache-2.0
package sukima.translator;

import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;

/** A translated source in memory, under the name of the original. */
final class SourceText extends SimpleJavaFileObject {
    private final Marks marks;
    private final JavaFileObject original;

    SourceText(JavaFileObject original, Marks marks) {
        super(original.toUri(), Kind.SOURCE);
        this.original = original;
        this.marks = marks;
    }

    @Override
    public String getName() {
        return original.getName();
    }

    @Override
    public CharSequence getCharContent(boolean ignoreEncodingErrors) {
        return marks.text;
    }

    @Override
    public boolean isNameCompatible(String simpleName, Kind kind) {
        return original.isNameCompatible(simpleName, kind);
    }

}
