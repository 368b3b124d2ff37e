#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The preload library of a build with a sanitizer, inside programs: the first report ends them with an error.

sanitized_test.py --sukima PROGRAM --build FOLDER --compiler C_COMPILER --sanitizer address|thread

The OpenMP program and its runtimes are not instrumented (ThreadSanitizer does not understand their barriers), only
linked with the sanitizer, because the test checks the library. The program of threads is instrumented as well.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import time
import unittest

from clean_environment import CLEAN
from quota_group import QuotaGroup

HERE = pathlib.Path(__file__).resolve().parent
parser = argparse.ArgumentParser()
for option in ("--sukima", "--build"):
    parser.add_argument(option, type=pathlib.Path, required=True)
for option in ("--compiler", "--sanitizer"):
    parser.add_argument(option, required=True)
OPTIONS = parser.parse_args()
FLAGS = ["-O1", "-g1", "-fno-omit-frame-pointer"]
SANITIZER = f"-fsanitize={OPTIONS.sanitizer}"
# No leaks: libgomp keeps its team until the process ends. clang's runtime publishes the locks of its threads by atomic
# operations that ThreadSanitizer does not see, because the runtime is not instrumented. So its operations are ignored.
ENVIRONMENT = {**CLEAN, "ASAN_OPTIONS": "detect_leaks=0",
               "TSAN_OPTIONS": "halt_on_error=1:ignore_noninstrumented_modules=1"}


def compile_program(name, *arguments):
    file = OPTIONS.build / name
    subprocess.run([OPTIONS.compiler, *FLAGS, *arguments, "-o", str(file)], check=True, timeout=500)
    return file


class Sanitized(unittest.TestCase):
    def run_program(self, command, options=(), change=None):
        """Starts a command under a quota of 1, calls `change` with the group, and returns the output."""
        with QuotaGroup(1.0) as group:
            if group.folder is None:
                self.skipTest(group.why_not)
            running = subprocess.Popen([str(OPTIONS.sukima), "run", *options, "--", *map(str, command)],
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT,
                                       preexec_fn=group.enter)
            if change is not None:
                change(group)
            output, errors = running.communicate(timeout=500)
            self.assertEqual(running.returncode, 0, errors + output)
            self.assertNotIn("Sanitizer", errors)
            return output

    @staticmethod
    def quota_goes_up_and_down(group):
        for cpus in (1.9, 1.0, 1.5, 2.0):
            group.set(cpus)
            time.sleep(0.5)

    def check_openmp(self, name, *libraries):
        program = HERE / "openmp.c"
        part = OPTIONS.build / f"{name}.o"
        subprocess.run([OPTIONS.compiler, *FLAGS, "-fopenmp", "-c", str(program), "-o", str(part)], check=True,
                       timeout=500)
        linked = compile_program(name, SANITIZER, str(part), *libraries)
        for resize in ("never", "always"):
            output = self.run_program([linked, "2.5"], ["--resize", resize, "--max", "3"], self.quota_goes_up_and_down)
            self.assertIn("result 5000050000", output)
        self.run_program([linked, "1", "pauses"], ["--min", "2"])
        self.run_program([linked, "1", "asks"])

    def test_openmp_of_gcc(self):
        self.check_openmp("openmp-gomp", "-fopenmp")

    def test_openmp_of_clang(self):
        folder = "/usr/lib/llvm-19/lib"
        self.check_openmp("openmp-omp", f"-L{folder}", f"-Wl,-rpath,{folder}", "-lomp")

    def test_threads_and_children_that_ask(self):
        program = compile_program("asking-threads", SANITIZER, "-pthread", str(HERE / "asking_threads.c"))
        output = self.run_program([program, "0"])
        self.assertEqual(output, "online 1\nfailures 0\n", "the library answers")
        self.assertIn("failures 0", self.run_program([program, "2"], change=self.quota_goes_up_and_down))


if __name__ == "__main__":
    OPTIONS.build.mkdir(parents=True, exist_ok=True)
    unittest.main(argv=sys.argv[:1], verbosity=2)
