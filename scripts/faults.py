#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plants the faults of tests/faults.toml, one at a time, and prints which test of the gate found each:
faults.py [--only NAME|PART]... [--minutes N] [--list|--check]

Works on a copy of the sources in build/faults. For each fault it runs the tests that the fault names, without those
with the label `check` or `measure`, until a test fails or hangs for a minute. A finding counts only if the same test
passes three times without the fault. With --minutes it begins no fault after that time. The order of the faults then
depends on the last commit, so each commit tries other faults. It prints a table, and as the last line `N passed, N
failed, 0 skipped`: the numbers of found and of missed faults.
"""
import argparse
import contextlib
import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PLACE = ROOT / "build/faults"
SOURCE = PLACE / "source"
LOCK = PLACE / "lock"
FAILED = re.compile(r"^\s*\d+ - (\S+)", re.MULTILINE)


def run(*command, log):
    with open(log, "a", encoding="utf-8") as out:
        out.write(f"== {' '.join(map(str, command))}\n")
        out.flush()
        return subprocess.run(command, stdout=out, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL).returncode


def take_place():
    """Waits until no other process uses build/faults, and claims it. The caller must keep the result."""
    PLACE.mkdir(parents=True, exist_ok=True)
    lock = open(LOCK, "w", encoding="utf-8")  # noqa: SIM115: its end gives the place back
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        print(f"waiting for another process that uses {PLACE.relative_to(ROOT)}", file=sys.stderr, flush=True)
        fcntl.flock(lock, fcntl.LOCK_EX)
    return lock


def copy_sources():
    """The files that git knows, as they are; a file that is the same keeps its time, so that little is built again."""
    names = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT,
                           capture_output=True, text=True, check=True).stdout.split("\0")
    wanted = {name for name in names if name and (ROOT / name).is_file()}
    for path in [p for p in SOURCE.rglob("*") if p.is_file()] if SOURCE.exists() else []:
        if str(path.relative_to(SOURCE)) not in wanted:
            path.unlink()
    for name in wanted:
        place = SOURCE / name
        if not place.is_file() or place.read_bytes() != (ROOT / name).read_bytes():
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, place)


def build_folder(fault):
    return PLACE / fault.get("sanitizer", "build")


def configure(folder, log):
    sanitizer = "" if folder.name == "build" else folder.name
    kind = ["-DCMAKE_BUILD_TYPE=Debug", "-DSUKIMA_BUILD_COMPILER=OFF"] if sanitizer else ["-DCMAKE_BUILD_TYPE=Release"]
    return run("cmake", "-S", SOURCE, "-B", folder, "-G", "Ninja", *kind, f"-DSUKIMA_SANITIZER={sanitizer}",
               "-DSUKIMA_BUILD_BENCHMARKS=OFF", "-DSUKIMA_INSTALL=OFF", "-DSUKIMA_TEST_TIMEOUT=60", log=log) == 0


def build(folder, targets, log):
    return run("cmake", "--build", folder, "--parallel", str(os.cpu_count()), "--target", *targets, log=log) == 0


def build_all(faults, log):
    """Builds what all of the faults need, without a fault."""
    return all(build(folder, {target for fault in faults if build_folder(fault) == folder for target in fault["targets"]}, log)
               for folder in {build_folder(fault) for fault in faults})


def failing(folder, pattern, log, *options):
    """The first test that fails among those whose names match; None if all pass."""
    log.unlink(missing_ok=True)
    code = run("ctest", "--test-dir", folder, "--parallel", str(os.cpu_count() + 1), "--tests-regex", pattern,
               "--label-exclude", "^(check|measure)$", "--no-tests=error", "--stop-on-failure", *options, log=log)
    if code == 0:
        return None
    names = FAILED.findall(log.read_text(encoding="utf-8", errors="replace").partition("The following tests FAILED")[2])
    return names[0] if names else "?"


@contextlib.contextmanager
def planted(fault):
    """Keeps a fault in the copy of the sources. Yields the number of places like `old`: the fault is planted if that is 1."""
    place = SOURCE / fault["file"]
    text = place.read_text(encoding="utf-8")
    count = text.count(fault["old"])
    try:
        if count == 1:
            place.write_text(text.replace(fault["old"], fault["new"]), encoding="utf-8")
        yield count
    finally:
        if count == 1:
            place.write_text(text, encoding="utf-8")


def try_fault(fault, log):
    """How the fault was found: (a test's name or None, a sentence)."""
    log.unlink(missing_ok=True)
    with planted(fault) as count:
        if count != 1:
            return None, f"{fault['file']} has {count} places like this: correct tests/faults.toml"
        if not build(build_folder(fault), fault["targets"], log):
            return None, f"does not compile, see {log.relative_to(ROOT)}"
        found = failing(build_folder(fault), fault["tests"], log.with_suffix(".tests"))
    if found is None:
        return None, "NOT FOUND"
    return (found, "found by " + found) if found != "?" else (None, f"ctest failed, see {log.relative_to(ROOT)}")


def programs_of_commands():
    """The commands that are programs of their own: sukima-COMMAND, built from src/cli/COMMAND."""
    text = (ROOT / "src/cli/CMakeLists.txt").read_text(encoding="utf-8")
    return {one[1] for one in re.finditer(r"sukima_add_command\((\w+)([^()]*)\)", text) if "COMPONENT" in one[2]}


def missing_program(fault, programs):
    """The program that a fault changes and its tests start, but that its targets do not build; None if there is none."""
    command = re.match(r"src/cli/(\w+)/", fault["file"])
    if command is None or command[1] not in programs or "sukima" not in fault["targets"]:
        return None
    name = f"sukima-{command[1]}"
    return None if name in fault["targets"] else name


def check(faults):
    """Whether each fault can be planted, in code that is built. Prints what is wrong."""
    wrong = 0
    programs = programs_of_commands()
    for i, fault in enumerate(faults):
        place = ROOT / fault["file"]
        count = place.read_text(encoding="utf-8").count(fault["old"]) if place.is_file() else 0
        if count != 1:
            print(f"tests/faults.toml: {fault['name']}: {fault['file']} has {count} places like this; one is wanted")
        twice = fault["name"] in [other["name"] for other in faults[:i]]
        if twice:
            print(f"tests/faults.toml: {fault['name']} is there twice; give one of them another name")
        unbuilt = missing_program(fault, programs)
        if unbuilt:
            print(f"tests/faults.toml: {fault['name']}: its file is a part of {unbuilt}; add that to its targets")
        wrong += count != 1 or twice or unbuilt is not None
    print(f"{len(faults) - wrong} faults can be planted, {wrong} cannot")
    return 1 if wrong else 0


def shuffled(faults):
    """In an order that depends on the last commit."""
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    return sorted(faults, key=lambda fault: hashlib.sha256(f"{commit} {fault['name']}".encode()).digest())


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--only", action="append", help="faults of this name, or of this part")
    arguments.add_argument("--minutes", type=float, help="begin no fault after so many minutes (default: try all)")
    arguments.add_argument("--list", action="store_true", help="print the faults and end")
    arguments.add_argument("--check", action="store_true", help="look whether each can be planted, and end")
    given = arguments.parse_args()
    faults = tomllib.loads((ROOT / "tests/faults.toml").read_text())["fault"]
    if given.only:
        faults = [f for f in faults if f["name"] in given.only or f["part"] in given.only]
    if not faults:
        print("faults.py: no such fault; --list prints them", file=sys.stderr)
        return 2
    if given.list:
        for fault in faults:
            print(f"{fault['name']:32} {fault['part']:14} {fault['why']}")
        return 0
    if given.check:
        return check(faults)
    _place = take_place()
    copy_sources()
    log = PLACE / "configure.log"
    # All targets once, without faults: tests that are not built yet would look like failures.
    if not all(configure(folder, log) for folder in {build_folder(fault) for fault in faults}) or not build_all(faults, log):
        print(f"faults.py: the sources do not build without a fault, see {log}", file=sys.stderr)
        return 1
    start = time.monotonic()
    counts, found_by, not_tried = {True: 0, False: 0}, {}, 0
    for fault in faults if given.minutes is None else shuffled(faults):
        if given.minutes is not None and time.monotonic() - start > given.minutes * 60:
            not_tried += 1
            continue
        test, sentence = try_fault(fault, PLACE / f"{fault['name']}.log")
        if test is not None:
            found_by.setdefault((build_folder(fault), test), []).append(fault)
        counts[test is not None] += 1
        print(f"{fault['name']:32} {fault['part']:14} {sentence}", flush=True)
    # Do these tests pass without the faults?
    if not build_all(faults, PLACE / "end.log"):
        print("the sources do not build any more without a fault")
        return 1
    for (folder, test), those in found_by.items():
        if failing(folder, f"^{re.escape(test)}( |$)", PLACE / "end.tests", "--repeat", "until-fail:3") is not None:
            print(f"{test} fails without a fault, too: it found nothing")
            counts[True] -= len(those)
            counts[False] += len(those)
    if not_tried:
        print(f"{not_tried} faults were not tried in {given.minutes:g} minutes; scripts/faults.py without --minutes tries all")
    print(f"{counts[True]} passed, {counts[False]} failed, 0 skipped")
    return 1 if counts[False] else 0


if __name__ == "__main__":
    sys.exit(main())
