#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The table of pressure: how near a program comes to a perfect scheduler in each scenario of `sukima bench`.

    pressure.py systems  --programs build/release/bin --results pressure.json --plot pressure
    pressure.py policies --programs build/release/bin --results policies.json --plot policies

`systems` compares Sukima with its peers, `policies` compares Sukima's wait policies and steal protocols. A cell is the
median over the rounds of the time divided by an ideal, with its 95 % bootstrap interval. There are two ideals: `own`, for
the CPU seconds of Sukima with one worker, and `sequential`, for those of the sequential program; both divided by the CPU
that busy loops got in the same place and round. In `alone` that is a CPU for each worker, up to the number of CPUs. With
--plot the tables are drawn as heat maps, too (PNG and SVG). The script stores its results in a file, and continues where it
was interrupted.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys

import plots
import resumed
from figures import interval_of_median
from places import CLEAN, CPUS, give_up, locked, numbers_of_workers
from policies import STEALS, WAITS

SCENARIOS = ["alone", "hog", "hogs", "together", "quota", "quota-half", "bursts", "idle"]
BENCHMARKS = ["nqueens", "pentomino", "uts", "sort", "phases"]
IDEALS = {"own": "own_ideal", "sequential": "ideal"}
# The columns of sukima bench that are kept.
KEPT = ("system", "workers", "scenario", "cpu_seconds", "cpus", "ideal", "own_ideal")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("compared", choices=("systems", "policies"))
    resumed.add_arguments(parser)
    parser.add_argument("--benchmarks", nargs="+", default=BENCHMARKS, metavar="NAME", help=" ".join(BENCHMARKS))
    parser.add_argument("--scenarios", nargs="+", default=SCENARIOS, choices=SCENARIOS, metavar="NAME",
                        help=f"of {' '.join(SCENARIOS)}; `idle` has a benchmark of its own")
    parser.add_argument("--workers", type=numbers_of_workers, default=[2, 8], metavar="N,...", help="[2,8]")
    parser.add_argument("--peers", default="tbb,openmp-gcc,rayon,chili", metavar="LIST",
                        help="of `systems`: as for sukima bench [tbb,openmp-gcc,rayon,chili]")
    parser.add_argument("--waits", nargs="+", default=WAITS, metavar="POLICY", help=f"of `policies` [{' '.join(WAITS)}]")
    parser.add_argument("--steals", nargs="+", default=STEALS, metavar="PROTOCOL", help=f"of `policies` [{' '.join(STEALS)}]")
    parser.add_argument("--compiler", default="gcc", choices=("gcc", "clang"), help="[gcc]")
    parser.add_argument("--size", help="of the problems, for a trial [each benchmark's own]")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--ideals", nargs="+", default=list(IDEALS), choices=IDEALS, help="to divide by [both]")
    parser.add_argument("--plot", metavar="PREFIX", help="also draw PREFIX.png and PREFIX.svg")
    given = parser.parse_args()
    if given.rounds < 1:
        parser.error("--rounds: give 1 or more")
    return given


def contenders(given):
    """The name and the variables of each call of sukima bench."""
    if given.compared == "systems":
        yield "", {}
        return
    for wait in given.waits:
        for steal in given.steals:
            yield f"{wait}, {steal}", {"SUKIMA_WAIT": wait, "SUKIMA_STEAL": steal}


def cells(given):
    """Benchmark and scenario of each cell; `idle` occurs once."""
    for benchmark in given.benchmarks:
        for scenario in given.scenarios:
            if scenario != "idle":
                yield benchmark, scenario
    if "idle" in given.scenarios:
        yield "idle", "idle"


def one_round(given, benchmark, scenario, variables):
    """The rows of one call of sukima bench that measures everything once."""
    workers = sorted({1, *given.workers}) if scenario == "alone" else given.workers
    command = [str(given.programs / "sukima"), "bench", benchmark, "--scenario", scenario, "--json", "--repetitions", "1",
               "--workers", ",".join(map(str, workers)), "--compiler", given.compiler,
               "--peers", given.peers if given.compared == "systems" else "none"]
    command += ["--size", given.size] if given.size else []
    own = {name: value for name, value in os.environ.items() if name == "SUKIMA_BENCH_DIR"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**CLEAN, **own, **variables})
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    if done.returncode not in (0, 1) or not any(row["system"] == "sukima" for row in rows):
        give_up(f"{' '.join(command)} ended with code {done.returncode}: {done.stderr.strip()}")
    if done.returncode != 0:
        print(f"pressure.py: {benchmark}, {scenario}: {done.stderr.strip()}", file=sys.stderr)
    return [{"seconds": row["seconds"]["median"], **{name: row[name] for name in KEPT if name in row}} for row in rows]


