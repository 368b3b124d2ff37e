#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bench-exceptions with programs that print the output of the examples: which figure it takes, and what it refuses."""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(sys.argv.pop(1))

STOPPED = """0.013746 s in all, {caught} s from the throw to its catch
                                 all      worker 0      worker 1
aborts                             {aborts}             1             1
"""


class bench_exceptions(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.script = shutil.copy(SCRIPT, self.folder)

    def pretend(self, name, messages, code=0):
        """A program that writes its arguments to stdout and these messages to stderr."""
        program = self.folder / f"bench-exceptions-{name}"
        program.write_text(f"#!/bin/sh\necho \"{name} $*\"\ncat >&2 <<'END'\n{messages}END\nexit {code}\n", encoding="utf-8")
        program.chmod(0o755)

    def run_script(self, *words, code=0):
        done = subprocess.run([self.script, *words], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def figure(self, *words):
        return json.loads(self.run_script(*words).stdout)["seconds"]

    def test_takes_the_figures_of_a_search_that_was_stopped(self):
        self.pretend("stop", STOPPED.format(caught="0.0000639", aborts=2))
        self.assertEqual(self.figure("stop", "0.10", "time"), 0.013746)
        self.assertEqual(self.figure("stop", "0.10", "throw-to-catch"), 0.0000639)
        self.assertEqual(self.figure("stop", "0.10", "ended-tasks"), 3)
        self.assertEqual(self.figure("stop", "0.10", "limit"), 0.0005)
        self.pretend("stop", STOPPED.format(caught="0.0000639", aborts=0))
        self.assertEqual(self.figure("stop", "0.10", "ended-tasks"), 1)

    def test_says_that_nothing_was_thrown(self):
        self.pretend("stop", STOPPED.format(caught="-1.0000000", aborts=0))
        errors = self.run_script("stop", "1.00", "throw-to-catch", code=1).stderr
        self.assertEqual(errors.splitlines(), ["bench-exceptions: the program printed no such figure: 0.013746 s in all, "
                                               "-1.0000000 s from the throw to its catch"])

    def test_takes_the_number_of_visited_sets(self):
        self.pretend("subgraphs", "402537 sets were visited in 0.680 s\n")
        self.assertEqual(self.figure("prune", "1", "whole"), 402537)

    def test_runs_programs_without_and_with_try(self):
        self.pretend("fib", "")
        self.pretend("fib-with-try", "")
        self.assertEqual(self.run_script("try", "fib", "30", "plain").stdout, "fib 30\n")
        self.assertEqual(self.run_script("try", "fib", "30", "try").stdout, "fib-with-try 30\n")

    def test_a_program_that_fails_gives_no_figure(self):
        self.pretend("stop", STOPPED.format(caught="0.1", aborts=2), code=3)
        done = self.run_script("stop", "0.10", "time", code=1)
        self.assertEqual(done.stdout, "")
        self.assertIn("ended with code 3", done.stderr)
        self.pretend("stop", "something else\n")
        self.run_script("stop", "0.10", "ended-tasks", code=1)

    def test_refuses_what_it_does_not_know(self):
        for words in ((), ("stop", "0.1"), ("stop", "0.1", "money"), ("prune", "1", "half"), ("try", "fib", "30", "hard"), ("fly",)):
            errors = self.run_script(*words, code=2).stderr
            self.assertEqual(len(errors.splitlines()), 1, errors)


if __name__ == "__main__":
    unittest.main()
