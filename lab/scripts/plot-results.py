#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the README's picture: the time of each system, divided by Sukima's, for each benchmark and scenario.

Reads CSV files of `sukima bench --csv` (the rows with the most workers count) and writes PREFIX.svg:
plot-results.py PREFIX FILE...

example: build/release/bin/sukima bench nqueens sort --peers tbb,rayon --csv results.csv; lab/scripts/plot-results.py results results.csv
"""
import csv
import sys

import plots

# Colour-blind safe (Okabe and Ito), and another marker for each.
STYLES = {
    "tbb": ("TBB", "#E69F00", "s"),
    "openmp-gcc": ("OpenMP (libgomp)", "#D55E00", "v"),
    "openmp-clang": ("OpenMP (libomp)", "#D55E00", "^"),
    "rayon": ("rayon", "#009E73", "o"),
    "chili": ("chili", "#CC79A7", "D"),
    "sukima": ("Sukima", "#0072B2", "|"),
}
SCENARIOS = {"alone": "", "hog": ", beside one busy program", "hogs": ", beside two busy programs"}


def read(files):
    """{(benchmark, scenario): {system: seconds}} of the largest number of workers, the faster compiler's."""
    rows = {}
    for file in files:
        with open(file, encoding="utf-8") as lines:
            for row in csv.DictReader(line for line in lines if not line.startswith("#")):
                if row["system"] in STYLES:
                    rows.setdefault((row["benchmark"], row["scenario"]), []).append(row)
    results = {}
    for key, measured in rows.items():
        workers = max(int(row["workers"]) for row in measured)
        times = {}
        for row in measured:
            if int(row["workers"]) == workers:
                seconds = float(row["seconds_median"])
                times[row["system"]] = min(seconds, times.get(row["system"], seconds))
        if "sukima" in times:
            results[key] = times
    return results


def draw(prefix, results):
    pyplot = plots.load()
    from matplotlib import ticker
    figure, axes = pyplot.subplots(figsize=(8, 0.9 + 0.32 * len(results)))
    systems = [system for system in STYLES if any(system in times for times in results.values())]
    for place, times in enumerate(results.values()):
        ratios = [times[system] / times["sukima"] for system in systems if system in times]
        axes.plot([min(ratios), max(ratios)], [place, place], color="#dddddd", linewidth=2, zorder=1)
    for system in systems:
        name, colour, marker = STYLES[system]
        points = [(times[system] / times["sukima"], place) for place, times in enumerate(results.values())
                  if system in times]
        axes.scatter(*zip(*points), label=name, color=colour, marker=marker, zorder=3,
                     s=140 if system == "sukima" else 34, linewidths=3 if system == "sukima" else 1)
    axes.axvline(1, color=STYLES["sukima"][1], linewidth=1, zorder=2)
    axes.set_xscale("log")
    ticks = [0.5, 0.7, 1, 1.5, 2, 3, 5, 10, 20, 30]
    shown = axes.get_xlim()
    axes.set_xticks([tick for tick in ticks if shown[0] <= tick <= shown[1]])
    axes.get_xaxis().set_major_formatter(ticker.FormatStrFormatter("%g"))
    axes.get_xaxis().set_minor_formatter(ticker.NullFormatter())
    axes.set_yticks(range(len(results)), [benchmark + SCENARIOS.get(scenario, f", {scenario}")
                                          for benchmark, scenario in results])
    axes.invert_yaxis()
    axes.set_xlabel("time / time of Sukima (right of the line: slower than Sukima)")
    axes.legend(loc="upper center", bbox_to_anchor=(0.4, 1 + 0.55 / len(results) + 0.04), ncols=len(systems),
                frameon=False, fontsize=9, handletextpad=0.2, columnspacing=1.2)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.tick_params(axis="y", length=0)
    figure.tight_layout()
    plots.save(figure, prefix, ("svg",))


def main():
    if len(sys.argv) < 3:
        print("plot-results.py: give a prefix and at least one CSV file of `sukima bench --csv`", file=sys.stderr)
        return 2
    try:
        results = read(sys.argv[2:])
    except (OSError, KeyError, ValueError) as error:
        print(f"plot-results.py: cannot read the results ({error!r}); give files of `sukima bench --csv`",
              file=sys.stderr)
        return 2
    if not results:
        print("plot-results.py: the files have no row of sukima", file=sys.stderr)
        return 2
    draw(sys.argv[1], results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
