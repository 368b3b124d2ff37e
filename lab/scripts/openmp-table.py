#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""OpenMP under overcommit: the default, the best fixed setting and `sukima run`, in a table.

Runs the NAS kernels (bench-npb-…, or other programs) alone, beside busy loops, in several copies and under quotas, with
each number of threads and both wait policies, and prints medians in seconds. It stores the results in a file. Called again
with that file, it does not repeat these measurements.

    openmp-table.py --programs build/release/bin --results table.json --programs-to-run "cg A" "lu W" --places alone hogs:2
"""
import argparse
import pathlib
import statistics

import resumed
from places import CLEAN, CPUS, check_place, locked, place, run_copies

PLACES = ["alone", "hogs:1", "hogs:2", "copies:2", "copies:4", "quota:1.0", "quota:0.5"]
OWN = "sukima run"
RESIZED = "sukima run --resize unless-asked"
# A fixed setting whose fastest run of two is slower than the best median by this factor cannot win any more.
OUT_OF_THE_RACE = 1.3
# A single run, or a stopped one, says less.
OUT_AT_ONCE = 1.6
# The number of runs of the default. Only its approximate time matters.
DEFAULT_REPETITIONS = 2


def fixed_settings():
    """Name and variables of each number of threads with both wait policies; the likely winners come first."""
    for policy in ("passive", "active"):
        for threads in sorted(range(1, 2 * CPUS + 1), key=lambda k: (abs(k - CPUS), k)):
            yield f"{threads} {policy}", {"OMP_NUM_THREADS": str(threads), "OMP_WAIT_POLICY": policy}


def settings(given):
    """Name, variables and prefix of each way to start a program."""
    yield OWN, {}, ["run", "--"]
    yield RESIZED, {}, ["run", "--resize", "unless-asked", "--"]
    for name, variables in fixed_settings():
        yield name, variables, []
    for asked in given.asked:
        yield f"asked {asked}", {"OMP_NUM_THREADS": str(asked)}, []
    for text in given.also:
        name, _, variables = text.partition(":")
        yield name, dict(variable.split("=", 1) for variable in variables.split(",")), []


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    resumed.add_arguments(parser)
    parser.add_argument("--compiler", choices=("gcc", "clang"), default="gcc", help="libgomp or libomp")
    parser.add_argument("--programs-to-run", nargs="+", default=["cg A", "ua W", "ep W", "bt W", "sp W", "lu W"], metavar="PROGRAM",
                        help='kernel and class, such as "cg A", or a command')
    parser.add_argument("--places", nargs="+", default=PLACES, help=" ".join(PLACES))
    parser.add_argument("--asked", nargs="*", type=int, default=[CPUS, 16], help="threads that the default asks for")
    parser.add_argument("--also", nargs="*", default=[], metavar="NAME:VARIABLE=VALUE,…", help="further settings, for comparison")
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--limit", type=float, default=20, help="seconds after which a run counts as that long")
    parser.add_argument("--again", action="store_true", help=f"forget what was measured of {OWN}")
    given = parser.parse_args()
    for one in given.places:
        check_place(parser, one)
    return given


def command_of(program, given):
    """The command that starts a program."""
    kernel = given.programs / f"bench-npb-{given.compiler}"
    words = program.split()
    return [str(kernel), *words] if len(words) == 2 and len(words[1]) == 1 else words


def is_fixed(name):
    return name.endswith((" passive", " active"))


def best_fixed(cell, most=2 * CPUS):
    """The fixed setting with the lowest median, and that; None and infinity if none was measured."""
    medians = {name: statistics.median(runs) for name, runs in cell.items()
               if runs and is_fixed(name) and int(name.split()[0]) <= most}
    best = min(medians, key=medians.get, default=None)
    return best, medians.get(best, float("inf"))


def has_enough(name, cell, given):
    """Whether a setting need not be measured (again)."""
    runs = cell.get(name, [])
    if name.startswith("asked"):
        return len(runs) >= min(DEFAULT_REPETITIONS, given.repetitions)
    if len(runs) >= given.repetitions:
        return True
    _, best = best_fixed(cell)
    if not is_fixed(name) or not runs:
        return False
    return min(runs) > (OUT_AT_ONCE if len(runs) == 1 else OUT_OF_THE_RACE) * best


def measure_cell(program, where, cell, given, measurements):
    """Runs rounds of all settings that can still be the best, so that a slow drift affects all of them."""
    while True:
        waiting = [one for one in settings(given) if not has_enough(one[0], cell, given)]
        if not waiting:
            return
        fewest = min(len(cell.get(name, [])) for name, _, _ in waiting)
        for name, variables, prefix in waiting:
            if len(cell.get(name, [])) > fewest:
                continue
            if measurements.is_over():
                return
            _, best = best_fixed(cell)
            limit = min(given.limit, max(1.0, 2.5 * best)) if is_fixed(name) else given.limit
            with locked(given.lock), place(where, given.programs) as (copies, enter):
                command = [*([str(given.programs / "sukima"), *prefix] if prefix else []), *command_of(program, given)]
                seconds = run_copies(command, copies, {**CLEAN, **variables}, limit, enter)
            cell.setdefault(name, []).append(round(seconds, 4))
            measurements.keep()


def measure(given, measurements):
    for program in given.programs_to_run:
        for where in given.places:
            cell = measurements.results.setdefault(f"{given.compiler}: {program}: {where}", {})
            if given.again:
                for name in (OWN, RESIZED):
                    cell.pop(name, None)
            measure_cell(program, where, cell, given, measurements)


def table(results, given):
    asked = "".join(f" {count} asked |" for count in given.asked)
    print(f"| program | place |{asked} best fixed | | {OWN} | of the best | of the best k <= {CPUS} | {RESIZED} |")
    print(f"| --- | --- |{' ---: |' * len(given.asked)} ---: | --- | ---: | ---: | ---: | ---: |")
    ratios, near = [], []
    for cell_name, cell in results.items():
        best, seconds = best_fixed(cell)
        if not cell.get(OWN) or best is None:
            continue
        own = statistics.median(cell[OWN])
        ratios.append(own / seconds)
        near.append(own / best_fixed(cell, CPUS)[1])
        compiler, program, where = cell_name.split(": ")
        resized = f"{statistics.median(cell[RESIZED]):.2f}" if cell.get(RESIZED) else ""
        asked = ""
        for count in given.asked:
            runs = cell.get(f"asked {count}", [])
            asked += f" {'> ' if runs and min(runs) >= given.limit else ''}{statistics.median(runs):.2f} |" if runs else " |"
        print(f"| {program} ({compiler}) | {where} |{asked} {seconds:.2f} | {best} | {own:.2f} | {ratios[-1]:.2f} | {near[-1]:.2f} | {resized} |")
    for name, values in (("the best", ratios), (f"the best k <= {CPUS}", near)):
        if values:
            good = sum(value <= 1.10 for value in values)
            print(f"\nwithin 1.10 of {name} in {good} of {len(values)} cells, at most {max(values):.2f}")


if __name__ == "__main__":
    resumed.run(arguments(), measure, table, settings=("limit",))
