// SPDX-License-Identifier: Apache-2.0
package sukima.translator;

import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.MemberReferenceTree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.TaskEvent;
import com.sun.source.util.TaskListener;
import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.StandardLocation;
import javax.tools.ToolProvider;

/** One run of the command: javac analyses the sources and then compiles their translation. */
final class Compilation {
    private static final int FAILED = 1;
    private static final int WRONG_USE = 2;
    private static final Set<String> CLASS_PATH = Set.of("-cp", "-classpath", "--class-path");
    private static final String CLASS_PATH_WITH_VALUE = "--class-path=";
    /** Options for which javac prints something and needs no sources. */
    private static final Set<String> INFORMATION = Set.of("-version", "--version", "-fullversion", "--full-version", "-X", "--help-extra",
        "--help-lint");
    private static final String UNWRITTEN_CLASS = "compiler.err.class.cant.write";

    private final JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    private final List<String> options = new ArrayList<>();
    private final List<Path> files = new ArrayList<>();
    private Path printFolder;

    /** Returns the exit code: 0, 1 after errors in the sources, 2 after wrong arguments. */
    int run(String[] arguments) {
        try (StandardJavaFileManager manager = compiler.getStandardFileManager(null, null, null)) {
            read(ArgumentFiles.expand(arguments).toArray(String[]::new), manager);
            if (files.isEmpty()) {
                return inform();
            }
            addRuntime();
            return compile(manager);
        } catch (IllegalArgumentException e) {
            String message = e.getMessage().replaceFirst("^error: ", ""); // javac's own messages begin like that
            System.err.println("sukima-javac: " + message + "; see sukima-javac --help");
            return WRONG_USE;
        } catch (IOException e) {
            System.err.println("sukima-javac: " + e);
            return FAILED;
        }
    }

    /** The manager knows options of its own, such as {@code -d}. */
    private void read(String[] arguments, StandardJavaFileManager manager) {
        for (int i = 0; i < arguments.length; i++) {
            String argument = arguments[i];
            if (argument.endsWith(".java")) {
                files.add(existing(Path.of(argument)));
            } else if (argument.equals("--print-java")) {
                printFolder = Path.of(valueOf(arguments, i++));
            } else if (CLASS_PATH.contains(argument)) {
                options.addAll(List.of(argument, valueOf(arguments, i++)));
            } else if (argument.startsWith(CLASS_PATH_WITH_VALUE)) {
                options.addAll(List.of("-cp", argument.substring(CLASS_PATH_WITH_VALUE.length())));
            } else {
                options.add(argument);
                boolean holdsValue = argument.startsWith("--") && argument.contains("="); // --release=17
                if (!holdsValue && (compiler.isSupportedOption(argument) > 0 || manager.isSupportedOption(argument) > 0)) {
                    options.add(valueOf(arguments, i++));
                }
            }
        }
    }

    /** Lets javac answer a question, such as that for its version. */
    private int inform() {
        if (options.stream().noneMatch(INFORMATION::contains)) {
            throw new IllegalArgumentException("no source files; give at least one FILE.java");
        }
        return compiler.run(null, System.out, System.err, options.toArray(String[]::new));
    }

    /** Adds the runtime to the last class path, which javac uses. The script that starts the command passes its place. */
    private void addRuntime() {
        String runtime = System.getProperty("sukima.runtime");
        if (runtime == null) {
            return;
        }
        for (int i = options.size() - 2; i >= 0; i--) {
            if (CLASS_PATH.contains(options.get(i))) {
                options.set(i + 1, options.get(i + 1) + File.pathSeparator + runtime);
                return;
            }
        }
        String given = System.getenv("CLASSPATH");
        options.addAll(List.of("-cp", (given == null ? "." : given) + File.pathSeparator + runtime));
    }

    private static Path existing(Path file) {
        if (!Files.isRegularFile(file)) {
            throw new IllegalArgumentException("there is no file " + file);
        }
        return file;
    }

    private static String valueOf(String[] arguments, int option) {
        if (option + 1 >= arguments.length) {
            throw new IllegalArgumentException("the option " + arguments[option] + " needs a value");
        }
        return arguments[option + 1];
    }

    private int compile(StandardJavaFileManager manager) throws IOException {
        DiagnosticCollector<JavaFileObject> diagnostics = new DiagnosticCollector<>();
        List<String> first = new ArrayList<>(options);
        first.add("-proc:none");
        first.add("-XDshould-stop.ifError=FLOW"); // the default: changed variables are errors here, and flow analysis must run anyway
        JavacTask task = (JavacTask) compiler.getTask(null, manager, diagnostics, first, null, manager.getJavaFileObjectsFromPaths(files));
        List<CompilationUnitTree> trees = analysed(task);
        Program program = new Program(task);
        if (!program.hasRuntime()) {
            System.err.println("sukima-javac: the package sukima.closures is not on the class path: add Sukima's runtime to the class path");
            return WRONG_USE;
        }
        if (diagnostics.getDiagnostics().stream().anyMatch(Compilation::isOther)) {
            int result = report(diagnostics.getDiagnostics().stream().filter(each -> !each.getCode().equals(FirstErrors.CAPTURE)).toList());
            if (diagnostics.getDiagnostics().stream().anyMatch(Compilation::isUnknownName) && usesProcessors(manager)) {
                System.err.println("sukima-javac: annotation processors run on the translation, so they cannot make classes that the sources "
                    + "need: let javac -proc:only -s FOLDER make them first, and compile them with the sources and -proc:none");
            }
            return result;
        }
        List<Analysis.Call> calls = new ArrayList<>();
        List<MemberReferenceTree> references = new ArrayList<>();
        for (CompilationUnitTree tree : trees) {
            Analysis analysis = new Analysis(program);
            analysis.scan(tree, null);
            calls.addAll(analysis.calls);
            references.addAll(analysis.references);
        }
        if (report(new FirstErrors(program, trees).remaining(diagnostics.getDiagnostics())) != 0) {
            return FAILED;
        }
        return translate(program, new CaptureGraph(program, calls, references), trees);
    }

