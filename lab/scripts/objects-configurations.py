#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks whether the model that is predicted to be the best is the best one, with the paper's program in 24 configurations.

The program is examples/objects_offices.cpp: 2 and 4 offices (the groups), 1, 2 and 4 clients in each, two numbers of rounds,
on one CPU and on two. For each `sukima objects validate` records it, plans it, runs it under each model, and says how
much longer the model that was predicted to be best took than the one that was. Within 5 % counts as right; at least 85 %
of the configurations must be. Needs the costs of this machine: sukima calibrate, sukima objects calibrate.

With --graphs the programs are the shapes of tests/objects/graphs_program.cpp instead: pipelines, a ring, fans, brokers,
large messages, and objects that wait in the operating system.
"""
import argparse
import itertools
import json
import os
import pathlib
import subprocess
import sys
import tempfile

RIGHT = 1.05
LEAST_SHARE = 0.85
OFFICES = (2, 4)
CLIENTS = (1, 2, 4)
# The fastest models must run for some ten milliseconds, because otherwise their start dominates.
ROUNDS = (20000, 60000)
CPUS = (1, 2)
# For each shape, the number of messages that take some ten milliseconds under the fastest model.
GRAPHS = (("even-cheap", 500000), ("even", 4000), ("uneven", 4000), ("ring", 2000), ("fan", 8000), ("fan-cheap", 300000),
          ("broker", 30000), ("broker-busy", 600), ("large", 8000), ("sleepers", 400))


def give_up(text):
    print(f"objects-configurations.py: {text}", file=sys.stderr)
    sys.exit(2)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sukima", type=pathlib.Path, required=True, help="the program sukima")
    program = parser.add_mutually_exclusive_group(required=True)
    program.add_argument("--program", type=pathlib.Path, help="examples/objects_offices.cpp, built")
    program.add_argument("--graphs", type=pathlib.Path, help="tests/objects/graphs_program.cpp, built")
    parser.add_argument("--cpus", type=int, nargs="+", metavar="N", help="numbers of CPUs [1 2]")
    parser.add_argument("--quick", action="store_true", help="one run under each model, not five")
    parser.add_argument("--rounds", type=int, nargs="+", default=ROUNDS, metavar="N", help="numbers of rounds")
    parser.add_argument("--calibrate", action="store_true", help="measure the costs of this machine first, for this run only")
    parser.add_argument("--lock", type=pathlib.Path, help="a command to put before each measurement")
    parser.add_argument("--csv", type=pathlib.Path, help="also write the rows to this file")
    return parser.parse_args()


def calibrate(given, folder):
    """Measures the costs of this machine; the profile is in the folder and not in the user's cache."""
    os.environ["XDG_CACHE_HOME"] = folder
    for words in (["calibrate"], ["objects", "calibrate"]):
        command = [str(part) for part in ([given.lock] if given.lock else []) + [given.sukima, *words]]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            give_up(f"'{' '.join(command)}' ended with code {done.returncode}: {done.stderr.strip()}")


def validate(given, cpus, arguments):
    """The report of `sukima objects validate`, on the first CPUs that this process may use."""
    usable = sorted(os.sched_getaffinity(0))
    command = [given.sukima, "objects", "validate", "--json", *(["--quick"] if given.quick else []), "--",
               given.program or given.graphs, *map(str, arguments)]
    if given.lock:
        command.insert(0, given.lock)
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False,
                          preexec_fn=lambda: os.sched_setaffinity(0, usable[:cpus]))
    if done.returncode != 0:
        give_up(f"'{' '.join(map(str, command))}' ended with code {done.returncode}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def row_of(cpus, arguments, answer):
    """The figures of one configuration."""
    best = min(answer["models"], key=lambda one: one["measured_ns"])
    row = {"cpus": cpus, "program": " ".join(map(str, arguments)), "best": best["model"]}
    for source in ("simulation", "paper"):
        row[source] = answer[source]["chosen"]
        row[f"{source}_ratio"] = answer[source]["chosen_over_best"]
        row[f"{source}_tau"] = answer[source]["tau"]
    return row


def share_right(rows, source):
    return sum(row[f"{source}_ratio"] <= RIGHT for row in rows) / len(rows)


def print_rows(rows):
    print(f"{'CPUs':>4} {'program':<20} {'fastest measured':<20} "
          f"{'simulation chose':<20} {'/ best':>6}  {'formula chose':<20} {'/ best':>6}")
    for row in rows:
        print(f"{row['cpus']:>4} {row['program']:<20} {row['best']:<20} "
              f"{row['simulation']:<20} {row['simulation_ratio']:>6.2f}  {row['paper']:<20} {row['paper_ratio']:>6.2f}")


def print_verdict(rows):
    """Returns whether the simulation is right often enough."""
    for source, name in (("simulation", "The simulation"), ("paper", "The paper's formula")):
        wrong = [row for row in rows if row[f"{source}_ratio"] > RIGHT]
        print(f"{name} chose the best model, or one within 5 %, in {len(rows) - len(wrong)} of {len(rows)} "
              f"configurations.")
        for chosen, best in sorted({(row[source], row["best"]) for row in wrong}):
            times = [row[f"{source}_ratio"] for row in wrong if (row[source], row["best"]) == (chosen, best)]
            print(f"  It chose {chosen} where {best} was the best: {len(times)} times, up to {max(times):.2f} times its time.")
    return share_right(rows, "simulation") >= LEAST_SHARE


def write_csv(path, rows):
    lines = [",".join(rows[0])] + [",".join(map(str, row.values())) for row in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main():
    given = parse_arguments()
    usable = len(os.sched_getaffinity(0))
    if given.cpus is None:
        given.cpus = [cpus for cpus in CPUS if cpus <= usable]
        if len(given.cpus) < len(CPUS):
            print(f"objects-configurations.py: only with up to {usable} CPUs, which this process may use", file=sys.stderr)
    for cpus in given.cpus:
        if not 1 <= cpus <= usable:
            give_up(f"--cpus {cpus} is not possible: this process may use {usable} CPUs")
    for program in (given.sukima, given.program or given.graphs):
        if not program.is_file():
            give_up(f"there is no program {program}: build it first")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        if given.calibrate:
            calibrate(given, folder)
        configurations = GRAPHS if given.graphs else list(itertools.product(OFFICES, CLIENTS, given.rounds))
        for cpus, arguments in itertools.product(given.cpus, configurations):
            rows.append(row_of(cpus, arguments, validate(given, cpus, arguments)))
    print_rows(rows)
    if given.csv:
        write_csv(given.csv, rows)
    return 0 if print_verdict(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
