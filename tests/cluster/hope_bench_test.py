#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`sukima bench --nodes 4 --hope` with real nodes, which are really killed: hope_bench_test.py SUKIMA FOLDER [long]

FOLDER has the program bench-cluster. The test checks rows, counts and results, but no times.
"""
import json
import os
import subprocess
import sys
import unittest
from pathlib import Path

SUKIMA, FOLDER = (str(Path(word).resolve()) for word in sys.argv[1:3])
LONG = sys.argv[3:4] == ["long"]
del sys.argv[1:4]
# So short that each node computes much of it; other tests check omission. Pentomino has no size that short.
SIZES = {"nqueens-array": "10", "uts": "103", "subgraphs": "28"}
if LONG:
    SIZES = {"pentomino": "12", "nqueens-array": "12", "uts": "3", "subgraphs": "36"}
ROWS = ["sequential", "stealing", "none", "alone", "kill-1", "kill-3"]


def bench(*words):
    ended = subprocess.run([SUKIMA, "bench", *words, "--nodes", "4", "--workers", "1", "--hope", "--seed", "36",
                            "--repetitions", "1", "--time-limit", "3600"], stdin=subprocess.DEVNULL,
                           capture_output=True, text=True, env={**os.environ, "SUKIMA_BENCH_DIR": FOLDER})
    if ended.returncode != 0:
        raise AssertionError(f"{words} ended with {ended.returncode}: {ended.stderr}")
    return ended.stdout


class scenarios(unittest.TestCase):
    def test_have_their_rows_and_counts_with_each_program(self):
        for program, size in SIZES.items():
            rows = [json.loads(line) for line in bench(program, "--size", size, "--json").splitlines()]
            self.assertEqual([row["scenario"] for row in rows], ROWS)
            for row in rows:
                where = (program, row)
                self.assertEqual((row["benchmark"], row["size"], row["seed"]), (program, int(size), 36), where)
                self.assertGreater(row["seconds"]["median"], 0, where)
                self.assertGreater(row["work"], 0, where)
                self.assertEqual(row["hope"], row["scenario"] not in ("sequential", "stealing"), where)
                self.assertEqual("lost_ms" in row, row["scenario"].startswith("kill-"), where)
                if row["hope"]:
                    self.assertEqual(len(row["paired"]), 1, where)
                    for count in ("published", "omitted", "twice", "messages"):
                        self.assertGreaterEqual(row[count], 0, where)
            # Each node that ends sends its result to the others, if they have not sent theirs.
            self.assertGreater(rows[ROWS.index("none")]["messages"], 0)
            self.assertEqual(rows[ROWS.index("alone")]["messages"], 0)

    def test_are_in_a_table(self):
        lines = bench("uts", "--size", "103").splitlines()
        self.assertIn(", seed 36", lines[2])
        self.assertEqual([line.split()[0] for line in lines[4:4 + len(ROWS)]], ROWS)
        self.assertEqual([line.split(":")[0] for line in lines[4 + len(ROWS):]], ["kill-1", "kill-3"])


if __name__ == "__main__":
    unittest.main()
