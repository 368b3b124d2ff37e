#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests how `sukima` starts the commands that are programs of their own: dispatcher_test.py PROGRAM"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROGRAM = Path(sys.argv[1]).resolve()
PROGRAMS = PROGRAM.parent.parent / "libexec" / "sukima"
# Each command with its Debian package and CMake option.
PACKAGES = {"bench": ("sukima-bench", "LAB"), "calibrate": ("sukima", "CLI"), "cc": ("sukima-cc", "COMPILER"),
            "cluster": ("sukima-cluster", "CLUSTER"), "guest": ("sukima-host", "HOST"),
            "host": ("sukima-host", "HOST"), "lab": ("sukima-lab", "LAB"), "objects": ("sukima-objects", "OBJECTS")}
LIGHT = ["explain", "probe", "run"]


def run(*command, **environment):
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, stdin=subprocess.DEVNULL,
                          env={**os.environ, **environment})


def built():
    """The commands of this build whose programs are not `sukima` itself, without the compiler."""
    return [name for name in PACKAGES if name != "cc" and (PROGRAMS / f"sukima-{name}").exists()]


class dispatcher(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.prefix = Path(folder.name).resolve()
        self.moved = self.copy(PROGRAM, "bin/sukima")

    def copy(self, file, place):
        copied = self.prefix / place
        copied.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, copied)
        return copied

    def write(self, place, text):
        script = self.prefix / place
        script.parent.mkdir(parents=True, exist_ok=True)
        script.write_text(text)
        script.chmod(0o755)
        return script

    def expect_refused(self, result, sentence):
        self.assertEqual((result.returncode, result.stdout, result.stderr), (2, "", f"sukima: {sentence}\n"))

    def test_names_the_package_of_a_command_that_is_not_installed(self):
        for name, (package, option) in PACKAGES.items():
            for arguments in ([], ["--help"], ["list"]):
                self.expect_refused(
                    run(self.moved, name, *arguments),
                    f"sukima {name} needs the program '{self.prefix}/libexec/sukima/sukima-{name}', which is not installed; "
                    f"install the package {package}, or build Sukima with -DSUKIMA_BUILD_{option}=ON")

    def test_says_why_a_program_cannot_be_started(self):
        script = self.write("libexec/sukima/sukima-lab", "#!/bin/sh\n")
        script.chmod(0o644)
        os.mkdir(self.prefix / "libexec/sukima/sukima-host")
        self.expect_refused(
            run(self.moved, "host"),
            f"sukima host needs the program '{self.prefix}/libexec/sukima/sukima-host', which cannot be started: Permission "
            "denied; install the package sukima-host, or build Sukima with -DSUKIMA_BUILD_HOST=ON")

    def test_finds_programs_without_proc(self):
        self.write("libexec/sukima/sukima-host", "#!/bin/sh\necho here\n")
        hidden = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c",
                  "mount -t tmpfs none /proc && test ! -e /proc/self && exec \"$@\"", "sh"]
        if run(*hidden, "true").returncode != 0:
            self.skipTest("no mounts can be made here")
        for name in (self.moved, os.path.relpath(self.moved)):
            result = run(*hidden, name, "host")
            self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "here\n", ""))

    def test_passes_arguments_output_and_exit_code_on(self):
        self.write("libexec/sukima/sukima-host", "#!/bin/sh\nprintf '%s\\n' \"$0\" \"$@\"; echo wrong >&2; exit 42\n")
        result = run(self.moved, "host", "a b", "--help", "--", "")
        self.assertEqual((result.returncode, result.stdout, result.stderr),
                         (42, f"{self.prefix}/libexec/sukima/sukima-host\na b\n--help\n--\n\n", "wrong\n"))

    def test_light_commands_need_no_other_program(self):
        for name in LIGHT:
            self.assertEqual(run(self.moved, name, "--help").returncode, 0, name)
        self.assertEqual(run(self.moved, "probe", "--threads").returncode, 0)

    def test_help_lists_commands_that_are_not_installed(self):
        text = run(self.moved, "--help").stdout
        for name in [*PACKAGES, *LIGHT]:
            self.assertRegex(text, rf"(?m)^  {name}  ")

    def test_help_before_a_command_is_help_of_the_command(self):
        for name in [*built(), *LIGHT]:
            expected = run(PROGRAM, name, "--help")
            self.assertIn(f"sukima {name} ", expected.stdout)
            for option in ("--help", "-h"):
                self.assertEqual(run(PROGRAM, option, name).stdout, expected.stdout, name)

    def test_programs_can_be_started_directly(self):
        for name in built():
            for arguments in (["--help"], ["--nonsense"]):
                direct, by_sukima = run(PROGRAMS / f"sukima-{name}", *arguments), run(PROGRAM, name, *arguments)
                self.assertEqual((direct.returncode, direct.stdout, direct.stderr),
                                 (by_sukima.returncode, by_sukima.stdout, by_sukima.stderr), name)

    def test_programs_that_were_moved_find_each_other_and_their_data(self):
        self.copy(PROGRAMS / "sukima-bench", "libexec/sukima/sukima-bench")
        self.write("bin/bench-sukima-gcc", "#!/bin/sh\necho fib\n")
        self.write("libexec/sukima/bench-sequential-gcc", "#!/bin/sh\necho fib\n")
        for command in ([self.moved, "bench"], [self.prefix / "libexec/sukima/sukima-bench"]):
            listed = run(*command, "--list", SUKIMA_BENCH_DIR="").stdout
            missing = {line.split()[0] for line in listed.splitlines() if line.endswith("(not installed)")}
            self.assertIn("tbb", missing)
            self.assertFalse(missing & {"sukima", "sequential"}, command)

    def test_an_option_before_the_command_is_one_of_sukima(self):
        self.expect_refused(run(PROGRAM, "--nonsense", "probe"),
                            "unknown option '--nonsense' of sukima: the options are --help and --version")

    def test_a_command_without_its_action_lists_the_actions(self):
        for name, actions in (
                ("cluster", "run or join"), ("host", "list, watch, record, estimate, explain, optimise, act, status, revert or help"),
                ("lab", "list, run, all, report or simulate"), ("objects", "record, plan, validate or calibrate")):
            if name in built():
                for arguments in ([], ["--json", "x"] if name == "cluster" else ["--json"]):
                    self.expect_refused(run(PROGRAM, name, *arguments),
                                        f"no action was given: choose {actions} (see sukima {name} --help)")

    def test_arguments_are_checked_with_a_sentence(self):
        for name, words, sentence in (
                ("cluster", ["walk"], "ACTION: there is no 'walk': choose run or join"),
                ("host", ["walk"],
                 "ACTION: there is no 'walk': choose list, watch, record, estimate, explain, optimise, act, status, revert or help"),
                ("lab", ["walk"], "ACTION: there is no 'walk': choose list, run, all, report or simulate"),
                ("objects", ["walk"], "ACTION: there is no 'walk': choose record, plan, validate or calibrate"),
                ("calibrate", ["--cpus", ",", "--output", "-"],
                 "--cpus: ',' is not a list of CPUs: give numbers from 0 to 65535 and ranges, such as 0-3,8"),
                ("calibrate", ["--cpus", "0-x"],
                 "--cpus: '0-x' is not a list of CPUs: give numbers from 0 to 65535 and ranges, such as 0-3,8"),
                ("run", ["--round", "off", "--", "true"], "--round: there is no 'off': choose floor, ceil or nearest")):
            if name in built():
                self.expect_refused(run(PROGRAM, name, *words), f"{sentence} (see sukima {name} --help)")

    def test_a_tiny_stack_is_refused_with_a_sentence(self):
        if b"__asan_init" in PROGRAM.read_bytes() or b"__tsan_init" in PROGRAM.read_bytes():
            return  # a sanitizer needs more before main begins
        for name in [*built(), *LIGHT]:
            self.assertEqual(run("prlimit", "--stack=65536:", PROGRAM, name, "--help").returncode, 0, name)
            self.expect_refused(run("prlimit", "--stack=49152:", PROGRAM, name, "--help"),
                                "the stack is limited to 48 KiB, and this command needs 64: raise the limit with ulimit -s")

    def test_few_descriptors_are_an_error_with_advice(self):
        sentences = {"probe": "no pipe for the answer of a runtime", "cluster": "no pipe for a node"}
        for name, words in (("probe", ["--runtimes"]), ("cluster", ["run", "--", "true"])):
            if name in [*built(), *LIGHT]:
                done = run("prlimit", "--nofile=6", PROGRAM, name, *words)
                self.assertEqual((done.returncode, done.stdout, done.stderr),
                                 (1, "", f"sukima: {sentences[name]}: Too many open files; let this process open more files: "
                                         "raise the limit with ulimit -n\n"))

    def test_names_the_place_where_no_temporary_folder_can_be_made(self):
        sentence = ("no temporary folder can be made in '/no/such/folder', which TMPDIR names: No such file or directory; "
                    "set TMPDIR to a folder with room where you can write")
        self.expect_refused(run(PROGRAM, "explain", "--", "true", TMPDIR="/no/such/folder"), sentence)
        if "objects" in built():
            self.expect_refused(run(PROGRAM, "objects", "record", "--", "true", TMPDIR="/no/such/folder"), sentence)

    def test_empty_values_are_not_taken_for_options_that_were_left_out(self):
        for name, words, option in (
                ("calibrate", ["--show", "--output", ""], "--output"), ("cluster", ["run", "--json", "", "--", "true"], "--json"),
                ("explain", [""], "FILE"), ("explain", ["--html", "", "--", "true"], "--html"),
                ("guest", ["--port", ""], "--port"), ("host", ["estimate", ""], "VM"), ("host", ["list", "--root", ""], "--root"),
                ("host", ["watch", "--metrics", "", "--count", "1"], "--metrics"), ("host", ["list", "--qmp", ""], "--qmp"),
                ("lab", ["report", "--folder", ""], "--folder"), ("objects", ["record", "--output", "", "--", "true"], "--output"),
                ("probe", ["--root", ""], "--root"), ("probe", ["--record", ""], "--record"),
                ("run", ["--json", "--output", "", "--", "true"], "--output")):
            if name in [*built(), *LIGHT]:
                self.expect_refused(run(PROGRAM, name, *words),
                                    f"{option}: '' was given: give a value, or leave it out (see sukima {name} --help)")

    def test_values_of_flags_are_refused(self):
        for name in [*built(), *LIGHT]:
            flags = re.findall(r"(?m)^  (?:-\w,)?(--[\w-]+)(?: {2}|$)", run(PROGRAM, name, "--help").stdout)
            self.assertIn("--help", flags, name)
            for flag in flags:
                for value in ("=3", "=no", "=true", "={}", "="):
                    self.expect_refused(run(PROGRAM, name, f"{flag}{value}"),
                                        f"{flag} takes no value: leave '{value}' out (see sukima {name} --help)")
        self.expect_refused(run(PROGRAM, "--version=3"), "--version takes no value: leave '=3' out (see sukima --help)")

    def test_the_value_of_an_option_may_look_like_a_flag_with_a_value(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([PROGRAM, "run", "--report", "--output", "--json=x", "--", "true"], cwd=folder,
                                  capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr, os.listdir(folder)), (0, "", ["--json=x"]))

    def test_numbers_are_checked_with_a_sentence(self):
        for option, word, sentence in (
                ("--threads", "x", "'x' is not a whole number: give one from 1 to 65536"),
                ("--threads", "1.5", "'1.5' is not a whole number: give one from 1 to 65536"),
                ("--threads", "0", "0 is out of range: give a whole number from 1 to 65536"),
                ("--threads", "-1", "-1 is out of range: give a whole number from 1 to 65536"),
                ("--threads", "99999999999999999999", "99999999999999999999 is out of range: give a whole number from 1 to 65536"),
                ("--threads", "0x2", "'0x2' is not a whole number: give one from 1 to 65536"),
                ("--threads", "1e3", "'1e3' is not a whole number: give one from 1 to 65536"),
                ("--threads", "2.", "'2.' is not a whole number: give one from 1 to 65536"),
                ("--threads", "++2", "'++2' is not a whole number: give one from 1 to 65536"),
                ("--threads", "08x", "'08x' is not a whole number: give one from 1 to 65536"),
                ("--reserve", "0x2", "'0x2' is not a number: give one from 0 to 65536"),
                ("--reserve", "half", "'half' is not a number: give one from 0 to 65536"),
                ("--reserve", "-0.5", "-0.5 is out of range: give a number from 0 to 65536")):
            self.expect_refused(run(PROGRAM, "run", option + "=" + word, "--", "true"),
                                f"{option}: {sentence} (see sukima run --help)")

    def test_numbers_are_decimal(self):
        """The parser would read 010 as octal, and refuse 08."""
        for word, number in (("010", 10), ("08", 8), ("0001", 1), (" 7", 7), ("+7", 7)):
            done = run(PROGRAM, "run", "--threads", word, "--dry-run")
            self.assertEqual((done.returncode, done.stderr), (0, ""), word)
            self.assertIn(f"\nOMP_NUM_THREADS={number}\n", done.stdout, word)
        for word, number in (("0.5", 2), ("01.5", 1), ("2e0", 1), ("+0.5", 2)):
            done = run(PROGRAM, "run", "--reserve", word, "--dry-run", SUKIMA_CPUS="2.5")
            self.assertIn(f"\nOMP_NUM_THREADS={number}\n", done.stdout, word)

    def test_options_without_a_value_or_with_two_are_refused_with_a_sentence(self):
        for sentence, *words in (("--threads needs a value: write it behind", "run", "--threads"),
                                 ("--threads needs a value: write it behind", "run", "--threads="),
                                 ("--threads was given more than once: give it once", "run", "--threads", "1", "--threads", "2"),
                                 ("--interval was given more than once: give it once", "probe", "--watch", "--interval=1",
                                  "--interval=2")):
            self.expect_refused(run(PROGRAM, *words), f"{sentence} (see sukima {words[0]} --help)")

    def test_words_that_are_repeated_do_not_act_on_the_terminal(self):
        self.assertEqual(run(PROGRAM, "\033[31mx\r").stderr[:37], "sukima: unknown command '?[31mx?': ch")

    def test_words_of_several_lines_make_one_line(self):
        for shown, *words in (("unknown command 'a\\nb': choose", "a\nb"),
                              ("unknown option '--a\\nb' of sukima run", "run", "--a\nb"),
                              ("'a\\nb' cannot be started", "run", "--", "a\nb"),
                              ("'a\\nb' cannot be read", "explain", "a\nb")):
            errors = run(PROGRAM, *words).stderr
            self.assertIn(shown, errors)
            self.assertEqual(errors.count("\n"), 1, errors)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
