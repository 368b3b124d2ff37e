#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares wait policies and steal protocols in the scenarios of `sukima bench`.

Runs one benchmark with each combination, interleaved, and prints a table in Markdown: the time of each combination
in each scenario as a ratio to the best one there. With --plot also a heat map (PNG and SVG).
"""

import argparse
import json
import os
import statistics
import subprocess
import sys

import plots

WAITS = ["adaptive", "block", "condvar", "inherit", "pause", "spin", "yield"]
STEALS = ["publish:1", "publish:3", "request", "indolent"]


def seconds_of(program, benchmark, scenario, workers, wait, steal):
    """The median seconds of one run; None if there is none."""
    command = [program, "bench", benchmark, "--scenario", scenario, "--workers", str(workers), "--peers", "none"]
    command += ["--repetitions", "1", "--json"]
    environment = dict(os.environ, SUKIMA_WAIT=wait, SUKIMA_STEAL=steal)
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    for line in done.stdout.splitlines():
        row = json.loads(line)
        if row["system"] == "sukima":
            return row["seconds"]["median"]
    print(f"policies.py: {' '.join(command)} with SUKIMA_WAIT={wait} SUKIMA_STEAL={steal}: {done.stderr.strip()}",
          file=sys.stderr)
    return None


def kept_rows(file):
    """The rows of a file of --keep. Ends the program if it is another file."""
    with open(file, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            try:
                turn, scenario, wait, steal, value = json.loads(line)
            except (ValueError, TypeError):
                sys.exit(f"policies.py: line {number} of '{file}' is not a row of --keep: remove the line, or give another file")
            yield turn, scenario, wait, steal, value


def measure(options):
    """Seconds by (wait, steal) and scenario, a list of rounds each."""
    cells = {}
    known = set()
    if options.keep and os.path.exists(options.keep):
        for turn, scenario, wait, steal, value in kept_rows(options.keep):
            known.add((turn, scenario, wait, steal))
            if scenario in options.scenarios and wait in options.waits and steal in options.steals:
                cells.setdefault((wait, steal), {}).setdefault(scenario, []).append(value)
    combinations = [(w, s) for w in options.waits for s in options.steals]
    for turn in range(options.rounds):
        for scenario in options.scenarios:
            for wait, steal in combinations:
                if (turn, scenario, wait, steal) in known:
                    continue
                if sys.stderr.isatty():
                    print(f"\rround {turn + 1} of {options.rounds}: {scenario} {wait} {steal}    ", end="",
                          file=sys.stderr)
                name, _, workers = scenario.partition(":")
                value = seconds_of(options.program, options.benchmark, name, workers or options.workers, wait, steal)
                if value is None:
                    continue
                cells.setdefault((wait, steal), {}).setdefault(scenario, []).append(value)
                if options.keep:
                    with open(options.keep, "a", encoding="utf-8") as kept:
                        print(json.dumps([turn, scenario, wait, steal, value]), file=kept)
    if sys.stderr.isatty():
        print(file=sys.stderr)
    return cells


def ratios(cells, scenarios):
    """Median seconds of each cell over those of the best cell of its scenario."""
    medians = {c: {s: statistics.median(v) for s, v in row.items()} for c, row in cells.items()}
    best = {s: min((row[s] for row in medians.values() if s in row), default=None) for s in scenarios}
    return {c: {s: row[s] / best[s] for s in scenarios if s in row} for c, row in medians.items()}, best


def print_table(options, table, best):
    print("| wait | steal | " + " | ".join(options.scenarios) + " |")
    print("|---|---|" + "---|" * len(options.scenarios))
    for (wait, steal), row in table.items():
        cells = [f"{row[s]:.2f}" if s in row else "-" for s in options.scenarios]
        print(f"| {wait} | {steal} | " + " | ".join(cells) + " |")
    print("| best, seconds | | " + " | ".join("-" if best[s] is None else f"{best[s]:.3f}" for s in options.scenarios) + " |")


def draw(options, table):
    names = [f"{w}, {s}" for w, s in table]
    values = [[row.get(s, float("nan")) for s in options.scenarios] for row in table.values()]
    figure, axes = plots.load().subplots(figsize=(1.3 * len(options.scenarios) + 3, 0.4 * len(names) + 1.5))
    image = axes.imshow(values, cmap="YlOrRd", vmin=1.0, vmax=1.5, aspect="auto")
    axes.set_xticks(range(len(options.scenarios)), options.scenarios, rotation=30, ha="right")
    axes.set_yticks(range(len(names)), names)
    for y, row in enumerate(values):
        for x, value in enumerate(row):
            if value == value:  # not the NaN of an empty cell
                axes.text(x, y, f"{value:.2f}", ha="center", va="center", fontsize=8)
    axes.set_title(f"{options.benchmark}: time / best of the column")
    figure.colorbar(image, label="1.0 is the best")
    figure.tight_layout()
    plots.save(figure, options.plot)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     epilog="example: lab/scripts/policies.py --scenarios alone overworked hog:2 hog:8")
    parser.add_argument("--program", default="build/release/bin/sukima", help="the command sukima")
    parser.add_argument("--benchmark", default="nqueens")
    parser.add_argument("--scenarios", nargs="+", metavar="NAME[:WORKERS]",
                        default=["alone", "overworked:8", "hogs", "hog", "together", "quota:8", "quota-half:8", "bursts"])
    parser.add_argument("--workers", type=int, default=2, help="where a scenario says no other number [2]")
    parser.add_argument("--waits", nargs="+", default=WAITS, choices=WAITS)
    parser.add_argument("--steals", nargs="+", default=STEALS)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--keep", metavar="FILE", help="keep what was measured there, and go on from it if it exists")
    parser.add_argument("--plot", metavar="PREFIX", help="also draw PREFIX.png and PREFIX.svg")
    options = parser.parse_args()
    if not os.access(options.program, os.X_OK):
        parser.error(f"'{options.program}' is not a program; build first (make build) or give --program")
    cells = measure(options)
    if not cells:
        return 1
    table, best = ratios(cells, options.scenarios)
    print_table(options, table, best)
    if options.plot:
        draw(options, table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
