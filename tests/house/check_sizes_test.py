# SPDX-License-Identifier: Apache-2.0
"""Tests of scripts/check-sizes.py on small made-up trees: check_sizes_test.py SCRIPT"""
import pathlib
import sys
import tempfile
import unittest

import in_process

SCRIPT = sys.argv.pop()


def function(name, lines):
    """A function of this many lines."""
    return f"{name} {{\n" + "  f();\n" * (lines - 2) + "}\n"


class CheckSizes(unittest.TestCase):
    def run_script(self, files, *options):
        """Exit code and output for a tree of these files."""
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                path = pathlib.Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            done = in_process.run(SCRIPT, *options, folder)
            self.assertEqual(done.stderr, "")
            return done.returncode, done.stdout

    def findings(self, text, name="src/runtime/a.cpp"):
        code, output = self.run_script({name: text})
        lines = output.splitlines()
        self.assertEqual(code, 1 if len(lines) > 1 else 0, output)
        return lines[:-1]

    def test_80_lines_are_enough_for_a_function(self):
        self.assertEqual(self.findings(function("void f()", 80)), [])
        found = self.findings("\n" + function("void some::f(int a)", 81))
        self.assertEqual(found, ["src/runtime/a.cpp:2: some::f has 81 lines, more than 80"])

    def test_functions_are_found_in_scopes_and_classes(self):
        long = function("int* f(int (*g)(int), char c = '{') const noexcept", 90)
        for before, after in (("namespace a::b {", "}"), ("namespace {", "}"), ('extern "C" {', "}"),
                              ("template <class T> struct [[nodiscard]] s final : public t<T> {\n int x{3};", "};"),
                              ("template <class T> requires(sizeof(T) > 3)", ""), ("enum class e : int { a, b };", ""),
                              ("class c;\nint x[] = {1, 2};\n", ""), ("auto text = R\"({ \")\";", "")):
            with self.subTest(before):
                found = self.findings(before + "\n" + long + after + "\n")
                self.assertEqual(len(found), 1)
                self.assertRegex(found[0], "cpp:[1-4]: f has 9[01] lines, more than 80$")

    def test_a_constructor_with_initialisers_is_a_function(self):
        found = self.findings(function("c::c(int a) : x(a), y{a}, z{{a}}", 90))
        self.assertEqual([f.split(": ", 1)[1] for f in found], ["c::c has 90 lines, more than 80"])

    def test_braces_in_comments_texts_and_macros_do_not_count(self):
        text = 'void f() {\n  // }\n  /* } */ g("}\\"}", \'}\');\n#define A }\n' + "  f();\n" * 90 + "}\n"
        self.assertEqual(len(self.findings(text)), 1)

    def test_60_lines_are_enough_for_a_page_of_one_screen(self):
        self.assertEqual(self.findings("a\n" * 60, "docs/packages.md"), [])
        self.assertEqual(self.findings("a\n" * 61, "docs/packages.md"),
                         ["docs/packages.md: 61 lines, more than the 60 of a screen"])
        self.assertEqual(self.findings("a\n" * 61, "docs/packaging.md"), [], "a page for reference")

    def test_a_table_and_a_scope_are_not_functions(self):
        self.assertEqual(self.findings("constexpr int a[] = {\n" + "1,\n" * 100 + "};\n"), [])
        self.assertEqual(self.findings("namespace a {\n" + "int x;\n" * 100 + "}\n"), [])

    def test_30_methods_are_enough_for_a_class(self):
        methods = "".join(f"  int m{i}() const;\n" for i in range(28)) + "  void n() { if (a()) { b(); } }\n  c();\n"
        others = "  c(const c&) = delete;\n  int x = f();\n  int y{3};\n  using z = int();\n  int (*p)(int);\n"
        self.assertEqual(self.findings("class c {\n public:\n" + methods + others + "};\n"), [])
        found = self.findings("class c {\n public:\n  c& operator=(int);\n" + methods + others + "};\n")
        self.assertEqual(found, ["src/runtime/a.cpp:1: c has 31 methods, more than 30"])

    def test_a_reason_above_it_is_enough(self):
        long = function("void f()", 90)
        for comment in ("// Long: one case for each opcode.\n", "/// What it does.\n/// Long: one case each.\ntemplate <class T>\n",
                        "/* Long: one case for each opcode. */\n"):
            with self.subTest(comment):
                self.assertEqual(self.findings("int x;\n" + comment + long), [])
        for comment in ("// Long:\n", "// It is long: very.\n", "// Long: of something else.\n\n"):
            with self.subTest(comment):
                self.assertEqual(len(self.findings("int x;\n" + comment + long)), 1)

    def test_400_lines_are_enough_for_a_file(self):
        self.assertEqual(self.findings("int x;\n" * 400), [])
        self.assertEqual(self.findings("int x;\n" * 401), ["src/runtime/a.cpp: 401 lines, more than 400"])
        self.assertEqual(self.findings("// A table.\n// Long: one table.\n#include <a>\n" + "int x;\n" * 400), [])

    def test_only_sources_of_the_product_count(self):
        for name in ("tests/a.cpp", "examples/a.cpp", "src/a.py"):
            self.assertEqual(self.findings("int x;\n" * 401, name), [])
        for name in ("include/sukima/a.hpp", "lab/validation/truth/a.c", "src/a.h"):
            self.assertEqual(len(self.findings("int x;\n" * 401, name)), 1)

    def test_statistics(self):
        files = {
            "src/a/x.hpp": '#include "b/y.hpp"\n' + function("void f()", 3),
            "src/b/y.hpp": '#include "a/x.hpp"\nclass c { void f(); };\n' + function("void g()", 7) + "\n" * 40,
            "src/b/z.hpp": '#include "y.hpp"\n' + function("void h()", 85),
        }
        code, output = self.run_script(files, "--statistics")
        self.assertEqual(code, 0)
        self.assertIn("3 files: median 49 lines, longest 86, over 400 lines 0, under 40 lines 1\n", output)
        self.assertIn("3 functions: median 7 lines, longest 85, over 80 lines 1\n", output)
        self.assertIn("1 classes: most methods 1, over 30 methods 0\n", output)
        self.assertIn("circles of #include: 1 between files, 1 between folders\n  src/a src/b\n", output)


if __name__ == "__main__":
    unittest.main()
