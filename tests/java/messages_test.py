#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Refusals of sukima-javac, sources that it does not change, and errors at run time: messages_test.py SUKIMA_JAVAC RUNTIME"""
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import unittest

import machine

COMPILER, RUNTIME = sys.argv[1], sys.argv[2]
MACHINE = machine.Machine(COMPILER)
HEAD = """\
import sukima.closures.*; import sukima.tascell.*;
import java.util.*;
class A {
    static int f(int n, NestedRunnable r) { r.run(); return n; }
    static void use(Object o) {}
"""
# Members of a class, the refused line (5 is the last line of HEAD), and words of the message.
REFUSED = [
    ("static class B { B(int k) { }\n B(NestedRunnable r) { this(f(1, r)); } }", 7, "compute the value before the constructor is called"),
    ("static class B extends Thread { B(NestedRunnable r) { super(\"\" + f(1, r)); } }", 6, "in the call of another constructor"),
    ("static class B { B(NestedRunnable r) { r.run(); } }\n static class C extends B {\n C(NestedRunnable r) { super(r); } }", 8,
     "a call of the constructor of B, which can be captured"),
    ("static class B { B() { f(1, null); } }\n static class C extends B { }", 7, "a call of the constructor of B, which can be captured"),
    ("static class B { B(NestedRunnable r) { r.run(); } }\n void m(NestedRunnable r) {\n use(new B(r) { }); }", 8, "a call of the constructor of B, which can be captured"),
    ("static class B { B() { f(1, null); }\n B(int k) {\n this(); } }", 8, "a call of the constructor of B, which can be captured"),
    ("record B(NestedRunnable r) { B { r.run(); } }", 6, "make the call in a static method that creates the record"),
    ("enum B { X; B() { f(1, null); } }", 6, "in an initializer: move the call to a method"),
    ("static class B { B() { f(1, null); } }\n java.util.function.Supplier<B> s = B::new;", 7, "the constructor can be captured, but untranslated code may call this reference"),
    ("int x = f(1, null);", 6, "in an initializer: move the call to a method"),
    ("static { f(1, null); }", 6, "in an initializer: move the call to a method"),
    ("void m(NestedRunnable r) { use(new Object() { int x = f(1, r); }); }", 6, "in an initializer: move the call to a method"),
    ("void m(NestedRunnable r) { use(new Object() { void n() { r.run(); } }); }", 6, "(anonymous class).n can be captured"),
    ("NestedRunnable r = () -> { };", 6, "not in an initializer"),
    ("void m(NestedRunnable r) { Runnable o = () -> r.run(); }", 6, "untranslated code may call the lambda around it. Make the"),
    ("void m() { Runnable o = () -> { NestedRunnable r = () -> { }; }; }", 6, "not in an ordinary lambda"),
    ("void m(NestedRunnable r) { List.of(1).forEach(k -> r.run()); }", 6, "untranslated code may call the lambda around it. Make the"),
    ("interface B extends Runnable, Nested { }\n void m() { int n = 0; B r = () -> n++; }", 7, "is also declared by java.lang.Runnable"),
    ("interface B extends NestedRunnable, Runnable { }\n void m() { B r = () -> { }; }", 7, "is also declared by java.lang.Runnable"),
    ("interface B extends Runnable, NestedRunnable { }\n void m() { B r = () -> { }; }", 7, "is also declared by java.lang.Runnable"),
    ("interface B extends Runnable, Nested { void run(); }\n void m() { B r = () -> { }; }", 7, "an interface that declares its own method"),
    ("void m() { Nested r = (Nested & Runnable) () -> { }; }", 6, "is also declared by java.lang.Runnable"),
    ("void m(NestedRunnable r) { Runnable o = r::run; }", 6, "untranslated code may call this reference to it"),
    ("interface B { void b(); }\n void m(NestedRunnable r) { use(new Object() { void n() { B b = () -> r.run(); } }); }", 7,
     "not supported in local and anonymous classes"),
    ("interface B { void b(); }\n void m() { int k = 0;\n B b = () -> { NestedRunnable r = () -> k++; r.run(); }; }", 8,
     "k changes, so the ordinary lambda around this nested function cannot use it"),
    ("interface B extends Runnable { void run(); }\n void m(NestedRunnable r) { B b = () -> r.run(); }", 7, "overrides java.lang.Runnable.run"),
    ("int m(NestedRunnable r, int k) { return switch (k) { case 1: int v = 1; default: v = 2; r.run(); yield v; }; }", 6, "declare it before"),
    ("void m(NestedRunnable r) { assert f(1, r) > 0; }", 6, "in an assertion"),
    ("void m(NestedRunnable r) { class B { }\n r.run(); }", 6, "the class B is in a translated method"),
    ("void m(NestedRunnable r, Object o) { if (o instanceof String s) { r.run(); use(s); } }", 6, "assign a cast to a variable"),
    ("void m(NestedRunnable r) { NestedFunction<Object, Integer> n = o -> o instanceof String s ? f(s.length(), r) : 0; }", 6, "assign a cast to a variable"),
    ("static class B implements Shape {\n int m(NestedRunnable r) { r.run(); return Shape.super.k(); } }\n interface Shape { default int k() { return 1; } }", 7,
     "move the call to a method of its own"),
    ("static class B implements Shape {\n int m() { NestedSupplier<Integer> n = () -> Shape.super.k(); return n.get(); } }\n interface Shape { default int k() { return 1; } }", 7,
     "move the call to a method of its own"),
    ("static class B implements Runnable { NestedRunnable r; public void run() { r.run(); } }", 6, "overrides java.lang.Runnable.run"),
    ("static class B { NestedRunnable r;\n public void run() { r.run(); } }\n static class C extends B implements Runnable { }", 7,
     "overrides java.lang.Runnable.run"),
    ("interface B { default void m(NestedRunnable r) { r.run(); } }", 6, "not supported in interfaces"),
    ("void m(NestedRunnable r, int k) { switch (k) { case 0: int v = 1; r.run(); break; default: v = 2; use(v); } }", 6,
     "declare it before the switch"),
    ("void m(NestedRunnable r) { int a$b = 1; r.run(); use(a$b); }", 6, "must not have a $"),
    ("void m(NestedRunnable r) { int sukima = 1; r.run(); use(sukima); }", 6, "hides the package sukima"),
    ("void m(NestedRunnable r) { int v; v = 1; Runnable o = () -> use(v); r.run(); }", 6, "has no initial value"),
    ("void m(Worker w, Runnable r) { w.dynamicWind(() -> { },\n r, () -> { }); }", 7, "a block of dynamicWind must be a lambda"),
    ("void m(Worker w, NestedRunnable r) { w.dynamicWind(() -> { },\n () -> { },\n () -> r.run()); }", 8, "move it to the second block"),
    ("void m(Worker w) { w.doTwo(() -> { }, () -> { }, () -> null,\n result -> m(w)); }", 7, "or to the task"),
    ("void m(Worker w) { w.dynamicWind(() -> { },\n () -> { },\n () -> { int k = 0; NestedRunnable r = () -> k++; use(r); }); }", 8,
     "contains a construct, a nested function or a call that can be captured"),
    ("void m(Worker w) { Runnable r = () -> m(w);\n w.dynamicWind(() -> { }, () -> { }, () -> { }); }", 6, "untranslated code may call the lambda"),
    # Errors of Java stay errors.
    ("void m() { int n = 0; Runnable r = () -> n++; }", 6, "effectively final"),
    ("void m() { int n = 0; NestedRunnable r = () -> { Runnable o = () -> use(n); n++; }; }", 6, "effectively final"),
    ("void m() { int n; NestedRunnable r = () -> use(n); }", 6, "might not have been initialized"),
]


