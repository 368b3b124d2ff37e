#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles and runs the example programs of the Tascell language: examples_test.py SUKIMA FOLDER BACKEND...

Each NAME.tc must print what is in NAME.expected: with any number of workers, both steal protocols, with a `try` around
each construct (-DWITH_TRY), with each compiler behind, and as its sequential erasure. What programs print depends on no
timing; figures that do go to stderr.
"""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

COMPILER, FOLDER, *BACKENDS = sys.argv[1:]
FOLDER = Path(FOLDER)
ALL = [{"SUKIMA_WORKERS": str(workers), "SUKIMA_STEAL": steal, "SUKIMA_ELASTIC": "off"}
       for workers in (1, 2, 4, 16) for steal in ("ready", "request")]
SOME = [ALL[3], ALL[4]]
WARNINGS = ["-Wall", "-Wextra", "-Werror"]


def run(command, environment=None):
    return subprocess.run(command, capture_output=True, text=True, timeout=100, stdin=subprocess.DEVNULL,
                          env={**os.environ, **(environment or {})})


def check(source, work, options, settings):
    """The complaints about a program that is compiled in one way and run in several."""
    program = f"{work}/{source.stem}"
    what = f"{source.name} {' '.join(options)}"
    result = run([COMPILER, "cc", "-O2", *WARNINGS, *options, "-o", program, source, "-lm"])
    if result.returncode != 0 or result.stderr:
        return [f"{what} does not compile cleanly:\n{result.stderr}"]
    wrong = []
    expected = source.with_suffix(".expected").read_text()
    for setting in settings:
        result = run([program], setting)
        if result.returncode != 0 or result.stdout != expected:
            wrong.append(f"{what} with {setting}: exit code {result.returncode}, {result.stdout!r} and on stderr "
                         f"{result.stderr!r}; expected {expected!r}")
    return wrong


def main():
    sources = sorted(FOLDER.glob("*.tc"))
    if not sources:
        print(f"examples_test.py: there are no programs in {FOLDER}", file=sys.stderr)
        return 2
    wrong = []
    with tempfile.TemporaryDirectory() as work:
        for source in sources:
            wrong += check(source, work, [f"--backend={BACKENDS[0]}"], ALL)
            for backend in BACKENDS:
                wrong += check(source, work, [f"--backend={backend}", "-DWITH_TRY"], SOME)
            wrong += check(source, work, ["--sequential"], [{}])
    print("\n".join(wrong) if wrong else f"{len(sources)} programs print what they should")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
