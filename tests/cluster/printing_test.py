#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The output of tasks on other nodes: printing_test.py SUKIMA CLUSTER_PRINTING_PROGRAM REMOTE_SHELL"""
import collections
import os
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from nodes import DIES_WITH_TEST, run_launcher

SUKIMA, PROGRAM, REMOTE_SHELL = (str(Path(word).resolve()) for word in sys.argv[1:4])
del sys.argv[1:4]
LINES = 20000


def lines_of(task):
    return [b"line %d of task %d" % (i, task) for i in range(LINES)] + [b"\0\xff"]


class printing(unittest.TestCase):
    def setUp(self):
        kept = tempfile.TemporaryDirectory()
        self.addCleanup(kept.cleanup)
        self.folder = Path(kept.name).resolve()

    def run_nodes(self, *options, how=(), nodes=("-n", "3"), **streams):
        return run_launcher([*DIES_WITH_TEST, SUKIMA, "cluster", "run", *nodes, *options, "--", PROGRAM, str(self.folder), *how],
                            stdin=subprocess.DEVNULL, **({"capture_output": True} | streams),
                            env={**os.environ, "SUKIMA_WORKERS": "1"})

    def check_tasks(self, output, prefixes, before_main_goes_on=True):
        """Checks the lines of node 0, and the order of the lines of each other node's task, which have that node's prefix."""
        lines = output.split(b"\n")
        self.assertEqual(lines.pop(), b"", "the end of the last line")
        tasks = set()
        for prefix in prefixes:
            own = [line.removeprefix(prefix) for line in lines if line.startswith(prefix)]
            lines = [line for line in lines if not line.startswith(prefix)]
            task = int(own[0].split()[-1])
            self.assertEqual(own, [*lines_of(task), b"unfinished %d" % task])
            tasks.add(task)
        self.assertEqual(lines, [b"main begins", b"progress: line 0 of task 0", *lines_of(0)[1:], b"unfinished 0 done",
                                 b"main ends"])
        self.assertEqual(tasks, set(range(1, len(prefixes) + 1)))
        rest = output.split(b"unfinished 0 done\nmain ends\n")[1]
        if before_main_goes_on:
            self.assertFalse(b"line" in rest, "node 0 has printed lines of tasks after all tasks had ended")

    def test_comes_whole_and_once_behind_the_node(self):
        ended = self.run_nodes()
        self.assertEqual((ended.stderr, ended.returncode), (b"", 0))
        self.check_tasks(ended.stdout, [b"[1] ", b"[2] "])

    def test_comes_without_the_node_if_that_is_wanted(self):
        ended = self.run_nodes("--no-prefix")
        self.assertEqual((ended.stderr, ended.returncode), (b"", 0))
        expected = [*lines_of(1), *lines_of(2), b"unfinished 1", b"unfinished 2", b"main begins",
                    b"progress: line 0 of task 0", *lines_of(0)[1:], b"unfinished 0 done", b"main ends", b""]
        self.assertEqual(sorted(ended.stdout.split(b"\n")), sorted(expected))

    def test_comes_from_other_machines(self):
        hosts = self.folder / "hosts.txt"
        hosts.write_text("alpha 1 127.0.0.1\nnoisy 2 127.0.0.1\n")
        ended = self.run_nodes("--ssh", f"{sys.executable} {REMOTE_SHELL}", nodes=("--hosts", str(hosts)))
        self.assertEqual((ended.stderr, ended.returncode), (b"", 0))
        # These lines come through the remote shell, which may be late.
        self.check_tasks(ended.stdout, [b"[1 noisy] ", b"[2 noisy] "], before_main_goes_on=False)

    def test_is_not_lost_where_a_node_dies(self):
        ended = self.run_nodes(how=["die"])
        self.assertEqual(ended.returncode, 75)
        found = collections.Counter(line.removeprefix(b"[1] ").removeprefix(b"[2] ").removeprefix(b"progress: ")
                                    for line in ended.stdout.split(b"\n"))
        for line in (*lines_of(0), *lines_of(1), *lines_of(2), b"unfinished 2, last words"):
            self.assertEqual(found[line], 3 if line == b"\0\xff" else 1, line)

    def test_stays_in_the_file_that_the_program_has_opened(self):
        ended = self.run_nodes(how=["file"])
        self.assertEqual((ended.stdout, ended.stderr, ended.returncode), (b"", b"", 0))
        for node in range(3):
            text = (self.folder / f"output-{node}").read_bytes()
            self.assertEqual(text.count(b"\nline"), LINES - 1)
            self.assertTrue(text.endswith(b" done\nmain ends\n"))

    def test_goes_to_a_full_disk(self):
        with open("/dev/full", "wb") as full:
            ended = self.run_nodes(stdout=full, stderr=subprocess.PIPE, capture_output=False)
        self.assertEqual(ended.returncode, 74)
        self.assertIn(b"sukima: cannot write the output: No space left on device\n", ended.stderr)

    def test_ends_with_its_reader(self):
        with subprocess.Popen([*DIES_WITH_TEST, SUKIMA, "cluster", "run", "-n", "3", "--", PROGRAM, str(self.folder)],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env={**os.environ, "SUKIMA_WORKERS": "1"}) as running:
            self.assertEqual(running.stdout.readline(), b"main begins\n")
            running.stdout.close()
            running.stderr.read()
            self.assertEqual(running.wait(), -signal.SIGPIPE)


if __name__ == "__main__":
    unittest.main()
