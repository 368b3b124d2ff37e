#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reports functions over 80 lines, classes over 30 methods, files over 400 lines and long pages: check-sizes.py [FOLDER]

Looks at the C and C++ sources in src, include and lab, and at the pages for users that must fit on a screen. A function
or class may be longer if the comment above it gives the reason, and a file if its first comment does, in a line like
this:

    // Long: one case for each opcode, which belong together.

--statistics prints medians, counts of short files and circles of #include lines instead of the findings.

The sources are read as text: a function is a block at file, namespace or class scope after a parameter list, and its
lines are those from the start of its declaration to its closing brace.
"""
import argparse
import pathlib
import re
import statistics
import sys

MOST_LINES = 80
MOST_METHODS = 30
MOST_FILE_LINES = 400
FEW_FILE_LINES = 40
MOST_PAGE_LINES = 60
# Pages for newcomers, who try Sukima with their own programs. Details belong to a page for reference.
SHORT_PAGES = ("docs/bindings.md", "docs/capacity.md", "docs/containers.md", "docs/hello.md", "docs/kubernetes.md",
               "docs/openmp.md", "docs/packages.md", "docs/profilers.md", "docs/standard-algorithms.md", "docs/stdexec.md",
               "docs/tbb.md", "docs/tracing.md", "python/README.md")
SUFFIXES = {".c", ".h", ".cpp", ".hpp"}
REASON = re.compile(r"^\s*(//+|/?\*+)[/!]*\s*Long: \S", re.MULTILINE)
CLASS = re.compile(r"\b(?:class|struct|union)\b(?:\s*\[\[.*?\]\]|\s*alignas\s*\([^()]*(?:\([^()]*\))?[^()]*\))*"
                   r"\s+([\w:]+)[^;=()]*$")
SCOPE = re.compile(r"\b(?:namespace\b[\w:\s\[\]]*|extern\s*\"?\"?)\s*$")
NOT_A_FUNCTION = re.compile(r"^\s*(?:(?:if|for|while|switch|do|else|return|using|friend|static_assert|typedef)\b|$)")


def blank(text):
    """The text without comments, literals and preprocessor lines: blanks in their place, the lines stay."""
    keep_lines = lambda match: re.sub(r"[^\n]", " ", match.group())
    text = re.sub(r'R"([^()\s\\]*)\(.*?\)\1"', keep_lines, text, flags=re.DOTALL)
    token = re.compile(r'//(?:[^\n\\]|\\.|\\\n)*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|(?<![0-9a-fA-F])\'(?:[^\'\\\n]|\\.)+\'',
                       re.DOTALL)
    text = token.sub(keep_lines, text)
    return re.sub(r"^[ \t]*#(?:[^\n\\]|\\.|\\\n)*", keep_lines, text, flags=re.MULTILINE | re.DOTALL)


def without_templates(head):
    """The head of a declaration without `template <...>` and `requires (...)` before it, and without attributes."""
    head = re.sub(r"\[\[.*?\]\]", " ", head, flags=re.DOTALL)
    while match := re.match(r"\s*template\s*<", head):
        depth, at = 1, match.end()
        while at < len(head) and depth:
            depth += {"<": 1, ">": -1}.get(head[at], 0)
            at += 1
        head = head[at:]
    return re.sub(r"\b(?:__attribute__|alignas|noexcept|explicit|requires)\s*\((?:[^()]|\([^()]*\))*\)", " ", head)


def is_function(head):
    """Whether the text before a brace, or before a semicolon, declares a function."""
    head = without_templates(head)
    if NOT_A_FUNCTION.match(head):
        return False
    parameters = re.search(r"(?:\boperator\s*(?:\(\s*\)|[^\s\w(]+|\w+)|[\w~>])\s*\(", head)
    if not parameters or "(*" in head.replace(" ", "")[: head.replace(" ", "").find("(") + 2]:
        return False
    before = head[: parameters.start()]
    return "operator" in head[: parameters.end()] or "=" not in before


class Block:
    """The text between two braces: its kind (scope, class, function, other), name and lines."""

    def __init__(self, kind, name, line):
        self.kind, self.name, self.first_line = kind, name, line
        self.last_line = line
        self.methods = 0


def classify(head, outer):
    if outer.kind not in ("scope", "class"):
        return "other", ""
    if SCOPE.search(head) or re.match(r"\s*extern\s*$", head.strip()):
        return "scope", ""
    plain = without_templates(head)
    if is_function(head):
        names = re.findall(r"(operator\s*[^\s(]+|operator\s*\(\s*\)|~?[\w:]+)\s*\(", plain)
        return "function", names[0] if names else "?"
    if match := CLASS.search(plain):
        return "class", match.group(1)
    return "other", ""


def blocks(text):
    """All functions and classes of a source."""
    code = blank(text)
    top = Block("scope", "", 1)
    stack, found, begin, round_depth, line, first = [top], [], 0, 0, 1, None
    for at, c in enumerate(code):
        if c == "\n":
            line += 1
            continue
        if c.isspace():
            continue
        if first is None:
            first, begin = line, at
        if c in "([":
            round_depth += 1
        elif c in ")]":
            round_depth -= 1
        elif c == "{" and round_depth == 0:
            head = code[begin:at]
            kind, name = classify(head, stack[-1])
            # A member's initialiser in braces, as that of b in `c() : a(x), b{y} {`: the function's body comes later.
            of_constructor = kind == "function" and re.search(r"\)\s*(?:noexcept\s*)?:[^:]", head)
            if stack[-1].kind == "initializer" or (of_constructor and re.search(r"[\w>]\s*$", head)):
                stack.append(Block("initializer", "", first))
                continue
            if kind == "function" and stack[-1].kind == "class":
                stack[-1].methods += 1
            stack.append(Block(kind, name, first))
            first = None
        elif c == "}" and round_depth == 0 and len(stack) > 1:
            block = stack.pop()
            if block.kind == "initializer":
                continue
            block.last_line = line
            if block.kind in ("class", "function"):
                found.append(block)
            first = None
        elif c == ";" and round_depth == 0:
            head = code[begin:at] if first is not None else ""
            if stack[-1].kind == "class" and is_function(head) and not re.search(r"=\s*(?:default|delete)\s*$", head):
                stack[-1].methods += 1
            first = None
        elif c == ":" and round_depth == 0 and re.fullmatch(r"\s*(?:public|private|protected)\s*", code[begin:at]):
            first = None
    return found


def has_reason(lines, line):
    """Whether the comment above line (from 1) gives a reason."""
    at = line - 1
    comment = [lines[at]]
    while at > 0 and re.match(r"\s*(?://|/?\*|template\b|\[\[)", lines[at - 1]):
        at -= 1
        comment.append(lines[at])
    return bool(REASON.search("\n".join(comment)))


def sources(root):
    for folder in ("src", "include", "lab"):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in SUFFIXES and path.is_file():
                yield path


def findings(root):
    """Yields a line for each function, class and file that is too large without a reason."""
    for path in sources(root):
        text = path.read_text(encoding="utf-8")
        lines = text.splitlines()
        place = path.relative_to(root)
        for block in blocks(text):
            if has_reason(lines, block.first_line):
                continue
            size = block.last_line - block.first_line + 1
            if block.kind == "function" and size > MOST_LINES:
                yield f"{place}:{block.first_line}: {block.name} has {size} lines, more than {MOST_LINES}"
            if block.kind == "class" and block.methods > MOST_METHODS:
                yield f"{place}:{block.first_line}: {block.name} has {block.methods} methods, more than {MOST_METHODS}"
        head = re.match(r"(?:\s*//[^\n]*\n|\s*/\*.*?\*/\s*\n)*", text, re.DOTALL).group()
        if len(lines) > MOST_FILE_LINES and not REASON.search(head):
            yield f"{place}: {len(lines)} lines, more than {MOST_FILE_LINES}"
    for name in SHORT_PAGES:
        page = root / name
        count = len(page.read_text(encoding="utf-8").splitlines()) if page.is_file() else 0
        if count > MOST_PAGE_LINES:
            yield f"{name}: {count} lines, more than the {MOST_PAGE_LINES} of a screen"


def included(path, root):
    """The sources of this tree that a source includes."""
    for name in re.findall(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"]+)[>"]', path.read_text(encoding="utf-8"), re.MULTILINE):
        parts = path.relative_to(root).parts
        folders = [path.parent, root / "include", root / "src", root.joinpath(*parts[:2]), root / "lab"]
        for folder in folders:
            file = folder / name
            if file.is_file():
                yield file.resolve()
                break


def circles(graph):
    """The sets of nodes that reach each other, by Tarjan's algorithm."""
    number, low, stack, result = {}, {}, [], []

    def visit(node):
        number[node] = low[node] = len(number)
        stack.append(node)
        for other in graph.get(node, ()):
            if other not in number:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], number[other])
        if low[node] == number[node]:
            members = []
            while not members or members[-1] != node:
                members.append(stack.pop())
            if len(members) > 1:
                result.append(sorted(members))

    for node in graph:
        if node not in number:
            visit(node)
    return result


