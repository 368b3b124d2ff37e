# SPDX-License-Identifier: Apache-2.0
"""Tests of scripts/check-tidy.py in made-up repositories, with a made-up clang-tidy: check_tidy_test.py SCRIPT"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SCRIPT = sys.argv.pop()
# Records the sources for which it is called, and has a finding in each source that asks for one.
RUNNER = """#!/bin/sh
for source; do :; done
echo "$*" >>"$CALLS"
if grep -q FAULT "$source"; then echo "$source:1:1: error: a fault"; exit 1; fi
"""
IDENTITY = ["-c", "user.name=test", "-c", "user.email=test@example.org"]


class CheckTidy(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve() / "tree"
        self.runner = self.root.parent / "tidy"
        self.runner.parent.mkdir(exist_ok=True)
        self.runner.write_text(RUNNER)
        self.runner.chmod(0o755)
        self.calls = self.root.parent / "calls"
        (self.root / "scripts").mkdir(parents=True)
        shutil.copy(SCRIPT, self.root / "scripts")
        self.write(".gitignore", "build/\n")
        for name in ("a", "b", "c"):
            self.write(f"src/{name}.cpp", f'#include "part/{name}.hpp"\n')
            self.write(f"src/part/{name}.hpp", '#include "deep.hpp"\n' if name == "b" else "")
        self.write("src/part/deep.hpp", "")
        self.write("src/a.hpp", "")
        self.git("init", "-q")
        self.first = self.commit()
        build = self.root / "build" / "tidy"
        build.mkdir(parents=True)
        entries = [*(f"src/{name}.cpp" for name in ("c", "a", "b", "a")), "build/made.cpp", "../outside.cpp"]
        (build / "compile_commands.json").write_text(
            json.dumps([{"directory": str(self.root), "file": file, "command": f"cc -c {file}"} for file in entries]))

    def write(self, path, text):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)

    def git(self, *words):
        return subprocess.run(["git", *IDENTITY, "-C", self.root, *words], check=True, capture_output=True,
                              text=True).stdout.strip()

    def commit(self):
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "test")
        return self.git("rev-parse", "HEAD")

    def run_script(self, *options, code=0):
        """(the sources that it checked, in order; its output)"""
        self.calls.write_text("")
        environment = {**os.environ, "CLANG_TIDY": str(self.runner), "CALLS": str(self.calls)}
        one_cpu = ["taskset", "-c", str(min(os.sched_getaffinity(0)))]
        done = subprocess.run([*one_cpu, sys.executable, self.root / "scripts" / pathlib.Path(SCRIPT).name, *options],
                              capture_output=True, text=True, check=False, env=environment)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return [line.split()[-1] for line in self.calls.read_text().splitlines()], done.stdout + done.stderr

    def test_all_sources_once_and_none_of_others(self):
        looked_at, output = self.run_script()
        self.assertEqual(looked_at, ["src/a.cpp", "src/b.cpp", "src/c.cpp"])
        self.assertRegex(output, "^3 of 3 sources are free of findings, after [0-9]+ s\n$")
        self.assertNotIn("--checks", self.calls.read_text())
        self.run_script("--quick")
        self.assertEqual(self.calls.read_text().count("--checks=-clang-analyzer-*"), 3)

    def test_findings_are_printed_and_fail(self):
        self.write("src/b.cpp", "FAULT\n")
        _, output = self.run_script(code=1)
        self.assertRegex(output, "^src/b.cpp:1:1: error: a fault\nfindings: src/b.cpp\n2 of 3 sources are free ")

    def test_changed_sources_most_changed_first(self):
        self.assertEqual(self.run_script("--changed", "HEAD")[0], [])
        self.write("src/c.cpp", "int c;\n")
        self.write("src/b.cpp", "int b;\nint d;\n")
        self.commit()
        looked_at, output = self.run_script("--changed", self.first)
        self.assertEqual(looked_at, ["src/b.cpp", "src/c.cpp"])
        self.assertIn(f"Of 3 sources 2 have changed since {self.first[:12]}\n", output)

    def test_a_changed_header_means_a_source_that_includes_it(self):
        for header, source in (("src/part/c.hpp", "src/c.cpp"), ("src/part/deep.hpp", "src/b.cpp"),
                               ("src/a.hpp", "src/a.cpp")):
            with self.subTest(header):
                self.write(header, "int other;\n")
                self.assertEqual(self.run_script("--changed", "HEAD")[0], [source])
                self.git("checkout", "-q", ".")

    def test_the_others_come_afterwards_and_another_commit_has_another_order(self):
        orders = set()
        for i in range(64):  # an order is drawn by the commit's number, which its time is a part of
            if len(orders) == 2:
                break
            self.write("notes", str(i))
            self.commit()
            self.write("src/c.cpp", "int c;\n")
            looked_at, _ = self.run_script("--changed", "HEAD", "--others")
            self.git("checkout", "-q", "src")
            self.assertEqual((looked_at[0], sorted(looked_at)), ("src/c.cpp", ["src/a.cpp", "src/b.cpp", "src/c.cpp"]))
            orders.add(tuple(looked_at))
        self.assertEqual(len(orders), 2)

    def test_nothing_begins_after_the_minutes(self):
        self.write("src/c.cpp", "FAULT\n")
        looked_at, output = self.run_script("--changed", "HEAD", "--others", "--minutes", "0")
        self.assertEqual(looked_at, [])
        self.assertIn("After 0 minutes 3 sources are left out, 1 of those that have changed", output)
        self.assertIn("\n0 of 0 sources ", output)

    def test_a_clean_run_is_recorded_and_the_next_begins_there(self):
        self.assertIn("all sources count as changed", self.run_script("--changed", "recorded")[1])
        self.write("src/a.cpp", "int a;\n")
        self.assertIn("not recorded: there are changes", self.run_script("--record", code=2)[1])
        clean = self.commit()
        self.assertIn("scripts/tidy-clean.txt names this commit", self.run_script("--record")[1])
        self.assertIn(clean, (self.root / "scripts" / "tidy-clean.txt").read_text())
        self.commit()
        self.assertEqual(self.run_script("--changed", "recorded")[0], [])
        self.write("src/b.cpp", "FAULT\n")
        self.commit()
        self.run_script("--record", code=1)
        self.assertIn(clean, (self.root / "scripts" / "tidy-clean.txt").read_text())
        self.assertEqual(self.run_script("--changed", "recorded", code=1)[0], ["src/b.cpp"])
        # A copy of only the last commit, as some continuous integrations make. It lacks the recorded commit.
        (self.root / "scripts" / "tidy-clean.txt").write_text("# Comment\n" + 40 * "1" + "\n")
        self.assertEqual(sorted(self.run_script("--changed", "recorded", code=1)[0]),
                         ["src/a.cpp", "src/b.cpp", "src/c.cpp"])

    def test_sources_that_are_compiled_as_one_get_its_options(self):
        unity = self.root / "build" / "tidy" / "Unity" / "one.cxx"
        self.write("build/tidy/Unity/one.cxx", "".join(f'#include "{self.root}/src/{name}.cpp"\n' for name in "ab"))
        database = self.root / "build" / "tidy" / "compile_commands.json"
        database.write_text(json.dumps([{"directory": str(self.root), "file": str(unity), "command": f"cc -DX -c {unity}"}]))
        self.runner.write_text(f'#!/bin/sh\ncp "$2/compile_commands.json" {self.root.parent}/seen\n{RUNNER[10:]}')
        self.assertEqual(self.run_script()[0], ["src/a.cpp", "src/b.cpp"])
        seen = {entry["file"]: entry["command"] for entry in json.loads((self.root.parent / "seen").read_text())}
        self.assertEqual(seen, {f"{self.root}/src/{name}.cpp": f"cc -DX -c {self.root}/src/{name}.cpp" for name in "ab"})

    def test_open_sources_wait_until_they_change_or_are_worked_off(self):
        self.write("scripts/tidy-clean.txt", f"# Comment\n{self.first}\nopen src/a.cpp\nopen src/b.cpp\n")
        self.write("src/b.cpp", "FAULT\n")
        looked_at, output = self.run_script("--changed", "recorded", "--others", code=1)
        self.assertEqual(looked_at, ["src/b.cpp", "src/c.cpp"])
        self.assertIn("2 sources are open in scripts/tidy-clean.txt", output)
        self.run_script("--open", "--minutes", "0")
        looked_at, output = self.run_script("--open", code=1)
        self.assertEqual(sorted(looked_at), ["src/a.cpp", "src/b.cpp"])
        self.assertIn("1 sources are open still", output)
        self.write("src/b.cpp", "int b;\n")
        self.assertIn("0 sources are open still", self.run_script("--open")[1])
        lines = (self.root / "scripts" / "tidy-clean.txt").read_text().splitlines()
        self.assertEqual(lines[1:], [self.first])
        self.assertEqual(self.run_script("--open")[0], [])

    def test_wrong_use(self):
        for options, words in ((("--others",), "--others needs --changed"), (("--record", "--minutes", "1"), "--record is for"),
                               (("--changed", "nothing"), "there is no revision 'nothing'"),
                               (("src",), "src has no compile_commands.json; run 'cmake --preset tidy' first")):
            with self.subTest(options):
                self.assertIn(words, self.run_script(*options, code=2)[1])


if __name__ == "__main__":
    unittest.main()
