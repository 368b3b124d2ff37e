#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Changes one file a little, in many ways, and lists the changes that no test of the gate notices: mutants.py FILE

The changes come from universalmutator (PyPI), which the script installs into a virtual environment in build/mutants. It
draws some of them by a seed, and tries each like a deliberate fault of tests/faults.toml. A change that survives needs
a test, or a reason why it changes nothing. The targets and tests are those that the faults of the same file name,
otherwise those of its part.
"""
import argparse
import difflib
import pathlib
import random
import subprocess
import sys
import tomllib

import faults

PLACE = faults.ROOT / "build/mutants"
PACKAGE = "universalmutator==1.14.1"


def give_up(text):
    print(f"mutants.py: {text}", file=sys.stderr)
    sys.exit(2)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", help="the source file, from the root of the project")
    parser.add_argument("--count", type=int, default=20, help="how many changes are tried (20)")
    parser.add_argument("--seed", type=int, help="of the draw (a fresh one, which is printed)")
    parser.add_argument("--targets", nargs="+", metavar="TARGET", help="what to build")
    parser.add_argument("--tests", metavar="REGEX", help="which tests to run")
    given = parser.parse_args()
    if not (faults.ROOT / given.file).is_file():
        give_up(f"there is no file '{given.file}'; give it from the root of the project, as src/runtime/join/join.cpp")
    return given


def where_tested(given):
    """(targets, tests) of the faults of the same file, or else of its part."""
    if given.targets and given.tests:
        return given.targets, given.tests
    known = [f for f in tomllib.loads((faults.ROOT / "tests/faults.toml").read_text())["fault"] if "sanitizer" not in f]
    folder = given.file.split("/")[:2]
    those = [f for f in known if f["file"] == given.file] or [f for f in known if f["file"].split("/")[:2] == folder]
    if not those:
        give_up(f"no fault of tests/faults.toml lies near '{given.file}': give --targets and --tests")
    return (given.targets or sorted({target for f in those for target in f["targets"]}),
            given.tests or "|".join(sorted({f["tests"] for f in those})))


def mutator():
    """The program of universalmutator."""
    program = PLACE / "venv/bin/mutate"
    if not program.is_file():
        for command in ([sys.executable, "-m", "venv", PLACE / "venv"], [PLACE / "venv/bin/pip", "install", "-q", PACKAGE]):
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                give_up(f"{PACKAGE} cannot be installed: {done.stderr.strip().splitlines()[-1:]}; it needs PyPI")
    return program


def is_code(line):
    return line.strip(" \t{}();") != "" and not line.lstrip().startswith(("//", "/*", "#", "*", "}  // namespace", "namespace"))


def changes(given):
    """All changes: (line, the old text, the new text, the whole file)."""
    source = faults.ROOT / given.file
    folder = PLACE / "all"
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    language = {".c": "c", ".h": "c"}.get(source.suffix, "cpp")
    subprocess.run([mutator(), source, language, "--noCheck", "--mutantDir", folder], capture_output=True, check=True)
    before = source.read_text()
    found = {}
    for one in sorted(folder.iterdir()):
        after = one.read_text()
        changed = [line for line in difflib.ndiff(before.splitlines(), after.splitlines()) if line[0] in "+-"]
        old, new = ([line[2:] for line in changed if line[0] == sign] for sign in "-+")
        # A line that is only removed or added counts as a change, a brace or a comment does not.
        if any(is_code(line) for line in old + new) and "".join(old).split() != "".join(new).split():
            first = next(i for i, pair in enumerate(zip(before.splitlines() + [""], after.splitlines() + [""]), 1)
                         if pair[0] != pair[1])
            found[after] = (first, " ".join(old).strip(), " ".join(new).strip(), after)
    return list(found.values())


def try_change(given, text, targets, tests, log):
    """'does not compile', the name of the test that fails, or None."""
    place = faults.SOURCE / given.file
    before = place.read_text()
    try:
        place.write_text(text)
        if not faults.build(faults.PLACE / "build", targets, log):
            return "does not compile"
        return faults.failing(faults.PLACE / "build", tests, log.with_suffix(".tests"))
    finally:
        place.write_text(before)


def main():
    given = parse_arguments()
    targets, tests = where_tested(given)
    seed = given.seed if given.seed is not None else random.randrange(10**6)
    all_changes = changes(given)
    random.Random(seed).shuffle(all_changes)
    print(f"{len(all_changes)} changes of {given.file}; seed {seed}; tests {tests}", flush=True)
    _place = faults.take_place()
    faults.copy_sources()
    log = PLACE / "build.log"
    build = faults.PLACE / "build"
    if not faults.configure(build, log) or not faults.build(build, targets, log):
        give_up(f"the sources do not build without a change, see {log}")
    if (test := faults.failing(build, tests, PLACE / "before.tests")) is not None:
        give_up(f"{test} fails without a change")
    survived = killed = 0
    for line, old, new, text in all_changes:
        if killed + survived == given.count:
            break
        outcome = try_change(given, text, targets, tests, PLACE / "change.log")
        if outcome == "does not compile":
            continue
        killed += outcome is not None
        survived += outcome is None
        print(f"{given.file}:{line}: {'SURVIVED' if outcome is None else 'found by ' + outcome}\n  - {old}\n  + {new}", flush=True)
    faults.build(build, targets, log)
    print(f"{killed} passed, {survived} failed, 0 skipped")
    return 1 if survived else 0


if __name__ == "__main__":
    sys.exit(main())
