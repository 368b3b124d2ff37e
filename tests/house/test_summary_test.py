# SPDX-License-Identifier: Apache-2.0
"""Tests of scripts/test-summary.py on made-up build folders: test_summary_test.py SCRIPT"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = sys.argv.pop()
LOG = "# ninja log v5\n0\t1500\t7\tsrc/CMakeFiles/part.dir/a.cpp.o\tabc\n1500\t9500\t7\tbin/b\tdef\n" \
      "1500\t9500\t7\tbin/c\tdef\n0\t250\t8\tsrc/CMakeFiles/part.dir/a.cpp.o\tabd\n"
CASE = '<testcase name="{}" classname="x" time="{}" status="{}"><system-out>{}</system-out></testcase>'
GTEST = "[ RUN      ] a.b\n/src/a.cpp:7: Skipped\nneeds two CPUs\n\n[  SKIPPED ] a.b (0 ms)\n[==========] 1 test ran.\n"
PYTHON = "test_a (__main__.B) ... ok\ntest_c (__main__.B)\nWhat it is for. ... skipped 'no Go here'\n" \
         "test_d (__main__.B.test_d) ... skipped \"there's none\"\n\nRan 3 tests\n\nOK (skipped=2)\n"


class Slowest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.build = pathlib.Path(self.folder.name, "release")
        (self.build / "test-results").mkdir(parents=True)

    def results(self, name, second, *cases):
        path = self.build / "test-results" / name
        path.write_text("<testsuite>" + "".join(CASE.format(*case, *[""] * (4 - len(case))) for case in cases) + "</testsuite>")
        os.utime(path, (second, second))

    def run_script(self, *options, code=0):
        done = subprocess.run([sys.executable, SCRIPT, *options, self.build], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (code, ""))
        return done.stdout.splitlines()

    def test_nothing_was_built_or_tested(self):
        self.assertEqual(self.run_script(), ["0 passed, 0 failed, 0 skipped"])

    def test_a_command_counts_once_and_its_last_run_counts(self):
        (self.build / ".ninja_log").write_text(LOG)
        self.assertEqual(self.run_script(), [f"Builds in {self.build}: 2, together 8 s; the slowest:",
                                             "     8.0 s  bin/b", "     0.2 s  src/a.cpp.o",
                                             "0 passed, 0 failed, 0 skipped"])

    def test_the_test_summary_tests_and_those_that_failed(self):
        self.results("test.xml", 1, ("a", 1, "run"), ("b", 3, "fail"), ("c", 2, "notrun"), ("d", 4, "run"))
        self.assertEqual(self.run_script("--count", "2", code=1),
                         [f"Tests in {self.build}: 4, together 10 s; the slowest:", "     4.0 s  d", "     3.0 s  b",
                          "skipped: release: c: it is disabled", "failed: release: b", "2 passed, 1 failed, 1 skipped"])

    def test_the_end_of_what_a_failed_test_printed(self):
        self.results("test.xml", 1, ("a", 1, "fail", "".join(f"line {i}\n\n" for i in range(100))))
        printed = self.run_script("--count", "0", code=1)
        self.assertEqual(printed[1], "failed: release: a")
        self.assertEqual(printed[2:-1], [f"    line {i}" for i in range(75, 100)])

    def test_the_newest_result_of_a_test_counts(self):
        self.results("timing-again.xml", 2, ("a", 1, "run"))
        self.results("timing.xml", 1, ("a", 2, "fail"), ("b", 1, "run"))
        self.assertEqual(self.run_script("--count", "0")[-1], "2 passed, 0 failed, 0 skipped")

    def test_reasons_of_skips(self):
        self.results("test.xml", 1, ("a", 1, "notrun", GTEST), ("b", 1, "run", PYTHON),
                     ("c", 1, "notrun", "begins\nthere is no QEMU\n"), ("d", 1, "run", "all ok"))
        self.assertEqual(self.run_script("--count", "0")[1:],
                         ["skipped: release: a: needs two CPUs", "skipped: release: b test_c: no Go here",
                          "skipped: release: b test_d: there's none", "skipped: release: c: there is no QEMU",
                          "2 passed, 0 failed, 2 skipped"])

    def test_a_shard_counts_as_its_tests(self):
        shards = self.build / "test-results" / "shards"
        shards.mkdir()
        tests = '<testcase name="b" classname="a" status="run" time="2"/>' \
                '<testcase name="c" classname="a" status="run" time="1"><skipped message="x.cpp:7&#x0A;needs two CPUs"/></testcase>'
        failure = '<testcase name="d/0" classname="a" status="run" time="3"><failure message="x.cpp:9&#x0A;wrong"/></testcase>'
        for number, inner in enumerate((tests, failure, tests)):
            (shards / f"t.shard_{number}.xml").write_text(f"<testsuites><testsuite>{inner}</testsuite></testsuites>")
        # The third shard has failed although none of its tests has, and the fourth has written nothing.
        self.results("all.xml", 1, ("t.shard_0", 9, "run"), ("t.shard_1", 9, "fail", "long"), ("t.shard_2", 9, "fail", "leaks"),
                     ("t.shard_3", 9, "fail", "killed"))
        printed = self.run_script("--count", "1", code=1)
        self.assertEqual(printed[0], f"Tests in {self.build}: 5, together 24 s; the slowest:")
        self.assertEqual(printed[2:], [
            "skipped: release: t.a.c: needs two CPUs", "failed: release: t.a.d/0", "    x.cpp:9", "    wrong",
            "failed: release: t.shard_2", "    leaks", "failed: release: t.shard_3", "    killed",
            "1 passed, 3 failed, 1 skipped"])

    def test_what_failed_besides_counts(self):
        self.results("test.xml", 1, ("a", 1, "run"))
        self.assertEqual(self.run_script("--count", "0", "--failed", "release: building", code=1)[1:],
                         ["failed: release: building", "1 passed, 1 failed, 0 skipped"])

    def test_a_part_that_must_not_be_skipped_fails_its_test(self):
        self.results("test.xml", 1, ("b", 1, "run", PYTHON))
        allowed = pathlib.Path(self.folder.name, "allowed")
        allowed.write_text("release: b test_c: no Go here\n")
        self.assertEqual(self.run_script("--count", "0", "--allowed-skips", allowed, code=1)[1:],
                         ["skipped: release: b test_c: no Go here", "failed: release: b",
                          "    must not be skipped: release: b test_d: there's none", "0 passed, 1 failed, 0 skipped"])

    def test_only_allowed_skips_pass(self):
        self.results("test.xml", 1, ("a", 1, "notrun", GTEST), ("c", 1, "notrun", "there is no QEMU\n"))
        allowed = pathlib.Path(self.folder.name, "allowed")
        allowed.write_text("# Comment\n\n\\w+: a: needs \\w+ CPUs\n")
        lines = self.run_script("--count", "0", "--allowed-skips", allowed, code=1)
        self.assertEqual(lines[-4:], ["skipped: release: a: needs two CPUs", "failed: release: c",
                                      "    must not be skipped: release: c: there is no QEMU",
                                      "0 passed, 1 failed, 1 skipped"])
        allowed.write_text("release: (a|c): ")
        self.run_script("--allowed-skips", allowed)


if __name__ == "__main__":
    unittest.main()
