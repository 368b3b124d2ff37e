#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the compiler's messages: diagnostics_test.py SUKIMA FOLDER

In NAME.tc a comment `// error: TEXT` or `// warning: TEXT`, optionally with `@N` for the column, gives the message that
its line must cause. All of these messages must appear, and no others. `// options: …` adds options. A file with an
error must not leave an output file.
"""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

COMPILER, FOLDER = sys.argv[1], Path(sys.argv[2])
EXPECTED = re.compile(r"// (error|warning)(?:@(\d+))?: (.*?)(?= // (?:error|warning)|$)")
MESSAGE = re.compile(r"^(.*?):(\d+):(\d+): (error|warning): (.*)$")


def main():
    failures = 0
    messages = 0
    sources = sorted(FOLDER.glob("*.tc"))
    with tempfile.TemporaryDirectory() as work:
        for source in sources:
            lines = source.read_text().splitlines()
            expected = [(number, kind, column, text.strip()) for number, line in enumerate(lines, 1)
                        for kind, column, text in EXPECTED.findall(line)]
            output = Path(work) / "out.o"
            output.unlink(missing_ok=True)
            options = " ".join(re.findall(r"^// options: (.*)$", "\n".join(lines), re.MULTILINE)).split()
            result = subprocess.run([COMPILER, "cc", "-c", *options, "-o", output, source], capture_output=True, text=True,
                                    timeout=60, stdin=subprocess.DEVNULL)
            got = [MESSAGE.match(line) for line in result.stderr.splitlines()]
            got = [(int(m[2]), m[4], m[3], m[5]) for m in got if m]
            messages += len(got)
            problems = []
            rest = list(got)
            for number, kind, column, text in expected:
                found = [g for g in rest if g[0] == number and g[1] == kind and text in g[3]
                         and (not column or g[2] == column)]
                if found:
                    rest.remove(found[0])
                else:
                    problems.append(f"line {number}: expected {kind}{'@' + column if column else ''}: {text}")
            problems += [f"line {n}:{c}: unexpected {k}: {t}" for n, k, c, t in rest]
            fails = any(kind == "error" for _, kind, _, _ in expected)
            if (result.returncode != 0) != fails:
                problems.append(f"exit code {result.returncode}")
            if fails and output.exists():
                problems.append("an output file was left")
            if not expected:
                problems.append("the file expects no message")
            for problem in problems:
                print(f"FAILED: {source.name}: {problem}")
            if problems and not got:
                print(result.stderr)
            failures += len(problems)
    print(f"{len(sources)} files, {messages} messages, {failures} failures")
    return 1 if failures or not sources else 0


sys.exit(main())
