#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws a report of `sukima lab report --json`: plot-lab.py FOLDER < REPORT

Writes FOLDER/EXPERIMENT.png and .svg of each experiment: one panel for each program, a group of bars for each
environment and a bar for each setting, with whiskers from the first to the third quartile. Claims that compare in
more than one program and environment give FOLDER/EXPERIMENT-CLAIM.png and .svg, heat maps of their ratios; a cell where
the claim does not hold has a frame. Prints the names of the files.
"""
import argparse
import json
import math
import sys
import textwrap

sys.dont_write_bytecode = True  # installed, both files lie in a folder that is not ours to write into
import plots

# Colour-blind safe (Okabe and Ito).
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#999999")
MARKS = {"holds": "", "does not hold": "×", "undecided": "?", "cannot be shown here": "–"}


def in_order(cells, key):
    return list(dict.fromkeys(cell[key] for cell in cells))


def shown_in_legend(name):
    """The name with a blank if it begins with an underscore, because matplotlib leaves such names out."""
    return " " + name if name.startswith("_") else name


def draw_program(axes, program, cells):
    """The bars of one program."""
    environments, settings = in_order(cells, "environment"), in_order(cells, "setting")
    width = 0.8 / len(settings)
    for number, setting in enumerate(settings):
        of = {cell["environment"]: cell for cell in cells if cell["setting"] == setting}
        values = [of[name].get("median") for name in environments]
        places = [place + (number - (len(settings) - 1) / 2) * width for place in range(len(environments))]
        heights = [math.nan if value is None else value for value in values]
        whiskers = [[], []]
        for name, value in zip(environments, heights):
            low, high = of[name].get("q1"), of[name].get("q3")
            whiskers[0].append(0 if low is None or math.isnan(value) else value - low)
            whiskers[1].append(0 if high is None or math.isnan(value) else high - value)
        axes.bar(places, heights, width, yerr=whiskers, label=shown_in_legend(setting), color=COLOURS[number % len(COLOURS)],
                 hatch="//" if number >= len(COLOURS) else None,
                 error_kw={"ecolor": "#333333", "elinewidth": 0.8, "capsize": 1.5})
        for place, name, value in zip(places, environments, values):
            if value is None and of[name].get("rounds"):
                # At the foot of the axes: a logarithmic one has no 0.
                axes.annotate("stopped", (place, 0), xycoords=("data", "axes fraction"), rotation=90, fontsize=6,
                              ha="center", va="bottom")
    axes.set_xticks(range(len(environments)), environments, fontsize=8)
    known = [cell["median"] for cell in cells if cell.get("median")]
    if known and max(known) > 20 * min(known):
        axes.set_yscale("log")
    axes.set_title(program, fontsize=10)
    axes.set_ylabel(plots.plain(" or ".join(in_order(cells, "unit"))), fontsize=8)
    axes.tick_params(axis="y", labelsize=8)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def draw_experiment(pyplot, experiment, footer, prefix):
    programs = in_order(experiment["cells"], "program")
    environments = in_order(experiment["cells"], "environment")
    settings = in_order(experiment["cells"], "setting")
    width = max(5, 0.16 * len(environments) * len(settings) + 2)
    figure, grid = pyplot.subplots(len(programs), 1, squeeze=False, figsize=(width, 2.4 * len(programs) + 1))
    for axes, program in zip(grid.flat, programs):
        draw_program(axes, program, [cell for cell in experiment["cells"] if cell["program"] == program])
    grid.flat[0].legend(fontsize=7, ncols=min(4, len(settings)), loc="lower center", bbox_to_anchor=(0.5, 1.12))
    figure.suptitle(plots.plain(experiment["title"]), fontsize=11)
    figure.text(0.01, 0.004, textwrap.fill(plots.plain(footer), int(16 * width)), fontsize=6, color="#555555", va="bottom")
    figure.tight_layout(rect=(0, 0.04, 1, 1))
    plots.save(figure, prefix, dpi=150)
    pyplot.close(figure)


def draw_claim(pyplot, claim, prefix):
    """The heat map of a claim's ratios."""
    programs, environments = in_order(claim["cells"], "program"), in_order(claim["cells"], "environment")
    of = {(cell["program"], cell["environment"]): cell for cell in claim["cells"]}
    values = [[math.nan] * len(environments) for _ in programs]
    for y, program in enumerate(programs):
        for x, environment in enumerate(environments):
            estimate = (of.get((program, environment), {}).get("ratio") or {}).get("estimate")
            values[y][x] = math.nan if estimate is None else estimate
    figure, axes = pyplot.subplots(figsize=(1.1 * len(environments) + 2.5, 0.45 * len(programs) + 1.8))
    known = [value for row in values for value in row if not math.isnan(value)]
    spread = max([abs(value - 1) for value in known] + [0.05])
    image = axes.imshow(values, cmap="PuOr_r", vmin=1 - spread, vmax=1 + spread, aspect="auto")
    axes.set_xticks(range(len(environments)), environments, rotation=30, ha="right", fontsize=8)
    axes.set_yticks(range(len(programs)), programs, fontsize=8)
    for (program, environment), cell in of.items():
        x, y = environments.index(environment), programs.index(program)
        number = "" if math.isnan(values[y][x]) else f"{values[y][x]:.2f}"
        if "ratio" in cell and not number:
            number = "infinite"  # the report has null for it
        axes.text(x, y, f"{number} {MARKS[cell['verdict']]}".strip(), ha="center", va="center", fontsize=8)
        if cell["verdict"] == "does not hold":
            axes.add_patch(pyplot.Rectangle((x - 0.48, y - 0.48), 0.96, 0.96, fill=False, edgecolor="#D55E00", linewidth=2))
    title = f"{claim['text']} ({claim['relation']} {claim['bound']:g}: {claim['verdict']})"
    axes.set_title(textwrap.fill(plots.plain(title), 60), fontsize=9)
    figure.colorbar(image, label="ratio")
    figure.tight_layout()
    plots.save(figure, prefix, dpi=150)
    pyplot.close(figure)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", help="where the files go")
    arguments = parser.parse_args()
    try:
        report = json.load(sys.stdin)
        machine = report["machine"]
        experiments = [experiment for experiment in report["experiments"] if experiment["cells"]]
    except (ValueError, KeyError, TypeError) as error:
        sys.exit(f"plot-lab.py: stdin is not a report of 'sukima lab report --json' ({error!r})")
    pyplot = plots.load()
    footer = "; ".join(f"{name} {value}" for name, value in machine.items())
    for experiment in experiments:
        prefixes = [f"{arguments.folder}/{experiment['name']}"]
        draw_experiment(pyplot, experiment, footer, prefixes[0])
        for claim in experiment["claims"]:
            if len(claim["cells"]) < 3:
                continue
            prefixes.append(f"{arguments.folder}/{experiment['name']}-{claim['name']}")
            draw_claim(pyplot, claim, prefixes[-1])
        for prefix in prefixes:
            print(f"{prefix}.png\n{prefix}.svg")


if __name__ == "__main__":
    main()
