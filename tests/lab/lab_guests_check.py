#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs experiments on virtual machines of QEMU: lab_guests_check.py PROGRAM

Two machines start a program simultaneously and report their names. A signal while machines run leaves nothing behind.
"""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = pathlib.Path(sys.argv[1]).resolve()


def processes(word):
    """The processes whose command line has a word."""
    found = []
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if word.encode() in (entry / "cmdline").read_bytes():
                found.append(entry.name)
        except OSError:
            continue
    return found


class guests(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="sukima-lab-check-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.temporary = self.folder / "tmp"
        self.temporary.mkdir()

    def start(self, command):
        experiment = {
            "sukima-lab": 1, "name": "guests", "title": "Guests", "repetitions": 1, "limit_seconds": 600,
            "programs": [{"name": "work", "command": ["sh", "-c", command]}], "settings": [{"name": "words",
            "variables": {"WORD": "it's $HOME"}}],
            "environments": [{"name": "two", "kind": "vms", "copies": 2, "vcpus": 2, "memory_mib": 128}]}
        (self.folder / "guests.json").write_text(json.dumps(experiment))
        return subprocess.Popen([PROGRAM, "lab", "run", "./guests.json", "--folder", "runs"], cwd=self.folder,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL,
                                env={**os.environ, "TMPDIR": str(self.temporary)})

    def test_start_a_program_simultaneously(self):
        process = self.start("echo \"{\\\"seconds\\\":$(nproc),\\\"result\\\":\\\"$WORD\\\"}\"")
        output, errors = process.communicate()
        report = json.loads(subprocess.run([PROGRAM, "lab", "report", "--folder", self.folder / "runs", "--json"], text=True,
                                           capture_output=True, check=True).stdout)
        if "vms" in report["obstacles"]:
            if "cannot be fetched" in report["obstacles"]["vms"]:
                self.skipTest("the kernel of a guest cannot be fetched")
            self.fail(report["obstacles"]["vms"])
        self.assertEqual(process.returncode, 0, errors + output)
        record = json.loads((self.folder / "runs" / "runs.jsonl").read_text())
        self.assertEqual(record["seconds"], [2, 2])
        self.assertEqual(record["result"], "it's $HOME")
        self.assertIn(report["accelerator"], ("kvm", "tcg"))
        self.assertIn("QEMU", report["versions"])
        self.assertEqual(list(self.temporary.iterdir()), [])

    def test_end_at_a_signal(self):
        process = self.start("sleep 100000")
        console = None
        # The machines are up once their port has answered; then the program is started.
        while console is None or "vm2" not in {one.stem for one in console.parent.iterdir()}:
            if process.poll() is not None:
                self.assertIn("cannot be fetched", (self.folder / "runs" / "machine.json").read_text())
                self.skipTest("the kernel of a guest cannot be fetched")
            console = next(self.temporary.glob("sukima-lab-*/vm1.console"), None)
            time.sleep(0.05)
        self.assertGreaterEqual(len(processes(str(self.temporary))), 2)
        process.send_signal(signal.SIGINT)
        process.communicate()
        self.assertEqual(process.returncode, -signal.SIGINT)
        self.assertEqual(processes(str(self.temporary)), [])
        self.assertEqual(list(self.temporary.iterdir()), [], "sockets and consoles are gone")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
