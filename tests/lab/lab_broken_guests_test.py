#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `sukima lab` does when virtual machines break: lab_broken_guests_test.py PROGRAM

A stand-in for QEMU answers on the same sockets, and dies or is silent when the test's plan says so. No machine is booted, and no
verdict depends on a time.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM = pathlib.Path(sys.argv[1]).resolve()

# The plan has lines such as "vm2 job 2 panic": the machine of this name fails in this way at its second job.
QEMU = '''#!{python}
import os, re, signal, socket, sys
words, place = " ".join(sys.argv), "{place}/"
if "--version" in words:
    sys.exit(print("QEMU emulator version 0.0 (a stand-in)"))
name = re.search("-name ([^, ]+)", words).group(1)

def listen(path):
    server = socket.socket(socket.AF_UNIX)
    server.bind(path)
    server.listen()
    return server

def planned(event):
    """The plan's failure for this boot or job, which is recorded."""
    with open(place + name + "." + event, "a+") as noted:
        noted.write("x")
        number = noted.tell()
    for line in open(place + "plan"):
        if line.split()[:3] == [name, event, str(number)]:
            return line.split()[3]
    return ""

def end(how):
    if how == "panic":
        open(re.search("-serial file:([^ ]+)", words).group(1), "w").write("Kernel panic - not syncing: made up\\n")
        sys.exit(0)
    if how == "killed":
        os.kill(os.getpid(), signal.SIGKILL)

monitor = listen(re.search("-qmp unix:([^, ]+)", words).group(1))
port = listen(re.search("id=port,path=([^, ]+)", words).group(1))
monitor = monitor.accept()[0].makefile("rw")
print('{{"QMP": {{}}}}', file=monitor, flush=True)
port = port.accept()[0].makefile("rw")
monitor.readline()
print('{{"return": {{}}}}', file=monitor, flush=True)
end(planned("boot"))
print("SUKIMA-UP", file=port, flush=True)
for line in port:
    if "SUKIMA-ENDED" not in line:
        continue
    how = planned("job")
    end(how)
    if how == "partial":
        print('{{"seconds": 1, "result": "7"}}SUKIMA-ENDED 0', file=port, flush=True)
    elif how == "flood":
        while True:
            print("x" * 65536, end="", file=port, flush=True)
    elif how != "silent":
        print('{{"seconds": 1, "result": "7"}}\\nSUKIMA-ENDED 0', file=port, flush=True)
'''

EXPERIMENT = {
    "sukima-lab": 1, "name": "guests", "title": "Guests", "repetitions": 3, "limit_seconds": 600,
    "programs": [{"name": "work", "command": ["true"]}], "settings": [{"name": "one"}],
    "environments": [{"name": "two", "kind": "vms", "copies": 2, "vcpus": 1}],
}


