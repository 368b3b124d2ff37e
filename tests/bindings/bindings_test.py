#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A user's project in another language, outside the tree, with an installed Sukima: are its numbers those of `sukima probe`?

bindings_test.py --language rust|go|java|node --cmake PROGRAM --build FOLDER --cache FOLDER [--network]

The cache keeps the compiled parts of Go's library. With --network the test of rayon's pool runs, too, which fetches rayon.
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "clients"))
from clean_environment import CLEAN  # pylint: disable=wrong-import-position
from quota_group import QuotaGroup  # pylint: disable=wrong-import-position

parser = argparse.ArgumentParser()
for option in ("language", "cmake", "build", "cache"):
    parser.add_argument(f"--{option}", required=True)
parser.add_argument("--network", action="store_true")
OPTIONS = parser.parse_args()
WORK = tempfile.TemporaryDirectory()
PREFIX, PROJECT = pathlib.Path(WORK.name, "prefix"), pathlib.Path(WORK.name, "project")
BINDING = PREFIX / "share" / "sukima" / "bindings" / OPTIONS.language
ENVIRONMENT = {**CLEAN, "GOCACHE": str(pathlib.Path(OPTIONS.cache).resolve()), "GOFLAGS": "-mod=mod", "GOPROXY": "off", "GOTOOLCHAIN": "local"}


def run(*command, **options):
    """The output of a command that must succeed."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False,
                          env=ENVIRONMENT, **{"cwd": PROJECT, **options})
    if done.returncode != 0:
        raise AssertionError(f"{command} ended with {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


def need(language, *programs):
    """`make test` installs a JDK only. So the gate tests the other languages where their tools are."""
    for program in programs:
        if shutil.which(program):
            continue
        if language == "java":
            raise unittest.SkipTest(f"{program} is not installed")
        raise unittest.SkipTest(f"{program} is not on this machine")


def build_rust():
    manifest = PROJECT / "Cargo.toml"
    manifest.write_text(manifest.read_text(encoding="utf-8").replace("SUKIMA_BINDING", str(BINDING)), encoding="utf-8")
    run("cargo", "build", "--offline", "--quiet", "--bin", "sample", "--target-dir", PROJECT / "target")
    return [PROJECT / "target" / "debug" / "sample"]


def build_go():
    run("go", "mod", "init", "sample")
    run("go", "mod", "edit", "-require=sukima.local/capacity@v0.1.0", f"-replace=sukima.local/capacity@v0.1.0={BINDING}")
    run("go", "build", "-o", PROJECT / "sample", ".")
    return [PROJECT / "sample"]


def build_java():
    run(BINDING / "build.sh", PROJECT)
    run("javac", "-cp", PROJECT / "sukima-capacity.jar", "-d", PROJECT / "classes", PROJECT / "Sample.java")
    return ["java", "-cp", f"{PROJECT}/sukima-capacity.jar:{PROJECT}/classes", "Sample"]


def need_headers_of_node():
    """Debian's package nodejs has no headers; packages of others have them beside the program."""
    beside = pathlib.Path(shutil.which("node")).resolve().parent.parent / "include" / "node"
    if not any((folder / "node_api.h").is_file() for folder in (beside, pathlib.Path("/usr/include/node"))):
        raise unittest.SkipTest("libnode-dev is not on this machine")


def build_node():
    need_headers_of_node()
    if shutil.which("npm"):
        run("npm", "install", "--offline", "--no-audit", "--no-fund", "--install-links", BINDING)
    else:  # Debian has it in a package with many others: copy the files and run the install script, as npm does
        package = PROJECT / "node_modules" / "sukima-capacity"
        shutil.copytree(BINDING, package)
        run("node", "build.js", cwd=package)
    return ["node", PROJECT / "main.js"]


TOOLS = {"rust": ("cargo", "rustc"), "go": ("go",), "java": ("javac", "java"), "node": ("node",)}
OWN_NUMBER = {"go": {"GOMAXPROCS": "3"},
              "java": {"JAVA_TOOL_OPTIONS": "-Djava.util.concurrent.ForkJoinPool.common.parallelism=2"}}
"""Variables with which the user sets the pool's number to three threads."""
OWN_VARIABLE = {"go": ("GOMAXPROCS", "pool", "3"), "rust": ("RAYON_NUM_THREADS", "asked", "0")}
"""The pool's variable, and what the program prints as which word if the user sets it to 3."""


def setUpModule():
    need(OPTIONS.language, *TOOLS[OPTIONS.language])
    if OPTIONS.language in ("java", "node"):
        ENVIRONMENT["CC"] = "cc -g"  # with an argument, as in make
    for component in ("runtime", "devel", "tools"):
        run(OPTIONS.cmake, "--install", OPTIONS.build, "--component", component, "--prefix", PREFIX, cwd=WORK.name)
    ENVIRONMENT["PKG_CONFIG_PATH"] = str(next(PREFIX.rglob("sukima-capacity.pc")).parent)
    shutil.copytree(HERE / OPTIONS.language, PROJECT)
    Binding.command = [str(word) for word in globals()[f"build_{OPTIONS.language}"]()]


def words_of(output):
    return dict(line.split(" ", 1) for line in output.splitlines())


