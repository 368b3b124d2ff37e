#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the compiler's messages: diagnostics_test.py SUKIMA FOLDER BACKEND...

In NAME.tc a comment `// error: TEXT` or `// warning: TEXT`, optionally with `@N` for the column, gives the message that
its line must cause. All of these messages must appear, and no others, each with the user's line and a caret at its
column, and whatever the C compiler is. `// options: …` adds options. A file with an error must not leave an output file.
`// link error: TEXT` is a message when the file is linked. Errors of one kind must come in the order of the file.
"""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

COMPILER, FOLDER, BACKENDS = sys.argv[1], Path(sys.argv[2]), sys.argv[3:]
EXPECTED = re.compile(r"// (error|warning)(?:@(\d+))?: (.*?)(?= // (?:error|warning)|$)")
MESSAGE = re.compile(r"^(.*?):(\d+):(\d+): (error|warning): (.*)$")


SHOWN = re.compile(r"^ *(\d+) \| (.*)$")


def expected_of(lines):
    return [(number, kind, column, text.strip()) for number, line in enumerate(lines, 1)
            for kind, column, text in EXPECTED.findall(line)]


def wrong_excerpts(output, lines):
    """Messages without the user's line and a caret below its column."""
    for k, line in enumerate(output):
        message = MESSAGE.match(line)
        if message is None:
            continue
        number, column = int(message[2]), int(message[3])
        shown = SHOWN.match(output[k + 1]) if k + 1 < len(output) else None
        if shown is None or int(shown[1]) != number or shown[2].rstrip() != lines[number - 1].expandtabs(8).rstrip():
            yield f"line {number}: the message does not show it"
        elif "\t" not in lines[number - 1]:
            caret = output[k + 2].partition("| ")[2] if k + 2 < len(output) else ""
            if caret[column - 1:column] != "^":
                yield f"line {number}: no caret at column {column}"


def out_of_order(messages):
    """Errors that follow one of the same kind about a later place. Quoted names and numbers may differ."""
    last = {}
    for line, column, text in messages:
        kind = re.sub(r"'[^']*'|\d+", "", text)
        if (line, column) < last.get(kind, (0, 0)):
            yield f"line {line}:{column}: an error about a later place comes before: {text}"
        last[kind] = line, column


def compile_one(source, output, options, link):
    return subprocess.run([COMPILER, "cc", *([] if link else ["-c"]), *options, "-o", output, source],
                          capture_output=True, text=True, timeout=500, stdin=subprocess.DEVNULL)


def problems_of(source, backend, output):
    """Compares a file's messages with the expected ones. Returns the number of messages, and complaints."""
    text = source.read_text()
    lines = text.splitlines()
    expected = expected_of(lines)
    link = re.findall(r"^// link error: (.*)$", text, re.MULTILINE)
    output.unlink(missing_ok=True)
    options = [f"--backend={backend}", *" ".join(re.findall(r"^// options: (.*)$", text, re.MULTILINE)).split()]
    result = compile_one(source, output, options, bool(link))
    found = [MESSAGE.match(line) for line in result.stderr.splitlines()]
    rest = [(int(m[2]), m[4], m[3], m[5]) for m in found if m]
    count = len(rest)
    problems = [f"expected {one!r}" for one in link if one not in result.stderr]
    for number, kind, column, message in expected:
        matching = [g for g in rest if g[0] == number and g[1] == kind and message in g[3]
                    and (not column or g[2] == column)]
        if matching:
            rest.remove(matching[0])
        else:
            problems.append(f"line {number}: expected {kind}{'@' + column if column else ''}: {message}")
    if not link:
        problems += [f"line {n}:{c}: unexpected {k}: {t}" for n, k, c, t in rest]
        problems += out_of_order([(int(m[2]), int(m[3]), m[5]) for m in found if m and m[4] == "error"])
        problems += wrong_excerpts(result.stderr.splitlines(), lines)
        if "sukima_" in result.stderr:
            problems.append("a message has a name that the compiler made")
    fails = bool(link) or any(kind == "error" for _, kind, _, _ in expected)
    if (result.returncode != 0) != fails:
        problems.append(f"exit code {result.returncode}")
    if fails and output.exists():
        problems.append("an output file was left")
    if not expected and not link:
        problems.append("the file expects no message")
    return count, problems, result.stderr


def main():
    failures = 0
    messages = 0
    sources = sorted(FOLDER.glob("*.tc"))
    with tempfile.TemporaryDirectory() as work:
        for source in sources:
            for backend in BACKENDS:
                count, problems, output = problems_of(source, backend, Path(work) / "out.o")
                messages += count
                failures += len(problems)
                for problem in problems:
                    print(f"FAILED: {source.name} with {backend}: {problem}")
                if problems:
                    print(output)
    print(f"{len(sources)} files, {messages} messages, {failures} failures")
    return 1 if failures or not sources or not BACKENDS else 0


sys.exit(main())
