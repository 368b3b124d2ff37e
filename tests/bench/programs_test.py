# SPDX-License-Identifier: Apache-2.0
"""Runs every benchmark program that was built with small sizes, and a pretended one whose benchmarks go wrong."""
import argparse
import json
import pathlib
import subprocess
import sys
import unittest

arguments = argparse.ArgumentParser()
arguments.add_argument("--programs", type=pathlib.Path, required=True)
arguments.add_argument("--pretended", type=pathlib.Path, required=True)
arguments.add_argument("--sizes", type=pathlib.Path, required=True)
given = arguments.parse_args()
table = json.loads(given.sizes.read_text())

# Small sizes that take milliseconds. Most benchmarks are in every program.
small = {
    "fib": 20, "nqueens": 8, "nqueens-array": 8, "pentomino": None, "lu": 192, "cmp": 1000,
    "grav": 12, "matmul": 192, "sort": 50000, "uts": 101, "spantree": 5000, "empty": 200, "empty-after-silence": 5, "empty-plain-context": 200,
    "coarse": 5, "coarse-after-silence": 5, "saxpy": 100000, "throw": 6, "startup": 1, "idle": 20,
    "idle-silence": 20, "memory": 500, "phases": 1000,
    "fft": 13, "sparselu": 10, "histogram": 300000, "bfs": 20000,
    "strassen": 256, "health": 3, "floorplan": 10, "alignment": 12, "forest": 10000, "neighbours": 5000,
    "nbody": 3000, "words": 1,
    "cover": 8, "itemsets": 100, "sudoku": 27, "knights-tour": 5, "subset-sum": 20, "sat": 40,
    "fib-without-context": 20, "nqueens-without-context": 8, "nqueens-array-without-context": 8,
    "fib-plain-context": 20, "nqueens-array-plain-context": 8, "memory-spine": 500, "nqueens-own-range": 8, "sum-named": 1000,
    "nbody-on": 3000, "sum-up": 16, "sum-up-on": 16, "sum-up-launched": 10, "read-vector": 16, "read-vector-on": 16,
    "read-vector-pinned": 16, "bin-tree": 8, "bin-tree-on": 8, "bin-tree-pinned": 8,
    "objects-ping-pong": 1000, "objects-stream": 1000, "objects-stream-apart": 1000, "objects-fan-in": 1000,
    "objects-ring": 2500,
}
# 6 × 10 pentomino has no smaller relative: only the sequential programs run it.
slow = {"pentomino": 12}
# The searches, of which the programs that copy boards have a tuned one.
searches = {"nqueens", "nqueens-array", "pentomino", "uts", "cover", "health", "floorplan"}
everywhere = {"fib", "nqueens", "nqueens-array", "pentomino", "lu", "cmp", "grav", "matmul", "sort", "uts", "spantree"}


def run(program, *options):
    return subprocess.run([program, *map(str, options)], capture_output=True, text=True, timeout=500)


def programs_of(names):
    return [p for p in sorted(given.programs.glob("bench-*")) if p.name.split("-")[1] in names]


def programs():
    return programs_of(("sequential", "tbb", "openmp", "sukima", "rayon", "chili", "forte", "tascell"))


def programs_of_objects():
    """The peers that only exchange messages."""
    return programs_of(("go", "crossbeam", "fiber"))


