#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sources without nested functions pass through sukima-javac: pass_through_test.py SUKIMA_JAVAC RUNTIME WORK

Compiles Commons Lang, as Debian 12 has it, with javac and with sukima-javac. Both make the same class files, byte by byte, so
the library's own tests cannot tell them apart. apt-get fetches the sources into the folder WORK; where it cannot, the exit
code is 77.
"""
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
import check_pass_through

QUICK = ["-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC"]
OPTIONS = ["-nowarn", "-proc:none", "-encoding", "UTF-8"]


def sources(work):
    """The folder of the library's sources, None where they cannot be fetched."""
    work.mkdir(parents=True, exist_ok=True)
    try:
        return check_pass_through.unpack("libcommons-lang3-java", work, "")
    except check_pass_through.skip as reason:
        print(f"commons-lang skipped: {reason}")
        return None


def class_files(command, files):
    with tempfile.TemporaryDirectory(prefix="sukima-java-") as folder:
        result = subprocess.run([*command, *OPTIONS, "-d", folder, *files], capture_output=True, text=True)
        if result.returncode != 0:
            sys.exit(f"{command[0]} ended with code {result.returncode}:\n{result.stderr[-3000:]}")
        root = pathlib.Path(folder)
        return {str(file.relative_to(root)): file.read_bytes() for file in root.rglob("*.class")}


def compare(compiler, runtime, folder):
    files = sorted(str(file) for file in (folder / "src/main/java").rglob("*.java"))
    if len(files) < 150:
        sys.exit(f"{folder} has {len(files)} sources of the library; at least 150 are expected")
    plain = class_files(["javac", *QUICK, "-cp", runtime], files)
    translated = class_files([compiler, "-cp", runtime], files)
    differing = sorted(name for name in plain.keys() | translated.keys() if plain.get(name) != translated.get(name))
    if differing or len(plain) < len(files):
        sys.exit(f"{len(differing)} of {len(plain)} class files differ: {differing[:10]}")
    print(f"{len(files)} sources, {len(plain)} class files: all alike")
    return 0


def main():
    found = sources(pathlib.Path(sys.argv[3]))
    return 77 if found is None else compare(sys.argv[1], sys.argv[2], found)


if __name__ == "__main__":
    sys.exit(main())
