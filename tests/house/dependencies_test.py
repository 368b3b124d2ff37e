#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of scripts/install-dependencies.sh and of the purposes in scripts/packages.txt: dependencies_test.py SCRIPTS"""
import subprocess
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPTS = Path(sys.argv[1]).resolve()
# The packages that each purpose adds to those of the purposes that it contains.
CONTAINED = {"wheel": [], "demo": ["wheel"], "build": ["demo"], "benchmarks": ["build"], "package": ["benchmarks"],
             "format": [], "test-build": ["format"], "test": ["build", "test-build"], "check": ["package", "test"]}


class dependencies(unittest.TestCase):
    def setUp(self):
        """A machine without any of the packages, and without the commands that replace them."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name)
        for name in ("bash", "dirname", "grep", "tr"):
            (self.path / name).symlink_to(shutil.which(name))
        for name, text in (("dpkg-query", "exit 1"), ("apt-get", "exit 1"), ("dpkg", "echo amd64")):
            (self.path / name).write_text(f"#!/bin/bash\n{text}\n")
            (self.path / name).chmod(0o755)

    def run_script(self, *arguments):
        return subprocess.run(["bash", SCRIPTS / "install-dependencies.sh", *arguments], capture_output=True, text=True,
                              env={"PATH": str(self.path)})

    def needed(self, *purpose):
        result = self.run_script("--missing", *purpose)
        self.assertEqual((result.returncode, result.stderr), (0, ""), purpose)
        return {name.partition("/")[0] for name in result.stdout.split()}

    def test_purposes_contain_others(self):
        for purpose, contained in CONTAINED.items():
            packages = self.needed(purpose)
            self.assertTrue(packages, purpose)
            for other in contained:
                self.assertLess(self.needed(other), packages, (purpose, other))

    def test_everything_is_needed_for_check(self):
        lines = (SCRIPTS / "packages.txt").read_text().splitlines()
        rows = [[cell.strip() for cell in line.split("|")] for line in lines if line and not line.startswith("#")]
        self.assertEqual({len(row) for row in rows}, {4})
        self.assertLessEqual({row[2] for row in rows}, {*CONTAINED, "plots"})
        self.assertEqual(len(self.needed("check")), len(rows))
        self.assertEqual(self.needed(), self.needed("check"))

    def test_format_needs_the_formatter(self):
        self.assertEqual(self.needed("format"), {"git", "clang-format-19"})

    def test_wheel_and_package_do_without_what_only_tests_need(self):
        only_for_tests = {"default-jdk-headless", "qemu-system-x86", "libvirt-daemon-system", "openmpi-bin", "mpich",
                          "nodejs", "valgrind", "gdb", "clang-tidy-19", "spin", "doxygen"}
        self.assertFalse(self.needed("package") & only_for_tests)
        heavy = {"libmetis-dev", "nettle-dev", "libclang-19-dev", "libtbb-dev", "clang-19"}
        self.assertFalse(self.needed("wheel") & (heavy | only_for_tests))

    def test_make_test_installs_some_packages_beside_the_build(self):
        beside = self.needed("test") - self.needed("test-build")
        self.assertEqual(beside, {"python3-matplotlib", "gdb", "linux-perf", "man-db", "groff-base", "systemd",
                                  "python3-venv"})

    def test_asks_only_whether_an_alternative_exists(self):
        """apt-cache takes more than a second for each package."""
        (self.path / "env").symlink_to(shutil.which("env"))
        asked = self.path / "asked"
        asked.touch()
        for name, text in (("sudo", 'exec "$@"'), ("apt-get", 'echo "apt-get $*"'),
                           ("apt-cache", f'echo "$2" >>{asked}; [[ $2 == rustc-web ]]')):
            (self.path / name).write_text(f"#!/bin/bash\n{text}\n")
            (self.path / name).chmod(0o755)
        result = self.run_script("benchmarks")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(asked.read_text().split(), ["cargo-web", "rustc-web"])
        installed = result.stdout.splitlines()[-1].split()
        self.assertLessEqual({"cargo", "rustc-web", "g++"}, set(installed))
        self.assertFalse({"cargo-web", "rustc"} & set(installed))

    def test_refuses_an_unknown_purpose(self):
        for arguments in (["nonsense"], ["build", "test"], ["--missing", "nonsense"]):
            result = self.run_script(*arguments)
            self.assertEqual((result.returncode, result.stdout), (2, ""), arguments)
            self.assertIn("give at most --missing and a purpose (wheel, demo, build, benchmarks, package, format, test-build, test "
                          "or check)", result.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
