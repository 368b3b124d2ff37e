#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that atomic accesses state their memory order and their partner: check-memory-orders.py [FOLDER]

Looks at the sources of the runtime, of objects and of the cluster: src/runtime, src/objects, src/cluster, and their
headers in include/sukima. Each call of load, store, exchange, fetch_… and compare_exchange_… of an atomic must pass a
memory order. One of these comments must be on its line, in the comment block before its statement, or at the
declaration of the atomic:

    // pairs with: take_permit, call_up; arrive in switch.cpp
    // no partner: statistics only

The list ends at a full stop or with the comment block. Each name must occur in the file that follows `in`, or without
`in` in the same file or in the header or source of the same name. At a declaration the list names the functions whose
accesses pair with each other. Operators and conversions of an atomic cannot state an order, so they are findings in all
of src and include (implicit_atomics.py).
"""
import argparse
import pathlib
import re
import sys

import implicit_atomics
from source_text import split_comments

CHECKED = ("src/runtime", "src/objects", "src/cluster", "include/sukima/detail", "include/sukima/objects",
           "include/sukima/cluster")
DECLARED = ("src/runtime", "src/objects", "src/cluster", "include/sukima")
OF_OTHER_PARTS = ("include/sukima/tascell", "include/sukima/capacity")
SUFFIXES = {".cpp", ".hpp", ".h"}

ACCESS = re.compile(r"(?:\.|->)\s*(load|store|exchange|fetch_(?:add|sub|or|and|xor)|compare_exchange_(?:weak|strong)"
                    r"|test_and_set)\s*\(")
DECLARATION = re.compile(r"(?<![\w:])(?:std::)?atomic(?:_flag\b|\s*<)")
NOTE = re.compile(r"\b(?:(pairs with)|(no partner)): ((?:[^.]|\.(?=\w))*)")
PARTNERS = re.compile(r"(?P<names>[\w:~]+(?:, [\w:~]+)*)(?: in (?P<file>[\w/-]+\.(?:cpp|hpp|h)))?")


def part_of(path):
    return next((part for part in ("objects", "cluster") if part in path.parts), "runtime")


def line_of(text, at):
    return text.count("\n", 0, at) + 1


def closing(code, opening):
    """The position of the bracket that closes the one at `opening`."""
    depth = 0
    for at in range(opening, len(code)):
        if code[at] in "([{":
            depth += 1
        elif code[at] in ")]}":
            depth -= 1
            if depth == 0:
                return at
    return len(code)


def object_before(code, end):
    """(name, start) of the object whose member is called at `end`: of `w.slots[i]` it is `slots`."""
    at, inside = end, ""
    while True:
        while at > 0 and code[at - 1].isspace():
            at -= 1
        if at == 0 or code[at - 1] not in ")]":
            break
        depth, close = 0, at
        while at > 0:
            at -= 1
            depth += {")": 1, "]": 1, "(": -1, "[": -1}.get(code[at], 0)
            if depth == 0:
                break
        inside = code[at + 1:close - 1]
    start = at
    while start > 0 and (code[start - 1].isalnum() or code[start - 1] == "_"):
        start -= 1
    name = code[start:at]
    if name in ("", "atomic_ref"):  # (*word).load(), std::atomic_ref(s.on).load()
        words = re.findall(r"\w+", inside)
        name = words[-1] if words else ""
    return name, start


def declared_name(code, match):
    """(name, end) of the declaration with the type at `match`, or None if it declares nothing."""
    at = match.end()
    if code[at - 1] == "<":
        depth = 1
        while at < len(code) and depth:
            depth += {"<": 1, ">": -1}.get(code[at], 0)
            at += 1
    rest = re.compile(r"(?:\s*,\s*\w+\s*>|\s*\[\]\s*>|\s*>|\s*const\b|[\s&*])*\s*(\w+)\s*(?=[;{=,)(:[])").match(code, at)
    return (rest.group(1), rest.end()) if rest else None


class Source:
    def __init__(self, root, path):
        self.path = path.relative_to(root)
        code, comments = split_comments(path.read_text(encoding="utf-8"))
        self.code = re.sub(r'"(?:\\.|[^"\\\n])*"', lambda text: " " * len(text.group()), code)
        self.code_lines = self.code.split("\n")
        self.comment_lines = comments.split("\n")
        self.words = set(re.findall(r"\w+", self.code))
        self.declarations = {}  # name: the notes of its declarations
        for match in DECLARATION.finditer(self.code):
            if found := declared_name(self.code, match):
                name, end = found
                notes = self.notes(line_of(self.code, match.start()), line_of(self.code, end))
                self.declarations.setdefault(name, []).append(notes)

    def comment(self, first, last):
        """The comment on the lines `first` to `last` and in the block before the statement that they belong to."""
        while first > 1 and self.code_lines[first - 2].strip() and not re.search(r"[;{}:]\s*$", self.code_lines[first - 2]):
            first -= 1
        # A comment behind a statement may be continued on the next lines: `///< … \n  ///< …`.
        block = first
        while block > 1 and not self.code_lines[block - 2].strip() and self.comment_lines[block - 2].strip():
            block -= 1
        lines = self.comment_lines[block - 1:last]
        return " ".join(re.sub(r"^\s*(?://+[/!<]*|/?\*+/?)\s*", "", line).strip() for line in lines)

    def notes(self, first, last):
        """[(line, names and file)] of the notes there; a note without a partner has None."""
        return [(first, None if without else text.strip()) for _, without, text in NOTE.findall(self.comment(first, last))]

    def accesses(self):
        """(name, first line, last line, method, arguments) of each access."""
        for match in ACCESS.finditer(self.code):
            name, start = object_before(self.code, match.start())
            if name == "std":
                continue
            end = closing(self.code, match.end() - 1)
            yield (name, line_of(self.code, start), line_of(self.code, end), match.group(1),
                   self.code[match.end():end])


class Tree:
    def __init__(self, root):
        self.sources = [Source(root, path) for folder in DECLARED for path in sorted((root / folder).rglob("*"))
                        if path.suffix in SUFFIXES and not path.relative_to(root).as_posix().startswith(OF_OTHER_PARTS)]
        self.parts = {}
        for s in self.sources:
            self.parts.setdefault(part_of(s.path), []).append(s)
        self.twins_of = {}
        for s in self.sources:
            self.twins_of.setdefault(s.path.with_suffix(""), []).append(s)
        self.checked = [s for s in self.sources if any(s.path.is_relative_to(folder) for folder in CHECKED)]

    def twins(self, source):
        """The source and its header, if it has one, or the reverse."""
        return self.twins_of[source.path.with_suffix("")]

    def declarations(self, source, name):
        """The notes of each declaration that an access to `name` in this source may mean."""
        for candidates in (self.twins(source), self.parts[part_of(source.path)], self.sources):
            found = [notes for s in candidates for notes in s.declarations.get(name, [])]
            if found:
                return found
        return []

    def wrong_partner(self, source, text):
        """The error in the list after `pairs with:`, or None."""
        for group in text.split("; "):
            match = PARTNERS.fullmatch(group.strip())
            if match is None:
                return f"'pairs with: {text}' is not of the form 'NAME, NAME in FILE; NAME'"
            files = self.twins(source)
            if match["file"]:
                files = [s for s in self.sources if ("/" + s.path.as_posix()).endswith("/" + match["file"])]
                if not files:
                    return f"'pairs with' names {match['file']}, which is not in {' or '.join(DECLARED)}"
            for name in match["names"].split(", "):
                if not any(set(re.findall(r"\w+", name)) <= s.words for s in files):
                    return f"'pairs with' names {name}, which is not in {match['file'] or 'this file'}"
        return None

    def findings(self):
        for source in self.checked:
            for name, first, last, method, arguments in source.accesses():
                place = f"{source.path}:{first}"
                while arguments != (outer := re.sub(r"\([^()]*\)", "", arguments)):
                    arguments = outer  # the order of a nested access is not this one's
                if not re.search(r"\b(?:memory_order\w*|order)\b", arguments):
                    yield f"{place}: {name}.{method} has no memory order"
                if source.notes(first, last):
                    continue
                declared = self.declarations(source, name)
                if not declared or not all(declared):
                    yield f"{place}: {name}.{method} names no partner, neither here nor where {name} is declared"
        for source in self.sources:
            for number, _ in enumerate(source.comment_lines, 1):
                if not re.search(r"\bpairs with:", source.comment_lines[number - 1]):
                    continue
                text = self.block_from(source, number)
                for with_partner, _, names in NOTE.findall(text):
                    if with_partner and (wrong := self.wrong_partner(source, names.strip())):
                        yield f"{source.path}:{number}: {wrong}"

    @staticmethod
    def block_from(source, number):
        """The comment from this line on. A comment after code ends with its line."""
        lines, at = [source.comment_lines[number - 1]], number
        while not source.code_lines[number - 1].strip() and at < len(source.comment_lines) and source.comment_lines[at].strip() and not source.code_lines[at].strip():
            lines.append(source.comment_lines[at])
            at += 1
        text = " ".join(re.sub(r"^\s*(?://+[/!<]*|/?\*+/?)\s*", "", line).strip() for line in lines)
        return text[text.index("pairs with:"):]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=pathlib.Path, default=pathlib.Path(__file__).parent.parent)
    given = parser.parse_args()
    tree = Tree(given.folder)
    found = list(tree.findings()) + list(implicit_atomics.findings(given.folder, ("src", "include")))
    for line in found:
        print(line)
    if found:
        print("Write the order, and the partner as '// pairs with: FUNCTION in FILE' or '// no partner: REASON'")
        return 1
    print(f"{sum(len(list(s.accesses())) for s in tree.checked)} atomic accesses state their order and their partner")
    return 0


if __name__ == "__main__":
    sys.exit(main())
