#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""So many nodes that not all are connected: results, a death, and a node that leaves: many_nodes_test.py SUKIMA MANY_NODES"""
import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from nodes import DIES_WITH_TEST, run_launcher, without_late_nodes

SUKIMA, PROGRAM = (str(Path(word).resolve()) for word in sys.argv[1:3])
del sys.argv[1:3]
NODES = 40
QUEENS = {9: "352\n", 13: "73712\n"}
LONG = 18  # longer than any test


# A node writes its process number into FOLDER/NODE before it begins: a node that has ended soon cannot be found in /proc.
NOTED = ["sh", "-c", 'echo $$ >"$0/$SUKIMA_CLUSTER_NODE"; exec "$@"']


def command(size, *options, noted=()):
    return [*DIES_WITH_TEST, SUKIMA, "cluster", "run", "-n", str(NODES), *options, "--", *noted, PROGRAM, str(size)]


def settings():
    return {**os.environ, "SUKIMA_WORKERS": "1"}


class many_nodes(unittest.TestCase):
    def start(self, size, *options):
        """A run whose nodes have met, the lines of stderr so far, and its processes by node."""
        folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        run = subprocess.Popen(command(size, *options, noted=[*NOTED, str(folder)]), stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=settings())
        self.addCleanup(run.wait)
        self.addCleanup(run.kill)
        here = 0
        while here < NODES:
            line = run.stderr.readline()
            self.assertTrue(line, "the run has ended")
            here += line.endswith("here\n")
        pids = {int(node.name): int(node.read_text()) for node in folder.iterdir()}
        self.assertEqual(sorted(pids), list(range(NODES)))
        return run, pids

    def test_results(self):
        for options in ([], ["--hope"]):
            ended = run_launcher(command(9, *options), stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                 check=False, env=settings())
            self.assertEqual((ended.returncode, ended.stdout), (0, QUEENS[9]), ended.stderr)

    def test_a_death_ends_nodes_that_steal(self):
        run, pids = self.start(LONG)
        os.kill(pids[NODES // 2], signal.SIGKILL)
        _, errors = run.communicate()
        self.assertEqual(run.returncode, 75, errors)
        self.assertIn(f"node {NODES // 2} was lost", errors)

    def test_a_node_leaves_that_few_are_connected_to(self):
        run, pids = self.start(13)
        with contextlib.suppress(ProcessLookupError):  # it has ended
            os.kill(pids[NODES // 2], signal.SIGUSR1)
        output, errors = run.communicate()
        self.assertEqual((run.returncode, output), (0, QUEENS[13]), without_late_nodes(errors))

    def test_nodes_that_omit_survive_deaths(self):
        run, pids = self.start(13, "--hope")
        for node in (0, 19, 20, 21, 22, 23):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pids[node], signal.SIGKILL)
        output, errors = run.communicate()
        self.assertEqual((run.returncode, output), (0, QUEENS[13]), without_late_nodes(errors))


if __name__ == "__main__":
    unittest.main()
