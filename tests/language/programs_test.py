#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles and runs Tascell programs with each C compiler and with several numbers of workers.

programs_test.py SUKIMA FOLDER BACKEND... [--sanitized | --emulator=COMMAND] [--only=NAME] [--launcher=CCACHE]

SUKIMA is `sukima` or, of a build that has no compiler of its own, its `sukima-cc`. --emulator: the programs are for
another processor, and COMMAND runs them. --launcher: ccache starts the C compiler. It takes the object of an earlier
test, also in another copy of the sources, only if the generated C, the headers and the options are the same.

A program NAME.tc gives its output in lines `// expected: TEXT`. `// with: FILE` compiles another file with it,
`// options: …` adds options, `// also: …` compiles and runs it again with these options. `// status: N` and
`// stderr: REGEX` belong to a program that fails. `// not sequential`: its erasure behaves differently.
`// not sanitized`: it tests nothing that a sanitizer could find.
"""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

SANITIZED = "--sanitized" in sys.argv
EMULATOR = [word.removeprefix("--emulator=") for word in sys.argv if word.startswith("--emulator=")]
ONLY = [word.removeprefix("--only=") for word in sys.argv if word.startswith("--only=")]
FEWER = SANITIZED or bool(EMULATOR)
COMPILER, FOLDER, *BACKENDS = [word for word in sys.argv[1:] if not word.startswith("--")]
LAUNCHER = [word for word in sys.argv if word.startswith("--launcher=")]
CC = [str(Path(COMPILER).absolute()), *([] if Path(COMPILER).name == "sukima-cc" else ["cc"]), *LAUNCHER]
FOLDER = Path(FOLDER).resolve()
# Paths below the sources count as relative, so the command is the same in each copy.
CACHE = {"CCACHE_BASEDIR": str(FOLDER.parents[2]), "CCACHE_NOHASHDIR": "1"}
SETTINGS = [{"SUKIMA_WORKERS": "1"}, {"SUKIMA_WORKERS": "2"}, {"SUKIMA_WORKERS": "4", "SUKIMA_VICTIM": "last"},
            {"SUKIMA_WORKERS": "3", "SUKIMA_STEAL": "request", "SUKIMA_VICTIM": "weighted"},
            {"SUKIMA_WORKERS": "3", "SUKIMA_STEAL": "indolent:50"},
            {"SUKIMA_WORKERS": "3", "SUKIMA_CLONES": "1000ms"}, {"SUKIMA_WORKERS": "2", "SUKIMA_CLONES": "off"}]
WARNINGS = ["-Wall", "-Wextra", "-Werror"]


def directives(text, word):
    return re.findall(rf"^// {word}: ?(.*)$", text, re.MULTILINE)


def run(command, environment=None):
    sanitizer = {"TSAN_OPTIONS": os.environ.get("TSAN_OPTIONS", "halt_on_error=1") + ":atexit_sleep_ms=0"}
    return subprocess.run(command, capture_output=True, text=True, timeout=500, stdin=subprocess.DEVNULL,
                          cwd=FOLDER if command[:len(CC)] == CC else None,
                          env={**os.environ, **sanitizer, **CACHE, **(environment or {})})


class failures:
    def __init__(self):
        self.count = 0

    def report(self, problem, result=None):
        self.count += 1
        print(f"FAILED: {problem}")
        if result is not None:
            print(f"  exit code {result.returncode}\n  stdout: {result.stdout}\n  stderr: {result.stderr[:4000]}")


def check_run(failed, subject, program, text, settings):
    result = run([*EMULATOR, program], settings)
    expected = "".join(line + "\n" for line in directives(text, "expected"))
    status = int((directives(text, "status") or ["0"])[0])
    if result.returncode != status or result.stdout != expected:
        failed.report(f"{subject}, {settings}: expected exit code {status} and {expected!r}", result)
    for pattern in directives(text, "stderr"):
        if not re.search(pattern, result.stderr):
            failed.report(f"{subject}, {settings}: stderr does not match {pattern!r}", result)


def main():
    failed = failures()
    sources = sorted(FOLDER.glob(f"{ONLY[0] if ONLY else '*'}.tc"))
    left_out = r"^// (part of|not sanitized)" if SANITIZED else "^// part of"
    sources = [s for s in sources if not re.search(left_out, s.read_text(), re.MULTILINE)]
    with tempfile.TemporaryDirectory() as work:
        for source in sources:
            text = source.read_text()
            parts = directives(text, "with")
            parts += " ".join(directives(text, "options")).split()
            for backend in BACKENDS:
                for level in ("-O3", "-O0") if backend == BACKENDS[0] and not FEWER else ("-O2",):
                    program = f"{work}/{source.stem}"
                    command = [*CC, f"--backend={backend}", level, *WARNINGS, "-o", program, source.name, *parts, "-lm"]
                    result = run(command)
                    if result.returncode != 0 or result.stderr:
                        failed.report(f"{source.name} with {backend} {level} does not compile cleanly", result)
                        continue
                    for settings in SETTINGS[1:] if FEWER else SETTINGS if level != "-O0" else SETTINGS[1:2]:
                        check_run(failed, f"{source.name} with {backend} {level}", program, text, settings)
                for also in [] if FEWER else directives(text, "also"):
                    result = run([*CC, f"--backend={backend}", "-O2", *WARNINGS, *also.split(), "-o", program,
                                  source.name, *parts, "-lm"])
                    if result.returncode != 0 or result.stderr:
                        failed.report(f"{source.name} with {backend} {also} does not compile cleanly", result)
                    else:
                        check_run(failed, f"{source.name} with {backend} {also}", program, text, SETTINGS[1])
            if "// not sequential" not in text and not FEWER:
                program = f"{work}/{source.stem}-sequential"
                result = run([*CC, "--sequential", "-O2", *WARNINGS, "-o", program, source.name, *parts, "-lm"])
                if result.returncode != 0 or result.stderr:
                    failed.report(f"{source.name} with --sequential does not compile cleanly", result)
                else:
                    check_run(failed, f"{source.name} with --sequential", program, text, {})
    print(f"{len(sources)} programs, {failed.count} failures")
    return 1 if failed.count or not sources else 0


sys.exit(main())
