#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The programs of lab/benchmarks/cluster have the same results on several nodes as on one machine:
programs_test.py SUKIMA BENCH_CLUSTER [long]

The results of fib, nqueens-array, pentomino and uts are known ones.
"""
import os
import subprocess
import sys
import unittest
from pathlib import Path

from nodes import tasks_given

SUKIMA, PROGRAMS = (str(Path(word).resolve()) for word in sys.argv[1:3])
LONG = sys.argv[3:4] == ["long"]
del sys.argv[1:4]
KNOWN = [("fib", "27", "196418"), ("nqueens-array", "9", "352"), ("uts", "101", None),
         ("uts", "103", None), ("subgraphs", "20", None)]
TRAVEL = [("nqueens-array", "11"), ("uts", "103"), ("subgraphs", "28"), ("fib", "32")]
if LONG:
    KNOWN = [("fib", "36", "14930352"), ("nqueens-array", "12", "14200"), ("pentomino", "12", "9356"), ("uts", "3", "4112897"),
             ("subgraphs", "36", None)]
    TRAVEL = [(name, size) for name, size, _ in KNOWN]


def run(*words, environment=None):
    ended = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                           env={**os.environ, **(environment or {})})
    if ended.returncode != 0:
        raise AssertionError(f"{words} ended with {ended.returncode}: {ended.stderr}")
    return ended


class programs(unittest.TestCase):
    def test_give_the_result_of_one_machine(self):
        for name, size, known in KNOWN:
            alone = run(PROGRAMS, name, size, environment={"SUKIMA_WORKERS": "1"}).stdout
            if known is not None:
                self.assertEqual(alone, known + "\n", name)
            for nodes, workers in (("2", "1"), ("4", "1"), ("2", "2")):
                together = run(SUKIMA, "cluster", "run", "-n", nodes, "--", PROGRAMS, name, size,
                               environment={"SUKIMA_WORKERS": workers})
                self.assertEqual(together.stdout, alone, (name, nodes, workers))
                self.assertEqual(len(tasks_given(together.stderr)), int(nodes))

    def test_travel(self):
        # Long enough for tasks to travel: repeats until they did, however busy the machine is.
        for name, size in TRAVEL:
            while sum(tasks_given(run(SUKIMA, "cluster", "run", "-n", "2", "--", PROGRAMS, name, size).stderr)) == 0:
                pass

    def test_refuse_what_is_wrong(self):
        for words in ([], ["fib"], ["fib", "x"], ["fib", "-1"], ["uts", "4"], ["pentomino", "3"], ["no", "1"]):
            ended = subprocess.run([PROGRAMS, *words], capture_output=True, text=True)
            self.assertEqual(ended.returncode, 2, words)
            self.assertEqual(len(ended.stderr.splitlines()), 1)


if __name__ == "__main__":
    unittest.main()
