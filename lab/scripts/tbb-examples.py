#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares oneTBB's own examples with oneTBB and with Sukima's headers of the same names, in a table.

Builds each example of a checkout of https://github.com/uxlfoundation/oneTBB twice, with oneTBB as it is installed and with
sukima::tbb, runs the two in turns, and prints medians of whole programs: seconds, and CPU seconds. It stores the results in a
file, and does not repeat them when it is called again with that file. Exit code 1: Sukima takes longer than the target allows.

    tbb-examples.py --checkout oneTBB --programs build/release/bin --results tbb-examples.json

The flow graph's examples are left out, because sukima::tbb has no flow graph, and the game of life, which runs for a given time.
"""
import argparse
import os
import pathlib
import re
import resource
import statistics
import subprocess
import tempfile
import time

import resumed
from places import CLEAN, ROOT, give_up, locked

TARGET = 1.0
SYSTEMS = ("tbb", "sukima")
# Example: its sources, and the arguments of its program. The word auto stands for as many threads as there are CPUs.
EXAMPLES = {
    "concurrent_hash_map/count_strings": ("count_strings.cpp", "auto 2000000 silent"),
    "concurrent_priority_queue/shortpath": ("shortpath.cpp", "auto N=1000 start=0 end=99 silent"),
    "getting_started/sub_string_finder": ("sub_string_finder.cpp", "silent"),
    "migration/recursive_fibonacci": ("fibonacci.cpp", "34 16 20"),
    "parallel_for/polygon_overlay": ("pover_video.cpp polymain.cpp polyover.cpp ../../common/gui/convideo.cpp",
                                     "auto --polys 20000 --size 1000x1000"),
    "parallel_for/seismic": ("universe.cpp seismic_video.cpp main.cpp ../../common/gui/convideo.cpp", "auto 1000 silent"),
    "parallel_for/tachyon": ("src/trace.tbb.cpp src/[!t]*.cpp src/t[!r]*.cpp src/trace_rest.cpp src/triangle.cpp "
                             "../../common/gui/convideo.cpp", "silent dat/balls.dat"),
    "parallel_for_each/parallel_preorder": ("parallel_preorder.cpp Graph.cpp main.cpp", "auto silent 20000 20"),
    "parallel_pipeline/square": ("square.cpp gen_input.cpp", "auto INPUT OUTPUT silent"),
    "parallel_reduce/convex_hull": ("convex_hull_sample.cpp", "auto 5000000 silent"),
    "parallel_reduce/pi": ("main.cpp pi.cpp", "auto 1000000000"),
    "parallel_reduce/primes": ("main.cpp primes.cpp", "silent auto 100000000 1000 5"),
    "task_arena/fractal": ("fractal.cpp main.cpp ../../common/gui/convideo.cpp", "auto 1 2000 silent"),
    "task_group/sudoku": ("sudoku.cpp", "auto input1 silent"),
    "test_all/fibonacci": ("fibonacci.cpp", "100 auto 500"),
}
SQUARED_NUMBERS = 1000000


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    resumed.add_arguments(parser)
    parser.add_argument("--checkout", type=pathlib.Path, required=True, help="folder of oneTBB's sources")
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--only", type=re.compile, default=re.compile(""), help="a regular expression for names of examples")
    parser.add_argument("--repetitions", type=int, default=5)
    given = parser.parse_args()
    given.checkout = given.checkout.resolve()
    if not (given.checkout / "examples/common/utility").is_dir():
        parser.error(f"'{given.checkout}' has no examples: give a checkout of oneTBB")
    return given


def options_of(given, system):
    """The compiler's options before and after the sources."""
    if system == "tbb":
        return [], ["-ltbb", "-ltbbmalloc"]
    build = given.programs.parent
    return ([f"-I{ROOT}/include/sukima/tbb-compat", f"-I{ROOT}/include"],
            [build / "src/runtime/libsukima.a", build / "src/capacity/libsukima-capacity.a", "-lboost_context", "-ldl"])


def build(given, name, system, folder):
    """The program of an example."""
    place = given.checkout / "examples" / name
    sources = [source for pattern in EXAMPLES[name][0].split() for source in sorted(place.glob(pattern))]
    program = folder / f"{place.name}-{system}"
    before, after = options_of(given, system)
    done = subprocess.run([given.compiler, "-std=c++20", "-O2", "-w", *before, f"-I{given.checkout}/examples",
                           *sources, "-o", program, *after, "-pthread"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        give_up(f"{name} does not compile with {system}: {done.stderr[-2000:]}")
    return program


def times_of(given, name, program, folder):
    """Seconds, and CPU seconds, of a run."""
    threads = str(len(os.sched_getaffinity(0)))
    words = {"auto": threads, "INPUT": str(folder / "input"), "OUTPUT": str(folder / "output")}
    command = [program, *(words.get(word, word) for word in EXAMPLES[name][1].split())]
    with locked(given.lock):
        before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        done = subprocess.run(command, cwd=given.checkout / "examples" / name, capture_output=True, check=False, env=CLEAN)
        seconds, after = time.monotonic() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        give_up(f"{' '.join(map(str, command))} ended with code {done.returncode}: {done.stderr.decode(errors='replace')}")
    return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(given, measurements):
    with tempfile.TemporaryDirectory() as name_of_folder:
        folder = pathlib.Path(name_of_folder)
        (folder / "input").write_text("".join(f"{number}\n" for number in range(SQUARED_NUMBERS)), encoding="utf-8")
        for name in filter(given.only.search, EXAMPLES):
            cell = measurements.results.setdefault(name, {system: [] for system in SYSTEMS})
            if all(len(runs) >= given.repetitions for runs in cell.values()):
                continue
            if measurements.is_over():
                return
            programs = {system: build(given, name, system, folder) for system in SYSTEMS}
            while len(cell[SYSTEMS[-1]]) < given.repetitions:
                for system in SYSTEMS:
                    cell[system].append(times_of(given, name, programs[system], folder))
                measurements.keep()


def table(results, _given):
    print("| example | TBB | Sukima | Sukima / TBB | CPU: TBB | Sukima | Sukima / TBB |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    above = []
    for name, cell in sorted(results.items()):
        if not all(cell[system] for system in SYSTEMS):
            continue
        cells = []
        for kind in range(2):
            tbb, sukima = (statistics.median(run[kind] for run in cell[system]) for system in SYSTEMS)
            cells += [f"{tbb:.2f}", f"{sukima:.2f}", f"{sukima / tbb:.2f}"]
            if kind == 0 and sukima > TARGET * tbb:
                above.append(name)
        print(f"| `{name}` | {' | '.join(cells)} |")
    if above:
        print(f"\nabove {TARGET}: {'; '.join(above)}")
        raise SystemExit(1)


if __name__ == "__main__":
    resumed.run(arguments(), measure, table, (), settings=("compiler",))
