#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What happens when something goes wrong: bad_days_test.py SUKIMA CLUSTER_FIB

Tests the rows of the table in docs/cluster-running.md that need no network of their own. Each test waits for events, and
ctest ends a test that waits forever. launch_test.py, loss_test.py, cable_test.py and mpi_test.py test the other rows.
"""
import contextlib
import os
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from nodes import DIES_WITH_TEST, TOKEN, Meeting, end, wait_until_it_works
from peer import MAGIC, Peer, peer_message

SUKIMA, FIB = (str(Path(word).resolve()) for word in sys.argv[1:3])
del sys.argv[1:3]
OTHER_TOKEN = "of another program, and as long as it must be"
ENDLESS = "70"  # the index of a number that takes days
RESULT = ("75025\n", "", 0)  # of `cluster_fib 25`


class Launched:
    """Three nodes under the launcher that compute forever; `pids` has their pids, and `gone` ends when all have ended."""

    def __init__(self, **variables):
        self.variables = variables

    def __enter__(self):
        self.gone, held = os.pipe()
        script = f"echo $$ $SUKIMA_CLUSTER_NODE >&{held}; exec {FIB} {ENDLESS}"
        self.launcher = subprocess.Popen(
            [*DIES_WITH_TEST, SUKIMA, "cluster", "run", "-n", "3", "--", "sh", "-c", script], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, pass_fds=[held],
            env={**os.environ, "SUKIMA_WORKERS": "1", "SUKIMA_CLUSTER_SILENCE": "0", **self.variables})
        os.close(held)
        said = b""
        while said.count(b"\n") < 3:
            said += os.read(self.gone, 100)
        by_node = {int(node): int(pid) for pid, node in (line.split() for line in said.decode().splitlines())}
        self.pids = [by_node[node] for node in range(3)]
        for pid in self.pids[:2]:
            wait_until_it_works(pid)
        return self

    def wait_until_all_have_ended(self):
        while os.read(self.gone, 100):
            pass

    def __exit__(self, *_):
        self.launcher.kill()
        self.launcher.communicate()
        self.wait_until_all_have_ended()
        os.close(self.gone)


class killed(unittest.TestCase):
    def test_helper_ends_all_with_75(self):
        for node in (1, 2):
            with Launched() as run:
                os.kill(run.pids[node], signal.SIGKILL)
                output, errors, status = end(run.launcher)
                self.assertEqual((output, status), ("", 75), errors)
                # Other nodes may only have seen the end of the first node that noticed it.
                self.assertIn(f"sukima: node {node} was lost", errors)
                self.assertIn("run the program again", errors)
                self.assertEqual(len(errors.splitlines()), 1, errors)
                run.wait_until_all_have_ended()

    def test_node_0_ends_the_launcher_by_its_signal(self):
        with Launched() as run:
            os.kill(run.pids[0], signal.SIGKILL)
            output, errors, status = end(run.launcher)
            self.assertEqual((output, status), ("", -signal.SIGKILL), errors)
            self.assertIn("sukima: node 0 was lost", errors)
            self.assertEqual(len(errors.splitlines()), 1, errors)
            run.wait_until_all_have_ended()

    def test_launcher_takes_the_nodes_along(self):
        with Launched() as run:
            os.kill(run.launcher.pid, signal.SIGKILL)
            run.wait_until_all_have_ended()
            self.assertEqual(run.launcher.wait(), -signal.SIGKILL)

    def test_nodes_without_a_launcher_end_with_75(self):
        for victim in (0, 1):
            with Meeting(3) as meeting:
                nodes = [meeting.start(node, FIB, ENDLESS) for node in range(3)]
                for node in nodes[:2]:
                    wait_until_it_works(node.pid)
                nodes[victim].kill()
                for node, process in enumerate(nodes):
                    output, errors, status = end(process)
                    self.assertEqual((output, status), ("", -signal.SIGKILL if node == victim else 75), errors)
                    self.assertEqual("was lost" in errors, node != victim)


class stopped(unittest.TestCase):
    def test_silent_node_is_lost_and_reports_it(self):
        with Meeting(2) as meeting:
            nodes = [meeting.start(node, FIB, ENDLESS, SUKIMA_CLUSTER_SILENCE="1") for node in (0, 1)]
            wait_until_it_works(nodes[1].pid)
            nodes[1].send_signal(signal.SIGSTOP)
            _, errors, status = end(nodes[0])
            self.assertEqual(status, 75)
            self.assertIn("sukima: node 1 was lost (no heartbeat arrived for 1 s)", errors)
            nodes[1].send_signal(signal.SIGCONT)
            _, errors, status = end(nodes[1])
            self.assertEqual(status, 75)
            self.assertIn("was lost", errors)

    def test_launcher_delays_no_node(self):
        with tempfile.TemporaryDirectory() as folder:
            go = Path(folder) / "go"
            os.mkfifo(go)
            script = f"echo ready >&2; read word < {go}; exec {FIB} 25"
            with subprocess.Popen([*DIES_WITH_TEST, SUKIMA, "cluster", "run", "-n", "1", "--", "sh", "-c", script],
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  text=True) as launcher:
                self.assertEqual(launcher.stderr.readline(), "[0] ready\n")
                os.kill(launcher.pid, signal.SIGSTOP)
                self.assertTrue(os.WIFSTOPPED(os.waitpid(launcher.pid, os.WUNTRACED)[1]))
                go.write_text("go\n")
                self.assertEqual(launcher.stdout.readline(), RESULT[0])
                os.kill(launcher.pid, signal.SIGCONT)
                self.assertEqual(launcher.wait(), 0)


def another_build(program, folder):
    """A copy of the program with another build id."""
    content = bytearray(Path(program).read_bytes())
    mark = b"\x03\0\0\0GNU\0"  # of the note, after its sizes
    content[content.index(mark) + len(mark)] ^= 1
    other = Path(folder) / "program"
    other.write_bytes(content)
    other.chmod(0o755)
    return str(other)


class at_the_meeting(unittest.TestCase):
    def test_another_program_is_refused_by_both(self):
        with tempfile.TemporaryDirectory() as folder, Meeting(2) as meeting:
            other = another_build(FIB, folder)
            ends = [end(node) for node in (meeting.start(0, FIB, "25"), meeting.start(1, other, "25"))]
        for node, (output, errors, status) in enumerate(ends):
            self.assertEqual((output, status), ("", 2), errors)
            self.assertIn(f"sukima: node {node}: another program: build id ", errors)
            self.assertIn(f"at node {1 - node}; copy the program, or share its folder", errors)

    def test_a_wrong_token_keeps_only_its_owner_away(self):
        with Meeting(2) as meeting:
            first = meeting.start(0, FIB, "25")
            for token in (OTHER_TOKEN, ""):
                output, errors, status = end(meeting.start(1, FIB, "25", SUKIMA_CLUSTER_TOKEN=token))
                self.assertEqual((output, status), ("", 2))
                self.assertIn("it has another token", errors)
            self.assertEqual(end(meeting.start(1, FIB, "25")), RESULT)
            self.assertEqual(end(first), RESULT)

    def test_a_token_that_can_be_guessed_is_refused(self):
        sentence = ("sukima: SUKIMA_CLUSTER_TOKEN can be guessed: give at least 128 bits, as the 32 digits of "
                    "`openssl rand -hex 16`\n")
        for token in ("guessed", "0123456789abcdef0123456789abcde", "x" * 100, "01234567890123456789012345678901234567"):
            with Meeting(2) as meeting:
                self.assertEqual(end(meeting.start(1, FIB, "25", SUKIMA_CLUSTER_TOKEN=token)), ("", sentence, 2), token)
            ended = subprocess.run([SUKIMA, "cluster", "run", "-n", "2", "--", "echo", "begun"], capture_output=True, text=True,
                                   stdin=subprocess.DEVNULL, env={**os.environ, "SUKIMA_CLUSTER_TOKEN": token})
            self.assertEqual((ended.stdout, ended.stderr, ended.returncode), ("", sentence, 2), token)

    def test_a_port_that_is_taken_is_named(self):
        with Meeting(2) as meeting:
            output, errors, status = end(meeting.start(0, FIB, "25", listens=False))
            self.assertEqual((output, status), ("", 2))
            port = meeting.address.partition(":")[2]
            self.assertIn(f"sukima: node 0: node 0 cannot listen on port {port} of 127.0.0.1: Address already in use",
                          errors)

    def test_an_unknown_host_is_named(self):
        host = "x" * 70  # longer than a name can be, so no name server gets a request
        with Meeting(2) as meeting:
            for node in (0, 1):
                output, errors, status = end(meeting.start(node, FIB, "25", listens=False,
                                                           SUKIMA_CLUSTER_ADDRESS=f"{host}:1"))
                self.assertEqual((output, status), ("", 2))
                self.assertIn(f"sukima: node {node}: the host '{host}' is not known: ", errors)

    def test_two_programs_with_one_port_do_not_mix(self):
        with Meeting(2) as meeting:
            first = meeting.start(0, FIB, "25")
            # Node 0 of the second program finds the port taken. Its node 1 finds node 0 of the first program.
            self.assertEqual(end(meeting.start(0, FIB, "26", listens=False, SUKIMA_CLUSTER_TOKEN=OTHER_TOKEN))[2], 2)
            _, errors, status = end(meeting.start(1, FIB, "26", SUKIMA_CLUSTER_TOKEN=OTHER_TOKEN))
            self.assertEqual(status, 2)
            self.assertIn("it has another token", errors)
            self.assertEqual(end(meeting.start(1, FIB, "25")), RESULT)
            self.assertEqual(end(first), RESULT)

    def test_two_nodes_with_one_number_end_the_run(self):
        with Meeting(3) as meeting:
            nodes = [meeting.start(node, FIB, "25") for node in (0, 1, 1)]
            ends = [end(node) for node in nodes]
        for output, _, status in ends:
            self.assertEqual((output, status), ("", 2))
        self.assertIn("sukima: node 0: two nodes have the number 1", ends[0][1])

    def test_runs_of_two_sizes_do_not_mix(self):
        with Meeting(2) as meeting:
            first = meeting.start(0, FIB, "25")
            ends = [end(meeting.start(1, FIB, "25", SUKIMA_CLUSTER_NODES="3")), end(first)]
        for output, errors, status in ends:
            self.assertEqual((output, status), ("", 2), errors)
        self.assertIn("another run: 2 nodes here, 3 at node 1", ends[1][1])


class strangers(unittest.TestCase):
    #: A length that is impossible, one that promises much, a frame of another kind, a greeting that is cut, a request
    #: of HTTP.
    WORDS = [b"\xa5" * 3000, b"\xff\xff\xff\xff", b"\x00\x00\x00\x00", b"\x02\x00\x00\x00\x09!",
             b"\x11\x00\x00\x00\x01SUKIMA-CLUSTER-1", b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"]

    def test_that_come_to_node_0_disturb_no_node(self):
        with Meeting(2) as meeting:
            first = meeting.start(0, FIB, "25")
            silent = socket.create_connection(meeting.socket.getsockname())
            half = socket.create_connection(meeting.socket.getsockname())
            half.sendall(b"\x40\x00")
            for words in self.WORDS:
                with socket.create_connection(meeting.socket.getsockname()) as stranger:
                    stranger.sendall(words)
                    with self.subTest(words=words[:20]):
                        self.learns_a_random_number(stranger)
            # Otherwise strangers could use up all descriptors of a node.
            for stranger in (silent, half):
                self.learns_a_random_number(stranger)
                stranger.close()
            self.assertEqual(end(meeting.start(1, FIB, "25")), RESULT)
            self.assertEqual(end(first), RESULT)

    def test_that_guess_the_token_learn_nothing(self):
        with Meeting(2) as meeting:
            first = meeting.start(0, FIB, "25")
            with socket.create_connection(meeting.socket.getsockname()) as stranger:
                stranger.sendall(b"\x41\x00\x00\x00\x02" + b"x" * 64)
                self.learns_a_random_number(stranger, b"\x01\x00\x00\x00\x02")
            self.assertEqual(end(meeting.start(1, FIB, "25")), RESULT)
            self.assertEqual(end(first), RESULT)

    def learns_a_random_number(self, stranger, more=b""):
        """It receives nothing else until its connection is closed."""
        received = b""
        with contextlib.suppress(ConnectionResetError):
            while part := stranger.recv(100):
                received += part
        size = 4 + 1 + len(MAGIC) + 32
        self.assertIn(received[:5], (b"", struct.pack("<IB", size - 4, Peer.CHALLENGE)))
        self.assertEqual(received[size:], more)

    def test_that_are_many_keep_no_node_away(self):
        """There are more strangers than node 0 may have descriptors, and all stay until the nodes have met."""
        with Meeting(2) as meeting, contextlib.ExitStack() as strangers:
            first = meeting.start(0, "prlimit", "--nofile=150:150", FIB, "25")
            for _ in range(300):
                strangers.enter_context(socket.create_connection(meeting.socket.getsockname()))
            self.assertEqual(end(meeting.start(1, FIB, "25")), RESULT)
            self.assertEqual(end(first), RESULT)

    def test_instead_of_node_0_are_named(self):
        for words in self.WORDS:
            with Meeting(2) as meeting:
                node = meeting.start(1, FIB, "25")
                guest, _ = meeting.socket.accept()
                with guest:
                    guest.sendall(words)
                    output, errors, status = end(node)
                self.assertEqual((output, status), ("", 2))
                self.assertIn(f"sukima: node 1: node 0 at {meeting.address}: ", errors, words[:20])


class a_node_that_sends_garbage(unittest.TestCase):
    """The node knows the token, has met node 0, and the program runs."""

    def end_of_node_0(self, token, garbage):
        with Meeting(2) as meeting:
            node = meeting.start(0, FIB, ENDLESS, SUKIMA_CLUSTER_TOKEN=token)
            with Peer(meeting.socket.getsockname(), token) as peer:
                wait_until_it_works(node.pid)
                garbage(peer)
                output, errors, status = end(node)
        self.assertEqual((output, status), ("", 75), errors)
        return errors

    def test_ends_all_with_75(self):
        for token in ("", TOKEN):
            for message, sentence in (
                    (b"\xff" * 18, "node 1 sent a malformed message"),
                    (b"", "node 1 sent a malformed message"),
                    (peer_message(kind=3, function=1 << 20), "node 1 sent a task of an unknown function"),
                    (peer_message(kind=4, id=77), "node 1 sent the result of a task that it did not have"),
                    (peer_message(kind=7, id=77), "node 1 declined a task that it did not have")):
                errors = self.end_of_node_0(token, lambda peer, m=message: peer.send(Peer.DATA, m))
                self.assertIn(sentence, errors)
            for bytes_ in (b"\xff\xff\xff\xff", b"\x12\x00\x00\x00\x04" + b"x" * 17):
                errors = self.end_of_node_0(token, lambda peer, b=bytes_: peer.socket.sendall(b))
                self.assertIn("node 1 was lost" if bytes_[0] == 255 or token else "node 1 sent a malformed message", errors)


if __name__ == "__main__":
    unittest.main()
