# SPDX-License-Identifier: Apache-2.0
"""Tests of scripts/check-citations.py on small made-up trees: check_citations_test.py SCRIPT"""
import pathlib
import sys
import tempfile
import unittest

import in_process

SCRIPT = sys.argv.pop()

GOOD = {
    "Makefile": "build: ## builds\n\techo\n",
    "README.md": "Type `make build`, then `sukima probe --json`; see [the page](docs/page.md) and `SUKIMA_LEVEL`.\n",
    "docs/page.md": "`grow()` of `src/part/tree.cpp` calls `tree::root`; tree.hpp declares it. The kernel has `ENOENT`.\n",
    "docs/man/sukima-probe.1": ".TH PROBE 1\n",
    "src/part/tree.hpp": "struct tree { int* root; };\n",
    "src/part/tree.cpp": '// Partner: grow_all (tree.cpp).\nvoid grow() { getenv("SUKIMA_LEVEL"); option("--json"); grow_all(); }\n',
    "tests/house/foreign_names.txt": "# of the kernel\nENOENT\n",
}


class CheckCitations(unittest.TestCase):
    def check(self, changes):
        """Exit code and output for the good tree with changes."""
        with tempfile.TemporaryDirectory() as folder:
            for name, text in {**GOOD, **changes}.items():
                path = pathlib.Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            done = in_process.run(SCRIPT, folder)
            return done.returncode, done.stdout + done.stderr

    def assert_rejected(self, changes, complaint):
        code, output = self.check(changes)
        self.assertEqual(code, 1, output)
        self.assertEqual(output.strip(), complaint)

    def page(self, text, complaint):
        self.assert_rejected({"docs/other.md": "First line.\n" + text + "\n"}, "docs/other.md:2: " + complaint)

    def test_good_tree(self):
        code, output = self.check({})
        self.assertEqual(code, 0, output)

    def test_path(self):
        self.page("See src/part/bush.cpp.", "there is no src/part/bush.cpp")

    def test_path_that_a_script_opens(self):
        script = 'ROOT = "."\nopen(ROOT / "build/log")\nopen(ROOT / "src/part/{}")\n'
        self.assert_rejected({"scripts/look.py": script.format("bush.sh")},
                             "scripts/look.py:3: there is no src/part/bush.sh")
        self.assertEqual(self.check({"scripts/look.py": script.format("tree.cpp")})[0], 0)

    def test_file_name(self):
        self.page("See bush.cpp.", "no file is called bush.cpp")

    def test_link(self):
        self.page("[page](bush.html)", "the link leads nowhere: bush.html")

    def test_function(self):
        self.page("It calls `shrink()`.", "no code has the name shrink()")

    def test_name_only_in_comments_does_not_exist(self):
        self.assert_rejected({"src/part/bush.cpp": "// `shrink` shrinks.\nint bush;\n"},
                             "src/part/bush.cpp:1: no code has the name shrink")

    def test_bare_identifier_in_a_comment(self):
        self.assert_rejected({"src/part/bush.cpp": "int bush;\n/* Partner:\n   shrink_all. */\n"},
                             "src/part/bush.cpp:3: no code has the name shrink_all")

    def test_option(self):
        self.page("Give `--xml`.", "no code knows the option --xml")

    def test_variable(self):
        self.page("Set SUKIMA_DEPTH.", "no code knows SUKIMA_DEPTH")

    def test_make_target(self):
        self.page("    $ make coffee", "the Makefile has no target coffee")

    def test_command(self):
        self.page("Run `sukima brew`.", "sukima has no command brew")

    def test_foreign_name_without_a_use(self):
        self.assert_rejected({"tests/house/foreign_names.txt": "ENOENT\nEPERM\n"},
                             "tests/house/foreign_names.txt: nothing names EPERM any more; take it out")

    def test_no_sources(self):
        with tempfile.TemporaryDirectory() as folder:
            done = in_process.run(SCRIPT, folder)
        self.assertEqual(done.returncode, 2)
        self.assertIn("give the folder", done.stderr)


if __name__ == "__main__":
    unittest.main()
