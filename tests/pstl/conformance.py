#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs libstdc++'s own tests of its parallel algorithms with the header of sukima::pstl.

    conformance.py --checkout FOLDER --library FILE... [--only REGEX] [--jobs N]

FOLDER is a checkout of GCC, of the version whose libstdc++ the compiler uses, or at least its folder
libstdc++-v3/testsuite. The script runs all tests in its folders `pstl`. No program may need TBB.
Exit code: 0 if all pass, 1 if one fails, 2 for wrong use, 77 without a checkout.
"""
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "clients"))
from foreign_suite import SKIPPED, ForeignTest, read_arguments, run_all  # pylint: disable=wrong-import-position

INCLUDE = HERE.parent.parent / "include"


def wanted_tests(checkout):
    suite = checkout / "libstdc++-v3/testsuite"
    options = ["-std=c++20", "-O0", "-w", f"-I{INCLUDE}/sukima/pstl", f"-I{INCLUDE}", f"-I{suite}/util"]
    for source in sorted(suite.glob("*/**/pstl/**/*.cc")):
        only_compiled = "dg-do run" not in source.read_text(encoding="utf-8")
        yield ForeignTest(str(source.relative_to(checkout)), [*options, *(["-c"] if only_compiled else [])],
                          is_run=not only_compiled)


def main():
    chosen = read_arguments(__doc__, "SUKIMA_GCC")
    if not (chosen.checkout / "libstdc++-v3/testsuite/util/pstl").is_dir():
        print(f"skipped: there is no checkout of GCC in '{chosen.checkout}' (set SUKIMA_GCC to its folder)")
        return SKIPPED
    return run_all(chosen, wanted_tests(chosen.checkout))


if __name__ == "__main__":
    sys.exit(main())
