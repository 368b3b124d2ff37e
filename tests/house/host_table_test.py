# SPDX-License-Identifier: Apache-2.0
"""Tests of the tables that lab/scripts/host-table.py makes of measurements: host_table_test.py SCRIPT"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = sys.argv.pop()


def run_of(one, two, three, four, speed, count):
    return {"fixed": {"1": one, "2": two, "3": three, "4": four}, "static": 1, "speed": speed, "count": count}


class Table(unittest.TestCase):
    def table(self, results, *options):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "results")
            file.write_text(results if isinstance(results, str) else json.dumps(results), encoding="utf-8")
            return subprocess.run([sys.executable, SCRIPT, "--programs", folder, "--measured", folder, "--image", folder,
                                   "--results", file, "--table-only", *options], capture_output=True, text=True)

    def test_has_medians_and_both_comparisons(self):
        results = {"capped lock": [run_of(50, 100, 80, 20, 90, 2), run_of(50, 100, 80, 20, 100, 2),
                                   run_of(50, 100, 80, 20, 100, 3)]}
        done = self.table(results)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.splitlines()[2:], [
            "| capped | lock |  0.50  1.00  0.80  0.20 | 2 | 1 | 2,3 | 1.00 | 0.50 (0.50–0.56) | 3 |"])

    def test_shows_only_what_is_asked_for_and_measured(self):
        results = {"shared lock": [run_of(1, 2, 3, 4, 4, 4)], "fewer lock": [run_of(4, 3, 2, 1, 4, 1)]}
        rows = self.table(results, "--ways", "fewer", "capped").stdout.splitlines()[2:]
        self.assertEqual(rows, ["| fewer | lock |  1.00  0.75  0.50  0.25 | 1 | 1 | 1 | 1.00 | 1.00 (1.00–1.00) | 1 |"])

    def test_shows_the_idle_neighbour_only_where_it_is_named(self):
        results = {"idle lock": [run_of(50, 100, 80, 20, 100, 2)]}
        self.assertEqual(self.table(results).stdout.splitlines()[2:], [])
        self.assertEqual(self.table(results, "--ways", "idle").stdout.splitlines()[2:], [
            "| idle | lock |  0.50  1.00  0.80  0.20 | 2 | 1 | 2 | 1.00 | 0.50 (0.50–0.50) | 1 |"])

    def test_refuses_a_file_of_something_else(self):
        done = self.table("no results")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("is not a file of results", done.stderr)


if __name__ == "__main__":
    unittest.main()
