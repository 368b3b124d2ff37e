#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The program `sukima objects` from outside: measuring, planning, refusals.

objects_command_test.py PROGRAM FOLDER_OF_THE_EXAMPLES CHOICE_PROGRAM
"""
import contextlib
import json
import os
import pathlib
import pty
import subprocess
import sys
import tempfile
import unittest

PROGRAM = str(pathlib.Path(sys.argv.pop(1)).resolve())
EXAMPLES = pathlib.Path(sys.argv.pop(1)).resolve()
CHOICE = str(pathlib.Path(sys.argv.pop(1)).resolve())
ENVIRONMENT = {**{k: v for k, v in os.environ.items() if not k.startswith("SUKIMA_")}, "NO_COLOR": "1"}
FOLDER = tempfile.TemporaryDirectory()
PROFILE = str(pathlib.Path(FOLDER.name, "profile"))
LONG = ("--seconds", "400")  # the whole run of a program, also where it gets no CPU for a while


def run(*arguments, given=None, **variables):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=500, input=given,
                          env={**ENVIRONMENT, "SUKIMA_PROFILE": PROFILE, **variables})


def setUpModule():
    cpu = str(min(os.sched_getaffinity(0)))
    for command in (["calibrate", "--cpus", cpu, "--days", "1"], ["objects", "calibrate"]):
        done = run(*command)
        assert done.returncode == 0, done.stderr


def lines_of_costs():
    words = ("message ", "objects-")
    return [line for line in pathlib.Path(PROFILE).read_text().splitlines() if line.startswith(words)]


class Refusals(unittest.TestCase):
    def refused(self, sentence, *arguments, **others):
        done = run("objects", *arguments, **others)
        self.assertEqual((done.returncode, done.stdout), (2, ""), arguments)
        self.assertIn(sentence, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)

    def test_are_one_sentence(self):
        self.refused("needs the file with the description", "plan")
        self.refused("leave out FILE", "calibrate", "x")
        self.refused("'/nonesuch' cannot be read: No such file or directory; give another file", "plan", "/nonesuch")
        self.refused("'/' cannot be read: Is a directory; give another file", "plan", "/")
        self.refused("'/dev/zero' is longer than 64 MiB", "plan", "/dev/zero")
        self.refused("-: the description is not JSON", "plan", "-", given="nothing")
        self.refused("only sukima objects record and validate run a program", "calibrate", "--", "true")
        self.refused("--seconds is for a recording", "plan", "x", "--seconds", "1")
        self.refused("no program was given", "record")
        self.refused("leave out FILE", "record", "x", "--", "true")
        self.refused("no program was given", "validate")
        self.refused("leave out FILE, --cpus and --output", "validate", "--cpus", "1", "--", "true")
        self.refused("--quick is for a validation", "plan", "x", "--quick")
        self.refused("--load is for a plan", "record", "--load", "--", "true")
        self.refused("--load is for a plan", "calibrate", "--load")
        for action in (["calibrate"], ["record", "--", "true"], ["validate", "--", "true"]):
            self.refused("--model is for a plan", *action[:1], "--model", "paper", *action[1:])
        description = json.dumps({"sukima-objects": 1, "streams": [], "objects": [{"name": "a", "starts": 1}]})
        self.refused("leave out one of them", "plan", "-", "--load", "--cpus", "1", given=description)
        for action, more in (("plan", ["-", "--cpus", "1"]), ("record", ["--", "true"])):
            self.refused("--output takes the name of a file; give ./- for a file of that name", action, "--output", "-", *more,
                         given=description)
            self.refused("cannot be written to '/nonesuch/plan'", action, "--output", "/nonesuch/plan", *more, given=description)
        self.refused("'true' ran no concurrent objects", "validate", "--quick", "--", "true")
        self.refused("runs for longer than 0.1 s", "validate", "--seconds", "0.1", "--",
                     str(EXAMPLES / "objects_broker"), "1000000000000")
        self.refused("'true' ran no concurrent objects", "record", "--", "true")
        self.refused("was ended by signal 9", "record", "--", "sh", "-c", "kill -9 $$")
        self.refused("run 'sukima calibrate'", "calibrate", SUKIMA_PROFILE="/nonesuch")

    def test_names_the_profile_whose_costs_are_malformed(self):
        description = json.dumps({"sukima-objects": 1, "streams": [], "objects": [{"name": "a", "starts": 1}]})
        text = pathlib.Path(PROFILE).read_text()
        self.assertTrue(text.endswith("\nend\n"))
        with tempfile.TemporaryDirectory() as folder:
            profile = pathlib.Path(folder, "profile")
            profile.write_text(text.removesuffix("end\n") + "message thread 8 x\nend\n")
            self.refused(f"sukima: {profile}: line {len(text.splitlines())} of the machine profile is malformed; "
                         "run 'sukima objects calibrate' to measure again",
                         "plan", "-", given=description, SUKIMA_PROFILE=str(profile))
            for command in (["calibrate"], ["plan", "-"]):
                done = run("objects", *command, given=description, SUKIMA_PROFILE=str(profile))
                self.assertEqual(done.returncode, 0, done.stderr)


class Calibrate(unittest.TestCase):
    def test_measures_all_units(self):
        lines = lines_of_costs()
        for unit in ("simulated", "thread", "process", "pipe"):
            self.assertTrue(any(line.startswith(f"message {unit} 8 1 ") for line in lines), unit)
        self.assertTrue(any(line.startswith("objects-switch ") for line in lines))

    def test_keeps_the_profile_and_the_profile_keeps_the_costs(self):
        before = lines_of_costs()
        cpu = str(min(os.sched_getaffinity(0)))
        done = run("calibrate", "--cpus", cpu, "--days", "3")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(lines_of_costs(), before)
        measured = run("objects", "calibrate", "--json")
        self.assertEqual(measured.returncode, 0, measured.stderr)
        costs = json.loads(measured.stdout)
        self.assertLessEqual(costs["switch_quartiles_ns"][0], costs["switch_ns"])
        shown = json.loads(run("calibrate", "--show", "--json").stdout)
        self.assertEqual(shown["valid_seconds"], 3 * 86400)


    def test_shows_its_progress_and_warns_of_other_programs(self):
        hogs = [subprocess.Popen([sys.executable, "-c", "print(); \nwhile True: pass"], stdout=subprocess.PIPE)
                for _ in os.sched_getaffinity(0)]
        try:
            for hog in hogs:
                hog.stdout.readline()
            ours, its = pty.openpty()
            measuring = subprocess.Popen([PROGRAM, "objects", "calibrate"], stdout=subprocess.DEVNULL, stderr=its,
                                         env={**ENVIRONMENT, "SUKIMA_PROFILE": PROFILE, "TERM": "vt100"})
            os.close(its)
            seen = b""
            with contextlib.suppress(OSError):  # the other side is closed
                while part := os.read(ours, 4096):
                    seen += part
            os.close(ours)
            self.assertEqual(measuring.wait(), 0)
        finally:
            for hog in hogs:
                hog.kill()
                hog.wait()
                hog.stdout.close()
        self.assertRegex(seen.decode(), r"^sukima: other programs use [0-9.]+ CPUs: the figures are larger than on an idle machine\r\n"
                                        r"\r\x1b\[Kmessages of 8 bytes: pipe \(0 of [0-9]+\)\r\x1b\[K")
        self.assertTrue(seen.endswith(b"\r\x1b[K"), seen[-100:])


class Plan(unittest.TestCase):
    def test_prints_nothing_but_the_plan(self):
        """For this program METIS prints a remark about empty groups."""
        computing = [200, 0, 20, 1e6, 200, 200, 20, 200, 20]
        streams = [{"name": f"s{i}"} for i in range(8)]
        program = {"sukima-objects": 1, "streams": streams, "objects": [
            {"name": "o0", "starts": 1000, "compute_ns": 200, "sends": [{"stream": one["name"]} for one in streams]},
            *({"name": f"o{i}", "receives": [f"s{i - 1}"], "compute_ns": computing[i]} for i in range(1, 9))]}
        for cpus in ("2", "3", "4"):
            done = run("objects", "plan", "-", "--cpus", cpus, "--json", given=json.dumps(program))
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertGreaterEqual(len(json.loads(done.stdout)["ranking"]), 6)


    def test_is_for_the_limits_whatever_runs_beside(self):
        """A plan lasts longer than the neighbours of this moment."""
        program = {"sukima-objects": 1, "streams": [{"name": "s"}],
                   "objects": [{"name": "a", "starts": 1000, "sends": [{"stream": "s"}]}, {"name": "b", "receives": ["s"]}]}
        hogs = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2 * len(os.sched_getaffinity(0)))]
        try:
            for limit in (0.75, 1.5):
                done = run("objects", "plan", "-", "--json", given=json.dumps(program), SUKIMA_CPUS=str(limit))
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertAlmostEqual(json.loads(done.stdout)["cpus"], limit)
                self.assertIn("SUKIMA_CPUS", json.loads(done.stdout)["cpus_reason"])
            measured = run("objects", "plan", "-", "--load", "--json", given=json.dumps(program), SUKIMA_CPUS="1.5")
            self.assertEqual((measured.returncode, measured.stderr), (0, ""))
            self.assertLessEqual(json.loads(measured.stdout)["cpus"], 1.5)
        finally:
            for hog in hogs:
                hog.kill()
                hog.wait()


class Run(unittest.TestCase):
    def test_follows_a_plan_and_refuses_that_of_another_program(self):
        description, plan = (str(pathlib.Path(FOLDER.name, name)) for name in ("objects.json", "objects.plan"))
        for command in (["record", *LONG, "--output", description, "--", str(EXAMPLES / "objects")],
                        ["plan", description, "--cpus", "2", "--output", plan]):
            done = run("objects", *command)
            self.assertEqual(done.returncode, 0, done.stderr)
        kept = json.loads(pathlib.Path(plan).read_text())
        self.assertEqual(kept["program"], "objects")
        kept["model"] = "threads:simulated"  # whichever was chosen
        pathlib.Path(plan).write_text(json.dumps(kept))
        environment = {**ENVIRONMENT, "SUKIMA_OBJECTS": plan}
        done = subprocess.run([EXAMPLES / "objects"], capture_output=True, text=True, timeout=500, env=environment)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("sum 47047.5", done.stdout)
        other = subprocess.run([EXAMPLES / "objects_broker"], capture_output=True, text=True, timeout=500,
                               env=environment)
        self.assertNotEqual(other.returncode, 0)
        self.assertIn("the plan is for another program, which has ", other.stderr)


class Validate(unittest.TestCase):
    RUNNABLE = {"simulated", "threads", "threads:simulated", "workers:simulated", "processes",
                "processes:simulated", "processes:threads"}
    OFFICES = (str(EXAMPLES / "objects_offices"), "2", "2", "3000")

    def test_runs_each_model_and_compares(self):
        done = run("objects", "validate", *LONG, "--quick", "--json", "--", *self.OFFICES)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, "sum 6035976, as expected\n")  # the recorded run; no progress, no other run
        answer = json.loads(done.stdout)
        models = {one["model"]: one for one in answer["models"]}
        self.assertEqual(set(models), self.RUNNABLE)
        self.assertEqual(answer["left_out"], [])
        for one in models.values():
            self.assertEqual(one["runs_ns"], [one["measured_ns"]])
            self.assertGreater(one["measured_ns"], 1e5)
            for rank in ("measured_rank", "predicted_rank", "paper_rank"):
                self.assertIn(one[rank], range(1, 8))
        best = min(one["measured_ns"] for one in models.values())
        for which, time in (("simulation", "predicted_ns"), ("paper", "paper_ns")):
            score = answer[which]
            self.assertAlmostEqual(score["chosen_over_best"], models[score["chosen"]]["measured_ns"] / best)
            fastest = next(one for one in models.values() if one["measured_ns"] == best)
            self.assertAlmostEqual(score["best_error"], fastest[time] / best - 1)

    def test_prints_it_as_text_and_repeats(self):
        done = run("objects", "validate", *LONG, "--", *self.OFFICES)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("medians of 5 runs", done.stdout)
        self.assertIn("Kendall's tau", done.stdout)
        self.assertIn("processes:simulated", done.stdout)

    def test_leaves_out_processes_where_messages_cannot_travel(self):
        log = pathlib.Path(FOLDER.name, "log")
        log.write_text("GET / 200\n" * 20000)
        done = run("objects", "validate", *LONG, "--quick", "--json", "--", str(EXAMPLES / "objects_log"), str(log))
        self.assertEqual(done.returncode, 0, done.stderr)
        left_out = {one["model"] for one in json.loads(done.stdout)["left_out"]}
        self.assertEqual(left_out, {"processes", "processes:threads", "processes:simulated"})

    def test_reports_when_the_program_fails_under_a_model(self):
        script = f'test -n "$SUKIMA_OBJECTS_RECORD" || exit 3; exec {" ".join(self.OFFICES)}'
        done = run("objects", "validate", *LONG, "--quick", "--", "sh", "-c", script)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("'sh' ended with exit code 3, so its time is not known", done.stderr)


class Record(unittest.TestCase):
    def test_refuses_a_name_of_a_program_that_is_not_utf_8(self):
        with tempfile.TemporaryDirectory() as folder:
            program = os.path.join(os.fsencode(folder), b"a\xff")
            os.symlink(EXAMPLES / "objects", program)
            done = subprocess.run([PROGRAM, "objects", "record", *LONG, "--", program], capture_output=True, timeout=500,
                                  env={**ENVIRONMENT, "SUKIMA_PROFILE": PROFILE})
        self.assertEqual((done.returncode, done.stdout), (2, b""))
        self.assertEqual(done.stderr, b"sukima: '" + program + b"' cannot be described: its file name is not UTF-8; start it by a "
                         b"link with another name\n")

    def test_refuses_names_with_control_characters(self):
        """No description can have them, so no plan would be for this program."""
        for text in ("\n", "\t"):
            done = run("objects", "record", *LONG, "--", CHOICE, text)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(f"'{CHOICE}' cannot be described: streams[1].name: must be a name of 1 to 200 characters "
                          "without control characters", done.stderr)

    def test_describes_a_whole_run(self):
        done = run("objects", "record", *LONG, "--", str(EXAMPLES / "objects"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("99 of the left sensor", done.stderr)  # what the program prints
        self.assertIn("Saw the whole run (", done.stderr)
        seen = json.loads(done.stdout)
        self.assertEqual((seen["program"], seen["recorded"]["whole"]), ("objects", True))
        self.assertEqual([one["name"] for one in seen["streams"]], ["raw", "left", "right", "values"])
        objects = {one["name"]: one for one in seen["objects"]}
        self.assertEqual(objects["measure left"]["starts"], 1000)
        self.assertAlmostEqual(objects["filter"]["sends"][0]["per_input"], 0.099)
        self.assertEqual({one["for"]: one["per_input"] for one in objects["merge"]["sends"]}, {"left": 1, "right": 1})

    def test_of_a_client_that_chooses_a_server_is_not_a_deadlock(self):
        """The program ends in every model, so no model of its plan waits for ever."""
        file = str(pathlib.Path(FOLDER.name, "choice.json"))
        done = run("objects", "record", *LONG, "--output", file, "--", CHOICE)
        self.assertEqual(done.returncode, 0, done.stderr)
        planned = run("objects", "plan", file, "--cpus", "2", "--json")
        self.assertEqual(planned.returncode, 0, planned.stderr)
        plan = json.loads(planned.stdout)
        self.assertEqual({one["model"]: one["stuck"] for one in plan["ranking"]},
                         {one["model"]: False for one in plan["ranking"]})
        self.assertNotIn("forever", planned.stdout)

    def test_describes_the_first_part_of_a_long_run_and_ends_it(self):
        file = str(pathlib.Path(FOLDER.name, "broker.json"))
        seconds, idle = 0.1, True
        while idle:  # threads that get no CPU for that long send nothing
            seconds *= 2
            done = run("objects", "record", "--seconds", str(seconds), "--output", file, "--json", "--",
                       str(EXAMPLES / "objects_broker"), "1000000000000")
            self.assertEqual(done.returncode, 0, done.stderr)
            answer = json.loads(done.stdout)
            idle = any(one["compute_ns"] == 0 or one.get("activations", 100) < 100
                       for one in answer["description"]["objects"] if one["name"] != "total")
        self.assertFalse(answer["whole"])
        self.assertGreater(answer["seconds"], 0)
        self.assertEqual(answer["description"], json.loads(pathlib.Path(file).read_text()))
        planned = run("objects", "plan", file, "--cpus", "2", "--json")
        self.assertEqual(planned.returncode, 0, planned.stderr)
        plan = json.loads(planned.stdout)
        simulated = next(one for one in plan["ranking"] if one["model"] == "simulated")
        self.assertFalse(simulated["stuck"])
        self.assertGreater(simulated["time_ns"], 0)
        self.assertIn("That is for the ", run("objects", "plan", file, "--cpus", "2").stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
