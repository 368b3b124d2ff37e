#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The examples of examples/java print the text of their .expected file, with 1, 2 and 4 workers:
examples_test.py SUKIMA_JAVAC RUNTIME FOLDER"""
import os
import pathlib
import subprocess
import sys
import tempfile

QUICK = ["-Xshare:auto", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]


def run(example, workers, classes, runtime):
    environment = {**os.environ, "SUKIMA_WORKERS": str(workers)}
    result = subprocess.run(["java", *QUICK, "-cp", f"{classes}:{runtime}", example.stem], capture_output=True, text=True, env=environment)
    expected = example.with_suffix(".expected").read_text()
    if (result.returncode, result.stdout) != (0, expected):
        sys.exit(f"{example.name} with {workers} workers ended with code {result.returncode} and printed\n{result.stdout}"
                 f"{result.stderr}instead of\n{expected}")


def main():
    compiler, runtime, folder = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    examples = sorted(example for example in folder.glob("*.java") if example.stem != "Restart")  # needs two runs: checkpoint_test.py
    if len(examples) < 8:
        sys.exit(f"{folder} has {len(examples)} examples; at least eight are expected")
    with tempfile.TemporaryDirectory(prefix="sukima-java-") as classes:
        subprocess.run([compiler, "-d", classes, *examples], check=True)
        for example in examples:
            counts = (1, 2, 4) if "Workers.run" in example.read_text() else (1,)
            for workers in counts:
                run(example, workers, classes, runtime)


if __name__ == "__main__":
    main()
