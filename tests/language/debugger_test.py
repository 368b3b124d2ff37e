#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks what gdb shows of programs of the language: debugger_test.py SUKIMA BACKEND...

Breakpoints in lines of the .tc file, in worker functions, blocks of constructs and closures; the user's variables there,
those that a closure changes through a pointer of the same name (`print *total`), also changed by the debugger.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SUKIMA, BACKENDS = str(Path(sys.argv[1]).resolve()), sys.argv[2:]
PROGRAM = """\
#include <stdio.h>
task part { in int from, to; out long sum; };
worker long range(int from, int to) {
  long s = 0;
  int seen = 5;
  for (int i : from, to) {
    const int twice = 2 * i;
    s += twice;                                  // in the body
  } handles part (int a, int b) {
    this.from = a;
    seen++;                                      // in PUT
    this.to = b;
  } {
    s += this.sum;
  }
  return s + seen * 0;                           // at the end
}
task_exec part {
  this.sum = range(this.from, this.to);          // in task_exec
}
static int apply(int (*f) closure (int), int x) {
  return f(x);                                   // in plain C
}
static long collect(int n) {
  long total = 100;
  int calls = 0;
  const int fixed = n + 1;
  int add closure (int k) {
    int local = k * 2;
    total += local + fixed;                      // in the closure
    calls++;
    return local;
  }
  apply(add, 3);
  return total + calls;                          // in its creator
}
int main(void) {
  printf("%ld\\n", range(0, 10));
  printf("%ld\\n", collect(4));
  return 0;
}
"""
LINES = {text: number for number, line in enumerate(PROGRAM.splitlines(), 1)
         for text in re.findall(r"// (.*)$", line)}


class failure(Exception):
    pass


def debug(folder, *commands):
    words = [word for command in ("set debuginfod enabled off", "set startup-with-shell off", *commands)
             for word in ("-ex", command)]
    result = subprocess.run(["gdb", "-nx", "-batch", *words, "./program"], cwd=folder, capture_output=True, text=True,
                            timeout=500, stdin=subprocess.DEVNULL,
                            env={**os.environ, "SUKIMA_WORKERS": "1", "LC_ALL": "C"})
    return result.stdout + result.stderr


def expect(output, *patterns):
    for pattern in patterns:
        if not re.search(pattern, output, re.MULTILINE):
            raise failure(f"gdb does not show {pattern!r}:\n{output}")


def check(backend, folder):
    (folder / "program.tc").write_text(PROGRAM)
    built = subprocess.run([SUKIMA, "cc", f"--backend={backend}", "-g", "-O0", "-o", "program", "program.tc"], cwd=folder,
                           capture_output=True, text=True, timeout=500, stdin=subprocess.DEVNULL)
    if built.returncode != 0:
        raise failure(built.stderr)

    place = f"program.tc:{LINES['in the body']}"
    output = debug(folder, f"break {place}", "run", "print i", "print twice", "print s", "print seen", "print from",
                   "set var s = 1000", "delete", "continue")
    expect(output, r"^Breakpoint 1, range.* at .*program\.tc:8$", r"^8\t    s \+= twice;", r"^\$1 = 0$", r"^\$2 = 0$",
           r"^\$3 = 0$", r"^\$4 = 5$", r"^\$5 = 0$", r"^1090$", r"^112$")
    output = debug(folder, f"break {place} if i == 7", "run", "print i", "print s", "backtrace")
    expect(output, r"^\$1 = 7$", r"^\$2 = 42$", r"^#0  range.*program\.tc:8$")

    output = debug(folder, f"break program.tc:{LINES['in the closure']}", "run", "print k", "print local", "print fixed",
                   "print *total", "print *calls", "info locals", "set var *total = 40", "backtrace", "delete",
                   "continue")
    expect(output, r"^\$1 = 3$", r"^\$2 = 6$", r"^\$3 = 5$", r"^\$4 = 100$", r"^\$5 = 0$", r"^local = 6$", r"^fixed = 5$",
           r"^total = .*0x", r"program\.tc:30$", r"^#1 .*apply.*program\.tc:22$|^#2 .*apply.*program\.tc:22$", r"^52$")
    if re.search(r"^sukima\w* = ", output, re.MULTILINE):
        raise failure(f"a closure has variables of the compiler:\n{output}")

    output = debug(folder, f"break program.tc:{LINES['in its creator']}", "run", "print total", "print calls",
                   "set var total = 7", "delete", "continue")
    expect(output, r"^\$1 = 111$", r"^\$2 = 1$", r"^8$")

    output = debug(folder, f"break program.tc:{LINES['in PUT']}", f"break program.tc:{LINES['in task_exec']}",
                   "info breakpoints")
    expect(output, r"program\.tc:11", r"program\.tc:19")

    # gdb finds a worker function by its name, together with its entry from C, and by its symbol. Clang writes the symbol
    # of a static function into the debugging information, so gdb knows the function by that name only.
    names, shown = (["range", "range.worker"], "range") if "clang" not in backend else (["range.worker"], r"range\.body")
    for name in names:
        output = debug(folder, f"break {name}", "run", "delete", f"break program.tc:{LINES['in the body']}", "continue",
                       "print s", "print from")
        expect(output, r"^Breakpoint 1", r"^\$1 = 0$", r"^\$2 = 0$")
    output = debug(folder, *(f"break {name}" for name in names), "info breakpoints")
    expect(output, *[rf"in {shown} at .*program\.tc:4$"] * len(names))
    # The entry from C has no line of the user's blocks.
    for line in range(4, 17):
        output = debug(folder, f"info scope program.tc:{line}")
        if "sukima_f" in output:
            raise failure(f"line {line} belongs to the entry from C:\n{output}")


def main():
    if shutil.which("gdb") is None:
        print("gdb is not installed (package gdb)")
        return 77
    for backend in BACKENDS:
        with tempfile.TemporaryDirectory() as folder:
            try:
                check(backend, Path(folder))
            except failure as problem:
                print(f"FAILED with {backend}: {problem}")
                return 1
    print("gdb shows the program's lines and variables")
    return 0 if BACKENDS else 1


sys.exit(main())
