#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tables of sukima-simulated-lab, and its messages about wrong options: laboratory_command_test.py PROGRAM"""
import json
import subprocess
import sys

PROGRAM = sys.argv[1]
SMALL = ["--vcpus", "4", "--cpus", "4", "--rounds", "2", "--nodes", "100"]


def run(*options):
    return subprocess.run([PROGRAM, *SMALL, *options], capture_output=True, encoding="utf-8", timeout=500)


def check(holds, claim):
    if not holds:
        raise SystemExit(f"does not hold: {claim}")


def rows(text):
    """{(machines, policy): (time, time for each machine, compared with the ideal, % without work)}"""
    lines = [line.split() for line in text.splitlines()[3:]]
    return {(int(line[0]), line[1]): tuple(float(number) for number in line[2:6]) for line in lines}


def ask(*options):
    return subprocess.run([PROGRAM, *options], capture_output=True, encoding="utf-8", timeout=500)


def check_experiments():
    listed = json.loads(ask("--list", "--json").stdout)["experiments"]
    names = [one["name"] for one in listed]
    check({"waiting", "sharing", "affinity", "policies"} <= set(names), f"the list has the experiments: {names}")
    check([line.split(":")[0] for line in ask("--list").stdout.splitlines()] == names, "both lists have the same names")
    text = ask("--experiment", "measured", "--json").stdout
    found = json.loads(text)
    times = {tuple(row[:4]): float(row[4]) for row in found["rows"]}
    alone = times["lack-slowdown", "bt", "all-threads", "alone"]
    check(times["lack-slowdown", "bt", "all-threads", "share-2"] > 20 * alone, "copies of BT that poll lose slices")
    check(times["lack-slowdown", "bt", "static-rule", "share-2"] < 2.2 * alone, "the static rule cures that")
    wrong = ask("--experiment", "nothing")
    check(wrong.returncode == 2 and "'nothing'" in wrong.stderr and "sharing" in wrong.stderr,
          f"a wrong experiment is named, and the choice: {wrong.stderr}")
    check(ask("--json").returncode == 2, "exit code 2 for --json alone")
    check(ask("--list", "--machines", "2").returncode == 2, "exit code 2 for options that the list does not take")
    with open("/dev/full", "wb") as full:
        unwritten = subprocess.run([PROGRAM, "--list"], stdout=full, stderr=subprocess.PIPE, encoding="utf-8", timeout=500)
    check((unwritten.returncode, unwritten.stderr) ==
          (1, "sukima-simulated-lab: the output could not be written to standard output\n"),
          f"a full disk is reported: {unwritten}")


def main():
    options = ["--machines", "1,2", "--policy", "adaptive", "--policy", "spin,lock=block"]
    first = run(*options)
    check(first.returncode == 0, f"exit code 0: {first.stderr}")
    check(first.stdout.startswith("simulated: "), "the table says that it is simulated")
    check(run(*options).stdout == first.stdout, "the same options print the same text")
    table = rows(first.stdout)
    check(set(table) == {(m, p) for m in (1, 2) for p in ("adaptive", "spin,lock=block")}, "a row for each cell")
    for (machines, policy), (time, each, slower, idle) in table.items():
        where = f"{machines} machines, {policy}"
        check(abs(time / machines - each) < 0.001, f"the time of each machine: {where}")
        check(slower >= 1, f"no run is faster than the work on all CPUs: {where}")
        check(0 <= idle < 100, f"CPU time without work: {where}")
    check_experiments()
    wrong = run("--policy", "sometimes")
    check(wrong.returncode == 2 and "sometimes" in wrong.stderr, f"a wrong policy is named: {wrong.stderr}")
    check(run("--machines", "0").returncode == 2, "exit code 2 for a wrong number")
    wrong = run("--siblings", "sideways")
    check(wrong.returncode == 2 and "sideways" in wrong.stderr and "together" in wrong.stderr, f"the choice of rules: {wrong.stderr}")


main()
