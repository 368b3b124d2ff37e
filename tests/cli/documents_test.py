#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that manual pages and shell completions are well-formed and have all options of the program's help, and that all
commands that a reader can copy from README.md and docs exist.

documents_test.py PROGRAM SOURCE_FOLDER
"""
import contextlib
import json
import os
import pty
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROGRAM = Path(sys.argv[1]).resolve()
SOURCE = Path(sys.argv[2]).resolve()
PAGES = SOURCE / "docs" / "man"
COMPLETIONS = SOURCE / "completions"


def run(*command, environment=None, folder=None):
    return subprocess.run(command, capture_output=True, text=True, timeout=500, stdin=subprocess.DEVNULL,
                          env={**os.environ, **(environment or {})}, cwd=folder)


def help_text(*command):
    return run(PROGRAM, *command, "--help").stdout


def options_in_help(*command):
    """The long options that a help text describes; examples, which start further right, mention some, too."""
    lines = [line[:30] for line in help_text(*command).splitlines() if line.startswith("  -")]
    return {option for line in lines for option in re.findall(r"--([a-z-]+)", line)}


def commands_in_help():
    text = help_text()
    return set(re.findall(r"^  ([a-z]+) ", text[text.index("Subcommands:"):], re.MULTILINE))


def options_in_manual(page):
    """The options of a manual page: those that start an entry."""
    text = (PAGES / page).read_text().replace("\\-", "-")
    entries = re.findall(r"^\.TP\n(\.B.*)$", text, re.MULTILINE)
    return {option for entry in entries for option in re.findall(r"--([a-z-]+)", entry)}


class manual(unittest.TestCase):
    def test_describes_the_options_and_commands_of_the_help(self):
        self.assertEqual(options_in_manual("sukima.1"), options_in_help())
        commands = commands_in_help()
        self.assertIn("bench", commands)
        for command in commands:
            self.assertEqual(options_in_manual(f"sukima-{command}.1"), options_in_help(command))
            self.assertIn(f"\n.TP\n.B {command}\n", (PAGES / "sukima.1").read_text())

    def test_mentions_only_options_that_exist(self):
        known = options_in_help().union(*(options_in_help(command) for command in commands_in_help()))
        for page in PAGES.glob("*.1"):
            text = page.read_text().replace("\\-", "-")
            self.assertLessEqual(set(re.findall(r"(?<![\w-])--([a-z][a-z-]*)", text)), known, page)

    def test_has_the_exit_codes_of_all_commands(self):
        for command in sorted(commands_in_help()):
            page = (PAGES / f"sukima-{command}.1").read_text()
            listed = set(map(int, re.findall(r"^\.B (\d+)$", page[page.index(".SH EXIT STATUS"):], re.MULTILINE)))
            with open("/dev/full", "wb") as full:
                unwritten = subprocess.run([PROGRAM, command, "--help"], stdout=full, stderr=subprocess.DEVNULL, check=False)
            self.assertLessEqual({unwritten.returncode, run(PROGRAM, command, "--nonesuch").returncode}, listed, command)

    @unittest.skipUnless(shutil.which("groff"), "groff is not installed")
    def test_is_well_formed(self):
        for page in PAGES.glob("*.1"):
            formatted = run("groff", "-man", "-Tutf8", "-ww", "-rCHECKSTYLE=3", page)
            self.assertEqual((formatted.returncode, formatted.stderr), (0, ""), page)
            self.assertGreater(len(formatted.stdout), 500, page)


def console_lines(page):
    """Pairs of a number and a line: the lines of a page's blocks that show commands and their output."""
    fence = None
    for number, line in enumerate(page.read_text().splitlines(), 1):
        if line.lstrip().startswith("```"):
            fence = None if fence is not None else line.strip().strip("`")
        elif fence in {"console", "sh", "bash"} or fence is None and line.startswith("    "):
            yield number, line


def pages_to_read():
    return [SOURCE / "README.md", SOURCE / "CONTRIBUTING.md", *sorted((SOURCE / "docs").glob("*.md"))]


def commands_in_pages():
    """Pairs of a place and a command line: the lines of code blocks that begin with $ or with a command of ours. A line such as
    "sukima run: 2 threads" is output."""
    for page in pages_to_read():
        for number, line in console_lines(page):
            command = re.fullmatch(r"\s*(?:\$ |#\s+)?((?:\w+=\S+ )*(?:sudo )?(?:sukima(?! \w+: )|make) .*)", line)
            if command:
                yield f"{page.name}:{number}", re.split(r" -- | --$|\s#|[|>&;]", command[1])[0].split()


