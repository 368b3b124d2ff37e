#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The cells that were measured on two CPUs, and what sukima-simulated-lab predicts: measured_table.py PROGRAM [--write]

Computes the table of docs/simulation.md, and compares it with the page or writes it there. The measured medians are those of
docs/results-tables.md.
"""
import json
import math
import pathlib
import re
import subprocess
import sys

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"
PAGE = DOCS / "simulation.md"
BEGIN, END = "<!-- measured: begin -->\n", "<!-- measured: end -->\n"
NEAR = 0.15
SECOND = ("again", "with resizing")  # the ends of the names of the tables of the second machine
RUNTIME_PROGRAMS = ("fib", "pentomino", "cmp")


def measured():
    """{(experiment, program, setting, environment): (median, first quartile, third quartile)} in seconds"""
    times, experiment, columns = {}, None, None
    for line in (DOCS / "results-tables.md").read_text().splitlines():
        if match := re.match(r"## ([^:]+)", line):
            experiment, columns = match[1], None
        elif line.startswith("Seconds"):
            columns = []
        elif line.startswith("Measured by"):
            columns = None
        elif line.startswith("| program") and columns == []:
            columns = [cell.strip() for cell in line.strip("|").split("|")][2:]
        elif line.startswith("| ") and columns:
            program, setting, *cells = [cell.strip() for cell in line.strip("|").split("|")]
            for environment, cell in zip(columns, cells):
                times[experiment, program, setting, environment] = tuple(
                    math.inf if number == "stopped" else float(number) for number in re.findall(r"[\d.]+|stopped", cell))
    return times


def is_spread(times):
    """Whether the middle half of a cell's own runs does not lie within 15 % of its median"""
    median, first, third = times
    return max(median - first, third - median) > NEAR * median


def is_second(key):
    return key[0].endswith(SECOND)


def predicted(program):
    text = subprocess.run([program, "--experiment", "measured", "--json"], check=True, stdout=subprocess.PIPE).stdout
    return {tuple(row[:4]): float(row[4]) for row in json.loads(text)["rows"]}


def is_taken(key):
    """Whether the work of the program is taken from the cell, or from one with the same name in another experiment"""
    return key[3] == "fewer-half" and key[2] == ("all-threads" if key[1] in RUNTIME_PROGRAMS else "static-rule")


def cell_text(key, there, here):
    ratio = here / there[0]
    text = f"{here:.3g} / {there[0]:.3g} = {ratio:.2f}" + (" ~" if is_spread(there) else "")
    if is_taken(key):
        return f"({text})"
    return f"**{text}**" if abs(ratio - 1) <= NEAR else text


def summary(machine, judged, there, here):
    def counts(which):
        mine = [key for key in judged if which(key)]
        return f"{sum(abs(here[key] / there[key][0] - 1) <= NEAR for key in mine)} of {len(mine)}"

    kinds = [("on the whole machine", "alone"), ("shared CPUs", "share"), ("a quota", "cap"), ("fewer CPUs", "fewer")]
    return (f"**The {machine} machine: {counts(lambda key: True)} cells are predicted within 15 %**: "
            + ", ".join(f"{name} {counts(lambda key, kind=kind: key[3].startswith(kind))}" for name, kind in kinds)
            + f".\nOf the cells without ~ it is {counts(lambda key: not is_spread(there[key]))}.")


def table(program):
    there, here = measured(), predicted(program)
    keys = [key for key in here if key in there]
    judged = [key for key in keys if not is_taken(key)]
    lines = [summary("first", [key for key in judged if not is_second(key)], there, here), "",
             summary("second", [key for key in judged if is_second(key)], there, here), "",
             "Predictions within 15 % are bold. Cells in parentheses do not count, because the work of the programs is taken\n"
             "from them. In cells with ~ a quarter of the runs or more differ by over 15 % from the median on one side.", ""]
    for experiment in dict.fromkeys(key[0] for key in keys):
        mine = [key for key in keys if key[0] == experiment]
        columns = list(dict.fromkeys(key[3] for key in mine))
        lines += [f"| {experiment} | " + " | ".join(columns) + " |", "| --- |" + " --- |" * len(columns)]
        for program_name, setting in dict.fromkeys(key[1:3] for key in mine):
            cells = [(experiment, program_name, setting, column) for column in columns]
            lines.append(f"| {program_name}, {setting} | "
                         + " | ".join(cell_text(key, there[key], here[key]) for key in cells) + " |")
        lines.append("")
    return "\n".join(lines) + "\n"


def main():
    made = table(sys.argv[1])
    head, rest = PAGE.read_text().split(BEGIN)
    found, tail = rest.split(END)
    if "--write" in sys.argv[2:]:
        PAGE.write_text(head + BEGIN + made + END + tail)
    elif found != made:
        raise SystemExit(f"{PAGE}: the table is another one now; write it with {sys.argv[0]} PROGRAM --write:\n{made}")


main()
