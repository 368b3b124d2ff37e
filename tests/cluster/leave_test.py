#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests how nodes leave a run, by SIGUSR1: leave_test.py SUKIMA LEAVE_PROGRAM"""
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from nodes import DIES_WITH_TEST, TOKEN, Meeting, end, without_late_nodes
from peer import Peer, peer_message

SUKIMA, PROGRAM = (str(Path(word).resolve()) for word in sys.argv[1:3])
del sys.argv[1:3]
OUTPUT = "first 30\nsecond 31\n"
LEAVES = "sukima: node {} will leave when it has finished its tasks\n"


class Run(Meeting):
    """Nodes of the program, with the folder of their files."""

    def __init__(self, nodes, *words):
        super().__init__(nodes)
        self.folder = tempfile.TemporaryDirectory()
        self.words = [PROGRAM, self.folder.name, *words]

    def __exit__(self, *error):
        super().__exit__(*error)
        self.folder.cleanup()

    def start_all(self):
        for node in range(self.nodes):
            self.start(node, *self.words)

    def path(self, name):
        return Path(self.folder.name) / name

    def has(self, name):
        return self.path(name).exists()

    def let(self, *names):
        for name in names:
            self.path(name).touch()

    def wait_for(self, step):
        """Waits until a node has reached this point. Returns its number."""
        while True:
            for path in Path(self.folder.name).glob(f"{step}-*"):
                return int(path.name.rpartition("-")[2])
            for node in self.started:
                if node.poll():
                    raise RuntimeError(node.stderr.read())
            time.sleep(0.01)

    def process_of(self, name):
        return int(self.path(name).read_text())

    def ask(self, node):
        """Sends a node the request to leave, and returns once the node has received it."""
        self.started[node].send_signal(signal.SIGUSR1)
        return self.started[node].stderr.readline()


