#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs of many runtimes, each started through `sukima run`: do they get the right number of threads, and are
their results right?

clients_test.py --sukima PROGRAM --build FOLDER [--rayon PROGRAM]
--rayon: only this program, which cargo has built; without it, all others.
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

from clean_environment import CLEAN
from quota_group import QuotaGroup

HERE = pathlib.Path(__file__).resolve().parent
SUM = "500000500000"  # of 1 to 1,000,000
parser = argparse.ArgumentParser()
for option in ("--sukima", "--build", "--rayon"):
    parser.add_argument(option, type=pathlib.Path)
OPTIONS = parser.parse_args()
OPTIONS.build = OPTIONS.build.resolve()  # Go wants its cache so

ENVIRONMENT = {**CLEAN, "GOCACHE": str(OPTIONS.build / "go-cache"), "GOFLAGS": "-mod=mod"}


def need(*programs):
    """The first of the programs that is installed, or the test is skipped."""
    for program in programs:
        if shutil.which(program):
            return program
    raise unittest.SkipTest(f"{' or '.join(programs)} is not installed")


def build(name, *command):
    """Runs a compiler, whose last argument is the file that it makes; skips if a library is missing."""
    file = OPTIONS.build / name
    done = subprocess.run([*command, str(file)], capture_output=True, text=True, timeout=120, env=ENVIRONMENT)
    if done.returncode != 0:
        missing = [line for line in done.stderr.splitlines() if "No such file" in line or "cannot find" in line]
        if not missing:
            raise AssertionError(f"{name} cannot be built: {done.stderr}")
        raise unittest.SkipTest(f"{name} cannot be built: {missing[0]}")
    return file


def openmp_program(*compilers):
    """The OpenMP client, by the first of these compilers that is installed."""
    compiler = need(*compilers)
    return build(f"openmp-{compiler}", compiler, "-O1", "-fopenmp", str(HERE / "openmp.c"), "-o")


def start(command, options=(), group=None, **variables):
    """Runs a command through `sukima run`; the words of its output by the first word of each line."""
    done = subprocess.run([str(OPTIONS.sukima), "run", *options, "--", *map(str, command)], capture_output=True,
                          text=True, timeout=100, env={**ENVIRONMENT, **variables},
                          preexec_fn=group.enter if group else None)
    if done.returncode == 77:
        raise unittest.SkipTest(done.stdout.strip())
    if done.returncode != 0:
        raise AssertionError(f"{command} ended with {done.returncode}: {done.stderr}{done.stdout}")
    words = dict(line.split(" ", 1) for line in done.stdout.splitlines())
    words["errors"] = done.stderr
    return words


