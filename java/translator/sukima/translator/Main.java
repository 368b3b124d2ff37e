// SPDX-License-Identifier: Apache-2.0
package sukima.translator;

import java.util.List;
import java.util.stream.Stream;

/** The command: javac with nested functions. */
public final class Main {
    private static final String HELP = """
        usage: sukima-javac [--print-java FOLDER] [javac's options] FILE.java ...
        Compiles Java with nested functions: lambdas of types that extend sukima.closures.Nested.

          --print-java FOLDER  also write the translated sources into FOLDER
          --help               this text

        All other options are those of javac; docs/java.md describes the language.
        """;

    private Main() {}

    public static void main(String[] arguments) {
        if (Stream.of(arguments).anyMatch(List.of("--help", "-help")::contains)) {
            System.out.print(HELP);
            return;
        }
        System.exit(new Compilation().run(arguments));
    }
}