class pages(unittest.TestCase):
    def test_have_commands_that_exist(self):
        targets = set(re.findall(r"^([a-z]+):", (SOURCE / "Makefile").read_text(), re.MULTILINE))
        options = {command: options_in_help(command) for command in commands_in_help()}
        checked = 0
        for place, words in commands_in_pages():
            with self.subTest(place):
                words = [word for word in words if word != "sudo" and not re.match(r"[A-Z_]+=", word)]
                program, first, *rest = [*words, ""]
                if program == "make":
                    self.assertTrue(first in targets or first.startswith("-"), first)
                elif first in options:
                    used = {match[1] for word in rest if (match := re.match(r"--([a-z][a-z-]*)", word))}
                    self.assertLessEqual(used, options[first])
                else:
                    self.assertIn(first, {"--version", "--help"})
                checked += 1
        self.assertGreater(checked, 60)

    def test_say_where_the_programs_come_from_that_they_start(self):
        # ./NAME in a command: the page has a command that writes NAME, or says that it is the reader's program.
        checked = 0
        for page in pages_to_read():
            lines = list(console_lines(page))
            written = {name for _, line in lines for name in re.findall(r"(?: -o|--output) (\w[\w-]*)(?![\w./-])", line)}
            prose = page.read_text()
            stands = {*re.findall(r"`\./([\w-]+)`\s+(?:stands\s+for|is\s+your)", prose),
                      *re.findall(r"\b(?:here|your)\s+`\./([\w-]+)`", prose)}
            for number, line in lines:
                for name in re.findall(r"(?:^|[\s:=])\./(\w[\w-]*)(?![\w./*-])", line):
                    with self.subTest(f"{page.name}:{number}"):
                        self.assertIn(name, written | stands)
                    checked += 1
        self.assertGreater(checked, 20)


