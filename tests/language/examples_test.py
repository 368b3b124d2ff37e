#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles and runs the Tascell example programs.

examples_test.py SUKIMA FOLDER BACKEND... [--sanitized | --emulator COMMAND | --all] [--only NAME]

Each NAME.tc must print the text of NAME.expected: with any number of workers, both steal protocols, a `try` around each
construct (-DWITH_TRY), each C compiler, and as its sequential erasure. The output does not depend on timing; figures
that do go to stderr.

SUKIMA is `sukima` or, for a build that has no compiler of its own, its `sukima-cc`. --sanitized: the two settings that
cover most, with the first compiler. --emulator: the same for programs for another processor, which COMMAND runs. --all:
all numbers of workers, steal protocols and wait policies, with the first compiler. --launcher: ccache, as for
programs_test.py.
"""
import argparse
import itertools
import os
import subprocess
import sys
import tempfile
from pathlib import Path

arguments = argparse.ArgumentParser()
arguments.add_argument("compiler", type=Path)
arguments.add_argument("folder", type=Path)
arguments.add_argument("backends", nargs="+")
arguments.add_argument("--sanitized", action="store_true")
arguments.add_argument("--emulator", type=str.split, default=[])
arguments.add_argument("--all", action="store_true")
arguments.add_argument("--only")
arguments.add_argument("--launcher", action="append", default=[])
given = arguments.parse_args()
CC = [given.compiler.absolute(), *([] if given.compiler.name == "sukima-cc" else ["cc"]),
      *(f"--launcher={word}" for word in given.launcher)]
FOLDER = given.folder.resolve()
# Paths below the sources count as relative, so the command is the same in each copy.
CACHE = {"CCACHE_BASEDIR": str(FOLDER.parents[1]), "CCACHE_NOHASHDIR": "1"}
WORKERS = ("1", "2", "4", "16")
PROTOCOLS = ("publish", "request", "indolent:20")
POLICIES = ("adaptive", "block", "spin", "pause", "yield", "condvar", "inherit")


def setting(workers, steal, wait="adaptive"):
    return {"SUKIMA_WORKERS": workers, "SUKIMA_STEAL": steal, "SUKIMA_WAIT": wait, "SUKIMA_ELASTIC": "off"}


USUAL = [setting(*s) for s in itertools.product(WORKERS, PROTOCOLS)]
WHOLE = [setting(*s) for s in itertools.product(WORKERS, PROTOCOLS, POLICIES)]
SOME = [setting("2", "request"), setting("2", "indolent"), setting("4", "publish")]
LONG = {"pentomino", "subgraphs"}  # these take a second with each setting, so they run with SOME settings only
SANITIZED = [setting("4", "publish"), setting("16", "request", "block")]
WARNINGS = ["-Wall", "-Wextra", "-Werror"]


def run(command, environment=None):
    sanitizer = {"TSAN_OPTIONS": os.environ.get("TSAN_OPTIONS", "halt_on_error=1") + ":atexit_sleep_ms=0"}
    return subprocess.run(command, capture_output=True, text=True, timeout=500, stdin=subprocess.DEVNULL,
                          cwd=FOLDER if command[:len(CC)] == CC else None,
                          env={**os.environ, **sanitizer, **CACHE, **(environment or {})})


def check(source, work, options, settings):
    """Compiles a program once and runs it in several settings. Returns a list of complaints."""
    program = f"{work}/{source.stem}"
    subject = f"{source.name} {' '.join(options)}"
    result = run([*CC, "-O2", *WARNINGS, *options, "-o", program, source.name, "-lm"])
    if result.returncode != 0 or result.stderr:
        return [f"{subject} does not compile cleanly:\n{result.stderr}"]
    wrong = []
    expected = source.with_suffix(".expected").read_text()
    for setting in settings:
        result = run([*given.emulator, program], setting)
        if result.returncode != 0 or result.stdout != expected:
            wrong.append(f"{subject} with {setting}: exit code {result.returncode}, {result.stdout!r}; expected "
                         f"{expected!r}\n{result.stderr[:4000]}")
    return wrong


def main():
    sources = sorted(FOLDER.glob(f"{given.only or '*'}.tc"))
    if not sources:
        print(f"examples_test.py: there are no such programs in {given.folder}", file=sys.stderr)
        return 2
    wrong = []
    with tempfile.TemporaryDirectory() as work:
        for source in sources:
            first = [f"--backend={given.backends[0]}"]
            if given.sanitized or given.emulator:
                wrong += check(source, work, [*first, "-g1"], SANITIZED)
                continue
            usual = SOME if source.stem in LONG else USUAL
            wrong += check(source, work, first, WHOLE if given.all else usual)
            if given.all:
                continue
            for backend in given.backends:
                wrong += check(source, work, [f"--backend={backend}", "-DWITH_TRY"], SOME)
            wrong += check(source, work, ["--sequential"], [{}])
    print("\n".join(wrong) if wrong else f"{len(sources)} programs print what they should")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
