#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The cluster over an MPI: mpi_test.py openmpi|mpich BUILD_FOLDER"""
import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from nodes import Mpi, lives, used_ticks, wait_until_it_works

KIND = sys.argv[1]
BUILD = Path(sys.argv[2]).resolve()
del sys.argv[1:3]
MPI = Mpi(KIND, BUILD)
FIB = BUILD / "examples/cluster_fib"
PROGRAMS = BUILD / "bin/bench-cluster"
TESTS = BUILD / "tests/bin"
COMPILER = BUILD / "libexec/sukima/sukima-cc"
LANGUAGE = Path(__file__).resolve().parent / "language"
mpirun = MPI.run


def alone(*words):
    """The output of a program on one machine."""
    return subprocess.run([*map(str, words)], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True,
                          env=MPI.environment()).stdout


class over_mpi(unittest.TestCase):
    def test_keeps_the_contract_of_transports(self):
        with tempfile.TemporaryDirectory() as folder:
            ended = mpirun("-n", 3, TESTS / "cluster_contract_over_mpi", SUKIMA_CONTRACT_FOLDER=folder)
        self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)
        self.assertEqual(ended.stdout.count("[  PASSED  ] 6 tests."), 3, ended.stdout)

    def test_gives_the_result_of_one_machine(self):
        for name, size, known in (("fib", 27, "196418"), ("nqueens-array", 10, "724"), ("uts", 103, "193585"),
                                  ("subgraphs", 24, "581909")):
            for nodes in (2, 4):
                ended = mpirun("-n", nodes, PROGRAMS, name, size)
                self.assertEqual(ended.stdout.split(), [known] * nodes, (name, nodes, ended.stderr))

    @unittest.skipUnless(COMPILER.exists(), "this build has no compiler")
    def test_runs_programs_in_the_language(self):
        def outputs(nodes, *words):
            """The output of each node separately, because an MPI may print a node's line within another node's line."""
            with tempfile.TemporaryDirectory() as folder:
                script = f"exec {' '.join(map(str, words))} > {folder}/$PMI_RANK$OMPI_COMM_WORLD_RANK"
                ended = mpirun("-n", nodes, "sh", "-c", script)
                self.assertEqual(ended.returncode, 0, (words, ended.stderr))
                return [(Path(folder) / str(node)).read_text() for node in range(nodes)]

        with tempfile.TemporaryDirectory() as folder:
            def build(name):
                subprocess.run([COMPILER, "-O2", "-o", f"{folder}/{name}", LANGUAGE / f"{name}.tc"], check=True)
                return f"{folder}/{name}"

            for name, size in (("fib", 27), ("queens", 10), ("pentomino", 1), ("uts", 103), ("subgraphs", 24)):
                program = build(name)
                self.assertEqual(outputs(3, program, size), [alone(program, size)] * 3, name)
            ends = outputs(2, build("crossing"))
            self.assertEqual(ends[0], ends[1])
            self.assertRegex(ends[0], r"^34\n7\n5\n0\n\d+: uncaught throw of tag 8\n1\n$")
        program = TESTS / "cluster_hope_program_language"
        self.assertEqual(outputs(3, program, 1, 3), [alone(program, 1, 3)] * 3)

    def test_refuses_hierarchical_omission(self):
        ended = mpirun("-n", 2, FIB, 20, SUKIMA_CLUSTER_HOPE="1")
        self.assertEqual((ended.returncode, ended.stdout), (2, ""))
        self.assertRegex(ended.stderr, r"sukima: node [01]: SUKIMA_CLUSTER_HOPE=1 needs the transport tcp: under an MPI the "
                                       r"loss of one node ends all of them\n")
        self.assertEqual(mpirun("-n", 2, FIB, 20, SUKIMA_CLUSTER_HOPE="0").stdout, "6765\n" * 2)

    def test_shares_the_tasks(self):
        while " 0 tasks given" in (ended := mpirun("-n", 2, PROGRAMS, "uts", 103)).stderr.splitlines()[0]:
            self.assertEqual(ended.returncode, 0)
            if any("s, 0 tasks given" not in line for line in ended.stderr.splitlines()):
                break

    def test_refuses_another_program(self):
        ended = mpirun("-n", 1, FIB, 20, ":", "-n", 1, PROGRAMS, "fib", 20)
        self.assertNotEqual(ended.returncode, 0)
        self.assertIn("another program: Sukima", ended.stderr)
        self.assertIn("copy the program, or share its folder", ended.stderr)

    def test_says_where_the_plug_in_is_missing(self):
        with tempfile.TemporaryDirectory() as folder:
            ended = mpirun("-n", 2, FIB, 20, SUKIMA_CLUSTER_PLUGINS=folder)
        self.assertNotEqual(ended.returncode, 0)
        self.assertIn(f"this program was started by {MPI.name}, and the plug-in for that cannot be loaded", ended.stderr)

    def test_takes_an_mpi_that_the_program_has_initialised(self):
        ended = mpirun("-n", 3, TESTS / f"cluster_initialises_{KIND}", "multiple")
        self.assertEqual((ended.stdout, ended.returncode), ("196418\n", 0), ended.stderr)
        ended = mpirun("-n", 3, TESTS / f"cluster_initialises_{KIND}", "multiple", "late")
        self.assertEqual((ended.stdout, ended.returncode), ("196418\n", 0), ended.stderr)
        ended = mpirun("-n", 3, TESTS / f"cluster_initialises_{KIND}", "multiple", "queued")
        self.assertEqual((ended.stdout, ended.returncode), ("196418\n", 0), ended.stderr)
        ended = mpirun("-n", 3, TESTS / f"cluster_initialises_{KIND}", "single")
        self.assertNotEqual(ended.returncode, 0)
        self.assertIn("call MPI_Init_thread with MPI_THREAD_MULTIPLE", ended.stderr)

    def test_ends_all_when_a_node_is_killed(self):
        for node in range(3):
            with self.endless() as (running, pids):
                os.kill(pids[node], signal.SIGKILL)
                self.assertNotEqual(running.wait(), 0)

    def test_ends_the_nodes_of_an_mpirun_that_is_ended_or_killed(self):
        for by in (signal.SIGTERM, signal.SIGKILL):
            with self.endless() as (running, pids):
                running.send_signal(by)
                self.assertNotEqual(running.wait(), 0)
                for pid in pids:
                    while lives(pid):
                        time.sleep(0.01)

    def test_waits_for_a_node_that_is_stopped(self):
        with self.program("43") as (running, pids):
            wait_until_it_works(pids[1])
            os.kill(pids[1], signal.SIGSTOP)
            # The other node finishes its work, and then waits.
            before = -1
            while before != (before := used_ticks(pids[0])):
                time.sleep(0.5)
            os.kill(pids[1], signal.SIGCONT)
            self.assertEqual(running.stdout.read().split(), ["433494437"] * 2)
            self.assertEqual(running.wait(), 0)

    @contextlib.contextmanager
    def program(self, size, nodes=2):
        """Nodes that compute Fibonacci's number; yields mpirun and their processes."""
        with tempfile.TemporaryDirectory() as folder:
            script = f"echo $$ > {folder}/$PMI_RANK$OMPI_COMM_WORLD_RANK; exec {FIB} {size}"
            with subprocess.Popen([*MPI.words, "-n", str(nodes), "sh", "-c", script], stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                  env=MPI.environment()) as running:
                pids = []
                for node in range(nodes):
                    file = Path(folder) / str(node)
                    while not (file.exists() and file.read_text().endswith("\n")):
                        time.sleep(0.01)
                    pids.append(int(file.read_text()))
                yield running, pids

    @contextlib.contextmanager
    def endless(self):
        with self.program("70", nodes=3) as (running, pids):
            for pid in pids[:2]:
                wait_until_it_works(pid)
            yield running, pids


if __name__ == "__main__":
    if not MPI.is_there():
        print(f"{MPI.name} is not installed")
        sys.exit(77)
    unittest.main()