class AllPrograms(unittest.TestCase):
    def test_there_are_sequential_programs_and_a_parallel_one(self):
        names = {p.name.split("-")[1] for p in programs()}
        self.assertIn("sequential", names)
        self.assertGreater(len(names), 1)

    def test_every_program_has_the_main_problems_and_no_unknown_ones(self):
        for program in programs():
            with self.subTest(program.name):
                names = run(program, "--list").stdout.split()
                self.assertLessEqual(everywhere, set(names))
                self.assertLessEqual(set(names), set(table))
                self.assertEqual(len(names), len(set(names)))

    def test_all_programs_agree(self):
        results = {}
        for program in programs() + programs_of_objects():
            sequential = "sequential" in program.name
            for name in run(program, "--list").stdout.split():
                size = slow.get(name) if sequential and name in slow else small[name]
                if size is None:
                    continue
                with self.subTest(f"{program.name} {name}"):
                    done = run(program, name, "--size", size, "--workers", 1 if sequential else 2)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertEqual(done.stdout.count("\n"), 1)
                    line = json.loads(done.stdout)
                    self.assertEqual((line["benchmark"], line["size"]), (name, size))
                    self.assertGreater(line["seconds"], 0)
                    self.assertGreaterEqual(line["cpu_seconds"], 0)
                    if name == "phases":
                        self.assertGreater(line["p99"], 0)
                    if name in ("memory", "memory-spine", "startup"):
                        self.assertIn("bytes", line)
                    if name.startswith("memory") and "sukima" in program.name:
                        self.assertGreaterEqual(line["fibers"], 1)
                        self.assertGreaterEqual(line["parked"], 0)
                    self.assertEqual(line["result"], results.setdefault(name, line["result"]))

    def test_tuned_programs_agree_at_every_depth(self):
        for program in programs():
            if program.name.split("-")[1] not in ("tbb", "openmp", "rayon"):
                continue
            self.assertLessEqual(searches, set(run(program, "--list").stdout.split()))
            for name in sorted(searches):
                size = small[name] or slow[name]
                results = {}
                for workers, depth in ((1, 0), (2, 0), (1, 2), (2, 1), (2, 2), (2, 3), (4, 5), (2, 1000)):
                    if name in slow and (workers, depth) != (2, 2):
                        continue
                    with self.subTest(f"{program.name} {name} --workers {workers} --depth {depth}"):
                        done = run(program, name, "--size", size, "--workers", workers, "--depth", depth)
                        self.assertEqual(done.returncode, 0, done.stderr)
                        results[workers, depth] = json.loads(done.stdout)["result"]
                plain = run(next(p for p in programs() if "sequential" in p.name), name, "--size", size)
                self.assertEqual(set(results.values()), {json.loads(plain.stdout)["result"]}, results)

    def test_a_depth_is_refused_without_a_tuned_program(self):
        for program in programs():
            for options in (("fib", "--depth", 3), ("nqueens", "--depth", -1), ("nqueens", "--depth", "deep")):
                with self.subTest(f"{program.name} {options}"):
                    done = run(program, *options)
                    self.assertEqual((done.returncode, done.stdout), (2, ""))
                    self.assertIn("depth", done.stderr)
                    self.assertEqual(done.stderr.count("\n"), 1, done.stderr)

    def test_repetitions_are_lines(self):
        for program in programs():
            for name in {"fib", "startup"} & set(run(program, "--list").stdout.split()):
                with self.subTest(f"{program.name} {name}"):
                    done = run(program, name, "--size", small[name], "--repetitions", 3)
                    self.assertEqual([json.loads(line)["benchmark"] for line in done.stdout.splitlines()], [name] * 3)

    def test_bad_requests_end_with_one_sentence_and_code_2(self):
        requests = {
            ("no-such-benchmark",): "known are",
            (): "known are",
            ("fib", "--size", 1000): "60",
            ("fib", "--size", "many"): "size",
            ("fib", "--size", -1): "size",
            ("lu", "--size", 100): "multiple of 64",
            ("uts", "--size", 4): "T1",
            ("fib", "--workers", 0): "workers",
            ("fib", "--no-such-option"): "no-such-option",
        }
        for program in programs():
            for options, word in requests.items():
                with self.subTest(f"{program.name} {options}"):
                    done = run(program, *options)
                    self.assertEqual(done.returncode, 2)
                    self.assertEqual(done.stdout, "")
                    self.assertIn(word, done.stderr)
                    self.assertEqual(done.stderr.count("\n"), 1, done.stderr)


