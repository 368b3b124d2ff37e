#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A cable is pulled, and connected again: cable_test.py CLUSTER_FIB

Two network namespaces of their own, joined by a pair of virtual devices; they end with the processes that hold them.
"""
import sys
import time
import unittest
from pathlib import Path

from machines import obstacle, two_machines
from nodes import Meeting, end, wait_until_it_works

FIB = str(Path(sys.argv[1]).resolve())
del sys.argv[1]
PORT = 4000
HELD_UP = 1.5  # seconds


def start(meeting, node, machine, size, silence):
    return meeting.start(node, *machine.inside(FIB, size), listens=False, SUKIMA_CLUSTER_ADDRESS=f"10.77.0.1:{PORT}",
                         SUKIMA_CLUSTER_SILENCE=str(silence))


class cable(unittest.TestCase):
    def test_that_is_pulled_ends_both_sides_with_75(self):
        with two_machines() as (a, b), Meeting(3) as meeting:
            nodes = [start(meeting, node, machine, "70", 1) for node, machine in enumerate((a, a, b))]
            for node in nodes[:2]:
                wait_until_it_works(node.pid)
            a.ip("link", "set", "cable", "down")
            ends = [end(node) for node in nodes]
        for _, errors, status in ends:
            self.assertEqual(status, 75, errors)
        for node in (0, 1):
            self.assertIn("node 2 was lost", ends[node][1])
        self.assertRegex(ends[2][1], "node [01] was lost")

    def test_that_is_put_back_in_time_changes_nothing(self):
        with two_machines() as (a, b), Meeting(2) as meeting:
            nodes = [start(meeting, node, machine, "42", 60) for node, machine in enumerate((a, b))]
            wait_until_it_works(nodes[1].pid)
            a.ip("link", "set", "cable", "down")
            time.sleep(HELD_UP)
            a.ip("link", "set", "cable", "up")
            for node in nodes:
                self.assertEqual(end(node), ("267914296\n", "", 0))


if __name__ == "__main__":
    if why := obstacle():
        print(f"no network namespace can be made here: {why}")
        sys.exit(77)
    unittest.main()
