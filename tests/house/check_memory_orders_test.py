# SPDX-License-Identifier: Apache-2.0
"""Tests of scripts/check-memory-orders.py on small made-up trees: check_memory_orders_test.py SCRIPT"""
import pathlib
import sys
import tempfile
import unittest

import in_process

SCRIPT = sys.argv.pop()

RELAXED = "std::memory_order_relaxed"
HEADER = "struct gate {\n  std::atomic<int> word{0};  ///< pairs with: set, get in gate.cpp\n};\n"
SOURCE = ('#include "gate.hpp"\n'
          f"void set(gate& g) {{ g.word.store(1, {RELAXED}); }}\n"
          f"int get(gate& g) {{ return g.word.load({RELAXED}); }}\n")


class CheckMemoryOrders(unittest.TestCase):
    def run_script(self, files):
        """Exit code and output for a tree of these files."""
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                path = pathlib.Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            done = in_process.run(SCRIPT, folder)
            self.assertEqual(done.stderr, "")
            return done.returncode, done.stdout

    def findings(self, source=SOURCE, header=HEADER, more=None):
        code, output = self.run_script({"src/runtime/gate.cpp": source, "src/runtime/gate.hpp": header, **(more or {})})
        lines = output.splitlines()
        self.assertEqual(code, 1 if len(lines) > 1 else 0, output)
        return lines[:-1]

    def of_body(self, *lines, header="struct gate {\n  std::atomic<int> word{0};\n};\n"):
        """The findings for a function of these lines, with a member that names no partner."""
        return self.findings("void set() {\n" + "".join(f"  {line}\n" for line in lines) + "}\n", header)

    def test_orders_and_partners_are_counted(self):
        code, output = self.run_script({"src/runtime/gate.cpp": SOURCE, "src/runtime/gate.hpp": HEADER})
        self.assertEqual((code, output), (0, "2 atomic accesses state their order and their partner\n"))

    def test_each_kind_of_access_needs_an_order(self):
        for call in ("load()", "store(1)", "exchange(1)", "fetch_add(1)", "fetch_and(~1)", "compare_exchange_strong(a, 1)",
                     "compare_exchange_weak(a, 1)", "test_and_set()"):
            with self.subTest(call):
                self.assertEqual(self.findings(f"void set() {{ g.word.{call}; }}\nvoid get() {{}}\n"),
                                 [f"src/runtime/gate.cpp:1: word.{call.split('(')[0]} has no memory order"])

    def test_the_order_of_an_inner_access_does_not_count_for_the_outer_one(self):
        found = self.findings(f"void set() {{ g.word.store(g.word.load({RELAXED}) + 1); }}\nvoid get() {{}}\n")
        self.assertEqual(found, ["src/runtime/gate.cpp:1: word.store has no memory order"])

    def test_the_partner_is_named_on_the_line_or_in_the_block_before(self):
        access = f"w.word.load({RELAXED});"
        for lines in ((f"{access}  // pairs with: set",), ("// Why.", "// pairs with: set", access),
                      ("// pairs with: set", "const int a =", f"    {access}"),
                      ("// pairs with: set; set in gate.cpp. And more.", access), ("// no partner: a hint", access)):
            with self.subTest(lines):
                self.assertEqual(self.of_body(*lines), [])

    def test_a_comment_of_another_statement_is_not_enough(self):
        access = f"w.word.load({RELAXED});"
        for number, lines in ((4, ("// pairs with: set", "f();", access)), (3, ("f();  // pairs with: set", access)),
                              (3, ("// partner: set", access)), (4, ("// pairs with: set", "", access))):
            with self.subTest(lines):
                found = self.of_body(*lines)
                self.assertEqual(found, [f"src/runtime/gate.cpp:{number}: word.load names no partner, neither here nor where "
                                         "word is declared"])

    def test_declarations_in_all_their_forms(self):
        for declaration, access in (("atomic<int*> word;", "word"), ("std::array<std::atomic<int>, 3> word{};", "word[i]"),
                                    ("std::unique_ptr<std::atomic<int>[]> word;", "of().word[f(i)]"),
                                    ("alignas(64) atomic<std::uint32_t> word{0};", "(*w).word"),
                                    ("int on; explicit c(std::atomic<int>& word);", "word"),
                                    ("std::atomic<int> word[8]{};", "w.word[i]"),
                                    ("std::atomic_flag word;", "word"), ("std::atomic<int> word;", "std::atomic_ref(s.word)")):
            for note, expected in (("  // pairs with: set", 0), ("  ///< no partner: a count", 0), ("", 1)):
                with self.subTest(declaration + note):
                    header = f"struct gate {{\n  {declaration}{note}\n}};\n"
                    self.assertEqual(len(self.of_body(f"{access}.load({RELAXED});", header=header)), expected)

    def test_a_declaration_in_another_file_counts_if_all_of_that_name_have_a_partner(self):
        source = f"void set() {{ w.other.load({RELAXED}); }}\nvoid get() {{}}\n"
        good = "struct a {\n  /// pairs with: a\n  atomic<int> other;\n};\n"
        bad = "struct b {\n  atomic<int> other;\n};\n"
        self.assertEqual(self.findings(source, more={"src/runtime/a.hpp": good}), [])
        self.assertEqual(self.findings(source, more={"include/sukima/a.hpp": good}), [])
        self.assertEqual(len(self.findings(source, more={"src/runtime/a.hpp": good, "src/runtime/b.hpp": bad})), 1)
        # A declaration in the header of the source is meant.
        self.assertEqual(self.findings(SOURCE, more={"src/runtime/b.hpp": bad.replace("other", "word")}), [])

    def test_partners_exist(self):
        for text, wrong in (("gone", "'pairs with' names gone, which is not in this file"),
                            ("set in gone.cpp", "'pairs with' names gone.cpp, which is not in src/runtime or src/objects or src/cluster or "
                             "include/sukima"),
                            ("set, gone in gate.cpp", "'pairs with' names gone, which is not in gate.cpp"),
                            ("every thread that sets it", "'pairs with: every thread that sets it' is not of the form 'NAME, NAME in FILE; NAME'")):
            with self.subTest(text):
                found = self.of_body(f"// pairs with: {text}", f"w.word.load({RELAXED});")
                self.assertEqual(found, [f"src/runtime/gate.cpp:2: {wrong}"])
        found = self.of_body("// pairs with: set,", "// set in gate.cpp; gate", f"w.word.load({RELAXED});")
        self.assertEqual(found, [])

    def test_operators_have_no_order(self):
        header = "struct gate {\n  std::atomic<int> word_{0};  ///< pairs with: set in gate.cpp\n};\n"
        for line in ("++word_;", "word_ = 1;", "word_ |= 2;", "if (word_) f();", "return word_;", "f(!word_);"):
            with self.subTest(line):
                self.assertEqual(self.of_body(line, header=header),
                                 ["src/runtime/gate.cpp:2: word_ is used without load, store or another function that takes "
                                  "an order"])
        for line in (f"word_.store(1, {RELAXED});", "futex(word_, 1);", "int& a = word_[0];"):
            self.assertEqual(self.of_body(line, header=header), [])

    def implicit(self, *lines, before="", name="a.cpp", **more):
        """The findings in a function of another folder that uses an atomic as a plain variable."""
        text = before + "void f() {\n" + "".join(f"  {line}\n" for line in lines) + "}\n"
        code, output = self.run_script({f"src/host/act/{name}": text, **{path: more[path] for path in more}})
        found = [line for line in output.splitlines() if "is used without" in line]
        self.assertEqual(code, 1 if found else 0, output)
        self.assertTrue(all(line.startswith(f"src/host/act/{name}:") for line in found), output)
        return [int(line.split(":")[1]) - 1 - before.count("\n") for line in found]

    def test_implicit_accesses_are_found_in_all_folders(self):
        declared = "std::atomic<int> on{0}, off{0};\n"
        for line in ("while (!on && g()) {}", "on = 1;", "int a = on;", "if (on) g();", "if (a && on) g();", "g(on == 1);",
                     "off += 2;", "--off;", "off++;", "return static_cast<int>(on);", "return on;", "a = b + s.on;"):
            with self.subTest(line):
                self.assertEqual(self.implicit(line, before=declared), [1])
        for line in ("g(on);", "auto& a = on;", "std::atomic<int>* a = &on;", "on.store(1, order);", "a = b && on.load(order);",
                     "// if (on)", 'g("if (on)");', "on();", "for (auto& x : all) on.wait(1, order);"):
            with self.subTest(line):
                self.assertEqual(self.implicit(line, before=declared), [])

    def test_implicit_accesses_by_parameters_pointers_and_aliases(self):
        self.assertEqual(self.implicit("}", "void g(const std::atomic<bool>& stop) {", "while (!stop) {}"), [3])
        pointer = "void g(const std::atomic<bool>* stop) {"
        self.assertEqual(self.implicit("}", pointer, "if (stop != nullptr && *stop) return;"), [3])
        self.assertEqual(self.implicit("}", pointer, "if (stop != nullptr) g(*stop);", "stop = 0;"), [])
        self.assertEqual(self.implicit("w = 1;", "g(w);", before="using word = std::atomic<int>;\nword w{0};\n"), [1])
        flag = "std::atomic<bool> stop = false;\nconst std::atomic<bool>& get() { return stop; }\n"
        self.assertEqual(self.implicit("g();", before=flag), [])

    def test_implicit_accesses_of_c(self):
        declared = "static long (*_Atomic next)(int);\nstatic _Atomic uint32_t a, b;\nstruct s { _Atomic(char*) name; };\n"
        for line in ("x = next;", "next = x;", "return a;", "b = 1;", "if (b) g();", "g(b);", "x = s->name;", "++a;"):
            with self.subTest(line):
                self.assertEqual(self.implicit(line, before=declared, name="a.c"), [1])
        for line in ("x = atomic_load_explicit(&next, memory_order_relaxed);", "atomic_store_explicit(&s->name, x, order);",
                     "g(sizeof a);", "struct s x = {.name = 0};"):
            with self.subTest(line):
                self.assertEqual(self.implicit(line, before=declared, name="a.c"), [])

    def test_a_name_that_is_also_something_else_is_left_out(self):
        declared = "std::atomic<int> on{0};\n"
        self.assertEqual(self.implicit("on = 1;", "}", "void g(int on) {", "on = 1;", before=declared), [])
        header = {"src/host/act/a.hpp": "struct a {\n  std::atomic<int> on{0};\n};\n"}
        self.assertEqual(self.implicit("x.on = 1;", **header), [1])  # a header of its own name
        header["src/base/b.hpp"] = "struct b {\n  int on = 0;\n};\n"
        self.assertEqual(self.implicit("x.on = 1;", before='#include "b.hpp"\n', **header), [])

    def test_text_in_comments_and_strings_is_not_an_access(self):
        self.assertEqual(self.of_body("// w.word.load()", 'f("w.word.load()");', "std::exchange(a, 1);"), [])

    def test_other_folders_are_not_checked(self):
        self.assertEqual(self.findings(more={"src/host/a.cpp": "void f() { w.load(); }\n"}), [])

    def test_objects_and_cluster_are_checked(self):
        for path in ("src/objects/a.cpp", "src/cluster/steal/a.cpp", "include/sukima/objects/a.hpp", "include/sukima/cluster/a.hpp"):
            with self.subTest(path):
                self.assertEqual(self.findings(more={path: "void f() { w.load(); }\n"}),
                                 [f"{path}:1: w.load has no memory order",
                                  f"{path}:1: w.load names no partner, neither here nor where w is declared"])

    def test_a_declaration_of_the_same_part_is_preferred(self):
        good = "struct a {\n  atomic<int> other;  // pairs with: a\n};\n"
        access = {"src/objects/stream/b.cpp": f"void f() {{ w.other.load({RELAXED}); }}\n",
                  "src/cluster/a.hpp": good.replace("  // pairs with: a", "")}
        self.assertEqual(self.findings(more={**access, "include/sukima/objects/a.hpp": good}), [])
        self.assertEqual(len(self.findings(more={**access, "include/sukima/a.hpp": good})), 1)


if __name__ == "__main__":
    unittest.main()
