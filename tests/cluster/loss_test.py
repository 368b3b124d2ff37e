#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""If a node stops, or ends too early, all nodes end: loss_test.py SUKIMA CLUSTER_FIB RANDOM_PROGRAM"""
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from nodes import Meeting, end

SUKIMA, FIB, RANDOM_PROGRAM = (str(Path(word).resolve()) for word in sys.argv[1:4])
del sys.argv[1:4]
SILENCE = 2


class loss(unittest.TestCase):
    def stop(self, node):
        with tempfile.TemporaryDirectory() as folder:
            script = f"echo $$ > {folder}/$SUKIMA_CLUSTER_NODE; exec {FIB} 70"
            with subprocess.Popen([SUKIMA, "cluster", "run", "-n", "3", "--", "sh", "-c", script],
                                  stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                  env={**os.environ, "SUKIMA_CLUSTER_SILENCE": str(SILENCE)}) as running:
                pids = []
                for n in range(3):
                    file = Path(folder) / str(n)
                    while not (file.exists() and file.read_text().strip()):
                        time.sleep(0.01)
                    pids.append(int(file.read_text()))
                while int(Path(f"/proc/{pids[0]}/stat").read_text().split()[13]) < 50:  # they have met, and work
                    time.sleep(0.01)
                os.kill(pids[node], signal.SIGSTOP)
                begun = time.monotonic()
                errors = running.stderr.read()
                status = running.wait()
                took = time.monotonic() - begun
        self.assertEqual(running.returncode, status)
        self.assertFalse([pid for pid in pids if Path(f"/proc/{pid}").exists()], "all have ended")
        return errors, status, took

    def test_of_a_helper(self):
        for node in (1, 2):
            errors, status, took = self.stop(node)
            self.assertEqual(status, 75)
            self.assertIn(f"node {node} was lost", errors)
            self.assertIn("run the program again", errors)
            self.assertLess(took, SILENCE + 3)

    def test_of_node_0(self):
        errors, status, took = self.stop(0)
        self.assertNotEqual(status, 0)
        self.assertIn("node 0 was lost", errors)
        self.assertLess(took, SILENCE + 4)

    def test_of_a_node_0_that_has_fewer_entries(self):
        with Meeting(2) as meeting:
            nodes = [meeting.start(node, RANDOM_PROGRAM, "1", str(node + 1)) for node in (0, 1)]
            self.assertEqual(end(nodes[0])[2], 0)
            _, errors, status = end(nodes[1])
            self.assertEqual(status, 75)
            self.assertIn("sukima: node 0 ended its program before entry 2 ended", errors)


if __name__ == "__main__":
    unittest.main()
