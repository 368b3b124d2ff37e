#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A program that uses Sukima and OpenMP, compared with the same work on one of them, in a table.

Runs bench-side-by-side in each way, with and without `sukima run`, in turns, and prints medians in seconds. The last columns
divide the time of the program that uses both by the better time of the two programs that use one. The script stores its
results in a file, and does not repeat them when it is called again with that file. Exit code 1: a ratio is above the target.

    side-by-side.py --programs build/release/bin --results side-by-side.json
"""
import argparse
import statistics
import subprocess
import sys

import resumed
from places import CLEAN, check_place, give_up, locked, place

WAYS = ("sukima", "openmp", "turns", "both")
STARTS = {"as it is": [], "sukima run": ["run", "--"]}
TARGET = 1.05
PROGRAM = "bench-side-by-side"
# Phases of about 0.1, 1 and 10 ms on two CPUs, about a second in total.
SIZES = {"0.1 ms": (8000, 100), "1 ms": (800, 1000), "10 ms": (80, 10000)}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    resumed.add_arguments(parser)
    parser.add_argument("--places", nargs="+", default=["alone"], help="as those of openmp-table.py, without copies")
    parser.add_argument("--repetitions", type=int, default=7)
    given = parser.parse_args()
    for one in given.places:
        check_place(parser, one)
        if one.startswith("copies"):
            parser.error(f"'{one}': one copy of the program runs here; choose another place")
    return given


def seconds_of(given, where, start, way, size):
    """The seconds that the program prints."""
    prefix = [str(given.programs / "sukima"), *STARTS[start]] if STARTS[start] else []
    command = [*prefix, str(given.programs / PROGRAM), way, *map(str, SIZES[size])]
    with locked(given.lock), place(where, given.programs) as (_, enter):
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=CLEAN, preexec_fn=enter)
    if done.returncode != 0:
        give_up(f"{' '.join(command)} ended with code {done.returncode}: {done.stderr}")
    return float(done.stdout)


def measure(given, measurements):
    cells = [(where, start, size) for where in given.places for start in STARTS for size in SIZES]
    for number in range(given.repetitions):
        for where, start, size in cells:
            cell = measurements.results.setdefault(f"{where}: {start}: {size}", {})
            for way in WAYS:
                runs = cell.setdefault(way, [])
                if len(runs) > number:
                    continue
                if measurements.is_over():
                    return
                runs.append(seconds_of(given, where, start, way, size))
                measurements.keep()


def ratios_of(cell):
    """What `turns` and `both` take, divided by the better runtime alone; None while a way is not measured."""
    if not all(cell.get(way) for way in WAYS):
        return None
    median = {way: statistics.median(cell[way]) for way in WAYS}
    best = min(median["sukima"], median["openmp"])
    return median, {way: median[way] / best for way in ("turns", "both")}


def table(results, _given):
    print("| place | start | phases of | sukima | openmp | turns | both | turns / better | both / better |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    above = []
    for name, cell in results.items():
        found = ratios_of(cell)
        if found is None:
            continue
        median, ratios = found
        times = " | ".join(f"{median[way]:.3f}" for way in WAYS)
        print(f"| {' | '.join(name.split(': '))} | {times} | {ratios['turns']:.2f} | {ratios['both']:.2f} |")
        above += [f"{name}, {way}" for way, ratio in ratios.items() if ratio > TARGET]
    if above:
        print(f"\nabove {TARGET}: {'; '.join(above)}")
        sys.exit(1)


if __name__ == "__main__":
    resumed.run(arguments(), measure, table, ("sukima", "bench-hog", PROGRAM))
