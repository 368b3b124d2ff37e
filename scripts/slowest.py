#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the slowest builds and tests of build folders, and as the last line how many tests passed and failed.

Usage: slowest.py [--count N] FOLDER...

A build is an output in FOLDER/.ninja_log. A test is a testcase in FOLDER/test-results/*.xml, as ctest --output-junit
writes it; where files name the same test, the newest one counts.
"""
import argparse
import pathlib
import re
import sys
import xml.etree.ElementTree


def builds(folder):
    """(seconds, name) of each command in the ninja log; several outputs of one command are one."""
    log = folder / ".ninja_log"
    if not log.is_file():
        return []
    commands = {}
    for line in log.read_text(errors="replace").splitlines():
        fields = line.split("\t")
        if len(fields) == 5:
            begin, end, _, output, command = fields
            name = re.sub(r"CMakeFiles/([^/]+)\.dir/", "", output.removeprefix(f"{folder.resolve()}/"))
            commands[output.removeprefix(f"{folder.resolve()}/")] = (begin, end, command, name)
    seen = {(begin, end, command): name for begin, end, command, name in reversed(commands.values())}
    return [((int(end) - int(begin)) / 1000, name) for (begin, end, _), name in seen.items()]


def tests(folder):
    """{name: (seconds, outcome)}; the outcome is passed, failed or skipped."""
    results = {}
    for file in sorted((folder / "test-results").glob("*.xml"), key=lambda path: path.stat().st_mtime_ns):
        for case in xml.etree.ElementTree.parse(file).iter("testcase"):
            outcome = {"run": "passed", "notrun": "skipped", "disabled": "skipped"}.get(case.get("status"), "failed")
            results[case.get("name")] = (float(case.get("time") or 0), outcome)
    return results


def print_table(title, rows, count):
    """The rows (seconds, name) that take longest, below how many there are."""
    rows = sorted(rows, reverse=True)
    if rows:
        print(f"{title}: {len(rows)}, together {sum(seconds for seconds, _ in rows):.0f} s; the slowest:")
    for seconds, name in rows[:count]:
        print(f"{seconds:8.1f} s  {name}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=12, help="rows of each table [12]")
    parser.add_argument("folders", nargs="+", type=pathlib.Path, metavar="FOLDER")
    given = parser.parse_args()

    outcomes = {"passed": 0, "failed": 0, "skipped": 0}
    failed = []
    for folder in given.folders:
        print_table(f"Builds in {folder}", builds(folder), given.count)
        results = tests(folder)
        print_table(f"Tests in {folder}", [(seconds, name) for name, (seconds, _) in results.items()], given.count)
        for name, (_, outcome) in results.items():
            outcomes[outcome] += 1
            if outcome == "failed":
                failed.append(f"{folder.name}: {name}")
    for name in failed:
        print(f"failed: {name}")
    print(f"{outcomes['passed']} passed, {outcomes['failed']} failed, {outcomes['skipped']} skipped")
    return 0


if __name__ == "__main__":
    sys.exit(main())
