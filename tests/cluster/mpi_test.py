#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The cluster over an MPI: mpi_test.py openmpi|mpich BUILD_FOLDER"""
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

KIND = sys.argv[1]
BUILD = Path(sys.argv[2]).resolve()
del sys.argv[1:3]
NAME = {"openmpi": "Open MPI", "mpich": "MPICH"}[KIND]
MPIRUN = [f"mpirun.{KIND}"] + {"openmpi": ["--oversubscribe", "--bind-to", "none"], "mpich": []}[KIND]
PLUGINS = BUILD / "lib/sukima"
FIB = BUILD / "examples/cluster_fib"
PROGRAMS = BUILD / "bin/bench-cluster"
TESTS = BUILD / "tests/bin"


def environment(**more):
    return {**os.environ, "SUKIMA_CLUSTER_PLUGINS": str(PLUGINS), "SUKIMA_WORKERS": "1", "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
            "GTEST_COLOR": "no", **more}


def mpirun(*words, **more):
    # It ends with this process: what hangs is ended by ctest, which knows this process only.
    return subprocess.run(["setpriv", "--pdeathsig", "TERM", *MPIRUN, *map(str, words)], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, env=environment(**more))


class over_mpi(unittest.TestCase):
    def test_keeps_the_contract_of_transports(self):
        with tempfile.TemporaryDirectory() as folder:
            ended = mpirun("-n", 3, TESTS / "cluster_contract_over_mpi", SUKIMA_CONTRACT_FOLDER=folder)
        self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)
        self.assertEqual(ended.stdout.count("[  PASSED  ] 5 tests."), 3, ended.stdout)

    def test_gives_the_result_of_one_machine(self):
        for name, size, known in (("fib", 27, "196418"), ("nqueens-array", 10, "724"), ("uts", 103, "193585"),
                                  ("subgraphs", 24, "581909")):
            for nodes in (2, 4):
                ended = mpirun("-n", nodes, PROGRAMS, name, size)
                self.assertEqual(ended.stdout.split(), [known] * nodes, (name, nodes, ended.stderr))

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
        self.assertIn(f"it was started by {NAME}, and the plug-in for that cannot be loaded", ended.stderr)

    def test_takes_an_mpi_that_the_program_has_initialised(self):
        ended = mpirun("-n", 3, TESTS / f"cluster_initialises_{KIND}", "multiple")
        self.assertEqual((ended.stdout, ended.returncode), ("196418\n", 0), ended.stderr)
        ended = mpirun("-n", 3, TESTS / f"cluster_initialises_{KIND}", "single")
        self.assertNotEqual(ended.returncode, 0)
        self.assertIn("call MPI_Init_thread with MPI_THREAD_MULTIPLE", ended.stderr)

    def test_ends_all_when_a_node_is_killed(self):
        with tempfile.TemporaryDirectory() as folder:
            script = f'echo $$ > {folder}/$PMI_RANK$OMPI_COMM_WORLD_RANK; exec {FIB} 70'
            with subprocess.Popen([*MPIRUN, "-n", "3", "sh", "-c", script], stdin=subprocess.DEVNULL,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment()) as running:
                victim = Path(folder) / "1"
                while not (victim.exists() and victim.read_text().strip()):
                    time.sleep(0.01)
                pid = int(victim.read_text())
                while int(Path(f"/proc/{pid}/stat").read_text().split()[13]) < 30:  # it works
                    time.sleep(0.01)
                os.kill(pid, signal.SIGKILL)
                self.assertNotEqual(running.wait(), 0)


if __name__ == "__main__":
    if shutil.which(MPIRUN[0]) is None or not (PLUGINS / f"sukima-cluster-{KIND}.so").exists():
        print(f"{NAME} is not installed")
        sys.exit(77)
    unittest.main()
