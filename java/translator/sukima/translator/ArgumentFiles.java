// SPDX-License-Identifier: Apache-2.0
package sukima.translator;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Arguments of the form @FILE, as javac reads them. Build tools use them for long command lines. */
final class ArgumentFiles {
    private ArgumentFiles() {}

    /** Replaces each @FILE by the arguments in that file; `@@x` stands for `@x`. */
    static List<String> expand(String[] arguments) {
        List<String> all = new ArrayList<>();
        for (String argument : arguments) {
            if (argument.startsWith("@@")) {
                all.add(argument.substring(1));
            } else if (argument.startsWith("@") && argument.length() > 1) {
                all.addAll(words(read(Path.of(argument.substring(1)))));
            } else {
                all.add(argument);
            }
        }
        return all;
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (NoSuchFileException e) {
            throw new IllegalArgumentException("there is no argument file " + file, e);
        } catch (IOException e) {
            throw new IllegalArgumentException("the argument file " + file + " cannot be read as UTF-8 text: " + e, e);
        }
    }

    /** Splits at blanks outside quotes. A backslash in quotes preserves the next character; # starts a comment. */
    private static List<String> words(String text) {
        List<String> words = new ArrayList<>();
        StringBuilder word = null;
        char quote = 0;
        for (int at = 0; at < text.length(); at++) {
            char c = text.charAt(at);
            boolean isBlank = quote == 0 && Character.isWhitespace(c);
            if (isBlank || quote == 0 && word == null && c == '#') {
                if (word != null) {
                    words.add(word.toString());
                }
                word = null;
                at = c == '#' ? endOfLine(text, at) : at;
                continue;
            }
            word = word == null ? new StringBuilder() : word;
            if (quote != 0 && c == '\\' && at + 1 < text.length()) {
                word.append(escaped(text.charAt(++at)));
            } else if (c == quote) {
                quote = 0;
            } else if (quote == 0 && (c == '"' || c == '\'')) {
                quote = c;
            } else {
                word.append(c);
            }
        }
        if (word != null) {
            words.add(word.toString());
        }
        return words;
    }

    private static int endOfLine(String text, int from) {
        int end = text.indexOf('\n', from);
        return end < 0 ? text.length() : end;
    }

    private static char escaped(char c) {
        return switch (c) {
            case 'n' -> '\n';
            case 't' -> '\t';
            case 'r' -> '\r';
            case 'f' -> '\f';
            default -> c;
        };
    }
}
