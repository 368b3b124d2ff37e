#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests `sukima cluster run --hope` with programs that are not nodes: hope_launch_test.py SUKIMA"""
import fcntl
import os
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest
from pathlib import Path

from nodes import lives

SUKIMA = str(Path(sys.argv[1]).resolve())
del sys.argv[1:2]
NODE_1 = "[ $SUKIMA_CLUSTER_NODE = 1 ]"


def words(script, nodes=3, grace=3600):
    return [SUKIMA, "cluster", "run", "--hope", "-n", str(nodes), "--grace", str(grace), "--", "sh", "-c", script]


def shell(script, **how):
    return subprocess.run(words(script, **how), stdin=subprocess.DEVNULL, capture_output=True, text=True)


def children(pid):
    return [int(n) for n in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def waiting(pipe):
    """The number of bytes in the pipe."""
    return struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, b"\0" * 4))[0]


class launch(unittest.TestCase):
    def test_prints_each_byte_once(self):
        self.assertEqual(shell("seq 100000; printf end").stdout, "".join(f"{n}\n" for n in range(1, 100001)) + "end")

    def test_goes_on_where_a_node_dies(self):
        for dies in ("0", "1", "[01]"):
            ended = shell(f"printf 'one tw'; case $SUKIMA_CLUSTER_NODE in {dies}) kill -9 $$;; esac; echo 'o three'")
            self.assertEqual((ended.stdout, ended.stderr, ended.returncode), ("one two three\n", "", 0), dies)

    def test_ends_as_the_survivors(self):
        self.assertEqual(shell("exit 3").returncode, 3)
        self.assertEqual(shell(f"{NODE_1} && kill -9 $$; exit 3").returncode, 3)
        self.assertEqual(shell(f"{NODE_1} && exit 0; exit 3").returncode, 0)
        self.assertEqual(shell("kill -USR1 $$").returncode, -signal.SIGUSR1)
        ended = shell(f"{NODE_1} && kill -USR1 $$; kill -9 $$", nodes=2)
        self.assertEqual(ended.returncode, 75)
        self.assertEqual(ended.stderr, "sukima: no node ended by itself: node 0 by signal 9, node 1 by signal 10\n")

    def test_reports_a_node_that_prints_something_else(self):
        # The launcher reports the second node, and ends both.
        ended = shell(f"echo abc; {NODE_1} && printf 'd\\nx' || printf 'd\\ne'; exec sleep 1000", nodes=2)
        self.assertEqual(ended.returncode, 70)
        self.assertRegex(ended.stderr, r"^sukima: node [01] wrote text that differs from what was printed at offset 6 of its "
                                       r"output: with --hope all nodes must print the same\n$")
        self.assertEqual(ended.stdout[:6], "abc\nd\n")

    def test_prints_what_nodes_wrote_before_they_differed(self):
        # The test reads nothing before the nodes have been ended. Most of the output waits in the launcher then.
        with subprocess.Popen(words(f"yes | head -c 500000; {NODE_1} && echo d || echo e; exec sleep 1000", nodes=2),
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
            while waiting(running.stdout) == 0 or children(running.pid):
                time.sleep(0.01)
            output, errors = running.communicate()
        self.assertEqual((output[:500000], running.returncode), (b"y\n" * 250000, 70))
        self.assertIn(b"at offset 500000 of its output", errors)

    def test_reports_a_node_that_prints_less(self):
        ended = shell(f"echo abc; {NODE_1} || echo d")
        self.assertEqual((ended.stdout, ended.returncode), ("abc\nd\n", 70))
        self.assertIn("sukima: node 1 ended at offset 4 of its output", ended.stderr)
        ended = shell(f"echo abc; {NODE_1} && exit 1; echo d")
        self.assertEqual((ended.stdout, ended.returncode), ("abc\nd\n", 0), "it failed, and says so")

    def test_accepts_that_a_node_which_is_asked_to_end_prints_less(self):
        with tempfile.TemporaryDirectory() as folder:
            ready = Path(folder, "ready")
            ended = shell(f"trap 'exit 0' TERM; echo abc; {NODE_1} && {{ : >{ready}; while :; do sleep 0.01; done; }}; "
                          f"until [ -e {ready} ]; do sleep 0.01; done; echo d", nodes=2, grace=0)
        self.assertEqual((ended.stdout, ended.returncode), ("abc\nd\n", 0))
        self.assertNotIn("offset", ended.stderr)

    def test_accepts_that_nodes_which_a_signal_ends_print_less(self):
        for how in (signal.SIGINT, signal.SIGTERM):
            with subprocess.Popen(words("trap 'exit 0' INT TERM; echo abc; "
                                        f"{NODE_1} || echo d; echo $$ >&2; while :; do sleep 0.01; done", nodes=2),
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
                for _ in range(2):
                    running.stderr.readline()
                running.send_signal(how)
                output, errors = running.communicate()
            self.assertEqual((output, running.returncode), ("abc\nd\n", 0))
            self.assertNotIn("offset", errors)

    def test_does_not_wait_for_a_node_that_stands_still(self):
        # It prints 4 MiB, more than the launcher keeps.
        ended = shell(f"echo begin; {NODE_1} && kill -STOP $$; yes | head -c 4194304", grace=0)
        self.assertEqual((ended.stdout, ended.returncode), ("begin\n" + "y\n" * 2097152, 0))

    def test_checks_a_node_that_is_far_behind(self):
        with subprocess.Popen(words(f"{NODE_1} && kill -STOP $$; yes | head -c 4194303; {NODE_1} && echo n || echo y",
                                    nodes=2), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as running:
            output = running.stdout.read(4194305)  # all that node 0 prints
            for n in children(running.pid):
                os.kill(n, signal.SIGCONT)
            errors = running.stderr.read().decode()
        self.assertEqual(output[-4:], b"\ny" + b"y\n")
        self.assertEqual(running.returncode, 70)
        self.assertIn("node 1 wrote text that differs from what was printed at offset 4194303", errors)

    def test_ends_with_the_reader_of_its_output(self):
        with subprocess.Popen(words("yes"), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as running:
            self.assertEqual(running.stdout.read(4), b"y\ny\n")
            running.stdout.close()
            self.assertEqual(running.wait(), -signal.SIGPIPE)

    def test_says_that_its_output_cannot_be_written(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            ended = subprocess.run(words("echo a"), stdin=subprocess.DEVNULL, stdout=full, stderr=subprocess.PIPE, text=True)
        self.assertEqual((ended.returncode, ended.stderr),
                         (74, "sukima: cannot write the output: No space left on device\n"))

    def test_waits_for_a_slow_reader(self):
        with subprocess.Popen(words("yes | head -c 3000000; echo end >&2", nodes=2, grace=0), stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
            running.stdout.read(1)
            time.sleep(0.2)  # long after the grace period, if that counted
            self.assertEqual(len(running.stdout.read()), 2999999)
            running.stderr.read()
        self.assertEqual(running.returncode, 0)

    def test_its_end_ends_the_nodes(self):
        with subprocess.Popen(words("echo $$ >&2; exec sleep 1000"), stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              text=True) as running:
            nodes = [int(running.stderr.readline().split()[1]) for _ in range(3)]
            running.kill()
        while any(map(lives, nodes)):
            time.sleep(0.01)

    def test_says_which_nodes_it_ends(self):
        ended = shell(f"{NODE_1} && exec sleep 1000; exit 0", nodes=2, grace=0)
        self.assertEqual((ended.returncode, ended.stderr), (0, "sukima: 0 s after the end of node 0, node 1 still runs: ending "
                                                               "it now (--grace SECONDS gives more time)\n"))


if __name__ == "__main__":
    unittest.main()
