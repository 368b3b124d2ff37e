#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares two programs for several nodes with the same programs written for MPI: the table of docs/cluster.md.

    beside-mpi.py [--build FOLDER] [--nodes N] [--rounds N] [--queens N] [--tree NUMBER]

Runs lab/benchmarks/cluster/beside_mpi on N processes of this machine, with one worker or rank each: by `sukima cluster
run` over TCP, with and without --hope, and by the mpirun of each installed MPI. All run once in each round.
Build the targets sukima, sukima-cluster and beside-mpi before. Prints for each problem
    lines       lines of the program, without blank lines and comments
    time        seconds from the start of the launcher to its end: the median, and the quartiles
    CPU time    of all processes, in seconds: in the same way
    ratio       of the time to that of the first MPI in the same round: in the same way
Exit code 1: results differ.
"""
import argparse
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SOURCES = ROOT / "lab/benchmarks/cluster/beside_mpi"
MPIS = {"openmpi": ("Open MPI", ["mpirun.openmpi", "--oversubscribe", "--bind-to", "none"]),
        "mpich": ("MPICH", ["mpirun.mpich"])}
ENVIRONMENT = {**os.environ, "SUKIMA_WORKERS": "1", "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def give_up(sentence, code=2):
    print(f"beside-mpi.py: {sentence}", file=sys.stderr)
    sys.exit(code)


def lines_of(source):
    lines = (line.strip() for line in (SOURCES / source).read_text(encoding="utf-8").splitlines())
    return sum(1 for line in lines if line and not line.startswith("//"))


def ways(build, nodes, problem):
    """How the problem is run, as name, lines of code, and command."""
    programs = build / "bin/beside-mpi"
    found = [(name, lines_of(f"{problem}_mpi.cpp"), [*mpirun, "-n", str(nodes), str(programs / f"{problem}-{kind}")])
             for kind, (name, mpirun) in MPIS.items()
             if shutil.which(mpirun[0]) and (programs / f"{problem}-{kind}").exists()]
    for name, options in (("Sukima", []), ("Sukima with --hope", ["--hope"])):
        found.append((name, lines_of(f"{problem}_sukima.cpp"),
                      [str(build / "bin/sukima"), "cluster", "run", *options, "-n", str(nodes), "--",
                       str(programs / f"{problem}-sukima")]))
    return found


def measure(command, size):
    """The result, and the seconds of time and of CPU time."""
    begin = time.monotonic()
    with subprocess.Popen([*command, str(size)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                          env=ENVIRONMENT) as running:
        output = running.stdout.read()
        _, status, used = os.wait4(running.pid, 0)
        running.returncode = os.waitstatus_to_exitcode(status)
    took = time.monotonic() - begin
    if running.returncode != 0 or not re.fullmatch(r"\d+\n", output):
        give_up(f"{' '.join(command)} {size} ended with status {running.returncode} and printed {output!r}", 1)
    return int(output), took, used.ru_utime + used.ru_stime


def spread(values, digits):
    """The median, and the quartiles."""
    if len(values) < 2:
        return f"{values[0]:.{digits}f}"
    first, middle, third = statistics.quantiles(values, n=4, method="inclusive")
    return f"{middle:.{digits}f} ({first:.{digits}f}–{third:.{digits}f})"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release", help="[build/release]")
    parser.add_argument("--nodes", type=int, default=4, help="[4]")
    parser.add_argument("--rounds", type=int, default=5, help="[5]")
    parser.add_argument("--queens", type=int, default=16, help="on how large a board [16]")
    parser.add_argument("--tree", type=int, default=11, help="number of the tree: 11 is T1L [11]")
    given = parser.parse_args()
    if given.nodes < 1 or given.rounds < 1:
        give_up("--nodes and --rounds are at least 1")
    if not (given.build / "bin/beside-mpi").is_dir():
        give_up(f"there is no {given.build / 'bin/beside-mpi'}; build the target beside-mpi, which needs an MPI")
    problems = {"queens": given.queens, "uts": given.tree}
    all_ways = {problem: ways(given.build, given.nodes, problem) for problem in problems}
    figures = {(problem, name): [] for problem in problems for name, _, _ in all_ways[problem]}
    for number in range(given.rounds):
        for problem, size in problems.items():
            results = set()
            for name, _, command in all_ways[problem][::1 if number % 2 == 0 else -1]:
                result, *seconds = measure(command, size)
                results.add(result)
                figures[problem, name].append(seconds)
            if len(results) != 1:
                give_up(f"{problem} {size} has the results {sorted(results)}", 1)
    print(f"{given.nodes} processes with one worker each, {os.cpu_count()} CPUs, {given.rounds} rounds\n")
    print("| program | lines | time | CPU time | ratio |\n| --- | ---: | ---: | ---: | ---: |")
    for problem, size in problems.items():
        first = [took for took, _ in figures[problem, all_ways[problem][0][0]]]
        for name, lines, _ in all_ways[problem]:
            took, used = zip(*figures[problem, name])
            ratios = [mine / base for mine, base in zip(took, first)]
            print(f"| {problem} {size}, {name} | {lines} | {spread(took, 2)} s | {spread(used, 2)} s | {spread(ratios, 2)} |")


if __name__ == "__main__":
    main()
