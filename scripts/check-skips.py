#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that each reason for which a test can be skipped is in one of two lists: check-skips.py [FOLDER]

tests/allowed_skips.txt lists reasons that depend on the machine: its rights, kernel, CPUs, devices, visible groups and
network. tests/forbidden_skips.txt lists reasons that cannot occur if the packages of scripts/packages.txt are
installed, and mistakes: continuous integration fails for them. A line of either list that matches no reason is wrong,
too.

The script reads the reasons from the sources of FOLDER (by default this repository) in tests, lab, scripts and python:
GTEST_SKIP, unittest's skips, the attribute why_not, and the text that is printed before a program ends with 77. X
replaces the parts of a reason that are known only at run time.
"""
import ast
import pathlib
import re
import sys

FOLDERS = ("tests", "lab", "scripts", "python")
OTHERS = ("tests/house/",)  # made-up reasons of the scripts' own tests
UNITTEST = {"skipTest": 0, "SkipTest": 0, "skip": 0, "skipUnless": 1, "skipIf": 1}
# Expressions whose text is found elsewhere: where why_not is set, or in the program that printed it.
FOUND_ELSEWHERE = re.compile(r"\.why_not$|\.stdout\b")
CODES = {"77", "SKIPPED"}
# How sukima-truth begins what it says where a no_groups was thrown.
TRUTH_SKIPS = "sukima-truth: skipped: "


def text_of(node):
    """The text of a Python expression if it is a string, otherwise None."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(text_of(part) if isinstance(part, ast.Constant) else "X" for part in node.values)
    return None


def name_of(call):
    return getattr(call.func, "attr", getattr(call.func, "id", ""))


def ends_with_77(statement):
    value = statement.value if isinstance(statement, (ast.Return, ast.Expr)) else None
    if isinstance(value, ast.Call) and name_of(value) == "exit" and value.args:
        value = value.args[0]
    return value is not None and ast.unparse(value) in CODES


def in_python(source):
    """(line, reason or None) of each skip."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and name_of(node) in UNITTEST:
            arguments = node.args[UNITTEST[name_of(node)]:]
            if arguments:
                reason = text_of(arguments[0])
                if reason is not None or not FOUND_ELSEWHERE.search(ast.unparse(arguments[0])):
                    yield node.lineno, reason
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "attr", "") == "why_not":
            yield node.lineno, text_of(node.value)
        for body in (getattr(node, "body", None), getattr(node, "orelse", None)):
            for before, statement in zip([None, *body], body) if isinstance(body, list) else ():
                if ends_with_77(statement):
                    call = getattr(before, "value", None)
                    printed = isinstance(call, ast.Call) and name_of(call) == "print" and call.args
                    yield statement.lineno, text_of(call.args[0]) if printed else None


def literals(expression):
    """The text of a C++ expression: its literals, with X for the other parts."""
    found = ""
    for part in re.findall(r'"((?:[^"\\]|\\.)*)"|([^"]+)', expression):
        between = part[1].strip().strip("<+ \n")
        found += part[0] if not part[1] else "X" if re.search(r"\w", between.partition(",")[0]) else ""
    return found.replace("\\n", "").replace("{}", "X") or None


def in_cpp(source):
    for pattern, prefix in ((r"GTEST_SKIP\(\)([^;]*);", ""),
                            (r"\bthrow no_groups\((.*?)\);", TRUTH_SKIPS),
                            (r"(?:complain|print)\((?:stderr,)?([^;]*)\);\s*return exit_skipped;", "")):
        for match in re.finditer(pattern, source, re.DOTALL):
            reason = literals(match.group(1).replace("fmt::format(", ""))
            if reason != "skipped: X":  # the text of a no_groups
                yield source.count("\n", 0, match.start()) + 1, reason and prefix + reason


def in_shell(source):
    for match in re.finditer(r'(?:\bskip|\bgive_up 77) "([^"]*)"|\becho "([^"]*)"[^\n]*\n\s*exit 77\b|\bexit 77\b', source):
        reason = match.group(1) or match.group(2)
        if match.group(2) and re.search(r"\$[12]\b", match.group(2)):  # in a function, whose calls are found
            continue
        yield source.count("\n", 0, match.start()) + 1, reason and re.sub(r"\$(\w+|\*|{\w+})", "X", reason)


READERS = {".py": in_python, ".cpp": in_cpp, ".hpp": in_cpp, ".sh": in_shell}


def reasons(root):
    """[(place, reason or None)]"""
    found = []
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            name = path.relative_to(root).as_posix()
            if path.suffix in READERS and path.is_file() and not name.startswith(OTHERS) and path.name != "check-skips.py":
                source = path.read_text(encoding="utf-8")
                found += [(f"{name}:{line}", reason) for line, reason in READERS[path.suffix](source)]
    return found


def lines_of(path):
    """[(line number, text)] of the lines that are not comments."""
    return [(number, line) for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
            if line.strip() and not line.startswith("#")]


def packages(root):
    rows = [line.partition("|")[0] for _, line in lines_of(root / "scripts" / "packages.txt")]
    return {name.strip() for row in rows for name in row.split("/")}


def main():
    if len(sys.argv) > 2:
        print("check-skips.py: too many arguments; give at most the folder of the sources", file=sys.stderr)
        return 2
    root = pathlib.Path(sys.argv[1] if len(sys.argv) == 2 else pathlib.Path(__file__).parent.parent).resolve()
    allowed_file, forbidden_file = root / "tests" / "allowed_skips.txt", root / "tests" / "forbidden_skips.txt"
    if not allowed_file.is_file() or not forbidden_file.is_file():
        print(f"check-skips.py: {root} lacks tests/allowed_skips.txt or tests/forbidden_skips.txt; give the folder of the "
              "sources", file=sys.stderr)
        return 2
    allowed = [(f"tests/allowed_skips.txt:{number}", line) for number, line in lines_of(allowed_file)]
    forbidden, wrong = [], []
    for number, line in lines_of(forbidden_file):
        expression, bar, names = line.rpartition(" | ")
        place = f"tests/forbidden_skips.txt:{number}"
        forbidden.append((place, expression))
        unknown = set(names.split()) - packages(root) - {"-"} if bar else {"what brings it"}
        wrong += [f"{place}: {name} is not in scripts/packages.txt" for name in sorted(unknown)]
    used = set()
    found = reasons(root)
    for place, reason in found:
        if reason is None:
            wrong.append(f"{place}: the reason for this skip cannot be read; write it as text")
            continue
        line = f"preset: test: {reason}"  # as scripts/test-summary.py has it
        matching = [rule for rule in (*allowed, *forbidden) if re.match(rule[1], line)]
        used.update(matching)
        lists = {rule[0].partition(":")[0] for rule in matching}
        if len(lists) != 1:
            wrong.append(f"{place}: '{reason}' is in " + ("both lists" if lists else "neither list") +
                         ": allow what depends on the machine, forbid what a package brings")
    wrong += [f"{rule[0]}: no test is skipped for this reason" for rule in (*allowed, *forbidden) if rule not in used]
    for line in wrong:
        print(line)
    print(f"{len(found)} reasons for skips, {len(wrong)} mistakes")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
