#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks what perf shows of programs of the language: perf_test.py SUKIMA BACKEND...

Samples on fibers, in the program's own thread and in a worker's, have names of functions and lines of the .tc file, and
call stacks down to where the fiber begins.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SUKIMA, BACKENDS = str(Path(sys.argv[1]).resolve()), sys.argv[2:]
# The program ends only when two threads have taken part. Each part takes several times as long as a sample.
PROGRAM = """\
#include <stdatomic.h>
#include <stdio.h>
static atomic_int threads;
static __attribute__((noinline)) long spend(long n) {
  static _Thread_local int counted;
  if (!counted) threads += counted = 1;
  unsigned long x = 88172645463325252ul + (unsigned long) n;
  for (long i = 0; i < 10000000; i++) {            // spend begins
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;                                // spend ends
  }
  return (long) (x & 1);
}
task tree { in int n; out long r; };
worker long tree(int n);
task_exec tree {
  this.r = tree(this.n);
}
worker long tree(int n) {
  if (n == 0) {
    unsigned long s = (unsigned long) n + 1;
    for (long i = 0; i < 10000000; i++)            // tree begins
      s = s * 6364136223846793005ul + 1442695040888963407ul;  // tree ends
    return (long) (s >> 63) + spend(n);
  }
  long a, b;
  do_two { a = tree(n - 1); }                    // first branch
  { b = tree(n - 1); }
  handles tree { this.n = n - 1; } { b = this.r; }
  return a + b;
}
int main(void) {
  long sum = 0;
  do
    sum += tree(4);
  while (threads < 2);
  printf("%d\\n", sum >= 0);
  return 0;
}
"""
LINES = {text: number for number, line in enumerate(PROGRAM.splitlines(), 1)
         for text in re.findall(r"// (.*)$", line)}
FORM = re.compile(r"(?:\.|__)(?:worker|choosing|clone|parallel)")  # of a worker function
NEEDED = 0.9  # this part of the samples: the rest are in the dynamic linker and in the runtime, at the start and the end


class failure(Exception):
    pass


def run(command, folder, **environment):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=500, stdin=subprocess.DEVNULL,
                          check=False, env={**os.environ, "LC_ALL": "C", **environment})
    if done.returncode != 0:
        raise failure(f"{' '.join(command)}: status {done.returncode}\n{done.stderr}")
    return done.stdout


def samples(folder):
    """For each sample the thread, and its frames from the innermost one: function, file and line."""
    text = run(["perf", "script", "-i", "data", "-F", "tid,ip,sym,srcline"], folder)
    for block in re.split(r"\n\s*\n", text.strip()):
        thread, *rest = block.splitlines()
        yield int(thread), re.findall(r"^\s+[0-9a-f]+ (.+)\n\s+(\S+:\d+)", "\n".join(rest), re.MULTILINE)


def check(backend, folder):
    (folder / "hot.tc").write_text(PROGRAM)
    run([SUKIMA, "cc", f"--backend={backend}", "-g", "-O1", "-o", "hot", "hot.tc"], folder)
    run(["perf", "record", "-q", "-e", "cpu-clock:u", "-F", "500", "--call-graph", "dwarf", "-o", "data", "./hot"], folder,
        SUKIMA_WORKERS="2", SUKIMA_ELASTIC="off")
    expected = {name: {f"hot.tc:{line}" for line in range(LINES[f"{name} begins"], LINES[f"{name} ends"] + 1)}
                for name in ("spend", "tree")}
    branch = f"hot.tc:{LINES['first branch']}"
    count, good, deep = {}, {}, 0
    for thread, frames in samples(folder):
        count[thread] = count.get(thread, 0) + 1
        function, place = frames[0] if frames else ("", "")
        if place in expected.get(FORM.sub("", function), ()):
            good[thread] = good.get(thread, 0) + 1
            deep += ("tree", branch) in [(FORM.sub("", name), line) for name, line in frames] and any("fiber_begins" in name for name, _ in frames)
    if len(good) < 2:
        raise failure(f"perf shows the program's lines in {len(good)} threads; samples of each thread: {count}")
    if sum(good.values()) < NEEDED * sum(count.values()):
        raise failure(f"only {good} of {count} samples of each thread have a function and a line of the program")
    if deep < NEEDED * sum(good.values()):
        raise failure(f"only {deep} of {sum(good.values())} call stacks go from the branch to where the fiber begins")
    report = run(["perf", "report", "-i", "data", "--stdio", "--no-children", "-g", "none", "-s", "sym"], folder)
    for name in ("spend", "tree"):
        if not re.search(rf"^ +[0-9.]+% +\[\.\] {name}({FORM.pattern})?\s*$", report, re.MULTILINE):
            raise failure(f"perf report does not list {name}:\n{report}")


def main():
    if shutil.which("perf") is None:
        print("perf is not installed (package linux-perf)")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        try:
            run(["perf", "record", "-q", "-e", "cpu-clock:u", "-o", "data", "true"], folder)
        except failure as problem:
            print(problem)
            print("perf_event_open is not allowed here")
            return 77
    for backend in BACKENDS:
        with tempfile.TemporaryDirectory() as folder:
            try:
                check(backend, Path(folder))
            except failure as problem:
                print(f"FAILED with {backend}: {problem}")
                return 1
    print("perf shows the program's functions, lines and call stacks")
    return 0 if BACKENDS else 1


sys.exit(main())
