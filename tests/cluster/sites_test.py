#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two sites of two nodes beside one process with two workers: sites_test.py BENCH_CLUSTER [ROUNDS PROGRAM SIZE]

A line with a delay joins the sites. The verdict is a time, so the label is measure. With the optional arguments it only
prints the times.
"""
import os
import statistics
import subprocess
import sys
import unittest
from pathlib import Path

from machines import obstacle, two_sites
from nodes import Meeting, end, tasks_given

PROGRAMS = str(Path(sys.argv[1]).resolve())
ROUNDS, WORDS = (int(sys.argv[2]), sys.argv[3:5]) if len(sys.argv) == 5 else (3, ["nqueens-array", "16"])  # 20 s
JUDGED = len(sys.argv) != 5
del sys.argv[1:]
#: The delay of one direction, and the most that the sites may take, times one process.
BARS = {0.001: 1.05, 0.010: 1.10, 0.100: 1.35}
PORT = 4000


def seconds(errors):
    return float(errors.split(" s, ")[0])


def alone():
    ended = subprocess.run([PROGRAMS, *WORDS], capture_output=True, text=True, check=True,
                           env={**os.environ, "SUKIMA_WORKERS": "2"})
    return ended.stdout, seconds(ended.stderr)


def at_two_sites(delay):
    with two_sites(delay) as machines, Meeting(4) as meeting:
        nodes = [meeting.start(node, *machines[node // 2].inside(PROGRAMS, *WORDS), listens=False,
                               SUKIMA_CLUSTER_ADDRESS=f"10.78.0.1:{PORT}") for node in range(4)]
        ends = [end(node) for node in nodes]
    for _, errors, status in ends:
        if status != 0:
            raise AssertionError(errors)
    return ends[0][0], seconds(ends[0][1]), sum(sum(tasks_given(errors)) for _, errors, _ in ends)


def spread(values):
    """The median, and the quartiles."""
    first, middle, third = statistics.quantiles(values, n=4, method="inclusive") if len(values) > 1 else 3 * values
    return f"{middle:.2f} ({first:.2f}–{third:.2f})"


class two_sites_of_two_nodes(unittest.TestCase):
    def test_are_fast_enough(self):
        bases, found_at = [], {delay: [] for delay in BARS}
        for _ in range(ROUNDS):
            result, base = alone()
            bases.append(base)
            for delay in BARS:
                found, took, given = at_two_sites(delay)
                self.assertEqual(found, result)
                found_at[delay].append((took, took / base, given))
                print(f"{1000 * delay:g} ms: {took:.2f} s, {took / base:.3f} x one process, {given} tasks", flush=True)
        print("| round trip | time | times one process | tasks given |\n| --- | ---: | ---: | ---: |\n"
              f"| one process | {spread(bases)} s | | |")
        for delay, runs in found_at.items():
            took, ratios, given = zip(*runs)
            print(f"| {2000 * delay:g} ms | {spread(took)} s | {spread(ratios)} | {statistics.median(given):g} |", flush=True)
        if JUDGED:
            for delay, most in BARS.items():
                self.assertLessEqual(statistics.median(ratio for _, ratio, _ in found_at[delay]), most, f"{delay} s each way")


if __name__ == "__main__":
    if why := obstacle():
        print(f"no network namespace can be made here: {why}")
        sys.exit(77)
    unittest.main()