class broken_guests(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="sukima-lab-test-"))
        self.addCleanup(shutil.rmtree, self.folder)
        for name in ("bin", "data", "tmp"):
            (self.folder / name).mkdir()
        self.program(self.folder / "bin" / "qemu-system-x86_64", QEMU.format(python=sys.executable, place=self.folder))
        self.program(self.folder / "data" / "build-image.sh", '#!/bin/sh\necho "$@" > "$0.words"\n')

    def program(self, path, text):
        path.write_text(text)
        path.chmod(0o755)

    def run_lab(self, plan, code, **changes):
        (self.folder / "plan").write_text(plan)
        (self.folder / "guests.json").write_text(json.dumps({**EXPERIMENT, **changes}))
        environment = {**os.environ, "PATH": f"{self.folder}/bin:{os.environ['PATH']}", "TMPDIR": f"{self.folder}/tmp",
                       "SUKIMA_LAB_DIR": f"{self.folder}/data", "XDG_CACHE_HOME": f"{self.folder}/cache"}
        process = subprocess.run([PROGRAM, "lab", "run", "./guests.json", "--folder", "runs"], cwd=self.folder, env=environment,
                                 text=True, capture_output=True, stdin=subprocess.DEVNULL)
        self.assertEqual(process.returncode, code, process.stderr + process.stdout)
        self.assertEqual(list((self.folder / "tmp").iterdir()), [], "sockets and consoles are gone")
        runs = self.folder / "runs" / "runs.jsonl"
        records = [json.loads(line) for line in runs.read_text().splitlines()] if runs.exists() else []
        return records, process

    def boots(self, name="vm1"):
        return len((self.folder / f"{name}.boot").read_text())

    def failed_once(self, plan, *sentences):
        """A run with a failure in the second round: the others are made, and the same command makes it again."""
        records, process = self.run_lab(plan, 1)
        self.assertIn("3 runs, 1 failed, 0 left out; stored in runs\n", process.stderr)
        self.assertEqual([one["round"] for one in records], [0, 1, 2])
        for one in records:
            self.assertEqual(one.get("seconds"), None if one["round"] == 1 else [1, 1])
        for sentence in sentences:
            self.assertIn(sentence, records[1]["failure"])
            self.assertIn(sentence, process.stdout, "the report has it, too")
        records, process = self.run_lab("", 0)
        self.assertIn("1 run, 0 failed, 0 left out", process.stderr)
        self.assertEqual((len(records), records[-1]["round"], records[-1]["seconds"]), (4, 1, [1, 1]))

    def test_each_lab_has_a_system_of_its_own(self):
        self.run_lab("", 0)
        words = (self.folder / "data" / "build-image.sh.words").read_text().split()
        self.assertEqual(words[:2], ["--cache", f"{self.folder}/cache/sukima/lab"], "the kernel is for all")
        self.assertTrue(words[2].startswith(f"{self.folder}/tmp/sukima-lab-image-"), words)

    def test_a_panic_in_a_run_fails_this_run(self):
        self.failed_once("vm2 job 2 panic\n", "vm2 ended while a program ran in it", "Kernel panic - not syncing: made up")

    def test_a_killed_qemu_fails_this_run(self):
        self.failed_once("vm1 job 2 killed\n", "vm1 ended while a program ran in it")

    def test_a_panic_at_the_boot_fails_this_run(self):
        self.failed_once("vm2 boot 2 panic\n", "the environment could not be set up: vm2 ended while it booted",
                         "Kernel panic - not syncing: made up")

    def test_a_silent_guest_is_stopped_and_made_anew(self):
        settings = [{"name": "one"}, {"name": "two"}]
        records, _ = self.run_lab("vm2 job 1 silent\n", 0, settings=settings, repetitions=1, limit_seconds=0.1)
        self.assertIn(None, records[0]["seconds"])
        self.assertEqual(self.boots(), 2, "the second run has fresh machines")

    def test_a_guest_that_prints_without_ends_of_lines_is_stopped(self):
        settings = [{"name": "one"}, {"name": "two"}]
        records, _ = self.run_lab("vm2 job 1 flood\n", 0, settings=settings, repetitions=1, limit_seconds=0.1)
        self.assertIn(None, records[0]["seconds"])
        self.assertEqual(self.boots(), 2, "the second run has fresh machines")

    def test_a_last_line_needs_no_end(self):
        records, _ = self.run_lab("vm1 job 1 partial\n", 0, repetitions=1)
        self.assertEqual(records[0]["seconds"], [1, 1])

    def test_programs_of_one_name_are_refused(self):
        for name in ("old", "new"):
            (self.folder / name).mkdir()
            self.program(self.folder / name / "run", "#!/bin/sh\n")
        programs = [{"name": name, "command": [f"{self.folder}/{name}/run"]} for name in ("old", "new")]
        _, process = self.run_lab("", 2, programs=programs)
        self.assertIn("have the same file name, and a virtual machine has one of them only", process.stderr)

    def test_guests_that_never_boot_are_given_up(self):
        plan = "".join(f"vm1 boot {number} killed\n" for number in range(1, 9))
        records, process = self.run_lab(plan, 1, repetitions=5)
        self.assertEqual([set(one) & {"failure", "seconds"} for one in records], [{"failure"}] * 3)
        self.assertIn("3 runs, 3 failed, 2 left out", process.stderr)
        self.assertIn("no 'guests/two' here: the environment could not be set up: vm1 ended while it booted", process.stdout)
        records, process = self.run_lab("", 0, repetitions=5)
        self.assertIn("5 runs, 0 failed, 0 left out", process.stderr, "another call tries again")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
