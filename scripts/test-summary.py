#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the slowest builds and tests of build folders, what was skipped and why, the end of what failed tests printed,
and as the last line how many tests passed and failed.

Usage: test-summary.py [--count N] [--allowed-skips FILE] [--failed WHAT]... [FOLDER...]

A build is an output in FOLDER/.ninja_log. A test is a testcase in FOLDER/test-results/*.xml, as ctest --output-junit
writes it. If several files name the same test, the newest file counts. A test counts as skipped if GoogleTest or
Python's unittest (with verbosity 2) reports so, or by exit code 77. A test NAME.shard_NUMBER counts as the tests that
GoogleTest lists in FOLDER/test-results/shards/NAME.shard_NUMBER.xml.

With --allowed-skips, a skip for a reason that FILE does not allow counts as a failure. Each line of FILE is a regular
expression that must match "FOLDER: TEST: REASON" from its beginning. Lines that begin with # are comments. The exit
code is 1 if anything failed.
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


def last_words(case, lines=25, columns=200):
    """The end of what a test printed, for readers who see only the end of a long log."""
    text = [line[:columns] for line in (case.findtext("system-out") or "").splitlines() if line.strip()]
    return text[-lines:]


def skips(case, outcome):
    """The (part, reason) of what a test skipped; part is "" for the whole test."""
    text = case.findtext("system-out") or ""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    found = [(test, reason.strip("'\""))
             for test, reason in re.findall(r"^(\w+) \(\S+\)(?:\n.*)? \.\.\. skipped (.*)$", text, re.MULTILINE)]
    if outcome == "skipped":
        reasons = [after for line, after in zip(lines, lines[1:]) if line.endswith(": Skipped")]
        found.append(("", (reasons or lines or ["it is disabled"])[-1]))
    return found


def tests_of_shard(folder, name):
    """As tests(), for one process that ran many tests and wrote this list at its end; empty if it wrote none."""
    file = folder / "test-results" / "shards" / f"{name}.xml"
    if ".shard_" not in name or not file.is_file():
        return {}
    results = {}
    for case in xml.etree.ElementTree.parse(file).iter("testcase"):
        failures = [line for one in case.iter("failure") for line in (one.get("message") or "").splitlines() if line.strip()]
        skipped = case.find("skipped")
        outcome = "failed" if failures else "skipped" if skipped is not None or case.get("status") != "run" else "passed"
        reasons = [] if skipped is None else (skipped.get("message") or "").splitlines()[1:]
        results[f"{name.partition('.shard_')[0]}.{case.get('classname')}.{case.get('name')}"] = (
            float(case.get("time") or 0), outcome,
            [("", (reasons or ["it is disabled"])[-1])] if outcome == "skipped" else [], failures[-25:])
    return results


def tests(folder):
    """{name: (seconds, outcome, skips, last words of a failure)}; the outcome is passed, failed or skipped."""
    results = {}
    for file in sorted((folder / "test-results").glob("*.xml"), key=lambda path: path.stat().st_mtime_ns):
        for case in xml.etree.ElementTree.parse(file).iter("testcase"):
            outcome = {"run": "passed", "notrun": "skipped", "disabled": "skipped"}.get(case.get("status"), "failed")
            inner = tests_of_shard(folder, case.get("name"))
            if inner and (outcome == "passed" or any(one[1] == "failed" for one in inner.values())):
                results.update(inner)
                continue
            results[case.get("name")] = (float(case.get("time") or 0), outcome, skips(case, outcome),
                                         last_words(case) if outcome == "failed" else [])
    return results


def print_table(title, rows, count):
    """The rows (seconds, name) that take longest, below how many there are."""
    rows = sorted(rows, reverse=True)
    if rows:
        print(f"{title}: {len(rows)}, together {sum(seconds for seconds, _ in rows):.0f} s; the slowest:")
    for seconds, name in rows[:count]:
        print(f"{seconds:8.1f} s  {name}")


def not_allowed(skipped, file):
    """The lines for skips that no expression of the file matches."""
    allowed = [line for line in file.read_text().splitlines() if line.strip() and not line.startswith("#")]
    return [line for line in skipped if not any(re.match(expression, line) for expression in allowed)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=12, help="rows of each table [12]")
    parser.add_argument("--allowed-skips", type=pathlib.Path, metavar="FILE", help="any other skip is a failure")
    parser.add_argument("--failed", action="append", default=[], metavar="WHAT", help="something that failed besides")
    parser.add_argument("folders", nargs="*", type=pathlib.Path, metavar="FOLDER")
    given = parser.parse_args()

    outcomes = {"passed": 0, "failed": len(given.failed), "skipped": 0}
    failed = [(name, []) for name in given.failed]
    skipped = []
    for folder in given.folders:
        print_table(f"Builds in {folder}", builds(folder), given.count)
        results = tests(folder)
        print_table(f"Tests in {folder}", [(seconds, name) for name, (seconds, *_) in results.items()], given.count)
        for name, (_, outcome, parts, words) in results.items():
            reasons = [f"{folder.name}: {name}{part and ' ' + part}: {reason}" for part, reason in parts]
            forbidden = [] if given.allowed_skips is None else not_allowed(reasons, given.allowed_skips)
            skipped += [reason for reason in reasons if reason not in forbidden]
            if outcome == "failed" or forbidden:
                outcome = "failed"
                failed.append((f"{folder.name}: {name}", [f"must not be skipped: {one}" for one in forbidden] + words))
            outcomes[outcome] += 1
    for line in skipped:
        print(f"skipped: {line}")
    for name, words in failed:
        print(f"failed: {name}")
        for line in words:
            print(f"    {line}")
    print(f"{outcomes['passed']} passed, {outcomes['failed']} failed, {outcomes['skipped']} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
