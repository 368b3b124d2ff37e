#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs oneTBB's own tests of algorithms with the headers of sukima::tbb.

    conformance.py --checkout FOLDER --library FILE... [--only REGEX] [--jobs N]

FOLDER is a checkout of oneTBB (https://github.com/uxlfoundation/oneTBB). Its tests see Sukima's headers first, and take only
internal headers from the checkout. The folder stand_ins has everything else that their common headers need. A header in
stand_ins/before is included before the test of its name. The list of tests is in conformance.txt beside this file.
Exit code: 0 if all pass, 1 if one fails, 2 for wrong use, 77 without a checkout.
"""
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "clients"))
from foreign_suite import SKIPPED, ForeignTest, read_arguments, run_all  # pylint: disable=wrong-import-position

INCLUDE = HERE.parent.parent / "include"


def wanted_tests(checkout):
    """A test for each line of conformance.txt."""
    options = ["-std=c++20", "-O1", "-w", f"-I{HERE}/stand_ins", f"-I{INCLUDE}/sukima/tbb-compat", f"-I{INCLUDE}",
               f"-I{checkout}", f"-I{checkout}/test", f"-I{checkout}/test/common", f"-I{checkout}/include",
               "-include", "oneapi/tbb/detail/_utils.h"]
    for line in (HERE / "conformance.txt").read_text().splitlines():
        words = line.split("#")[0].split()
        if not words:
            continue
        source, *arguments = words
        before = HERE / "stand_ins/before" / f"{pathlib.PurePath(source).stem}.h"
        included = ["-include", str(before)] if before.is_file() else []
        yield ForeignTest(source, [*options, *included], arguments)


def main():
    chosen = read_arguments(__doc__, "SUKIMA_ONETBB")
    if not (chosen.checkout / "test" / "conformance").is_dir():
        print(f"skipped: there is no checkout of oneTBB in '{chosen.checkout}' (set SUKIMA_ONETBB to its folder)")
        return SKIPPED
    return run_all(chosen, wanted_tests(chosen.checkout))


if __name__ == "__main__":
    sys.exit(main())
