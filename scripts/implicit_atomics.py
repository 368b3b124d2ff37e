# SPDX-License-Identifier: Apache-2.0
"""Finds accesses of atomics that are written as operators or conversions, for check-memory-orders.py.

Such an access cannot state a memory order. A name counts as an atomic if the file, or a header that it includes from
its own folder, declares it as std::atomic, atomic_flag or _Atomic, or by an alias of one of them. The script ignores
names that the same files also declare as something else, and calls that may take the atomic by reference.
"""
import functools
import pathlib
import re

from source_text import split_comments

TYPE = re.compile(r"(?<![\w:])(?:(?:std::)?atomic\s*<|(?:std::)?atomic_(?:flag|bool|u?int|u?long|size_t|uintptr_t)\b"
                  r"|_Atomic\b)")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*["<]([^">\n]+)[">]', re.MULTILINE)
ALIAS = re.compile(r"\busing\s+(\w+)\s*=\s*(?:std::)?atomic\s*<")
# The text between the end of the type and the name: `*`, `&`, and the rest of types such as array<atomic<int>, 3>.
NEXT_NAME = re.compile(r"(?:\s|\bconst\b|\bvolatile\b|[*&>\])(\[]|\d|,\s*\w+\s*(?=>))*(\w+)\s*(?=[;{=,)(\[:])")
BINARY = ("==", "!=", "<=", ">=", "&&", "||", "<<", ">>", "<", ">", "+", "-", "*", "/", "%", "|", "^", "?")
ASSIGNMENT = re.compile(r"(?:=(?!=)|(?:[-+*/%|&^]|<<|>>)=(?!=)|\+\+|--)")
NOT_A_TYPE = {"return", "else", "throw", "delete", "case", "goto", "sizeof", "co_return"}


def line_of(text, at):
    return text.count("\n", 0, at) + 1


def after_bracket(code, at, step=1):
    """The position after the bracket that opens at `at`; with step -1, before the bracket that closes there."""
    depth = 0
    while 0 <= at < len(code):
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(code[at], 0) * step
        at += step
        if depth == 0:
            break
    return at


def after_angles(code, at):
    """The position behind the template argument list that begins behind `at`."""
    depth = 1
    while at < len(code) and depth:
        depth += {"<": 1, ">": -1}.get(code[at], 0)
        at += 1
    return at


class File:
    def __init__(self, path):
        self.path = path
        text = path.read_text(encoding="utf-8")
        self.includes = {pathlib.PurePath(name).name for name in INCLUDE.findall(text)}
        self.has_atomics = "tomic" in text
        self.is_c = path.suffix == ".c"
        self.text = text

    @functools.cached_property
    def code(self):
        """The text without comments, strings and directives that cannot contain an access."""
        code, _ = split_comments(self.text)
        code = re.sub(r"^[ \t]*#[ \t]*(?:include|pragma|if|elif|error)\b.*$", lambda m: " " * len(m.group()), code,
                      flags=re.MULTILINE)
        return re.sub(r'"(?:\\.|[^"\\\n])*"', lambda m: " " * len(m.group()), code)

    def declared(self, aliases):
        """({name: is_pointer}, [(start, end) of the declarations])."""
        names, spans = {}, []
        for match in TYPE.finditer(self.code):
            at = match.end()
            if match.group().endswith("<"):
                at = after_angles(self.code, at)
            elif match.group() == "_Atomic" and self.code[at:at + 1] == "(":
                at = after_bracket(self.code, at)
            elif match.group() == "_Atomic" and not re.match(r"\s+\w+\s*\)", self.code[at:]):
                at += len(re.match(r"(?:\s+(?:const|unsigned|signed|struct|enum)\b)*\s+\w+", self.code[at:]).group())
            self.declarators(match.start(), at, names, spans)
        for alias in aliases:
            for match in re.finditer(rf"(?<![\w:]){alias}\b", self.code):
                self.declarators(match.start(), match.end(), names, spans)
        return names, spans

    def declarators(self, start, at, names, spans):
        found = NEXT_NAME.match(self.code, at)
        while found and not self.code[at:at + 2] == "::":
            names[found.group(1)] = "*" in found.group() or "[]" in found.group()
            at = found.end()
            while at < len(self.code) and self.code[at] in "{[(":
                at = after_bracket(self.code, at)
            spans.append((start, at))
            if self.code[at:at + 1] != "," or "(" in self.line_at(start).split(found.group(1))[0]:
                break  # the end of the statement, or the next parameter
            found = re.compile(r",\s*(\w+)\s*(?=[;{=,\[])").match(self.code, at)

    def line_at(self, at):
        return self.code[self.code.rfind("\n", 0, at) + 1:].split("\n", 1)[0]

    def before(self, at):
        """The code shortly before this position."""
        return self.code[max(0, at - 300):at]

    def declares_plainly(self, name, spans):
        """Whether the name is declared as something else outside the `spans`."""
        if name not in self.code:
            return False  # the usual case, without a search at each word
        for match in re.finditer(rf"(\w+|[>*&])(?:\s+|(?<=[*&>]))[*&]?{name}\b\s*(?=[;={{,)\[:]|\(\s*[\w\"])", self.code):
            if match.group(1) in NOT_A_TYPE or any(a <= match.end() - 1 < b for a, b in spans):
                continue
            if self.looks_like_a_type(match):
                return True
        return bool(re.search(rf"\bauto\s*&?\s*\[[^\]]*\b{name}\b", self.code))

    def looks_like_a_type(self, match):
        """Whether `word name` there declares: `a > name` and `a && name` do not."""
        before = self.before(match.end(1))
        if match.group(1) == ">":
            return bool(re.search(r"\w\s*<[\w:<>,\s*&]*>$", before))
        if match.group(1) in "*&":
            return bool(re.search(r"(?:^|[;{}(,]|\bconst|\bauto|\bstatic)\s*[\w:<>]+[*&]+$", before))
        return True


class Use:
    """One place where a file names an atomic."""

    def __init__(self, file, match, is_pointer):
        self.code, self.at, self.is_pointer, self.is_c = file.code, match.start(), is_pointer, file.is_c
        at = match.end()
        while index := re.compile(r"\s*\[").match(self.code, at):
            at = after_bracket(self.code, index.end() - 1)
        self.next = self.code[at:at + 80].lstrip()
        self.start = self.object_start()
        self.before = self.code[max(0, self.start - 400):self.start].rstrip()
        self.is_member = self.start != self.at and self.code[self.start:self.at].strip() != "this->"

    def object_start(self):
        """Where the expression begins whose last member this is: `a.b(c)->name` begins at `a`."""
        at = self.at
        while True:
            link = re.search(r"(?:\.|->|::)\s*$", self.code[max(0, at - 300):at])
            if not link:
                return at
            at -= len(link.group())
            while at > 0 and self.code[at - 1] in ")]":
                at = after_bracket(self.code, at - 1, -1) + 1
            while at > 0 and (self.code[at - 1].isalnum() or self.code[at - 1] == "_"):
                at -= 1

    def is_address(self):
        return bool(re.search(r"(?:^|[^&\w\])\s])\s*&$", self.before))

    def is_condition(self):
        return bool(re.search(r"(?:\b(?:if|while|switch)\s*|_cast<[^;]*>|\bbool)\($", self.before)) and self.next.startswith(")")

    def binds_reference(self):
        """Whether this is the initialiser of a reference, or of a pointer to it."""
        statement = re.split(r"[;{}]", self.before)[-1]
        return "&" in statement or "atomic" in statement

    def returns_reference(self):
        for match in re.finditer(r"\b(?:atomic\s*<[^;{}()]*>|auto|\w+)\s*&\s+[\w:]+\(", self.code[:self.at]):
            between = self.code[match.end():self.at]
            if between.count("{") > between.count("}"):
                return True
        return False

    def is_implicit(self):
        if self.next.startswith((".", "->", "::", "(")):
            return False
        if self.is_pointer:
            return self.is_dereferenced()
        if self.is_address():
            return False
        if self.is_c:
            is_designator = self.code[self.start] == "."
            return not (is_designator or re.search(r"\bsizeof\s*\(?$", self.before) or self.next.startswith(":"))
        if self.is_condition() or re.search(r"(?:\+\+|--|!|~)$", self.before):
            return True
        if ASSIGNMENT.match(self.next):
            return True
        if self.next.startswith(BINARY) or re.match(r"&(?!&)", self.next):
            return True
        if re.search(r"\breturn$", self.before):
            return not self.returns_reference()
        if re.search(r"(?:[=!<>]=|[-+*/%|^]=|&&|\|\||[/%^|]|<<|[\w)\]]\s*[-+<>*]|[^-]>)$", self.before):
            return True
        return self.before.endswith("=") and not self.binds_reference()

    def is_dereferenced(self):
        if not re.search(r"(?:^|[^\w\])\s*])\s*\*$|\breturn\s*\*$", self.before):
            return False
        outer = self.before[:-1].rstrip()
        if outer.endswith(",") or (outer.endswith("(") and not re.search(r"\b(?:if|while|switch)\s*\($", outer)):
            return bool(ASSIGNMENT.match(self.next)) or self.next.startswith(BINARY)
        return not (outer.endswith("=") and self.binds_reference())


def findings(root, folders):
    """A line for each implicit access in the sources of these folders."""
    files = [File(path) for folder in folders for path in sorted((root / folder).rglob("*"))
             if path.suffix in (".cpp", ".hpp", ".h", ".c")]
    in_folder, by_name = {}, {}
    for file in files:
        in_folder.setdefault(file.path.parent, []).append(file)
        by_name.setdefault(file.path.name, []).append(file)
    for file in files:
        seen = [file] + [other for other in in_folder[file.path.parent] if other is not file
                         and (other.path.name in file.includes or other.path.stem == file.path.stem)]
        if not any(one.has_atomics for one in seen):
            continue
        included = [other for name in file.includes for other in by_name.get(name, []) if other not in seen]
        aliases = {name for one in seen for name in ALIAS.findall(one.code)}
        found = [(one, *one.declared(aliases)) for one in seen]
        own_spans = found[0][2]
        atomics = {}
        for _, names, _ in found:
            atomics.update(names)
        for name, is_pointer in sorted(atomics.items()):
            if any(one.declares_plainly(name, spans) for one, _, spans in found):
                continue
            for match in re.finditer(rf"\b{name}\b", file.code):
                if any(a <= match.start() < b for a, b in own_spans):
                    continue
                use = Use(file, match, is_pointer)
                if not use.is_implicit():
                    continue
                # It may be a member of another type, which another header declares.
                if not (use.is_member and any(one.declares_plainly(name, []) for one in included)):
                    yield (f"{file.path.relative_to(root)}:{line_of(file.code, match.start())}: {name} is used without "
                           "load, store or another function that takes an order")
