# SPDX-License-Identifier: Apache-2.0
"""Tests of scripts/check-prose.py on small made-up repositories: check_prose_test.py SCRIPT"""
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = sys.argv.pop()
LIMITS = "limits.txt"


class CheckProse(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.git("init", "--quiet", "--initial-branch=main")
        self.git("config", "user.name", "a")
        self.git("config", "user.email", "a@example.invalid")
        self.write(".gitattributes", "* text\n")
        self.commit("Begin")

    def git(self, *arguments):
        subprocess.run(["git", *arguments], cwd=self.folder.name, check=True)

    def write(self, name, text):
        pathlib.Path(self.folder.name, name).write_text(text, encoding="utf-8")

    def commit(self, subject):
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", subject)

    def check(self, *arguments):
        """Exit status and lines."""
        done = subprocess.run([sys.executable, SCRIPT, *arguments], cwd=self.folder.name, capture_output=True, text=True,
                              check=False)
        return done.returncode, (done.stdout + done.stderr).splitlines()

    def test_code_is_not_prose(self):
        self.write("a.cpp", "int nobody = told(mended);  // returns the count\n")
        self.assertEqual(self.check("a.cpp"), (0, []))

    def test_comments_and_messages_are_prose(self):
        self.write("a.cpp", "// Whoever waits is woken.\nf(\"the worker tells the other one what it has\");\n")
        status, lines = self.check("a.cpp")
        self.assertEqual(status, 1)
        self.assertEqual([line.split(": ")[0] for line in lines if ":1:" in line or ":2:" in line],
                         ["a.cpp:1", "a.cpp:1", "a.cpp:2"])

    def test_names_of_tests_are_prose(self):
        self.write("a.cpp", "TEST(files, what_is_no_file_is_refused) {}\nTEST_P(nodes, tells_nobody) {}\n"
                   "TYPED_TEST(words, outside_of_a_text) {}\nTEST_F(loads, a_neighbour_is_no_such_load) {}\n"
                   "TEST(vms, what_one_leaves_is_offered) {}\nTEST(groups, whose_quota_changes_start_anew) {}\n"
                   "void test_what_is_no_file();\n")
        self.write("a.py", "    def test_what_is_no_file(self):\n    def what_is_no_file():\n")
        status, lines = self.check("a.cpp", "a.py")
        self.assertEqual(status, 1)
        self.assertEqual(sorted({line.split(": ")[0] for line in lines}),
                         ["a.cpp:1", "a.cpp:2", "a.cpp:3", "a.cpp:4", "a.cpp:5", "a.py:1"])

    def test_code_blocks_of_pages_are_not_prose(self):
        self.write("a.md", "    nobody\n\nThis was mended.\n")
        status, lines = self.check("a.md")
        self.assertEqual((status, len(lines)), (1, 1))
        self.assertIn("a.md:3: 'mended': fix", lines[0])

    def test_only_added_lines_count(self):
        self.write("a.md", "This was mended.\n")
        self.commit("Add a")
        self.git("switch", "--quiet", "--create", "work")
        self.assertEqual(self.check(), (0, []))
        self.write("a.md", "This was mended.\nNobody knows.\n")
        status, lines = self.check()
        self.assertEqual((status, len(lines)), (1, 1))
        self.assertTrue(lines[0].startswith("a.md:2: "))

    def test_subjects(self):
        self.git("switch", "--quiet", "--create", "work")
        self.write("a.md", "Text.\n")
        self.commit("The text is there")
        self.write("a.md", "Texts.\n")
        self.commit("Write " + 70 * "a")
        status, lines = self.check()
        self.assertEqual((status, len(lines)), (1, 2))
        self.assertIn("76 characters", lines[0])
        self.assertIn("imperative", lines[1])

    def test_limits_only_fall(self):
        self.write("a.md", "This was mended.\n")
        self.write(LIMITS, "# Comment\n2 a.md\n1 gone.md\n")
        self.commit("Add a")
        self.assertEqual(self.check("--limits", LIMITS, "--write"), (0, []))
        self.assertEqual(pathlib.Path(self.folder.name, LIMITS).read_text(encoding="utf-8"), "# Comment\n1 a.md\n")
        self.write("a.md", "This was mended.\nThat was mended.\n")
        status, lines = self.check("--limits", LIMITS, "--write")
        self.assertEqual(status, 1)
        self.assertIn("a.md: 2 findings, 1 allowed:", lines[0])
        self.assertEqual(pathlib.Path(self.folder.name, LIMITS).read_text(encoding="utf-8"), "# Comment\n1 a.md\n")

    def test_a_file_without_a_limit_must_have_no_finding(self):
        self.write("a.md", "This was mended.\n")
        self.write(LIMITS, "")
        self.commit("Add a")
        self.assertEqual(self.check("--limits", LIMITS)[0], 1)

    def test_wrong_use(self):
        self.assertEqual(self.check("--write")[0], 2)
        self.assertEqual(self.check("--base", "nothing")[0], 2)
        self.write(LIMITS, "a.md\n")
        status, lines = self.check("--limits", LIMITS)
        self.assertEqual((status, lines), (2, ["check-prose.py: limits.txt:1: 'a.md' is not 'COUNT PATH'"]))


if __name__ == "__main__":
    unittest.main()
