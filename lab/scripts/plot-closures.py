#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws what bench-closures measured: plot-closures.py PREFIX NAME=FILE...

Each FILE has the JSON lines of one program (NAME: its compiler). Writes PREFIX.png and PREFIX.svg, and the table of the
documentation to stdout.

example: build/release/bin/bench-closures-gcc >gcc.json; lab/scripts/plot-closures.py closures gcc=gcc.json
"""
import json
import sys

import plots

WAYS = ["none", "frame", "unwind", "exceptions", "unwind, by hand", "exceptions, by hand"]


def read(arguments):
    results = {}
    for argument in arguments:
        name, _, file = argument.partition("=")
        with open(file) as lines:
            results[name] = [json.loads(line) for line in lines]
    return results


def table(results):
    print("| | " + " | ".join(f"{program}, {name}" for program in ("fib", "queens") for name in results) + " |")
    print("| --- |" + " ---: |" * (2 * len(results)))
    for way in WAYS:
        cells = [row["ratio"] for program in ("fib", "queens") for rows in results.values() for row in rows
                 if row["program"] == program and row["way"] == way]
        print(f"| {way} | " + " | ".join(f"{cell:.2f}" for cell in cells) + " |")
    depths = sorted({row["depth"] for rows in results.values() for row in rows if row["program"] == "call"})
    print("\n| µs by depth | " + " | ".join(f"{depth}, {name}" for depth in depths for name in results) + " |")
    print("| --- |" + " ---: |" * (len(depths) * len(results)))
    for way in WAYS:
        cells = [row["microseconds"] for depth in depths for rows in results.values() for row in rows
                 if row.get("depth") == depth and row["way"] == way]
        print(f"| {way} | " + " | ".join(f"{cell:.2f}" for cell in cells) + " |")


def draw(prefix, results):
    figure, (uncalled, called) = plots.load().subplots(1, 2, figsize=(11, 4.2))
    groups = [(program, name) for program in ("fib", "queens") for name in results]
    for k, way in enumerate(WAYS[1:]):
        heights = [next(row["ratio"] for row in results[name] if row["program"] == program and row["way"] == way)
                   for program, name in groups]
        uncalled.bar([x + 0.17 * (k - 2) for x in range(len(groups))], heights, 0.15, label=way)
    uncalled.axhline(1, color="black", linewidth=0.8)
    uncalled.set_xticks(range(len(groups)), [f"{program}, {name}" for program, name in groups])
    uncalled.set_ylabel("time / without closures")
    uncalled.set_title("while no code calls them")
    uncalled.legend()
    for name, style in zip(results, ("-", "--")):
        for k, way in enumerate(WAYS):
            rows = [row for row in results[name] if row["program"] == "call" and row["way"] == way]
            called.plot([row["depth"] for row in rows], [row["microseconds"] for row in rows], style, marker="o",
                        markersize=3, color="black" if k == 0 else f"C{k - 1}", label=f"{way}, {name}")
    called.set_xscale("log")
    called.set_yscale("log")
    called.set_xlabel("depth of the stack")
    called.set_ylabel("µs")
    called.set_title("one call, which visits all frames")
    called.legend(fontsize=7)
    figure.tight_layout()
    plots.save(figure, prefix)


def main():
    if len(sys.argv) < 3 or any("=" not in argument for argument in sys.argv[2:]):
        print("usage: plot-closures.py PREFIX NAME=FILE...", file=sys.stderr)
        return 2
    results = read(sys.argv[2:])
    table(results)
    draw(sys.argv[1], results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
