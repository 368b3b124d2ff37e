# SPDX-License-Identifier: Apache-2.0
"""Plug-ins that are closed: unloading_test.py PROGRAM PLUG-IN …

PROGRAM is unloading_program, and each PLUG-IN has a copy of the library. Threads and signal handlers would run code that is
not there any more.
"""
import os
import subprocess
import sys
import unittest

PROGRAM, *PLUG_INS = sys.argv[1:]


class Unloading(unittest.TestCase):
    def expect(self, function, last):
        environment = {name: value for name, value in os.environ.items() if not name.startswith("SUKIMA_")}
        done = subprocess.run([PROGRAM, function, *PLUG_INS], stdout=subprocess.PIPE, text=True, check=True,
                              env={**environment, "SUKIMA_WORKERS": "1"})
        # g++ keeps the first copy loaded, because all copies use its variables (STB_GNU_UNIQUE).
        self.assertEqual(done.stdout.splitlines()[-1], last)

    def test_a_plug_in_that_computed_nothing_is_unloaded(self):
        self.expect("computes_nothing", "7 unloaded")

    def test_the_default_runtime_stays(self):
        self.expect("in_default_runtime", "7 loaded")

    def test_the_thread_of_deadlines_stays(self):
        self.expect("with_deadline", "7 loaded")


unittest.main(argv=sys.argv[:1])
