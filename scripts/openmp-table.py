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
import shutil
import statistics
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "clients"))
from quota_group import QuotaGroup  # noqa: E402

CPUS = len(os.sched_getaffinity(0))
PLACES = ["alone", "asked:16", "hogs:1", "hogs:2", "copies:2", "copies:4", "quota:1.0", "quota:0.5"]
CLEAN = {name: value for name, value in os.environ.items()
         if not name.startswith(("OMP_", "GOMP_", "KMP_", "SUKIMA_", "LD_PRELOAD"))}


def settings():
    """Name, variables and prefix of each way to start a program."""
    yield "default", {}, []
    for threads in range(1, 2 * CPUS + 1):
        for policy in ("passive", "active"):
            yield f"{threads} {policy}", {"OMP_NUM_THREADS": str(threads), "OMP_WAIT_POLICY": policy}, []
    yield "sukima run", {}, ["run", "--"]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=pathlib.Path, required=True, help="folder of sukima, bench-npb-… and bench-hog")
    parser.add_argument("--results", type=pathlib.Path, required=True, help="file that keeps what was measured")
    parser.add_argument("--compiler", choices=("gcc", "clang"), default="gcc", help="libgomp or libomp")
    parser.add_argument("--programs-to-run", nargs="+", default=["cg A", "ep S", "lu W", "bt W", "sp W"], metavar="PROGRAM",
                        help='kernel and class, such as "cg A", or a command')
    parser.add_argument("--places", nargs="+", default=PLACES, help=" ".join(PLACES))
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--limit", type=float, default=20, help="seconds after which a run counts as that long")
    parser.add_argument("--lock", type=pathlib.Path, help="file to lock exclusively while a repetition is measured")
    parser.add_argument("--stop-after", type=float, default=1e9, help="seconds; call again to go on")
    parser.add_argument("--table-only", action="store_true", help="measure nothing")
    given = parser.parse_args()
    for place in given.places:
        kind, _, number = place.partition(":")
        if kind not in ("alone", "asked", "hogs", "copies", "quota") or (kind != "alone" and not number):
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
        try:
            codes.append(process.wait(max(limit - (time.monotonic() - begin), 0.01)))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    seconds = min(time.monotonic() - begin, limit)
    wrong = [code for code in codes if code != 0]
    if wrong:
        sys.exit(f"openmp-table.py: {' '.join(command)} ended with code {wrong[0]}")
    return seconds


@contextlib.contextmanager
def place(name, given):
    """Makes a place: gives the number of copies, further variables for the default, and what enters the group."""
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
            yield int(number) if kind == "copies" else 1, number if kind == "asked" else "", enter
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


def measure(given, results):
    """One repetition of all settings of a cell after the other, so that a slow drift meets all of them."""
    begin = time.monotonic()
    for repetition in range(given.repetitions):
        for program in given.programs_to_run:
            for where in given.places:
                cell = results.setdefault(f"{given.compiler}: {program}: {where}", {})
                for name, variables, prefix in settings():
                    if len(cell.get(name, [])) > repetition:
                        continue
                    # A setting that is hopeless need not be measured again.
                    if len(cell.get(name, [])) > 0 and min(cell[name]) >= given.limit:
                        cell[name].append(given.limit)
                        continue
                    if time.monotonic() - begin > given.stop_after:
                        return
                    with locked(given.lock), place(where, given) as (copies, asked, enter):
                        environment = {**CLEAN, **variables}
                        if asked and name == "default":
                            environment["OMP_NUM_THREADS"] = asked
                        command = [*([str(given.programs / "sukima"), *prefix] if prefix else []),
                                   *command_of(program, given)]
                        seconds = run_copies(command, copies, environment, given.limit, enter)
                    cell.setdefault(name, []).append(round(seconds, 4))
                    temporary = given.results.with_suffix(".new")
                    temporary.write_text(json.dumps(results, indent=1), encoding="utf-8")
                    temporary.replace(given.results)


def table(results):
    print("| program | place | default | best fixed | | `sukima run` | of the best | of the best k <= N |")
    print("| --- | --- | ---: | ---: | --- | ---: | ---: | ---: |")
    ratios, near = [], []
    for cell, times in results.items():
        medians = {name: statistics.median(values) for name, values in times.items() if values}
        fixed = {name: seconds for name, seconds in medians.items() if name[0].isdigit()}
        if "sukima run" not in medians or not fixed:
            continue
        best = min(fixed, key=fixed.get)
        few = min((seconds for name, seconds in fixed.items() if int(name.split()[0]) <= CPUS), default=fixed[best])
        ratios.append(medians["sukima run"] / fixed[best])
        near.append(medians["sukima run"] / few)
        compiler, program, where = cell.split(": ")
        print(f"| {program} ({compiler}) | {where} | {medians.get('default', float('nan')):.2f} | {fixed[best]:.2f} | {best} | "
              f"{medians['sukima run']:.2f} | {ratios[-1]:.2f} | {near[-1]:.2f} |")
    for name, values in (("the best", ratios), ("the best k <= N", near)):
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
    table(results)


if __name__ == "__main__":
    main()
