#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random programs on several processes have the sequential result:
random_nodes_test.py tcp|openmpi|mpich BUILD_FOLDER COUNT

COUNT programs have fixed seeds. Half as many have a fresh seed, which is printed. With SUKIMA_CLUSTER_SEED=N only
half of COUNT run, with seeds from N on. The processes of a round run all its programs, with one entry each.
"""
import os
import random
import subprocess
import sys
import unittest
from pathlib import Path

from nodes import Mpi, tasks_given

KIND, BUILD, COUNT = sys.argv[1], Path(sys.argv[2]).resolve(), int(sys.argv[3])
del sys.argv[1:4]
PROGRAM = BUILD / "tests/bin/cluster_random_program"
MPI = None if KIND == "tcp" else Mpi(KIND, BUILD)
SHAPES = [(nodes, workers) for nodes in (2, 3, 4) for workers in (1, 2)]
OF_A_ROUND = 25


def run(nodes, workers, seed, count):
    words = [str(PROGRAM), str(seed), str(count)]
    if MPI is not None:
        return MPI.run("-n", nodes, *words, SUKIMA_WORKERS=str(workers))
    return subprocess.run([BUILD / "bin/sukima", "cluster", "run", "-n", str(nodes), "--", *words],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          env={**os.environ, "SUKIMA_WORKERS": str(workers)})


class random_programs(unittest.TestCase):
    def run_all(self, first, count):
        given = 0
        for place, seed in enumerate(range(first, first + count, OF_A_ROUND)):
            nodes, workers = SHAPES[place % len(SHAPES)]
            ended = run(nodes, workers, seed, min(OF_A_ROUND, first + count - seed))
            self.assertEqual(ended.returncode, 0, f"seed {seed}, {nodes} nodes with {workers} workers: {ended.stderr}")
            self.assertEqual(len(tasks_given(ended.stderr)), nodes, ended.stderr)
            given += sum(tasks_given(ended.stderr))
        print(f"{count} programs from seed {first}: {given} tasks travelled", flush=True)
        self.assertGreater(given, 0)

    def test_give_the_sequential_result(self):
        given = os.environ.get("SUKIMA_CLUSTER_SEED")
        if given is None:
            self.run_all(1, COUNT)
        first = int(given or random.SystemRandom().randrange(1 << 62))
        print(f"seed {first}", flush=True)
        self.run_all(first, COUNT // 2)


if __name__ == "__main__":
    if MPI is not None and not MPI.is_there():
        print(f"{MPI.name} is not installed")
        sys.exit(77)
    unittest.main()
