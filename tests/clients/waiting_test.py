#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""While CPU is short, idle threads of clang's OpenMP sleep, also in the child of a fork, where the runtime starts again.
While the same program uses Sukima, they also sleep between regions that are far apart. A program's own numbers of threads
reach its runtime, and its process ends with its last thread.

waiting_test.py --sukima PROGRAM --build FOLDER --compiler COMPILER
"""
import argparse
import pathlib
import subprocess

from clean_environment import CLEAN

HERE = pathlib.Path(__file__).resolve().parent
parser = argparse.ArgumentParser()
for option in ("--sukima", "--build"):
    parser.add_argument(option, type=pathlib.Path, required=True)
parser.add_argument("--compiler", required=True)
OPTIONS = parser.parse_args()

library, program = OPTIONS.build / "libwaiting.so", OPTIONS.build / "waiting"
for words in (["-DRUNTIME", "-shared", "-fPIC", "-o", library], ["-o", program, library, f"-Wl,-rpath,{OPTIONS.build}"]):
    subprocess.run([OPTIONS.compiler, HERE / "waiting.c", f"-I{HERE.parent.parent / 'src'}", "-pthread", *words], check=True)


def run(settings, *arguments):
    return subprocess.run([OPTIONS.sukima, "run", "--threads", "2", "--", "env", f"SUKIMA_RUN={settings}", program, *arguments],
                          capture_output=True, text=True, env=CLEAN, timeout=500, check=True).stdout


found = run("threads=2 min=1 fixed=1 waiting=2 cpus=2")
assert found == "0 0\n", found
# With more threads than CPUs, the library ignores how long they wait for CPUs.
run("threads=2 min=1 fixed=1 waiting=1 cpus=1", "sukima")
# Only a region for which the program gives no number gets the library's, until the program sets one for all regions.
found = run("threads=1 min=1 max=1 resize=2 cpus=2", "numbers")
assert found == "1 3 4 5 6 1 0 ", found
# The library's threads do not keep a process alive whose main thread has ended.
run("threads=2 min=1 fixed=1 waiting=2 cpus=2", "main-ends")
if "clang" not in OPTIONS.compiler:
    source, program = OPTIONS.build / "main-ends.c", OPTIONS.build / "main-ends"
    source.write_text("#include <pthread.h>\nstatic volatile int used;\nint main(void) {\n#pragma omp parallel\n"
                      "  if (used) used = 2;\n  pthread_exit(0);\n}\n", encoding="utf-8")
    subprocess.run([OPTIONS.compiler, "-fopenmp", source, "-o", program], check=True)
    run("threads=2 min=1 fixed=1 waiting=2 cpus=2")
