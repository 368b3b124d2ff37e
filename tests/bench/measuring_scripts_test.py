# SPDX-License-Identifier: Apache-2.0
"""The scripts that measure, with pretended programs whose figures are known: measuring_scripts_test.py --scripts FOLDER
--programs FOLDER (of real benchmark programs)."""
import argparse
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

parser = argparse.ArgumentParser()
for option in ("--scripts", "--programs"):
    parser.add_argument(option, type=pathlib.Path, required=True)
GIVEN = parser.parse_args()

# Prints rows as sukima bench does, and logs its call. Sukima needs 1.2 times the CPU of the sequential program.
SUKIMA = """#!/usr/bin/env python3
import json, os, sys
words = sys.argv[1:]
after = {words[i]: words[i + 1] for i in range(len(words) - 1)}
with open(os.path.join(os.path.dirname(sys.argv[0]), "log"), "a") as log:
    print(os.environ.get("SUKIMA_WAIT", ""), os.environ.get("SUKIMA_STEAL", ""), *words, file=log)
def row(system, workers, seconds, cpu):
    line = {"benchmark": words[1], "system": system, "workers": workers, "scenario": after["--scenario"],
            "seconds": {"median": seconds}, "cpu_seconds": cpu}
    if after["--scenario"] != "alone" and system != "sequential":
        line.update(cpus=1, ideal=1.0, own_ideal=1.2)
    print(json.dumps(line))
row("sequential", 1, 1.0, 1.0)
for workers in map(int, after["--workers"].split(",")):
    row("sukima", workers, 1.2 if workers == 1 else 1.8, 1.2)
    if after["--peers"] != "none":
        row("tbb", workers, 3.0, 3.0)
"""
# Takes 1 MiB and 3 MiB for each further worker; 10 ns a call with a context, 14 without.
BENCH = """#!/usr/bin/env python3
import json, os, sys
words = sys.argv[1:]
after = {words[i]: words[i + 1] for i in range(len(words) - 1)}
if words[0].startswith("memory"):
    assert os.environ["SUKIMA_ELASTIC"] == "off"
    workers = int(after["--workers"])
    for turn in range(int(after["--repetitions"])):
        print(json.dumps({"size": 7, "bytes": (1 + 3 * (workers - 1)) * 2**20 + turn, "fibers": workers, "parked": 0}))
    sys.exit()
calls = {("fib", 30): 2692537, ("nqueens", 11): 166926}[words[0].split("-")[0], int(after["--size"])]
each = 14e-9 if words[0].endswith("-without-context") else 10e-9
for _ in range(int(after["--repetitions"])):
    print(json.dumps({"cpu_seconds": calls * each}))
"""
# In cover the thieves wait for too long.
EXPLAIN = """#!/usr/bin/env python3
import json, sys
words = sys.argv[1:]
assert words[:3] == ["explain", "--json", "--"] and words[3].endswith("bench-sukima-gcc") and words[5:7] == ["--workers", "3"]
median = 60e-6 if words[4] == "cover" else 2e-6
waits = {"count": int(words[8]), "median": median, "p99": 0.4e-3, "longest": 0.5e-3}
idle = {"seconds": 0, "workers": []}
run = {"seconds": 2, "seconds_with_work": 1.5, "workers": [{"full": words[4] == "fib"}], "thief_waits": waits}
print(json.dumps({"runtimes": [idle, run]}), file=sys.stderr)
"""


class Scripts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.results = self.folder / "results.json"

    def pretend(self, name, text="#!/bin/sh\n"):
        file = self.folder / name
        file.write_text(text)
        file.chmod(0o755)
        return file

    def script(self, name, *words, code=0, python=sys.executable):
        done = subprocess.run([python, GIVEN.scripts / name, *map(str, words)], capture_output=True, text=True,
                              check=False, timeout=500)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def rows(self, name, *words):
        return [json.loads(line) for line in self.script(name, *words, "--json").stdout.splitlines()]


