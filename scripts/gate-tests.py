#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tests of the gate: gate-tests.py BUILD [--write] [LIST]

Compares the tests of ctest in the folder BUILD that have neither the label `check` nor `measure` with LIST
(tests/gate.txt). Names each test that is missing because a tool is missing, and each test that LIST lacks. A program of
GoogleTest tests counts as one test. With --write it writes LIST instead.
"""
import argparse
import json
import subprocess
import sys
from pathlib import Path


def names_of(tests):
    """Tests of ctest, as in its JSON, as lines of the list."""
    names = set()
    for test in tests:
        labels = next((p["value"] for p in test.get("properties", []) if p["name"] == "LABELS"), [])
        if {"check", "measure"} & set(labels):
            continue
        program = Path(test["command"][0]).name if test.get("command") else ""
        of_googletest = any(word.startswith("--gtest_filter=") for word in test.get("command", []))
        names.add(program if of_googletest else test["name"])
    return names


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("build", type=Path)
    arguments.add_argument("list", type=Path, nargs="?", default=Path(__file__).parent.parent / "tests/gate.txt")
    arguments.add_argument("--write", action="store_true")
    given = arguments.parse_args()
    listed = subprocess.run(["ctest", "--test-dir", given.build, "--show-only=json-v1"], capture_output=True, text=True)
    if listed.returncode != 0:
        print(listed.stderr, file=sys.stderr)
        return 2
    names = names_of(json.loads(listed.stdout)["tests"])
    if given.write:
        given.list.write_text("".join(f"{name}\n" for name in sorted(names)))
        return 0
    expected = set(given.list.read_text().split())
    for name in sorted(expected - names):
        print(f"{name}: is in {given.list.name}, but not among this build's tests: is a tool missing?")
    for name in sorted(names - expected):
        print(f"{name}: is not in {given.list.name}: scripts/gate-tests.py --write adds it")
    return 0 if names == expected else 1


if __name__ == "__main__":
    sys.exit(main())
