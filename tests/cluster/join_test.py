#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests `sukima cluster join`: join_test.py SUKIMA JOIN_PROGRAM OTHER_PROGRAM"""
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

from nodes import DIES_WITH_TEST, lives, without_late_nodes

SUKIMA, PROGRAM, OTHER = (str(Path(word).resolve()) for word in sys.argv[1:4])
del sys.argv[1:4]
TOKEN = "0123456789abcdef0123456789abcdef"
ENVIRONMENT = {**os.environ, "SUKIMA_WORKERS": "1", "SUKIMA_CLUSTER_TOKEN": TOKEN, "SUKIMA_CLUSTER_SILENCE": "0"}
OUTPUT = "first 1\nsecond 30\nthird 31\n"


def start(words, **variables):
    return subprocess.Popen([*DIES_WITH_TEST, SUKIMA, "cluster", *words], stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            env={**ENVIRONMENT, **variables})


class Run:
    """A run with room, whose nodes wait in their second entry."""

    def __init__(self, nodes=1, room=1, words=()):
        self.folder = tempfile.TemporaryDirectory()
        self.program = [PROGRAM, self.folder.name, *words]
        self.launcher = start(["run", "--hope", "-n", str(nodes), "--room", str(room), "--", *self.program])
        self.started = [self.launcher]
        self.awaited = [self.launcher]  # a mark that none of them makes any more would not come
        self.address = re.fullmatch(r"sukima: nodes may join at (\S+)\n", self.launcher.stderr.readline()).group(1)
        for node in range(nodes):
            self.wait_for(f"waiting-{node}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.started:
            process.kill()
            process.communicate()
        self.folder.cleanup()

    def join(self, address=None, program=None, options=("--hope",), **variables):
        joined = start(["join", *options, address or self.address, "--", *(program or self.program)], **variables)
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

    def let_go(self):
        (Path(self.folder.name) / "go").touch()


def node_of(launcher):
    return int(Path(f"/proc/{launcher.pid}/task/{launcher.pid}/children").read_text().split()[0])


class joining(unittest.TestCase):
    def check(self, process, before=""):
        """Waits for the end of a launcher or a node that has printed all. Another node may end late."""
        output, errors = process.communicate()
        self.assertEqual((output, without_late_nodes(errors), process.returncode), (before + OUTPUT, "", 0))

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
            begin = "sukima: "
            for expected, how in (
                    (f"{begin}the node at {run.address}: it has another token", {"SUKIMA_CLUSTER_TOKEN": TOKEN[::-1]}),
                    (f"{begin}another program: build id", {"program": [OTHER, "1", "1"]}),
                    (f"{begin}no node can be reached at {nowhere}: Connection refused", {"address": nowhere}),
                    (f"{begin}another mode: without --hope here, with it at node 0", {"options": ()}),
                    (f"{begin}SUKIMA_CLUSTER_TOKEN can be guessed", {"SUKIMA_CLUSTER_TOKEN": "short"}),
                    ("sukima: SUKIMA_CLUSTER_TOKEN is not set", {"SUKIMA_CLUSTER_TOKEN": ""}),
                    ("sukima: 'here' is not an address", {"address": "here"}),
                    ("sukima: join takes --hope and --port only", {"options": ("--hope", "-n", "3")})):
                output, errors, status = run.refused(**how)
                self.assertEqual((output, status, errors.count("\n")), ("", 2, 1), errors)
                self.assertTrue(errors.startswith(expected), errors)
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

    def test_needs_a_token_and_hope(self):
        for words, variables, expected in ((["--hope"], {"SUKIMA_CLUSTER_TOKEN": ""}, "--room needs SUKIMA_CLUSTER_TOKEN"),
                                           ([], {}, "--room needs --hope")):
            refused = start(["run", *words, "--room", "1", "--", "true"], **variables)
            output, errors = refused.communicate()
            self.assertEqual((output, refused.returncode, errors.count("\n")), ("", 2, 1))
            self.assertIn(expected, errors)


if __name__ == "__main__":
    unittest.main()