class Tables(Scripts):
    def test_divide_by_the_sequential_program_and_take_the_faster_compiler(self):
        def row(system, workers, median, scenario="alone"):
            return json.dumps({"benchmark": "fib", "system": system, "workers": workers, "scenario": scenario,
                               "seconds": {"q1": median / 2, "median": median, "q3": median * 2}})
        self.results.write_text("\n".join([
            row("sequential", 1, 1.0), row("sukima", 2, 0.9), row("sukima", 2, 0.6), row("sukima", 2, 0.1, "hog"),
            row("tbb", 2, 0.75)]))
        self.assertEqual(self.script("benchmark-tables.py", self.results).stdout.splitlines()[2:5], [
            "| seconds | sequential | Sukima | TBB |",
            "| --- | ---: | ---: | ---: |",
            "| `fib` | 1.000 | **0.600 (0.60)** | 0.750 (0.75) |"])
        self.assertIn("| `fib` | 300–1200 | 375–1500 |\n",
                      self.script("benchmark-tables.py", "--quartiles", "--unit", "ms", self.results).stdout)


class Figures(unittest.TestCase):
    def test_the_interval_of_a_median_is_symmetrical(self):
        """The same draws of the values with the other sign give the same interval with the other sign."""
        sys.path.insert(0, str(GIVEN.scripts))
        from figures import interval_of_median
        for seed, count in ((5, 20), (6, 100)):  # here the neighbours of both ends have other values
            draw = random.Random(seed)
            values = [draw.random() for _ in range(count)]
            low, high = interval_of_median(values)
            self.assertEqual(interval_of_median([-value for value in values]), (-high, -low))