class Binding(unittest.TestCase):
    command = []

    def start(self, group=None, **variables):
        done = subprocess.run(self.command, capture_output=True, text=True, check=False, env={**ENVIRONMENT, **variables},
                              preexec_fn=group.enter if group else None)
        self.assertEqual(done.returncode, 0, done.stderr)
        return words_of(done.stdout)

    def probe(self, group):
        return json.loads(run(PREFIX / "bin" / "sukima", "probe", "--json", preexec_fn=group.enter))

    def test_the_users_number(self):
        for text, threads in (("1.5", "2"), ("0.25", "1"), ("3", "3")):
            words = self.start(SUKIMA_CPUS=text)
            self.assertEqual(float(words["usable"]), float(text))
            self.assertEqual(words["threads"], threads)
            self.assertIn("SUKIMA_CPUS", words["reason"])
            self.assertEqual(words.get("most", "2147483647"), "2147483647", "of infinitely many CPUs")
            if "pool" in words and OPTIONS.language == "java":
                threads = str(max(2, int(threads)))  # a pool of one thread, and the calling one
            self.assertEqual(words.get("pool", threads), threads)

    def test_a_malformed_number_is_an_error_with_a_sentence(self):
        done = subprocess.run(self.command, capture_output=True, text=True, check=False,
                              env={**ENVIRONMENT, "SUKIMA_CPUS": "many"})
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, "SUKIMA_CPUS.*many")

    def test_an_error_has_the_characters_of_the_variable(self):
        for value, printed in (("ä € \U0001f40c", "ä € \U0001f40c"), (b"b\xfc \xf0\x9f\x90", "b\ufffd ")):
            done = subprocess.run(self.command, capture_output=True, check=False,
                                  env={**ENVIRONMENT, "LC_ALL": "C.UTF-8", "SUKIMA_CPUS": value})
            self.assertEqual(done.returncode, 2)
            self.assertIn(printed, done.stderr.decode(errors="replace"), OPTIONS.language)

    def test_a_quota(self):
        for cpus, threads in ((0.4, "1"), (1.5, "2")):
            if (os.cpu_count() or 1) < cpus:
                self.skipTest("there is one CPU only")
            with QuotaGroup(cpus) as group:
                if group.folder is None:
                    self.skipTest(group.why_not)
                words = self.start(group)
                self.assertEqual(float(words["usable"]), cpus)
                self.assertEqual(words["threads"], threads)
                self.assertGreater(float(words["free"]), 0)
                self.assertLessEqual(float(words["free"]), cpus)
                binding = [limit for limit in self.probe(group)["limits"] if limit["kind"] == "quota" and
                           limit["value"] == cpus]
                self.assertIn(words["reason"], [f"{limit['text']} ({limit['file']})" for limit in binding])

    if OPTIONS.language in OWN_NUMBER:
        def test_a_pool_that_the_user_has_sized_stays(self):
            self.assertEqual(self.start(SUKIMA_CPUS="1", **OWN_NUMBER[OPTIONS.language])["pool"], "3")

    if OPTIONS.language in OWN_VARIABLE:
        def test_values_that_a_pool_ignores_do_not_count_as_the_users_number(self):
            name, word, own = OWN_VARIABLE[OPTIONS.language]
            self.assertEqual(self.start(**{"SUKIMA_CPUS": "1", name: "3"})[word], own)
            for value in ("", "0", "-3", "many", "3.5"):
                self.assertEqual(self.start(**{"SUKIMA_CPUS": "1", name: value})[word], "1", value)

    if OPTIONS.language == "go":
        def test_go_follows_a_quota(self):
            if (os.cpu_count() or 1) < 2:
                self.skipTest("there is one CPU only")
            with QuotaGroup(1.0) as group:
                if group.folder is None:
                    self.skipTest(group.why_not)
                with subprocess.Popen([*self.command, "2"], stdout=subprocess.PIPE, text=True, env=ENVIRONMENT,
                                      preexec_fn=group.enter) as running:
                    lines = [running.stdout.readline() for _ in range(5)]
                    self.assertIn("pool 1\n", lines)
                    group.set(2.0)
                    self.assertEqual(running.stdout.read(), "changed 2\n")

    if OPTIONS.language == "rust" and OPTIONS.network:
        def test_rayon(self):
            manifest = PROJECT / "Cargo.toml"
            before = manifest.read_text(encoding="utf-8")
            manifest.write_text(before.replace("# with rayon: ", ""), encoding="utf-8")
            self.addCleanup(manifest.write_text, before, encoding="utf-8")
            shutil.copy(HERE.parent / "clients" / "rayon" / "Cargo.lock", PROJECT / "Cargo.lock")
            try:
                run("cargo", "fetch", "--quiet")
            except AssertionError as error:
                self.skipTest(f"rayon cannot be fetched here: {error}")
            run("cargo", "build", "--offline", "--quiet", "--bin", "pool", "--target-dir", PROJECT / "target")
            program = PROJECT / "target" / "debug" / "pool"
            for variables, threads in (({"SUKIMA_CPUS": "2.5"}, "3"), ({"SUKIMA_CPUS": "1"}, "1"),
                                       ({"SUKIMA_CPUS": "1", "RAYON_NUM_THREADS": "3"}, "3")):
                output = subprocess.run([program], capture_output=True, text=True, check=True, env={**ENVIRONMENT, **variables})
                self.assertEqual(words_of(output.stdout), {"pool": threads, "sum": "500500"})


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
