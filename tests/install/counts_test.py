#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks how much a project that includes Sukima compiles, and how much `make demo` compiles, without compiling it. It
also configures the block of README.md for FetchContent.

counts_test.py CMAKE SOURCE_FOLDER
"""
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

CMAKE = sys.argv[1]
SOURCE = Path(sys.argv[2]).resolve()
INCLUDED = SOURCE / "tests" / "install" / "included"
# The environment of this test's build must not affect the builds here.
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith(("CMAKE_", "NINJA_"))}


def run(*command):
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, env=ENVIRONMENT, cwd=SOURCE)


class counts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.build = Path(folder.name)

    def configured(self, *options):
        """The configuration of the project that includes Sukima."""
        return run(CMAKE, "-S", INCLUDED, "-B", self.build, "-G", "Ninja", f"-DSUKIMA_SOURCES={SOURCE}",
                   "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_EXPORT_COMPILE_COMMANDS=OFF", *options)

    def expect_configured(self, *options):
        result = self.configured(*options)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def compiled(self, target):
        """What building the target compiles: the sources, as they are in the commands."""
        result = run("ninja", "-C", self.build, "-t", "commands", target)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return re.findall(r" -c (\S+)", result.stdout)

    def expect_refused(self, sentence, *options):
        result = self.configured(*options)
        self.assertNotEqual(result.returncode, 0, options)
        self.assertIn(sentence, " ".join(result.stderr.split()), options)

    def test_a_project_that_includes_sukima_compiles_runtime_and_capacity(self):
        self.expect_configured("-DLINKED=sukima::sukima")
        sources = self.compiled("all")
        self.assertLessEqual(len(sources), 80)
        parts = {match[1] for source in sources if (match := re.search(r"/src/(\w+)/", source))}
        self.assertEqual(parts, {"capacity", "runtime"})

    def test_link_time_optimisation_leaves_the_runtime_out(self):
        for option in ("-DCMAKE_INTERPROCEDURAL_OPTIMIZATION=ON", "-DCMAKE_CXX_FLAGS=-flto=auto",
                       "-DCMAKE_CXX_FLAGS_RELEASE=-O2 -flto"):
            self.expect_configured("-DLINKED=sukima::sukima", option)
            result = run("ninja", "-C", self.build, "-t", "commands", "all")
            commands = [line for line in result.stdout.splitlines() if " -c " in line]
            own = [line for line in commands if "sums.cpp" in line]
            runtime = [line for line in commands if "/src/runtime/" in line.rpartition(" -c ")[2]]
            self.assertTrue(own and runtime, option)
            self.assertTrue(all("-flto" in line for line in own), option)
            with_it = [line for line in runtime if line.rfind(" -flto") > line.rfind(" -fno-lto")]
            self.assertEqual(with_it, [], option)
            (self.build / "CMakeCache.txt").unlink()

    def test_the_block_of_the_readme_fetches_sukima(self):
        # A repository of these sources, with the branch that the block names. The test replaces only the URL.
        repository, project = self.build / "sukima.git", self.build / "hello"
        git = ["git", f"--git-dir={repository}", f"--work-tree={SOURCE}", "-c", "user.name=test", "-c", "user.email=test@localhost"]
        for command in (["init", "--quiet", "--initial-branch=main"], ["add", "--all"],
                        ["commit", "--quiet", "--no-verify", "--message=sources"]):
            result = run(*git, *command)
            self.assertEqual(result.returncode, 0, result.stderr)
        readme = (SOURCE / "README.md").read_text(encoding="utf-8")
        block = re.search(r"^```cmake\n(include\(FetchContent\).*?)^```", readme, re.MULTILINE | re.DOTALL)[1]
        self.assertEqual(block.count("/path/or/URL/of/sukima"), 1)
        project.mkdir()
        (project / "hello.cpp").write_text((SOURCE / "examples" / "hello.cpp").read_text(encoding="utf-8"), encoding="utf-8")
        (project / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.25)\nproject(hello LANGUAGES CXX)\nadd_executable(hello hello.cpp)\n"
            + block.replace("/path/or/URL/of/sukima", str(repository)), encoding="utf-8")
        self.build = project / "build"
        result = run(CMAKE, "-S", project, "-B", self.build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertIn("hello.cpp", [Path(source).name for source in self.compiled("hello")])

    def test_parts_are_compiled_after_their_option(self):
        for part in ("objects", "cluster"):
            self.expect_configured(f"-DLINKED=sukima::{part}", f"-DSUKIMA_BUILD_{part.upper()}=ON")
            self.assertTrue(any(f"/src/{part}/" in source for source in self.compiled("sums")), part)

    def test_parts_that_are_left_out_are_refused(self):
        for part in ("objects", "cluster"):
            self.expect_refused(
                f"The target 'sums' links sukima::{part}, which is left out: set SUKIMA_BUILD_{part.upper()}=ON before "
                f"Sukima is added, or configure with -DSUKIMA_BUILD_{part.upper()}=ON", f"-DLINKED=sukima::{part}")
        self.expect_refused("this copy of Sukima has no compiler; build it with -DSUKIMA_BUILD_LANGUAGE=ON",
                            "-DLINKED=sukima::sukima", "-DTASCELL=ON")

    def test_options_that_need_others_are_refused(self):
        for option, needed in (("HOST", "CLI"), ("LAB", "CLI"), ("COMPILER", "LANGUAGE")):
            self.expect_refused(
                f"SUKIMA_BUILD_{option}=ON needs SUKIMA_BUILD_{needed}=ON: set SUKIMA_BUILD_{needed}=ON, or "
                f"SUKIMA_BUILD_{option}=OFF", "-DLINKED=sukima::sukima", f"-DSUKIMA_BUILD_{option}=ON")
            (self.build / "CMakeCache.txt").unlink()

    def test_the_demo_compiles_little(self):
        result = run(CMAKE, "--preset", "demo", "-B", self.build)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        sources = self.compiled("demo")
        self.assertLessEqual(len(sources), 120)
        names = [Path(source).name for source in sources]
        # Each program has its problems, and the functions that the harness calls. The sequential program warms up in system.cpp.
        self.assertEqual([names.count(f"{name}.cpp") for name in ("system", "pentomino", "grav", "warm_up")], [4, 4, 0, 3])
        parts = {match[1] for source in sources if (match := re.search(r"/src/(\w+)/", source))}
        self.assertEqual(parts, {"base", "calibrate", "capacity", "cli", "preload", "runtime"})


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