class Targets(Scripts):
    def setUp(self):
        super().setUp()
        # The same rows; sukima bench alone has defaults for the scenario.
        self.pretend("sukima", SUKIMA.replace('after["--scenario"]', '"alone"'))
        self.pretend("bench-sukima-gcc", BENCH)
        self.targets = self.folder / "targets.toml"
        self.page = self.folder / "page.md"

    def run_it(self, text, *words, **options):
        self.targets.write_text(text)
        return self.script("targets.py", "--programs", self.folder, "--results", self.results, "--targets", self.targets, *words,
                           **options)

    def test_are_reached_up_to_the_bound(self):
        text = self.run_it("""
[[target]]
benchmarks = ["fib", "lu"]
workers = 1
over = "sequential"
most = 1.2
[[target]]
benchmarks = ["fib"]
workers = 2
over = "one worker"
least = 0.67
[[target]]
benchmarks = ["fib"]
workers = 2
over = "peers"
peers = "tbb,chili"
most = 0.6
[[target]]
benchmarks = ["fib"]
workers = 2
most = 1.79
[[target]]
benchmarks = ["fib"]
workers = 2
figure = "p99"
most = 1
[[target]]
benchmarks = ["memory"]
workers = 2
figure = "memory"
most = 1
""").stdout
        self.assertEqual(text.splitlines(), [
            "| target | measured | |",
            "| --- | ---: | --- |",
            "| `fib`, 1 worker: ≤ 1.20 × sequential | 1.20 | reached |",
            "| `lu`, 1 worker: ≤ 1.20 × sequential | 1.20 | reached |",
            "| `fib`, 2 workers: ≥ 0.67 × one worker's speed | 0.67 | **missed** |",
            "| `fib`, 2 workers: ≤ 0.60 × the fastest of tbb, chili | 0.60 | reached |",
            "| `fib`, 2 workers: ≤ 1.79 s | 1.8 s | **missed** |",
            "| `fib`, 2 workers: p99 ≤ 1 s | — | not measured |",
            "| `memory`, 2 workers: peak memory / (P × S1) ≤ 1.00 | 2.00 | **missed** |",
            "",
            "3 reached, 3 missed, 1 not measured; without chili in fib"])

    def test_replace_the_table_of_a_page_and_go_on(self):
        target = """
[[target]]
benchmarks = ["fib"]
workers = 1
over = "sequential"
most = 1.1
"""
        self.page.write_text("# Page\n\n## Which targets we miss\n\nold\n\n| old | |\n| --- | --- |\n| old | |\n\nkept\n")
        self.run_it(target, "--stop-after", 0)
        self.assertFalse((self.folder / "log").exists())
        older, before = self.folder / "older", self.page.read_text()
        os.link(self.page, older)
        for _ in range(2):
            self.run_it(target, "--page", self.page)
            self.assertEqual(older.read_text(), before, "the page was written in place")
            self.assertEqual([file.name for file in self.folder.iterdir() if file.name.endswith(".new")], [])
            self.assertEqual(len((self.folder / "log").read_text().splitlines()), 1)
            page = self.page.read_text()
            self.assertNotIn("old", page)
            self.assertIn("\n1 missed: measured on ", page)
            self.assertTrue(page.endswith("| `fib`, 1 worker: ≤ 1.10 × sequential | 1.20 | **missed** |\n\nkept\n"), page)
        self.page.write_text("# Page\n")
        self.assertIn("has no line", self.run_it(target, "--page", self.page, code=1).stderr)

    def test_quick_ones_are_measured_once_and_not_published(self):
        target = '[[target]]\nbenchmarks = ["fib"]\nworkers = 1\nmost = 2\nrepetitions = 50\n'
        self.assertIn("1 reached", self.run_it(target, "--quick").stdout)
        self.assertIn("--repetitions 1 ", (self.folder / "log").read_text() + " ")
        self.assertIn("give one of them", self.run_it(target, "--quick", "--page", self.page, code=2).stderr)

    def test_wrong_targets_are_refused(self):
        whole = 'benchmarks = ["fib"]\nworkers = 1\nmost = 1\n'
        for text, part in (("[[target]]\n" + whole + "color = 1\n", "unknown key 'color'"),
                           ("[[target]]\n" + whole + "least = 1\n", "either `most` or `least`"),
                           ("[[target]]\n" + whole + 'over = "moon"\n', "`over = 'moon'`"),
                           ("[[target]]\n" + whole + 'peers = "tbb"\n', "belongs to"),
                           ("", "not a file of targets")):
            self.assertIn(part, self.run_it(text, code=2).stderr)

    def test_of_the_page_can_be_read(self):
        text = self.script("targets.py", "--programs", self.folder, "--results", self.results, "--table-only").stdout
        self.assertIn("| `startup`, 2 workers: memory ≤ 1.00 MiB a worker | — | not measured |\n", text)
        self.assertIn("| `memory`, 64 workers: peak memory / (P × S1) ≤ 1.00 | — | not measured |\n", text)


