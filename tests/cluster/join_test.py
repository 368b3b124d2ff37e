#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests `sukima cluster join`: join_test.py SUKIMA JOIN_PROGRAM OTHER_PROGRAM LEAVE_PROGRAM"""
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from nodes import DIES_WITH_TEST, Meeting, end, lives, without_late_nodes
from nodes import TOKEN as TOKEN_OF_NODES
from peer import Peer, peer_message

SUKIMA, PROGRAM, OTHER, LEAVE_PROGRAM = (str(Path(word).resolve()) for word in sys.argv[1:5])
del sys.argv[1:5]
TOKEN = "0123456789abcdef0123456789abcdef"
ENVIRONMENT = {**os.environ, "SUKIMA_WORKERS": "1", "SUKIMA_CLUSTER_TOKEN": TOKEN, "SUKIMA_CLUSTER_SILENCE": "0"}
OUTPUT = "first 1\nsecond 30\nthird 31\n"
WELCOME, TASK = 12, 3
OUTPUT_OF_LEAVE_PROGRAM = "first 30\nsecond 31\n"


def start(words, **variables):
    return subprocess.Popen([*DIES_WITH_TEST, SUKIMA, "cluster", *words], stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            env={**ENVIRONMENT, **variables})


class Run:
    """A run with room for more nodes, in which the nodes wait in the second entry of the program for joining."""

    OPTIONS = ("--hope",)

    def __init__(self, nodes=1, room=1, words=(), program=PROGRAM):
        self.folder = tempfile.TemporaryDirectory()
        self.program = [program, self.folder.name, *words]
        self.launcher = start(["run", *self.OPTIONS, "-n", str(nodes), "--room", str(room), "--", *self.program])
        self.started = [self.launcher]
        self.awaited = [self.launcher]  # otherwise the test would wait for a mark that no node makes any more
        self.address = re.fullmatch(r"sukima: nodes may join at (\S+)\n", self.launcher.stderr.readline()).group(1)
        for node in self.waiting_nodes(nodes):
            self.wait_for(f"waiting-{node}")

    def waiting_nodes(self, nodes):
        return range(nodes)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.started:
            process.kill()
            process.communicate()
        self.folder.cleanup()

    def join(self, address=None, program=None, options=None, **variables):
        words = ["join", *(self.OPTIONS if options is None else options), address or self.address, "--"]
        joined = start([*words, *(program or self.program)], **variables)
        self.started.append(joined)
        self.awaited.append(joined)
        return joined

    def refused(self, **how):
        refused = self.join(**how)
        self.awaited.remove(refused)
        output, errors = refused.communicate()
        return output, errors, refused.returncode

    def has(self, name):
        return (Path(self.folder.name) / name).exists()

    def wait_for(self, *names):
        while not all(map(self.has, names)):
            for process in self.awaited:
                if process.poll() is not None:
                    raise RuntimeError(f"{process.args} ended with {process.returncode}: {process.stderr.read()}")
            time.sleep(0.01)

    def let(self, *names):
        for name in names:
            (Path(self.folder.name) / name).touch()

    def let_go(self):
        self.let("go")


class StealingRun(Run):
    """The same without --hope: one node begins the entry, and the others request tasks from it."""

    OPTIONS = ()

    def waiting_nodes(self, nodes):
        return (0,)


def node_of(launcher):
    return int(Path(f"/proc/{launcher.pid}/task/{launcher.pid}/children").read_text().split()[0])


class JoinTest(unittest.TestCase):
    def check(self, process, before="", output=OUTPUT):
        """Waits for the end of a launcher or node, and checks that it has printed everything. Another node may end late."""
        printed, errors = process.communicate()
        self.assertEqual((printed, without_late_nodes(errors), process.returncode), (before + output, "", 0))

    def check_refusal(self, refused, expected):
        output, errors, status = refused
        self.assertEqual((output, status, errors.count("\n")), ("", 2, 1), errors)
        self.assertTrue(errors.startswith("sukima: " + expected), errors)


