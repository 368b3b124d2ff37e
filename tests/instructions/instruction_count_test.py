# SPDX-License-Identifier: Apache-2.0
"""Tests of scripts/instruction_count.py with a made-up valgrind: instruction_count_test.py SCRIPT"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = sys.argv.pop()

# Reports 1000 instructions, and 7.5 for each unit of the size, which is the last argument.
VALGRIND = """#!/bin/sh
for argument; do
  case $argument in
    --callgrind-out-file=*) out=${argument#*=} ;;
    --toggle-collect=slow*) FIFTEEN=14 ;;
    --collect-atstart=yes) counts=yes ;;
  esac
done
[ "$argument" -lt 0 ] && { echo 'it crashed' >&2; exit 139; }
[ "$counts" ] && echo "totals: $((1000 + argument * ${FIFTEEN:-15} / 2))" > "$out"
"""


class InstructionCount(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        valgrind = self.folder / "valgrind"
        valgrind.write_text(VALGRIND, encoding="utf-8")
        valgrind.chmod(0o755)
        self.limits = self.folder / "limits.json"
        self.content = {
            "measurements": {
                "fib": {"program": "bench", "arguments": ["{size}"], "sizes": [10, 110], "unit": "call", "units": [20, 220]}
            },
            "limits": {"gcc-12": {"fib": 3.8}},
        }

    def run_script(self, *more, measurement="fib", compiler="gcc-12", program=SCRIPT):
        if isinstance(self.content, str):
            self.limits.write_text(self.content, encoding="utf-8")
        else:
            self.limits.write_text(json.dumps(self.content), encoding="utf-8")
        command = [sys.executable, SCRIPT, "--limits", str(self.limits), "--measurement", measurement,
                   "--compiler", compiler, "--program", str(program), *more]
        environment = {**os.environ, "PATH": f"{self.folder}:{os.environ['PATH']}"}
        done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
        return done.returncode, done.stdout + done.stderr

    def test_within_the_limit(self):
        code, output = self.run_script()
        self.assertEqual((code, output), (0, "fib, gcc-12: 3.75 instructions a call, limit 3.8\n"))

    def test_variables_for_the_program(self):
        self.content["measurements"]["fib"]["environment"] = {"FIFTEEN": "16"}
        self.assertIn("4.00 instructions a call", self.run_script()[1])

    def test_without_a_function(self):
        self.content["measurements"]["fib"]["excluding"] = ["slow(*"]
        self.assertIn("3.50 instructions a call", self.run_script()[1])

    def test_above_the_limit(self):
        self.content["limits"]["gcc-12"]["fib"] = 3.7
        code, output = self.run_script()
        self.assertEqual(code, 1)
        self.assertIn("3.75 instructions a call: more than the limit of 3.7", output)

    def test_no_limit_is_skipped(self):
        code, output = self.run_script(compiler="clang-19")
        self.assertEqual(code, 77)
        self.assertIn("No limit for fib with clang-19", output)

    def test_update_writes_the_limit(self):
        code, output = self.run_script("--update", "2", compiler="clang-19")
        self.assertEqual(code, 0, output)
        written = json.loads(self.limits.read_text(encoding="utf-8"))
        self.assertEqual(written["limits"], {"gcc-12": {"fib": 3.8}, "clang-19": {"fib": 3.9}})
        self.assertEqual(written["measurements"], self.content["measurements"])

    def assert_bad(self, reason, *more, **changes):
        code, output = self.run_script(*more, **changes)
        self.assertEqual(code, 2, output)
        self.assertIn(reason, output)
        self.assertNotIn("Traceback", output)

    def test_unknown_measurement(self):
        self.assert_bad("no measurement 'fob'; it has: fib", measurement="fob")

    def test_missing_program(self):
        self.assert_bad("there is no program", program=self.folder / "nothing")

    def test_crashing_program(self):
        self.content["measurements"]["fib"]["sizes"] = [-1, 10]
        self.assert_bad("ended with code 139:\nit crashed")

    def test_file_that_is_not_json(self):
        self.content = "{"
        self.assert_bad(":1: not JSON")

    def test_falling_units(self):
        self.content["measurements"]["fib"]["units"] = [220, 20]
        self.assert_bad("rising units")

    def test_incomplete_measurement(self):
        del self.content["measurements"]["fib"]["units"]
        self.assert_bad("lacks units")


if __name__ == "__main__":
    unittest.main()
