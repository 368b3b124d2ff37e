#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The services of systemd, for a program in a folder of its own: services_test.py SOURCE SUKIMA BUILD CMAKE

systemd-analyze verifies the files, if it is installed. The test checks that the program has each command of a service, with
its options.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE, SUKIMA, BUILD, CMAKE = (pathlib.Path(argument).resolve() for argument in sys.argv[1:5])
PLACE = "@CMAKE_INSTALL_FULL_BINDIR@"
NAMES = sorted(path.name.removesuffix(".in") for path in (SOURCE / "services").glob("*.service.in"))


def text_of(name, folder):
    """The file of a service for the program in a folder."""
    return (SOURCE / "services" / f"{name}.in").read_text(encoding="utf-8").replace(PLACE, str(folder))


def commands_of(text):
    """[words] of each ExecStart and ExecStopPost."""
    return [line.split() for line in re.findall(r"^Exec\w+=(.*)$", text, re.MULTILINE)]


class Services(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        (self.folder / "sukima").symlink_to(SUKIMA)

    def complaints(self, name, text):
        """The messages of systemd-analyze about a file; it ends with 0 even for an unknown key."""
        if shutil.which("systemd-analyze") is None:
            self.skipTest("systemd-analyze is not installed")
        file = self.folder / name
        file.write_text(text, encoding="utf-8")
        done = subprocess.run(["systemd-analyze", "verify", "--man=no", file], capture_output=True, text=True, check=False)
        return f"exit code {done.returncode}\n" * (done.returncode != 0) + done.stdout + done.stderr

    def test_there_is_one_for_the_host_and_one_for_the_guest(self):
        self.assertEqual(NAMES, ["sukima-guest.service", "sukima-host.service"])

    def test_systemd_accepts_them(self):
        for name in NAMES:
            with self.subTest(name):
                self.assertEqual(self.complaints(name, text_of(name, self.folder)), "")

    def test_systemd_finds_a_wrong_key_and_a_program_that_is_not_there(self):
        name = NAMES[0]
        text = text_of(name, self.folder)
        self.assertIn("Restrat", self.complaints(name, text.replace("Restart=", "Restrat=")))
        self.assertIn("nowhere", self.complaints(name, text_of(name, self.folder / "nowhere")))

    def test_their_commands_are_those_of_the_program(self):
        for name in NAMES:
            commands = commands_of(text_of(name, self.folder))
            self.assertEqual(len(commands), 2, name)
            for program, *words in commands:
                with self.subTest(words):
                    self.assertEqual(program, str(self.folder / "sukima"))
                    verbs = [word for word in words if not word.startswith("-")]
                    done = subprocess.run([program, *verbs, "--help"], capture_output=True, text=True, check=False)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    for option in (word for word in words if word.startswith("-")):
                        self.assertIn(option, re.findall(r"--[\w-]+", done.stdout))

    def installed_programs(self, prefix, **environment):
        """The programs of the services that `cmake --install` makes for this prefix, below self.folder."""
        subprocess.run([CMAKE, "--install", BUILD, "--component", "host", "--prefix", prefix], check=True,
                       stdout=subprocess.DEVNULL, env={**os.environ, "DESTDIR": str(self.folder), **environment})
        folder = pathlib.Path(f"{self.folder}{prefix}/lib/systemd/system")
        return {words[0] for name in NAMES for words in commands_of((folder / name).read_text(encoding="utf-8"))}

    def test_start_the_program_of_the_prefix_that_they_are_installed_into(self):
        self.assertEqual(self.installed_programs("/opt/there"), {"/opt/there/bin/sukima"})

    def test_of_a_package_start_its_program(self):
        # As with CPack, the files are gathered in another folder.
        self.assertEqual(self.installed_programs("/gathered/usr", SUKIMA_PACKAGED_PREFIX="/usr"), {"/usr/bin/sukima"})
        kinds = (SOURCE / "cmake/sukima_package_kinds.cmake").read_text(encoding="utf-8")
        prefix = re.search(r"CPACK_PACKAGING_INSTALL_PREFIX (\S+)\)", kinds)[1]
        self.assertIn(f"set(ENV{{SUKIMA_PACKAGED_PREFIX}} {prefix})", kinds)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