def print_statistics(root):
    root = root.resolve()
    function_lines, methods, file_lines = [], [], []
    files, folders = {}, {}
    for path in sources(root):
        text = path.read_text(encoding="utf-8")
        file_lines.append(text.count("\n"))
        for block in blocks(text):
            if block.kind == "function":
                function_lines.append(block.last_line - block.first_line + 1)
            else:
                methods.append(block.methods)
        files[path] = set(included(path, root)) - {path}
        for other in files[path]:
            if other.parent != path.parent:
                folders.setdefault(str(path.parent.relative_to(root)), set()).add(str(other.parent.relative_to(root)))
    sys.setrecursionlimit(10000)
    print(f"{len(file_lines)} files: median {statistics.median(file_lines):.0f} lines, longest {max(file_lines)}, "
          f"over {MOST_FILE_LINES} lines {sum(n > MOST_FILE_LINES for n in file_lines)}, "
          f"under {FEW_FILE_LINES} lines {sum(n < FEW_FILE_LINES for n in file_lines)}")
    print(f"{len(function_lines)} functions: median {statistics.median(function_lines):.0f} lines, "
          f"longest {max(function_lines)}, over {MOST_LINES} lines {sum(n > MOST_LINES for n in function_lines)}")
    print(f"{len(methods)} classes: most methods {max(methods)}, over {MOST_METHODS} methods "
          f"{sum(n > MOST_METHODS for n in methods)}")
    between_files, between_folders = circles(files), circles(folders)
    print(f"circles of #include: {len(between_files)} between files, {len(between_folders)} between folders")
    for members in between_folders:
        print(f"  {' '.join(members)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--statistics", action="store_true", help="print figures, not findings")
    parser.add_argument("folder", nargs="?", type=pathlib.Path, default=pathlib.Path(__file__).parent.parent)
    given = parser.parse_args()
    if given.statistics:
        print_statistics(given.folder)
        return 0
    found = list(findings(given.folder))
    for line in found:
        print(line)
    if found:
        print("Make them shorter, or give the reason above them: // Long: REASON")
        return 1
    print(f"{sum(1 for _ in sources(given.folder))} files are of a readable size")
    return 0


if __name__ == "__main__":
    sys.exit(main())