class Pressure(Scripts):
    def setUp(self):
        super().setUp()
        self.pretend("sukima", SUKIMA)
        self.pretend("bench-hog")

    def run_it(self, action, *words, **options):
        return self.script("pressure.py", action, "--programs", self.folder, "--results", self.results, *words, **options)

    def calls(self):
        return (self.folder / "log").read_text().splitlines()

    def test_divides_by_both_ideals(self):
        options = ("--benchmarks", "fib", "--scenarios", "alone", "hogs", "idle", "--workers", "2,8", "--rounds", "2")
        text = self.run_it("systems", *options).stdout
        share = min(2, len(os.sched_getaffinity(0)))
        alone = f"{1.8 / (1.2 / share):.2f}"
        self.assertIn("| fib: time / own ideal | alone | hogs |\n", text)
        self.assertIn(f"| sukima, 2 workers | {alone} ({alone}–{alone}) | 1.50 (1.50–1.50) |\n", text)
        self.assertIn("| tbb, 8 workers | ", text)
        self.assertNotIn("1 worker ", text)
        sequential = text[text.index("| fib: time / sequential ideal"):]
        self.assertIn("| 1.80 (1.80–1.80) |\n", sequential)
        self.assertIn("| 3.00 (3.00–3.00) |\n", sequential)
        self.assertIn("| idle: time / own ideal | idle |\n", text)
        self.assertIn("2 to 2 of 2 rounds", text)
        self.assertEqual(len(self.calls()), 6)
        self.assertIn("  bench fib --scenario alone --json --repetitions 1 --workers 1,2,8 --compiler gcc --peers "
                      "tbb,openmp-gcc,rayon,chili", self.calls()[0])

    def test_goes_on_where_it_was_interrupted(self):
        options = ("--benchmarks", "fib", "lu", "--scenarios", "alone", "hogs")
        self.assertIn("0 to 0 of 2 rounds", self.run_it("systems", *options, "--rounds", 2, "--stop-after", 0).stdout)
        self.assertFalse((self.folder / "log").exists())
        self.run_it("systems", *options, "--rounds", 1)
        self.assertEqual(len(self.calls()), 4)
        self.run_it("systems", *options, "--rounds", 2)
        self.assertEqual(len(self.calls()), 8)
        again = self.run_it("systems", *options, "--rounds", 2)
        self.assertEqual(again.stdout, self.run_it("systems", *options, "--rounds", 2, "--table-only").stdout)
        self.assertEqual(len(self.calls()), 8)

    def test_does_not_mix_the_figures_of_different_settings(self):
        options = ("--benchmarks", "fib", "--scenarios", "hogs", "--workers", "2")
        self.run_it("systems", *options, "--rounds", 1, "--size", 8)
        refused = self.run_it("systems", *options, "--rounds", 2, code=1).stderr
        self.assertIn("was measured with --size 8, but this call would measure without --size", refused)
        self.assertEqual(len(self.calls()), 1)
        self.run_it("systems", *options, "--rounds", 2, "--table-only")
        self.run_it("systems", *options, "--rounds", 2, "--size", 8)
        self.assertEqual(len(self.calls()), 2)
        older = json.loads(self.results.read_text())["results"]  # a file of an older version has nothing else
        self.results.write_text(json.dumps(older))
        self.assertIn("2 to 2 of 2 rounds", self.run_it("systems", *options, "--rounds", 2).stdout)

    def test_compares_policies(self):
        options = ("--benchmarks", "fib", "--scenarios", "hogs", "--workers", "2", "--rounds", "1", "--waits", "block", "spin",
                   "--steals", "publish:3", "request", "--ideals", "own")
        text = self.run_it("policies", *options).stdout
        for wait in ("block", "spin"):
            for steal in ("publish:3", "request"):
                self.assertIn(f"| {wait}, {steal}, 2 workers | 1.50 (1.50–1.50) |\n", text)
                self.assertTrue(any(call.startswith(f"{wait} {steal} bench fib ") and call.endswith("--peers none")
                                    for call in self.calls()))
        self.assertNotIn("sequential", text)
        self.assertEqual(len(self.calls()), 4)

    def test_draws(self):
        python = next((each for each in (sys.executable, "/usr/bin/python3") if pathlib.Path(each).exists() and subprocess.run(
            [each, "-c", "import matplotlib"], capture_output=True, check=False).returncode == 0), None)
        if python is None:
            self.skipTest("no Python here has matplotlib")
        self.run_it("systems", "--benchmarks", "fib", "--scenarios", "alone", "hogs", "--rounds", 1, "--plot",
                    self.folder / "heat", python=python)
        self.assertEqual((self.folder / "heat.png").read_bytes()[:4], b"\x89PNG")
        self.assertIn("<svg", (self.folder / "heat.svg").read_text())
        self.assertEqual([file.name for file in self.folder.glob("*.tmp")], [])

    def test_refuses_what_is_wrong_in_a_sentence(self):
        self.assertIn("invalid choice", self.run_it("systems", "--scenarios", "nowhere", code=2).stderr)
        self.assertIn("--workers", self.run_it("systems", "--workers", "0", code=2).stderr)
        for text in ("{", "[]"):
            self.results.write_text(text)
            self.assertIn("is not a file of results", self.run_it("systems", code=1).stderr)
        self.results.unlink()
        self.pretend("sukima", "#!/bin/sh\necho 'no such peer' >&2; exit 2\n")
        self.assertIn("ended with code 2: no such peer", self.run_it("systems", code=1).stderr)
        (self.folder / "sukima").unlink()
        self.assertIn("there is no sukima in", self.run_it("systems", code=1).stderr)