class joining(JoinTest):
    def test_gives_the_newcomer_work_and_the_same_result(self):
        with Run() as run:
            joined = run.join()
            # The first task waits on both nodes, so only the newcomer can have begun with the second one.
            run.wait_for("computed-1")
            run.let_go()
            for process in (run.launcher, joined):
                self.check(process)
            self.assertTrue(run.has("first-0"))
            self.assertFalse(run.has("first-1"), "its result was there")

    def test_asks_for_results_that_were_too_many_to_be_sent_at_once(self):
        with Run(words=("4",)) as run:
            joined = run.join()
            run.wait_for("computed-1")
            run.let_go()
            for process in (run.launcher, joined):
                self.check(process, 4 * f"large {5 << 20}\n")

    def test_lets_several_join(self):
        with Run(nodes=2, room=2) as run:
            joined = [run.join(), run.join()]
            run.wait_for("waiting-2", "waiting-3")
            run.let_go()
            for process in (run.launcher, *joined):
                self.check(process)

    def test_leaves_the_newcomer_when_all_others_are_killed(self):
        with Run() as run:
            joined = run.join()
            run.wait_for("computed-1")
            node = node_of(run.launcher)
            os.kill(node, signal.SIGKILL)
            run.launcher.communicate()
            self.assertFalse(lives(node))
            run.let_go()
            self.check(joined)

    def test_lets_the_others_go_on_when_the_newcomer_is_killed(self):
        with Run() as run:
            joined = run.join()
            run.wait_for("computed-1")
            joined.kill()
            joined.communicate()
            run.let_go()
            self.check(run.launcher)

    def test_refuses_with_one_sentence(self):
        with Run() as run, socket.create_server(("127.0.0.1", 0)) as closed:
            nowhere = "127.0.0.1:%d" % closed.getsockname()[1]
            closed.close()
            for expected, how in (
                    (f"the node at {run.address}: it has another token", {"SUKIMA_CLUSTER_TOKEN": TOKEN[::-1]}),
                    ("another program: build id", {"program": [OTHER, "1", "1"]}),
                    (f"no node can be reached at {nowhere}: Connection refused", {"address": nowhere}),
                    ("another mode: without --hope here, with it at node 0", {"options": ()}),
                    ("SUKIMA_CLUSTER_TOKEN can be guessed", {"SUKIMA_CLUSTER_TOKEN": "short"}),
                    ("SUKIMA_CLUSTER_TOKEN is not set", {"SUKIMA_CLUSTER_TOKEN": ""}),
                    ("'here' is not an address", {"address": "here"}),
                    ("join takes --hope and --port only", {"options": ("--hope", "-n", "3")})):
                self.check_refusal(run.refused(**how), expected)
            self.assertFalse(run.has("waiting-1"))
            run.join()  # the place is still free
            run.wait_for("computed-1")

    def test_refuses_when_all_places_are_taken(self):
        with Run() as run:
            run.join()
            run.wait_for("computed-1")
            _, errors, status = run.refused()
            self.assertEqual((errors, status), ("sukima: all 1 places for nodes that join are taken: start the "
                                                "run with a larger --room\n", 2))

    def test_needs_a_token(self):
        for words in (["--hope"], []):
            refused = start(["run", *words, "--room", "1", "--", "true"], SUKIMA_CLUSTER_TOKEN="")
            self.check_refusal((*refused.communicate(), refused.returncode), "--room needs SUKIMA_CLUSTER_TOKEN")


