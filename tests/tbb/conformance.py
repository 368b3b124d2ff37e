#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs oneTBB's own tests of algorithms with the headers of sukima::tbb.

    conformance.py --checkout FOLDER --library FILE... [--only REGEX] [--jobs N]

FOLDER is a checkout of oneTBB (https://github.com/uxlfoundation/oneTBB). Its tests see Sukima's headers first; from the
checkout they take only internal headers. What their common headers want beside that is in the folder stand_ins; a header in
stand_ins/before is included before the test of its name. The list of tests is in conformance.txt beside this file.
Exit code: 0 if all pass, 1 if one fails, 2 for wrong use, 77 without a checkout.
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
INCLUDE = HERE.parent.parent / "include"
SKIPPED = 77


def wanted_tests(only):
    """(path of the source, arguments of the program) for each line of conformance.txt."""
    for line in (HERE / "conformance.txt").read_text().splitlines():
        line = line.split("#")[0].strip()
        if line and re.search(only, line):
            source, *arguments = line.split(" ", 1)
            yield source, arguments[0].split(" ") if arguments else []


def output_of(command, seconds):
    """(exit code, output) of a command; a time-out is exit code 124."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=seconds, check=False)
        return done.returncode, done.stdout.decode(errors="replace")
    except subprocess.TimeoutExpired as late:
        return 124, (late.stdout or b"").decode(errors="replace")


def run_test(chosen, folder, source, arguments):
    """(source, what happened, output)."""
    name = pathlib.PurePath(source).stem
    program = folder / name
    before = HERE / "stand_ins/before" / f"{name}.h"
    code, text = output_of([
        chosen.compiler, "-std=c++20", "-O1", "-w", f"-I{HERE}/stand_ins", f"-I{INCLUDE}/sukima/tbb-compat", f"-I{INCLUDE}",
        f"-I{chosen.checkout}", f"-I{chosen.checkout}/test", f"-I{chosen.checkout}/test/common",
        f"-I{chosen.checkout}/include",
        "-include", "oneapi/tbb/detail/_utils.h", *(["-include", str(before)] if before.is_file() else []),
        f"{chosen.checkout}/{source}", "-o", str(program), *chosen.library, "-lboost_context", "-ldl", "-pthread"], 900)
    if code != 0:
        return source, "does not compile", text
    code, text = output_of([str(program), *arguments], 600)
    program.unlink()
    return source, "passed" if code == 0 else f"failed with exit code {code}", text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkout", type=pathlib.Path, default=os.environ.get("SUKIMA_ONETBB", ""))
    parser.add_argument("--library", action="append", required=True)
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=1)
    chosen = parser.parse_args()
    chosen.checkout = pathlib.Path(chosen.checkout)
    if not (chosen.checkout / "test" / "conformance").is_dir():
        print(f"skipped: there is no checkout of oneTBB in '{chosen.checkout}' (set SUKIMA_ONETBB to its folder)")
        return SKIPPED
    failures = 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(chosen.jobs) as pool:
        runs = [pool.submit(run_test, chosen, pathlib.Path(folder), *test) for test in wanted_tests(chosen.only)]
        for each in concurrent.futures.as_completed(runs):
            source, result, text = each.result()
            print(f"{source}: {result}", flush=True)
            if result != "passed":
                failures += 1
                print("\n".join("    " + line for line in text.splitlines()[-40:]), flush=True)
    print(f"{len(runs) - failures} of {len(runs)} passed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
