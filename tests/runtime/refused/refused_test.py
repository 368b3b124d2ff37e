#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""refused_test.py COMPILER INCLUDE_FOLDER SOURCE

Checks the compiler's messages about SOURCE. As it is, it must cause none. With REFUSED defined, it must cause one error with
the given words for each comment `// refused: words`, and no other error.
"""
import re
import subprocess
import sys


def errors_of(command):
    """The messages of a compiler's errors."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    found = re.findall(r"error: (.*)", done.stderr)
    return found, done


def one_sentence(compiler, include, options, words):
    """With these options the first error has the words, and the only other error is about a file that does not exist."""
    found, done = errors_of([compiler, *options, "-fsyntax-only", f"-I{include}", "-x", "c++", "-include", "sukima/sukima.hpp",
                             "/dev/null"])
    lines = [line for line in done.stderr.splitlines() if "error: " in line]
    if done.returncode != 0 and found and words in found[0] and len(lines) == 2 and "fatal error: " in lines[1]:
        return True
    print(f"with {options} not one sentence with '{words}' and the end, but:\n{done.stderr[:4000]}")
    return False


def main():
    compiler, include, source = sys.argv[1:]
    command = [compiler, "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wold-style-cast", "-Werror", f"-I{include}", source]
    failed = 0
    for options, words in ((["-std=c++17"], "sukima needs C++20"),
                           (["-std=c++20", "-fno-exceptions"], "sukima reports errors by exceptions")):
        failed += not one_sentence(compiler, include, options, words)
    found, done = errors_of(command)
    if done.returncode != 0:
        print(f"these calls must compile, but:\n{done.stderr}")
        failed += 1
    with open(source, encoding="utf-8") as text:
        wanted = re.findall(r"// refused: (.*)", text.read().partition("namespace {")[2])
    limit = "-ferror-limit=0" if "clang" in compiler else "-fmax-errors=0"
    found, done = errors_of([*command, "-DREFUSED", limit])
    left = list(found)
    for words in wanted:
        match = next((m for m in left if words in m), None)
        if match is None:
            print(f"no error says: {words}")
            failed += 1
        else:
            left.remove(match)
    for message in left:
        print(f"an error more: {message}")
        failed += 1
    if failed:
        print(done.stderr)
    print(f"{len(wanted)} calls refused, {failed} failures")
    return 1 if failed or not wanted else 0


if __name__ == "__main__":
    sys.exit(main())
