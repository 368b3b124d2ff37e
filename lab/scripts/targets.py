#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints each target of docs/benchmarks.md with the measured figure, and whether it is reached.

    targets.py --programs build/release/bin --results targets.json [--page docs/benchmarks.md]

The targets are in lab/scripts/targets.toml. The table is printed; with --page it also replaces the table below the heading
"Which targets we miss" of that page, with the day, the machine and this command. The script stores its results in a file,
and continues where it was interrupted. Remove the file to measure again. A line below the table names missing peers. Nothing
else should run on the machine. With --quick it measures everything once, which only checks that all programs run.
"""
import argparse
import datetime
import json
import os
import pathlib
import subprocess
import sys
import tomllib

import resumed
from places import CLEAN, CPUS, give_up, locked

FOLDER = pathlib.Path(__file__).resolve().parent
HEADING = "## Which targets we miss"
KEYS = {"benchmarks", "workers", "figure", "over", "most", "least", "peers", "repetitions"}
OVER = ("sequential", "workers", "median", "peers", "one worker")


def read_targets(parser, file):
    """The targets of a file, with every key that may be absent."""
    try:
        found = tomllib.loads(file.read_text(encoding="utf-8"))["target"]
    except (OSError, KeyError, tomllib.TOMLDecodeError) as error:
        parser.error(f"{file} is not a file of targets ({error})")
    for number, target in enumerate(found, 1):
        unknown = set(target) - KEYS
        if unknown:
            parser.error(f"{file}: target {number} has the unknown key '{sorted(unknown)[0]}'; the keys are {', '.join(sorted(KEYS))}")
        if not target.get("benchmarks") or "workers" not in target or ("most" in target) == ("least" in target):
            parser.error(f"{file}: target {number} needs `benchmarks`, `workers`, and either `most` or `least`")
        if target.get("over", OVER[0]) not in OVER:
            parser.error(f"{file}: target {number} has `over = '{target['over']}'`; give one of {', '.join(OVER)}, or nothing")
        if ("peers" in target) != (target.get("over") == "peers"):
            parser.error(f"{file}: target {number}: `peers` belongs to `over = \"peers\"`")
        target.setdefault("figure", "seconds")
        target.setdefault("over", None)
        target.setdefault("peers", "none")
        target.setdefault("repetitions", 5)
    return found


def command_of(given, target, benchmark):
    """The command that measures a row of the table. Equal commands are run once."""
    if target["figure"] == "memory":
        return [sys.executable, str(FOLDER / "memory-bound.py"), "--programs", str(given.programs), "--workers",
                str(target["workers"]), "--json", *(["--rounds", "1"] if given.quick else [])]
    workers = sorted({1, target["workers"]}) if target["over"] == "one worker" else [target["workers"]]
    return [str(given.programs / "sukima"), "bench", benchmark, "--workers", ",".join(map(str, workers)), "--peers",
            target["peers"], "--repetitions", str(1 if given.quick else target["repetitions"]), "--json"]


def name_of(command):
    """The key of a command's rows among the results: the same wherever the programs are."""
    return " ".join(pathlib.Path(word).name for word in command)


def each(given):
    """Each target with each of its benchmarks."""
    return [(target, benchmark) for target in given.targets for benchmark in target["benchmarks"]]


def measure(given, measurements):
    """Runs the commands whose rows are missing, until the time is up."""
    own = {name: value for name, value in os.environ.items() if name == "SUKIMA_BENCH_DIR"}
    for target, benchmark in each(given):
        command = command_of(given, target, benchmark)
        if name_of(command) in measurements.results:
            continue
        if measurements.is_over():
            return
        with locked(given.lock):
            done = subprocess.run(command, capture_output=True, text=True, check=False, env={**CLEAN, **own})
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        # 1: a peer failed, or the sequential program is not the fastest; the other rows are right.
        if done.returncode not in (0, 1) or not rows:
            give_up(f"{' '.join(command)} ended with code {done.returncode}: {done.stderr.strip()}")
        if done.returncode != 0:
            print(f"targets.py: {benchmark}: {done.stderr.strip()}", file=sys.stderr)
        measurements.results[name_of(command)] = rows
        measurements.keep()


def figure_in(row, figure):
    """A figure of a row of sukima bench."""
    if figure == "seconds":
        return row["seconds"]["median"]
    if figure == "worst":
        return row["seconds"]["max"]
    return row.get(figure)


def value_of(target, benchmark, rows):
    """The figure to compare with the bound; None if something that it needs was not measured."""
    if target["figure"] == "memory":
        return next((row["ratio"] for row in rows if row["benchmark"] == benchmark), None)

    def best(chosen):
        found = [figure_in(row, target["figure"]) for row in rows if chosen(row)]
        return min((value for value in found if value is not None), default=None)

    def of_sukima(workers):
        return best(lambda row: row["system"] == "sukima" and row["workers"] == workers)

    value = of_sukima(target["workers"])
    divisor = {
        None: lambda: 1,
        "workers": lambda: target["workers"],
        "sequential": lambda: best(lambda row: row["system"] == "sequential"),
        "peers": lambda: best(lambda row: row["system"] not in ("sequential", "sukima") and
                              row["workers"] == target["workers"]),
        "median": lambda: min((row["seconds"]["median"] for row in rows if row["system"] == "sukima"
                               and row["workers"] == target["workers"]), default=None),
        "one worker": lambda: of_sukima(1),
    }[target["over"]]()
    if not value or not divisor:
        return None
    return divisor / value if target["over"] == "one worker" else value / divisor


