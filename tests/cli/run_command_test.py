#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The programs `sukima run` and `sukima probe` from outside: exit codes, signals, streams, terminals, messages.

run_command_test.py PROGRAM
"""
import fcntl
import json
import os
import pathlib
import pty
import re
import resource
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest

PROGRAM = str(pathlib.Path(sys.argv.pop(1)).resolve())
ENVIRONMENT = {**{k: v for k, v in os.environ.items() if not k.startswith(("SUKIMA_", "OMP_")) and k != "TERM"},
               "NO_COLOR": "1"}

# The process that started the tests may ignore or block signals, as a shell does for commands in the background.
PASSED_ON = ("INT", "QUIT", "TERM", "HUP", "USR1", "USR2", "ALRM", "WINCH", "CONT")
for one in PASSED_ON:
    signal.signal(signal.Signals["SIG" + one], signal.SIG_DFL)
signal.pthread_sigmask(signal.SIG_SETMASK, ())


def run(*arguments, given=None, **variables):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=500, input=given,
                          env={**ENVIRONMENT, **variables})


class Refusals(unittest.TestCase):
    def refused(self, sentence, *arguments, **variables):
        done = run(*arguments, **variables)
        self.assertEqual((done.returncode, done.stdout), (2, ""), arguments)
        self.assertIn(sentence, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)

    def test_run_refuses_bad_requests_with_one_sentence(self):
        self.refused("no program was given", "run")
        self.refused("no program was given after --", "run", "--dry-run", "--")
        self.refused("'true' is one argument too many", "run", "true")
        self.refused("--threads: 0 is out of range: give a whole number from 1", "run", "--threads", "0", "--", "true")
        self.refused("--round", "run", "--round", "up", "--", "true")
        self.refused("--reserve", "run", "--reserve", "-1", "--", "true")
        self.refused("--reserve: nan is out of range: give a number from 0", "run", "--reserve", "nan", "--", "true")
        self.refused("--min 4 is more than --max 2", "run", "--min", "4", "--max", "2", "--", "true")
        self.refused("which --resize would change: leave out one of them", "run", "--threads", "2", "--resize", "always", "--",
                     "true")
        self.refused("the library that --resize needs: leave out one of them", "run", "--no-preload", "--resize",
                     "unless-asked", "--", "true")
        self.refused("--output names the file of a report", "run", "--output", "x", "--", "true")
        self.refused("the report cannot be written to '-': --output takes the name of a file; give ./- for a file of that name",
                     "run", "--json", "--output", "-", "--", "true")
        self.refused("--html takes the name of a file", "explain", "--html", "-", "--", "true")
        self.refused("--keep takes the name of a file", "explain", "--keep", "-", "--", "true")
        self.refused("--dry-run runs nothing", "run", "--dry-run", "--json")
        self.refused("cannot be written to '/nonesuch/x'", "run", "--report", "--output", "/nonesuch/x", "--", "true")
        self.refused("SUKIMA_CPUS", "run", "--", "true", SUKIMA_CPUS="many")

    def test_the_exit_code_is_the_same_without_a_listener(self):
        with open("/dev/full", "wb") as full:
            for errors in ({"stderr": full}, {"preexec_fn": lambda: os.close(2)}):
                self.assertEqual(subprocess.run([PROGRAM, "nonsense"], timeout=500, env=ENVIRONMENT, **errors).returncode, 2)

    def test_help_that_cannot_be_written_is_a_failure(self):
        with open("/dev/full", "wb") as full:
            for words in (["--help"], ["--version"], ["run", "--help"], ["probe", "--json"],
                          ["probe", "--watch", "--count", "1", "--interval", "0.1"]):
                done = subprocess.run([PROGRAM, *words], stdout=full, stderr=subprocess.PIPE, text=True, timeout=500,
                                      env=ENVIRONMENT)
                self.assertEqual((done.returncode, done.stderr),
                                 (1, "sukima: the output could not be written to standard output\n"), words)

    def test_probe_refuses_bad_requests_with_one_sentence(self):
        self.refused("there is no process 99999999", "probe", "--pid", "99999999")
        self.refused("--pid", "probe", "--pid", "0")
        self.refused("--interval and --count need --watch", "probe", "--count", "3")
        self.refused("--watch repeats the measurement", "probe", "--watch", "--strict")
        self.refused("--runtimes runs programs as children", "probe", "--runtimes", "--pid", "1")
        self.refused("--threads prints one number", "probe", "--threads", "--json")
        self.refused("SUKIMA_CPUS", "probe", SUKIMA_CPUS="-1")
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "proc", "7").mkdir(parents=True)
            self.refused("holds no process 8: give the number of one", "probe", "--root", folder, "--pid", "8")


    def test_calibrate_refuses_bad_requests_with_one_sentence(self):
        self.refused("--show measures nothing", "calibrate", "--show", "--all-pairs")
        self.refused("--show measures nothing", "calibrate", "--show", "--days", "3")
        self.refused("--days", "calibrate", "--days", "0")
        self.refused("65535", "calibrate", "--cpus", "65535")
        self.refused("--pairs prints only the pairs", "probe", "--pairs", "--strict")

    def test_calibrate_advises_once_without_a_profile(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "profile")
            for content, reason in ((None, "there is no profile of this machine; run 'sukima calibrate' to write it"),
                                    ("x", "line 1: this line is not 'sukima-profile 1', so the file is not a profile; choose"),
                                    ("x" * 40_000_000, "the file is too large for a profile; choose another one"),
                                    ("folder", "Is a directory; make the file readable, or choose another one")):
                file.unlink(missing_ok=True)
                if content == "folder":
                    file.mkdir()
                elif content is not None:
                    file.write_text(content)
                done = run("calibrate", "--show", "--output", str(file))
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertTrue(done.stderr.startswith(f"sukima: {file}: {reason}"), done.stderr)
                self.assertEqual(done.stderr.count("; "), 1, done.stderr)


def first_cpu():
    return str(min(os.sched_getaffinity(0)))


class Calibrate(unittest.TestCase):
    def test_keeps_a_profile_that_probe_reads(self):
        cpus = sorted(os.sched_getaffinity(0))[:2]
        with tempfile.TemporaryDirectory() as folder:
            file = str(pathlib.Path(folder, "deeper", "profile"))
            self.assertEqual(run("calibrate", "--show", SUKIMA_PROFILE=file).returncode, 2)
            begun = int(time.time())
            done = run("calibrate", "--json", "--days", "2", "--cpus", ",".join(map(str, cpus)), SUKIMA_PROFILE=file)
            self.assertEqual(done.returncode, 0, done.stderr)
            measured = json.loads(done.stdout)
            self.assertEqual(measured["cpus"], cpus)
            self.assertEqual(measured["valid_seconds"], 2 * 86400)
            self.assertTrue(begun <= measured["written"] <= time.time(), measured)
            self.assertEqual([pair["cpus"] for pair in measured["pairs"]], [cpus] if len(cpus) == 2 else [])
            shown = run("calibrate", "--show", "--json", SUKIMA_PROFILE=file)
            self.assertEqual(shown.returncode, 0, shown.stderr)
            kept = json.loads(shown.stdout)["pairs"]
            self.assertEqual(len(kept), len(measured["pairs"]))
            for one, other in zip(kept, measured["pairs"]):  # the file has three decimals
                self.assertEqual(one["cpus"], other["cpus"])
                self.assertAlmostEqual(one["slowdown"], other["slowdown"], delta=0.001)
                self.assertAlmostEqual(one["handover_ns"], other["handover_ns"], delta=0.001)
            self.assertIn(f"The profile {file} is valid.", run("calibrate", "--show", SUKIMA_PROFILE=file).stdout)
            pairs = json.loads(run("probe", "--pairs", "--json", SUKIMA_PROFILE=file).stdout)
            self.assertEqual((pairs["measured_now"], pairs["pairs"]), (False, kept))

    def test_says_nothing_in_the_name_of_hwloc(self):
        """Without /sys, hwloc would write to stderr."""
        hiding = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", 'mount -t tmpfs none /sys && exec "$@"', "sh"]
        if subprocess.run([*hiding, "true"], capture_output=True, check=False).returncode != 0:
            self.skipTest("no mounts can be made here")
        done = subprocess.run([*hiding, PROGRAM, "calibrate", "--cpus", first_cpu(), "--output", "-"], capture_output=True,
                              text=True, timeout=500, env=ENVIRONMENT)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("hwloc", done.stderr)

    def test_replaces_no_file_of_something_else(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "letter")
            file.write_text("Dear reader,\n")
            for words, variables in (([], {"SUKIMA_PROFILE": str(file)}), (["--output", str(file)], {})):
                done = run("calibrate", "--cpus", first_cpu(), *words, **variables)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertEqual(done.stderr, f"sukima: '{file}' is not a machine profile, so it was not replaced; "
                                              "choose another file with --output, or remove it\n")
                self.assertEqual(file.read_text(), "Dear reader,\n")
            for content in ("", "sukima-profile 1\ndamaged"):
                file.write_text(content)
                self.assertEqual(run("calibrate", "--cpus", first_cpu(), "--output", str(file)).returncode, 0)
                self.assertIn("valid", file.read_text())

    def test_warns_if_the_profile_cannot_be_kept(self):
        done = run("calibrate", "--cpus", first_cpu(), "--output", "/proc/nonesuch/x")
        self.assertEqual(done.returncode, 2)
        self.assertIn(f"CPUs: {first_cpu()}\n", done.stdout, "the measurement is not lost")
        # A line about other programs that use the machine may come first.
        self.assertIn("cannot be written to '/proc/nonesuch/x'", done.stderr.splitlines()[-1])

    def test_probe_measures_pairs_without_a_profile(self):
        if len(os.sched_getaffinity(0)) > 8:
            self.skipTest("that many pairs take too long for a test")
        pairs = json.loads(run("probe", "--pairs", "--json", SUKIMA_PROFILE="/nonesuch").stdout)
        count = len(os.sched_getaffinity(0))
        self.assertTrue(pairs["measured_now"])
        self.assertEqual(len(pairs["pairs"]), count * (count - 1) // 2)


class Probe(unittest.TestCase):
    def test_prints_the_number_and_the_reason(self):
        done = run("probe", SUKIMA_CPUS="1.5")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("You can use 1.5 CPUs, because the user set 1.5 CPUs (SUKIMA_CPUS).\n", done.stdout)
        self.assertIn("* override", done.stdout)
        one = min(os.sched_getaffinity(0))
        done = subprocess.run([PROGRAM, "probe"], capture_output=True, text=True, timeout=500,
                              env={**ENVIRONMENT, "SUKIMA_CPUS": "0.5"}, preexec_fn=lambda: os.sched_setaffinity(0, {one}))
        self.assertIn("Up to 1 thread may run at the same moment.\n", done.stdout)

    def test_as_json(self):
        answer = json.loads(run("probe", "--json", SUKIMA_CPUS="1.5").stdout)
        self.assertEqual((answer["usable"], answer["basis"], answer["threads"]), (1.5, "override", 2))
        self.assertLessEqual(answer["low"], answer["high"])
        self.assertEqual([limit["kind"] for limit in answer["limits"] if limit["binding"]], ["override"])
        self.assertTrue(all(limit["file"] and limit["text"] for limit in answer["limits"]))

    def test_for_scripts(self):
        self.assertEqual(run("probe", "--threads", SUKIMA_CPUS="2.5").stdout, "3\n")
        self.assertEqual(run("probe", "--threads", SUKIMA_CPUS="2.0").stdout, "2\n")
        self.assertEqual(run("probe", "--at-least", "2", SUKIMA_CPUS="2").returncode, 0)
        self.assertEqual(run("probe", "--at-least", "2.5", SUKIMA_CPUS="2").returncode, 3)
        for also in ([], ["--threads"]):
            self.assertEqual(run("probe", "--strict", *also, SUKIMA_CPUS="1", OMP_NUM_THREADS="64").returncode, 4, also)

    def test_of_another_process_sees_its_variables(self):
        with subprocess.Popen(["sleep", "1000"], env={**ENVIRONMENT, "RAYON_NUM_THREADS": "99999"}) as other:
            try:
                answer = json.loads(run("probe", "--json", "--pid", str(other.pid), SUKIMA_CPUS="77").stdout)
            finally:
                other.kill()
        self.assertNotEqual(answer["basis"], "override", "it is this process's own")
        self.assertTrue(any("RAYON_NUM_THREADS=99999" in warning["text"] for warning in answer["warnings"]), answer)

    def test_of_a_process_that_has_ended_is_refused(self):
        with subprocess.Popen(["true"]) as ended:
            os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)  # its number is still taken
            for words in ([], ["--watch"]):
                done = run("probe", "--pid", str(ended.pid), *words)
                self.assertEqual((done.returncode, done.stderr), (2, f"sukima: there is no process {ended.pid}: give the number "
                                                                  "of a running process\n"), words)

    def test_watches(self):
        done = run("probe", "--watch", "--count", "3", "--interval", "0.1", SUKIMA_CPUS="1.25")
        self.assertEqual(done.returncode, 0)
        self.assertEqual(done.stdout.count("1.25 CPUs usable (override)"), 3, done.stdout)
        done = run("probe", "--watch", "--count", "2", "--interval", "0.1", "--json", SUKIMA_CPUS="1.25")
        self.assertEqual([json.loads(line)["usable"] for line in done.stdout.splitlines()], [1.25, 1.25])

    def test_watches_without_proc(self):
        hidden = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c",
                  "mount -t tmpfs none /proc && test ! -e /proc/self && exec \"$@\"", "sh"]
        if subprocess.run([*hidden, "true"], capture_output=True).returncode != 0:
            self.skipTest("no mounts can be made here")
        done = subprocess.run([*hidden, PROGRAM, "probe", "--watch", "--count", "1", "--interval", "0.1"],
                              capture_output=True, text=True, timeout=500, env=ENVIRONMENT)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn(" used now, ? used by others, at most ", done.stdout)

    def test_draws_a_chart_on_a_terminal(self):
        # No machine has that many, so the chart is full.
        code, screen = on_terminal([PROGRAM, "probe", "--watch", "--count", "2", "--interval", "0.1"],
                                   {**ENVIRONMENT, "SUKIMA_CPUS": "9999"})
        self.assertEqual(code, 0)
        self.assertIn("\033[", screen)
        self.assertIn("█", screen)

    def test_prints_lines_where_the_terminal_cannot_move_its_cursor(self):
        code, screen = on_terminal([PROGRAM, "probe", "--watch", "--count", "2", "--interval", "0.1"],
                                   {**ENVIRONMENT, "SUKIMA_CPUS": "1.25", "TERM": "dumb"})
        self.assertEqual((code, screen.count("1.25 CPUs usable (override)")), (0, 2), screen)
        self.assertNotIn("\033", screen)

    def test_keeps_to_the_width_of_the_terminal(self):
        for columns in (80, 40):
            code, screen = on_terminal([PROGRAM, "probe", "--watch", "--count", "2", "--interval", "0.1"],
                                       {**ENVIRONMENT, "SUKIMA_CPUS": "2"}, columns=columns)
            self.assertEqual(code, 0)
            for line in re.sub(r"\033\[[0-9]*[A-Za-z]", "", screen).replace("\r", "").split("\n"):
                self.assertLess(len(line), columns, line)

    def test_every_field_of_its_json_is_documented(self):
        page = (pathlib.Path(__file__).resolve().parents[2] / "docs" / "probe.md").read_text()
        documented = set(re.findall(r"`([a-z_]+)`", page[page.index("## JSON"):]))

        def fields(value):
            if isinstance(value, dict):
                return set(value).union(*map(fields, value.values()))
            return set().union(*map(fields, value)) if isinstance(value, list) else set()

        for arguments in (["--steal", "--runtimes"], ["--watch", "--count", "1", "--interval", "0.2"], ["--pairs"]):
            answer = json.loads(run("probe", "--json", *arguments, PATH="/usr/bin:/bin", SUKIMA_PROFILE="/nonesuch",
                                    OMP_WAIT_POLICY="active", OMP_NUM_THREADS="999").stdout)
            self.assertEqual(answer["schema"], 1)
            self.assertLessEqual(fields(answer), documented, arguments)

    def test_asks_runtimes(self):
        beliefs = {"OpenMP (libgomp)": None}
        while beliefs.get("OpenMP (libgomp)", 5) is None:  # even if the library gets no CPU for 10 s
            answer = json.loads(run("probe", "--json", "--runtimes", PATH="/usr/bin:/bin", OMP_NUM_THREADS="5").stdout)
            beliefs = {one["runtime"]: one["threads"] for one in answer["runtimes"]}
        self.assertEqual(beliefs["C library"], os.sysconf("SC_NPROCESSORS_ONLN"))
        self.assertEqual(beliefs.get("OpenMP (libgomp)", 5), 5, "the variables of this place count")

    def test_a_question_that_is_interrupted_leaves_no_folder(self):
        """The programs of runtimes are played by one that says that it was started, and goes on."""
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as temporary:
            begun, program = pathlib.Path(folder, "begun"), pathlib.Path(folder, "go")
            os.mkfifo(begun)
            program.write_text(f"#!/bin/sh\necho begun >{begun}\nexec /bin/sleep 1000\n", encoding="utf-8")
            program.chmod(0o755)
            with subprocess.Popen([PROGRAM, "probe", "--runtimes"], stdout=subprocess.DEVNULL,
                                  env={**ENVIRONMENT, "PATH": folder, "TMPDIR": temporary}) as asking:
                self.assertEqual(begun.read_text(encoding="utf-8"), "begun\n")
                asking.terminate()
            self.assertEqual((asking.returncode, os.listdir(temporary)), (-signal.SIGTERM, []))

    def test_a_warning_sends_nothing_to_the_terminal_but_text(self):
        found = run("probe", SUKIMA_CPUS="0.5", GOMP_SPINCOUNT="1000\033[31m").stdout
        self.assertIn("GOMP_SPINCOUNT=1000?[31m lets idle threads spin", found)
        self.assertNotIn("\033", found)


class Recordings(unittest.TestCase):
    """Answers from files."""

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def tree(self, **changed):
        """A container with a quota of 1.5 CPUs that throttled it at times."""
        files = {
            "sys/devices/system/cpu/online": "0-15\n",
            "proc/self/status": "Name:\tserver\nCpus_allowed_list:\t0-15\n",
            "proc/self/stat": "4711 (server) R " + " ".join(["0"] * 49) + "\n",
            "proc/self/cgroup": "0::/\n",
            "proc/self/mountinfo": "36 25 0:30 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
            "sys/fs/cgroup/cgroup.procs": "4711\n",
            "sys/fs/cgroup/cgroup.events": "populated 1\n",
            "sys/fs/cgroup/cpu.max": "150000 100000\n",
            "sys/fs/cgroup/cpu.stat": "usage_usec 9\nnr_periods 4000\nnr_throttled 120\nthrottled_usec 5\n",
            **changed}
        for name, content in files.items():
            path = self.folder / "tree" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
        return str(self.folder / "tree")

    def test_of_a_plain_copy_the_limits_are_the_answer(self):
        done = run("probe", "--root", self.tree(), SUKIMA_CPUS="7")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("You can use 1.5 CPUs, because the process's own group may use 150000 us of CPU time every "
                      "100000 us: 1.5 CPUs (/sys/fs/cgroup/cpu.max).\n", done.stdout)
        self.assertIn("\n            docker --cpus=1.5, limits.cpu 1500m, CPUQuota=150%; held back in 120 of 4000 "
                      "periods (3.0 %)\n", done.stdout)
        answer = json.loads(run("probe", "--json", "--root", self.tree()).stdout)
        self.assertEqual((answer["usable"], answer["basis"], answer["cap"]), (1.5, "facts", 16))
        quota, = (limit for limit in answer["limits"] if limit["kind"] == "quota")
        self.assertEqual((quota["units"], quota["periods"], quota["throttled_periods"], quota["file"]),
                         ("docker --cpus=1.5, limits.cpu 1500m, CPUQuota=150%", 4000, 120, "/sys/fs/cgroup/cpu.max"))
        self.assertEqual(run("probe", "--root", self.tree(), "--at-least", "2").returncode, 3)
        self.assertEqual(run("probe", "--root", self.tree(), "--threads").stdout, "2\n")

    def test_names_of_groups_do_not_act_on_the_terminal(self):
        group = "a\033[31mb"
        files = {f"sys/fs/cgroup/{group}/{name}": content for name, content in (
            ("cgroup.procs", "4711\n"), ("cgroup.events", "populated 1\n"), ("cpu.max", "50000 100000\n"), ("cpu.weight", "x\n"))}
        tree = self.tree(**{"proc/self/cgroup": f"0::/{group}\n", **files})
        done = run("probe", "--root", tree)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertNotIn("\033", done.stdout)
        self.assertEqual(done.stdout.count("/sys/fs/cgroup/a?[31mb/cpu.max"), 2, done.stdout)
        self.assertIn(f"/sys/fs/cgroup/{group}/cpu.max",
                      [limit["file"] for limit in json.loads(run("probe", "--json", "--root", tree).stdout)["limits"]])

    def test_small_quotas_are_not_shown_as_none(self):
        done = run("probe", "--root", self.tree(**{"sys/fs/cgroup/cpu.max": "1000 1000000\n"}))
        self.assertTrue(done.stdout.startswith("You can use less than 0.01 CPUs, because "), done.stdout)

    def test_a_recorded_tree_has_the_same_limits(self):
        """The measured values depend on the moment; recorded_answer_test.py tests them."""
        place = str(self.folder / "place")
        here = json.loads(run("probe", "--json", "--record", place, SECRET="hunter2").stdout)
        again = json.loads(run("probe", "--json", "--root", place, SUKIMA_CPUS="9").stdout)
        for name in ("cap", "quota", "weight", "online", "affinity", "cpuset", "ancestors_hidden", "notes", "threads"):
            self.assertEqual(again[name], here[name], name)
        configured = ("online", "affinity", "cpuset", "quota", "weight")
        for one, other in zip(*([limit for limit in answer["limits"] if limit["kind"] in configured]
                                for answer in (here, again)), strict=True):
            for name in ("kind", "value", "level", "file", "text"):
                self.assertEqual(one[name], other[name])

    def test_nothing_private_is_recorded(self):
        place = self.folder / "place"
        self.assertEqual(run("probe", "--record", str(place), SECRET="hunter2").returncode, 0)
        allowed = {"README", "times", "cgroup", "mountinfo", "status", "stat", "schedstat", "autogroup", "loadavg", "cpu",
                   "online", "thread_siblings_list", "sched_autogroup_enabled", "tasks", "release_agent", "host",
                   # the places of a machine: NUMA nodes and caches
                   "cpulist", "shared_cpu_list", "level", "type", "core_cpus_list"}
        for path in place.rglob("*"):
            if not path.is_file():
                continue
            text = path.read_text()
            self.assertNotIn("hunter2", text)
            self.assertTrue(path.name in allowed or path.name.startswith(("cpu.", "cpuacct.", "cpuset.", "cgroup.")),
                            path)
            if path.name == "mountinfo":
                place_only = re.compile(r"\d+ \d+ \d+:\d+ / /sys\S* rw - other none rw")
                self.assertTrue(all(" - cgroup" in line or place_only.fullmatch(line) for line in text.splitlines()), text)
            if path.name == "status":
                self.assertTrue(all("allowed_list:" in line for line in text.splitlines()), text)

    def test_says_why_a_recording_cannot_be_written(self):
        def little_room():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))

        place = self.folder / "recorded"
        done = subprocess.run([PROGRAM, "probe", "--record", place], capture_output=True, text=True, timeout=500, env=ENVIRONMENT,
                              preexec_fn=little_room)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, f"^sukima: cannot write '{place}/.*': File too large; give --record a folder on "
                                      "another disk\n$")
        self.assertEqual(os.listdir(place), [], "a part of a recording would pass for a copy of /proc and /sys")
        tree = self.tree(**{"samples/times": "1000000000\n2000000000\n", "proc/self/long": "x" * 200})
        with tempfile.TemporaryDirectory() as temporary:
            done = subprocess.run([PROGRAM, "probe", "--root", tree], capture_output=True, text=True, timeout=500,
                                  env={**ENVIRONMENT, "TMPDIR": temporary}, preexec_fn=little_room)
            self.assertEqual((done.returncode, os.listdir(temporary)), (1, []))
            self.assertRegex(done.stderr, f"^sukima: cannot write '{temporary}/.*': File too large; set TMPDIR to a folder on "
                                          "another disk\n$")

    def test_two_recordings_do_not_share_a_folder(self):
        place = self.folder / "place"
        place.mkdir()
        held = os.open(place, os.O_RDONLY)  # like a recording that has begun
        self.addCleanup(os.close, held)
        fcntl.flock(held, fcntl.LOCK_EX)
        done = run("probe", "--record", str(place))
        self.assertEqual((done.returncode, done.stdout, done.stderr),
                         (2, "", f"sukima: another sukima probe records into the folder '{place}': give --record a new one\n"))
        self.assertEqual(list(place.iterdir()), [])

    def test_of_another_process(self):
        place = str(self.folder / "place")
        with subprocess.Popen(["sleep", "1000"]) as other:
            try:
                os.sched_setaffinity(other.pid, {min(os.sched_getaffinity(0))})
                self.assertEqual(run("probe", "--record", place, "--pid", str(other.pid)).returncode, 0)
            finally:
                other.kill()
        answer = json.loads(run("probe", "--json", "--root", place).stdout)
        self.assertEqual((answer["affinity"], answer["cap"]), (1, 1))

    def test_an_answer_that_is_interrupted_leaves_no_folder(self):
        """The pipe with the user's number has no writer yet, so the command waits after it has made its folder."""
        tree = pathlib.Path(self.tree(**{"samples/times": "1000000000\n2000000000\n"}))
        os.mkfifo(tree / "sukima_cpus")
        with tempfile.TemporaryDirectory() as temporary:
            with subprocess.Popen([PROGRAM, "probe", "--root", str(tree)], stdout=subprocess.DEVNULL,
                                  env={**ENVIRONMENT, "TMPDIR": temporary}) as answering, (tree / "sukima_cpus").open("wb"):
                self.assertEqual(len(os.listdir(temporary)), 1)
                answering.terminate()
                answering.wait()
            self.assertEqual((answering.returncode, os.listdir(temporary)), (-signal.SIGTERM, []))

    def test_other_files_than_recordings_are_refused(self):
        for sentence, arguments in (
                ("holds no recorded tree", ["--root", str(self.folder)]),
                ("holds no recorded tree", ["--root", "/nonesuch"]),
                ("is not empty", ["--record", self.tree()]),
                ("cannot be made", ["--record", "/proc/nonesuch"]),
                ("--root answers from files", ["--root", self.tree(), "--watch"]),
                ("--record stores one measurement", ["--record", str(self.folder / "new"), "--pairs"]),
                ("does not hold the times", ["--root", self.tree(**{"samples/times": "5\n4\n"})])):
            done = run("probe", *arguments)
            self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (2, "", 1), done.stderr)
            self.assertIn(sentence, done.stderr)