class joining_while_nodes_steal(JoinTest):
    def test_gives_the_newcomer_work_and_the_same_result(self):
        with StealingRun() as run:
            joined = run.join()
            run.wait_for("computed-1")  # node 0 waits with its only worker
            run.let_go()
            for process in (run.launcher, joined):
                self.check(process)
            self.assertTrue(run.has("first-0"))
            self.assertFalse(run.has("first-1"), "its result was there")
            self.assertFalse(run.has("waiting-1"))

    def test_asks_for_results_that_were_too_many_to_be_sent_at_once(self):
        with StealingRun(words=("4",)) as run:
            joined = run.join()
            run.wait_for("computed-1")
            run.let_go()
            for process in (run.launcher, joined):
                self.check(process, 4 * f"large {5 << 20}\n")

    def test_lets_several_join(self):
        with StealingRun(nodes=2, room=2) as run:
            joined = [run.join(), run.join()]
            run.wait_for("second-2", "second-3")
            run.let_go()
            for process in (run.launcher, *joined):
                self.check(process)

    def test_ends_the_newcomer_when_node_0_is_killed(self):
        with StealingRun() as run:
            joined = run.join()
            run.wait_for("computed-1")
            os.kill(node_of(run.launcher), signal.SIGKILL)
            output, errors = joined.communicate()
            self.assertEqual((output, joined.returncode, errors.count("\n")), ("first 1\n", 75, 1), errors)
            self.assertTrue(errors.startswith("sukima: node 0 was lost ("), errors)

    def test_lets_the_others_go_on_when_a_newcomer_without_tasks_is_killed(self):
        with StealingRun(room=2) as run:
            run.join()
            run.wait_for("computed-1")
            idle = run.join()
            run.wait_for("second-2")
            idle.kill()
            idle.communicate()
            run.let_go()
            self.check(run.launcher)

    def test_ends_the_run_when_a_newcomer_with_a_task_is_killed(self):
        with StealingRun(program=LEAVE_PROGRAM) as run:
            joined = run.join()
            run.wait_for("computing-1")
            joined.kill()
            joined.communicate()
            output, errors = run.launcher.communicate()
            self.assertEqual((output, run.launcher.returncode, errors.count("\n")), ("", 75, 1), errors)
            self.assertTrue(errors.startswith("[0] sukima: node 1 was lost ("), errors)
            self.assertIn(" while it ran 1 tasks of node 0 in entry 1; run the program again", errors)

    def test_between_entries(self):
        with StealingRun(program=LEAVE_PROGRAM) as run:
            run.let("finish", "go")
            run.wait_for("between-0")
            joined = run.join()
            run.wait_for("between-1")
            run.let("second-all")
            for process in (run.launcher, joined):
                self.check(process, output=OUTPUT_OF_LEAVE_PROGRAM)
            self.assertFalse(run.has("computing-1"))
            self.assertTrue(run.has("helped-1"))

    def test_in_the_last_entry(self):
        with StealingRun(program=LEAVE_PROGRAM, room=2) as run:
            run.let("finish", "go", "second-0")
            run.wait_for("between-0")
            late = run.join()
            run.wait_for("between-1")
            joined = run.join()
            run.wait_for("between-2")
            run.let("second-2")
            for process in (run.launcher, joined):
                self.check(process, output=OUTPUT_OF_LEAVE_PROGRAM)
            self.assertTrue(run.has("helped-2"))
            run.let("second-1")  # it has the results, and node 0 has ended
            self.check(late, output=OUTPUT_OF_LEAVE_PROGRAM)
            self.check_refusal(run.refused(), f"no node can be reached at {run.address}: Connection refused")

    def test_while_another_node_leaves(self):
        with StealingRun(program=LEAVE_PROGRAM, room=2) as run:
            leaver = run.join()
            run.wait_for("computing-1")
            leaver.send_signal(signal.SIGUSR1)
            self.assertEqual(leaver.stderr.readline(), "sukima: node 1 will leave when it has finished its tasks\n")
            run.awaited.remove(leaver)
            joined = run.join()
            run.let("finish", "go")
            run.wait_for("between-2")
            run.let("second-all")
            for process in (run.launcher, joined):
                self.check(process, output=OUTPUT_OF_LEAVE_PROGRAM)
            self.check(leaver, output="")
            self.assertTrue(run.has("helped-2"))

    def test_lets_a_newcomer_leave(self):
        with StealingRun() as run:
            joined = run.join()
            run.wait_for("computed-1")
            joined.send_signal(signal.SIGUSR1)
            output, errors = joined.communicate()
            self.assertEqual((output, errors, joined.returncode),
                             ("first 1\n", "sukima: node 1 will leave when it has finished its tasks\n", 0))
            self.check_refusal(run.refused(), "all 1 places for nodes that join are taken")
            run.let_go()
            self.check(run.launcher)

    def test_ends_a_newcomer_that_calls_another_function(self):
        with StealingRun(room=2) as run:
            output, errors, status = run.refused(program=[*run.program, "1"])
            self.assertEqual((output, status, errors.count("\n")), ("", 2, 1), errors)
            self.assertIn("entry 1", errors)
            self.assertIn("large_entry", errors)
            run.join()
            run.wait_for("computed-2")
            run.let_go()
            self.check(run.launcher)

    def test_refuses_with_one_sentence(self):
        with StealingRun() as run:
            for expected, how in (
                    (f"the node at {run.address}: it has another token", {"SUKIMA_CLUSTER_TOKEN": TOKEN[::-1]}),
                    ("another program: build id", {"program": [OTHER, "1", "1"]}),
                    ("another mode: with --hope here, without it at node 0", {"options": ("--hope",)})):
                self.check_refusal(run.refused(**how), expected)
            run.join()  # the place is still free
            run.wait_for("computed-1")
            self.check_refusal(run.refused(), "all 1 places for nodes that join are taken: start the run with a larger "
                                              "--room\n")
            run.let_go()
            self.check(run.launcher)


class a_newcomer_that_vanishes(JoinTest):
    """A peer with the free number 1."""

    def end_of_node_0(self, asks):
        with Meeting(1) as meeting, tempfile.TemporaryDirectory() as folder:
            node = meeting.start(0, LEAVE_PROGRAM, folder, SUKIMA_CLUSTER_ROOM="1")
            with Peer(meeting.socket.getsockname(), TOKEN_OF_NODES) as peer:
                self.assertEqual(peer.next_message(), (WELCOME, 0))
                while not (Path(folder) / "waiting-0").exists():
                    time.sleep(0.01)
                if asks:
                    peer.send(Peer.DATA, peer_message(kind=1, request=1))
                    while peer.next_message() != (TASK, 1):
                        pass
            for name in ("finish", "go", "second-all", "helped"):
                (Path(folder) / name).touch()
            return end(node)

    def test_does_not_end_the_run_without_a_task(self):
        self.assertEqual(self.end_of_node_0(asks=False), (OUTPUT_OF_LEAVE_PROGRAM, "", 0))

    def test_ends_the_run_with_a_task(self):
        output, errors, status = self.end_of_node_0(asks=True)
        self.assertEqual((output, status), ("", 75))
        self.assertTrue(errors.startswith("sukima: node 1 was lost ("), errors)


if __name__ == "__main__":
    unittest.main()
