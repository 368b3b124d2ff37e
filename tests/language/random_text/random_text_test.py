#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles random Tascell programs and compares them with their sequential erasures.

    random_text_test.py SUKIMA BACKEND... [--seed N | --fresh] [--programs N] [--together N] [--small] [--seconds N]
                        [--keep FOLDER] [--nodes N]

generate.py describes the programs. Several share one file, which saves starts of the compiler; the files are compiled
with different options. --fresh chooses another first seed each time, and prints it; --small makes short programs, of
which thousands can be compiled; --seconds begins no further file after that time. A failure names the seed: repeat it with
--seed SEED --programs 1 --keep FOLDER (and --small), which keeps the source. --nodes: programs for several nodes, run alone
and on N of them. SUKIMA is `sukima` or, of a build with
a sanitizer, its `sukima-cc`.
"""
import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import generate

WAYS = ["-O1", "-O0", "-O2", "-O3 -g", "-Os -fPIC"]
SETTINGS = [{"SUKIMA_WORKERS": str(workers), "SUKIMA_STEAL": steal, "SUKIMA_ELASTIC": "off"}
            for workers, steal in ((1, "publish"), (2, "publish"), (3, "request"), (3, "indolent:30"),
                                   (6, "publish"))]
# All calls except the first ones of each depth are clones.
SETTINGS += [{**one, "SUKIMA_CLONES": "1000ms"} for one in SETTINGS[:1] + SETTINGS[2:]]


def run(command, environment=None):
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=500, stdin=subprocess.DEVNULL,
                              env={**os.environ, **(environment or {})})
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, -1, "", "it ran longer than 500 seconds")


def different(expected, got):
    """The seeds of the programs whose lines differ."""
    if got.count("\n") != expected.count("\n"):
        return ["all"]
    return sorted({line.split()[0][1:] for line, other in zip(expected.splitlines(), got.splitlines()) if line != other})


def settings_on_nodes(sukima, nodes):
    """Pairs of a command before the program's and of variables: some for one machine, and some for several nodes."""
    launch = [sukima, "cluster", "run", "-n", str(nodes), "--"]
    return [([], SETTINGS[2]), (launch, {"SUKIMA_WORKERS": "1"}), (launch, {"SUKIMA_WORKERS": "2"}),
            (launch, {"SUKIMA_WORKERS": "1", "SUKIMA_CLONES": "1000ms", "SUKIMA_STEAL": "request"})]


def check(compiler, backend, way, seeds, folder, small, nodes):
    source = Path(folder) / f"random{seeds[0]}.tc"
    source.write_text(generate.source(seeds, *((1500, 2) if small else (4000, 5)), small, nodes > 0))
    settings = settings_on_nodes(compiler[0], nodes) if nodes > 0 else [([], setting) for setting in SETTINGS]
    subject = f"seeds {seeds[0]} to {seeds[-1]} with {backend} {way}"
    program = str(source.with_suffix(""))
    wrong = []
    expected = None
    for options in (["--sequential", "-O1"], way.split()):
        # The sums overflow.
        result = run([*compiler, f"--backend={backend}", "-w", "-fwrapv", *options, "-o", program, source])
        if result.returncode != 0:
            return [f"{subject}, {options}: does not compile:\n{result.stderr[:2000]}"]
        for front, setting in settings if expected is not None else [([], {})]:
            result = run([*front, program], setting)
            if result.returncode != 0:
                wrong.append(f"{subject}, {options}, {front}, {setting}: exit code {result.returncode}, {result.stderr[:500]!r}")
            elif expected is None:
                expected = result.stdout
            elif result.stdout != expected:
                wrong.append(f"{subject}, {front}, {setting}: differs from the erasure for the seeds "
                             f"{' '.join(different(expected, result.stdout))}")
        if expected is None:
            return wrong
    if any(line.split()[2:] != ["0", "0"] for line in expected.splitlines()):
        wrong.append(f"{subject}: the erasure itself did not restore its workspace")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sukima")
    parser.add_argument("backends", nargs="+")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--programs", type=int, default=30)
    parser.add_argument("--together", type=int, default=15)
    parser.add_argument("--fresh", action="store_true")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--keep")
    parser.add_argument("--nodes", type=int, default=0)
    arguments = parser.parse_args()
    if arguments.fresh:
        arguments.seed = int.from_bytes(os.urandom(4), "big")
        print(f"seeds from {arguments.seed}", flush=True)
    compiler = [arguments.sukima] if Path(arguments.sukima).name == "sukima-cc" else [arguments.sukima, "cc"]
    begin = time.monotonic()
    done = 0
    wrong = []
    with tempfile.TemporaryDirectory() as work:
        folder = arguments.keep or work
        Path(folder).mkdir(parents=True, exist_ok=True)
        end = arguments.seed + arguments.programs
        for number, first in enumerate(range(arguments.seed, end, arguments.together)):
            if time.monotonic() - begin > arguments.seconds:
                break
            seeds = range(first, min(first + arguments.together, end))
            backend = arguments.backends[number % len(arguments.backends)]
            found = check(compiler, backend, WAYS[number % len(WAYS)], seeds, folder, arguments.small,
                          arguments.nodes)
            done += len(seeds)
            for text in found:
                print(f"FAILED: {text}", flush=True)
            wrong += found
    print(f"{len(wrong)} failures" if wrong else f"{done} programs print what their erasures print")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
