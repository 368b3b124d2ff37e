#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Flags unidiomatic English in comments, documentation, messages, test names and commit subjects.

  check-prose.py                 lines added since main (staged, unstaged and committed), and commit subjects since main
  check-prose.py --base REF      the same since REF
  check-prose.py FILE...         every finding in these files
  check-prose.py --all           the whole tree: a count per file, highest first
  check-prose.py --limits FILE   the whole tree against FILE, a line `COUNT PATH` per file: more findings than that are
                                 an error; a file without a line must have none
  check-prose.py --limits FILE --write
                                 lowers the counts of FILE to what is there now; a count never rises

A finding is a place to look at, not a verdict. Rules and examples: docs/contributing.md, "Texts". Exit status: 0 if
nothing was found, 1 otherwise, 2 for wrong use.
"""
import argparse
import functools
import pathlib
import re
import subprocess
import sys

# Where a sentence begins: a line's start, also behind a comment's or a list's mark, or the end of another sentence.
START = r"(?:^|[.;:!?] +|^\s*(?://+!?<?|\*|#|--|-|>)\s*)"
RULES = [
    (START + r"(?:Who|Whoever|Whom|Whose) (?!(?:is|are|was|has|does|can|should) [^.]*\?)[a-z]",
     "name the actor: 'a thread that ...', 'callers that ...'"),
    (r"\b(?:by|from|of|to|for|with|behind) (?:who|whom|whoever) ", "name the actor: 'the thread that ...'"),
    (r"\b(?:[Nn]obody|[Ss]omebody|[Ww]hoever)\b", "name it: 'no worker', 'another thread', 'any caller'"),
    (START + r"So (?:long|often|far|finely|many|late|lately|early|much) (?!as\b)",
     "'How long ...', 'The longest time ...'"),
    (r"\bso (?:long|lately|often) (?:is|are|was|were|a|an|the|it|they)\b", "'for that long', 'that recently'"),
    (START + r"What (?!(?:follows|if|happens|is|are|does|do|to)\b)(?:[a-z']+ ){1,6}(?:is|are|was|goes|does|has|"
     r"needs|stays|lies|stands)\b",
     "start with the noun: 'Data that ...', 'Arguments that ...'"),
    (r"\bwhat is no\b|\b(?:is|are|was|were) no (?!longer|more|less|fewer|better|worse|different|doubt|need|"
     r"reason|way|such|other|different|sooner|later|limit)[a-z]+(?:[.,;:)]|$)",
     "'is not a ...'"),
    (r"\b(?:tells|told|telling) (?!apart|from)(?:of|by|to|all|it|them|others|another|each|every|who|what|once|"
     r"nothing)?\b",
     "report, announce, send, notify, say which"),
    (r"\bmend(?:s|ed|ing)?\b", "fix"),
    (r"\b(?:is|are|was|were) to (?!the\b|a\b|an\b|its\b|this\b|that\b|each\b|[0-9])[a-z]+\b", "must, should, will"),
    (START + r"Nor (?!is this)", "start a new sentence: 'It also does not ...'"),
    (r"\bin vain\b|\bin the mean\b|\bfor good\b|\bat hand\b|\bmeanwhile\b",
     "failed; on average; permanently; available; in the meantime"),
    (r"\binside of\b|\bin place of\b|\boutside of\b", "inside, instead of, outside"),
    (r"\b(?:goes|go|went|travels?|comes?|came) by (?:a |an |the )?(?:second |same |std)",
     "'is sent over', 'travels over', 'arrives on'"),
    (r"\b(?:hears?|heard) (?:of|from) (?:it|them|this|that|others|another|an abort|a loss)\b",
     "is notified of, receives, learns of"),
    (r"\b(?:lies|stands) (?:in|on|at|there|beside|with)\b", "is in, is on"),
    (r"\bits (?:own )?words\b|\bprogram's words\b|\bcommand's words\b", "arguments"),
    (r"\bhas (?:begun|ended) meanwhile\b", "has since started, has since ended"),
    (r"\bbe it\b|\bbecome of\b|\bbecame of\b", "rephrase"),
    (r"\b(?:is|are) over\b", "ends, has finished"),
    (r"\bof whom\b|\bto whom\b|\bfrom whom\b", "of which, to which"),
    (r"\bthe one that\b|\bthose that\b.*\bthose that\b", "repeat the noun"),
]
RULES = [(re.compile(pattern), hint) for pattern, hint in RULES]
# More rules for names of tests. A name may begin with "whose": the name of the suite is its subject.
NAME_RULES = RULES + [(re.compile(pattern), hint) for pattern, hint in [
    (r"^(?:who|whom) ", "name the actor: 'a thread that ...'"),
    (r"^what (?!follows|if|happens)(?:[a-z0-9]+ ){1,6}(?:is|are|was|goes|does|has|needs|stays)\b",
     "start with the noun: 'data that ...'"),
    (r"\b(?:is|are|was|were) no (?!longer|more|less|fewer|better|worse|different|doubt|need|reason|way|sooner|later|"
     r"limit)[a-z]+", "'is not a ...'"),
]]
TEST_NAMES = {
    ".cpp": re.compile(r"^\s*(?:TYPED_)?TEST(?:_F|_P)?\(\w+, (\w+)\)"),
    ".py": re.compile(r"^\s*def test_(\w+)\("),
}
LONG_STRING = re.compile(r'"([^"]{25,})"')
CODE = {".c", ".h", ".cpp", ".hpp", ".cc", ".rs", ".go", ".java", ".tc"}
HASH = {".py", ".sh", ".cmake", ".toml", ".pml"}
# Files whose text is not ours, or is not prose, and this script with its test, which quote what they flag.
SKIPPED = re.compile(
    r"(^|/)(corpus[a-z_]*|papers|recorded|peers/rust/target)(/|$)|\.(svg|png|tree|json|jsonl|lock|expected)$"
    r"|^LICENSE$|^scripts/check-prose\.py$|^tests/house/check_prose_test\.py$")
SUBJECT_START = re.compile(r"(?:A|An|The|What|Who|Where|Each|All|No|Two|Three|Some|It|They)\b")
LONGEST_SUBJECT = 72


@functools.lru_cache(maxsize=1)
def name_and_suffix(path):
    """The last part of a path, and what follows its dot; the lines of a file come one after another."""
    pure = pathlib.PurePosixPath(path)
    return pure.name, pure.suffix


def prose_of(path, line):
    """The part of a line that is prose: comments and long strings of code, all of a page but its code blocks."""
    name, suffix = name_and_suffix(path)
    strings = " ".join(LONG_STRING.findall(line)) if '"' in line else ""
    if suffix == ".md":
        return "" if line.startswith("    ") or line.startswith("|---") else line
    if suffix in CODE:
        comment = re.search(r"//.*|^\s*\*.*|/\*.*", line)
    elif suffix in HASH or name in {"Makefile", "CMakeLists.txt"}:
        comment = re.search(r"#.*|/\*.*|^\s*\*.*|//.*", line)
    else:
        return line if suffix in {".txt", ".1", ""} else ""
    return (comment.group(0) if comment else "") + " " + strings


def test_name_of(path, line):
    """The words of the test's name if a test begins in this line."""
    pattern = TEST_NAMES.get(name_and_suffix(path)[1])
    match = pattern.search(line) if pattern else None
    return match.group(1).replace("_", " ") if match else ""