class ProgramsOfObjects(unittest.TestCase):
    def test_they_have_all_benchmarks_that_they_can_have(self):
        for program in programs_of_objects():
            with self.subTest(program.name):
                names = set(run(program, "--list").stdout.split())
                self.assertLessEqual(names, {name for name in table if name.startswith("objects-")})
                self.assertLessEqual({"objects-ping-pong", "objects-stream", "objects-fan-in", "objects-ring"}, names)

    def test_repetitions_are_lines(self):
        for program in programs_of_objects():
            with self.subTest(program.name):
                done = run(program, "objects-stream", "--size", 1000, "--repetitions", 3, "--started")
                lines = [json.loads(line) for line in done.stdout.splitlines()]
                self.assertEqual([line["result"] for line in lines], ["499500"] * 3)
                self.assertEqual([line["started"] for line in lines], sorted(line["started"] for line in lines))

    def test_bad_requests_end_with_one_sentence_and_code_2(self):
        requests = {
            ("fib",): "known are",
            ("objects-ring", "--size", 0): "1000000000",
            ("objects-ring", "--size", "many"): "size",
            ("objects-ring", "--workers", 0): "workers",
            ("objects-ring", "--depth", 1): "depth",
            ("objects-ring", "--no-such-option"): "no-such-option",
        }
        for program in programs_of_objects():
            for options, word in requests.items():
                with self.subTest(f"{program.name} {options}"):
                    done = run(program, *options)
                    self.assertEqual((done.returncode, done.stdout), (2, ""))
                    self.assertIn(word, done.stderr)
                    self.assertEqual(done.stderr.count("\n"), 1, done.stderr)


class Pretended(unittest.TestCase):
    def test_a_wrong_result_of_the_table_is_found(self):
        done = run(given.pretended, "fib", "--size", 30)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("wrong result 832041, expected 832040 for size 30", done.stderr)

    def test_a_size_that_the_table_lacks_is_not_checked(self):
        self.assertEqual(run(given.pretended, "fib", "--size", 31).returncode, 0)

    def test_a_missing_result_is_an_error(self):
        self.assertEqual(run(given.pretended, "cmp").returncode, 1)

    def test_a_benchmark_can_find_its_result_wrong(self):
        done = run(given.pretended, "sort")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("three is not four", done.stderr)

    def test_good_repetitions_are_printed_before_a_bad_one(self):
        done = run(given.pretended, "empty", "--repetitions", 3)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(json.loads(done.stdout), {
            "benchmark": "empty", "size": table["empty"]["default"], "seconds": 0.25, "cpu_seconds": 0.5,
            "result": "ok", "bytes": 4096, "p99": 0.125})

    def test_the_system_is_started_once_and_warm(self):
        done = run(given.pretended, "saxpy", "--repetitions", 2, "--workers", 7)
        self.assertEqual([json.loads(line)["result"] for line in done.stdout.splitlines()], ["1", "2"])
        self.assertEqual(done.stderr, "started with 7\nwarm\nstopped\n")

    def test_a_system_that_refuses_its_settings_ends_with_one_sentence_and_code_2(self):
        done = run(given.pretended, "saxpy", "--workers", 13)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertEqual(done.stderr, "bench-pretended: SUKIMA_WORKERS='abc' is not accepted\n")

    def test_cold_benchmarks_have_a_fresh_process_and_no_system(self):
        done = run(given.pretended, "startup", "--repetitions", 2)
        self.assertEqual([json.loads(line)["result"] for line in done.stdout.splitlines()], ["1", "1"])
        self.assertEqual(done.stderr, "")


class Table(unittest.TestCase):
    def test_every_benchmark_says_what_it_is(self):
        for name, entry in table.items():
            with self.subTest(name):
                self.assertEqual(set(entry), {"default", "about", "results"})
                self.assertTrue(entry["about"])
                self.assertIsInstance(entry["default"], int)
                for size, result in entry["results"].items():
                    self.assertEqual(size, str(int(size)))
                    self.assertIsInstance(result, str)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