class Clients(unittest.TestCase):
    def check(self, command, result, of_mask=False):
        """Checks that the program has the requested number of threads, the number of SUKIMA_CPUS, and the number that a quota
        allows."""
        three = "2" if of_mask and os.cpu_count() == 2 else "3"  # an affinity mask cannot be made larger
        for options, variables, threads in ((["--threads", "1"], {}, "1"), (["--threads", "3"], {}, three),
                                            ([], {"SUKIMA_CPUS": "3"}, three), ([], {"SUKIMA_CPUS": "0.7"}, "1")):
            words = start(command, options, **variables)
            self.assertEqual(words["threads"], threads, (options, variables))
            self.assertEqual(words["result"], result)
            self.assertEqual(words["errors"], "")
        with QuotaGroup(1.0) as group:
            if group.folder is None:
                print(f"\n  without a quota, because {group.why_not}", file=sys.stderr)
                return
            words = start(command, group=group)
            self.assertEqual(words["threads"], "1", "under a quota of 1.0")
            self.assertEqual(words["result"], result)

    def check_openmp(self, program):
        for options, variables, threads in ((["--threads", "3"], {}, "3"), ([], {"SUKIMA_CPUS": "3"}, "3"),
                                            ([], {"OMP_NUM_THREADS": "4"}, "4")):
            words = start([program, "0"], options, **variables)
            self.assertEqual([words[w] for w in ("first", "last", "loop")], [threads] * 3, (options, variables))
            self.assertEqual(words["given"], "3", "the program's own number")
            self.assertEqual(words["inner"], "1")
            self.assertEqual(words["result"], "5000050000")
            self.assertEqual(words["errors"], "")
        with QuotaGroup(1.0) as group:
            if group.folder is None:
                raise unittest.SkipTest(group.why_not)
            self.assertEqual(start([program, "0"], group=group)["first"], "1")
            # The quota falls and rises while the program runs.
            group.set(2.0)
            running = subprocess.Popen([str(OPTIONS.sukima), "run", "--min", "2", "--resize", "unless-asked", "--report",
                                        "--", program, "2.5"],
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT,
                                       preexec_fn=group.enter)
            first = running.stdout.readline()
            group.set(3.9)
            output, errors = running.communicate(timeout=60)
            self.assertIn("first 2", first)
            self.assertIn("result 5000050000", output)
            if os.cpu_count() == 2:  # the limit is the number of CPUs, so nothing may have changed
                self.assertNotIn("threads fit", errors)

    def test_openmp_of_gcc(self):
        self.check_openmp(openmp_program("gcc"))

    def test_openmp_of_clang(self):
        self.check_openmp(openmp_program("clang-19", "clang"))

    def test_openmp_programs_follow_a_quota_between_regions(self):
        if os.cpu_count() < 2:
            raise unittest.SkipTest("there is one CPU only")
        for compiler in ("gcc", "clang-19"):
            program = openmp_program(compiler)
            with QuotaGroup(2.0) as group:
                if group.folder is None:
                    raise unittest.SkipTest(group.why_not)
                # The tuner would try other numbers after a second, but this test is about the limits.
                command = [str(OPTIONS.sukima), "run", "--report", "--round", "ceil", "--resize",
                           "unless-asked", "--", str(program), "2.0"]
                group.set(1.0)
                running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                           env=ENVIRONMENT, preexec_fn=group.enter)
                self.assertEqual(running.stdout.readline(), "first 1\n")
                group.set(1.8)
                _, errors = running.communicate(timeout=60)
                self.assertIn("1 -> 2 threads fit: 1.8 CPUs are usable (limit: quota)", errors)

    def test_a_variable_with_a_number_wins_unless_the_user_says_always(self):
        program = openmp_program("gcc")
        with QuotaGroup(1.0) as group:
            if group.folder is None:
                raise unittest.SkipTest(group.why_not)
            for options, threads in (((), "5"), (("--resize", "unless-asked"), "5"), (("--resize", "always"), "1")):
                words = start([program, "0"], options, group, OMP_NUM_THREADS="5")
                self.assertEqual(words["first"], threads, options)

    def test_idle_threads_of_openmp_sleep_where_cpu_is_short(self):
        if os.cpu_count() < 2:
            raise unittest.SkipTest("there is one CPU only")
        for compiler in ("gcc", "clang-19"):
            program = openmp_program(compiler)
            with QuotaGroup(1.0) as group:
                if group.folder is None:
                    raise unittest.SkipTest(group.why_not)

                def run(**variables):
                    return subprocess.run([str(OPTIONS.sukima), "run", "--report", "--min", "2", "--", str(program), "1",
                                           "pauses"], capture_output=True, text=True, env={**ENVIRONMENT, **variables},
                                          timeout=60, preexec_fn=group.enter, check=True)

                # Threads that spin in the pauses would use up the quota.
                ended = run()
                self.assertLess(float(ended.stdout.split()[1]), 0.15, compiler)
                self.assertIn("idle threads of OpenMP sleep: CPU was short at the start", ended.stderr)
                # Two of the program, the wait monitor; gcc's runtime needs an oversubscription team besides,
                # clang's does not survive one that sleeps while the program ends.
                threads = int(ended.stdout.split()[3])
                self.assertEqual(threads, 3 if compiler != "gcc" else 3 + len(os.sched_getaffinity(0)) + 1)
                # The user has set the policy: the library does not change the runtime's.
                ended = run(OMP_WAIT_POLICY="active")
                self.assertGreater(float(ended.stdout.split()[1]), 0.15, compiler)
                self.assertNotIn("idle threads of OpenMP", ended.stderr)

    def test_openmp_programs_that_ask_keep_their_number(self):
        program = openmp_program("gcc")
        with QuotaGroup(1.0) as group:
            if group.folder is None:
                raise unittest.SkipTest(group.why_not)
            running = subprocess.Popen([str(OPTIONS.sukima), "run", "--resize", "unless-asked", "--report", "--",
                                        str(program), "1.2", "asks"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT,
                                       preexec_fn=group.enter)
            self.assertEqual(running.stdout.readline(), "maximum 1\n")
            group.set(1.9)
            output, errors = running.communicate(timeout=60)
            self.assertIn("last 1\n", output)
            self.assertIn("the program has queried its number of threads: it keeps 1", errors)

    def test_tbb(self):
        compiler = need("g++")
        program = build("tbb-client", compiler, "-std=c++17", "-O1", str(HERE / "tbb.cpp"), "-ltbb", "-o")
        self.check([program], SUM, of_mask=True)

    def test_numpy_with_openblas(self):
        for python in ("/usr/bin/python3", "python3"):
            if shutil.which(python) and subprocess.run([python, "-c", "import numpy"], capture_output=True).returncode == 0:
                return self.check([python, HERE / "blas.py"], str(400 ** 3), of_mask=True)
        raise unittest.SkipTest("numpy is not installed")

    def test_python_pool_of_processes(self):
        self.check([sys.executable, HERE / "pool.py"], str(sum(i * i for i in range(1000))))

    def check_rayon(self):
        self.check([OPTIONS.rayon], SUM)

    def test_go(self):
        compiler = need("go")
        program = OPTIONS.build / "go-client"
        done = subprocess.run([compiler, "build", "-o", str(program), str(HERE / "main.go")], capture_output=True,
                              text=True, timeout=200, env=ENVIRONMENT)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.check([program], SUM)

    def test_java(self):
        need("java")
        folder = OPTIONS.build / "java-client"
        done = subprocess.run([need("javac"), "-d", str(folder), str(HERE / "Main.java")], capture_output=True,
                              text=True, timeout=100)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.check(["java", "-cp", folder, "Main"], SUM, of_mask=True)

    def test_java_without_the_library(self):
        need("java")
        words = start(["java", "-XshowSettings:system", "-version"], ["--no-preload", "--threads", "3"])
        self.assertIn("-XX:ActiveProcessorCount=3", words["errors"])

    def test_node(self):
        node = need("node")
        result = subprocess.run([node, str(HERE / "main.js")], capture_output=True, text=True, timeout=60,
                                env=ENVIRONMENT).stdout.split()[-1]
        self.check([node, HERE / "main.js"], result, of_mask=True)
        self.assertEqual(start([node, HERE / "main.js"], ["--threads", "6"])["pool"], "6")
        # Its pools of four are smaller only if the user restricts the number of threads.
        self.assertEqual(start([node, HERE / "main.js"])["pool"], "undefined")
        self.assertEqual(start([node, HERE / "main.js"], ["--max", "2"])["pool"], "2")

    def test_a_shell_and_its_children(self):
        words = start(["sh", "-c", "echo threads $(nproc); echo online $(getconf _NPROCESSORS_ONLN)"],
                      ["--threads", "1"])
        self.assertEqual((words["threads"], words["online"]), ("1", "1"))


if __name__ == "__main__":
    OPTIONS.build.mkdir(parents=True, exist_ok=True)
    if OPTIONS.rayon is None:
        unittest.main(argv=sys.argv[:1], verbosity=2)
    unittest.main(argv=[sys.argv[0], "Clients.check_rayon"], verbosity=2)
