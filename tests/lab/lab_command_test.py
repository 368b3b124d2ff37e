#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of `sukima lab` as a program: lab_command_test.py PROGRAM RECORDED_FOLDER PAGE

The lab runs shell commands and a stand-in for a benchmark program. No verdict depends on a time.
"""
import json
import os
import pathlib
import pty
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = pathlib.Path(sys.argv[1]).resolve()
RECORDED = pathlib.Path(sys.argv[2]).resolve()
PAGE = pathlib.Path(sys.argv[3]).resolve()

# The process that started the tests may ignore or block signals, as a shell does for commands in the background.
for one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(one, signal.SIG_DFL)
signal.pthread_sigmask(signal.SIG_SETMASK, ())

EXPERIMENT = {
    "sukima-lab": 1, "name": "small", "title": "A small one", "repetitions": 5, "quick_repetitions": 2, "limit_seconds": 60,
    "programs": [{"name": "work", "command": ["sh", "-c", "echo '{\"seconds\":'$TIME', \"result\":\"7\"}'"]}],
    "settings": [{"name": "fast", "variables": {"TIME": "1"}}, {"name": "slow", "variables": {"TIME": "2"}}],
    "environments": [{"name": "one", "kind": "machine"}, {"name": "half", "kind": "fewer", "part": 0.5, "baseline": "one"}],
    "claims": [{"name": "slower", "text": "It is slower.", "left": {"settings": ["slow"]}, "right": {"settings": ["fast"]},
                "programs": ["work"], "environments": ["one", "half"], "relation": "above", "bound": 1.5}],
}


class with_folder(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="sukima-lab-test-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.data = self.folder / "data"
        self.data.mkdir()
        self.write(EXPERIMENT)

    def write(self, experiment, name="small"):
        (self.data / f"{name}.json").write_text(json.dumps(experiment))

    def start(self, *arguments, **options):
        environment = {**os.environ, "SUKIMA_LAB_DIR": str(self.data), **options.pop("environment", {})}
        return subprocess.Popen([PROGRAM, "lab", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                stdin=subprocess.DEVNULL, env=environment, cwd=self.folder, **options)

    def run_lab(self, *arguments, code=0, **options):
        process = self.start(*arguments, **options)
        output, errors = process.communicate()
        self.assertEqual(process.returncode, code, errors + output)
        return output if code == 0 else errors

    def records(self, folder="runs"):
        return [json.loads(line) for line in (self.folder / folder / "runs.jsonl").read_text().splitlines()]

    def stand_in(self, text):
        programs = self.folder / "programs"
        programs.mkdir()
        if text:
            (programs / "simulated-lab").write_text(text)
            (programs / "simulated-lab").chmod(0o755)
        return {"SUKIMA_BENCH_DIR": str(programs)}

    def refused(self, reason, *arguments):
        errors = self.run_lab(*arguments, code=2)
        self.assertIn(reason, errors)
        self.assertEqual(len(errors.splitlines()), 1, errors)


class lab(with_folder):
    def test_simulates_by_another_program(self):
        there = self.stand_in("#!/bin/sh\necho \"$@\"\nexit 7\n")
        for arguments, passed in (([], "--list"), (["--json"], "--list --json"), (["sharing"], "--experiment sharing"),
                                  (["sharing", "--json"], "--experiment sharing --json")):
            process = self.start("simulate", *arguments, environment=there)
            output, _ = process.communicate()
            self.assertEqual((output.strip(), process.returncode), (passed, 7))
        self.refused("takes one experiment", "simulate", "sharing", "limits")
        self.refused("takes one experiment", "simulate", "sharing", "--quick")

    def test_says_how_to_build_the_simulation(self):
        errors = self.run_lab("simulate", "sharing", code=2, environment=self.stand_in(""))
        self.assertIn("cmake --build build/release --target sukima-simulated-lab", errors)

    def test_lists_experiments(self):
        self.assertEqual(self.run_lab("list"),
                         "small       A small one (machine, fewer; 20 runs, 8 with --quick; 1 claim)\n")
        self.assertEqual(json.loads(self.run_lab("list", "--json")),
                         [{"name": "small", "title": "A small one", "source": "", "runs": 20, "quick_runs": 8, "claims": 1}])

    def test_reads_the_installed_experiments_and_the_page_s_example(self):
        names = [one["name"] for one in json.loads(self.run_lab("list", "--json", environment={"SUKIMA_LAB_DIR": ""}))]
        self.assertLessEqual({"lack-count", "lack-quotas", "lack-slowdown", "lack-threads", "objects-growth",
                              "objects-models", "place-hints", "throw-prune", "throw-stop", "throw-try", "wait-machine", "wait-openmp", "wait-shares", "wait-vm",
                              "wait-vms"}, set(names))
        lines = PAGE.read_text().splitlines()
        start, end = lines.index("    {"), lines.index("    }")
        (self.folder / "example.json").write_text("\n".join(lines[start:end + 1]))
        self.assertIn("sleepers: 176 runs, 0 of them done", self.run_lab("run", "./example.json", "--dry-run"))

    def test_refuses_wrong_requests(self):
        self.refused("takes no names and no options", "list", "--repetitions", "3")
        self.refused("needs the names of experiments", "run")
        for name in ("x", "."):
            self.refused(f"there is no experiment '{name}': choose small, or give a file, such as ./mine.json", "run", name)
        (self.folder / "x.json").write_text("{}")
        self.refused("there is no experiment 'x': choose small, or give a file, such as ./x.json", "run", "x")
        (self.folder / "x.json").unlink()
        self.refused("sukima: './x.json' cannot be read: No such file or directory", "run", "./x.json")
        self.refused("'/proc/self/mem' cannot be read: Input/output error", "run", "/proc/self/mem")
        self.refused("'/dev/zero' cannot be read: it is a device", "run", "/dev/zero")
        self.refused("is given twice", "run", "small", "small")
        self.refused("leave out the names", "all", "small")
        self.refused("needs the folder", "report")
        self.refused("'none' has no machine.json: give the folder of a 'sukima lab run' or 'all'", "report", "--folder", "none")
        self.refused("takes no names", "list", "small")
        self.write({**EXPERIMENT, "claims": [{}]})
        self.refused("claims[0]: the member 'name' is missing", "run", "small")
        self.write({**EXPERIMENT, "name": "other"})
        self.refused("name: must be that of its file, 'small'", "list")
        self.write({**EXPERIMENT, "programs": [{"name": "work", "command": ["no-such-program"]}]})
        experiment = self.data / "small.json"
        text = experiment.read_text()
        self.refused("the program 'work' needs 'no-such-program', which is not there", "run", "small", "--folder", "runs")
        self.assertEqual(experiment.read_text(), text)
        self.assertFalse((self.folder / "runs").exists(), "nothing is begun before all programs are found")
        self.write(EXPERIMENT)
        (self.folder / "folder.json").mkdir()
        self.refused("'./folder.json' cannot be read: Is a directory", "run", "./folder.json")
        (self.folder / "file").write_text("")
        self.refused("'file' cannot be made: Not a directory; choose another --folder", "run", "small", "--folder", "file")
        for name in ("runs.jsonl", "machine.json"):  # a folder that is not refused would get more files
            there = self.folder / f"only-{name}"
            there.mkdir()
            (there / name).write_text("{}\n")
            self.refused(f"only-{name}", "run", "small", "--folder", there.name)
            self.assertEqual([file.name for file in there.iterdir()], [name])
        self.refused("--html -: give the name of a file", "run", "small", "--folder", "runs", "--html", "-")
        self.refused("--html no/page.html: No such file or directory", "run", "small", "--folder", "runs", "--html", "no/page.html")
        self.assertFalse((self.folder / "runs").exists(), "nothing is begun before the page can be written")
        self.refused("leave out --json or --dry-run", "run", "small", "--dry-run", "--json")
        self.refused("leave out --plot and --html", "run", "small", "--dry-run", "--plot")
        self.refused("leave out --plot and --html", "run", "small", "--dry-run", "--html", "page.html")

    def test_prints_what_would_be_run(self):
        plan = self.run_lab("run", "small", "--dry-run", "--folder", "runs")
        self.assertIn("small: 20 runs, 0 of them done; about 20 min, at most 20 min\n", plan)
        self.assertIn("  half: fewer, 1 copy", plan)
        self.assertNotIn("scaled", plan)
        self.assertFalse((self.folder / "runs").exists())
        self.run_lab("run", "small", "--repetitions", "1", "--folder", "runs")
        self.assertIn("small: 20 runs, 4 of them done", self.run_lab("run", "small", "--dry-run", "--folder", "runs"))
        self.refused("its runs are not quick: leave out --quick", "run", "small", "--quick", "--dry-run", "--folder", "runs")

    def test_plans_for_a_pretended_machine(self):
        self.write({**EXPERIMENT, "paper_cpus": 16, "repetitions": 1, "claims": [],
                    "settings": [{"name": "all"}, {"name": "seven-of-eight", "cpus": "left", "workers_per_cpu": 0.875, "least_cpus": 16}],
                    "environments": [{"name": "one", "kind": "machine"},
                                     {"name": "cap", "kind": "cap", "part": 0.75, "least_cpus": 4},
                                     {"name": "half", "kind": "fewer", "part": 0.5},
                                     {"name": "three", "kind": "share", "copies": 3},
                                     {"name": "vms", "kind": "vms", "copies": 4, "quick": False}]})
        pretended = {"environment": {"SUKIMA_CPUS": "2"}}
        self.assertEqual(self.run_lab("run", "small", "--dry-run", **pretended),
                         "small: 4 runs, 0 of them done; about 5 min, at most 5 min\n"
                         "  one: machine, 1 copy, 2 CPUs to be seen, 2 left for each\n"
                         "  half: fewer, 1 copy, 2 CPUs to be seen, 1 left for each\n"
                         "  three: share, 3 copies, 2 CPUs to be seen, 1 left for each\n"
                         "  vms: vms, 4 copies, 2 CPUs to be seen, 1 left for each\n"
                         "  scaled from the paper's 16 CPUs to 2\n"
                         "  left out for the number of CPUs: seven-of-eight, which needs 16; cap, which needs 4\n")
        for machine in (("--cpus", "16"), ()):
            plan = self.run_lab("run", "small", "--dry-run", "--quick", *machine, environment={"SUKIMA_CPUS": "2" if machine else "16"})
            self.assertIn("small: 16 runs, 0 of them done", plan)
            self.assertIn("\n  one: machine, 1 copy, 16 CPUs to be seen, 16 left for each\n"
                          "  cap: cap, 1 copy, 16 CPUs to be seen, 12 left for each\n"
                          "  half: fewer, 1 copy, 16 CPUs to be seen, 8 left for each\n"
                          "  three: share, 3 copies, 16 CPUs to be seen, 6 left for each\n", plan)
            self.assertNotIn("scaled", plan)
            self.assertNotIn("left out", plan)

    def test_the_installed_experiments_fit_any_machine(self):
        for cpus in ("1", "2", "4", "16", "64"):
            plan = self.run_lab("all", "--dry-run", "--cpus", cpus, environment={"SUKIMA_LAB_DIR": ""})
            # Of 14 papers' experiments, two are of a machine with 4 CPUs, and seven of one with 16.
            self.assertEqual(plan.count("scaled from the paper's"), {"4": 12, "16": 7}.get(cpus, 14), plan)
            self.assertEqual("fewer-three-quarters, which needs 4" in plan, int(cpus) < 4)
            self.assertEqual("times-7-8, which needs 16" in plan, int(cpus) < 16)
            self.assertEqual("vms-16: vms, 16 copies, %s CPUs to be seen, 1 left for each" % cpus in plan, int(cpus) <= 16)

    def test_uses_as_many_cpus_as_it_is_given(self):
        command = ["sh", "-c", "echo '{\"seconds\":1, \"result\":\"'$(nproc)' {workers}\"}'"]
        self.write({**EXPERIMENT, "programs": [{"name": "work", "command": command}], "claims": [],
                    "environments": [{"name": "one", "kind": "machine"}]})
        self.run_lab("run", "small", "--cpus", "1", "--folder", "runs")
        self.assertEqual({record["result"] for record in self.records()}, {"1 1"})
        machine = json.loads((self.folder / "runs" / "machine.json").read_text())
        self.assertEqual(machine["cpus"], 1)
        self.assertIn(["cpus of the lab", "1"], machine["machine"])
        self.refused("more are for --dry-run only", "run", "small", "--cpus", "1024", "--folder", "others")
        self.refused("what was run is in the folder", "report", "--folder", "runs", "--cpus", "1")

    def test_runs_and_judges(self):
        page = self.run_lab("run", "small", "--folder", "runs")
        self.assertIn("| work | slow | 2 (2 to 2) | 2 (2 to 2) |", page)
        self.assertIn("- **holds**: It is slower.", page)
        self.assertEqual((self.folder / "runs" / "report.md").read_text(), page)
        self.assertEqual(len(self.records()), 20)
        report = json.loads(self.run_lab("report", "--folder", "runs", "--json"))
        self.assertEqual(report["experiments"][0]["claims"][0]["verdict"], "holds")
        self.assertIn("sukima", report["versions"])
        self.assertIn("kernel", report["machine"])

    def test_shows_target_times_only_if_what_they_are_made_of_is_run(self):
        quick = {**EXPERIMENT, "environments": [{**EXPERIMENT["environments"][0], "quick": False}, EXPERIMENT["environments"][1]]}
        self.write(quick)
        self.assertNotIn("target time", self.run_lab("run", "small", "--quick", "--folder", "quick"))
        self.assertIn("target time", self.run_lab("run", "small", "--folder", "whole"))

    def test_binds_programs_to_some_of_the_cpus(self):
        command = ["sh", "-c", "echo '{\"seconds\":1, \"result\":\"'$(nproc)'\"}'"]
        self.write({**EXPERIMENT, "programs": [{"name": "work", "command": command}], "claims": [],
                    "environments": [{"name": "half", "kind": "fewer", "part": 0.01}]})
        self.run_lab("run", "small", "--folder", "runs")
        self.assertEqual({record["result"] for record in self.records()}, {"1"})

    def test_says_which_runs_failed(self):
        command = ["sh", "-c", "echo broken >&2; exit 3"]
        self.write({**EXPERIMENT, "programs": [{"name": "work", "command": command}]})
        errors = self.run_lab("run", "small", "--folder", "runs", code=1)
        self.assertIn("20 runs, 20 failed, 0 left out", errors)
        self.assertEqual(self.records()[0]["failure"], "ended with exit code 3: broken ")
        self.assertIn("cannot be shown here", self.run_lab("report", "--folder", "runs"))

    def test_takes_a_run_that_does_not_end_as_longer_than_all(self):
        command = ["sh", "-c", "[ $TIME = 1 ] || sleep 1000; echo '{\"seconds\":1}'"]
        self.write({**EXPERIMENT, "programs": [{"name": "work", "command": command}], "limit_seconds": 0.1,
                    "environments": EXPERIMENT["environments"][:1],
                    "claims": [{**EXPERIMENT["claims"][0], "environments": ["one"]}]})
        self.run_lab("run", "small", "--folder", "runs")
        slow = [record["seconds"] for record in self.records() if record["setting"] == "slow"]
        self.assertEqual(slow, [[None]] * 5)

    def test_goes_on_after_a_full_disk(self):
        self.run_lab("run", "small", "--repetitions", "1", "--folder", "runs")
        size = (self.folder / "runs" / "runs.jsonl").stat().st_size

        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (size + 30, size + 30))

        # The files of the folder are smaller than this limit, but the next record exceeds it.
        errors = self.run_lab("run", "small", "--folder", "runs", code=1, preexec_fn=limit)
        self.assertIn("give it room, and run the same command with --folder", errors)
        self.assertEqual(len(self.records()), 4, "no half line stays")
        self.run_lab("run", "small", "--folder", "runs")
        self.assertEqual(len(self.records()), 20)

    def test_ends_with_its_programs_at_a_signal(self):
        marks = self.folder / "marks"
        marks.mkdir()
        command = ["sh", "-c", f"echo $$ > {marks}/$$.new; mv {marks}/$$.new {marks}/$$; exec sleep 1000"]
        self.write({**EXPERIMENT, "programs": [{"name": "work", "command": command}], "limit_seconds": 3600})
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            process = self.start("run", "small", "--folder", "runs")
            while not (found := [one for one in marks.iterdir() if one.suffix == ""]):
                time.sleep(0.01)
            process.send_signal(number)
            process.communicate()
            self.assertEqual(process.returncode, -number)
            for one in found:
                self.assertFalse(pathlib.Path("/proc", one.name).exists(), "the program is gone")
                one.unlink()
            self.assertEqual(self.records(), [])
        self.write(EXPERIMENT)
        self.refused("has another version of 'small'", "run", "small", "--folder", "runs")

    def test_shows_its_progress_on_a_terminal_only(self):
        master, slave = pty.openpty()
        process = subprocess.Popen([PROGRAM, "lab", "run", "small", "--folder", "runs"], stdout=subprocess.DEVNULL,
                                   stderr=slave, stdin=subprocess.DEVNULL, cwd=self.folder,
                                   env={**os.environ, "SUKIMA_LAB_DIR": str(self.data), "TERM": "xterm"})
        os.close(slave)
        screen = b""
        while True:
            try:
                part = os.read(master, 4096)
            except OSError:
                break
            if not part:
                break
            screen += part
        os.close(master)
        self.assertEqual(process.wait(), 0)
        self.assertIn(b"20 of 20: small, work with", screen)
        self.assertIn(b" left", screen)
        quiet = self.start("run", "small", "--folder", "others")
        _, errors = quiet.communicate()
        self.assertEqual(errors, "20 runs, 0 failed, 0 left out; stored in others\n")

    def test_benchmarks_get_their_size_and_workers(self):
        stand_in = self.folder / "bench-sukima-gcc"
        stand_in.write_text("#!/bin/sh\necho \"{\\\"seconds\\\":1,\\\"result\\\":\\\"$*\\\"}\"\n")
        stand_in.chmod(0o755)
        self.write({**EXPERIMENT, "programs": [{"name": "fib", "benchmark": "fib", "size": 30, "quick_size": 20}],
                    "claims": [], "environments": [{"name": "one", "kind": "machine"}],
                    "settings": [{"name": "many", "workers_per_cpu": 3}]})
        self.run_lab("run", "small", "--quick", "--folder", "runs",
                     environment={"SUKIMA_BENCH_DIR": str(self.folder), "SUKIMA_CPUS": "2"})
        self.assertEqual(self.records()[0]["result"], "fib --size 20 --workers 6 --repetitions 1")

    def test_reports_on_recorded_runs(self):
        # The report is stored beside the runs.
        runs = self.folder / "recorded"
        shutil.copytree(RECORDED, runs)
        page = self.run_lab("report", "--folder", str(runs))
        self.assertEqual(page, (RECORDED / "report.md").read_text())
        report = json.loads(self.run_lab("report", "--folder", str(runs), "--json"))
        names = [one["name"] for one in report["experiments"]]
        self.assertEqual(names, sorted(names))
        with open(runs / "runs.jsonl", "a", encoding="utf-8") as file:
            file.write('{"experiment": "wa\n')
        self.refused("runs.jsonl', line", "report", "--folder", str(runs))

    def test_writes_one_page_with_every_plot_verdict_and_figure(self):
        runs = self.folder / "recorded"
        shutil.copytree(RECORDED, runs)
        self.run_lab("report", "--folder", str(runs), "--html", "page.html")
        page = (self.folder / "page.html").read_text()
        report = json.loads(self.run_lab("report", "--folder", str(runs), "--json"))
        bars = ratios = 0
        for experiment in report["experiments"]:
            programs = {cell["program"] for cell in experiment["cells"]}
            for program in programs:
                self.assertIn(f"<title>{program}</title>", page)
            bars += len(programs)
            for cell in experiment["cells"]:
                self.assertIn(f"<td>{cell['median']:.3g}</td>", page)
            for claim in experiment["claims"]:
                row = page[page.index(f"<tr id=\"{experiment['name']}/{claim['name']}\">"):]
                row = row[:row.index("</tr>\n")]  # a heat map in it has rows of its own, on one line
                for text in (claim["figure"], claim["found"], claim["text"], claim["reason"]):
                    self.assertIn(text, row)
                self.assertIn(f"<span class=\"verdict\">{claim['verdict']}</span>", row)
                self.assertEqual(row.count("<circle"), len(claim["cells"]))
                ratios += 1
        self.assertGreater(ratios, 0)
        self.assertEqual(page.count("<svg"), bars + ratios)
        for outside in ("<script", "<link", "<img", "src=", "@import", "url("):
            self.assertNotIn(outside, page)
        self.refused("takes no names and no options", "list", "--html", "page.html")

    def test_reads_the_last_line_of_much_output(self):
        command = ["sh", "-c", "head -c 3000000 /dev/zero | tr '\\0' x; echo; echo '{\"seconds\":7}'"]
        self.write({**EXPERIMENT, "programs": [{"name": "work", "command": command}], "claims": [],
                    "environments": EXPERIMENT["environments"][:1]})
        self.run_lab("run", "small", "--repetitions", "1", "--folder", "runs")
        self.assertEqual([one["seconds"] for one in self.records()], [[7], [7]])

    def test_refuses_another_build_of_the_second_program_of_a_name(self):
        def build(name, comment):
            file = self.folder / name / "work"
            file.parent.mkdir(exist_ok=True)
            file.write_text(f"#!/bin/sh\n# {comment}\necho '{{\"seconds\":1}}'\n")
            file.chmod(0o755)

        for name in ("old", "new"):
            build(name, name)
        programs = [{"name": name, "command": [f"./{name}/work"]} for name in ("old", "new")]
        self.write({**EXPERIMENT, "programs": programs, "claims": []})
        self.run_lab("run", "small", "--repetitions", "1", "--folder", "runs")
        build("new", "newer")
        self.refused("version of program", "run", "small", "--folder", "runs")
        self.assertEqual(len(self.records()), 8)

    def test_draws_stopped_runs_on_a_logarithmic_axis_and_texts_as_they_are(self):
        python = shutil.which("python3", path="/usr/bin") or sys.executable
        times = {"_fast": "1", "slow": "100", "never": "7"}
        settings = [{"name": name, "variables": {"TIME": time}} for name, time in times.items()]
        self.write({**EXPERIMENT, "title": "Between $5\\6 and $7", "settings": settings, "claims": [],
                    "environments": EXPERIMENT["environments"][:1]})
        self.run_lab("run", "small", "--repetitions", "1", "--folder", "runs")
        records = [{**one, "seconds": [None]} if one["setting"] == "never" else one for one in self.records()]
        (self.folder / "runs" / "runs.jsonl").write_text("".join(json.dumps(one) + "\n" for one in records))
        self.run_lab("report", "--folder", "runs", "--plot", environment={"SUKIMA_PYTHON": python})
        drawn = (self.folder / "runs" / "small.svg").read_text()
        for text in ("stopped", "Between $5\\6 and $7", " _fast", "slow"):
            self.assertEqual(drawn.count(f"<!-- {text} -->"), 1, text)

    def test_draws(self):
        python = shutil.which("python3", path="/usr/bin") or sys.executable
        runs = self.folder / "recorded"
        shutil.copytree(RECORDED, runs)
        self.run_lab("report", "--folder", str(runs), "--plot", environment={"SUKIMA_PYTHON": python})
        drawn = {file.name for file in runs.iterdir()}
        for experiment in (RECORDED / "experiments").iterdir():
            for ending in ("png", "svg"):
                self.assertIn(f"{experiment.stem}.{ending}", drawn)


class groups(with_folder):
    def test_limits_and_shares(self):
        command = ["sh", "-c", f"cat /proc/self/cgroup > {self.folder}/group-$$; "
                   "find /sys/fs/cgroup -path \"*/sukima-bench-$PPID/copy0/cpu.*\" '(' -name cpu.cfs_period_us -o -name cpu.max ')' "
                   f"-exec cat {{}} + > {self.folder}/period-$$; echo '{{\"seconds\":1}}'"]
        self.write({**EXPERIMENT, "programs": [{"name": "work", "command": command}], "claims": [],
                    "settings": EXPERIMENT["settings"][:1], "environments": [
                        {"name": "cap", "kind": "cap", "part": 0.5, "period_ms": 20},
                        {"name": "two", "kind": "share", "copies": 2, "weights": [1, 3]}]})
        self.run_lab("run", "small", "--repetitions", "1", "--folder", "runs")
        report = json.loads(self.run_lab("report", "--folder", "runs", "--json"))
        if report["obstacles"]:
            self.assertEqual(set(report["obstacles"]), {"cap", "share"})
            self.skipTest("control groups for CPU time cannot be made here")
        seen = [file.read_text() for file in self.folder.glob("group-*")]
        self.assertEqual(len(seen), 3)
        for text in seen:
            self.assertRegex(text, "sukima-bench-[0-9]+/copy[01]\n")
        self.assertTrue(any(file.read_text().split()[-1:] == ["20000"] for file in self.folder.glob("period-*")))
        self.assertEqual(len(next(one for one in self.records() if one["environment"] == "two")["seconds"]), 2)

    def test_end_what_has_left_its_process_group(self):
        note = self.folder / "left"
        command = ["sh", "-c", f"setsid sh -c 'echo $$ > {note}; exec sleep 600' > /dev/null 2>&1 & "
                               f"while ! test -s {note}; do sleep 0.01; done; echo '{{\"seconds\":1}}'"]
        self.write({**EXPERIMENT, "programs": [{"name": "work", "command": command}], "claims": [],
                    "settings": EXPERIMENT["settings"][:1], "environments": [{"name": "cap", "kind": "cap", "part": 0.5}]})
        self.run_lab("run", "small", "--repetitions", "2", "--folder", "runs")
        if json.loads(self.run_lab("report", "--folder", "runs", "--json"))["obstacles"]:
            self.skipTest("control groups for CPU time cannot be made here")
        self.assertEqual([one.get("failure", "") for one in self.records()], ["", ""])
        try:
            left = pathlib.Path(f"/proc/{note.read_text().strip()}/cmdline").read_text()
        except OSError:
            left = ""
        self.assertEqual(left, "", "it would compete with later runs")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