class Policies(Scripts):
    def run_it(self, *words, **options):
        return self.script("policies.py", "--program", self.folder / "sukima", "--waits", "block", "spin", "--steals", "request",
                           "--rounds", 1, *words, **options)

    def test_a_scenario_that_cannot_be_measured_is_left_empty(self):
        self.pretend("sukima", SUKIMA.replace("words = sys.argv[1:]\n", "words = sys.argv[1:]\nassert 'quota' not in words\n"))
        self.assertEqual(self.run_it("--scenarios", "alone", "quota:8").stdout.splitlines()[2:], [
            "| block | request | 1.00 | - |", "| spin | request | 1.00 | - |", "| best, seconds | | 1.800 | - |"])
        self.run_it("--scenarios", "quota", code=1)

    def test_kept_rows_count_only_if_they_are_asked_for(self):
        self.pretend("sukima", SUKIMA)
        kept = self.folder / "kept"
        rows = [[0, "alone", "pause", "request", 0.1], [0, "hogs", "block", "request", 0.1], [0, "alone", "block", "request", 0.9]]
        kept.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        self.assertEqual(self.run_it("--scenarios", "alone", "--keep", kept).stdout.splitlines()[2:], [
            "| block | request | 1.00 |", "| spin | request | 2.00 |", "| best, seconds | | 0.900 |"])
        kept.write_text('[0, "alone"')
        self.assertIn("line 1 of", self.run_it("--keep", kept, code=1).stderr)


class Places(Scripts):
    def test_that_are_none_are_refused(self):
        self.pretend("sukima")
        for name in ("alone:2", "hogs", "hogs:", "hogs:x", "hogs:0", "hogs:-1", "copies:1.5", "quota:nan", "quota:0", "moon:1"):
            refused = self.script("side-by-side.py", "--programs", self.folder, "--results", self.results, "--places", name,
                                  "--table-only", code=2).stderr
            self.assertIn(f"'{name}' is not a place", refused)
        for name in ("alone", "hogs:2", "apart:10", "quota:0.5", "quota:2"):
            self.script("side-by-side.py", "--programs", self.folder, "--results", self.results, "--places", name, "--table-only")


