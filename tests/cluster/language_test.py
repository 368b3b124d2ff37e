#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs in the Tascell language have the same results on several nodes as on one: language_test.py SUKIMA CC [long]

SUKIMA starts nodes. CC is `sukima`, or `sukima-cc` for a build without a compiler of its own.
"""
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from nodes import Meeting, end, run_launcher

SUKIMA, CC = (str(Path(word).resolve()) for word in sys.argv[1:3])
LONG = sys.argv[3:4] == ["long"]
del sys.argv[1:4]
FOLDER = Path(__file__).resolve().parent / "language"
EXAMPLES = FOLDER.parents[2] / "examples" / "tascell"
COMPILE = [CC] if Path(CC).name == "sukima-cc" else [CC, "cc"]
# The arguments of a short run and its result, and the arguments of a run that is long enough for tasks to travel.
PROGRAMS = {"fib": ("24", "46368", "32"), "queens": ("8", "92", "11"), "pentomino": ("1", None, "1"),
            "uts": ("101", "3987", "103"), "subgraphs": ("20", "225593", "28")}
if LONG:
    PROGRAMS = {"fib": ("35", "9227465", "35"), "queens": ("12", "14200", "12"), "pentomino": ("12", "9356", "12"),
                "uts": ("3", "4112897", "3"), "subgraphs": ("36", "30684662", "36")}


def run(*words, status=0, **environment):
    ended = run_launcher(words, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                         env={**os.environ, **environment})
    if ended.returncode != status:
        raise AssertionError(f"{words} ended with {ended.returncode}: {ended.stdout} {ended.stderr}")
    return ended


def together(nodes, *words, status=0, workers="1"):
    return run(SUKIMA, "cluster", "run", "-n", nodes, "--", *words, status=status, SUKIMA_WORKERS=workers)


def given_and_results(stderr):
    """The tasks that all nodes gave away, and the result that each of them has."""
    lines = re.findall(r"(\d+) tasks given, result (\d+)$", stderr, re.MULTILINE)
    return sum(int(given) for given, _ in lines), [result for _, result in lines]


class language(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def build(self, source, *options):
        """The program of a source, compiled once."""
        program = f"{self.folder.name}/{source.stem}"
        if Path(program).exists():
            return program
        built = run(*COMPILE, "-O2", "-Wall", "-Wextra", "-Werror", *options, "-o", program, str(source))
        self.assertEqual(built.stderr, "")
        return program

    def test_programs_give_the_result_of_one_machine(self):
        for name, (size, known, _) in PROGRAMS.items():
            program = self.build(FOLDER / f"{name}.tc")
            alone = run(program, size, SUKIMA_WORKERS="1").stdout
            if known is not None:
                self.assertEqual(alone, known + "\n", name)
            for nodes, workers in (("3", "1"), ("2", "2")):
                ended = together(nodes, program, size, workers=workers)
                self.assertEqual(ended.stdout, alone, (name, nodes, workers))
                self.assertEqual(given_and_results(ended.stderr)[1], [alone.strip()] * int(nodes))

    def test_sequential_programs_know_one_node_without_the_library(self):
        program = f"{self.folder.name}/sequential"
        size, known, _ = PROGRAMS["fib"]
        run(*COMPILE, "--sequential", "-Wall", "-Wextra", "-Werror", "-o", program, str(FOLDER / "fib.tc"))
        ended = run(program, size)
        self.assertEqual((ended.stdout, given_and_results(ended.stderr)), (known + "\n", (0, [known])))

    def test_examples_give_the_result_of_one_machine(self):
        for name in ("cluster_fib", "cluster_sort"):
            program = self.build(EXAMPLES / f"{name}.tc")
            for nodes in ("1", "3"):
                self.assertEqual(together(nodes, program).stdout, (EXAMPLES / f"{name}.expected").read_text(), name)

    def test_tasks_travel(self):
        # Repeats until tasks have travelled, however busy the machine is.
        for name, (_, _, size) in PROGRAMS.items():
            program = self.build(FOLDER / f"{name}.tc")
            while given_and_results(together("2", program, size).stderr)[0] == 0:
                pass

    def test_tasks_arrays_tags_and_aborts_cross(self):
        source = FOLDER / "crossing.tc"
        program = self.build(source)
        line = source.read_text().splitlines().index("  throw this.tag;") + 1
        result = together("2", program).stdout.splitlines()
        self.assertEqual(result, ["34", "7", "5", "0", f"{line}: uncaught throw of tag 8", "1"])
        alone = run(program, SUKIMA_WORKERS="1").stdout.splitlines()
        self.assertEqual((alone[:4], alone[5]), (result[:4], "0"))

    def test_arrays_without_a_receiver_are_freed(self):
        program = self.build(FOLDER / "left_early.tc")
        self.assertEqual(together("2", program).stdout, "64 times, nothing lost\n")
        self.assertEqual(run(program, SUKIMA_WORKERS="1").stdout, "64 times, nothing lost\n")

    def test_a_result_that_is_too_long_ends_the_program(self):
        program = self.build(FOLDER / "too_long.tc")
        self.assertEqual(run(program, SUKIMA_WORKERS="1").stderr, "")
        self.assertIn("sukima: a task failed on another node: sukima: an array of a task is too long to travel",
                      together("2", program, status=70).stderr)

    def test_nodes_that_enter_different_functions_end(self):
        source = Path(self.folder.name) / "differs.tc"
        functions = "".join(f"cluster worker int {name}(int n) {{\n"
                            "  do_two { n++; } { n++; } handles t { this.n = n; } { n += this.r; }\n"
                            "  return n;\n}\n" for name in ("one", "other"))
        source.write_text("#include <sukima/cluster.h>\n"
                          f"task t {{ in int n; out int r; }};\n{functions}"
                          "task_exec t { this.r = this.n; }\n"
                          "int main(void) { return (sukima_cluster_node() == 1 ? other(0) : one(0)) - 2; }\n")
        program = self.build(source)
        self.assertEqual(run(SUKIMA, "cluster", "run", "-n", "2", "--no-tags", "--", program, status=2).stderr,
                         "sukima: the nodes' programs differ: entry 1 calls 'one' at node 0 and 'other' at node 1; each node "
                         "must make the same entries in the same order\n")

    def test_a_program_whose_tasks_stay_ends_at_its_start(self):
        source = Path(self.folder.name) / "stays.tc"
        source.write_text("task t { in int *p; out int r; };\n"
                          "cluster worker int f(int n) {\n"
                          "  do_two { n++; } { n++; } handles t { this.p = &n; } { n += this.r; }\n"
                          "  return n;\n}\n"
                          "task_exec t { this.r = *this.p; }\n"
                          "int main(void) { return f(0) - 2; }\n")
        program = self.build(source, "-Wno-cluster")
        self.assertEqual(run(program, SUKIMA_WORKERS="1").stderr, "")
        ended = together("2", program, status=2).stderr
        self.assertRegex(ended, r"sukima: entry 'f' cannot share its work with other nodes: task 't' \(.*stays.tc:3\): 'p' is a "
                                r"pointer; give its length")

    def test_a_reduction_after_an_entry_of_several_nodes_ends_the_program(self):
        program = self.build(FOLDER / "reduction.tc")
        self.assertEqual(run(program, SUKIMA_WORKERS="2").stdout, "4950\n9900\n")
        self.assertEqual(together("1", program).stdout, "4950\n9900\n")
        # Another node may join the last two.
        for nodes, hope, room in ((2, "0", "0"), (2, "1", "0"), (1, "1", "1"), (1, "0", "1")):
            with Meeting(nodes) as meeting:
                started = [meeting.start(node, program, SUKIMA_CLUSTER_HOPE=hope, SUKIMA_CLUSTER_ROOM=room)
                           for node in range(nodes)]
                output, errors, status = end(started[0])
            self.assertEqual((output, status), ("4950\n", 70), errors)
            self.assertIn("sukima: SUKIMA_REDUCE was used after an entry that several nodes share, and would combine only the "
                          "objects of this node's workers; return the values in 'out' members of tasks\n", errors)

    def test_a_loop_whose_sum_rounds_ends_the_program_under_hope(self):
        source = ("task part {{ in int from, to; out double sum; }}; {declaration};\n"
                  "worker double add(int from, int to) {{\n"
                  "  number sum = {zero};\n"
                  "  for (int i : from, to) {{ sum {own}; }}\n"
                  "  handles part (int first, int end) {{ this.from = first; this.to = end; }} {{ {get} }}\n"
                  "  return {result};\n}}\n"
                  "task_exec part {{ this.sum = add(this.from, this.to); }}\n"
                  "cluster worker int f(int n) {{ return add(0, n) == n; }}\n"
                  "int main(void) {{ return !f(1000); }}\n")
        plain, atomic = "typedef double number", "typedef _Atomic double number"
        vector = "typedef double number __attribute__((vector_size(16)))"
        # GCC needs a library for `+=` of an _Atomic double.
        gets = {"adds": (plain, "sum += this.sum;", True), "sums": (plain, "sum = (sum + this.sum);", True),
                "atomic": (atomic, "sum = sum + this.sum;", True), "vector": (vector, "sum += this.sum;", True),
                "chooses": (plain, "if (this.sum > sum) sum = this.sum;", False)}
        for name, (declaration, get, rounds) in gets.items():
            path = Path(self.folder.name) / f"{name}.tc"
            zero, result = ("{0}", "sum[0]") if declaration == vector else ("0", "sum")
            own = "= i + 1" if not rounds else "= sum + 1" if declaration == atomic else "+= 1"
            path.write_text(source.format(declaration=declaration, zero=zero, own=own, get=get, result=result))
            program = self.build(path)
            self.assertEqual(run(program).stderr, "")
            self.assertEqual(together("2", program).stderr, "")
            ended = run(SUKIMA, "cluster", "run", "-n", "2", "--hope", "--no-tags", "--", program,
                        status=2 if rounds else 0)
            if rounds:
                self.assertIn(f"sukima: under --hope the parallel loop at {path}:4 would give each node another "
                              "floating-point sum", ended.stderr)

    def test_processes_that_nothing_joins_end_at_their_entry(self):
        program = self.build(EXAMPLES / "cluster_fib.tc")
        ended = run(program, "10", status=2, SLURM_STEP_ID="0", SLURM_PROCID="1", SLURM_STEP_NUM_TASKS="2")
        self.assertEqual(ended.stdout, "")
        self.assertIn("sukima: srun has started this program 2 times, and Sukima finds no MPI that connects", ended.stderr)

    def test_objects_are_linked_with_an_option(self):
        part, other, program = (f"{self.folder.name}/{name}" for name in ("part.o", "other.tc", "linked"))
        run(*COMPILE, "-O2", "-c", "-o", part, str(EXAMPLES / "cluster_fib.tc"))
        Path(other).write_text("worker int other(void) { return 0; }\n")
        self.assertIn("add '--cluster' to link it", run(*COMPILE, "-o", program, part, other, status=1).stderr)
        run(*COMPILE, "--cluster", "-o", program, part)
        self.assertEqual(together("2", program, "10").stdout, "fib(10) = 55\n")


if __name__ == "__main__":
    unittest.main()
