#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the time to compile the same small program with Sukima, with other libraries and without any.

    compile-time.py [--include FOLDER] [--rounds N] [--compiler COMPILER]... [--json]

Each compiler compiles each program with -O2 to an object file, in interleaved rounds. The table has the medians with
quartiles of the processor time, as seconds and as a multiple of the plain program, and the size of the object's code.
The script leaves out a library that is not installed, and prints that.
"""
import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from figures import quartiles

FIB = "long fib({0}int n) {{ if (n < 2) return n; {1} }}\n"
FORK2 = FIB.format(
    "sukima::context c, ",
    "auto [a, b] = sukima::fork2(c, [=](sukima::context d) { return fib(d, n - 1); },"
    " [=](sukima::context d) { return fib(d, n - 2); }); return a + b;")
PROGRAMS = {
    "plain": "long fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }\n",
    "sukima, fork.hpp": "#include <sukima/fork.hpp>\n" + FORK2,
    "sukima, sukima.hpp": "#include <sukima/sukima.hpp>\n" + FORK2,
    "OpenMP": FIB.format("", "long a, b;\n#pragma omp task shared(a)\n a = fib(n - 1);\n b = fib(n - 2);\n"
                             "#pragma omp taskwait\n return a + b;"),
    "oneTBB, parallel_invoke.h": "#include <tbb/parallel_invoke.h>\n" + FIB.format(
        "", "long a, b; tbb::parallel_invoke([&] { a = fib(n - 1); }, [&] { b = fib(n - 2); }); return a + b;"),
    "std::async": "#include <future>\n" + FIB.format(
        "", "auto a = std::async([=] { return fib(n - 1); }); const long b = fib(n - 2); return a.get() + b;"),
}


def cpu_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def compile_once(compiler, include, source, target):
    """The compiler's processor time in seconds, or its error message."""
    before = cpu_seconds()
    done = subprocess.run([compiler, "-std=c++20", "-O2", "-fopenmp", f"-I{include}", "-c", source, "-o", target],
                          capture_output=True, text=True, check=False, env={**os.environ, "CCACHE_DISABLE": "1"})
    return cpu_seconds() - before if done.returncode == 0 else done.stderr


def code_bytes(target):
    """Bytes of code and constants."""
    return int(subprocess.run(["size", target], capture_output=True, text=True, check=True).stdout.split("\n")[1].split()[0])


def measure(compiler, include, rounds, folder):
    """{program: ([seconds], bytes)} of the programs whose headers are there."""
    results = {}
    for turn in range(rounds + 1):  # the first one reads the headers from the disk, and does not count
        for number, (name, text) in enumerate(PROGRAMS.items()):
            source = folder / f"{number}.cpp"
            target = folder / f"{number}.o"
            source.write_text(text)
            seconds = compile_once(compiler, include, source, target)
            if isinstance(seconds, str):
                if "No such file" not in seconds and "file not found" not in seconds:
                    raise SystemExit(f"compile-time.py: {compiler} cannot compile '{name}': {seconds}")
                if turn == 0:
                    print(f"{name} is left out: its headers are not installed", file=sys.stderr)
            elif turn > 0:
                results.setdefault(name, ([], code_bytes(target)))[0].append(seconds)
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--include", type=Path, default=Path(__file__).resolve().parent.parent.parent / "include",
                        help="folder of sukima's headers [include]")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--compiler", action="append", help="[g++ and clang++-19]")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    if given.rounds < 2:
        parser.error("--rounds: give 2 or more, for quartiles")
    compilers = given.compiler or [each for each in ("g++", "clang++-19") if shutil.which(each)]
    with tempfile.TemporaryDirectory() as folder:
        for compiler in compilers:
            if not shutil.which(compiler):
                parser.error(f"--compiler: there is no {compiler}")
            results = measure(compiler, given.include, given.rounds, Path(folder))
            plain = statistics.median(results["plain"][0])
            if not given.json:
                print(f"{compiler:<28} {'seconds':>8} {'quartiles':>15} {'/ plain':>8} {'bytes':>7}")
            for name, (seconds, size) in results.items():
                low, middle, high = quartiles(seconds)
                if given.json:
                    print(json.dumps({"compiler": compiler, "program": name, "seconds": middle, "quartiles": [low, high],
                                      "over_plain": middle / plain, "bytes": size}))
                else:
                    print(f"  {name:<26} {middle:8.3f} [{low:.3f} - {high:.3f}] {middle / plain:8.1f} {size:7}")


if __name__ == "__main__":
    main()