def shown(target, value):
    """A figure or a bound, with its unit."""
    if target["figure"] == "memory" or target["over"] not in (None, "workers"):
        return f"{value:.2f}"
    if target["figure"] == "bytes":
        return f"{value / 2**20:.2f} MiB"
    unit, factor = next(((unit, factor) for unit, factor in (("s", 1), ("ms", 1e3)) if value * factor >= 0.1), ("µs", 1e6))
    return f"{value * factor:.3g} {unit}"


def text_of(target, benchmark):
    """A target in words."""
    what = {"seconds": "", "worst": "the slowest repetition ", "cpu_seconds": "CPU ", "bytes": "memory ",
            "memory": "peak memory / (P × S1) "}.get(target["figure"], f"{target['figure']} ")
    than = {"sequential": " × sequential", "median": " × the median", "workers": " a worker", "one worker": " × one worker's speed",
            "peers": f" × the fastest of {target['peers'].replace(',', ', ')}"}.get(target["over"], "")
    sign, bound = ("≤", target["most"]) if "most" in target else ("≥", target["least"])
    workers = f"{target['workers']} worker{'s' if target['workers'] != 1 else ''}"
    return f"`{benchmark}`, {workers}: {what}{sign} {shown(target, bound)}{than}"


def missing_peers(target, rows):
    """The peers of a measured target that have no row: not built, or too slow."""
    wanted = set(target["peers"].split(",")) - {"none"}
    return wanted - {row["system"] for row in rows} if wanted and rows else set()


def lines_of(results, given):
    """The table, and how many targets are reached, missed and not measured."""
    without = set()
    lines, count = ["| target | measured | |", "| --- | ---: | --- |"], {"reached": 0, "missed": 0, "not measured": 0}
    for target, benchmark in each(given):
        rows = results.get(name_of(command_of(given, target, benchmark)), [])
        value = value_of(target, benchmark, rows)
        without |= {f"{peer} in {benchmark}" for peer in missing_peers(target, rows)}
        if value is None:
            verdict = "not measured"
        else:
            verdict = "reached" if value <= target.get("most", value) and value >= target.get("least", value) else "missed"
        count[verdict] += 1
        lines.append(f"| {text_of(target, benchmark)} | {'—' if value is None else shown(target, value)} | "
                     f"{f'**{verdict}**' if verdict == 'missed' else verdict} |")
    summary = ", ".join(f"{number} {verdict}" for verdict, number in count.items() if number)
    return lines, summary + (f"; without {', '.join(sorted(without))}" if without else "")


def machine():
    """The CPUs, in words."""
    with open("/proc/cpuinfo", encoding="utf-8") as facts:
        models = [line.partition(":")[2].strip() for line in facts if line.startswith("model name")]
    return f"{CPUS} CPUs{f' ({models[0]})' if models else ''}"


def write_page(file, table, summary):
    """Replaces the text from the heading to the end of the first table below it."""
    lines = file.read_text(encoding="utf-8").splitlines()
    if HEADING not in lines:
        give_up(f"{file} has no line '{HEADING}'")
    begin = lines.index(HEADING) + 1
    first = next((i for i in range(begin, len(lines)) if lines[i].startswith("|")), None)
    if first is None:
        give_up(f"{file} has no table below '{HEADING}'")
    end = next((i for i in range(first, len(lines)) if not lines[i].startswith("|")), len(lines))
    day = datetime.date.today()
    lines[begin:end] = ["", "    $ lab/scripts/targets.py --programs build/release/bin --results targets.json --page docs/benchmarks.md", "",
                        f"{summary}: measured on {day.day} {day:%B %Y} with {machine()}.", "", *table]
    resumed.replace_text(file, "\n".join(lines) + "\n")


def show(results, given):
    table, summary = lines_of(results, given)
    print("\n".join(table), f"\n{summary}", sep="\n")
    if given.page:
        write_page(given.page, table, summary)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    resumed.add_arguments(parser)
    parser.add_argument("--targets", type=pathlib.Path, default=FOLDER / "targets.toml", help="[lab/scripts/targets.toml]")
    parser.add_argument("--page", type=pathlib.Path, help="the page whose table is replaced")
    parser.add_argument("--quick", action="store_true", help="one repetition of each; writes no page")
    given = parser.parse_args()
    if given.quick and given.page:
        parser.error("--quick measures nothing that --page may publish; give one of them")
    given.targets = read_targets(parser, given.targets)
    resumed.run(given, measure, show, ("sukima",))


if __name__ == "__main__":
    main()
