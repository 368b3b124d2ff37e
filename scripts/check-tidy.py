#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs clang-tidy with the compile database of a build folder in which each source is compiled by itself.

Usage: check-tidy.py [--quick] [--changed REVISION] [--others] [--open] [--minutes N] [--record] [BUILD_FOLDER]

BUILD_FOLDER is build/tidy by default, which `cmake --preset tidy` configures. Without an option all its sources are
checked, in as many processes as there are CPUs. CLANG_TIDY names another clang-tidy than clang-tidy-19. The exit code
is 1 if there are findings, and 2 for wrong use.

A source counts as changed if it, or the header beside it, differs from the revision. If any other header differs, the
nearest source that includes it counts as changed.

scripts/tidy-clean.txt names a commit at which no source had findings, and lists as `open` the sources that had not been
checked by then, or had findings. A whole run without findings records its commit (--record). --open checks the listed
sources, in several runs if necessary.
"""
import argparse
import collections
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
RECORD = ROOT / "scripts" / "tidy-clean.txt"
ABOUT_THE_RECORD = "# At this commit clang-tidy had no findings but perhaps in the sources that are open (scripts/check-tidy.py).\n"
HEADERS = {".h", ".hpp"}
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^">]+)[">]', re.MULTILINE)


def fail(message):
    print(f"check-tidy.py: {message}", file=sys.stderr)
    sys.exit(2)


def git(*arguments):
    """The output of git, or None if it fails."""
    done = subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else None


def database_of(folder):
    """{path from ROOT: entry of the compile database}: each source once, although the benchmark programs compile some
    for two compilers; generated ones are not ours. Where several are compiled as one, each gets that one's entry."""
    found = {}
    for entry in json.loads((folder / "compile_commands.json").read_text(encoding="utf-8")):
        compiled = os.path.realpath(os.path.join(entry["directory"], entry["file"]))
        parts = [compiled]
        if "/Unity/" in compiled and os.path.exists(compiled):
            parts = re.findall(r'^#include "(.*)"$', pathlib.Path(compiled).read_text(encoding="utf-8"), re.MULTILINE)
        for part in parts:
            own = dict(entry)
            if part != compiled:
                own.update(file=part, command=entry["command"].replace(entry["file"], part))
            found.setdefault(os.path.relpath(os.path.realpath(part), ROOT), own)
    return {path: found[path] for path in sorted(found) if not path.startswith(("..", "build/"))}


def read_record():
    """(the commit in RECORD, or None; its open sources)"""
    lines = RECORD.read_text(encoding="utf-8").splitlines() if RECORD.is_file() else []
    lines = [line for line in lines if line and not line.startswith("#")]
    commits = [line for line in lines if not line.startswith("open ")]
    return commits[0] if commits else None, {line.partition(" ")[2] for line in lines if line.startswith("open ")}


def write_record(commit, still_open):
    RECORD.write_text(ABOUT_THE_RECORD + f"{commit}\n" + "".join(f"open {path}\n" for path in sorted(still_open)),
                      encoding="utf-8")


def recorded():
    """The commit in RECORD; None if there is no such file, or the repository has only later commits."""
    commit, _ = read_record()
    return git("rev-parse", "--verify", "-q", f"{commit}^{{commit}}") if commit else None


def changed_lines(revision):
    """{path: changed lines} of the files that differ from the revision."""
    lines = {}
    for row in (git("diff", "--numstat", "--no-renames", revision) or "").splitlines():
        added, removed, path = row.split("\t")
        if added != "-" and (ROOT / path).is_file():
            lines[path] = int(added) + int(removed)
    return lines


def includers():
    """{file name: the files of the repository that include one of that name, with the text between the quotes}"""
    found = collections.defaultdict(list)
    for path in (git("ls-files", "*.h", "*.hpp", "*.c", "*.cpp") or "").splitlines():
        if (ROOT / path).is_file():
            for name in INCLUDE.findall((ROOT / path).read_text(encoding="utf-8", errors="replace")):
                found[name.rpartition("/")[2]].append((path, name))
    return found


def nearest_source(header, all_includers, known):
    """The source that includes the header with the fewest headers in between; None: no source of `known` does."""
    layer, seen = [header], {header}
    while layer:
        above = sorted({path for inner in layer for path, name in all_includers[inner.rpartition("/")[2]]
                        if f"/{inner}".endswith(f"/{name.removeprefix('./')}")} - seen)
        direct = [path for path in above if path in known]
        if direct:
            return direct[0]
        seen |= set(above)
        layer = above
    return None


def changed(revision, known):
    """Those of the sources that have changed since the revision, the most changed lines first."""
    lines = collections.Counter()
    beside = {path.rpartition(".")[0]: path for path in known}
    all_includers = includers()
    for path, count in changed_lines(revision).items():
        source = path if path in known else None
        if source is None and pathlib.PurePath(path).suffix in HEADERS:
            source = beside.get(path.rpartition(".")[0]) or nearest_source(path, all_includers, known)
        if source is not None:
            lines[source] += count
    return sorted(lines, key=lambda path: (-lines[path], path))


