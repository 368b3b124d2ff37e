#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the first commands that a reader copies from the pages, with an installation: page_commands_test.py PREFIX PAGES

PREFIX is the folder of the installation, and PAGES the folder of README.md and docs. Commands run in a folder of their
own, in the order of the page. The test omits `make`, because the installation is its result. LD_LIBRARY_PATH replaces
ldconfig, which `sudo make install` calls for /usr/local. Where `./program` is the reader's program, the test uses hello.
"""
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

PREFIX, PAGES = (pathlib.Path(folder).resolve() for folder in sys.argv[1:3])


def blocks(page):
    """The blocks of code of a page, fenced or indented, each as its lines."""
    result, fence, previous_is_code = [], None, False
    for line in (PAGES / page).read_text(encoding="utf-8").splitlines():
        if line.startswith("```"):
            fence = None if fence is not None else result.append([]) or True
            previous_is_code = False
        elif fence:
            result[-1].append(line)
        elif line.startswith("    "):
            if not previous_is_code:
                result.append([])
            result[-1].append(line[4:])
            previous_is_code = True
        elif line:
            previous_is_code = False
        elif previous_is_code:
            result[-1].append("")
    return result


def block_with(page, text):
    """The first block of a page in which a line begins with that text."""
    return next(block for block in blocks(page) if any(line.startswith(text) for line in block))


def commands(block):
    """The commands of a block, each with the lines of its output that the page shows."""
    result = []
    for line in block:
        if line.startswith("$ "):
            result.append((re.sub(r"\s+# .*", "", line[2:]), []))
        elif result and line:
            result[-1][1].append(line)
    return result


class pages(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        pkgconfig = next(PREFIX.rglob("sukima.pc")).parent
        self.environment = {**os.environ, "PATH": f"{PREFIX}/bin:{os.environ['PATH']}",
                            "PKG_CONFIG_PATH": str(pkgconfig), "LD_LIBRARY_PATH": str(pkgconfig.parent)}

    def run_command(self, command):
        ended = subprocess.run(command, shell=True, executable="/bin/bash", cwd=self.folder, env=self.environment,
                               capture_output=True, text=True, stdin=subprocess.DEVNULL)
        self.assertEqual(ended.returncode, 0, f"{command}\n{ended.stderr}")
        return ended.stdout

    def run_block(self, block):
        """Runs the commands of a block, and compares their output with the output on the page, if there is some."""
        ran = 0
        for command, output in commands(block):
            if command.startswith("make "):
                continue
            printed = self.run_command(command)
            if output:
                self.assertEqual(printed.splitlines(), output, command)
            ran += 1
        self.assertGreater(ran, 0)

    def test_the_first_program_and_the_commands_for_programs(self):
        program = block_with("README.md", "#include <sukima/sukima.hpp>")
        (self.folder / "hello.cpp").write_text("\n".join(program) + "\n", encoding="utf-8")
        self.run_block(block_with("README.md", "$ g++"))
        self.run_block(block_with("docs/hello.md", "$ g++"))
        self.assertEqual(block_with("docs/hello.md", "#include <sukima/sukima.hpp>"), program)
        if not (PREFIX / "bin" / "sukima").exists():
            return
        shutil.copy(self.folder / "hello", self.folder / "program")
        for command, _ in commands(block_with("README.md", "$ sukima probe")):
            self.run_command(command)  # its output depends on the machine

    def test_the_block_for_cmake_finds_the_installation(self):
        program = block_with("README.md", "#include <sukima/sukima.hpp>")
        (self.folder / "hello.cpp").write_text("\n".join(program) + "\n", encoding="utf-8")
        block = block_with("README.md", "find_package(sukima")
        (self.folder / "CMakeLists.txt").write_text(
            "\n".join(["cmake_minimum_required(VERSION 3.25)", "project(hello LANGUAGES CXX)", "add_executable(hello hello.cpp)",
                       *block]), encoding="utf-8")
        self.run_command(f"cmake -S . -B build -DCMAKE_PREFIX_PATH={shlex.quote(str(PREFIX))}")
        self.run_command("cmake --build build")
        self.assertEqual(self.run_command("build/hello"), "fib(30) = 832040\n")

    def build_hello(self):
        """The program of README.md, as `program`."""
        source = "\n".join(block_with("README.md", "#include <sukima/sukima.hpp>")) + "\n"
        (self.folder / "program.cpp").write_text(source, encoding="utf-8")
        self.run_command("g++ -std=c++20 program.cpp -o program $(pkg-config --cflags --libs sukima)")

    def test_a_program_with_openmp_beside_sukima(self):
        if not (PREFIX / "bin" / "sukima").exists():
            return
        shutil.copy(PAGES / "tests" / "preload" / "beside_openmp.cpp", self.folder)
        self.run_command("g++ -std=c++20 -fopenmp beside_openmp.cpp -o program $(pkg-config --cflags --libs sukima)")
        command, _ = commands(block_with("docs/openmp.md", "$ sukima run"))[0]
        ended = subprocess.run(shlex.split(command), cwd=self.folder, env=self.environment, capture_output=True, text=True)
        self.assertIn(ended.returncode, (0, 77), ended.stderr)  # 77: there is one CPU

    def test_the_page_that_explains_a_run(self):
        if not (PREFIX / "bin" / "sukima").exists():
            return
        self.build_hello()
        command, _ = commands(block_with("docs/tracing.md", "$ SUKIMA_WORKERS=2 sukima explain"))[0]
        self.assertEqual(self.run_command(command), "fib(30) = 832040\n")
        self.run_command(command.replace("explain", "explain --html page.html"))
        self.assertIn("worker 1", (self.folder / "page.html").read_text(encoding="utf-8"))

    def test_tools_find_the_probes_of_the_page(self):
        probes = set(re.findall(r"^\| `sukima:(\w+)` \|", (PAGES / "docs" / "profilers.md").read_text(encoding="utf-8"), re.M))
        self.assertIn("steal", probes)
        library = next(PREFIX.rglob("libsukima.so"), None) or next(PREFIX.rglob("libsukima.a"))
        notes = self.run_command(f"readelf --notes {shlex.quote(str(library))}")
        self.assertEqual(set(re.findall(r"Provider: sukima\n\s+Name: (\w+)", notes)), probes)

    def test_the_first_estimate_of_a_host(self):
        if not (PREFIX / "libexec" / "sukima" / "sukima-host").exists():
            return
        block = block_with("docs/host.md", "$ cat host.json")
        (self.folder / "host.json").write_text("\n".join(commands(block)[0][1]) + "\n", encoding="utf-8")
        self.run_block(block)

    def test_the_first_program_on_several_nodes(self):
        if not (PREFIX / "libexec" / "sukima" / "sukima-cluster").exists():
            return
        (self.folder / "examples").symlink_to(PAGES / "examples")
        self.run_block(block_with("docs/cluster.md", "$ g++"))

    def test_the_first_program_in_the_language(self):
        if not (PREFIX / "libexec" / "sukima" / "sukima-cc").exists():
            return
        block = block_with("docs/language.md", "$ sukima cc")
        first = next(number for number, line in enumerate(block) if line.startswith("$ "))
        (self.folder / "fib.tc").write_text("\n".join(block[:first]), encoding="utf-8")
        compiled, ran = (command for command, _ in commands(block)[:2])
        self.assertEqual(self.run_command(compiled), "")
        self.assertEqual(self.run_command(ran), "102334155\n", shlex.split(ran))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