class completions(unittest.TestCase):
    def test_know_the_options_and_commands_of_the_help(self):
        commands = commands_in_help()
        expected = options_in_help().union(*(options_in_help(command) for command in commands))
        patterns = {"sukima.bash": r"--([a-z][a-z-]*)", "_sukima": r"--([a-z][a-z-]*)",
                    "sukima.fish": r"complete -c sukima.* -l ([a-z-]+)"}
        for file, pattern in patterns.items():
            text = (COMPLETIONS / file).read_text()
            self.assertEqual(set(re.findall(pattern, text)), expected, file)
            for command in commands:
                self.assertRegex(text, rf"\b{command}\b", file)

    def test_of_zsh_and_fish_know_the_options_of_each_command(self):
        zsh = (COMPLETIONS / "_sukima").read_text()
        # The part for a command begins where its name is compared.
        parts = dict(zip(*[iter(re.split(r"\$words\[1\] == (\w+) \]\]", zsh)[1:])] * 2))
        fish = (COMPLETIONS / "sukima.fish").read_text()
        for command in commands_in_help():
            expected = options_in_help(command)
            self.assertEqual(set(re.findall(r"--([a-z][a-z-]*)", parts[command])), expected, command)
            in_fish = set(re.findall(rf"^complete -c sukima -n \${command} .*-l ([a-z-]+)", fish, re.MULTILINE))
            # --help is for all commands, and --version of cc is that of sukima.
            self.assertEqual(in_fish, expected - {"help", "version"}, command)

    def test_are_accepted_by_their_shells(self):
        for shell, file in (("bash", "sukima.bash"), ("zsh", "_sukima"), ("fish", "sukima.fish")):
            if shutil.which(shell):
                self.assertEqual(run(shell, "-n", COMPLETIONS / file).stderr, "", shell)

    def completed(self, words):
        """Bash's completions of the last word of a line, in a folder without files and without benchmark programs."""
        script = (f"source '{COMPLETIONS}/sukima.bash'; COMP_WORDS=({words}); "
                  "COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _sukima; printf '%s\\n' \"${COMPREPLY[@]}\"")
        path = f"{PROGRAM.parent}:{os.environ['PATH']}"
        with tempfile.TemporaryDirectory() as folder:
            result = run("bash", "-c", script, environment={"PATH": path, "SUKIMA_BENCH_DIR": "/"}, folder=folder)
        self.assertEqual((result.returncode, result.stderr), (0, ""), words)
        return result.stdout.split()

    def test_of_bash_know_the_options_of_each_command(self):
        for command in commands_in_help():
            completed = {word.strip("-=") for word in self.completed(f"sukima {command} --")} - {""}
            self.assertEqual(completed, options_in_help(command), command)

    def test_of_bash_complete_what_they_should(self):
        for words, expected in (
                ("sukima b", ["bench"]),
                ("sukima bench --work", ["--workers"]),
                ("sukima bench --re", ["--repetitions"]),
                ("sukima bench a", ["all"]),
                ("sukima bench --compiler b", ["best", "both"]),
                ("sukima bench fib --scenario al", ["alone"]),
                ("sukima bench fib --scenario alone,ov", ["alone,overworked"]),
                ("sukima bench fib --peers tbb,op", ["tbb,openmp-gcc", "tbb,openmp-clang",
                                                      "tbb,openmp-gcc-tuned", "tbb,openmp-clang-tuned",
                                                      "tbb,openmp-gcc-active", "tbb,openmp-clang-active"]),
                ("sukima bench --peers s", []),  # neither sequential nor sukima is a peer
                ("sukima bench --size x", [])):
            self.assertEqual(self.completed(words), expected, words)

    def typed(self, shell, line, folder):
        """The words that an interactive shell makes of a line whose last word the tabulator has completed."""
        options, load = {"bash": (("--norc", "--noprofile"), f"source '{COMPLETIONS}/sukima.bash'"),
                         "zsh": (("-f",), f"fpath=('{COMPLETIONS}' $fpath); autoload -Uz compinit; compinit -u -D")}[shell]
        process, terminal = pty.fork()
        if process == 0:
            os.chdir(folder)
            os.environ.update(PATH=f"{PROGRAM.parent}:{os.environ['PATH']}", TERM="dumb", INPUTRC="/dev/null")
            os.execvp(shell, [shell, *options, "-i"])
        with open(terminal, "r+b", buffering=0) as keys:
            keys.write(f"{load}; echo re''ady\n".encode())
            seen = b""
            while b"ready\r\n" not in seen:
                seen += keys.read(4096)
            keys.write(line.encode() + b"\t\x01printf '<%s>' \x05; echo; exit\n")
            with contextlib.suppress(OSError):  # the shell has ended
                while True:
                    seen += keys.read(4096)
        os.waitpid(process, 0)
        return re.findall("<([^<>]*)>", re.findall(r"^(<.*>)\r$", seen.decode(), re.MULTILINE)[-1])

    def test_of_bash_quote_names_and_enter_folders(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("my folder/in it", "plain/inner"):
                (Path(folder) / name).mkdir(parents=True)
            for name in ("re port.json", "a:b.json"):
                (Path(folder) / name).touch()
            for line, expected in (
                    ("sukima probe --root m", ["--root", "my folder/"]),
                    ("sukima probe --root pl", ["--root", "plain/"]),
                    ("sukima probe --root 'my folder/i", ["--root", "my folder/in it/"]),
                    ("sukima run --output re", ["--output", "re port.json"]),
                    ("sukima run --output=re", ["--output=re port.json"]),
                    ("sukima run --output a", ["--output", "a:b.json"]),
                    ("sukima run --round=f", ["--round=floor"]),
                    ("sukima cc -fclosures=f", ["-fclosures=frame"]),
                    ("sukima lab run m", ["run", "my folder/"]),
                    ("sukima run -- ls re", ["--", "ls", "re port.json"]),
                    ("sukima run -- ./m", ["--", "./my folder/"])):
                self.assertEqual(self.typed("bash", line, folder)[2:], expected, line)

    def test_of_zsh_complete_what_they_should(self):
        if not shutil.which("zsh"):
            return
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "re port.json").touch()
            for line, expected in (
                    ("sukima run --output re", ["--output", "re port.json"]),
                    ("sukima run --output=re", ["--output=re port.json"]),
                    ("sukima run --round=f", ["--round=floor"]),
                    ("sukima bench --scenario alone,ov", ["--scenario", "alone,overworked"]),
                    ("sukima bench --hope --scenario alone,kill-2", ["--hope", "--scenario", "alone,kill-2"]),
                    ("sukima bench --hope --scenario alone,n", ["--hope", "--scenario", "alone,none"]),
                    ("sukima cluster run --nod", ["run", "--nodes"]),
                    ("sukima host help rec", ["help", "record"]),
                    ("sukima host explain re", ["explain", "re port.json"]),
                    ("sukima run -- ls re", ["--", "ls", "re port.json"])):
                self.assertEqual(self.typed("zsh", line, folder)[2:], expected, line)

    def test_of_fish_complete_what_they_should(self):
        if not shutil.which("fish"):
            return
        path = f"{PROGRAM.parent}:{os.environ['PATH']}"
        for line, expected in (
                ("sukima bench --compiler b", ["best", "both"]),
                ("sukima bench --scenario alone,ov", ["alone,overworked"]),
                ("sukima bench --scenario kill-", []),
                ("sukima host help re", ["record", "revert"]),
                ("sukima bench --hope --scenario alone,k", ["alone,kill-1", "alone,kill-2", "alone,kill-3"])):
            result = run("fish", "--no-config", "-c", f"source '{COMPLETIONS}/sukima.fish'; complete -C '{line}'",
                         environment={"PATH": path, "HOME": "/nonexistent"})
            words = [line.split("\t")[0] for line in result.stdout.splitlines()]
            self.assertEqual((words, result.stderr), (expected, ""), line)

    def test_of_bash_complete_experiments(self):
        names = {one["name"] for one in json.loads(run(PROGRAM, "lab", "list", "--json").stdout)}
        self.assertGreater(len(names), 5)
        self.assertEqual(set(self.completed("sukima lab run --quick ''")), names)  # and none of the headings
        letter = min(names)[0]
        self.assertEqual(set(self.completed(f"sukima lab run --quick {letter}")), {n for n in names if n[0] == letter})
        self.assertEqual(self.completed(f"sukima lab report {letter}"), [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
