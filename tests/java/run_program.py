#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles a program with sukima-javac, and runs it once for each group of arguments:

run_program.py SUKIMA_JAVAC RUNTIME FILE.java [ARGUMENT... [-- ARGUMENT...]]

Arguments that begin with -D or -X are the virtual machine's.
"""
import itertools
import pathlib
import subprocess
import sys
import tempfile

QUICK = ["-Xshare:auto", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]


def main():
    compiler, runtime, source = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    with tempfile.TemporaryDirectory(prefix="sukima-java-") as classes:
        subprocess.run([compiler, "-d", classes, source], check=True)
        groups = [list(group) for is_end, group in itertools.groupby(sys.argv[4:], lambda argument: argument == "--") if not is_end]
        for group in groups or [[]]:
            options = [argument for argument in group if argument.startswith(("-D", "-X"))]
            rest = [argument for argument in group if argument not in options]
            result = subprocess.run(["java", *QUICK, *options, "-cp", f"{classes}:{runtime}", source.stem, *rest])
            if result.returncode != 0:
                sys.exit(f"{source.name} {' '.join(group)} ended with code {result.returncode}")


if __name__ == "__main__":
    main()
