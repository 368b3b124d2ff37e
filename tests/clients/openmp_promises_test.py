#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs that rely on OpenMP's guarantees about the number of threads have right results under `sukima run`: alone,
beside busy loops that begin before or after them, and under quotas that change.

openmp_promises_test.py --sukima PROGRAM --build FOLDER --compiler COMPILER… [--tests CLASS…]
"""
import argparse
import contextlib
import json
import os
import pathlib
import shutil
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
parser.add_argument("--compiler", nargs="+", required=True)  # gcc: libgomp; clang-19: libomp
parser.add_argument("--tests", nargs="+", default=["WithoutLoops", "BesideLoops"], help="classes of tests")
OPTIONS = parser.parse_args()
CPUS = len(os.sched_getaffinity(0))
REGIONS = 2000  # enough for each guarantee, and no more: beside other programs a region may take a time slice
SLOW_REGIONS = 1000  # if more threads want CPU than there are CPUs
SECONDS = 2.5  # long enough for the experiments of --resize, and for three readings of the limits


@contextlib.contextmanager
def hogs(count):
    """Busy loops that run as long as the block."""
    running = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for process in running:
            process.kill()
            process.wait()


def cpus_allowed():
    """The number of CPUs that the limits of this process allow."""
    command = [str(OPTIONS.sukima), "probe", "--json"]
    limits = json.loads(subprocess.run(command, capture_output=True, check=True, env=CLEAN).stdout)["limits"]
    return min(limit["value"] for limit in limits
               if limit["kind"] in ("online", "affinity", "cpuset", "quota") and limit["value"] is not None)


class Promises(unittest.TestCase):
    """Compiles and starts the program."""

    @classmethod
    def setUpClass(cls):
        cls.programs = {}
        for compiler in OPTIONS.compiler:
            if not shutil.which(compiler):
                raise AssertionError(f"{compiler} is not installed")
            program = OPTIONS.build / f"openmp-promises-{compiler}"
            subprocess.run([compiler, "-O1", "-fopenmp", str(HERE / "openmp_promises.c"), "-o", str(program)], check=True,
                           timeout=500)
            cls.programs[compiler] = program

    def start(self, program, group, options=(), regions=REGIONS, quota=None, seconds=SECONDS, until_broken=(),
              **variables):
        command = [str(OPTIONS.sukima), "run", *options, "--", str(program), str(regions), str(seconds),
                   group, *until_broken]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                env={**CLEAN, **variables}, preexec_fn=quota.enter if quota else None)

    def await_first_region(self, running):
        """Returns the number of its threads."""
        before = ""
        for line in running.stdout:
            if line.startswith("first "):
                return int(line.split()[1])
            before += line
        self.fail(before)

    def finish(self, running):
        output, _ = running.communicate(timeout=500)
        self.assertEqual(running.returncode, 0, output)
        self.assertIn("0 broken promises", output)
        return output


class WithoutLoops(Promises):
    """The quotas of a control group and the program decide about its threads."""

    def test_alone(self):
        for compiler, program in self.programs.items():
            for group in ("silent", "asks", "roots", "dynamic"):
                with self.subTest(compiler=compiler, group=group):
                    self.finish(self.start(program, group, seconds=0.5))
            with self.subTest(compiler=compiler, group="given"):
                self.finish(self.start(program, "given", regions=SLOW_REGIONS, seconds=0.5))

    def test_a_quota_falls_and_rises(self):
        for compiler, program in self.programs.items():
            with self.subTest(compiler=compiler), QuotaGroup(2.0) as quota:
                if quota.folder is None:
                    self.skipTest(quota.why_not)
                running = self.start(program, "silent", quota=quota, seconds=2 * SECONDS)
                self.await_first_region(running)
                for cpus in (1.0, 1.9, 0.6):
                    quota.set(cpus)
                    time.sleep(SECONDS / 2)  # more than three readings
                quota.set(2.0)
                self.finish(running)

    def test_programs_that_resizing_breaks_are_found(self):
        """The program notices another number of threads: with --resize always it fails where the number changes.

        The quota rises, so the number rises, too: then only the limits decide, whatever else runs here.
        """
        promises = ("sums_by_thread_number", "threads_counted_without_a_question")
        if cpus_allowed() <= 1:
            self.skipTest("needs two CPUs")
        for compiler, program in self.programs.items():
            with self.subTest(compiler=compiler), QuotaGroup(1.0) as quota:
                if quota.folder is None:
                    self.skipTest(quota.why_not)
                running = self.start(program, "silent", ("--resize", "always"), regions=0, seconds=0,
                                     quota=quota, until_broken=promises)
                self.assertEqual(self.await_first_region(running), 1)
                quota.set(2.0)
                output, _ = running.communicate(timeout=500)
                self.assertEqual(running.returncode, 1, output)
                for promise in promises:
                    self.assertIn(f"broken {promise}", output)


class BesideLoops(Promises):
    """Busy loops compete with the program. They take CPU from all tests that run at the same time."""

    def test_beside_busy_loops(self):
        for compiler, program in self.programs.items():
            for group in ("silent", "asks"):
                with self.subTest(compiler=compiler, group=group), hogs(2):
                    self.finish(self.start(program, group, regions=SLOW_REGIONS))

    def test_busy_loops_come_later(self):
        for compiler, program in self.programs.items():
            with self.subTest(compiler=compiler):
                # The result is that of an idle machine, whatever else runs here.
                running = self.start(program, "silent", seconds=2 * SECONDS, SUKIMA_CPUS=str(CPUS))
                self.await_first_region(running)
                time.sleep(0.5)
                with hogs(2):
                    time.sleep(SECONDS)
                self.finish(running)

if __name__ == "__main__":
    OPTIONS.build.mkdir(parents=True, exist_ok=True)
    unittest.main(argv=[sys.argv[0], *OPTIONS.tests], verbosity=2)
