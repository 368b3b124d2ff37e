# SPDX-License-Identifier: Apache-2.0
"""Processes whose main thread ends by pthread_exit: main_ends_test.py PROGRAM PLUG-IN …

PROGRAM is main_ends_program, and each PLUG-IN has a copy of the library. A process that does not end reaches the time limit
of the test.
"""
import os
import signal
import subprocess
import sys
import unittest

PROGRAM, *PLUG_INS = sys.argv[1:]


def start(way, workers):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SUKIMA_")}
    return subprocess.Popen([PROGRAM, way, *PLUG_INS], stdout=subprocess.PIPE, text=True,
                            env={**environment, "SUKIMA_WORKERS": workers})


class MainEnds(unittest.TestCase):
    def expect(self, way, *lines):
        for workers in ("1", "4"):
            with start(way, workers) as process:
                out, _ = process.communicate()
            self.assertEqual((process.returncode, out.splitlines()), (0, list(lines)), f"{way}, {workers} workers")

    def test_alone(self):
        self.expect("alone", "main 2584", "exit 2584")

    def test_no_thread_can_be_started(self):
        self.expect("no-thread", "main 2584", "exit 2584")

    def test_its_destructors_compute(self):
        self.expect("thread-destructor", "main 2584", "thread's end 2584", "exit 2584")

    def test_another_thread_goes_on(self):
        self.expect("thread-after", "main 2584", "thread 2584", "exit 2584")

    def test_the_runtime_starts_later(self):
        self.expect("thread-first", "thread 2584", "exit 2584")

    def test_a_runtime_that_nothing_ends(self):
        self.expect("own-runtime", "main 2584", "exit 2584")

    def test_copies_of_the_library(self):
        self.expect("plug-ins", *["plug-in 5050"] * len(PLUG_INS), "exit 2584")

    def test_a_child_of_another_thread(self):
        self.expect("child", "parent 2584", "child 2584", "exit 2584", "status 0", "exit 2584")

    def test_signals_end_the_process(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            with start("signal", "4") as process:
                self.assertEqual(process.stdout.readline(), "main 2584\n")
                self.assertEqual(process.stdout.readline(), "waits\n")
                process.send_signal(number)
                self.assertEqual(process.wait(), -number)


unittest.main(argv=sys.argv[:1])
