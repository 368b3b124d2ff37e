#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that all names in comments and pages exist: check-citations.py [FOLDER]

Looks at the comments of all sources and scripts, and at README.md, docs/, the other *.md pages and the man pages:
    - a path that begins with a folder of the tree (src/…, docs/…, tests/…) must be a file or folder; a file of a plain
    name (switch.cpp) must be somewhere in the tree; a page's link must lead to a file;
  - a name in backquotes, and each word with an underscore, must occur in code: a function, type, variable, option;
  - every SUKIMA_… variable, target of make and command of sukima must exist;
  - in the code of Python scripts, a path after `ROOT /` must exist, unless the build makes it.
tests/house/foreign_names.txt lists names of the kernel and of other programs, one a line.
"""
import functools
import pathlib
import re
import sys

from source_text import split_comments

CODE = {".c", ".h", ".cpp", ".hpp", ".in", ".tc", ".rs", ".pml", ".go", ".java", ".js"}
SCRIPTS = {".py", ".sh", ".cmake"}
PAGES = {".md", ".1"}
SKIPPED = {"build", ".git", "target", "node_modules", "__pycache__"}
# Inputs of tests: recorded files of kernels, corpora of the fuzzers, texts of other projects.
DATA = ("tests/capacity/zoo", "tests/capacity/places", "tests/capacity/fuzz/corpus", "tests/language/random_text")

FILE = re.compile(r"(?<![\w/.$*<>{}-])((?:[\w.+-]+/)*[\w+-]+\.(?:cpp|hpp|pml|tc|cmake|md))\b(?![\w/*])")
# Names of C headers, C sources and scripts are often foreign, so they are checked only after a folder of ours.
PATH = re.compile(r"(?<![\w/.$*<>{}~-])((?:src|include|docs|scripts|tests|lab|examples|cmake|python|editors"
                  r"|completions)/[\w./+-]*[\w+])(?![\w*<{$…])")
OPENED = re.compile(r'\bROOT / "((?!build\b)[\w./-]+)"')
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
QUOTED = re.compile(r"`([^`\n]+)`")
VARIABLE = re.compile(r"\bSUKIMA_[A-Z][A-Z_0-9]*\b(?!_?[…*])")
MAKE = re.compile(r"(?:^ {4,}(?:\$ )?|`)make ([a-z]+)\b", re.MULTILINE)
COMMAND = re.compile(r"(?:^ {4,}(?:\$ )?|`|^\.B )sukima ([a-z]+)\b", re.MULTILINE)
IDENTIFIER = re.compile(r"(?<![\w./$<{-])[A-Za-z][a-z0-9]*(?:_[a-z0-9]+)+\b(?![/*{<-]|\.\w)")
NAME = re.compile(r"^[A-Za-z_~][\w]*(?:(?:::|\.|->)~?[A-Za-z_]\w*)*(?:\(\))?$")
OPTION = re.compile(r"^(--?[A-Za-z][\w-]*)(?:[= ].*)?$")
OPTION_IN_CODE = re.compile(r"(?<![\w-])--?[A-Za-z][\w-]*")


def all_files(root):
    """The files of the tree, without what was built."""
    for path in sorted(root.rglob("*")):
        relative = path.relative_to(root)
        if path.is_file() and not SKIPPED.intersection(relative.parts):
            yield relative


class Tree:
    """The names that exist in a tree."""

    def __init__(self, root):
        self.root = root
        self.files = list(all_files(root))
        self.names = {path.name for path in self.files} | {path.name.removesuffix(".in") for path in self.files}
        self.texts = []  # (path, what people read)
        self.opened = []  # (path, code of a Python script)
        self.words, self.options = set(), set()
        for path in self.files:
            if str(path).startswith(DATA):
                continue
            suffix = path.suffix
            is_build_file = path.name in {"CMakeLists.txt", "Makefile", "CMakePresets.json"}
            if suffix in PAGES:
                self.texts.append((path, self.read(path)))
                continue
            if suffix not in CODE | SCRIPTS and not is_build_file and path.parts[0] not in {"scripts", ".ci",
                                                                                            "completions", "editors"}:
                continue
            text = self.read(path)
            if text is None:
                continue
            code, comments = split_comments(text, is_script=is_build_file or suffix in SCRIPTS or suffix == "")
            self.texts.append((path, re.sub(r"[^\S\n]+", " ", comments)))  # most of it is blank
            if suffix == ".py":
                self.opened.append((path, code))
            self.words.update(re.findall(r"\w+", code))
            self.options.update(OPTION_IN_CODE.findall(code))
        foreign = root / "tests" / "house" / "foreign_names.txt"
        lines = foreign.read_text(encoding="utf-8").splitlines() if foreign.is_file() else []
        self.foreign = {line.strip() for line in lines if line.strip() and not line.startswith("#")}
        self.used_foreign = set()
        self.targets = set(re.findall(r"^([a-z]+):", self.read(pathlib.Path("Makefile")) or "", re.MULTILINE))
        self.commands = {path.name.removeprefix("sukima-").removesuffix(".1") for path in self.files
                         if path.match("docs/man/sukima-*.1")}

    def read(self, path):
        try:
            return (self.root / path).read_text(encoding="utf-8")
        except (UnicodeDecodeError, FileNotFoundError):
            return None

    def is_foreign(self, name):
        if name in self.foreign:
            self.used_foreign.add(name)
            return True
        return False

    @functools.lru_cache(maxsize=None)
    def has_path(self, cited, beside):
        """Whether it is a path from the root, from the citing file's folder, from src/PART, include/ or lab/."""
        if re.search(r"(?:^|/)[A-Z]+(?:/|\.|$)", cited):
            return True  # src/PART, NAME.tc: it stands for many
        bases = [self.root, self.root / beside.parent, self.root / "include", self.root / "src", self.root / "lab",
                 self.root / "lab" / "benchmarks", self.root / "lab" / "commands"]
        if len(beside.parts) > 2 and beside.parts[0] in {"src", "tests"}:
            bases += [self.root / "src" / beside.parts[1], self.root / "tests" / beside.parts[1]]
        return any((base / cited).exists() or (base / (cited + ".in")).exists() for base in bases)

    def has_name(self, name):
        return all(part in self.words for part in re.findall(r"\w+", name))


