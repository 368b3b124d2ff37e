#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs seeds of sukima-simulated-programs among others and alone, and compares their steps: replay_test.py PROGRAM"""
import os
import signal
import subprocess
import sys
import tempfile

FIRST = 3000000
COUNT = 12


def run(program, *arguments, **variables):
    return subprocess.run([program, *arguments], env={**os.environ, **variables}, capture_output=True, text=True)


def main():
    program = sys.argv[1]
    together = run(program, "--each", "--seed", str(FIRST), "--count", str(COUNT)).stdout.splitlines()
    assert len(together) == COUNT + 1, together
    for seed, expected in zip(range(FIRST, FIRST + COUNT), together):
        alone = run(program, SUKIMA_SIMULATION_SEED=str(seed))
        assert alone.stdout.splitlines() == [expected], (expected, alone)
        assert alone.returncode == 0, alone
    with tempfile.TemporaryDirectory() as empty:
        stopped = run(program, SUKIMA_SIMULATION_SEED=str(FIRST), SUKIMA_SIMULATION_STOP="100", TMPDIR=empty)
        assert stopped.returncode == -signal.SIGTRAP, stopped
        assert not os.listdir(empty), "a run that was stopped leaves a temporary file"
    wrong = run(program, SUKIMA_SIMULATION_SEED="12x")
    assert wrong.returncode == 2 and wrong.stderr == "SUKIMA_SIMULATION_SEED is '12x': give it a number\n", wrong


if __name__ == "__main__":
    main()
