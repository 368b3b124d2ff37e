#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the two pictures of `make demo`, each with one message: plot-demo.py PEERS_CSV OPENMP_CSV FOLDER

FOLDER/search.png and .svg: a search with all CPUs, the fastest system first. Tuned peers have a cut-off that was found by
trying; untuned ones have none, as Sukima. A bar that is far longer than the others is cut, with a mark and its number.
FOLDER/openmp.png and .svg: an OpenMP program alone and several times at once, with and without `sukima run`.

PEERS_CSV is from `sukima bench --csv`, OPENMP_CSV from lab/scripts/demo-openmp.py.
"""
import csv
import pathlib
import sys

import plots

# Colour-blind safe (Okabe and Ito).
OWN, TUNED, UNTUNED, PLAIN = "#0072B2", "#E69F00", "#BBBBBB", "#D55E00"
NAMES = {"tbb": "TBB", "openmp-gcc": "OpenMP", "openmp-clang": "OpenMP (clang)", "rayon": "rayon", "chili": "chili",
         "sukima": "Sukima"}
TUNED_ENDING = "-tuned"
CUT = 2.0  # bars beyond this many times the median bar are cut
ALONE = "alone"


def read_rows(path, wanted):
    """The rows of a CSV file as dictionaries; lines that begin with # are skipped."""
    with open(path, encoding="utf-8") as lines:
        rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
    if not rows or not wanted <= rows[0].keys():
        raise ValueError(f"'{path}' has no rows with {', '.join(sorted(wanted))}")
    return rows


def search_bars(rows):
    """(benchmark, workers, [(seconds, label, colour)]): the first benchmark with tuned peers, all CPUs, sorted."""
    tuned = [row["benchmark"] for row in rows if row["system"].endswith(TUNED_ENDING)]
    if not tuned:
        raise ValueError("no peer is tuned")
    chosen = [row for row in rows if row["benchmark"] == tuned[0] and row["scenario"] == ALONE
              and row["system"].removesuffix(TUNED_ENDING) in NAMES]
    workers = max(int(row["workers"]) for row in chosen)
    fastest = {}
    for row in chosen:
        if int(row["workers"]) == workers:
            seconds = float(row["seconds_median"])
            fastest[row["system"]] = min(seconds, fastest.get(row["system"], seconds))
    if "sukima" not in fastest:
        raise ValueError("no row is Sukima's")
    bars = []
    for system, seconds in sorted(fastest.items(), key=lambda pair: pair[1]):
        is_tuned = system.endswith(TUNED_ENDING)
        label = NAMES[system.removesuffix(TUNED_ENDING)] + (", tuned cut-off" if is_tuned else "")
        bars.append((seconds, label, OWN if system == "sukima" else TUNED if is_tuned else UNTUNED))
    return tuned[0], workers, bars


def search_title(benchmark, bars):
    """The result as a sentence: Sukima against the best tuned peer."""
    own = next(seconds for seconds, _, colour in bars if colour == OWN)
    best = min(seconds for seconds, _, colour in bars if colour == TUNED)
    ratio = own / best
    if ratio < 0.98:
        result = f"{best / own:.2f} times as fast as the best tuned peer"
    elif ratio <= 1.02:
        result = "as fast as the best tuned peer"
    else:
        result = f"{100 * (ratio - 1):.0f} % behind the best tuned peer"
    return f"{benchmark} without tuning: {result}"