def measure(given, measurements):
    """Rounds of all cells until there are enough, or the time is up."""
    for count in range(1, given.rounds + 1):
        for benchmark, scenario in cells(given):
            for name, variables in contenders(given):
                done = measurements.results.setdefault(f"{given.compared}: {benchmark}: {scenario}: {name}", [])
                if len(done) >= count:
                    continue
                if measurements.is_over():
                    return
                with locked(given.lock):
                    done.append(one_round(given, benchmark, scenario, variables))
                measurements.keep()


def ideal_in(rows, row, which):
    """The ideal seconds for a row, from the rows of the same round; None if something is missing."""
    if row["scenario"] != "alone":
        return row.get(IDEALS[which])
    system = {"own": "sukima", "sequential": "sequential"}[which]
    work = [other["cpu_seconds"] for other in rows if other["system"] == system and other["workers"] == 1]
    return min(work) / min(row["workers"], CPUS) if work and min(work) > 0 else None


def ratios(results, given, which):
    """{(benchmark, scenario): {(contender, workers): [ratio of each round]}}"""
    found = {}
    for benchmark, scenario in cells(given):
        column = found.setdefault((benchmark, scenario), {})
        for name, _ in contenders(given):
            for rows in results.get(f"{given.compared}: {benchmark}: {scenario}: {name}", [])[:given.rounds]:
                for row in rows:
                    ideal = ideal_in(rows, row, which)
                    if row["system"] != "sequential" and row["workers"] in given.workers and ideal:
                        column.setdefault((name or row["system"], row["workers"]), []).append(row["seconds"] / ideal)
    return found


def interval(values):
    """Median with its 95 % bootstrap interval."""
    return statistics.median(values), *interval_of_median(values)


def panels(results, given):
    """For each ideal and benchmark: its title, the scenarios, and {(contender, workers): {scenario: interval}}."""
    for which in given.ideals:
        found = ratios(results, given, which)
        for benchmark in dict.fromkeys(name for name, _ in found):
            scenarios = [scenario for name, scenario in found if name == benchmark]
            rows = {}
            for scenario in scenarios:
                for contender, values in found[benchmark, scenario].items():
                    rows.setdefault(contender, {})[scenario] = interval(values)
            if rows:
                yield f"{benchmark}: time / {which} ideal", scenarios, rows


def label(contender):
    name, workers = contender
    return f"{name}, {workers} worker{'s' if workers != 1 else ''}"


def table(results, given):
    """Prints the tables, says what is missing, and draws them."""
    for title, scenarios, rows in panels(results, given):
        print(f"| {title} | {' | '.join(scenarios)} |\n| --- |{' ---: |' * len(scenarios)}")
        for contender, row in rows.items():
            words = [f"{row[one][0]:.2f} ({row[one][1]:.2f}–{row[one][2]:.2f})" if one in row else "-" for one in scenarios]
            print(f"| {label(contender)} | {' | '.join(words)} |")
        print()
    have = [len(results.get(f"{given.compared}: {benchmark}: {scenario}: {name}", []))
            for benchmark, scenario in cells(given) for name, _ in contenders(given)]
    print(f"{min(have)} to {max(have)} of {given.rounds} rounds")
    if given.plot:
        draw(list(panels(results, given)), given)


def draw(parts, given):
    """Heat maps: a row of panels for each benchmark, a column for each ideal."""
    if not parts:
        give_up("there is nothing to draw: nothing was measured")
    pyplot = plots.load()
    columns = len(given.ideals)
    lines = -(-len(parts) // columns)
    most = max(len(rows) for _, _, rows in parts)
    figure, grid = pyplot.subplots(lines, columns, squeeze=False,
                                   figsize=((0.85 * len(given.scenarios) + 2.6) * columns, (0.3 * most + 1.4) * lines))
    for axes in grid.flat:
        axes.set_visible(False)
    for number, (title, scenarios, rows) in enumerate(parts):
        axes = grid[number % lines][number // lines]
        axes.set_visible(True)
        values = [[row[one][0] if one in row else float("nan") for one in scenarios] for row in rows.values()]
        image = axes.imshow(values, cmap="YlOrRd", vmin=1.0, vmax=2.0, aspect="auto")
        axes.set_xticks(range(len(scenarios)), scenarios, rotation=30, ha="right", fontsize=8)
        axes.set_yticks(range(len(rows)), map(label, rows), fontsize=8)
        axes.set_title(title, fontsize=10)
        for y, row in enumerate(values):
            for x, value in enumerate(row):
                if value == value:  # not the NaN of an empty cell
                    axes.text(x, y, f"{value:.2f}", ha="center", va="center", fontsize=7,
                              color="white" if value > 1.7 else "black")
        figure.colorbar(image, ax=axes, label="1.0: ideal", extend="max")
    figure.tight_layout()
    plots.save(figure, given.plot, dpi=150)


if __name__ == "__main__":
    resumed.run(arguments(), measure, table, settings=("size", "compiler", "peers"))