class leaving(unittest.TestCase):
    def test_ends_well_after_the_tasks_that_the_node_has(self):
        with Run(3) as run:
            run.start_all()
            leaver = run.wait_for("computing")
            other = 3 - leaver
            self.assertEqual(run.ask(leaver), LEAVES.format(leaver))
            run.let("finish", "second-all")
            self.assertEqual(end(run.started[leaver]), ("", "", 0))
            run.let("go")  # the others are in the middle of the entry
            for node in (0, other):
                self.assertEqual(end(run.started[node]), (OUTPUT, "", 0))
            self.assertFalse(run.has("computing-0") or run.has(f"computing-{other}"), "the result of the task has arrived")
            self.assertTrue(run.has(f"helped-{other}"), "the others share their tasks")
            self.assertFalse(run.has(f"between-{leaver}"))

    def test_takes_no_more_tasks(self):
        with Run(3) as run:
            run.start_all()
            worker = run.wait_for("computing")
            idle = 3 - worker
            self.assertEqual(run.ask(idle), LEAVES.format(idle))
            self.assertEqual(end(run.started[idle]), ("", "", 0))
            run.let("finish", "go", "second-all")
            for node in (0, worker):
                self.assertEqual(end(run.started[node]), (OUTPUT, "", 0))
            self.assertTrue(run.has(f"helped-{worker}"))

    def test_leaves_node_0_alone(self):
        with Run(2) as run:
            run.start_all()
            run.wait_for("computing")
            self.assertEqual(run.ask(1), LEAVES.format(1))
            run.let("finish", "second-all")
            self.assertEqual(end(run.started[1]), ("", "", 0))
            run.let("go", "helped")
            self.assertEqual(end(run.started[0]), (OUTPUT, "", 0))
            self.assertTrue(run.has("helped-0"))

    def test_between_entries_waits_for_the_next_one(self):
        with Run(2) as run:
            run.start_all()
            run.let("finish", "go")
            while not run.has("between-1"):
                time.sleep(0.01)
            self.assertEqual(run.ask(1), LEAVES.format(1))
            run.let("second-all")
            self.assertEqual(end(run.started[1]), ("first 30\n", "", 0))
            run.let("helped")
            self.assertEqual(end(run.started[0]), (OUTPUT, "", 0))
            self.assertFalse(run.has("helped-1"))

    def test_does_not_interrupt_a_program_between_entries(self):
        with Run(2) as run:
            run.start_all()
            run.let("finish", "go")
            while not run.has("between-1"):
                time.sleep(0.01)
            self.assertEqual(run.ask(1), LEAVES.format(1))
            run.let("second-0", "helped")
            self.assertEqual(end(run.started[0]), (OUTPUT, "", 0))
            run.let("second-1")  # the result of the second entry has arrived
            self.assertEqual(end(run.started[1]), (OUTPUT, "", 0))
            self.assertTrue(run.has("ended-1"))

    def test_is_refused_at_node_0(self):
        with Run(2) as run:
            run.start_all()
            run.wait_for("computing")
            self.assertEqual(run.ask(0), "sukima: node 0 cannot leave: it makes the calls for which the other nodes work\n")
            run.let("finish", "go", "second-all")
            for node in run.started:
                self.assertEqual(end(node), (OUTPUT, "", 0))

    def test_is_left_to_a_program_that_ignores_the_signal(self):
        with Run(2, "ignores") as run:
            run.start_all()
            run.wait_for("computing")
            run.started[1].send_signal(signal.SIGUSR1)
            run.let("finish", "go", "second-all")
            for node in run.started:
                self.assertEqual(end(node), (OUTPUT, "", 0))

    def test_ends_well_for_the_launcher(self):
        with Run(3) as run:
            ends = run.path("ends.json")
            launcher = subprocess.Popen([*DIES_WITH_TEST, SUKIMA, "cluster", "run", "-n", "3", "--json", str(ends), "--",
                                         *run.words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        text=True, env={**os.environ, "SUKIMA_WORKERS": "1"})
            run.started.append(launcher)
            leaver = run.wait_for("computing")
            os.kill(run.process_of(f"computing-{leaver}"), signal.SIGUSR1)
            self.assertEqual(launcher.stderr.readline(), f"[{leaver}] {LEAVES.format(leaver)}")
            run.let("finish", "go", "second-all")
            output, errors, status = end(launcher)
            self.assertEqual((output, without_late_nodes(errors), status), (OUTPUT, "", 0))
            nodes = json.loads(ends.read_text())["nodes"]
            self.assertEqual([(node["exit_code"], node["signal"]) for node in nodes], [(0, 0)] * 3)
            self.assertEqual((nodes[leaver]["counts"]["received"], nodes[leaver]["counts"]["answers"]), (1, 1))


class a_task_that_is_under_way_to_a_node_that_leaves(unittest.TestCase):
    def end_of_node_0(self, announces):
        with Run(2) as run:
            node = run.start(0, *run.words)
            with Peer(run.socket.getsockname(), TOKEN) as peer:
                peer.receive(Peer.MEMBERS)
                run.wait_for("waiting")
                peer.send(Peer.DATA, peer_message(kind=1, request=1))
                while peer.receive(Peer.DATA)[0] != 3:  # the task
                    pass
                if announces:
                    peer.send(Peer.DATA, peer_message(kind=11))
                peer.send(Peer.LEAVE, b"")
                peer.socket.shutdown(socket.SHUT_WR)
                run.let("finish", "go", "second-all", "helped")
                return end(node)

    def test_is_taken_back(self):
        self.assertEqual(self.end_of_node_0(announces=True), (OUTPUT, "", 0))

    def test_is_lost_with_a_node_that_ends_unannounced(self):
        output, errors, status = self.end_of_node_0(announces=False)
        self.assertEqual((output, status), ("", 75))
        self.assertTrue(errors.startswith("sukima: node 1 ended its program before entry 1 ended"), errors)


if __name__ == "__main__":
    unittest.main()
