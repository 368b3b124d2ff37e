#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures throws of the Tascell language with programs of examples/tascell: the tables of docs/exceptions.md.

    exceptions.py --sukima PROGRAM stop|prune|try [--runs N]

stop: for a search that throws to its root after a share of the solutions, the time from the throw to the catch, and the
number of aborted tasks. prune: how many sets the search for connected subgraphs visits with and without throws out of
useless subtrees. try: the cost of a `try` around each loop. All figures are medians.
"""
import argparse
import os
import re
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parent.parent.parent / "examples/tascell"
SHARES = [k / 100 for k in range(31)] + [k / 10 for k in range(4, 11)]
TRIES = {"fib": ["38"], "queens_bits": ["13"], "queens_array": ["12"], "pentomino": ["12"]}


def build(sukima, name, folder, *options):
    program = Path(folder) / (name + "".join(options))
    subprocess.run([sukima, "cc", "-O3", *options, "-o", program, EXAMPLES / f"{name}.tc", "-lm"], check=True)
    return program


def run(program, words, workers):
    """The program's stderr, and the seconds that it took."""
    begin = time.perf_counter()
    result = subprocess.run([program, *map(str, words)], capture_output=True, text=True, check=True,
                            env={**os.environ, "SUKIMA_WORKERS": str(workers), "SUKIMA_ELASTIC": "off"})
    return result.stderr, time.perf_counter() - begin


def median(values):
    return statistics.median(values)


def stop(program, runs, workers):
    print(f"| share | seconds | throw to catch, µs | aborted tasks ({workers} workers, 13 queens) |")
    print("| ---: | ---: | ---: | ---: |")
    for share in SHARES:
        texts = [run(program, ["13", share], workers)[0] for _ in range(runs)]
        found = [re.search(r"([-.\d]+) s in all, ([-.\d]+) s from", text) for text in texts]
        aborts = [int(re.search(r"^aborts +(\d+)", text, re.MULTILINE)[1]) for text in texts]
        catch = median(float(f[2]) for f in found)
        print(f"| {share:.2f} | {median(float(f[1]) for f in found):.4f} | "
              f"{'—' if catch < 0 else f'{1e6 * catch:.0f}'} | {median(aborts):.0f} |", flush=True)


def prune(program, runs):
    print("| graph | workers | sets without throw | with | fewer | seconds without | with |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for seed in range(1, 5):
        for workers in (1, 2, 16):
            figures = []
            for way in ("whole", "prune"):
                texts = [run(program, ["60", "24", way, seed], workers)[0] for _ in range(runs)]
                found = [re.search(r"(\d+) sets were visited in ([.\d]+) s", text) for text in texts]
                figures.append((median(int(f[1]) for f in found), median(float(f[2]) for f in found)))
            (sets, seconds), (fewer, sooner) = figures
            print(f"| {seed} | {workers} | {sets:.0f} | {fewer:.0f} | {1 - fewer / sets:.0%} | {seconds:.2f} | "
                  f"{sooner:.2f} |", flush=True)


def tries(sukima, folder, runs):
    print("| program | seconds | with try | ratio |")
    print("| --- | ---: | ---: | ---: |")
    for name, words in TRIES.items():
        programs = [build(sukima, name, folder), build(sukima, name, folder, "-DWITH_TRY")]
        times = [[], []]
        for _ in range(runs):
            for k, program in enumerate(programs):
                times[k].append(run(program, words, 1)[1])
        plain, covered = map(median, times)
        print(f"| {name} {words[0]} | {plain:.3f} | {covered:.3f} | {covered / plain:.2f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sukima", default="sukima")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--workers", type=int, default=2, help="of `stop`")
    parser.add_argument("measurement", choices=["stop", "prune", "try"])
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if arguments.measurement == "stop":
            stop(build(arguments.sukima, "stop", folder), arguments.runs, arguments.workers)
        elif arguments.measurement == "prune":
            prune(build(arguments.sukima, "subgraphs", folder), arguments.runs)
        else:
            tries(arguments.sukima, folder, arguments.runs)


if __name__ == "__main__":
    main()
