# SPDX-License-Identifier: Apache-2.0
"""Compiles and runs the tests of another project, each a program of its own, from a checkout that the machine may have."""
import argparse
import concurrent.futures
import dataclasses
import os
import pathlib
import re
import subprocess
import tempfile

SKIPPED = 77


@dataclasses.dataclass
class ForeignTest:
    """A test: its source, relative to the checkout, the compiler's options for it, and the arguments of its program."""
    source: str
    options: list
    arguments: list = dataclasses.field(default_factory=list)
    is_run: bool = True  # False: compiling is the test


def output_of(command, seconds):
    """(exit code, output) of a command; a time-out is exit code 124."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=seconds, check=False)
        return done.returncode, done.stdout.decode(errors="replace")
    except subprocess.TimeoutExpired as late:
        return 124, (late.stdout or b"").decode(errors="replace")


def read_arguments(description, variable):
    """The command line of such a script; the environment variable names the checkout if no option does."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkout", type=pathlib.Path, default=pathlib.Path(os.environ.get(variable, "")))
    parser.add_argument("--library", action="append", required=True)
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--only", type=re.compile, default=re.compile(""))
    parser.add_argument("--jobs", type=int, default=1)
    return parser.parse_args()


def run_test(chosen, folder, test):
    """(the test, what happened, output)"""
    program = folder / test.source.replace("/", "-")
    code, text = output_of([chosen.compiler, *test.options, f"{chosen.checkout}/{test.source}", "-o", str(program),
                            *chosen.library, "-lboost_context", "-ldl", "-pthread"], 900)
    if code != 0:
        return test, "does not compile", text
    if test.is_run:
        code, text = output_of([str(program), *test.arguments], 600)
    program.unlink()
    return test, "passed" if code == 0 else f"failed with exit code {code}", text


def run_all(chosen, tests):
    """Prints what happens to each test. Returns the exit code of the script."""
    failures = 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(chosen.jobs) as pool:
        runs = [pool.submit(run_test, chosen, pathlib.Path(folder), test) for test in tests if chosen.only.search(test.source)]
        for each in concurrent.futures.as_completed(runs):
            test, result, text = each.result()
            print(f"{test.source}: {result}", flush=True)
            if result != "passed":
                failures += 1
                print("\n".join("    " + line for line in text.splitlines()[-40:]), flush=True)
    print(f"{len(runs) - failures} of {len(runs)} passed")
    return 1 if failures or not runs else 0
