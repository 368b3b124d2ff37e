#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares searches that split themselves in Java with plain Java and with ForkJoinPool.

    java-speed.py [--build FOLDER] [--fib N] [--queens N] [--rounds N] [--workers N] [--calls N]

Each way runs in a virtual machine of its own, in interleaved rounds. The best cut-off of ForkJoinPool is found by a search with
all workers: first every third size, then those around the best one. The table has the medians of the seconds, and the ratios
that the project aims at. A second table has what a call to a sleeping method costs: by capture and resume, by virtual
threads (with `java`, or else the first virtual machine below /usr/lib/jvm that has them), and by two platform threads.
"""
import argparse
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


class Measurement:
    def __init__(self, classes, runtime, sizes):
        self.path, self.sizes = f"{classes}:{runtime}", sizes

    def seconds(self, problem, way, workers, cut_off, repeats):
        result = subprocess.run(["java", "-Xss64m", "-XX:+UseParallelGC", "-cp", self.path, "Speed", problem, way,
                                 *map(str, (self.sizes[problem], workers, cut_off, repeats))], capture_output=True, text=True)
        if result.returncode != 0:
            sys.exit(f"java-speed.py: {problem} {way} ended with code {result.returncode}:\n{result.stderr[-2000:]}")
        return [float(line) for line in result.stdout.split()]

    def best_cut_off(self, problem, workers):
        """For fib the number below which no task is made, for queens the row."""
        size = self.sizes[problem]
        choices = list(range(size // 3, size - 2, 3) if problem == "fib" else range(1, 5))
        found = {}

        def try_out(cut_offs):
            for cut_off in cut_offs:
                if cut_off not in found:
                    found[cut_off] = min(self.seconds(problem, "pool", workers, cut_off, 6))
            return min(found, key=found.get)

        best = try_out(choices)
        return try_out([best - 1, best + 1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build/release", help="folder of the build (build/release)")
    parser.add_argument("--fib", type=int, default=35, help="which Fibonacci number (35)")
    parser.add_argument("--queens", type=int, default=12, help="size of the board (12)")
    parser.add_argument("--rounds", type=int, default=1, help="virtual machines for each way (1)")
    parser.add_argument("--calls", type=int, default=20000, help="calls to sleeping methods in one repeat (20000)")
    parser.add_argument("--workers", type=int, default=2, help="workers of the second setting (2)")
    arguments = parser.parse_args()
    for name in ("fib", "queens", "rounds", "workers", "calls"):
        if getattr(arguments, name) < 1:
            parser.error(f"--{name} must be 1 or more")
    if not (arguments.build / "bin/sukima-javac").exists():
        parser.error(f"there is no {arguments.build}/bin/sukima-javac: build it (make build, with a JDK), or give --build")
    runtime = arguments.build / "lib/sukima-java.jar"
    with tempfile.TemporaryDirectory(prefix="sukima-java-") as classes:
        subprocess.run([arguments.build / "bin/sukima-javac", "-d", classes, ROOT / "lab/benchmarks/java/Speed.java",
                        ROOT / "lab/benchmarks/java/Handover.java"], check=True)
        measurement = Measurement(classes, runtime, {"fib": arguments.fib, "queens": arguments.queens})
        for problem in ("fib", "queens"):
            report(measurement, problem, arguments.workers, arguments.rounds)
        report_handovers(measurement.path, arguments.calls, arguments.rounds)


NO_VIRTUAL_THREADS = 3


def handover(path, java, way, depth, calls):
    """Seconds for a call, for each repeat; None where the virtual machine has no virtual threads."""
    result = subprocess.run([java, "-Xss64m", "-XX:+UseParallelGC", "-cp", path, "Handover", way, str(depth), str(calls), "9"],
                            capture_output=True, text=True)
    if result.returncode == NO_VIRTUAL_THREADS:
        return None
    if result.returncode != 0:
        sys.exit(f"java-speed.py: {way} at depth {depth} ended with code {result.returncode}:\n{result.stderr[-2000:]}")
    return [float(line) for line in result.stdout.split()]


def report_handovers(path, calls, rounds):
    candidates = ["java", *map(str, sorted(Path("/usr/lib/jvm").glob("*/bin/java")))]
    virtual = next((java for java in candidates if handover(path, java, "virtual", 1, 1) is not None), None)
    ways = {"plain": "java", "sukima": "java", "virtual": virtual, "platform": "java"}
    print("a call to a method that sleeps below so many others, in microseconds")
    for depth in (1, 10, 100, 1000):
        times = {way: [] for way in ways}
        for _ in range(rounds):
            for way, java in ways.items():
                times[way] += handover(path, java, way, depth, calls) if java else []
        cells = [f"{way} {statistics.median(values) * 1e6:9.3f}" if values else f"{way} left out: no Java 21 or later is here"
                 for way, values in times.items()]
        print(f"  {depth:5} " + "  ".join(cells))


def report(measurement, problem, workers, rounds):
    cut_off = measurement.best_cut_off(problem, workers)
    no_cut_off = 0 if problem == "fib" else measurement.sizes[problem]
    ways = {"plain": ("plain", 1, 0), "sukima, 1 worker": ("sukima", 1, 0), f"sukima, {workers} workers": ("sukima", workers, 0),
            "pool without a cut-off, 1 worker": ("pool", 1, no_cut_off),
            f"pool without a cut-off, {workers} workers": ("pool", workers, no_cut_off),
            f"pool, best cut-off {cut_off}, {workers} workers": ("pool", workers, cut_off)}
    times = {name: [] for name in ways}
    for _ in range(rounds):
        for name, way in ways.items():
            times[name] += measurement.seconds(problem, *way, 3 if "without" in name else 15)  # those take long
    medians = {name: statistics.median(values) for name, values in times.items()}
    print(f"{problem} {measurement.sizes[problem]}")
    for name, median in medians.items():
        print(f"  {name:40} {median:8.4f} s")
    plain, one, many, pool_one, _, best = medians.values()
    print(f"  one worker / plain {one / plain:.2f} (at most 1.3); pool without a cut-off / one worker {pool_one / one:.1f} (at least 10)")
    print(f"  one worker / {workers} workers {one / many:.2f} (with 2 at least 1.9); best pool / {workers} workers {best / many:.2f} (at least 1)")


if __name__ == "__main__":
    main()
