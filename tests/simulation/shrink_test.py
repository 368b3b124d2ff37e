#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shrinks failing runs of sukima-simulated-programs and replays them: shrink_test.py PROGRAM"""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

LOST = "an addition was lost"
SHRUNK = re.compile(r"The schedule has (\d+) of (\d+) choices")
PARTS = re.compile(r"The program has (\d+) of (\d+) parts")


def run(program, *arguments):
    return subprocess.run([program, *arguments], capture_output=True, text=True)


def shrink(program, folder, seed):
    """Shrinks the first failing run from that seed on. Returns the program's output and the file."""
    file = folder / f"run-{seed}"
    done = run(program, "--broken", "--seed", str(seed), "--count", "1000", "--shrink", file)
    assert done.returncode == 1 and LOST in done.stderr, done
    again = re.search(r"SUKIMA_SIMULATION_SEED=(\d+) sukima-simulated-programs (.*)", done.stderr)
    alone = subprocess.run([program, *again[2].split()], env={**os.environ, "SUKIMA_SIMULATION_SEED": again[1]},
                           capture_output=True, text=True)
    assert alone.returncode == 1 and LOST in alone.stderr, alone
    return done.stdout, file


def check_shrunk(program, folder, seed):
    """Returns whether it was a random program."""
    out, file = shrink(program, folder, seed)
    after, before = map(int, SHRUNK.search(out).groups())
    assert after < before, out
    # One preemption between the two halves of an addition is enough, in addition to those that the program itself needs.
    assert after <= 2, out
    parts = PARTS.search(out)
    if parts:
        # A root may keep its first fork from other workers (src/runtime/fiber/unannounced.hpp), so some need a second fork.
        assert int(parts[1]) <= 2, out
    replays = [run(program, "--replay", file) for _ in range(2)]
    for replayed in replays:
        assert replayed.returncode == 1 and LOST in replayed.stderr, replayed
        assert replayed.stderr.endswith(f"again, also under gdb: sukima-simulated-programs --replay {file}\n"), replayed
    assert replays[0].stdout == replays[1].stdout, replays
    # Each remaining choice is needed.
    lines = file.read_text().splitlines()
    for i, line in enumerate(lines):
        if not line.startswith(("program", "schedule", "cut", "once")):
            file.write_text("\n".join(lines[:i] + lines[i + 1:]))
            replayed = run(program, "--replay", file)
            assert replayed.returncode == 0, (line, replayed)
    return parts is not None


def main():
    program = sys.argv[1]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        # Of ten such seeds one stays larger, because none of the 24 schedules tried for each smaller program fails.
        kinds = {check_shrunk(program, folder, seed) for seed in (4000000, 4010000, 4020000, 4030000, 4040000)}
        assert kinds == {True, False}, kinds
        wrong = folder / "wrong"
        wrong.write_text("program 1 40 0\nschedule\n")
        refused = run(program, "--replay", wrong)
        assert refused.returncode == 2, refused
        assert refused.stderr == "sukima-simulated-programs: line 2 is not of a failing run\n", refused
        wrong.write_text("program 1 40 0\nschedule 1\npreempts 4294967295 1 0\n")
        refused = run(program, "--replay", wrong)
        assert refused.returncode == 2, refused
        assert refused.stderr == ("sukima-simulated-programs: line 3 names thread 4294967295: "
                                  "give a thread below 256\n"), refused
        missing = run(program, "--replay", folder / "missing")
        assert missing.returncode == 2 and "cannot read" in missing.stderr, missing


if __name__ == "__main__":
    main()