def findings(path, line):
    """Pairs of a flagged phrase and what to write instead."""
    for text, rules in ((prose_of(path, line), RULES), (test_name_of(path, line), NAME_RULES)):
        if not text or text.isspace():
            continue  # no rule flags blanks, and most lines of code have no prose
        for rule, hint in rules:
            if match := rule.search(text):
                yield match.group(0).strip(), hint


def git(*arguments):
    """What git prints, or the end of the program with its message."""
    done = subprocess.run(["git", *arguments], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        print(f"check-prose.py: git {arguments[0]}: {done.stderr.strip()}", file=sys.stderr)
        sys.exit(2)
    return done.stdout


def lines_of(path):
    """The numbered lines of a file."""
    return enumerate(pathlib.Path(path).read_text(encoding="utf-8", errors="replace").splitlines(), 1)


def added_lines(base):
    """Path, number and text of each line that was added since base."""
    path, number = "", 0
    for line in git("diff", "--unified=0", base).splitlines():
        if line.startswith("+++ "):
            path = line[6:] if line.startswith("+++ b/") else ""
        elif match := re.match(r"@@ -\S+ \+(\d+)", line):
            number = int(match.group(1)) - 1
        elif line.startswith("+"):
            number += 1
            if path and not SKIPPED.search(path):
                yield path, number, line[1:]


def subject_findings(base):
    """A sentence for each commit subject since base that breaks a rule."""
    for line in git("log", "--no-merges", "--format=%h %s", f"{base}..HEAD").splitlines():
        name, _, subject = line.partition(" ")
        if len(subject) > LONGEST_SUBJECT:
            yield f"{name}: {len(subject)} characters ({LONGEST_SUBJECT} at most; details go in the body): {subject}"
        if SUBJECT_START.match(subject):
            yield f"{name}: start with an imperative verb (Fix, Add, Split, Measure ...): {subject}"


def count_tree():
    """The number of findings of each file that has any."""
    counts = {}
    for path in git("ls-files").splitlines():
        if SKIPPED.search(path) or not pathlib.Path(path).is_file():
            continue
        if count := sum(1 for _, line in lines_of(path) for _ in findings(path, line)):
            counts[path] = count
    return counts


def read_limits(path):
    """The recorded counts."""
    limits = {}
    for number, line in lines_of(path):
        if not line or line.startswith("#"):
            continue
        count, _, name = line.partition(" ")
        if not count.isdigit() or not name:
            print(f"check-prose.py: {path}:{number}: '{line}' is not 'COUNT PATH'", file=sys.stderr)
            sys.exit(2)
        limits[name] = int(count)
    return limits


def check_limits(path, write):
    """Compares the tree with the recorded counts: 0 if no file has more findings, 1 otherwise."""
    limits, counts = read_limits(path), count_tree()
    worse = {name: count for name, count in counts.items() if count > limits.get(name, 0)}
    for name, count in sorted(worse.items()):
        print(f"{name}: {count} findings, {limits.get(name, 0)} allowed:")
        for number, line in lines_of(name):
            for phrase, hint in findings(name, line):
                print(f"  {name}:{number}: '{phrase}': {hint}")
    if write:
        kept = {name: min(limit, counts.get(name, 0)) for name, limit in limits.items()}
        comments = [line for _, line in lines_of(path) if line.startswith("#")]
        rows = [f"{count} {name}" for name, count in sorted(kept.items()) if count]
        pathlib.Path(path).write_text("\n".join(comments + rows) + "\n", encoding="utf-8")
    return 1 if worse else 0


def main():
    """Reads the arguments and prints what they ask for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--base", default="main")
    parser.add_argument("--limit", type=int, default=60, help="rows printed at most")
    parser.add_argument("--limits", metavar="FILE")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("files", nargs="*")
    options = parser.parse_args()
    if options.write and not options.limits:
        parser.error("--write goes with --limits FILE")
    if options.limits:
        return check_limits(options.limits, options.write)
    if options.all:
        counts = count_tree()
        for path, count in sorted(counts.items(), key=lambda pair: -pair[1])[: options.limit]:
            print(f"{count:5}  {path}")
        print(f"{sum(counts.values())} findings in {len(counts)} files")
        return 1 if counts else 0
    if options.files:
        lines = [(path, number, line) for path in options.files for number, line in lines_of(path)]
    else:
        lines = added_lines(options.base)
    rows = [f"{path}:{number}: '{phrase}': {hint}" for path, number, line in lines
            for phrase, hint in findings(path, line)]
    if not options.files:
        rows += subject_findings(options.base)
    print("".join(row + "\n" for row in rows[: options.limit]), end="")
    if len(rows) > options.limit:
        print(f"... and {len(rows) - options.limit} more")
    return 1 if rows else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BrokenPipeError:
        sys.exit(1)
