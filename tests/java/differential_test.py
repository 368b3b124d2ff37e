#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random programs with nested functions behave as their plain forms: differential_test.py SUKIMA_JAVAC RUNTIME FIRST COUNT

SUKIMA_JAVAC compiles the extended form of COUNT programs with the seeds from FIRST on, and javac the plain form. Both run,
and must write the same. RUNTIME is the archive with the runtime's classes. After a difference, the test prints the folder
in which the sources stay.
"""
import os
import pathlib
import shutil
import sys
import tempfile

import machine
import program_generator

PROGRAMS_PER_FILE = 50


def outputs(compiler, runtime, seeds, is_plain, folder):
    folder.mkdir()
    source = folder / "Programs.java"
    source.write_text(program_generator.source(seeds, is_plain))
    machine.succeeded(compiler("-nowarn", "-d", folder, source))
    return machine.lines_of_program(f"{folder}:{runtime}", "Programs")


def behind_common_start(one, other):
    """The place where the two differ, with some text before it."""
    same = len(os.path.commonprefix([one, other]))
    start = max(0, same - 60)
    return f"at {same}:\nextended: {one[start:same + 120]}\nplain:    {other[start:same + 120]}"


def main():
    compilers, runtime, first, count = machine.Machine(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    folder = pathlib.Path(tempfile.mkdtemp(prefix="sukima-java-"))
    compared = differences = 0
    for start in range(first, first + count, PROGRAMS_PER_FILE):
        seeds = range(start, min(start + PROGRAMS_PER_FILE, first + count))
        part = folder / str(start)
        part.mkdir()
        extended = outputs(compilers.sukima_javac, runtime, seeds, False, part / "extended")
        plain = outputs(compilers.javac, runtime, seeds, True, part / "plain")
        if len(plain) != len(seeds):
            sys.exit(f"{len(seeds)} programs ran, but {len(plain)} of them wrote a line: see {part}")
        for seed, one, other in zip(seeds, extended, plain):
            if one != other:
                print(f"seed {seed}: the sources are in {part}, and the outputs differ {behind_common_start(one, other)}")
                differences += 1
            compared += len(one.split()) > 3
    if differences:
        sys.exit(f"{differences} of {count} programs differ")
    shutil.rmtree(folder)
    if compared < count // 2:
        sys.exit(f"only {compared} of {count} programs wrote more than three values: the generator does too little")
    print(f"{count} programs alike, {compared} of them with more than three values")


if __name__ == "__main__":
    main()