def shuffled(paths):
    """In an order that depends on the last commit: with a limit, each commit checks another part."""
    commit = git("rev-parse", "HEAD") or ""
    return sorted(paths, key=lambda path: hashlib.sha256(f"{commit} {path}".encode()).digest())


def chosen(given, known):
    """(the sources to check first, the sources to check afterwards)"""
    still_open = read_record()[1] & set(known)
    if given.open:
        return shuffled(still_open), []
    if given.changed is None:
        return known, []
    if still_open:
        print(f"{len(still_open)} sources are open in {RECORD.relative_to(ROOT)}, and not looked at unless they have changed")
    revision = recorded() if given.changed == "recorded" else git("rev-parse", "--verify", "-q",
                                                                  f"{given.changed}^{{commit}}")
    if revision is None and given.changed != "recorded":
        fail(f"there is no revision '{given.changed}'")
    if revision is None:
        print(f"The commit in {RECORD.relative_to(ROOT)} is not here: all sources count as changed")
        return shuffled(set(known) - still_open), []
    first = changed(revision, known)
    print(f"Of {len(known)} sources {len(first)} have changed since {revision[:12]}")
    return first, shuffled(set(known) - set(first) - still_open) if given.others else []


def look_at(paths, command, until):
    """Runs the command for each path, begins none after `until`. \\return (the paths with findings, those left out)"""
    def one(path):
        if time.monotonic() > until:
            return path, None
        return path, subprocess.run([*command, path], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                    text=True, errors="replace", check=False)
    wrong, left_out = [], []
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for path, done in pool.map(one, paths):
            if done is None:
                left_out.append(path)
            elif done.returncode != 0:
                # What is said on stderr matters only where there is nothing else: the count of suppressed warnings.
                print(done.stdout.strip() or done.stderr.strip(), flush=True)
                wrong.append(path)
    return wrong, left_out


def record():
    if git("status", "--porcelain", "--untracked-files=no") != "":
        fail("not recorded: there are changes that are not committed")
    write_record(git("rev-parse", "HEAD"), ())
    print(f"{RECORD.relative_to(ROOT)} names this commit now; commit it")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="without the static analyzer, a third of the time")
    parser.add_argument("--changed", metavar="REVISION", help="only the sources that have changed since then, those with "
                        "the most changed lines first; 'recorded': since the last whole run without findings")
    parser.add_argument("--others", action="store_true", help="with --changed: the others afterwards, in an order that "
                        "the last commit decides")
    parser.add_argument("--open", action="store_true", help=f"only the sources that are open in "
                        f"{RECORD.relative_to(ROOT)}; those without findings leave that list")
    parser.add_argument("--minutes", type=float, metavar="N", help="begin no source after so long, and say how many are "
                        "left out")
    parser.add_argument("--record", action="store_true", help=f"if nothing is found, write this commit into "
                        f"{RECORD.relative_to(ROOT)}; only for all sources")
    parser.add_argument("folder", nargs="?", type=pathlib.Path, default=ROOT / "build" / "tidy", metavar="BUILD_FOLDER")
    given = parser.parse_args()
    if given.others and given.changed is None:
        fail("--others needs --changed")
    if given.open and given.changed is not None:
        fail("--open and --changed exclude each other")
    if given.record and (given.changed is not None or given.minutes is not None or given.open):
        fail("--record is for a run over all sources: give no other option but --quick")
    if not (given.folder / "compile_commands.json").is_file():
        fail(f"{given.folder} has no compile_commands.json; run 'cmake --preset tidy' first")
    runner = os.environ.get("CLANG_TIDY", "clang-tidy-19")
    if shutil.which(runner) is None:
        fail(f"{runner} is not installed; run scripts/install-dependencies.sh or set CLANG_TIDY")
    database = database_of(given.folder)
    known = list(database)
    if not known:
        fail(f"{given.folder} compiles nothing of this folder; run 'cmake --preset tidy' first")

    first, others = chosen(given, known)
    begun = time.monotonic()
    until = begun + given.minutes * 60 if given.minutes is not None else float("inf")
    with tempfile.TemporaryDirectory() as place:
        (pathlib.Path(place) / "compile_commands.json").write_text(json.dumps(list(database.values())), encoding="utf-8")
        # -Wno-…: the database may come from g++, whose warning options clang need not know.
        command = [runner, "-p", place, "--quiet", "--extra-arg=-Wno-unknown-warning-option",
                   *(["--checks=-clang-analyzer-*"] if given.quick else [])]
        wrong, left_out = look_at([*first, *others], command, until)
    count = len(first) + len(others) - len(left_out)
    if left_out:
        missing = len(set(left_out) & set(first))
        of_changed = f", {missing} of those that have changed" if given.changed is not None else ""
        print(f"After {given.minutes:g} minutes {len(left_out)} sources are left out{of_changed}; 'make tidy' looks at all")
    for path in wrong:
        print(f"findings: {path}")
    print(f"{count - len(wrong)} of {count} sources are free of findings, after {time.monotonic() - begun:.0f} s")
    if given.open and first:
        commit, still_open = read_record()
        still_open -= set(first) - set(wrong) - set(left_out)
        write_record(commit, still_open)
        print(f"{len(still_open)} sources are open still")
    if not wrong and given.record:
        record()
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