def complaints_of(tree, path, text):
    """(offset, complaint) for each name in a text of something that does not exist."""
    for match in PATH.finditer(text):
        cited = match.group(1).rstrip(".")
        if not tree.has_path(cited, path) and not tree.is_foreign(cited):
            yield match.start(), f"there is no {cited}"
    for match in FILE.finditer(text):
        cited = match.group(1)
        if PATH.match(cited) or tree.is_foreign(cited):
            continue
        found = tree.has_path(cited, path) or ("/" not in cited and cited in tree.names)
        if not found:
            yield match.start(), f"no file is called {cited}"
    for match in VARIABLE.finditer(text):
        if match.group() not in tree.words and not tree.is_foreign(match.group()):
            yield match.start(), f"no code knows {match.group()}"
    for match in IDENTIFIER.finditer(QUOTED.sub(lambda quoted: " " * len(quoted.group()), text)):
        if match.group() not in tree.words and not tree.is_foreign(match.group()):
            yield match.start(), f"no code has the name {match.group()}"
    if path.suffix in PAGES:
        for match in LINK.finditer(text):
            if "://" not in match.group(1) and not tree.has_path(match.group(1), path):
                yield match.start(), f"the link leads nowhere: {match.group(1)}"
        for match in MAKE.finditer(text):
            if match.group(1) not in tree.targets:
                yield match.start(), f"the Makefile has no target {match.group(1)}"
        for match in COMMAND.finditer(text):
            if match.group(1) not in tree.commands:
                yield match.start(), f"sukima has no command {match.group(1)}"
    for match in QUOTED.finditer(text):
        quoted = match.group(1).strip()
        option = OPTION.match(quoted)
        if option:
            if option.group(1) not in tree.options and not tree.is_foreign(option.group(1)):
                yield match.start(), f"no code knows the option {option.group(1)}"
        elif NAME.match(quoted) and not FILE.match(quoted) and not tree.has_name(quoted) and not tree.is_foreign(quoted):
            yield match.start(), f"no code has the name {quoted}"


def main():
    if len(sys.argv) > 2:
        print("check-citations.py: too many arguments; give at most the folder of the sources", file=sys.stderr)
        return 2
    root = pathlib.Path(sys.argv[1] if len(sys.argv) == 2 else pathlib.Path(__file__).parent.parent).resolve()
    tree = Tree(root)
    if not tree.texts:
        print(f"check-citations.py: {root} has no sources; give the folder of the sources", file=sys.stderr)
        return 2
    count = 0
    for path, text in tree.texts:
        for offset, complaint in complaints_of(tree, path, text):
            print(f"{path}:{text.count(chr(10), 0, offset) + 1}: {complaint}")
            count += 1
    for path, code in tree.opened:
        for match in OPENED.finditer(code):
            if not (root / match.group(1)).exists():
                print(f"{path}:{code.count(chr(10), 0, match.start()) + 1}: there is no {match.group(1)}")
                count += 1
    for name in sorted(tree.foreign - tree.used_foreign):
        print(f"tests/house/foreign_names.txt: nothing names {name} any more; take it out")
        count += 1
    if count:
        return 1
    print(f"everything that {len(tree.texts)} files name exists")
    return 0


if __name__ == "__main__":
    sys.exit(main())
