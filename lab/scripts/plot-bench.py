#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the JSON lines of `sukima bench --json` as bars: plot-bench.py PREFIX [--footer TEXT] < LINES.

Writes PREFIX.png and PREFIX.svg: one panel for each benchmark and scenario, one bar for each row, its length the
median seconds and its whisker from the first to the third quartile. The dashed line is the sequential program. Of
`--hope` all scenarios of a benchmark are in one panel, each bar with the work and the counts of its row.
"""
import argparse
import json
import sys
import textwrap

sys.dont_write_bytecode = True  # installed, both files lie in a folder that is not ours to write into
import plots

# Colour-blind safe (Okabe and Ito); Sukima is the only strong one.
COLOUR_OWN = "#0072B2"
COLOUR_SEQUENTIAL = "#999999"
COLOUR_PEER = "#E69F00"
UNITS = ((1, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("prefix", help="path of the two files without its ending")
    parser.add_argument("--footer", default="", help="text under the figure, such as the machine's description")
    return parser.parse_args()


def read_panels(lines):
    """The rows of each (benchmark, size, scenario), in the order of their first appearance."""
    panels = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            key = (row["benchmark"], row["size"], "--hope" if "hope" in row else row["scenario"])
            row["seconds"]["q1"], row["seconds"]["median"], row["seconds"]["q3"]
        except (ValueError, KeyError, TypeError) as error:
            sys.exit(f"plot-bench.py: line {number} is not a row of 'sukima bench --json' ({error!r})")
        panels.setdefault(key, []).append(row)
    if not panels:
        sys.exit("plot-bench.py: nothing to draw: stdin has no rows of 'sukima bench --json'")
    return panels


def axis_for(rows):
    """The unit in which the shortest bar has digits before the point, and whether the axis is logarithmic."""
    times = [row["seconds"]["median"] for row in rows if row["seconds"]["median"] > 0] or [1]
    unit = next((unit for unit in UNITS if min(times) >= 0.1 * unit[0]), UNITS[-1])
    # A peer that is a hundred times slower must not squeeze all others into nothing.
    return unit, max(times) > 20 * min(times)


def label(row):
    compiler = f" ({row['compiler']})" if row.get("compiler") else ""
    plural = "" if row["workers"] == 1 else "s"
    if "hope" in row:
        return row["scenario"]
    if "nodes" in row:
        return f"{row['nodes']} node{'' if row['nodes'] == 1 else 's'} of {row['workers']} worker{plural}"
    workers = "" if row["system"] == "sequential" else f", {row['workers']} worker{plural}"
    return f"{row['system']}{compiler}{workers}"


def counts(row):
    """Of nodes under hierarchical omission."""
    texts = [f"work {row['work']:.2f} x"] if "hope" in row and "work" in row else []
    texts += [f"{row[name]:.0f} {name}" for name in ("published", "omitted", "twice", "messages") if name in row]
    return "".join(f", {text}" for text in texts)


def colour(row):
    if row.get("hope") is False and row["system"] == "sukima":
        return COLOUR_PEER
    return {"sukima": COLOUR_OWN, "sequential": COLOUR_SEQUENTIAL}.get(row["system"], COLOUR_PEER)


def draw_panel(axes, key, rows, axis):
    benchmark, size, scenario = key
    (factor, unit), logarithmic = axis
    order = {"sequential": 0, "sukima": 1}
    if scenario != "--hope":  # those are in an order already
        rows = sorted(rows, key=lambda row: (order.get(row["system"], 2), row.get("nodes", 0),
                                             row["workers"] if order.get(row["system"]) else 0))
    medians = [row["seconds"]["median"] / factor for row in rows]
    whiskers = [
        [(row["seconds"]["median"] - row["seconds"]["q1"]) / factor for row in rows],
        [(row["seconds"]["q3"] - row["seconds"]["median"]) / factor for row in rows],
    ]
    axes.barh(range(len(rows)), medians, xerr=whiskers, color=[colour(row) for row in rows],
              error_kw={"ecolor": "#333333", "elinewidth": 1, "capsize": 2})
    axes.set_yticks(range(len(rows)), [label(row) for row in rows], fontsize=8)
    axes.invert_yaxis()
    if logarithmic:
        axes.set_xscale("log")
    for place, (row, value) in enumerate(zip(rows, medians)):
        ratio = "" if row.get("ratio") is None else f"  {row['ratio']:.2f} x"
        axes.annotate(f"{value:.3g}{ratio}{counts(row)}", (row["seconds"]["q3"] / factor, place), xytext=(4, 0),
                      textcoords="offset points", va="center", fontsize=7)
    sequential = [value for row, value in zip(rows, medians) if row["system"] == "sequential"]
    if sequential:
        axes.axvline(min(sequential), color="#666666", linestyle="--", linewidth=0.8)
    axes.margins(x=0.18 if scenario != "--hope" else 1.2)
    compared = ("its reference" if scenario == "--hope" else
                "one process" if any("nodes" in row for row in rows) else "the sequential program")
    axes.set_xlabel(f"{unit} (x: times {compared})", fontsize=8)
    axes.set_title(benchmark + ("" if size is None else f", size {size}") + f", {scenario}", fontsize=10)
    axes.tick_params(axis="x", labelsize=8)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def main():
    arguments = parse_arguments()
    panels = read_panels(sys.stdin)
    pyplot = plots.load()
    columns = max(len({key[2] for key in panels if key[:2] == first[:2]}) for first in panels)
    names = list(dict.fromkeys(key[:2] for key in panels))
    most = max(len(rows) for rows in panels.values())
    height = 0.9 + 0.27 * most
    figure, grid = pyplot.subplots(len(names), columns, squeeze=False, sharex="row",
                                   figsize=(6.5 * columns, height * len(names) + 0.6))
    for axes in grid.flat:
        axes.set_visible(False)
    used = {name: 0 for name in names}
    axis = {name: axis_for([row for key, rows in panels.items() if key[:2] == name for row in rows]) for name in names}
    for key, rows in panels.items():
        name = key[:2]
        axes = grid[names.index(name)][used[name]]
        used[name] += 1
        axes.set_visible(True)
        draw_panel(axes, key, rows, axis[name])
    footer = textwrap.fill(plots.plain(arguments.footer), 90 * columns)
    figure.text(0.01, 0.005, footer, fontsize=7, color="#555555", va="bottom")
    figure.tight_layout(rect=(0, 0.02 + 0.25 / (height * len(names) + 0.6), 1, 1))
    plots.save(figure, arguments.prefix, dpi=150)


if __name__ == "__main__":
    main()