class Others(Scripts):
    def test_at_the_limit_everything_that_a_copy_has_started_ends(self):
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        end = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, end)
        code = ("import sys; sys.path.insert(0, sys.argv[1]); from places import run_copies\n"
                "print(run_copies(['sh', '-c', f'(echo; exec sleep 1000) > {sys.argv[2]} & wait'], 2, None, 0.5, None))")
        done = subprocess.run([sys.executable, "-c", code, str(GIVEN.scripts), pipe], capture_output=True, text=True,
                              check=False, timeout=500)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "0.5\n", ""))
        os.set_blocking(end, True)
        while os.read(end, 100):  # until no process can write into it
            pass

    def test_numbers_of_nodes_are_checked(self):
        for wrong in ("4,x", "1", "", "16,", "5000"):
            self.assertIn(f"'{wrong}': give numbers from 2 to 4096", self.script("many-nodes.py", "--nodes", wrong, code=2).stderr)

    def test_memory_is_compared_with_the_bound(self):
        self.pretend("bench-sukima-gcc", BENCH)
        options = ("--programs", self.folder, "--workers", "1,2,4", "--rounds", 2)
        rows = self.rows("memory-bound.py", *options)
        self.assertEqual([row["workers"] for row in rows], [1, 2, 4] * 2)
        two = rows[1]
        self.assertEqual((two["benchmark"], two["bytes"], two["bound"], two["fibers"]), ("memory", 2**22 + 1, 2**21, 2))
        self.assertAlmostEqual(two["ratio"], 2, places=5)
        bad = self.script("memory-bound.py", *options, "--most", 2.2, code=1)
        self.assertIn("memory-spine with 4 workers: 2.50", bad.stderr)
        self.assertIn("ratio", bad.stdout)
        self.script("memory-bound.py", *options, "--most", 2.6)
        self.script("memory-bound.py", "--workers", "0", code=2)

    def test_the_price_of_a_context_is_the_difference(self):
        self.pretend("bench-sukima-gcc", BENCH)
        rows = self.rows("context-price.py", "--programs", self.folder, "--rounds", 2, "--no-instructions")
        self.assertEqual([row["operation"] for row in rows], ["fork2", "parallel_reduce", "search"])
        for row in rows:
            self.assertAlmostEqual(row["price_nanoseconds"], 4, places=5)
            self.assertAlmostEqual(row["nanoseconds"][0], 10, places=5)
        self.assertIn("  fork2 ", self.script("context-price.py", "--programs", self.folder, "--rounds", 2,
                                              "--no-instructions").stdout)
        missing = self.script("context-price.py", "--programs", self.folder, "--compiler", "clang", "--no-instructions", code=2)
        self.assertIn("bench-sukima-clang", missing.stderr)
        self.script("context-price.py", "--rounds", 1, code=2)

    def test_thieves_that_wait_too_long_are_found(self):
        self.pretend("sukima", EXPLAIN)
        self.pretend("bench-sukima-gcc")
        options = ("--programs", self.folder, "--workers", 3, "--repetitions", 7)
        self.assertEqual(self.rows("thief-waits.py", "uts", *options), [
            {"benchmark": "uts", "workers": 3, "seconds": 1.5, "count": 7, "median": 2e-6, "p99": 0.4e-3, "longest": 0.5e-3,
             "missed": False}])
        lines = self.script("thief-waits.py", "uts", "cover", *options, code=1).stdout.splitlines()
        self.assertEqual(lines[1].split(), ["uts", "7", "2.0", "400.0", "500.0"])
        self.assertEqual(lines[2].split(), ["cover", "7", "60.0", "400.0", "500.0", "missed"])
        self.assertIn("fewer --repetitions", self.script("thief-waits.py", "fib", *options, code=1).stderr)
        self.assertIn("2 or more", self.script("thief-waits.py", "--workers", 1, code=2).stderr)

    def test_the_real_programs_have_what_the_scripts_want(self):
        rows = self.rows("memory-bound.py", "--programs", GIVEN.programs, "--workers", "1,3", "--rounds", 1, "--size", 2000)
        self.assertEqual(len(rows), 4)
        self.assertTrue(all(row["bytes"] > 0 and 1 <= row["fibers"] and row["size"] == 2000 for row in rows))
        rows = self.rows("context-price.py", "--programs", GIVEN.programs, "--rounds", 2, "--no-instructions")
        self.assertTrue(all(min(row["nanoseconds"]) > 0 for row in rows))
        # Long waits are those of a busy machine.
        done = subprocess.run([sys.executable, GIVEN.scripts / "thief-waits.py", "itemsets", "--programs", GIVEN.programs,
                               "--workers", "2", "--repetitions", "2", "--json"], capture_output=True, text=True, check=False,
                              timeout=500)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        row = json.loads(done.stdout)
        # If one worker gets all the available CPU, no worker waits.
        self.assertGreaterEqual(row["count"], 0)
        self.assertGreater(row["seconds"], 0)
        self.assertTrue(0 <= row["median"] <= row["p99"] <= row["longest"], row)

    def test_compile_times_are_divided_by_the_plain_program(self):
        compiler = self.pretend("compiler", '#!/bin/sh\nfor target; do :; done\nexec cc -x c -c /dev/null -o "$target"\n')
        rows = self.rows("compile-time.py", "--compiler", compiler, "--rounds", 2)
        self.assertEqual(rows[0]["program"], "plain")
        self.assertEqual(rows[0]["over_plain"], 1)
        self.assertIn("sukima, fork.hpp", {row["program"] for row in rows})
        self.script("compile-time.py", "--rounds", 1, code=2)
        self.script("compile-time.py", "--compiler", "no-such-compiler", code=2)
        wrong = self.pretend("wrong", "#!/bin/sh\necho 'syntax error' >&2; exit 1\n")
        self.assertIn("syntax error", self.script("compile-time.py", "--compiler", wrong, "--rounds", 2, code=1).stderr)

    def test_tables_are_printed_from_what_was_kept(self):
        options = ("--programs", self.folder, "--results", self.results, "--table-only")
        self.results.write_text(json.dumps({"Go: alone": {"without": [2.0, 2.0, 2.0], "sukima run": [2.0, 2.2, 2.1]}}))
        text = self.script("run-table.py", *options, "--build", self.folder, "--places", "alone", "hogs:2").stdout
        self.assertIn("| Go | 1.05 (1.00–1.10) |  |\n", text)
        self.assertIn("above 1.03: Go, alone", text)
        self.results.write_text(json.dumps({"gcc: cg A: alone": {"2 passive": [1.0], "2 active": [2.0], "sukima run": [1.5]}}))
        text = self.script("openmp-table.py", *options).stdout
        self.assertIn("| cg A (gcc) | alone |", text)
        self.assertIn(" 1.00 | 2 passive | 1.50 | 1.50 |", text)
        self.results.write_text(json.dumps({
            "alone: as it is: 1 ms": {"sukima": [2.0, 1.0, 3.0], "openmp": [4.0], "turns": [2.1], "both": [2.2]},
            "alone: sukima run: 1 ms": {"sukima": [2.0]}}))
        text = self.script("side-by-side.py", *options, code=1).stdout
        self.assertIn("| alone | as it is | 1 ms | 2.000 | 4.000 | 2.100 | 2.200 | 1.05 | 1.10 |\n\n", text)
        self.assertIn("\nabove 1.05: alone: as it is: 1 ms, both\n", text)
        checkout = self.folder / "oneTBB"
        (checkout / "examples/common/utility").mkdir(parents=True)
        self.results.write_text(json.dumps({
            "parallel_reduce/pi": {"tbb": [[1.0, 2.0], [3.0, 2.0], [2.0, 2.0]], "sukima": [[2.1, 1.0], [2.1, 1.5]]},
            "task_group/sudoku": {"tbb": [[1.0, 2.0]], "sukima": [[1.06, 2.0]]},
            "test_all/fibonacci": {"tbb": [[1.0, 2.0]], "sukima": []}}))
        text = self.script("tbb-examples.py", *options, "--checkout", checkout, code=1).stdout
        self.assertIn("| `parallel_reduce/pi` | 2.00 | 2.10 | 1.05 | 2.00 | 1.25 | 0.62 |\n", text)
        self.assertIn("\nabove 1.0: parallel_reduce/pi; task_group/sudoku\n", text)
        self.assertIn("has no examples", self.script("tbb-examples.py", *options, "--checkout", self.folder, code=2).stderr)
        self.assertIn("not a place", self.script("run-table.py", *options, "--build", self.folder, "--places", "moon", code=2).stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
