#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""OpenMP under overcommit: the default, the best fixed setting and `sukima run`, in a table.

Runs the NAS kernels (bench-npb-…, or other programs) alone, beside busy loops, in several copies and under quotas, with
each number of threads and both wait policies, and prints medians in seconds. What is measured is kept in a file, and
not measured again when the script is called again with it.

    openmp-table.py --programs build/release/bin --results table.json --programs-to-run "cg A" "lu W" --places alone hogs:2
"""
import argparse
import contextlib
import fcntl
import json
import os
import pathlib
import select
import shutil
import statistics
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "clients"))
from quota_group import QuotaGroup  # noqa: E402

CPUS = len(os.sched_getaffinity(0))
PLACES = ["alone", "hogs:1", "hogs:2", "copies:2", "copies:4", "quota:1.0", "quota:0.5"]
CLEAN = {name: value for name, value in os.environ.items()
         if not name.startswith(("OMP_", "GOMP_", "KMP_", "SUKIMA_", "LD_PRELOAD"))}
OWN = "sukima run"
# A fixed setting whose fastest run of two is slower than the best median by this factor cannot win any more.
OUT_OF_THE_RACE = 1.3
# One run says less, and so does one that was stopped.
OUT_AT_ONCE = 1.6
# Runs of the default: how slow it is matters, not which of two numbers is better.
DEFAULT_REPETITIONS = 2


def fixed_settings():
    """Name and variables of each number of threads with both wait policies; the likely winners come first."""
    for policy in ("passive", "active"):
        for threads in sorted(range(1, 2 * CPUS + 1), key=lambda k: (abs(k - CPUS), k)):
            yield f"{threads} {policy}", {"OMP_NUM_THREADS": str(threads), "OMP_WAIT_POLICY": policy}


def settings(given):
    """Name, variables and prefix of each way to start a program."""
    yield OWN, {}, ["run", "--"]
    for name, variables in fixed_settings():
        yield name, variables, []
    for asked in given.asked:
        yield f"asked {asked}", {"OMP_NUM_THREADS": str(asked)}, []
    for text in given.also:
        name, _, variables = text.partition(":")
        yield name, dict(variable.split("=", 1) for variable in variables.split(",")), []


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=pathlib.Path, required=True, help="folder of sukima, bench-npb-… and bench-hog")
    parser.add_argument("--results", type=pathlib.Path, required=True, help="file that keeps what was measured")
    parser.add_argument("--compiler", choices=("gcc", "clang"), default="gcc", help="libgomp or libomp")
    parser.add_argument("--programs-to-run", nargs="+", default=["cg A", "ua W", "ep W", "bt W", "sp W", "lu W"], metavar="PROGRAM",
                        help='kernel and class, such as "cg A", or a command')
    parser.add_argument("--places", nargs="+", default=PLACES, help=" ".join(PLACES))
    parser.add_argument("--asked", nargs="*", type=int, default=[CPUS, 16], help="threads that the default asks for")
    parser.add_argument("--also", nargs="*", default=[], metavar="NAME:VARIABLE=VALUE,…", help="further settings, for comparison")
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--limit", type=float, default=20, help="seconds after which a run counts as that long")
    parser.add_argument("--again", action="store_true", help=f"forget what was measured of {OWN}")
    parser.add_argument("--lock", type=pathlib.Path, help="file to lock exclusively while a run is measured")
    parser.add_argument("--stop-after", type=float, default=1e9, help="seconds; call again to go on")
    parser.add_argument("--table-only", action="store_true", help="measure nothing")
    given = parser.parse_args()
    for place in given.places:
        kind, _, number = place.partition(":")
        if kind not in ("alone", "hogs", "copies", "quota") or (kind != "alone" and not number):
            parser.error(f"'{place}' is no place: choose of {' '.join(PLACES)}")
    return given


def command_of(program, given):
    """The words that start a program."""
    kernel = given.programs / f"bench-npb-{given.compiler}"
    words = program.split()
    return [str(kernel), *words] if len(words) == 2 and len(words[1]) == 1 else words


def run_copies(command, copies, environment, limit, enter):
    """Seconds until the last of the copies has ended, or the limit."""
    begin = time.monotonic()
    running = [subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment,
                                preexec_fn=enter) for _ in range(copies)]
    codes = []
    for process in running:
        # Popen.wait with a limit looks every 50 ms only.
        end = os.pidfd_open(process.pid)
        ready, _, _ = select.select([end], [], [], max(limit - (time.monotonic() - begin), 0.001))
        os.close(end)
        if not ready:
            process.kill()
            process.wait()
        else:
            codes.append(process.wait())
    seconds = min(time.monotonic() - begin, limit)
    wrong = [code for code in codes if code != 0]
    if wrong:
        sys.exit(f"openmp-table.py: {' '.join(command)} ended with code {wrong[0]}")
    return seconds


@contextlib.contextmanager
def place(name, given):
    """Makes a place: gives the number of copies, and what enters the group."""
    kind, _, number = name.partition(":")
    hogs = []
    with contextlib.ExitStack() as stack:
        enter = None
        if kind == "hogs":
            hog = str(given.programs / "bench-hog")
            hogs = [subprocess.Popen([hog], stdout=subprocess.DEVNULL) for _ in range(int(number))]
            time.sleep(0.3)
            if any(process.poll() is not None for process in hogs):
                sys.exit(f"openmp-table.py: {hog} does not run")
        if kind == "quota":
            group = stack.enter_context(QuotaGroup(float(number)))
            if group.folder is None:
                sys.exit(f"openmp-table.py: no quota, because {group.why_not}")
            enter = group.enter
        try:
            yield int(number) if kind == "copies" else 1, enter
        finally:
            for process in hogs:
                process.kill()
                process.wait()


@contextlib.contextmanager
def locked(file):
    if file is None:
        yield
        return
    with open(file, "a", encoding="utf-8") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    time.sleep(0.02)  # whoever else waits gets it now


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


def measure_cell(program, where, cell, given, keep, is_over):
    """Rounds of all settings that are still in the race, so that a slow drift meets all of them."""
    while True:
        waiting = [one for one in settings(given) if not has_enough(one[0], cell, given)]
        if not waiting:
            return
        fewest = min(len(cell.get(name, [])) for name, _, _ in waiting)
        for name, variables, prefix in waiting:
            if len(cell.get(name, [])) > fewest:
                continue
            if is_over():
                return
            _, best = best_fixed(cell)
            limit = min(given.limit, max(1.0, 2.5 * best)) if is_fixed(name) else given.limit
            with locked(given.lock), place(where, given) as (copies, enter):
                command = [*([str(given.programs / "sukima"), *prefix] if prefix else []), *command_of(program, given)]
                seconds = run_copies(command, copies, {**CLEAN, **variables}, limit, enter)
            cell.setdefault(name, []).append(round(seconds, 4))
            keep()


def measure(given, results):
    begin = time.monotonic()

    def keep():
        temporary = given.results.with_suffix(".new")
        temporary.write_text(json.dumps(results, indent=1), encoding="utf-8")
        temporary.replace(given.results)

    def is_over():
        return time.monotonic() - begin > given.stop_after

    for program in given.programs_to_run:
        for where in given.places:
            cell = results.setdefault(f"{given.compiler}: {program}: {where}", {})
            if given.again:
                cell.pop(OWN, None)
            measure_cell(program, where, cell, given, keep, is_over)


def table(results, given):
    asked = "".join(f" {count} asked |" for count in given.asked)
    print(f"| program | place |{asked} best fixed | | {OWN} | of the best | of the best k <= {CPUS} |")
    print(f"| --- | --- |{' ---: |' * len(given.asked)} ---: | --- | ---: | ---: | ---: |")
    ratios, near = [], []
    for cell_name, cell in results.items():
        best, seconds = best_fixed(cell)
        if not cell.get(OWN) or best is None:
            continue
        own = statistics.median(cell[OWN])
        ratios.append(own / seconds)
        near.append(own / best_fixed(cell, CPUS)[1])
        compiler, program, where = cell_name.split(": ")
        asked = ""
        for count in given.asked:
            runs = cell.get(f"asked {count}", [])
            asked += f" {'> ' if runs and min(runs) >= given.limit else ''}{statistics.median(runs):.2f} |" if runs else " |"
        print(f"| {program} ({compiler}) | {where} |{asked} {seconds:.2f} | {best} | {own:.2f} | {ratios[-1]:.2f} | {near[-1]:.2f} |")
    for name, values in (("the best", ratios), (f"the best k <= {CPUS}", near)):
        if values:
            good = sum(value <= 1.10 for value in values)
            print(f"\nwithin 1.10 of {name} in {good} of {len(values)} cells, at most {max(values):.2f}")


def main():
    given = arguments()
    results = json.loads(given.results.read_text(encoding="utf-8")) if given.results.exists() else {}
    if not given.table_only:
        for needed in ("sukima", "bench-hog"):
            if not shutil.which(str(given.programs / needed)):
                sys.exit(f"openmp-table.py: there is no {needed} in {given.programs}: build it, or give --programs")
        measure(given, results)
    table(results, given)


if __name__ == "__main__":
    main()
