#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the tables of docs/benchmarks.md from the output of `sukima bench --json`:
benchmark-tables.py [--unit s|ms|us] [--quartiles] FILE...

One table for each number of workers: the seconds of each system (the faster compiler's), divided by the sequential
program's in brackets. The fastest parallel program of a row is bold.

example: build/release/bin/sukima bench nqueens sort --peers tbb,rayon --json > results.json; lab/scripts/benchmark-tables.py results.json
"""
import argparse
import json

NAMES = {"sequential": "sequential", "sukima": "Sukima", "tbb": "TBB", "openmp-gcc": "OpenMP", "openmp-clang": "OpenMP",
         "rayon": "rayon", "chili": "chili", "tascell": "Tascell", "tbb-tuned": "TBB tuned", "rayon-tuned": "rayon tuned",
         "openmp-gcc-tuned": "OpenMP tuned"}
FACTORS = {"s": 1, "ms": 1e3, "us": 1e6}


def read(files):
    """{workers: {benchmark: {system: quartiles}}}, the sequential program's with each number of workers."""
    rows = {}
    for file in files:
        with open(file, encoding="utf-8") as lines:
            for line in lines:
                row = json.loads(line)
                if row["scenario"] != "alone" or row["system"] not in NAMES:
                    continue
                systems = rows.setdefault(row["workers"], {}).setdefault(row["benchmark"], {})
                best = systems.get(row["system"])
                if best is None or row["seconds"]["median"] < best["median"]:
                    systems[row["system"]] = row["seconds"]
    sequential = {benchmark: systems["sequential"] for table in rows.values() for benchmark, systems in table.items()
                  if "sequential" in systems}
    for table in rows.values():
        for benchmark, systems in table.items():
            if benchmark in sequential:
                systems["sequential"] = sequential[benchmark]
    return {workers: table for workers, table in sorted(rows.items())
            if any(set(systems) != {"sequential"} for systems in table.values())}


def digits(value):
    """Three digits after the point in seconds, three significant ones in smaller units."""
    return f"{value:.3g}" if value < 100 else f"{value:.0f}"


def number(seconds, unit):
    return f"{seconds:.3f}" if unit == "s" else digits(seconds * FACTORS[unit])


def cell(system, systems, given):
    if system not in systems:
        return "—"
    seconds = systems[system]
    if given.quartiles:
        return f"{number(seconds['q1'], given.unit)}–{number(seconds['q3'], given.unit)}"
    text = number(seconds["median"], given.unit)
    if "sequential" in systems and system != "sequential":
        text += f" ({seconds['median'] / systems['sequential']['median']:.2f})"
    parallel = [other["median"] for name, other in systems.items() if name != "sequential"]
    return f"**{text}**" if system != "sequential" and seconds["median"] == min(parallel) else text


def show(workers, table, given):
    systems = [system for system in NAMES if any(system in row for row in table.values())
               and not (given.quartiles and system == "sequential")]
    print(f"{workers} worker{'s' if workers > 1 else ''}:\n")
    print(f"| {'seconds' if given.unit == 's' else given.unit} | {' | '.join(NAMES[system] for system in systems)} |")
    print("| --- |" + " ---: |" * len(systems))
    for benchmark, row in table.items():
        print(f"| `{benchmark}` | {' | '.join(cell(system, row, given) for system in systems)} |")
    print()


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--unit", choices=FACTORS, default="s", help="of the figures (default: s)")
    arguments.add_argument("--quartiles", action="store_true", help="the first and third quartiles instead of the medians")
    arguments.add_argument("file", nargs="+", help="JSON lines of sukima bench")
    given = arguments.parse_args()
    for workers, table in read(given.file).items():
        show(workers, table, given)


if __name__ == "__main__":
    main()
