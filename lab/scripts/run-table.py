#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures whether programs are slower with `sukima run` than without it: a table of runtimes and places.

Each round runs every program in every place without and with `sukima run`, one after the other, so that a drift of the
machine affects both. A cell has the median of the rounds' ratios (the time with `sukima run` divided by the time without it),
and the smallest and the largest ratio. The script stores its results in a file, and continues where it was interrupted.

    run-table.py --programs build/release/bin --build build/release/tests/clients --results run-table.json --rounds 5
"""
import argparse
import pathlib
import random
import shutil
import statistics
import subprocess
import sys

import resumed
from places import CLEAN, KINDS, check_place, give_up, locked, place, run_copies

CLIENTS = pathlib.Path(__file__).resolve().parent.parent.parent / "tests" / "clients"
PLACES = ["alone", "hogs:1", "hogs:2", "apart:2", "quota:0.5", "quota:1.0", "quota:1.4"]
WITHOUT, WITH = "without", "sukima run"
BAR = 1.03
LIMIT = 60  # seconds that no run should take


def write_text(file):
    """Fifteen megabytes that can be compressed, the same each time."""
    words = random.Random(1)
    vocabulary = ["".join(words.choices("aeioulnrstmdk", k=words.randint(2, 9))) for _ in range(5000)]
    with open(file, "w", encoding="ascii") as text:
        while text.tell() < 15e6:
            text.write(" ".join(words.choices(vocabulary, k=2000)) + "\n")


def write_makefile(file, text):
    """Targets of a tenth of a second each."""
    names = [f"piece{i}" for i in range(48)]
    file.write_text(f"all: {' '.join(names)}\n{' '.join(names)}:\n\t@head -c 1500000 {text} | gzip -9 >/dev/null\n"
                    f".PHONY: all {' '.join(names)}\n", encoding="ascii")


def build(folder, name, *command):
    """Runs a compiler that makes a file of this name, unless there is one; nothing if it is not installed."""
    file = folder / name
    if file.exists():
        return file
    if not shutil.which(command[0]):
        return None
    done = subprocess.run([str(word).replace("FILE", str(file)) for word in command], capture_output=True, text=True,
                          env={**CLEAN, "GOCACHE": str(folder / "go-cache")})
    if done.returncode != 0:
        print(f"run-table.py: no {name}: {(done.stderr or done.stdout).strip().splitlines()[-1]}", file=sys.stderr)
        return None
    return file


def programs(given):
    """The command of each program that can be built here, of about two seconds on two CPUs."""
    def much(pieces):
        return str(max(1, round(pieces * given.scale)))

    folder = given.build.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    text, makefile = folder / "run-table.txt", folder / "run-table.mk"
    if not text.exists():
        write_text(text)
    write_makefile(makefile, text)
    compiled = {
        "Go": (build(folder, "table-go", "go", "build", "-o", "FILE", CLIENTS / "main.go"), [much(12000)]),
        "TBB": (build(folder, "table-tbb", "g++", "-O2", "-std=c++17", CLIENTS / "tbb.cpp", "-ltbb", "-o", "FILE"), [much(12000)]),
        "OpenMP (libgomp)": (build(folder, "table-openmp-gcc", "gcc", "-O2", "-fopenmp", CLIENTS / "openmp.c", "-o", "FILE"),
                             [much(40000), "work"]),
        "OpenMP (libomp)": (build(folder, "table-openmp-clang", "clang-19", "-O2", "-fopenmp", CLIENTS / "openmp.c", "-o",
                                  "FILE"), [much(40000), "work"]),
    }
    commands = {name: [str(file), *rest] for name, (file, rest) in compiled.items() if file}
    rayon = folder / "rayon" / "release" / "rayon-client"  # built by the target sukima_rayon_client
    if rayon.exists():
        commands["rayon"] = [str(rayon), much(11000)]
    if build(folder, "table-java", "javac", "-d", "FILE", CLIENTS / "Main.java"):
        commands["Java"] = ["java", "-cp", str(folder / "table-java"), "Main", much(11000)]
    if shutil.which("node"):
        commands["Node.js (pool)"] = ["node", str(CLIENTS / "main.js"), "pool", much(550)]
        commands["Node.js (workers)"] = ["node", str(CLIENTS / "main.js"), "workers", much(5500)]
    if subprocess.run(["/usr/bin/python3", "-c", "import numpy"], capture_output=True, check=False).returncode == 0:
        commands["OpenBLAS"] = ["/usr/bin/python3", str(CLIENTS / "blas.py"), much(250)]
    if shutil.which("xz"):
        commands["xz"] = ["xz", "-T0", "-4", "--block-size=512KiB", "-c", str(text)]
    if shutil.which("make"):
        commands["make"] = ["sh", "-c", f"exec make -s -j$(nproc) -f {makefile}"]
    return commands


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    resumed.add_arguments(parser)
    parser.add_argument("--build", type=pathlib.Path, required=True, help="folder for the programs that are measured")
    parser.add_argument("--only", nargs="+", default=[], metavar="PROGRAM", help="some of the programs, such as Go TBB")
    parser.add_argument("--places", nargs="+", default=PLACES, help=f"of {KINDS}")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--scale", type=float, default=1, help="of the work; that of xz and make stays (default: 1, two seconds)")
    parser.add_argument("--also", nargs="*", default=[], metavar="NAME:VARIABLE=VALUE,…",
                        help="further settings without sukima run, for comparison")
    given = parser.parse_args()
    for one in given.places:
        check_place(parser, one)
    return given


def settings(given):
    """Name, variables and prefix of each way to start a program."""
    yield WITHOUT, {}, []
    yield WITH, {}, [str(given.programs / "sukima"), "run", "--"]
    for text in given.also:
        name, _, variables = text.partition(":")
        yield name, dict(variable.split("=", 1) for variable in variables.split(",")), []


def measure(given, measurements):
    """Rounds until all cells have enough, or the time is up."""
    commands = programs(given)
    for name in given.only:
        if name not in commands:
            give_up(f"there is no program '{name}' here: choose of {', '.join(commands)}")
    for count in range(1, given.rounds + 1):
        for where in given.places:
            for program in given.only or commands:
                cell = measurements.results.setdefault(f"{program}: {where}", {})
                missing = [one for one in settings(given) if len(cell.get(one[0], [])) < count]
                for name, variables, prefix in missing if count % 2 else reversed(missing):
                    if measurements.is_over():
                        return
                    with locked(given.lock), place(where, given.programs) as (copies, enter):
                        seconds = run_copies([*prefix, *commands[program]], copies, {**CLEAN, **variables}, LIMIT, enter)
                    cell.setdefault(name, []).append(round(seconds, 4))
                    measurements.keep()


def ratios(cell, name=WITH):
    """The ratios of the rounds that have both times."""
    return [own / usual for own, usual in zip(cell.get(name, []), cell.get(WITHOUT, []))]


def table(results, given):
    """Prints the ratios, and the cells above the target."""
    names = list(dict.fromkeys(key.split(": ")[0] for key in results))
    print(f"| {WITH} / without | {' | '.join(given.places)} |")
    print(f"| --- |{' ---: |' * len(given.places)}")
    above = []
    for program in names:
        words = []
        for where in given.places:
            found = ratios(results.get(f"{program}: {where}", {}))
            words.append(f"{statistics.median(found):.2f} ({min(found):.2f}–{max(found):.2f})" if found else "")
            if found and statistics.median(found) > BAR:
                above.append(f"{program}, {where}")
        print(f"| {program} | {' | '.join(words)} |")
    print(f"\nabove {BAR}: {'; '.join(above) if above else 'none'}")
    for key, cell in results.items():
        for other in cell:
            if other not in (WITHOUT, WITH) and ratios(cell, other):
                print(f"{key}: {other} / without {statistics.median(ratios(cell, other)):.2f}")


if __name__ == "__main__":
    resumed.run(arguments(), measure, table, settings=("scale",))
