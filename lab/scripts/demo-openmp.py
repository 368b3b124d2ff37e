#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs an OpenMP program alone and several times at once, with and without `sukima run`. It needs no root.

The program is a kernel of the NAS Parallel Benchmarks. The measured time is that until the last of the programs has ended.
The runs take turns. The script prints the medians with quartiles and the numbers of runs, and writes them as CSV:
demo-openmp.py --programs build/demo/bin [--kernel cg --class W] [--at-once N] [--rounds 5] [--setting-seconds S] [--csv FILE]
"""
import argparse
import csv
import os
import pathlib
import sys

from figures import quartiles
from places import CLEAN, CPUS, give_up, run_copies

RUN_SECONDS = 120  # a run that takes longer is ended, because something is wrong


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", type=pathlib.Path, required=True, help="folder of sukima and bench-npb-gcc")
    parser.add_argument("--kernel", default="cg", help="cg, ep, lu, bt, sp or ua (default: cg)")
    parser.add_argument("--class", dest="size", default="A", help="S, W or A (default: A)")
    parser.add_argument("--at-once", type=int, default=CPUS + 1, metavar="N",
                        help="programs that run at once; one more than there are CPUs (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each setting (default: 5)")
    parser.add_argument("--setting-seconds", type=float, default=RUN_SECONDS,
                        help="a setting is not run again once its runs have taken that many seconds (default: %(default)s)")
    parser.add_argument("--csv", type=pathlib.Path, help="file for the figures")
    arguments = parser.parse_args()
    if arguments.rounds < 1:
        parser.error("--rounds must be 1 or more")
    if arguments.at_once < 2:
        parser.error("--at-once must be 2 or more")
    if not arguments.setting_seconds > 0:
        parser.error("--setting-seconds must be above 0")
    for name in ("sukima", "bench-npb-gcc"):
        if not os.access(arguments.programs / name, os.X_OK):
            parser.error(f"there is no program {arguments.programs / name}; build it first (make demo)")
    return arguments


def seconds_of(command, programs):
    """The time until the last of this many programs has ended. Ends this script if one failed."""
    seconds = run_copies(command, programs, CLEAN, RUN_SECONDS, None)
    if seconds >= RUN_SECONDS:
        give_up(f"{' '.join(map(str, command))} took more than {RUN_SECONDS} s")
    return seconds


def measure(arguments):
    """Rows (programs at once, setting, seconds of each run)."""
    program = [arguments.programs / "bench-npb-gcc", arguments.kernel, arguments.size]
    settings = {"plain": program, "sukima run": [arguments.programs / "sukima", "run", "--", *program]}
    rows = []
    for programs in (1, arguments.at_once):
        times = {name: [] for name in settings}
        for turn in range(arguments.rounds):
            # Another setting comes first in each round, so that no setting profits from its place.
            for name in list(settings)[::1 if turn % 2 == 0 else -1]:
                if sum(times[name]) < arguments.setting_seconds:
                    times[name].append(seconds_of(settings[name], programs))
        rows += [(programs, name, seconds) for name, seconds in times.items()]
    return rows


def runs_text(count):
    return "1 run" if count == 1 else f"{count} runs"


def main():
    arguments = parse_arguments()
    rows = measure(arguments)
    name = f"{arguments.kernel.upper()} {arguments.size}"
    print(f"{name}, an OpenMP program; seconds until the last program has ended, median of the runs (first to third quartile)")
    for programs, setting, seconds in rows:
        q1, median, q3 = quartiles(seconds)
        where = "alone" if programs == 1 else f"{programs} at once"
        print(f"  {where:<12} {setting:<11} {median:6.2f} ({q1:.2f} to {q3:.2f}), {runs_text(len(seconds))}")
    if arguments.csv:
        with open(arguments.csv, "w", newline="", encoding="utf-8") as file:
            table = csv.writer(file)
            table.writerow(["program", "programs", "setting", "runs", "seconds_q1", "seconds_median", "seconds_q3"])
            table.writerows([name, programs, setting, len(seconds), *(f"{value:.6g}" for value in quartiles(seconds))]
                            for programs, setting, seconds in rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
