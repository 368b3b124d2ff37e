# SPDX-License-Identifier: Apache-2.0
"""Tests of scripts/slowest.py on made-up build folders: slowest_test.py SCRIPT"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = sys.argv.pop()
LOG = "# ninja log v5\n0\t1500\t7\tsrc/CMakeFiles/part.dir/a.cpp.o\tabc\n1500\t9500\t7\tbin/b\tdef\n" \
      "1500\t9500\t7\tbin/c\tdef\n0\t250\t8\tsrc/CMakeFiles/part.dir/a.cpp.o\tabd\n"
CASE = '<testcase name="{}" classname="x" time="{}" status="{}"/>'


class Slowest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.build = pathlib.Path(self.folder.name, "release")
        (self.build / "test-results").mkdir(parents=True)

    def results(self, name, second, *cases):
        path = self.build / "test-results" / name
        path.write_text("<testsuite>" + "".join(CASE.format(*case) for case in cases) + "</testsuite>")
        os.utime(path, (second, second))

    def run_script(self, *options):
        done = subprocess.run([sys.executable, SCRIPT, *options, self.build], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout.splitlines()

    def test_nothing_was_built_or_tested(self):
        self.assertEqual(self.run_script(), ["0 passed, 0 failed, 0 skipped"])

    def test_a_command_counts_once_and_its_last_run_counts(self):
        (self.build / ".ninja_log").write_text(LOG)
        self.assertEqual(self.run_script(), [f"Builds in {self.build}: 2, together 8 s; the slowest:",
                                             "     8.0 s  bin/b", "     0.2 s  src/a.cpp.o",
                                             "0 passed, 0 failed, 0 skipped"])

    def test_the_slowest_tests_and_those_that_failed(self):
        self.results("test.xml", 1, ("a", 1, "run"), ("b", 3, "fail"), ("c", 2, "notrun"), ("d", 4, "run"))
        self.assertEqual(self.run_script("--count", "2"),
                         [f"Tests in {self.build}: 4, together 10 s; the slowest:", "     4.0 s  d", "     3.0 s  b",
                          "failed: release: b", "2 passed, 1 failed, 1 skipped"])

    def test_the_newest_result_of_a_test_counts(self):
        self.results("timing-again.xml", 2, ("a", 1, "run"))
        self.results("timing.xml", 1, ("a", 2, "fail"), ("b", 1, "run"))
        self.assertEqual(self.run_script("--count", "0")[-1], "2 passed, 0 failed, 0 skipped")


if __name__ == "__main__":
    unittest.main()
