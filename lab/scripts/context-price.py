#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the cost of a call without a context: nanoseconds and instructions for each fork, loop and search.

    context-price.py [--programs FOLDER] [--rounds N] [--compiler gcc|clang]... [--no-instructions] [--json]

Runs fib (fork2), nqueens (parallel_reduce) and nqueens-array (search) of bench-sukima with one worker, by calls that take
a context and by calls that look it up, in interleaved rounds. The table has the medians of the CPU nanoseconds for each
call of the recursive function and their difference with its quartiles; and the instructions, counted by callgrind.
"""
import argparse
import json
import pathlib
import shutil
import statistics
import subprocess
import sys

from figures import quartiles
from places import CLEAN, give_up
from instruction_count import BadInput, instructions_per_unit  # places knows where it is

SUFFIX = "-without-context"


def calls_of_fib(n):
    """The number of calls of fib(n), including itself."""
    now, following = 1, 1
    for _ in range(n):
        now, following = following, now + following + 1
    return now


# Known numbers of partial boards, including the empty one.
NODES = {8: 2057, 10: 35539, 11: 166926}
# Operation: the benchmark, its size for the time and the repetitions of that, sizes for the instructions, calls of a size.
OPERATIONS = {
    "fork2": ("fib", 30, 20, (16, 27), calls_of_fib),
    "parallel_reduce": ("nqueens", 11, 50, (8, 11), NODES.get),
    "search": ("nqueens-array", 11, 50, (8, 11), NODES.get),
}


def nanoseconds(program, benchmark, size, repetitions, calls):
    """CPU nanoseconds for each call: the median of the repetitions in one process."""
    command = [program, benchmark, "--size", str(size), "--workers", "1", "--repetitions", str(repetitions)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=CLEAN)
    if done.returncode != 0:
        give_up(f"{' '.join(map(str, command))} ended with code {done.returncode}: {done.stderr.strip()}")
    return statistics.median(json.loads(line)["cpu_seconds"] for line in done.stdout.splitlines()) / calls * 1e9


def instructions(program, benchmark, sizes, calls):
    """Instructions for each call."""
    arguments = [benchmark, "--size", "{size}", "--workers", "1", "--repetitions", "1"]
    try:
        return instructions_per_unit(program, {"arguments": arguments, "sizes": sizes, "units": [calls(s) for s in sizes]})
    except BadInput as error:
        give_up(error)


def measure(program, given):
    """A row for each operation."""
    times = {name: ([], []) for name in OPERATIONS}
    for turn in range(given.rounds):
        for name, (benchmark, size, repetitions, _, calls) in OPERATIONS.items():
            for which in (0, 1) if turn % 2 else (1, 0):
                times[name][which].append(nanoseconds(program, benchmark + which * SUFFIX, size, repetitions, calls(size)))
    for name, (benchmark, _, _, sizes, calls) in OPERATIONS.items():
        low, middle, high = quartiles([b - a for a, b in zip(*times[name])])
        row = {"operation": name, "benchmark": benchmark,
               "nanoseconds": [statistics.median(each) for each in times[name]], "price_nanoseconds": middle,
               "price_quartiles": [low, high]}
        if not given.no_instructions:
            row["instructions"] = [instructions(program, benchmark + which * SUFFIX, sizes, calls) for which in (0, 1)]
        yield row


def main():
    root = pathlib.Path(__file__).resolve().parent.parent.parent
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=pathlib.Path, default=root / "build" / "release" / "bin",
                        help="folder of bench-sukima-… [build/release/bin]")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--compiler", action="append", choices=("gcc", "clang"), help="[those that built a program]")
    parser.add_argument("--no-instructions", action="store_true", help="measure time only; valgrind is not needed")
    parser.add_argument("--json", action="store_true", help="one object for each row")
    given = parser.parse_args()
    if given.rounds < 2:
        parser.error("--rounds: give 2 or more, for quartiles")
    if not given.no_instructions and not shutil.which("valgrind"):
        parser.error("valgrind is not installed: run scripts/install-dependencies.sh, or give --no-instructions")
    programs = {each: given.programs / f"bench-sukima-{each}" for each in given.compiler or ("gcc", "clang")}
    found = {compiler: file for compiler, file in programs.items() if given.compiler or file.exists()}
    missing = [str(file) for file in found.values() if not file.exists()]
    if not found or missing:
        parser.error(f"there is no {missing[0] if missing else 'bench-sukima'} in {given.programs}: build it, or give --programs")
    for compiler, program in found.items():
        if not given.json:
            print(f"{compiler:<17} {'with, ns':>9} {'without':>8} {'price':>6} {'[quartiles]':>16} {'with, instr.':>13} {'without':>8}"
                  f" {'price':>6}")
        for row in measure(program, given):
            if given.json:
                print(json.dumps({"compiler": compiler, **row}), flush=True)
                continue
            (a, b), (low, high) = row["nanoseconds"], row["price_quartiles"]
            text = f"  {row['operation']:<15} {a:9.2f} {b:8.2f} {row['price_nanoseconds']:6.2f} {f'[{low:.2f} - {high:.2f}]':>16}"
            if "instructions" in row:
                a, b = row["instructions"]
                text += f" {a:13.1f} {b:8.1f} {b - a:6.1f}"
            print(text, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
