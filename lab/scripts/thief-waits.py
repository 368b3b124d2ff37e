#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures how long thieves wait in searches: from the moment in which a worker has no work until it takes a task.

    thief-waits.py [BENCHMARK...] [--programs FOLDER] [--workers N] [--compiler gcc|clang] [--repetitions R] [--json]

Runs each benchmark of bench-sukima under `sukima explain`, which measures the wait before each steal, without the time in
which no other worker had work. The start of each repetition counts, and so does waking a sleeping worker. The table has the median, the
99th percentile and the longest of all waits, in microseconds. Exit code 1: a median above 50 µs or a 99th percentile above 1 ms.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys

from places import CLEAN, give_up, need_programs

# Their nodes take nanoseconds, and the size of a branch is unknown; the last ones fork without undo. In uts and sat
# depth predicts nothing.
SEARCHES = ("nqueens", "nqueens-array", "pentomino", "uts", "sat", "cover", "itemsets", "fib")
MEDIAN, P99 = 50e-6, 1e-3


def explain(sukima, program, benchmark, given):
    """The profile of a traced run."""
    command = [str(sukima), "explain", "--json", "--", str(program), benchmark, "--workers", str(given.workers),
               "--repetitions", str(given.repetitions)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=CLEAN)
    if done.returncode != 0:
        give_up(f"{' '.join(command)} ended with code {done.returncode}: {done.stderr.strip()}")
    profiles = [p for p in json.loads(done.stderr)["runtimes"] if p["seconds"] > 0]
    if len(profiles) != 1:
        give_up(f"{benchmark} has {len(profiles)} runtimes with work instead of one")
    if any(worker["full"] for worker in profiles[0]["workers"]):
        give_up(f"the trace of {benchmark} has no room for all steals: give fewer --repetitions")
    return profiles[0]


def main():
    root = pathlib.Path(__file__).resolve().parent.parent.parent
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("benchmarks", metavar="BENCHMARK", nargs="*", help=f"[{' '.join(SEARCHES)}]")
    parser.add_argument("--programs", type=pathlib.Path, default=root / "build" / "release" / "bin",
                        help="folder of sukima and bench-sukima-… [build/release/bin]")
    parser.add_argument("--workers", type=int, default=len(os.sched_getaffinity(0)), help="two or more [one per CPU]")
    parser.add_argument("--compiler", choices=("gcc", "clang"), default="gcc", help="of the programs [gcc]")
    parser.add_argument("--repetitions", type=int, default=20, help="in one process [20]")
    parser.add_argument("--json", action="store_true", help="one object for each row")
    given = parser.parse_args()
    if given.workers < 2:
        parser.error("--workers: one worker alone takes no tasks; give 2 or more")
    if given.repetitions < 1:
        parser.error("--repetitions: give 1 or more")
    name = f"bench-sukima-{given.compiler}"
    need_programs(given.programs, "sukima", name)
    missed = False
    if not given.json:
        print(f"{'':<16} {'steals':>8} {'median, µs':>11} {'99th, µs':>10} {'longest, µs':>12}")
    for benchmark in given.benchmarks or SEARCHES:
        profile = explain(given.programs / "sukima", given.programs / name, benchmark, given)
        waits = profile["thief_waits"]
        over = waits["median"] > MEDIAN or waits["p99"] > P99
        missed = missed or over
        if given.json:
            print(json.dumps({"benchmark": benchmark, "workers": given.workers, "seconds": profile["seconds_with_work"],
                              **waits, "missed": over}), flush=True)
            continue
        figures = f"{waits['median'] * 1e6:11.1f} {waits['p99'] * 1e6:10.1f} {waits['longest'] * 1e6:12.1f}"
        print(f"{benchmark:<16} {waits['count']:8} {figures}{'  missed' if over else ''}", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