def on_terminal(command, environment, give=b"", after=b"", columns=0):
    """Runs a command on a terminal of its own, and sends the keys after it has written `after`. Returns its exit code and
    output."""
    process, terminal = pty.fork()
    if process == 0:
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 24 if columns else 0, columns, 0, 0))
        os.execve(command[0], command, {"TERM": "xterm", **environment})
    written = b""
    while True:
        try:
            piece = os.read(terminal, 4096)
        except OSError:
            break
        if not piece:
            break
        written += piece
        if give and after in written:
            os.write(terminal, give)
            give = b""
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), written.decode()


class PassingThrough(unittest.TestCase):
    """sukima run behaves like the program, with a process beside it and without."""
    ways = ([], ["--report"])

    def test_exit_codes(self):
        for way in self.ways:
            for code in (0, 1, 2, 77, 255):
                self.assertEqual(run("run", *way, "--threads", "1", "--", "sh", "-c", f"exit {code}").returncode, code)

    def test_exit_codes_of_programs_that_cannot_be_started(self):
        """The exit codes are those of env and timeout."""
        with tempfile.TemporaryDirectory() as folder:
            plain = pathlib.Path(folder, "plain")
            plain.write_text("text", encoding="utf-8")
            no_interpreter = pathlib.Path(folder, "script")
            no_interpreter.write_text("#!/nonesuch/shell\n", encoding="utf-8")
            no_interpreter.chmod(0o755)
            windows = pathlib.Path(folder, "windows")
            windows.write_bytes(b"#!/bin/sh\r\nexit\r\n")
            windows.chmod(0o755)
            foreign = pathlib.Path(folder, "foreign")  # like a program for musl on a machine with only glibc
            loader = b"/lib/ld-musl-nonesuch.so.1"
            foreign.write_bytes(pathlib.Path("/bin/true").resolve().read_bytes().replace(
                b"/lib64/ld-linux-x86-64.so.2\0", loader + b"\0\0"))
            foreign.chmod(0o755)
            none = "there is no such program; check its name and PATH"
            no_shell = "its interpreter '/nonesuch/shell' does not exist"
            returns = "its first line ends with a carriage return, as on Windows; remove that"
            no_loader = f"its interpreter '{loader.decode()}' does not exist"
            for way in ([], ["--report"], ["--no-preload"]):
                for program, code, sentence in (("./nonesuch", 127, none), ("nonesuch-in-path", 127, none),
                                                (str(no_interpreter), 127, no_shell), (str(windows), 127, returns),
                                                *([(str(foreign), 127, no_loader)] if loader in foreign.read_bytes() else []),
                                                (str(plain), 126, "Permission denied"),
                                                (folder, 126, "Permission denied")):
                    done = run("run", *way, "--", program, SUKIMA_CPUS="1")
                    self.assertEqual((done.returncode, done.stdout), (code, ""), (way, program))
                    self.assertEqual(done.stderr, f"sukima: '{program}' cannot be started: {sentence}\n")
                    self.assertEqual(subprocess.run(["env", program], capture_output=True).returncode, code)

    def test_starts_scripts_that_name_no_interpreter(self):
        with tempfile.TemporaryDirectory() as folder:
            job = pathlib.Path(folder, "job")
            job.write_text('test "$1" = "a b" && exit 7\n', encoding="utf-8")
            job.chmod(0o755)
            for way in ([], ["--report"], ["--no-preload"]):
                self.assertEqual(run("run", *way, "--threads", "1", "--", str(job), "a b").returncode, 7, way)

    def test_ends_by_signals(self):
        for way in self.ways:
            for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGSEGV, signal.SIGINT):
                done = run("run", *way, "--threads", "1", "--", "sh", "-c", f"kill -{int(number)} $$")
                self.assertEqual(done.returncode, -number, way)

    def test_signals_of_others(self):
        # All signals that are passed on. Signals that end or stop a terminal's session need no handler here.
        traps = "; ".join(f"trap 'echo {name}; exit 7' {name}" for name in PASSED_ON)
        for way in self.ways:
            for name in PASSED_ON:
                with subprocess.Popen([PROGRAM, "run", *way, "--threads", "1", "--", "sh", "-c",
                                       f"{traps}; echo ready; while :; do sleep 0.01; done"],
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT) as running:
                    self.assertEqual(running.stdout.readline(), "ready\n")
                    running.send_signal(getattr(signal, "SIG" + name))
                    self.assertEqual(running.stdout.read(), name + "\n", way)
                    self.assertEqual(running.wait(500), 7)

    def test_streams_and_arguments(self):
        for way in self.ways:
            done = run("run", *way, "--threads", "1", "--", "sh", "-c", 'cat; echo "$@" >&2', "x", "a b", "--", "--json",
                       given="text\n")
            self.assertEqual(done.stdout, "text\n")
            self.assertTrue(done.stderr.startswith("a b -- --json\n"), done.stderr)

    def test_terminal(self):
        for way in self.ways:
            command = [PROGRAM, "run", *way, "--threads", "1", "--"]
            code, screen = on_terminal([*command, "sh", "-c", "test -t 0 && test -t 1 && exit 5"], ENVIRONMENT)
            self.assertEqual(code, 5, screen)
            code, _ = on_terminal([*command, "sh", "-c", "echo ready; exec sleep 1000"], ENVIRONMENT, give=b"\x03",
                                  after=b"ready")
            self.assertEqual(code, -signal.SIGINT, "the key that interrupts")

    def test_stops_and_goes_on_with_the_program(self):
        for way in self.ways:
            with subprocess.Popen([PROGRAM, "run", *way, "--threads", "1", "--", "sh", "-c",
                                   "echo before; kill -STOP $$; echo after"], stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL, text=True, env=ENVIRONMENT) as running:
                self.assertEqual(running.stdout.readline(), "before\n")
                _, status = os.waitpid(running.pid, os.WUNTRACED)
                self.assertTrue(os.WIFSTOPPED(status))
                os.kill(running.pid, signal.SIGCONT)
                self.assertEqual(running.stdout.read(), "after\n")
                self.assertEqual(running.wait(500), 0)

    def test_no_other_process_stays_without_a_report(self):
        done = run("run", "--threads", "1", "--", "sh", "-c", "echo $$ $PPID")
        self.assertEqual(int(done.stdout.split()[1]), os.getpid())

    def test_an_explanation_that_is_interrupted_leaves_no_folder(self):
        """The pipe that gets the trace has no room for all of it, so the command has not ended."""
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as temporary:
            kept = pathlib.Path(folder, "kept")
            os.mkfifo(kept)
            with subprocess.Popen([PROGRAM, "explain", "--keep", str(kept), "--", "sh", "-c",
                                   "head -c 1000000 /dev/zero >$SUKIMA_TRACE"],
                                  env={**ENVIRONMENT, "TMPDIR": temporary}) as explaining, kept.open("rb") as trace:
                self.assertEqual(len(trace.read(1)), 1)
                explaining.terminate()
                explaining.wait()
            self.assertEqual((explaining.returncode, os.listdir(temporary)), (-signal.SIGTERM, []))

    def test_a_signal_that_is_ignored_stays_ignored(self):
        for way in self.ways:
            done = subprocess.run(["sh", "-c", f"trap '' HUP; exec '{PROGRAM}' run {' '.join(way)} --threads 1 -- "
                                   "sh -c 'kill -HUP $$; echo alive'"], capture_output=True, text=True, timeout=500)
            self.assertEqual(done.stdout, "alive\n")


