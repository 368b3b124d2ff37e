#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the TextMate grammar: grammar_test.py GRAMMAR SAMPLE

After a line of SAMPLE, lines `//^ SCOPE` give the scope that begins at the caret's column; `//^ -` means that the
grammar leaves that column to C. The test tries the patterns at each column in order, as editors do.
"""
import json
import re
import sys
from pathlib import Path

GRAMMAR = json.loads(Path(sys.argv[1]).read_text())
MARK = re.compile(r"^//( *)\^ (\S+)$")


def patterns(rule):
    """The patterns of a rule, with those of the rules it includes; `source.c` is another grammar."""
    for one in rule["patterns"]:
        if "include" in one:
            if one["include"].startswith("#"):
                yield from patterns(GRAMMAR["repository"][one["include"][1:]])
        else:
            yield one


RULES = list(patterns(GRAMMAR))


def scopes(lines):
    """For each line the scopes by the column where they begin."""
    result = []
    inside = None
    for line in lines:
        found = {}
        at = 0
        while at < len(line):
            if inside is not None:
                end = re.compile(inside["end"]).search(line, at)
                if end is None:
                    break
                inner = [m for rule in inside.get("patterns", []) if (m := re.compile(rule["match"]).search(line, at))]
                if inner and inner[0].start() < end.start():
                    found[inner[0].start()] = inside["patterns"][0]["name"]
                    at = inner[0].end()
                else:
                    at, inside = end.end(), None
                continue
            best = None
            for rule in RULES:
                match = re.compile(rule.get("match") or rule["begin"]).search(line, at)
                if match is not None and match.end() > match.start() and (best is None or match.start() < best[1].start()):
                    best = rule, match
            if best is None:
                break
            rule, match = best
            if "begin" in rule:
                inside = rule
            if "name" in rule:
                found[match.start() + len(match[0]) - len(match[0].lstrip())] = rule["name"]
            for number, capture in rule.get("captures", {}).items():
                found[match.start(int(number))] = capture["name"]
            at = match.end()
        if inside is not None and inside["end"] == '"':
            inside = None
        result.append(found)
    return result


def main():
    all_lines = Path(sys.argv[2]).read_text().splitlines()
    code = [line for line in all_lines if not MARK.match(line)]
    found = scopes(code)
    wrong = checked = 0
    number = -1
    for line in all_lines:
        mark = MARK.match(line)
        if mark is None:
            number += 1
            continue
        checked += 1
        column = len(mark[1]) + 2
        got = found[number].get(column, "-")
        if got != mark[2]:
            wrong += 1
            print(f"FAILED: {code[number]!r}, column {column + 1}: {got} instead of {mark[2]}")
    unused = {name for rule in RULES for name in
              [rule.get("name"), *(c["name"] for c in rule.get("captures", {}).values())] if name}
    unused -= {name for line in found for name in line.values()}
    for name in sorted(unused):
        wrong += 1
        print(f"FAILED: {name} never matches in the sample")
    print(f"{checked} places, {wrong} failures")
    return 1 if wrong or not checked else 0


sys.exit(main())
