#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How soon a node that joins has work: join_time_test.py SUKIMA JOIN_TIME_PROGRAM [ROUNDS]

Two nodes are busy, and a third one joins. The time is that from the start of `sukima cluster join` until the node begins
its first task. The verdict is a time, so the label is measure. join_test.py tests that it gets work at all.
"""
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from nodes import DIES_WITH_TEST

SUKIMA, PROGRAM = (str(Path(word).resolve()) for word in sys.argv[1:3])
ROUNDS = int(sys.argv[3]) if len(sys.argv) > 3 else 9
del sys.argv[1:]
NODES = 2
MOST = 0.1
ENVIRONMENT = {**os.environ, "SUKIMA_WORKERS": "1", "SUKIMA_CLUSTER_TOKEN": "0123456789abcdef0123456789abcdef"}


def start(*words):
    return subprocess.Popen([*DIES_WITH_TEST, SUKIMA, "cluster", *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, env=ENVIRONMENT)


def wait_for(file, *running):
    while not file.exists():
        for process in running:
            if process.poll() is not None:
                raise RuntimeError(f"{process.args} ended with {process.returncode}: {process.stderr.read()}")
        time.sleep(0.001)


def seconds_until_work(options):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        launcher = start("run", *options, "-n", str(NODES), "--room", "1", "--", PROGRAM, name)
        try:
            address = re.fullmatch(r"sukima: nodes may join at (\S+)\n", launcher.stderr.readline()).group(1)
            for node in range(NODES):
                wait_for(folder / f"working-{node}", launcher)
            begin = time.time()
            joined = start("join", *options, address, "--", PROGRAM, name)
            mark = folder / f"working-{NODES}"
            wait_for(mark, launcher, joined)
            took = mark.stat().st_mtime - begin
            (folder / "go").touch()
            for process in (launcher, joined):
                output, errors = process.communicate()
                if (output, process.returncode) != ("1\n", 0):
                    raise RuntimeError(f"{process.args} printed {output!r} and ended with {process.returncode}: {errors}")
        finally:
            launcher.kill()
            launcher.wait()
    return took


class a_node_that_joins(unittest.TestCase):
    def test_has_work_soon(self):
        for name, options in (("stealing", ()), ("--hope", ("--hope",))):
            times = [seconds_until_work(options) for _ in range(ROUNDS)]
            first, middle, third = statistics.quantiles(times, n=4, method="inclusive")
            print(f"{name}: {1e3 * middle:.0f} ms ({1e3 * first:.0f}–{1e3 * third:.0f}), at most {1e3 * max(times):.0f}",
                  flush=True)
            self.assertLessEqual(middle, MOST, name)


if __name__ == "__main__":
    unittest.main()
