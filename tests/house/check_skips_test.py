# SPDX-License-Identifier: Apache-2.0
"""Tests of scripts/check-skips.py on small made-up trees: check_skips_test.py SCRIPT"""
import pathlib
import sys
import tempfile
import unittest

import in_process

SCRIPT = sys.argv.pop()
CPP = 'TEST(a, b) {\n  if (!f()) GTEST_SKIP() << "no group in " << path << ": "\n      << text(1);\n}\n'
PYTHON = '''def test(self):
    if a:
        self.skipTest("needs two CPUs")
    raise unittest.SkipTest(f"{name} is not installed")
@unittest.skipUnless(B, "needs two CPUs")
def main(self):
    self.why_not = f"no group in {folder}"
    self.skipTest(group.why_not)
    print("gdb is not installed")
    sys.exit(77)
'''
SHELL = 'skip() {\n  echo "a: $1"\n  exit 77\n}\nf || skip "no group in $folder"\ng || { echo "needs two CPUs"; }\n' \
        'echo "gdb is not installed"\nexit 77\n'
TOOL = 'throw no_groups(fmt::format("{} has no weight", path));\ncomplain(fmt::format("skipped: {}", e.what()));\n' \
       'return exit_skipped;\nprint(stderr, "tool: needs two CPUs\\n");\nreturn exit_skipped;\n'
ALLOWED = {"no group in ": ".*: no group in \n", "needs two": ".*: .*needs two CPUs$\n",
           "no weight": ".*: sukima-truth: skipped: \n"}


class CheckSkips(unittest.TestCase):
    def check(self, files, allowed="", forbidden=""):
        """The lines that the script prints."""
        with tempfile.TemporaryDirectory() as folder:
            for name, text in {**files, "tests/allowed_skips.txt": "# Comment\n\n" + allowed,
                               "tests/forbidden_skips.txt": forbidden,
                               "scripts/packages.txt": "gdb | gdb | test | debugs\ncargo-web / cargo | | check | x\n"}.items():
                path = pathlib.Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            done = in_process.run(SCRIPT, folder)
            self.assertEqual(done.stderr, "")
            lines = done.stdout.splitlines()
            self.assertEqual(done.returncode, 1 if len(lines) > 1 else 0, lines)
            return lines

    def test_reasons_of_each_kind_are_found(self):
        for name, text, unlisted in (
                ("tests/a/a_test.cpp", CPP, ["2: 'no group in X: X'"]),
                ("tests/a/a_test.py", PYTHON, ["3: 'needs two CPUs'", "5: 'needs two CPUs'", "10: 'gdb is not installed'",
                                               "7: 'no group in X'", "4: 'X is not installed'"]),
                ("tests/a/a_test.sh", SHELL, ["5: 'no group in X'", "7: 'gdb is not installed'"]),
                ("lab/a.cpp", TOOL, ["1: 'sukima-truth: skipped: X has no weight'", "4: 'tool: needs two CPUs'"])):
            with self.subTest(name):
                lines = self.check({name: text})
                self.assertEqual(sorted(line.partition(" is in neither list")[0] for line in lines[:-1]),
                                 sorted(f"{name}:{one}" for one in unlisted))

    def test_each_reason_is_in_one_list(self):
        files = {"tests/a/a_test.cpp": CPP, "tests/a/a_test.py": PYTHON}
        allowed = ALLOWED["no group in "] + ALLOWED["needs two"]
        self.assertEqual(self.check(files, allowed, ".*: \\S+ is not installed | gdb cargo\n"),
                         ["6 reasons for skips, 0 mistakes"])
        both = self.check(files, allowed, ".*: \\S+ is not installed | gdb\n.*: no group | -\n")
        self.assertEqual(len(both), 3)
        self.assertIn("tests/a/a_test.cpp:2: 'no group in X: X' is in both lists", both[0])

    def test_lines_that_nothing_needs(self):
        lines = self.check({"tests/a/a_test.cpp": CPP}, ALLOWED["no group in "] + ".*: no QEMU\n", ".*: no Go | gdb golang\n")
        self.assertEqual(lines, ["tests/forbidden_skips.txt:1: golang is not in scripts/packages.txt",
                                 "tests/allowed_skips.txt:4: no test is skipped for this reason",
                                 "tests/forbidden_skips.txt:1: no test is skipped for this reason",
                                 "1 reasons for skips, 3 mistakes"])

    def test_a_reason_must_be_readable(self):
        for name, text in (("a.py", "self.skipTest(why())\n"), ("a.py", "f()\nsys.exit(77)\n"), ("a.sh", "f\nexit 77\n"),
                           ("a.cpp", "GTEST_SKIP();\n")):
            with self.subTest(text):
                self.assertIn("the reason for this skip cannot be read", self.check({f"tests/{name}": text})[0])


if __name__ == "__main__":
    unittest.main()
