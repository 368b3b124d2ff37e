#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plants faults of tests/faults.toml in the simulated runtime, one at a time, and prints how many schedules find each:
faults_test.py [--schedules N] [NAME...]

Without names it plants the faults of faults.txt, and must find each. It works on a copy of the sources, as scripts/faults.py
does. The schedules are always the same. Without a fault all of them must end as expected.
"""
import argparse
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "scripts"))
import faults  # noqa: E402

FOLDER = faults.PLACE / "build"
TARGET = "sukima-simulated-programs"
FIRST = 1
FAILED = re.compile(r"^seed (\d+): (.*)$", re.MULTILINE)


def schedules(count):
    """Runs that many schedules: (the number that was needed, what failed), or None if all ended as expected."""
    done = subprocess.run([FOLDER / "tests/bin" / TARGET, "--seed", str(FIRST), "--count", str(count)],
                          capture_output=True, encoding="utf-8", errors="replace")
    if done.returncode == 0:
        return None
    failed = FAILED.search(done.stderr)
    if failed is None:
        raise SystemExit(f"{TARGET} ended with code {done.returncode} and named no seed: {done.stderr[-400:]}")
    said_before = done.stderr[:failed.start()].splitlines()  # such as a failed assertion, before the signal
    finding = said_before[-1] if said_before and failed[2].startswith("died") else failed[2]
    return int(failed[1]) - FIRST + 1, finding[:120]


def try_fault(fault, count, log):
    """Prints a line about a fault. Returns whether the schedules found it."""
    with faults.planted(fault) as places:
        if places != 1:
            found = f"{fault['file']} has {places} places like this: correct tests/faults.toml"
        elif not faults.build(FOLDER, [TARGET], log):
            found = f"does not compile, see {log.relative_to(ROOT)}"
        else:
            found = schedules(count)
    is_found = isinstance(found, tuple)
    text = f"{found[0]:6} {found[1]}" if is_found else found or "NOT FOUND"
    print(f"{fault['name']:48} {text}", flush=True)
    return is_found


def chosen(names):
    """The faults of these names, in this order."""
    known = {fault["name"]: fault for fault in tomllib.loads((ROOT / "tests/faults.toml").read_text(encoding="utf-8"))["fault"]}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise SystemExit(f"tests/faults.toml has no fault {unknown[0]}; scripts/faults.py --list prints them")
    return [known[name] for name in names]


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--schedules", type=int, default=10000, help="give up after so many (default: 10000)")
    arguments.add_argument("names", nargs="*", metavar="NAME", help="faults to try instead of those of faults.txt")
    given = arguments.parse_args()
    listed = (Path(__file__).parent / "faults.txt").read_text(encoding="utf-8").splitlines()
    tried = chosen(given.names or [line for line in listed if line and not line.startswith("#")])
    _place = faults.take_place()
    faults.copy_sources()
    log = faults.PLACE / "simulated.log"
    log.unlink(missing_ok=True)
    if not faults.configure(FOLDER, log) or not faults.build(FOLDER, [TARGET], log):
        raise SystemExit(f"the sources do not build without a fault, see {log.relative_to(ROOT)}")
    wrong = schedules(given.schedules)
    if wrong is not None:
        raise SystemExit(f"without a fault schedule {wrong[0]} fails: {wrong[1]}")
    missed = sum(not try_fault(fault, given.schedules, log) for fault in tried)
    print(f"{len(tried) - missed} of {len(tried)} faults found")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
