#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sources without nested functions pass through sukima-javac:

pass_through_test.py SUKIMA_JAVAC RUNTIME WORK
pass_through_test.py SUKIMA_JAVAC RUNTIME --folder FOLDER
pass_through_test.py SUKIMA_JAVAC RUNTIME --library FOLDER [CLASS_PATH]

The first form compiles Commons Lang, as Debian 12 has it, with javac and with sukima-javac. Both make the same class files, byte by byte, so
the library's own tests cannot tell them apart. apt-get fetches the sources into the folder WORK; where it cannot, the exit
code is 77. The second form compiles each source below FOLDER alone, such as javac's own tests. A source that javac refuses
must be refused by sukima-javac, too. The third form compiles all sources below FOLDER together, as the first does.
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
    """The folder of the library's sources, or None if they cannot be fetched."""
    work.mkdir(parents=True, exist_ok=True)
    try:
        return check_pass_through.unpack("libcommons-lang3-java", work, "")
    except check_pass_through.skip as reason:
        print(f"commons-lang skipped: {reason}")
        return None


def compiled(command, files):
    """The class files by their paths, and what the compiler wrote; no class files if it failed."""
    with tempfile.TemporaryDirectory(prefix="sukima-java-") as folder:
        result = subprocess.run([*command, *OPTIONS, "-d", folder, *files], capture_output=True, text=True)
        if result.returncode not in (0, 1):
            return None, result.stderr
        root = pathlib.Path(folder)
        found = {str(file.relative_to(root)): file.read_bytes() for file in root.rglob("*.class")}
        return found if result.returncode == 0 else None, result.stderr


def class_files(command, files):
    found, text = compiled(command, files)
    if found is None:
        sys.exit(f"{command[0]} failed:\n{text[-3000:]}")
    return found


def differences(plain, translated):
    return sorted(name for name in plain.keys() | translated.keys() if plain.get(name) != translated.get(name))


def compare_each(compiler, runtime, folder):
    """Compares the sources below a folder one by one."""
    files = sorted(folder.rglob("*.java"))
    if not files:
        sys.exit(f"pass_through_test.py: there is no FILE.java below {folder}; give a folder with Java sources")
    wrong = refused = 0
    for file in files:
        # Tests use classes of sources beside them.
        place = ["-cp", runtime, "-sourcepath", str(file.parent), "-implicit:none"]
        plain, _ = compiled(["javac", *QUICK, *place], [str(file)])
        translated, text = compiled([compiler, *place], [str(file)])
        refused += plain is None
        if (plain is None) != (translated is None):
            print(f"{file}: only {'javac' if plain is None else 'sukima-javac'} refuses it\n{text[:500]}")
        elif plain is not None and differences(plain, translated):
            print(f"{file}: {differences(plain, translated)} differ")
        else:
            continue
        wrong += 1
    print(f"{len(files)} sources, of which javac refuses {refused}; {wrong} are treated differently")
    return 1 if wrong else 0


def compare(compiler, files, class_path):
    plain = class_files(["javac", *QUICK, "-cp", class_path], files)
    translated = class_files([compiler, "-cp", class_path], files)
    differing = differences(plain, translated)
    if differing:
        sys.exit(f"{len(differing)} of {len(plain)} class files differ: {differing[:10]}")
    print(f"{len(files)} sources, {len(plain)} class files: all alike")
    return 0


def commons_lang(compiler, runtime, folder):
    files = sorted(str(file) for file in (folder / "src/main/java").rglob("*.java"))
    if len(files) < 150:
        sys.exit(f"{folder} has {len(files)} sources of the library; at least 150 are expected")
    return compare(compiler, files, runtime)


def library(compiler, runtime, folder, class_path):
    files = sorted(str(file) for file in pathlib.Path(folder).rglob("*.java"))
    if not files:
        sys.exit(f"pass_through_test.py: there is no FILE.java below {folder}; give a folder with Java sources")
    return compare(compiler, files, f"{runtime}:{class_path}")


def main():
    if sys.argv[3] == "--folder":
        if len(sys.argv) != 5 or not pathlib.Path(sys.argv[4]).is_dir():
            sys.exit("pass_through_test.py: --folder needs an existing folder")
        return compare_each(sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[4]))
    if sys.argv[3] == "--library":
        if len(sys.argv) not in (5, 6):
            sys.exit("pass_through_test.py: --library needs a folder, and may have a class path")
        return library(*sys.argv[1:3], sys.argv[4], sys.argv[5] if len(sys.argv) > 5 else "")
    found = sources(pathlib.Path(sys.argv[3]))
    return 77 if found is None else commons_lang(sys.argv[1], sys.argv[2], found)


if __name__ == "__main__":
    sys.exit(main())