def run(command):
    return subprocess.run(command, capture_output=True, text=True)


class messages(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="sukima-java-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, text, name="A.java"):
        source = self.folder / name
        source.write_text(text)
        return source

    def compile(self, *sources, options=()):
        return MACHINE.sukima_javac("-d", self.folder, *options, *sources)

    def run_program(self):
        return MACHINE.java(f"{self.folder}:{RUNTIME}", "A")

    def program_output(self, text):
        result = self.compile(self.write(text))
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        result = self.run_program()
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def test_refuses_with_place_and_advice(self):
        """One file with all of them: each message names its own line."""
        text, expected = HEAD.splitlines()[:2], []
        for number, (members, line, words) in enumerate(REFUSED[:-3]):
            start = len(text)
            text += HEAD.replace("class A", f"class A{number}").splitlines()[2:] + members.replace(" A()", f" A{number}()").replace(
                "A() {", f"A{number}() {{", 1).splitlines() + ["}"]
            expected.append((start + line - 2, words))
        source = self.write("\n".join(text) + "\n")
        result = self.compile(source)
        self.assertEqual(result.returncode, 1)
        for line, words in expected:
            found = [message for message in result.stderr.splitlines() if message.startswith(f"{source}:{line}:")]
            self.assertTrue(found, (line, text[line - 1], result.stderr))
            self.assertRegex(found[0], r":\d+:\d+: error: ")
            self.assertIn(words, found[0])
        self.assertFalse(list(self.folder.glob("*.class")))

    def test_errors_of_java_stay(self):
        for members, line, words in REFUSED[-3:]:
            source = self.write(HEAD + members + "\n}\n")
            result = self.compile(source)
            self.assertEqual(result.returncode, 1, members)
            self.assertIn(f"A.java:{line}: error: ", result.stderr)
            self.assertIn(words, result.stderr)

    def test_wrong_use(self):
        source = self.write("class A { }\n")
        for arguments, words in (([], "no source files"), (["missing.java"], "there is no file missing.java"),
                                 (["--print-java"], "the option --print-java needs a value"),
                                 (["-d", self.folder], "no source files"), ([source, "-cp"], "the option -cp needs a value"),
                                 ([source, "-d"], "the option -d needs a value"), (["-d"], "the option -d needs a value"),
                                 ([source, "--release"], "the option --release needs a value"),
                                 ([source, "-processor"], "the option -processor needs a value"),
                                 (["--nonsense", source], "sukima-javac: invalid flag: --nonsense")):
            result = run([COMPILER, *arguments])
            self.assertEqual((result.returncode, result.stdout), (2, ""), arguments)
            self.assertIn(words, result.stderr)
            self.assertEqual(len(result.stderr.splitlines()), 1)

    def test_places_that_cannot_be_written(self):
        """Each is below a file instead of a folder. The source has a translation."""
        source = self.write(HEAD + "void m() { int n = 0; NestedRunnable r = () -> n++; r.run(); } }")
        below = source / "below"
        result = self.compile(source, options=["--print-java", below])
        self.assertEqual(result.returncode, 2)
        self.assertRegex(result.stderr, rf"^sukima-javac: --print-java cannot write {below}/A.java \(.*\): give another folder; .*\n$")
        result = self.compile(source, options=["-d", below])
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, r"^\S+/A.java:6: error: error while writing .*: could not create parent directories\n$")

    def test_questions_are_answered_as_by_javac(self):
        for question in ("-version", "--version", "-X"):
            answers = [compiler(question) for compiler in (MACHINE.sukima_javac, MACHINE.javac)]
            self.assertEqual(answers[0].stdout + answers[0].stderr, answers[1].stdout + answers[1].stderr)
            self.assertEqual(answers[0].returncode, 0)
        result = run([COMPILER, "-J-version"])
        self.assertEqual(result.returncode, 0)
        self.assertIn(" version ", result.stderr)

    def test_arguments_from_a_file(self):
        folder = self.folder / "two words"
        folder.mkdir()
        (folder / "A.java").write_text("class A { }\n")
        (self.folder / "arguments").write_text(f"-d '{folder}' # where classes go\n\"{folder}/A\\.java\"\n-nowarn")
        result = run([COMPILER, f"@{self.folder}/arguments"])
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))
        self.assertTrue((folder / "A.class").exists())
        (self.folder / "B.java").mkdir()
        result = run([COMPILER, "-d", self.folder / "B.java", folder / "A.java"])
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))
        self.assertTrue((self.folder / "B.java" / "A.class").exists(), "the value of an option does not count as a source")
        result = run([COMPILER, "@missing"])
        self.assertEqual((result.returncode, result.stderr), (2, "sukima-javac: there is no argument file missing; see sukima-javac --help\n"))
        result = run([COMPILER, f"@{self.folder}"])
        self.assertEqual(result.returncode, 2)
        self.assertIn(f"the argument file {self.folder} cannot be read as UTF-8 text: ", result.stderr)

    def test_leaves_other_methods_alone(self):
        text = HEAD + "    int  odd ( int x )   { /* kept */ return x  + 1; } // so is this\n}\n"
        result = self.compile(self.write(text), options=["--print-java", self.folder / "printed"])
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        printed = (self.folder / "printed/A.java").read_text()
        self.assertIn("    int  odd ( int x )   { /* kept */ return x  + 1; } // so is this\n", printed)
        self.assertIn("    static void use(Object o) {}\n", printed)

    def test_a_lock_stays_locked_at_a_capture(self):
        """docs/java.md recommends this lock if no other thread may enter at a capture."""
        output = self.program_output(HEAD + """
            static final java.util.concurrent.locks.ReentrantLock lock = new java.util.concurrent.locks.ReentrantLock();
            static int locked(NestedRunnable r) {
                lock.lock();
                System.out.println("locked");
                try {
                    return f(1, r);
                } finally {
                    System.out.println("unlocked");
                    lock.unlock();
                }
            }
            public static void main(String[] arguments) {
                int n = 0;
                NestedRunnable r = () -> { n += lock.getHoldCount(); };
                System.out.println(locked(r) + n);
                System.out.println(lock.isLocked());
            } }""")
        self.assertEqual(output, "locked\nunlocked\n2\nfalse\n")

    def test_call_after_the_end_names_the_method(self):
        output = self.program_output(HEAD + """
            static NestedRunnable leak() { int n = 0; return () -> n++; }
            public static void main(String[] arguments) {
                try { leak().run(); } catch (EndedMethodException e) { System.out.println(e.getMessage()); }
            } }""")
        self.assertIn("a nested function of A.leak was called after that method had ended", output)

    def test_call_in_a_later_iteration_is_refused(self):
        output = self.program_output(HEAD + """
            public static void main(String[] arguments) {
                NestedRunnable[] kept = {null};
                for (int i = 0; i < 2; i++) {
                    int n = 0;
                    NestedRunnable now = () -> { n += 10; };
                    f(1, now);
                    if (i == 0) kept[0] = now;
                    System.out.println(i + " " + n);
                    try {
                        f(1, kept[0]);
                        System.out.println(n);
                    } catch (EndedMethodException e) { System.out.println(e.getMessage()); }
                }
            } }""")
        self.assertEqual(output, "0 10\n20\n1 10\na nested function of A.main was called after the iteration of the loop that created it "
                                 "had ended: call it only during that iteration, or declare the variables that it uses before the loop\n")

    def test_a_function_of_a_loops_condition_may_be_called_in_its_iteration(self):
        output = self.program_output(HEAD + """
            static int all(NestedRunnable... of) { for (NestedRunnable r : of) r.run(); return 1; }
            public static void main(String[] arguments) {
                NestedRunnable now = () -> { }, first = null;
                int i = 0;
                while (switch (i) { default -> { int n = i * 10; now = () -> { System.out.println(n++); }; yield i < 2; } }) {
                    if (i++ == 0) first = now;
                    all(now, now);
                    try {
                        all(first);
                    } catch (EndedMethodException e) { System.out.println("ended"); }
                }
                for (int j = 0; j < 1; j += switch (j) { default -> { int n = 5; now = () -> { j += n++; }; yield all(now, now); } }) { }
            } }""")
        self.assertEqual(output, "0\n1\n2\n10\n11\nended\n")

    def test_control_characters_of_marks_are_refused(self):
        for code, comment in ((1, "x"), (2, "\x02"), (3, "x")):
            result = self.compile(self.write(HEAD + f"""void m() {{ int n = 0; NestedRunnable r = () -> n++; r.run(); }}
// {comment}
String s = "a{chr(code)}b"; }}"""))
            self.assertEqual(result.returncode, 1)
            place = "7:4" if code == 2 else "8:14"
            self.assertRegex(result.stderr, rf"^\S+:{place}: error: the file contains the control character with the code {code}, .*\n1 error\n$")
        # A file that needs no translation may contain them.
        result = self.compile(self.write('class A { public static void main(String[] of) { System.out.println("a\x03b"); } }'))
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(self.run_program().stdout, "a\x03b\n")

    def test_classes_of_an_annotation_processor_must_be_made_before(self):
        services = self.folder / "processor/META-INF/services"
        services.mkdir(parents=True)
        processor = self.write("""import java.io.*; import java.util.*; import javax.annotation.processing.*; import javax.lang.model.element.*;
            @SupportedAnnotationTypes("*") @SupportedSourceVersion(javax.lang.model.SourceVersion.RELEASE_17)
            public class Maker extends AbstractProcessor {
                private boolean isMade;
                @Override public boolean process(Set<? extends TypeElement> all, RoundEnvironment round) {
                    if (isMade) return false;
                    isMade = true;
                    try (Writer to = processingEnv.getFiler().createSourceFile("Made").openWriter()) {
                        to.write("class Made { static int value() { return 7; } }");
                    } catch (IOException e) { throw new UncheckedIOException(e); }
                    return false;
                }
            }""", "Maker.java")
        MACHINE.javac("-proc:none", "-d", self.folder / "processor", processor).check_returncode()
        source = self.write(HEAD + """public static void main(String[] arguments) {
            int n = 0; NestedRunnable r = () -> n += Made.value(); r.run(); System.out.println(n); } }""")
        (services / "javax.annotation.processing.Processor").write_text("Maker\n")
        path = self.folder / "processor"
        for options in (["-processorpath", path], ["-cp", path], ["-processor", "Maker", f"--processor-path={path}"]):
            result = self.compile(source, options=options)
            self.assertEqual(result.returncode, 1)
            self.assertIn("cannot find symbol", result.stderr)
            self.assertIn("sukima-javac: annotation processors run on the translation, so they cannot make", result.stderr)
        for options in ([], ["-proc:none", "-cp", path]):
            self.assertNotIn("annotation processors", self.compile(source, options=options).stderr)
        MACHINE.javac("-proc:only", "-processorpath", path, "-cp", RUNTIME, "-s", self.folder, source).check_returncode()
        result = self.compile(source, self.folder / "Made.java", options=["-proc:none", "-processorpath", path])
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(self.run_program().stdout, "7\n")

    def test_call_in_a_later_iteration_of_do_many_is_refused(self):
        output = self.program_output(HEAD + """
            static final class Kept implements Task<Integer> {
                public Integer run(Worker w) {
                    NestedRunnable[] kept = {null};
                    w.doMany(0, 2, i -> {
                        NestedRunnable now = () -> { System.out.println("number " + i); };
                        if (i == 0) kept[0] = now;
                        f(1, now);
                        try {
                            f(1, kept[0]);
                        } catch (EndedMethodException e) { System.out.println(e.getMessage()); }
                    }, (low, high) -> new Kept(), result -> { });
                    return 0;
                }
            }
            public static void main(String[] arguments) { Workers.run(1, new Kept()); } }""")
        self.assertEqual(output.splitlines()[:3], ["number 0", "number 0", "number 1"])
        self.assertIn("was called after the iteration of the loop that created it", output)

    def test_a_value_of_an_unnamed_type_is_refused_outside_strings(self):
        result = self.compile(self.write(HEAD + """    static <T> void two(T a, int b) {}
    void m(NestedRunnable r, boolean c) { use((c ? 1 : "x") + "" + f(1, r)); }
    void n(NestedRunnable r, boolean c) { two(c ? 1 : "x", f(1, r)); }
}"""))
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, r"^\S+:8:47: error: the type of this value has no name.*\n1 error\n$")

    def test_a_constant_without_a_case_ends_as_in_java(self):
        use = """
import sukima.closures.*;
class A {
    static int f(E e, NestedRunnable r) { return switch (e) { case ONE -> { r.run(); yield 1; } }; }
    public static void main(String[] arguments) {
        int[] n = {0};
        NestedRunnable r = () -> n[0]++;
        System.out.println(f(E.ONE, r) + n[0]);
        try {
            f(E.valueOf("TWO"), r);
        } catch (Throwable e) { System.out.println(e.getClass().getName()); }
    } }"""
        outputs = []
        for compiler in (MACHINE.sukima_javac, MACHINE.javac):
            for name, text in (("E", "enum E { ONE }"), ("A", use), ("E", "enum E { ONE, TWO }")):
                pathlib.Path(self.folder, f"{name}.java").write_text(text)
                compiler("-cp", f"{self.folder}:{RUNTIME}", "-d", self.folder, self.folder / f"{name}.java").check_returncode()
            result = self.run_program()
            result.check_returncode()
            outputs.append(result.stdout)
        self.assertEqual(outputs[0], outputs[1])
        self.assertEqual(len(outputs[0].splitlines()), 2)

    def test_threads_that_cannot_start_keep_the_task_from_starting(self):
        source = self.write("""
import sukima.tascell.*;
class A implements Task<Integer> {
    public Integer run(Worker w) { System.out.println("the task runs"); return 1; }
    public static void main(String[] arguments) {
        try {
            Workers.run(64, new A());
        } catch (IllegalStateException e) { System.out.println(e.getMessage()); }
        System.out.println(Workers.run(2, new A()));
    } }""")
        self.assertEqual(self.compile(source).returncode, 0)
        # Each worker reserves 256 MiB for its stack, so 64 of them need more than this limit.
        limit = 5 << 30
        small = ["-Xmx64m", "-XX:+UseSerialGC", "-XX:ReservedCodeCacheSize=16m", "-XX:CompressedClassSpaceSize=16m", "-Xlog:disable"]
        result = subprocess.run(["java", *small, "-cp", f"{self.folder}:{RUNTIME}", "A"], capture_output=True, text=True,
                                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertRegex(result.stdout, r"^only \d+ of 64 threads could be started .*: run fewer workers.*\nthe task runs\n1\n$")

    def test_a_wrong_number_of_workers_in_the_environment(self):
        source = self.write("""
import sukima.tascell.Workers;
class A { public static void main(String[] arguments) { System.out.println(Workers.count()); } }""")
        self.assertEqual(self.compile(source).returncode, 0)
        for given, expected in (("1024", "1024"), ("1025", "1 to 1024"), ("0", "1 to 1024"), ("two", "1 to 1024")):
            result = subprocess.run(["java", "-cp", f"{self.folder}:{RUNTIME}", "A"], capture_output=True, text=True,
                                    env={**os.environ, "SUKIMA_WORKERS": given})
            self.assertIn(expected, result.stdout + result.stderr)
            self.assertEqual(result.returncode, 0 if given == expected else 1)

    def test_a_worker_is_refused_outside_its_task(self):
        """In the task of an inner computation, and after the computation has ended. The idle worker makes the others poll."""
        output = self.program_output(HEAD + """
            static Worker kept;
            record Kept() implements Task<Integer> {
                public Integer run(Worker own) { kept = own; return Workers.run(1, new Inner(own)); }
            }
            record Inner(Worker outer) implements Task<Integer> {
                public Integer run(Worker own) {
                    try {
                        for (;;) poll(outer);
                    } catch (IllegalStateException e) { System.out.println(e.getMessage()); }
                    return 1;
                }
            }
            static void poll(Worker w) { w.doMany(0, 1, i -> { }, (low, high) -> new Kept(), result -> { }); }
            public static void main(String[] arguments) {
                System.out.println(Workers.run(2, new Kept()));
                try {
                    poll(kept);
                } catch (IllegalStateException e) { System.out.println(e.getMessage()); }
                try {
                    Workers.run(2, null);
                } catch (NullPointerException e) { System.out.println(e.getMessage()); }
            } }""")
        refusal = ("a construct of worker 0 was called on the thread {}, where that worker does not run: call only constructs of the "
                   "Worker that the task's method run receives, before that method returns\n")
        self.assertEqual(output, refusal.format("sukima-worker-0") + "1\n" + refusal.format("main")
                         + "Workers.run received null instead of a task\n")

    def test_a_wrong_number_of_cpus_is_reported(self):
        """A class with the name of the capacity library's stands for it, with SUKIMA_CPUS=many in its environment."""
        library = self.write("package sukima; public class Capacity { public static int threads() { "
                             "throw new IllegalStateException(\"SUKIMA_CPUS is not a number\"); } }", "Capacity.java")
        MACHINE.javac("-d", self.folder, library).check_returncode()
        output = self.program_output(HEAD + """
            public static void main(String[] arguments) {
                try {
                    System.out.println(Workers.count());
                } catch (IllegalStateException e) { System.out.println(e.getMessage()); }
            } }""")
        self.assertEqual(output, "SUKIMA_CPUS is not a number\n")

    def test_stack_traces_have_the_lines_of_the_source(self):
        output = self.program_output(HEAD + """    static int down(int n, NestedRunnable r) {
        if (n == 0) {
            r.run();
            throw new IllegalStateException();
        }
        return 1 +
            down(n - 1, r);
    }
    public static void main(String[] arguments) {
        int n = 0;
        NestedRunnable r = () -> {
            n++;
            System.out.println("nested in line " + new Throwable().getStackTrace()[0].getLineNumber());
        };
        try {
            down(2, r);
        } catch (IllegalStateException e) {
            System.out.print("lines");
            for (StackTraceElement element : e.getStackTrace()) {
                if (element.getClassName().startsWith("A$")) System.out.print(" " + element.getLineNumber());
            }
        }
    }
}
""")
        self.assertEqual(output, "nested in line 18\nlines 9 12 12 21")

    def test_a_function_outlives_the_block_that_declares_its_variables(self):
        output = self.program_output(HEAD + """
            static void call(NestedRunnable... all) { for (NestedRunnable r : all) r.run(); }
            static String m(boolean isAsleep, Object o) {
                String log = "";
                NestedRunnable sleep = () -> log += "|";
                if (isAsleep) sleep.run();
                NestedRunnable a = null, b = null, c = null, d = null;
                {
                    String text = "x";
                    int[] two = {1, 2};
                    a = () -> { log += text + two[1]; text += "y"; };
                    Runnable plain = () -> use(two);
                    plain.run();
                }
                for (int i = 0; i < 3; i++) { if (i == 1) b = () -> log += i++; }
                try { throw new IllegalStateException("thrown"); }
                catch (IllegalStateException | IllegalArgumentException e) { c = () -> log += e.getMessage(); }
                for (String each : List.of("one", "two")) {
                    { int length = each.length(); d = () -> log += each + length++; }
                    call(d, d);
                }
                { String text = "other"; log += text; }
                call(a, b, c, a, b);
                return log;
            }
            public static void main(String[] arguments) {
                System.out.println(m(false, null) + " " + m(true, null));
            }
        }""")
        expected = "one3one4two3two4otherx23thrownxy24"
        self.assertEqual(output, f"{expected} |{expected}\n")

    def with_plain_class(self, members, body):
        """Output of a main whose body uses the class Plain, which javac has compiled."""
        plain = self.write("import sukima.closures.*;\npublic class Plain { " + members + " }\n", "Plain.java")
        self.assertEqual(MACHINE.javac("-cp", f"{RUNTIME}:{self.folder}", "-d", self.folder, plain).returncode, 0)
        source = self.write(HEAD + f"static void owner() throws Exception {{ {body} }}\n"
                            "public static void main(String[] arguments) throws Exception { try { owner(); } "
                            "catch (LostFrameError e) { System.out.println(e.getMessage()); } } }\n")
        result = self.compile(source, options=["-cp", self.folder])
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        result = self.run_program()
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def test_a_method_that_was_not_translated_is_noticed(self):
        for call in ("r.run()", "A.f(2, r)"):
            output = self.with_plain_class(
                f"static void call(NestedRunnable r) {{ {call}; }}",
                "int n = 0; NestedRunnable r = () -> n++; Plain.call(r);")
            self.assertIn("through a method that sukima-javac has not translated", output)
            self.assertIn("A.owner", output)

    def test_sources_that_javac_finds_are_translated(self):
        """Also if the class path is given in javac's other form, and twice: the last one counts."""
        self.write("import sukima.closures.*; class B { static int b(NestedRunnable r) { int own = 0; NestedRunnable s = () -> "
                   "{ own++; r.run(); }; s.run(); s.run(); return own; } }", "B.java")
        source = self.write(HEAD + "public static void main(String[] arguments) { int n = 0; NestedRunnable r = () -> n++; "
                            "System.out.println(B.b(r) + n); } }")
        result = self.compile(source, options=["-cp", "missing", f"--class-path={self.folder}"])
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(self.run_program().stdout, "4\n")

    def test_another_run_knows_interfaces_whose_lambdas_are_captured(self):
        steps = self.write("""import sukima.closures.*;
            public class Steps {
                public interface Step { int step(int x); }
                public static int twice(Step s) { return s.step(1) + s.step(2); }
                public static int own(NestedFunction<Integer, Integer> f) { Step s = x -> f.apply(x); return twice(s); }
            }""", "Steps.java")
        self.assertEqual(self.compile(steps).returncode, 0)
        source = self.write(HEAD + """
            public static void main(String[] arguments) {
                int n = 0;
                NestedFunction<Integer, Integer> f = x -> n += x;
                Steps.Step s = x -> f.apply(x) + 1;
                System.out.println(Steps.twice(s) + " " + Steps.own(f) + " " + n);
            }
        }""")
        result = self.compile(source, options=["-cp", self.folder])
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(self.run_program().stdout, "6 10 6\n")

    def test_another_run_knows_inherited_methods(self):
        """A class implements the interface of its own run with the method of another run."""
        base = self.write("""import sukima.closures.*;
            public class Base { NestedRunnable r; public int step(int x) { r.run(); return x; } }""", "Base.java")
        self.assertEqual(self.compile(base).returncode, 0)
        source = self.write(HEAD + """
            interface Step { int step(int x); }
            static class Leaf extends Base implements Step { }
            static int call(Step s) { return s.step(1) + 1; }
            public static void main(String[] arguments) {
                int n = 0;
                Leaf leaf = new Leaf();
                leaf.r = () -> n++;
                System.out.println(call(leaf) + " " + n);
            }
        }""")
        result = self.compile(source, options=["-cp", self.folder])
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(self.run_program().stdout, "2 1\n")

    def test_another_run_knows_overridden_methods(self):
        classes = self.write("""import sukima.closures.*;
            public class P {
                int s() { return 0; }
                static class Q extends P { NestedRunnable r; int s() { r.run(); return 1; } }
            }""", "P.java")
        self.assertEqual(self.compile(classes).returncode, 0)
        source = self.write(HEAD + """
            static int u(P p) { return p.s() + 1; }
            public static void main(String[] arguments) {
                int n = 0;
                P.Q q = new P.Q();
                q.r = () -> n++;
                System.out.println(u(q) + " " + u(new P()) + " " + n);
            }
        }""")
        result = self.compile(source, options=["-cp", self.folder])
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(self.run_program().stdout, "2 1 1\n")

    def test_another_thread_is_refused(self):
        """Also after the first call, and where the caller wants the frames."""
        output = self.with_plain_class(
            "static void call(Runnable r) throws Exception { Thread t = new Thread(() -> { try { r.run(); } "
            "catch (IllegalStateException e) { System.out.println(e.getMessage()); } }, \"other\"); t.start(); t.join(); } "
            "static void all(NestedRunnable r) throws Exception { call(() -> r.run()); call(() -> Sleeping.frames(r)); }",
            "int n = 0; NestedRunnable r = () -> n++; Plain.all(r); r.run(); Plain.all(r); System.out.println(n);")
        message = "a nested function of A.owner was called on the thread other: call it on the thread that runs the method, main\n"
        self.assertEqual(output, 4 * message + "1\n")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
