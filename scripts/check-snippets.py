#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the C, C++ and Java code in the documentation is code that the tests compile and run.

Each fenced block marked c, cpp, c++, java or tascell in README.md and docs/*.md must consist of consecutive lines of a
file in examples/. Leading blanks of the whole block do not count: check-snippets.py [FOLDER]
"""
import pathlib
import re
import sys
import textwrap

FENCE = re.compile(r"^( *)```\s*(\w*\+*)\s*$")
LANGUAGES = {"c", "cpp", "c++", "tascell", "java"}


def blocks(text):
    """The fenced blocks of code, each with the number of its first line."""
    start, language, lines = None, "", []
    for number, line in enumerate(text.splitlines(), 1):
        fence = FENCE.match(line)
        if fence and start is None:
            start, language, lines = number + 1, fence.group(2).lower(), []
        elif fence:
            if language in LANGUAGES:
                yield start, lines
            start = None
        elif start is not None:
            lines.append(line)


def normal(lines):
    """The lines without their common indentation, and without blanks at their ends."""
    return [line.rstrip() for line in textwrap.dedent("\n".join(lines)).split("\n")]


def occurs(block, source):
    """Whether the lines of the block are consecutive lines of the source, which may be indented more."""
    wanted = normal(block)
    count = len(wanted)
    return any(normal(source[i:i + count]) == wanted for i in range(len(source) - count + 1))


def main():
    if len(sys.argv) > 2:
        print("check-snippets.py: too many arguments; give at most the folder of the sources", file=sys.stderr)
        return 2
    root = pathlib.Path(sys.argv[1] if len(sys.argv) == 2 else pathlib.Path(__file__).parent.parent).resolve()
    pages = [page for page in [root / "README.md", *sorted((root / "docs").rglob("*.md"))] if page.is_file()]
    if not pages:
        print(f"check-snippets.py: {root} has no README.md and no docs; give the folder of the sources", file=sys.stderr)
        return 2
    sources = [
        path.read_text(encoding="utf-8").splitlines()
        for path in sorted((root / "examples").rglob("*"))
        if path.suffix in {".c", ".cpp", ".h", ".hpp", ".tc", ".java"}
    ]
    found, wrong = 0, 0
    for page in pages:
        for number, block in blocks(page.read_text(encoding="utf-8")):
            found += 1
            if not any(occurs(block, source) for source in sources):
                wrong += 1
                print(f"{page.relative_to(root)}:{number}: this code is in no file of examples/")
    if wrong:
        return 1
    print(f"{found} pieces of code in {len(pages)} pages are parts of examples")
    return 0


if __name__ == "__main__":
    sys.exit(main())
