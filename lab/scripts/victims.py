#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures guards, and the choice of victims, with programs of the Tascell language: the tables of docs/victims.md.

    victims.py --sukima PROGRAM guards|victims

Time (median), spread ((longest - shortest) / median) and steals (median) of some runs, for fib, pentomino and cmp of
examples/tascell.
"""
import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parent.parent.parent / "examples/tascell"
PROGRAMS = {"fib": ["43"], "pentomino": ["12"], "cmp": ["120000"]}
HANDLES = {"fib": "handles fib", "pentomino": "(int i1, int i2)", "cmp": "handles pairs"}
LARGE = {"fib": "n > 20", "pentomino": "placed < 5", "cmp": "i2 - i1 > 200"}


def build(sukima, name, guard, folder):
    text = (EXAMPLES / f"{name}.tc").read_text()
    if guard:
        text = text.replace(HANDLES[name] + " {", f"{HANDLES[name]} guard ({guard}) {{")
    text = text.replace("int main(int argc, char **argv) {",
                        "#include <sukima/sukima.h>\nstatic void at_end(void) { sukima_statistics(stderr); }\n"
                        "int main(int argc, char **argv) {\n  atexit(at_end);")
    source = Path(folder) / f"{name}.tc"
    source.write_text(text)
    program = Path(folder) / name
    subprocess.run([sukima, "cc", "-O3", "-I", EXAMPLES, "-o", program, source], check=True)
    return program


def measure(program, arguments, environment, runs):
    times, steals = [], []
    for _ in range(runs):
        begin = time.perf_counter()
        result = subprocess.run([program, *arguments], capture_output=True, text=True, check=True,
                                env={**os.environ, "SUKIMA_ELASTIC": "off", **environment})
        times.append(time.perf_counter() - begin)
        steals.append(int(re.search(r"^steals +(\d+)", result.stderr, re.MULTILINE)[1]))
    middle = statistics.median(times)
    return f"{middle:.3f} s | {(max(times) - min(times)) / middle:.0%} | {statistics.median(steals):.0f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sukima", default="sukima")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("measurement", choices=["guards", "victims"])
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for name, words in PROGRAMS.items():
            if arguments.measurement == "guards":
                for guard in (None, "0.5", "0.1", "0.01", LARGE[name]):
                    result = measure(build(arguments.sukima, name, guard, folder), words, {"SUKIMA_WORKERS": "2"},
                                     arguments.runs)
                    print(f"| {name} | {guard or '1'} | {result} |", flush=True)
                continue
            program = build(arguments.sukima, name, None, folder)
            for workers in ("2", "4"):
                for steal in ("publish", "request"):
                    for victim in ("random", "last", "weighted"):
                        result = measure(program, words, {"SUKIMA_WORKERS": workers, "SUKIMA_STEAL": steal,
                                                          "SUKIMA_VICTIM": victim}, arguments.runs)
                        print(f"| {name} | {workers} | {steal} | {victim} | {result} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
