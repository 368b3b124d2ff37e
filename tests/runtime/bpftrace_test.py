# SPDX-License-Identifier: Apache-2.0
"""The command for bpftrace of docs/profilers.md: bpftrace_test.py PROGRAM PAGE

PROGRAM is runtime-probes, in which one worker steals from the other one. The test is skipped if the kernel does not allow
probes.
"""
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import unittest

PROGRAM, PAGE = sys.argv[1], pathlib.Path(sys.argv[2])
# Two workers, even if only one CPU can be used.
ENVIRONMENT = {**{name: value for name, value in os.environ.items() if not name.startswith("SUKIMA_")},
               "SUKIMA_WORKERS": "2", "SUKIMA_ELASTIC": "off", "LC_ALL": "C"}


def commands_of_the_page():
    """The commands for bpftrace, as lists of arguments, for PROGRAM."""
    block = re.search(r"(?:^    .*\n)*^    bpftrace .*\n(?:^    .*\n)*", PAGE.read_text(encoding="utf-8"), re.MULTILINE)[0]
    lines = block.replace("./program", PROGRAM).strip()
    return [shlex.split("bpftrace " + command) for command in re.split(r"^ *bpftrace ", lines, flags=re.MULTILINE)[1:]]


def run(command):
    return subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, timeout=500,
                          env=ENVIRONMENT)


class Bpftrace(unittest.TestCase):
    def setUp(self):
        if shutil.which("bpftrace") is None:
            self.skipTest("bpftrace is not installed")
        # Every program has this probe, so the skip does not depend on our probes.
        trial = run(["bpftrace", "-c", PROGRAM, "-e", f"uprobe:{PROGRAM}:main {{ printf(\"reached\"); }}"])
        if "reached" not in trial.stdout:
            self.skipTest("bpftrace cannot place probes here")

    def test_lists_the_probes_of_the_page(self):
        listed = run(commands_of_the_page()[0]).stdout
        probes = re.findall(r"^\| `(sukima:\w+)` \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
        self.assertEqual(sorted(listed.split()), sorted(f"usdt:{PROGRAM}:{probe}" for probe in probes))

    def test_counts_the_steal_and_its_split(self):
        ended = run(commands_of_the_page()[1])
        output = ended.stdout + ended.stderr
        self.assertEqual(ended.returncode, 0, output)
        self.assertIn("done\n", ended.stdout, output)
        steals = re.findall(r"^@steals\[(\d), (\d)\]: (\d+)$", ended.stdout, re.MULTILINE)
        self.assertTrue(steals, output)
        for thief, victim, _ in steals:
            self.assertEqual({thief, victim}, {"0", "1"}, output)
        self.assertRegex(ended.stdout, r"(?m)^@depth: *\n\[")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
