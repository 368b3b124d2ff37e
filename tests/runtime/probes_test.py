# SPDX-License-Identifier: Apache-2.0
"""Static probes of the runtime, as tools see them: probes_test.py PROGRAM HEADER_FOLDER

PROGRAM is probes_program; gdb reads the same notes as bpftrace, perf and SystemTap.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

PROGRAM, HEADERS = sys.argv[1], pathlib.Path(sys.argv[2])
# Two workers, even if only one CPU can be used.
ENVIRONMENT = {**{name: value for name, value in os.environ.items() if not name.startswith("SUKIMA_")},
               "SUKIMA_WORKERS": "2", "SUKIMA_ELASTIC": "off", "LC_ALL": "C"}
NAMES = {"split", "steal", "wait", "park", "unpark"}


def debug(*commands):
    words = [word for command in ("set debuginfod enabled off", "set startup-with-shell off", *commands)
             for word in ("-ex", command)]
    done = subprocess.run(["gdb", "-nx", "-batch", *words, PROGRAM], capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL, timeout=500, env=ENVIRONMENT)
    return done.stdout + done.stderr


class Probes(unittest.TestCase):
    def setUp(self):
        if shutil.which("gdb") is None:
            self.skipTest("gdb is not installed (package gdb)")

    def test_notes_name_all_probes_inside_the_code(self):
        notes = subprocess.run(["readelf", "--notes", PROGRAM], capture_output=True, text=True, check=True).stdout
        found = re.findall(r"Provider: sukima\n\s+Name: (\w+)\n\s+Location: (0x\w+), Base: (0x\w+), Semaphore: 0x0+\n"
                           r"\s+Arguments: 8@(\S+) 8@(\S+)\n", notes)
        self.assertEqual({name for name, *_ in found}, NAMES)
        self.assertEqual(notes.count("Provider: sukima"), len(found), notes)
        self.assertEqual(len({base for _, _, base, *_ in found} - {"0x0000000000000000"}), 1)
        sections = subprocess.run(["readelf", "--sections", "--wide", PROGRAM], capture_output=True, text=True,
                                  check=True).stdout
        address, size = (int(word, 16) for word in
                         re.search(r"\.text\s+PROGBITS\s+(\w+) \w+ (\w+)", sections).groups())
        for name, location, *_ in found:
            self.assertTrue(address <= int(location, 16) < address + size, name)

    def stop_at(self, name):
        output = debug(f"break -probe-stap sukima:{name}", "run", "print $_probe_argc", "print $_probe_arg0",
                       "print $_probe_arg1", "delete", "continue")
        values = dict(re.findall(r"^\$(\d) = (\d+)$", output, re.MULTILINE))
        self.assertEqual(values.get("1"), "2", output)
        self.assertIn("\ndone\n", output)
        self.assertIn("exited normally", output)
        return int(values["2"]), int(values["3"])

    def test_a_steal_has_the_thief_and_its_victim(self):
        self.assertEqual(sorted(self.stop_at("steal")), [0, 1])

    def test_a_split_has_the_worker_and_the_depth(self):
        worker, depth = self.stop_at("split")
        self.assertIn(worker, (0, 1))
        self.assertGreater(depth, 0)

    def test_a_worker_without_work_parks(self):
        output = debug("break -probe-stap sukima:park", "run idle", "print $_probe_arg0", "info threads", "kill")
        self.assertRegex(output, r"(?m)^\$1 = [01]$")
        # A background worker's thread has its number in its name.
        self.assertRegex(output, r'(?m)^.* Thread .*"sukima-1"')

    def test_no_header_has_a_probe(self):
        """The path of a fork is in the public headers: it has no probe, so it has no instruction for one."""
        with_probe = [path for path in HEADERS.rglob("*.h*") if "SUKIMA_PROBE" in path.read_text(encoding="utf-8")]
        self.assertEqual(with_probe, [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
