#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the memory of deep programs with 1 to 64 workers (P) with P × S1, where S1 is the memory with one worker.

    memory-bound.py [--programs FOLDER] [--workers N,...] [--rounds N] [--most F] [--json]

Runs `memory` (a short branch, then the deep one) and `memory-spine` (the deep branch first) of bench-sukima, always with
that many workers (SUKIMA_ELASTIC=off), even if there are fewer CPUs. The bytes are the growth of the peak resident memory
of a fresh process, the largest of all rounds (of one worker the smallest), so that the ratio is the worst one. Fibers and
parked are the runtime's own counts: the most that were in use, and parked at joins, at a time.
"""
import argparse
import json
import pathlib
import subprocess
import sys

from places import CLEAN, give_up, numbers_of_workers

BENCHMARKS = ("memory", "memory-spine")


def rounds_of(program, benchmark, workers, given):
    """The lines of each round."""
    command = [str(program), benchmark, "--workers", str(workers), "--repetitions", str(given.rounds)]
    command += ["--size", str(given.size)] if given.size else []
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**CLEAN, "SUKIMA_ELASTIC": "off"})
    if done.returncode != 0:
        give_up(f"{' '.join(command)} ended with code {done.returncode}: {done.stderr.strip()}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def measure(program, given):
    """A row for each benchmark and number of workers."""
    for benchmark in BENCHMARKS:
        alone = min(line["bytes"] for line in rounds_of(program, benchmark, 1, given))
        for workers in given.workers:
            lines = rounds_of(program, benchmark, workers, given)
            most = max(line["bytes"] for line in lines)
            yield {"benchmark": benchmark, "size": lines[0]["size"], "workers": workers, "rounds": len(lines), "bytes": most,
                   "bound": workers * alone, "ratio": most / (workers * alone),
                   "fibers": max(line["fibers"] for line in lines), "parked": max(line["parked"] for line in lines)}


def main():
    root = pathlib.Path(__file__).resolve().parent.parent.parent
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=pathlib.Path, default=root / "build" / "release" / "bin",
                        help="folder of bench-sukima-gcc or bench-sukima-clang [build/release/bin]")
    parser.add_argument("--workers", type=numbers_of_workers, default=[1, 2, 4, 8, 16, 32, 64], help="[1,2,4,8,16,32,64]")
    parser.add_argument("--rounds", type=int, default=10, help="[10]")
    parser.add_argument("--size", type=int, help="levels [100000 and 20000]")
    parser.add_argument("--most", type=float, metavar="F", help="end with exit code 1 if a ratio is above F")
    parser.add_argument("--json", action="store_true", help="one object for each row")
    given = parser.parse_args()
    if given.rounds < 1:
        parser.error("--rounds: give 1 or more")
    found = [file for file in (given.programs / f"bench-sukima-{each}" for each in ("gcc", "clang")) if file.exists()]
    if not found:
        parser.error(f"there is no bench-sukima-gcc in {given.programs}: build it, or give --programs")
    above = []
    if not given.json:
        print(f"{'benchmark':<14} {'workers':>7} {'KiB':>8} {'P x S1, KiB':>12} {'ratio':>6} {'fibers':>7} {'parked':>7}")
    for row in measure(found[0], given):
        if given.most is not None and row["ratio"] > given.most:
            above.append(f"{row['benchmark']} with {row['workers']} workers: {row['ratio']:.2f}")
        if given.json:
            print(json.dumps(row), flush=True)
        else:
            print(f"{row['benchmark']:<14} {row['workers']:7} {row['bytes'] / 1024:8.0f} {row['bound'] / 1024:12.0f}"
                  f" {row['ratio']:6.2f} {row['fibers']:7} {row['parked']:7}", flush=True)
    for text in above:
        print(f"memory-bound.py: more than {given.most} times P x S1: {text}", file=sys.stderr)
    return 1 if above else 0


if __name__ == "__main__":
    sys.exit(main())