def longest_shown(bars):
    """Where the axis ends: longer bars are cut."""
    times = sorted(seconds for seconds, _, _ in bars)
    limit = CUT * times[len(times) // 2]
    return max(seconds for seconds in times if seconds <= limit)


def draw_bars(axes, bars, end):
    """Horizontal bars with their numbers at the end. A bar that is longer than `end` is cut, with a mark."""
    for place, (seconds, label, colour) in enumerate(bars):
        is_cut = seconds > end
        length = 1.12 * end if is_cut else seconds
        axes.barh(place, length, color=colour, height=0.7)
        if is_cut:
            axes.text(0.93 * length, place, "//", ha="center", va="center", color="white", weight="bold", fontsize=14)
        axes.annotate(f"{seconds:.3g} s", (length, place), xytext=(8, 0), textcoords="offset points", va="center", fontsize=10)
    axes.set_yticks(range(len(bars)), [label for _, label, _ in bars], fontsize=10)
    axes.invert_yaxis()
    axes.set_xlim(0, 1.35 * end)
    axes.xaxis.set_visible(False)
    for side in ("top", "right", "bottom"):
        axes.spines[side].set_visible(False)
    axes.tick_params(axis="y", length=0)


def headings(figure, title, subtitle):
    """Writes both lines at the left edge of the picture, so that neither is cut. Returns where the axes may end."""
    height = figure.get_figheight()
    figure.text(0.02, 1 - 0.1 / height, title, ha="left", va="top", fontsize=12, weight="bold")
    figure.text(0.02, 1 - 0.37 / height, subtitle, ha="left", va="top", fontsize=10, color="#555555")
    return 1 - 0.55 / height


def draw_search(folder, rows):
    benchmark, workers, bars = search_bars(rows)
    pyplot = plots.load()
    from matplotlib.patches import Patch
    figure, axes = pyplot.subplots(figsize=(8, 1.6 + 0.4 * len(bars)))
    draw_bars(axes, bars, longest_shown(bars))
    top = headings(figure, search_title(benchmark, bars), f"seconds with {workers} workers, shorter is better")
    figure.legend(handles=[Patch(color=OWN, label="Sukima, no cut-off"), Patch(color=TUNED, label="tuned cut-off"),
                           Patch(color=UNTUNED, label="no cut-off")], loc="lower left", ncols=3, frameon=False, fontsize=9)
    figure.tight_layout(rect=(0, 0.08, 1, top))
    plots.save(figure, folder / "search", dpi=150)


def runs_text(count):
    return "1 run" if count == "1" else f"{count} runs"


def openmp_bars(rows):
    """(programs, runs, [(seconds, label, colour)]): alone first, then several programs at once.

    `runs` says how many runs each bar has. Where they differ, each label has its own.
    """
    counts = {row["runs"] for row in rows}
    runs = f"of {runs_text(counts.pop())}" if len(counts) == 1 else "of the runs"
    bars = []
    for row in sorted(rows, key=lambda row: (int(row["programs"]), row["setting"] != "plain")):
        programs = int(row["programs"])
        place = "alone" if programs == 1 else f"{programs} at once"
        with_run = row["setting"] != "plain"
        own_runs = f" ({runs_text(row['runs'])})" if counts else ""
        bars.append((float(row["seconds_median"]), place + (", with sukima run" if with_run else "") + own_runs,
                     OWN if with_run else PLAIN))
    return f"{rows[0]['program']}, {max(int(row['programs']) for row in rows)} at once", runs, bars


def openmp_title(programs, bars):
    """The result as a sentence: the time of several programs at once without and with `sukima run`."""
    plain, helped = bars[-2][0], bars[-1][0]
    if plain / helped >= 1.05:
        return f"OpenMP programs, {programs}: {plain / helped:.1f} times as fast with sukima run"
    return f"OpenMP programs, {programs}: {helped / plain:.2f} of the time with sukima run"


def draw_openmp(folder, rows):
    programs, runs, bars = openmp_bars(rows)
    pyplot = plots.load()
    figure, axes = pyplot.subplots(figsize=(8, 1.4 + 0.4 * len(bars)))
    draw_bars(axes, bars, max(seconds for seconds, _, _ in bars))  # the longest bar is the message
    top = headings(figure, openmp_title(programs, bars),
                   f"seconds until the last one has ended, median {runs}, shorter is better; not recompiled, no root")
    figure.tight_layout(rect=(0, 0, 1, top))
    plots.save(figure, folder / "openmp", dpi=150)


def main():
    if len(sys.argv) != 4:
        print("plot-demo.py: give the CSV file of the peers, that of OpenMP, and a folder", file=sys.stderr)
        return 2
    folder = pathlib.Path(sys.argv[3])
    try:
        peers = read_rows(sys.argv[1], {"benchmark", "system", "scenario", "workers", "seconds_median"})
        openmp = read_rows(sys.argv[2], {"program", "programs", "setting", "runs", "seconds_median"})
        draw_search(folder, peers)
        draw_openmp(folder, openmp)
    except (OSError, ValueError) as error:
        print(f"plot-demo.py: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
