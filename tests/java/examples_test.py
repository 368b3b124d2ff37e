#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The examples of examples/java print what their .expected file holds: examples_test.py SUKIMA_JAVAC RUNTIME FOLDER"""
import pathlib
import subprocess
import sys
import tempfile


def main():
    compiler, runtime, folder = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    examples = sorted(folder.glob("*.java"))
    if len(examples) < 2:
        sys.exit(f"{folder} has {len(examples)} examples; at least two are expected")
    with tempfile.TemporaryDirectory(prefix="sukima-java-") as classes:
        subprocess.run([compiler, "-d", classes, *examples], check=True)
        for example in examples:
            result = subprocess.run(["java", "-cp", f"{classes}:{runtime}", example.stem], capture_output=True, text=True)
            expected = example.with_suffix(".expected").read_text()
            if (result.returncode, result.stdout) != (0, expected):
                sys.exit(f"{example.name} ended with code {result.returncode} and printed\n{result.stdout}{result.stderr}"
                         f"instead of\n{expected}")


if __name__ == "__main__":
    main()