    /** Analyses the sources, and returns them with those that javac finds by itself and would compile, too. */
    private List<CompilationUnitTree> analysed(JavacTask task) throws IOException {
        List<CompilationUnitTree> parsed = new ArrayList<>();
        task.addTaskListener(new TaskListener() {
            @Override
            public void finished(TaskEvent event) {
                if (event.getKind() == TaskEvent.Kind.PARSE) {
                    parsed.add(event.getCompilationUnit());
                }
            }
        });
        task.parse();
        int given = parsed.size();
        task.analyze();
        return List.copyOf(options.contains("-implicit:none") ? parsed.subList(0, given) : parsed);
    }

    /** Returns whether this is an error that nested functions do not permit. After such an error the trees may lack types. */
    private static boolean isOther(Diagnostic<?> diagnostic) {
        return diagnostic.getKind() == Diagnostic.Kind.ERROR && !diagnostic.getCode().equals(FirstErrors.CAPTURE);
    }

    private static boolean isUnknownName(Diagnostic<?> diagnostic) {
        return diagnostic.getCode().startsWith("compiler.err.cant.resolve") || diagnostic.getCode().equals("compiler.err.doesnt.exist");
    }

    /** Returns whether javac would run annotation processors. The manager must know the options. */
    private boolean usesProcessors(StandardJavaFileManager manager) throws IOException {
        return !options.contains("-proc:none") && (options.contains("-processor") || manager.hasLocation(StandardLocation.ANNOTATION_PROCESSOR_PATH)
            || manager.getFileForInput(StandardLocation.CLASS_PATH, "", "META-INF/services/javax.annotation.processing.Processor") != null);
    }

    private int translate(Program program, CaptureGraph graph, List<CompilationUnitTree> trees) throws IOException {
        Refusals.check(program);
        Turns.find(program);
        Map<CompilationUnitTree, Marks> translations = new IdentityHashMap<>();
        if (!program.hasErrors()) {
            trees.forEach(tree -> translations.put(tree, Translation.of(program, graph, tree)));
        }
        if (program.hasErrors()) {
            program.errors().forEach(System.err::println);
            System.err.println(program.errors().size() == 1 ? "1 error" : program.errors().size() + " errors");
            return FAILED;
        }
        List<JavaFileObject> sources = new ArrayList<>();
        Map<URI, Marks> marks = new HashMap<>();
        for (CompilationUnitTree tree : trees) {
            Marks translated = translations.get(tree);
            sources.add(translated == null ? tree.getSourceFile() : new SourceText(tree.getSourceFile(), translated));
            if (translated != null) {
                marks.put(tree.getSourceFile().toUri(), translated);
            }
            if (printFolder != null) {
                print(tree, translated == null ? program.source(tree) : translated.text);
            }
        }
        return compileTranslated(sources, marks);
    }

    private void print(CompilationUnitTree tree, String text) {
        String folder = tree.getPackageName() == null ? "" : tree.getPackageName().toString().replace('.', '/');
        Path to = printFolder.resolve(folder).resolve(Path.of(tree.getSourceFile().getName()).getFileName());
        try {
            Files.createDirectories(to.getParent());
            Files.writeString(to, text, StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new IllegalArgumentException("--print-java cannot write " + to + " (" + e + "): give another folder", e);
        }
    }

    private int compileTranslated(List<JavaFileObject> sources, Map<URI, Marks> marks) throws IOException {
        DiagnosticCollector<JavaFileObject> diagnostics = new DiagnosticCollector<>();
        List<String> second = new ArrayList<>(options);
        second.add("-nowarn"); // the first run has reported warnings
        second.add("-Xlint:none");
        try (StandardJavaFileManager manager = compiler.getStandardFileManager(null, null, null)) {
            JavacTask task = (JavacTask) compiler.getTask(null, manager, diagnostics, second, null, sources);
            task.addTaskListener(new OriginalLines(marks));
            boolean isCompiled = task.call();
            for (var each : diagnostics.getDiagnostics()) {
                if (each.getKind() == Diagnostic.Kind.ERROR) {
                    System.err.println(describe(each, marks));
                }
            }
            return isCompiled ? 0 : FAILED;
        }
    }

    /** Describes an error. An error in a translation is caused by our limits or by an annotation processor. */
    private static String describe(Diagnostic<? extends JavaFileObject> error, Map<URI, Marks> marks) {
        String message = error.getMessage(Locale.ENGLISH);
        Marks translated = error.getSource() == null ? null : marks.get(error.getSource().toUri());
        if (translated != null) {
            return error.getSource().getName() + ":" + translated.lineAt((int) error.getPosition()) + ": error: "
                + (error.getCode().equals(UNWRITTEN_CLASS) ? message : "the translation of this line does not compile: use simpler "
                + "statements (" + message.replace('\n', ' ') + ")");
        }
        return error.toString();
    }

    private static int report(List<Diagnostic<? extends JavaFileObject>> diagnostics) {
        int result = 0;
        for (var each : diagnostics) {
            if (each.getKind() == Diagnostic.Kind.ERROR) {
                result = FAILED;
            }
            System.err.println(each);
        }
        return result;
    }
}
