// SPDX-License-Identifier: Apache-2.0
package sukima.translator;

import java.util.TreeMap;

/**
 * Generated text with the source lines from which its parts come. Until the text is complete, marks in it carry these lines.
 */
final class Marks {
    private static final char BEGIN = '\u0001';
    private static final char END = '\u0002';
    /** The end of a line that does not exist in the source. */
    static final char NEW_LINE = '\u0003';

    final String text;
    /** Source lines by the positions where they begin. */
    private final TreeMap<Integer, Integer> lines = new TreeMap<>();

    Marks(String marked) {
        StringBuilder plain = new StringBuilder();
        int line = 1;
        lines.put(0, line);
        for (int at = 0; at < marked.length(); at++) {
            char c = marked.charAt(at);
            if (c == BEGIN) {
                int end = marked.indexOf(END, at);
                line = Integer.parseInt(marked, at + 1, end, 10);
                at = end;
            } else {
                plain.append(c == NEW_LINE ? '\n' : c);
                line += c == '\n' ? 1 : 0;
            }
            if (c == BEGIN || c == '\n') {
                lines.put(plain.length(), line);
            }
        }
        text = plain.toString();
    }

    /** Returns a mark: the text after it comes from that line. */
    static String line(int number) {
        return String.valueOf(BEGIN) + number + END;
    }

    /** Returns the position of the first character of a source that looks like a part of a mark; -1 if there is none. */
    static int find(String source) {
        int at = (int) source.chars().takeWhile(c -> c < BEGIN || c > NEW_LINE).count();
        return at == source.length() ? -1 : at;
    }

    int lineAt(int position) {
        return lines.floorEntry(position).getValue();
    }
}
