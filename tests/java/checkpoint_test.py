#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checkpoints of sleeping methods continue in other virtual machines, or are refused:
checkpoint_test.py SUKIMA_JAVAC RUNTIME EXAMPLES"""
import pathlib
import subprocess
import sys
import tempfile
import unittest

import machine

COMPILER, RUNTIME, EXAMPLES = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
MACHINE = machine.Machine(COMPILER)  # it compiles; checkpoints need machines of their own
HEAD = """\
import java.io.File;
import sukima.closures.*;
class A {
    static File file;
    static int depth(int n, NestedRunnable r) {
        if (n == 0) { r.run(); return 0; }
        return depth(n - 1, r) + 1;
    }
    public static void main(String[] arguments) throws Exception {
        file = new File(arguments[0]);
        try {
            System.out.println(arguments.length > 1 ? Checkpoint.resume(file) : start());
        } catch (RuntimeException e) { System.out.println(e.getMessage()); }
    }
"""


class checkpoint(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="sukima-java-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.file = self.folder / "saved"

    def compile(self, text):
        source = self.folder / "A.java"
        source.write_text(HEAD + text)
        MACHINE.sukima_javac("-d", self.folder, source).check_returncode()

    def run_java(self, *arguments, name="A"):
        result = subprocess.run(["java", *machine.QUICK, "-cp", f"{self.folder}:{RUNTIME}", name, self.file, *arguments], capture_output=True, text=True)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return result.stdout

    def test_the_example_goes_on_in_another_machine(self):
        MACHINE.sukima_javac("-d", self.folder, EXAMPLES / "Restart.java").check_returncode()
        output = self.run_java(name="Restart") + self.run_java(name="Restart")
        self.assertEqual(output, (EXAMPLES / "Restart.expected").read_text())

    def test_each_machine_saves_for_the_next(self):
        """The nested function changes variables of its method and of an outer method, which has a nested function, too."""
        self.compile("""
            static int inner(int from, NestedFunction<Integer, Integer> outer, String[] shared) {
                int sum = from;
                NestedRunnable add = null;
                add = () -> {
                    sum += outer.apply(sum);
                    shared[0] += sum;
                };
                int levels = depth(3000, add) + depth(2, add);
                return sum * 10000 + levels;
            }
            static String start() {
                int calls = 0;
                NestedFunction<Integer, Integer> save = null;
                String[] shared = {""};
                save = value -> {
                    calls++;
                    boolean isHere = Checkpoint.save(save, file);
                    System.out.println((isHere ? "saved " : "restored ") + calls);
                    if (!isHere && file.delete()) { return value; }
                    if (calls < 3) { return value; }
                    throw new IllegalStateException("ends after save " + calls);
                };
                return inner(1, save, shared) + inner(2, save, shared) + shared[0];
            }
        }""")
        self.assertEqual(self.run_java(), "saved 1\nsaved 2\nsaved 3\nends after save 3\n")
        # The call of the first machine is not repeated, so the values are those of the save.
        self.assertEqual(self.run_java("resume"), "restored 3\nsaved 4\nends after save 4\n")
        self.assertEqual(self.run_java("resume"), f"restored 4\n{4 * 10000 + 3002 + 8 * 10000 + 3002}2448\n")

    def test_the_machine_that_saves_goes_on_too(self):
        self.compile("""
            static String start() {
                int calls = 0;
                NestedRunnable save = null;
                save = () -> calls += Checkpoint.save(save, file) ? 1 : 100;
                return depth(5, save) + " " + calls;
            }
        }""")
        self.assertEqual(self.run_java() + self.run_java("resume") + self.run_java("resume"), "5 1\n5 100\n5 100\n")

    def test_objects_that_cannot_be_saved_are_named(self):
        self.compile("""
            static int start() {
                int calls = 0;
                NestedRunnable save = null;
                save = () -> { Checkpoint.save(save, file); };
                return depth(5, save) + between(new Thread(), save);
            }
            static int between(Thread thread, NestedRunnable r) { r.run(); return thread.getPriority(); }
        }""")
        refusal = ("the method A.between cannot be saved: a variable refers to an object of the class java.lang.Thread, which does not "
                   "implement java.io.Serializable; remove the reference before Checkpoint.save is called\n")
        self.assertEqual(self.run_java(), refusal)
        self.assertEqual(self.run_java("resume"), refusal)  # continues from the first call, whose file still exists

    def test_values_that_are_needed_no_more_are_not_saved(self):
        """Neither the iterator of a loop that has ended, nor what an expression or a block has used, nor a caught exception."""
        self.compile("""
            static class Loud extends RuntimeException { Object held = new Thread(); }
            static void fail(NestedRunnable r) { r.run(); throw new Loud(); }
            static Thread thread(NestedRunnable r) { r.run(); return new Thread(); }
            static int both(Thread thread, int depth) { return depth; }
            static String start() {
                int calls = 0;
                boolean mayBeSaved = false;
                NestedRunnable save = null;
                save = () -> calls += mayBeSaved && Checkpoint.save(save, file) ? 100 : 1;
                java.util.List<Integer> list = new java.util.LinkedList<>(java.util.List.of(1, 2));
                int sum = 0;
                for (int each : list) { sum += each + depth(2, save); }
                for (java.util.Iterator<Integer> i = list.iterator(); i.hasNext();) { sum += i.next() + depth(1, save); }
                if (sum > 0) { Thread inBlock = thread(save); sum += inBlock.getName().isEmpty() ? 0 : depth(1, save); }
                sum += both(thread(save), depth(1, save));
                try { fail(save); } catch (Loud e) { sum += e.getMessage() == null ? 1 : 2; }
                mayBeSaved = true;
                return depth(5, save) + " " + calls + " " + sum + " " + list;
            }
        }""")
        self.assertEqual(self.run_java() + self.run_java("resume"), "5 109 15 [1, 2]\n5 10 15 [1, 2]\n")

    def test_nested_functions_of_methods_further_out_are_refused(self):
        self.compile("""
            static int start() {
                int calls = 0;
                NestedRunnable count = () -> calls++;
                return outer(count) + calls;
            }
            static int outer(NestedRunnable count) {
                NestedRunnable save = null;
                save = () -> { count.run(); Checkpoint.save(save, file); };
                return depth(5, save);
            }
        }""")
        self.assertIn("a variable refers to a nested function of A.start, which is not among the methods from A.outer on", self.run_java())

    def test_other_classes_and_files_are_refused(self):
        text = """
            static int start() {
                int calls = 0;
                NestedRunnable save = null;
                save = () -> { Checkpoint.save(save, file); };
                return depth(5, save);
            }
        }"""
        self.compile(text)
        self.assertIn("the checkpoint", self.run_java("resume"))
        self.assertEqual(self.run_java(), "5\n")
        self.compile(text.replace("depth(5, save)", "depth(5, save) + 1"))
        self.assertIn("the program has changed since the checkpoint", self.run_java("resume"))
        self.file.write_text("no checkpoint")
        self.assertIn("is not a checkpoint: use a file that Checkpoint.save has written", self.run_java("resume"))
        self.assertEqual(list(self.folder.glob("*.part")), [])

    def test_wrong_files_and_arguments_get_a_sentence(self):
        """Refused files are closed, too."""
        self.compile("""
            static void shown(Runnable call) {
                try { call.run(); } catch (RuntimeException e) { System.out.println(e.getMessage()); }
            }
            static int open() { return new File("/proc/self/fd").list().length; }
            static int start() throws Exception {
                int calls = 0;
                NestedRunnable save = () -> calls++;
                Checkpoint.save(save, file);
                byte[] all = java.nio.file.Files.readAllBytes(file.toPath());
                java.nio.file.Files.write(file.toPath(), java.util.Arrays.copyOf(all, all.length - 1));
                shown(() -> Checkpoint.resume(file));
                java.nio.file.Files.write(file.toPath(), new byte[] {1, 2, 3, 4});
                int before = open();
                for (int i = 0; i < 100; i++) {
                    try { Checkpoint.resume(file); } catch (IllegalArgumentException e) { calls++; }
                }
                System.out.println(calls + " " + (open() < before + 50));
                for (int i = 0; i < 5; i++) {
                    try {
                        if (i == 0) Checkpoint.save(null, file);
                        if (i == 1) Sleeping.frames(null);
                        if (i == 2) Checkpoint.save(save, new File("/"));
                        if (i > 2) Sleeping.frames(save).get(0).set("calls", i == 3 ? null : "x");
                    } catch (RuntimeException e) { System.out.println(e.getMessage()); }
                }
                return calls;
            }
        }""")
        advice = " instead of a nested function: pass a lambda of a type that extends Nested, compiled with sukima-javac"
        self.assertEqual(self.run_java().splitlines(), [
            f"the end of the checkpoint {self.file} is missing: use a whole file that Checkpoint.save has written",
            "100 true",
            "Checkpoint.save received null" + advice,
            "Sleeping.frames received null" + advice,
            "the checkpoint / cannot be written: java.io.IOException: it is the root folder",
            "the variable calls of A.start has the type int, so it cannot get null",
            "the variable calls of A.start has the type int, so it cannot get an object of class java.lang.String",
            "100"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