class Run(unittest.TestCase):
    def test_dry_run_prints_what_a_shell_understands(self):
        done = run("run", "--dry-run", SUKIMA_CPUS="3", OMP_NUM_THREADS="9")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("# 3 threads: 3 CPUs are usable: the user set 3 CPUs (SUKIMA_CPUS)\n", done.stdout)
        self.assertIn("# unchanged, because you have set it: OMP_NUM_THREADS=9", done.stdout)
        check = subprocess.run(["sh", "-euc", done.stdout + 'echo "$RAYON_NUM_THREADS $SUKIMA_RUN"'],
                               capture_output=True, text=True, timeout=500)
        self.assertEqual(check.stdout.split()[:2], ["3", "threads=3"], check.stderr)
        self.assertIn("LD_PRELOAD=libm.so.6:/", run("run", "--dry-run", LD_PRELOAD="libm.so.6").stdout)

    def test_dry_run_keeps_values_of_several_lines_in_its_comments(self):
        value = "4\necho wrong\n'"
        done = run("run", "--dry-run", "--threads", "3", OMP_NUM_THREADS=value)
        check = subprocess.run(["sh", "-euc", done.stdout + 'printf %s "$OMP_NUM_THREADS $RAYON_NUM_THREADS"'],
                               capture_output=True, text=True, timeout=500, env={**ENVIRONMENT, "OMP_NUM_THREADS": value})
        self.assertEqual((check.stdout, check.stderr), (value + " 3", ""), done.stdout)

    def test_finds_programs_in_the_current_folder_as_the_system_does(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "mine").symlink_to(PROGRAM)
            for places in ("/nonesuch:", ":/nonesuch", "/nonesuch::/nonesuch", ""):
                done = subprocess.run([PROGRAM, "run", "--threads", "1", "--json", "--", "mine", "--version"],
                                      capture_output=True, text=True, timeout=500, cwd=folder,
                                      env={**ENVIRONMENT, "PATH": places})
                self.assertEqual(done.returncode, 0, done.stderr)
                report = json.loads(done.stderr)
                self.assertNotEqual(report.get("why_not_preloaded"), "there is no such program", places)

    def variables_of(self, *options, cpus):
        """The variables that `sukima run` adds to an empty environment."""
        done = subprocess.run([PROGRAM, "run", *options, "--", "env", "-0"], capture_output=True, text=True, timeout=500,
                              env={"PATH": os.environ["PATH"], "SUKIMA_CPUS": cpus})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        own = ("PATH=", "LD_PRELOAD=", "SUKIMA_CPUS=", "SUKIMA_RUN=", "SUKIMA_RUN_VARIABLES=")
        return dict(line.split("=", 1) for line in done.stdout.split("\0") if line and not line.startswith(own))

    def test_sets_the_variables_of_its_page(self):
        page = (pathlib.Path(__file__).parents[2] / "docs/run.md").read_text(encoding="utf-8")
        rows = re.findall(r"^\| (`.*?) \|", page.partition("| variable | read by |")[2].partition("\n\n")[0], re.MULTILINE)
        documented = {name for row in rows for name in re.findall(r"`(\w+)", row)}
        self.assertGreater(len(documented), 20)
        usual = self.variables_of(cpus="9")
        others = {"ASAN_OPTIONS": "verify_asan_link_order=0", "OMPI_MCA_rmaps_base_oversubscribe": "1"}
        self.assertEqual({name: value for name, value in usual.items() if value != "9"}, others)
        without_library = self.variables_of("--no-preload", cpus="9")
        chosen = self.variables_of("--threads", "3", cpus="9")
        self.assertEqual((without_library["JAVA_TOOL_OPTIONS"], chosen["SUKIMA_WORKERS"], chosen["NODE_OPTIONS"]),
                         ("-XX:ActiveProcessorCount=9", "3", "--v8-pool-size=3"))
        self.assertEqual({*usual, *without_library, *chosen}, documented)

    def test_reports_as_json(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "report.json")
            done = run("run", "--json", "--output", str(file), "--", "sh", "-c", "exit 3", SUKIMA_CPUS="1.2")
            self.assertEqual((done.returncode, done.stdout, done.stderr), (3, "", ""))
            report = json.loads(file.read_text(encoding="utf-8"))
        self.assertEqual((report["threads"], report["exit_code"], report["signal"]), (2, 3, 0))
        self.assertEqual(report["variables"]["OMP_NUM_THREADS"], "2")
        self.assertEqual(report["variables"]["OMPI_MCA_orte_set_default_slots"], "1", "ranks that wait actively")
        self.assertEqual(report["program"], ["sh", "-c", "exit 3"])
        self.assertEqual(report["basis"], "override")

    def test_a_report_says_that_too_few_files_may_be_open(self):
        done = subprocess.run([PROGRAM, "run", "--report", "--threads", "1", "--", "/bin/true"], capture_output=True, text=True,
                              timeout=500, env=ENVIRONMENT,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (5, 5)))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("nothing is preloaded, because the limit on open files is reached (raise it with ulimit -n): ",
                      done.stderr)

    def test_a_report_needs_no_folder_for_temporary_files(self):
        source = "#include <omp.h>\nint main(void) { omp_set_num_threads(1); return 0; }\n"
        with tempfile.TemporaryDirectory() as folder:
            program = str(pathlib.Path(folder, "a"))
            subprocess.run(["gcc", "-fopenmp", "-xc", "-", "-o", program], input=source, text=True, check=True)
            for temporary in ("/nonesuch", "/proc", "/dev/null", folder):
                done = run("run", "--report", "--resize", "always", "--", program, SUKIMA_CPUS="2", TMPDIR=temporary)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn("the program sets its number of threads itself", done.stderr)
            self.assertEqual(os.listdir(folder), ["a"])

    def test_a_report_without_a_reader_keeps_the_exit_code(self):
        reader, writer = os.pipe()
        os.close(reader)
        try:
            for words in (["--report"], ["--json"]):
                for end, code in (("exit 3", 3), ("kill -TERM $$", -signal.SIGTERM), ("kill -PIPE $$", -signal.SIGPIPE)):
                    done = subprocess.run([PROGRAM, "run", *words, "--", "sh", "-c", end], stderr=writer, timeout=500,
                                          env=ENVIRONMENT)
                    self.assertEqual(done.returncode, code, (words, end))
        finally:
            os.close(writer)

    def test_a_report_that_cannot_be_written_is_a_failure(self):
        sentence = "sukima: the report cannot be written to '/dev/full': No space left on device\n"
        for kind in ("--report", "--json"):
            for program, code in (("true", 74), ("exit 3", 3), ("kill -TERM $$", -signal.SIGTERM)):
                done = run("run", kind, "--output", "/dev/full", "--", "sh", "-c", program)
                self.assertEqual((done.returncode, done.stdout, done.stderr), (code, "", sentence), (kind, program))
            with open("/dev/full", "wb") as full:
                done = subprocess.run([PROGRAM, "run", kind, "--", "true"], stderr=full, timeout=500, env=ENVIRONMENT)
            self.assertEqual(done.returncode, 74, kind)

    def test_a_report_to_a_closed_output_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            ran = pathlib.Path(folder, "ran")
            for file in ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"):
                done = subprocess.run([PROGRAM, "run", "--json", "--output", file, "--", "touch", ran], stderr=subprocess.PIPE,
                                      text=True, timeout=500, env=ENVIRONMENT, preexec_fn=lambda: os.close(1))
                self.assertEqual((done.returncode, done.stderr, ran.exists()),
                                 (2, f"sukima: the report cannot be written to '{file}': standard output is closed; give "
                                     "--output another file\n", False))
            done = subprocess.run([PROGRAM, "run", "--json", "--output", "/dev/null", "--", "sh", "-c", "! echo 2> /dev/null"],
                                  timeout=500, env=ENVIRONMENT, preexec_fn=lambda: os.close(1))
            self.assertEqual(done.returncode, 0)

    def test_a_report_to_closed_messages_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            ran = pathlib.Path(folder, "ran")

            def run_without_messages(*words):
                return subprocess.run([PROGRAM, "run", *words], timeout=500, env=ENVIRONMENT,
                                      preexec_fn=lambda: os.close(2)).returncode

            for file in ("/dev/stderr", "/dev/fd/2", "/proc/self/fd/2"):
                self.assertEqual(run_without_messages("--json", "--output", file, "--", "touch", ran), 2, file)
                self.assertFalse(ran.exists(), file)
            self.assertEqual(run_without_messages("--report", "--", "true"), 74)
            self.assertEqual(run_without_messages("--report", "--", "sh", "-c", "echo >&2 || exit 3"), 3)

    def test_a_report_that_does_not_fit_leaves_the_older_one(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "report")
            file.write_text("older\n")
            done = subprocess.run([PROGRAM, "run", "--json", "--output", file, "--", "true"], capture_output=True, text=True,
                                  timeout=500, env=ENVIRONMENT,
                                  preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)))
            self.assertEqual((done.returncode, done.stderr),
                             (74, f"sukima: the report cannot be written to '{file}': File too large\n"))
            self.assertEqual((file.read_text(), os.listdir(folder)), ("older\n", ["report"]))

    def test_a_report_ends_no_program_that_may_write_no_file(self):
        source = ("#include <omp.h>\n#include <signal.h>\n"
                  "int main(void) { omp_set_num_threads(1); sigset_t set; sigpending(&set);"
                  " return sigismember(&set, SIGXFSZ); }\n")
        with tempfile.TemporaryDirectory() as folder:
            program = str(pathlib.Path(folder, "a"))
            subprocess.run(["gcc", "-fopenmp", "-xc", "-", "-o", program], input=source, text=True, check=True)
            done = subprocess.run([PROGRAM, "run", "--report", "--resize", "always", "--", program], capture_output=True,
                                  text=True, timeout=500, env={**ENVIRONMENT, "SUKIMA_CPUS": "2"},
                                  preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)))
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_report_that_is_killed_leaves_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            with subprocess.Popen([PROGRAM, "run", "--report", "--", "sh", "-c", "echo $$; exec sleep 1000"],
                                  stdout=subprocess.PIPE, text=True, env={**ENVIRONMENT, "TMPDIR": folder}) as running:
                program = int(running.stdout.readline())
                running.kill()
                running.wait(500)
                os.kill(program, signal.SIGKILL)
            self.assertEqual(os.listdir(folder), [])

    def test_decisions_go_to_no_file_of_another_process(self):
        """The log's path names the process `sukima run`, which may have ended, so another process may have its number."""
        script = ("import os, subprocess, sys; f = open(sys.argv[1], 'w'); "
                  "other = dict(os.environ, SUKIMA_RUN=os.environ['SUKIMA_RUN'].split(' log=')[0] + "
                  "f' log=/proc/{os.getpid()}/fd/{f.fileno()}'); subprocess.run([sys.argv[2]], env=other, check=True)")
        source = "#include <omp.h>\nint main(void) { omp_set_num_threads(1); return 0; }\n"
        with tempfile.TemporaryDirectory() as folder:
            program, victim = str(pathlib.Path(folder, "a")), pathlib.Path(folder, "file")
            subprocess.run(["gcc", "-fopenmp", "-xc", "-", "-o", program], input=source, text=True, check=True)
            done = run("run", "--report", "--resize", "always", "--", sys.executable, "-c", script, str(victim), program,
                       SUKIMA_CPUS="2")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(victim.read_text(encoding="utf-8"), "")

    def test_policies(self):
        for options, threads in ((["--round", "floor"], 2), (["--round", "ceil"], 3), (["--round", "nearest"], 3),
                                 (["--reserve", "1"], 2), (["--max", "2"], 2), (["--min", "6"], 6), ([], 3)):
            report = json.loads(run("run", *options, "--json", "--", "true", SUKIMA_CPUS="2.6").stderr)
            self.assertEqual(report["threads"], threads, options)

    def test_the_number_does_not_vary_from_run_to_run(self):
        # The neighbours of this moment vary; the limits do not.
        for cpus, threads in (("1.48", 2), ("1.5", 2), ("1.52", 2), ("2", 2), ("0.98", 1)):
            numbers = {run("run", "--", "sh", "-c", "echo $OMP_NUM_THREADS $GOMAXPROCS $(getconf _NPROCESSORS_ONLN)",
                           SUKIMA_CPUS=cpus).stdout for _ in range(5)}
            self.assertEqual(numbers, {f"{threads} {threads} {threads}\n"}, cpus)

    def test_mpi_ranks_share_what_there_is(self):
        ask = ["sh", "-c", "getconf _NPROCESSORS_ONLN; echo $OMP_NUM_THREADS"]
        # mpirun starts sukima run, and sukima run starts mpirun, which starts the ranks.
        done = run("run", "--", *ask, SUKIMA_CPUS="8", OMPI_COMM_WORLD_LOCAL_SIZE="4")
        self.assertEqual(done.stdout.split(), ["2", "2"])
        done = run("run", "--", "env", "OMPI_COMM_WORLD_LOCAL_SIZE=4", *ask, SUKIMA_CPUS="8")
        self.assertEqual(done.stdout.split()[0], "2")
        done = run("run", "--", *ask, SUKIMA_CPUS="2", MPI_LOCALNRANKS="4")
        self.assertEqual(done.stdout.split(), ["1", "1"], "never fewer than one")
        done = run("run", "--threads", "3", "--", *ask, SUKIMA_CPUS="2", MPI_LOCALNRANKS="4")
        self.assertEqual(done.stdout.split(), ["3", "3"], "the user's own number")

    def test_pins_only_when_asked(self):
        allowed = len(os.sched_getaffinity(0))
        script = "taskset -cp $$ | sed 's/.*: //'"
        count = sum(len(range(*map(int, (p.split("-") * 2)[:2]))) + 1
                    for p in run("run", "--threads", "1", "--", "sh", "-c", script).stdout.strip().split(","))
        self.assertEqual(count, allowed)
        pinned = run("run", "--pin", "--threads", "1", "--", "sh", "-c", script).stdout.strip()
        self.assertRegex(pinned, r"^\d+$")

    def test_a_mask_that_was_answered_and_is_set_again_pins_nothing(self):
        script = ("import os; m = os.sched_getaffinity(0); os.sched_setaffinity(0, m); "
                  "print(len(m)); print(open('/proc/self/status').read().split('Cpus_allowed_list:')[1].split()[0])")
        if len(os.sched_getaffinity(0)) < 3:
            self.skipTest("needs three CPUs: with two, one is what is answered, and one is taken at its word")
        answered, real = run("run", "--threads", "2", "--", sys.executable, "-c", script).stdout.split()
        self.assertEqual(answered, "2")
        self.assertEqual(real, pathlib.Path("/proc/self/status").read_text(encoding="utf-8")
                         .split("Cpus_allowed_list:")[1].split()[0])

    def test_a_mask_of_another_thread_that_is_set_again_pins_nothing(self):
        allowed = len(os.sched_getaffinity(0))
        if allowed < 3:
            self.skipTest("needs three CPUs: with two, one is what is answered, and one is taken at its word")
        with tempfile.TemporaryDirectory() as folder:
            source = str(pathlib.Path(__file__).with_name("masks_of_threads.c"))
            program = str(pathlib.Path(folder, "a"))
            subprocess.run(["cc", "-pthread", "-o", program, source], check=True)
            done = run("run", "--threads", "2", "--", program)
        self.assertEqual((done.returncode, done.stdout), (0, f"answered 2, real {allowed}, no mask is refused 1\n"))

    def test_threads_that_ask_at_once_get_the_same_number(self):
        with tempfile.TemporaryDirectory() as folder:
            program = str(pathlib.Path(folder, "a"))
            subprocess.run(["cc", "-pthread", "-o", program,
                            str(pathlib.Path(__file__).with_name("asking_at_once.c"))], check=True)
            self.assertEqual(run("run", "--", program, "5", SUKIMA_CPUS="5").stdout, "0")

    def test_a_mask_in_attributes_of_threads_pins_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            source = str(pathlib.Path(__file__).with_name("masks_in_attributes.c"))
            library, program = str(pathlib.Path(folder, "libmachine.so")), str(pathlib.Path(folder, "a"))
            subprocess.run(["cc", "-DMACHINE", "-shared", "-fPIC", "-o", library, source], check=True)
            subprocess.run(["cc", "-pthread", "-o", program, source, library, f"-Wl,-rpath,{folder}"], check=True)
            done = run("run", "--threads", "2", "--", program)
        self.assertEqual((done.returncode, done.stdout), (0, "answered 2, set 4, set 1"))

    def test_probes_steal_time(self):
        found = json.loads(run("probe", "--steal", "--json").stdout)
        self.assertEqual([one["cpu"] for one in found["steal_probe"]], sorted(os.sched_getaffinity(0)))
        for one in found["steal_probe"]:
            if pathlib.Path("/proc/self/schedstat").exists():  # not every kernel has it
                self.assertTrue(0 <= one["taken"] <= 1, one)
            else:
                self.assertIsNone(one["taken"])
        self.assertNotIn("steal_probe", json.loads(run("probe", "--json").stdout))
        refused = run("probe", "--steal", "--watch")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("--steal keeps all CPUs busy", refused.stderr)

    def test_probes_no_steal_time_without_its_threads(self):
        stack = 1 << 30  # of each thread, so that the address space has room for one of them

        def limit():
            resource.setrlimit(resource.RLIMIT_STACK, (stack, resource.getrlimit(resource.RLIMIT_STACK)[1]))
            resource.setrlimit(resource.RLIMIT_AS, (stack * 3 // 2, stack * 3 // 2))

        done = subprocess.run([PROGRAM, "probe", "--steal", "--json"], capture_output=True, text=True, timeout=500,
                              env=ENVIRONMENT, preexec_fn=limit)
        if len(os.sched_getaffinity(0)) == 1:
            self.assertEqual(done.returncode, 0, done.stderr)
        else:
            self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
            self.assertRegex(done.stderr, "^sukima: .*allow more processes and threads.*\\n$")

    def test_a_run_inside_another_run_decides_anew(self):
        done = run("run", "--threads", "5", "--", PROGRAM, "run", "--threads", "2", "--", "sh", "-c",
                   "echo $OMP_NUM_THREADS $GOMAXPROCS; echo $LD_PRELOAD | tr : '\\n' | wc -l")
        self.assertEqual(done.stdout.split(), ["2", "2", "1"])

    def test_programs_with_sanitizers_get_the_answers(self):
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder, "a.c")
            source.write_text("#include <stdio.h>\n#include <unistd.h>\n"
                              "int main(void) { printf(\"%ld\\n\", sysconf(_SC_NPROCESSORS_ONLN)); }\n",
                              encoding="utf-8")
            for sanitizer in ("address", "thread", "undefined"):
                program = str(pathlib.Path(folder, sanitizer))
                subprocess.run(["cc", f"-fsanitize={sanitizer}", "-o", program, str(source)], check=True)
                for command in ([program], ["sh", "-c", f"{program}; exit"]):
                    done = run("run", "--threads", "5", "--", *command, ASAN_OPTIONS="color=never")
                    # If the kernel lays out memory very differently each time, ThreadSanitizer only sometimes works.
                    while "unexpected memory mapping" in done.stderr:
                        done = run("run", "--threads", "5", "--", *command, ASAN_OPTIONS="color=never")
                    self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "5\n", ""), command)

    def test_children_with_another_c_library_start(self):
        """They inherit LD_PRELOAD. Unlike glibc's loader, musl's loader ends a program if it cannot load the library. It treats
        these libraries as itself, and lacks functions that only glibc has."""
        variables = run("run", "--dry-run", SUKIMA_CPUS="1").stdout
        library = re.search("^LD_PRELOAD='?([^'\n]*)", variables, re.MULTILINE)[1]
        heads = subprocess.run(["readelf", "--dynamic", library], capture_output=True, text=True, check=True).stdout
        self.assertLessEqual(set(re.findall(r"\(NEEDED\).*\[(.*)\]", heads)), {"libc.so.6", "libm.so.6"})
        symbols = subprocess.run(["nm", "--dynamic", "--undefined-only", library], capture_output=True, text=True,
                                 check=True).stdout
        needed = set(re.findall(r"^ +U (__\w+)", symbols, re.MULTILINE))
        self.assertEqual(needed - {"__environ", "__errno_location", "__progname", "__stack_chk_fail"}, set())

    def test_runs_programs_that_nothing_can_be_loaded_into(self):
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder, "a.c")
            source.write_text("#include <stdio.h>\nint main(void) { puts(\"static\"); }\n", encoding="utf-8")
            program = str(pathlib.Path(folder, "a"))
            if subprocess.run(["cc", "-static", "-o", program, str(source)], capture_output=True).returncode != 0:
                self.skipTest("cc makes no static program here")
            done = run("run", "--report", "--", program, SUKIMA_CPUS="1")
            self.assertEqual((done.returncode, done.stdout), (0, "static\n"))
            self.assertIn("nothing is preloaded, because the program is linked statically", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
