#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that `sukima cc` passes C through untouched: real sources, read as the Tascell language.

    check_pass_through.py --sukima PROGRAM [--backend COMPILER]... [--work FOLDER] PART...

Each PART is compiled with `sukima cc -x tc`, so that it goes through the whole compiler. The program must then behave
as if the C compiler had built it alone:

    headers       all headers of the C library that can be included together
    tcc           the test programs of TinyCC, with the output that they expect
    lua           Lua, with a program that uses all of its libraries
    amalgamation  SQLite as one file, with a program that sorts, joins, counts and rolls back
    torture       gcc's C-torture programs: 1600, some minutes
    sqlite        SQLite with its own 255,000 tests (veryquick.test); 15 minutes; needs tcl-dev, and not to be root

The sources are those of Debian 12. apt-get fetches them into FOLDER and checks their signatures, and this script checks
their checksums. SQLite as one file is in a crate, which cargo fetches. If a part cannot be fetched, the exit code is 77
and a message names the part.
"""
import argparse
import concurrent.futures
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCES = {  # package: (file, sha256)
    "tcc": ("tcc_0.9.27+git20200814.62c30a4a.orig.tar.bz2",
            "d63c113bcdd657f51c8ee197a0b0a24203603313e19a52b5f678d40ab7f5df35"),
    "lua5.4": ("lua5.4_5.4.4.orig.tar.gz", "164c7849653b80ae67bec4b7473b884bf5cc8d2dca05653475ec2ed27b9ebf61"),
    "sqlite3": ("sqlite3_3.40.1.orig.tar.xz", "aaa776260ab4dc976db34aa7891819484c8676b5b2783123ebc6301e2ca5d655"),
    "libcommons-lang3-java": ("libcommons-lang3-java_3.12.0.orig.tar.xz",  # for tests/java/pass_through_test.py
                              "f7c22574707611b63bae19ff17f59e24cdd32e2b0e61a50ec9b1b525fbc909d1"),
    "gcc-12": ("gcc-12_12.2.0.orig.tar.gz", "b8298be16aeeb96a889c6afed0a8e2241b47452e89cc81fe65ea849d5c740fcb"),
}
# Refused with a reason: nested functions are written with `closure`, and some of gcc's extensions Clang cannot read.
REFUSALS = re.compile("a nested function is written with 'closure'|Clang 19 reads .tc files")
NOT_THE_LANGUAGE = {
    "920721-4": "a function named try, a word of the language",
    "991014-1": "an array larger than Clang allows",
    "pr85331": "__builtin_shuffle, which Clang does not know", "pr94591": "__builtin_shuffle",
    "return-addr": "it prints addresses",
}
AMALGAMATION = {  # the crate that holds SQLite as one file
    "version": "0.30.1", "sha256": "c01235302fe80da901fb70c7622c39147e29d9f29b7f6eb746b23517f320c90d",
}
SQL_PROGRAM = r"""
#include <stdio.h>
#include <stdlib.h>
#include "sqlite3.h"
static int row(void *unused, int n, char **values, char **names) {
  for (int k = 0; k < n; k++) printf("%s=%s%c", names[k], values[k] ? values[k] : "NULL", k + 1 < n ? '|' : '\n');
  return unused != 0;
}
int main(void) {
  static const char *const script[] = {
    "create table t(a integer primary key, b text, c real)", "create index tb on t(b, c desc)",
    "with recursive n(k) as (select 1 union all select k + 1 from n where k < 20000) "
    "insert into t select k, printf('%05x', k * 7919 % 65536), k * 0.37 from n",
    "select count(*), sum(a), round(avg(c), 6), min(b), max(b) from t",
    "select b, count(*) over (order by b rows 3 preceding), lag(a, 2) over (order by b) from t order by b desc limit 5",
    "select x.a, y.b from t x join t y on x.a = y.a * 3 where y.b like '0%f' order by x.c desc limit 4",
    "begin", "delete from t where a % 2", "select count(*), total(c) from t", "rollback",
    "select count(*), group_concat(b, ',') from (select b from t where b glob '*[ab]' order by a limit 6)",
    "update t set c = null where a between 100 and 199", "select typeof(c), count(*) from t group by 1 order by 2",
    "select * from t where b > '0fff' union select 0, hex(zeroblob(2)), abs(-1.5) order by 1 limit 3",
    "pragma integrity_check", "vacuum", "select * from missing"};
  sqlite3 *db;
  if (sqlite3_open(":memory:", &db) != SQLITE_OK) return 1;
  for (size_t k = 0; k < sizeof script / sizeof *script; k++) {
    char *message = 0;
    if (sqlite3_exec(db, script[k], row, 0, &message) != SQLITE_OK) printf("%s\n", message);
    sqlite3_free(message);
  }
  return sqlite3_close(db);
}
"""
LUA_PROGRAM = """
local t = {} for i = 1, 1000 do t[i] = (i * 7919) % 1009 end table.sort(t)
local c = coroutine.wrap(function(a) for i = 1, 5 do a = a + coroutine.yield(a * i) end return a end)
print(#t, t[1], t[1000], c(1), c(2), c(3), pcall(error, {}) and 1 or 0, select('#', pcall(string.rep)))
print(string.format("%5.2f|%-8s|%q|%x", math.pi, "abc", "a\\nb", 255), ("x1y22"):gsub("%d+", "<%0>"))
print(utf8.char(228, 8364), #utf8.char(8364), os.time{year = 2000, month = 1, day = 1, hour = 12} > 0, 7 // 2, 7 % -3)
print(string.pack("<i4z", 7, "q"):byte(1, -1)) local s <close> = setmetatable({}, {__close = function() print "shut" end})
local f = load "local a, b = ... goto e; ::e:: return a << b, a / b" print(f(3, 4)) collectgarbage() print(next({}))
"""


class skip(Exception):
    """Prints why nothing can be tested here, and ends the script."""


def run(command, timeout=120, folder=None):
    try:
        return subprocess.run([str(word) for word in command], capture_output=True, text=True, errors="replace",
                              timeout=timeout, stdin=subprocess.DEVNULL, cwd=folder)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, -1, "", f"longer than {timeout} s")


def fetch(package, work):
    """The source archive of a package of Debian 12, in `work`."""
    name, checksum = SOURCES[package]
    archive = work / name
    if not archive.exists():
        key = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
        if shutil.which("apt-get") is None or not key.exists():
            raise skip("apt-get and Debian's keys are needed to fetch the sources")
        lists = work / "apt"
        for folder in ("sources.d", "lists/partial", "cache/archives/partial"):
            (lists / folder).mkdir(parents=True, exist_ok=True)
        (lists / "sources.d/debian.sources").write_text(
            "Types: deb-src\nURIs: http://deb.debian.org/debian\nSuites: bookworm bookworm-updates\nComponents: main\n"
            f"Signed-By: {key}\n")
        apt = ["apt-get", "-q", "-o", "Dir::Etc::sourcelist=/dev/null", "-o", f"Dir::Etc::sourceparts={lists}/sources.d",
               "-o", f"Dir::State::lists={lists}/lists", "-o", f"Dir::Cache={lists}/cache",
               "-o", "Acquire::http::Timeout=10", "-o", "Acquire::Retries=1"]
        for command in (["update"], ["source", "--download-only", package]):
            result = run(apt + command, 300, work)
            if result.returncode != 0:
                raise skip(f"apt-get {command[0]} failed: {(result.stderr.strip() or result.stdout.strip())[-200:]}")
    if not archive.exists():
        raise skip(f"Debian has another version of {package} than {name}")
    if hashlib.sha256(archive.read_bytes()).hexdigest() != checksum:
        archive.unlink()
        raise SystemExit(f"check_pass_through.py: {name} has another checksum than it should; it was removed")
    return archive


def unpack(package, work, pattern):
    folder = work / package
    if not folder.exists():
        archive = fetch(package, work)
        partial = work / (package + ".partial")
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir()
        if package == "gcc-12":  # an archive in an archive
            command = (f"tar xzOf '{archive}' gcc-12-12.2.0/gcc-12.2.0-dfsg.tar.xz | tar xJ -C '{partial}' --wildcards "
                       f"'{pattern}'")
        else:
            command = f"tar xf '{archive}' -C '{partial}'"
        result = run(["bash", "-c", "set -o pipefail; " + command], 300)
        if result.returncode != 0:
            raise SystemExit(f"check_pass_through.py: {archive} cannot be unpacked: {result.stderr[-300:]}")
        partial.rename(folder)
    inside = list(folder.iterdir())
    return inside[0] if len(inside) == 1 else folder


class checker:
    def __init__(self, sukima, backends, work):
        self.sukima, self.backends, self.work = sukima, backends, work
        self.wrong = []

    def fail(self, text):
        self.wrong.append(text)
        print("FAILED:", text, flush=True)

    def through(self, backend):
        return [self.sukima, "cc", f"--backend={backend}", "-x", "tc"]

    # Parts -------------------------------------------------------------------------------------------------

    def headers(self):
        own = run(["dpkg", "--print-architecture"]).stdout.strip()  # there may be those of others, too
        listing = run(["dpkg", "-L", f"libc6-dev:{own}"])
        found = sorted({line.removeprefix("/usr/include/").removeprefix("x86_64-linux-gnu/")
                        for line in listing.stdout.splitlines()
                        if re.fullmatch(r"/usr/include/(x86_64-linux-gnu/)?([^/]*|(sys|net|arpa|netinet)/[^/]*)\.h", line)})
        if len(found) < 50:
            raise skip("the headers of libc6-dev were not found")
        found += ["stdatomic.h", "stdalign.h", "stdnoreturn.h", "float.h", "iso646.h", "immintrin.h"]
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / "all.c"
            for backend in self.backends:
                names = list(found)
                while True:  # until they can be included together without us
                    source.write_text("#define _GNU_SOURCE 1\n" + "".join(f"#include <{name}>\n" for name in names)
                                      + "int main(void) { errno = EINTR; return isalpha('x') && fabs(1.0) > 2 && errno; }\n")
                    result = run([backend, "-fsyntax-only", source])
                    if result.returncode == 0:
                        break
                    bad = re.search(r"all\.c:(\d+)", result.stderr)
                    if bad is None or not 2 <= int(bad[1]) <= len(names) + 1:
                        raise skip(f"the headers cannot be included together: {result.stderr[:300]}")
                    del names[int(bad[1]) - 2]
                result = run([*self.through(backend), "-O1", "-Wall", "-c", "-o", Path(folder) / "all.o", source])
                if result.returncode != 0 or result.stderr:
                    self.fail(f"{len(names)} headers with {backend}: {result.stderr[:1000]}")
                print(f"headers: {len(names)} together with {backend}", flush=True)

    def program(self, source, folder, backend, options, expected=None, arguments=()):
        """'passed', 'left out' (not by the compiler behind alone either), 'refused', or what went wrong."""
        plain, ours = (f"{folder}/{source.stem}.{kind}" for kind in ("plain", "ours"))
        if run([backend, *options, "-o", plain, source, "-lm"]).returncode != 0:
            return "left out"
        before = run([plain, *arguments], 30, source.parent)
        if before.returncode != 0 or (expected is not None and before.stdout.rstrip() != expected.rstrip()):
            return "left out"
        result = run([*self.through(backend), *options, "-o", ours, source, "-x", "none", "-lm"])
        if result.returncode != 0:
            known = REFUSALS.search(result.stderr) or source.stem in NOT_THE_LANGUAGE
            return "refused" if known else f"does not compile: {result.stderr[:500]}"
        after = run([ours, *arguments], 30, source.parent)
        for file in (plain, ours):
            os.unlink(file)
        if after.returncode != before.returncode or after.stdout != before.stdout:
            return "refused" if source.stem in NOT_THE_LANGUAGE else (
                f"exit code {after.returncode} instead of {before.returncode}, {after.stdout[:200]!r}, {after.stderr[:200]!r}")
        return "passed"

    def many(self, part, jobs):
        for backend in self.backends:
            counts = {}
            with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
                results = pool.map(lambda job: (job[0], self.program(job[0], folder, backend, *job[1:])), jobs)  # noqa: B023
                for source, result in results:
                    kind = result if result in ("passed", "left out", "refused") else "failed"
                    counts[kind] = counts.get(kind, 0) + 1
                    if kind == "failed":
                        self.fail(f"{part}: {source.name} with {backend}: {result}")
            print(f"{part} with {backend}: " + ", ".join(f"{n} {kind}" for kind, n in sorted(counts.items())), flush=True)
            if counts.get("passed", 0) < len(jobs) // 2:
                self.fail(f"{part}: most programs were left out with {backend}")

    def tcc(self):
        tests = unpack("tcc", self.work, "") / "tests/tests2"
        jobs = []
        for source in sorted(tests.glob("*.c")):
            expected = source.with_suffix(".expect")
            if expected.exists():
                arguments = {"31_args": [f"arg{k}" for k in range(1, 6)]}.get(source.stem, [])
                jobs.append((source, ["-w", "-O1"], None if arguments else expected.read_text(errors="replace"), arguments))
        self.many("tcc", jobs)

    def torture(self):
        tests = unpack("gcc-12", self.work, "*/gcc/testsuite/gcc.c-torture/execute/*")
        jobs = []
        for source in sorted((tests / "gcc/testsuite/gcc.c-torture/execute").glob("*.c")):
            options = re.findall(r'dg-(?:additional-)?options\s+"([^"]*)"\s*}', source.read_text(errors="replace"))
            jobs.append((source, ["-w", "-O1", *" ".join(options).split()]))
        self.many("torture", jobs)

    def lua(self):
        source = unpack("lua5.4", self.work, "") / "src"
        files = [f for f in sorted(source.glob("*.c")) if f.name != "luac.c"]
        (source / "lua5.4-deb-multiarch.h").write_text('#define DEB_HOST_MULTIARCH "x86_64-linux-gnu"\n')
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder) / "check.lua"
            program.write_text(LUA_PROGRAM)
            for backend in self.backends:
                outputs = []
                for kind, compiler in (("plain", [backend]), ("ours", self.through(backend))):
                    lua = f"{folder}/lua-{kind}"
                    result = run([*compiler, "-O1", "-Wall", "-DLUA_USE_POSIX", "-DLUA_COMPAT_5_3", "-o", lua, *files, "-x",
                                  "none", "-lm"], 200)
                    if result.returncode != 0 or (result.stderr and kind == "ours"):
                        self.fail(f"lua with {backend}, {kind}: {result.stderr[:1000]}")
                        return
                    outputs.append(run([lua, program]))
                if outputs[0].returncode != 0 or outputs[0].stdout != outputs[1].stdout:
                    self.fail(f"lua with {backend} prints {outputs[1].stdout!r}, not {outputs[0].stdout!r}; "
                              f"{outputs[1].stderr[:300]}")
                print(f"lua: {len(files)} files with {backend}", flush=True)

    def amalgamation(self):
        if shutil.which("cargo") is None:
            raise skip("cargo is needed to fetch SQLite as one file")
        project = self.work / "amalgamation"
        (project / "src").mkdir(parents=True, exist_ok=True)
        (project / "src/lib.rs").touch()
        (project / "Cargo.toml").write_text(
            '[package]\nname = "amalgamation"\nversion = "0.0.0"\nedition = "2021"\n[workspace]\n[dependencies]\n'
            f'libsqlite3-sys = {{ version = "={AMALGAMATION["version"]}", features = ["bundled"] }}\n')
        folder = project / "vendor/libsqlite3-sys/sqlite3"
        if not (folder / "sqlite3.c").exists():
            result = run(["cargo", "vendor", "--quiet", "vendor"], 300, project)
            if result.returncode != 0:
                raise skip(f"cargo vendor failed: {result.stderr.strip()[-200:]}")
        source = folder / "sqlite3.c"
        if hashlib.sha256(source.read_bytes()).hexdigest() != AMALGAMATION["sha256"]:
            raise SystemExit(f"check_pass_through.py: {source} has another checksum than it should")
        with tempfile.TemporaryDirectory() as place:
            program = Path(place) / "main.c"
            program.write_text(SQL_PROGRAM)
            for backend in self.backends:
                outputs = []
                for kind, compiler in (("plain", [backend]), ("ours", self.through(backend))):
                    result = run([*compiler, "-O1", "-w", f"-I{folder}", "-o", f"{place}/{kind}", source, program, "-x",
                                  "none", "-lm", "-ldl", "-pthread"], 400)
                    if result.returncode != 0:
                        return self.fail(f"SQLite with {backend}, {kind}: {result.stderr[:1000]}")
                    outputs.append(run([f"{place}/{kind}"]))
                if outputs[0].returncode != 0 or outputs[0].stdout.count("\n") < 15 or (
                        outputs[0].stdout != outputs[1].stdout):
                    self.fail(f"SQLite with {backend} prints {outputs[1].stdout!r}, not {outputs[0].stdout!r}; "
                              f"{outputs[1].stderr[:300]}")
                print(f"amalgamation: {outputs[1].stdout.count(chr(10))} lines of results with {backend}", flush=True)
        return None

    def sqlite(self):
        if os.getuid() == 0:
            raise skip("SQLite's tests refuse to run as root; start this as another user")
        if not Path("/usr/include/tcl8.6/tcl.h").exists():
            raise skip("SQLite's tests need Debian's tcl-dev")
        source = unpack("sqlite3", self.work, "")
        options = ["-O1", "-w", "-I/usr/include/tcl8.6", "-I.", f"-I{source}/src"]
        failures = []
        for kind in ("plain", "ours"):
            folder = self.work / f"sqlite-{kind}"
            folder.mkdir(exist_ok=True)
            compiler = folder / "compiler"
            words = [self.backends[0]] if kind == "plain" else [self.sukima, "cc", f"--backend={self.backends[0]}"]
            behind = '"$a"' if kind == "plain" else '-x tc "$a" -x none'
            compiler.write_text('#!/bin/bash\nargs=()\nfor a; do case $a in *.c) args+=(%s);; *) args+=("$a");; esac; done\n'
                                'exec %s "${args[@]}"\n' % (behind, " ".join(f"'{w}'" for w in words)))
            compiler.chmod(0o755)
            for command in ([source / "configure", "--with-tcl=/usr/lib/tcl8.6"],
                            ["make", "testfixture", f"TCC={compiler} {' '.join(options)}"],
                            ["./testfixture", source / "test/veryquick.test"]):
                result = run(command, 3600, folder)
                if result.returncode != 0 and command[0] != "./testfixture":
                    self.fail(f"sqlite, {kind}: {command[0]} failed: {result.stderr[-500:]}")
                    return
            summary = re.findall(r"^\d+ errors out of \d+ tests|^!Failures.*", result.stdout, re.MULTILINE)
            print(f"sqlite, {kind}: {' '.join(summary)}", flush=True)
            failures.append(summary)
        if not failures[1] or failures[0] != failures[1]:
            self.fail("sqlite: other results than without us")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sukima", required=True)
    parser.add_argument("--backend", action="append")
    parser.add_argument("--work", type=Path, default=Path("build/pass-through"))
    parser.add_argument("parts", nargs="+", choices=["headers", "tcc", "lua", "amalgamation", "torture", "sqlite"], metavar="PART")
    arguments = parser.parse_args()
    work = arguments.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    check = checker(str(Path(arguments.sukima).resolve()), arguments.backend or ["gcc"], work)
    skipped = 0
    for part in arguments.parts:
        try:
            getattr(check, part)()
        except skip as reason:
            skipped += 1
            print(f"{part} skipped: {reason}", flush=True)
    if check.wrong:
        return 1
    return 77 if skipped else 0


if __name__ == "__main__":
    sys.exit(main())
