#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the gain of hints about where to compute, size by size: the paper's ReadVector and BinTree with and without them.

The table also has the largest possible gain: the loss of two threads, each bound to a CPU, that read the two objects in turn
instead of one object each. It also has Barnes and Hut's method, where the paper's hints cost more than they gained. The
programs take turns, and the script prints medians and quartiles of the rounds' ratios.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys

from figures import quartiles

SIZES = {"bin-tree": (12, 13, 14, 15, 16, 17), "read-vector": (128, 256, 512, 1024, 2048, 8192), "nbody": (16384,)}


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", type=pathlib.Path, required=True, help="bench-sukima-gcc")
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--workers", type=int, default=2)
    return parser.parse_args()


def measure(given, name, size):
    command = [given.program, name, "--size", str(size), "--workers", str(given.workers), "--repetitions", "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"hints-table.py: '{' '.join(map(str, command))}' ended with code {done.returncode}: {done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def text_of(ratios):
    low, median, high = quartiles(ratios)
    return f"{median:5.2f} ({low:.2f} to {high:.2f})"


def main():
    given = parse_arguments()
    print(f"{'program':<12} {'size':>6}  {'without / with hints':<22} {'at home':>7} {'exchanges':>9}  in turn / own, pinned")
    for name, sizes in SIZES.items():
        for size in sizes:
            gains, turns, home, exchanges = [], [], [], []
            for _ in range(given.rounds):
                with_hints = measure(given, name + "-on", size)
                gains.append(measure(given, name, size)["seconds"] / with_hints["seconds"])
                home.append(with_hints["at_home"])
                exchanges.append(with_hints["exchanges"])
                if name != "nbody":
                    turns.append(measure(given, name + "-pinned", size)["in_turn_over_own"])
            print(f"{name:<12} {size:>6}  {text_of(gains):<22} {statistics.median(home):>7.2f} "
                  f"{statistics.median(exchanges):>9.0f}  {text_of(turns) if turns else ''}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
