#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random programs of plain C with closures, compiled with each implementation of closures.

    closure_ways_test.py SUKIMA BACKEND... [--seed N] [--programs N] [--keep FOLDER]

All implementations must print the same. A program is a row of functions, each of which declares closures over its
variables and passes them to later functions in every kind of statement. Calls whose order C leaves unspecified are
never in one expression. A failure names the seed.
"""
import argparse
import random
import subprocess
import sys
import tempfile
from pathlib import Path

WAYS = [["-fclosures=frame", "-O1"], ["-fclosures=unwind", "-O2"], ["-fclosures=unwind", "-O0"],
        ["-fclosures=exceptions", "-O3"]]
PREFIX = """#include <stdio.h>
typedef long (*step) closure (long);
typedef struct pair { int a; double b; } pair;
static unsigned long seen;
static long budget;
static void note(long x) { seen = seen * 1000003 + (unsigned long)x; }
static long plain(long x) { note(x); return x ^ 5; }
"""
TYPES = ["int", "long", "double", "pair", "array", "short", "pointer"]


class program:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.functions = self.random.randint(3, 6)

    def chance(self, part):
        return self.random.random() < part

    def place(self, scope):
        """An lvalue of a number."""
        name, kind = self.random.choice(scope)
        return {"pair": f"{name}.a", "array": f"{name}[{self.random.randint(0, 3)}]", "pointer": f"(*{name})"}.get(kind, name)

    def value(self, scope):
        """An expression without a call."""
        pick = self.random.random()
        if pick < 0.3 or not scope:
            return str(self.random.randint(-9, 99))
        place = f"(long){self.place(scope)}"
        return place if pick < 0.7 else f"({place} {self.random.choice('+-^|')} {self.random.randint(1, 30)})"

    def call(self, scope, own, index, depth=0):
        argument = (self.call(scope, own, index, depth + 1) if depth < 2 and self.chance(0.2)
                    else f"({self.value(scope)} & 1023)")
        pick = self.random.random()
        closure = self.random.choice(own + ["older"])
        if pick < 0.25:
            return f"{closure}({argument})"
        if pick < 0.35:
            return f"plain({argument})"
        if index + 1 < self.functions:
            callee = self.random.randint(index + 1, self.functions - 1)
            return f"f{callee}({argument}, {closure})"
        return f"older({argument})"

    def condition(self, scope, own, index):
        call = self.call(scope, own, index)
        small = f"({call} & 7) < {self.random.randint(1, 7)}"
        pick = self.random.random()
        if pick < 0.5:
            return small
        other = f"({self.call(scope, own, index)} & 3) != {self.random.randint(0, 3)}"
        return f"{small} {self.random.choice(['&&', '||'])} {other}" if pick < 0.85 else f"!({small} ? {other} : {small})"

    def declaration(self, scope, own, index, name):
        kind = self.random.choice(TYPES)
        value = self.call(scope, own, index) if own and self.chance(0.3) else self.value(scope)
        numbers = [n for n, k in scope if k == "long"]
        if kind == "pointer" and not numbers:
            kind = "long"
        text = {"pair": f"pair {name} = {{(int)({value}), 0.5}};", "array": f"long {name}[4] = {{1, {value}, 3}};",
                "pointer": f"long *{name} = &{self.random.choice(numbers or [''])};",
                "short": f"short {name} = (short)({value});", "int": f"int {name} = (int)({value});"}
        scope.append((name, kind))
        return text.get(kind, f"{kind} {name} = (double)({value});" if kind == "double" else f"{kind} {name} = {value};")

    def assign(self, scope, value):
        name, kind = self.random.choice(scope)
        if kind == "pair" and self.chance(0.3):
            return f"{name} = (pair){{(int)({value}), 1}};"
        place = {"pair": f"{name}.a", "array": f"{name}[{self.random.randint(0, 3)}]", "pointer": f"*{name}"}.get(kind, name)
        cast = {"pair": "(int)", "int": "(int)", "short": "(short)", "double": "(double)(int)"}.get(kind, "")
        return f"{place} = {cast}({value});"

    def statement(self, scope, own, index, depth, in_loop):
        if depth > 2:
            return self.assign(scope, self.call(scope, own, index))
        more = lambda loop=in_loop: self.block(scope, own, index, depth + 1, loop)
        call = self.call(scope, own, index)
        number = self.random.randrange(10 ** 6)
        limited = f"int n{number} = {self.random.randint(1, 3)}; "
        kinds = [
            lambda: self.assign(scope, call),
            lambda: f"note({call});",
            lambda: self.assign(scope, f"{self.condition(scope, own, index)} ? {call} : {self.value(scope)}"),
            lambda: self.assign(scope, f"note(3), note({call}), {self.call(scope, own, index)}"),
            lambda: f"if ({self.condition(scope, own, index)}) {more()} else {more()}",
            lambda: f"{{ {limited}while (n{number}-- > 0 && ({self.condition(scope, own, index)})) {more(True)} }}",
            lambda: f"{{ {limited}do {more(True)} while (--n{number} > 0 && ({self.condition(scope, own, index)})); }}",
            lambda: f"for (int i{number} = (int)({call} & 1); i{number} < 2 && ({self.condition(scope, own, index)}); "
                    f"note({self.call(scope, own, index)}), i{number}++) {more(True)}",
            lambda: f"switch ({call} & 3) {{ case 0: {more()} break; case 1: {more()} /* fall through */ "
                    f"case 2: note({self.call(scope, own, index)}); break; default: {more()} }}",
            lambda: more(),
        ]
        if in_loop and self.chance(0.15):
            return f"if ({self.value(scope)} & 1) {self.random.choice(['break', 'continue'])};"
        if self.chance(0.04):
            return f"if ({self.condition(scope, own, index)}) return {self.call(scope, own, index)};"
        return self.random.choice(kinds)()

    def closure(self, scope, own, index, name):
        """A closure, whose block sees the variables declared so far."""
        inner = list(scope) + [("k", "long")]
        body = " ".join(self.assign(inner, f"{self.value(inner)}") for _ in range(self.random.randint(1, 3)))
        if self.chance(0.4):
            body += f" note({self.random.choice(own + ['older'])}(k & 255));"
        if self.chance(0.25):
            body += f" long d{name} = 1; long in{name} closure (long j) {{ d{name} += j; {self.assign(inner, 'j')} return d{name}; }}"
            body += f" if (k & 1) note(in{name}(k)); note(in{name}(2));"
            if index + 1 < self.functions:
                body += f" note(f{self.functions - 1}(k & 15, in{name}));"
        return (f"long {name} closure (long k) {{ if (budget-- <= 0) return k; {body} note(k); "
                f"return {self.value(inner)} & 4095; }}")

    def block(self, scope, own, index, depth, in_loop):
        scope, own, lines = list(scope), list(own), []
        for _ in range(self.random.randint(1, 3)):
            pick = self.random.random()
            number = self.random.randrange(10 ** 6)
            if pick < 0.3:
                # Sometimes the name shadows another one.
                names = [n for n, _ in scope if n not in ("x",)]
                name = f"v{number}"
                if depth > 0 and names and self.chance(0.2):
                    name = self.random.choice(names)
                    scope = [one for one in scope if one[0] != name]
                    if any(line.find(f" {name} = ") >= 0 or line.find(f" {name}[") >= 0 or line.find(f"*{name} ") >= 0
                           for line in lines):
                        name = f"v{number}"
                lines.append(self.declaration(scope, own, index, name))
            elif pick < 0.45:
                lines.append(self.closure(scope, own, index, f"c{number}"))
                own.append(f"c{number}")
            else:
                lines.append(self.statement(scope, own, index, depth, in_loop))
        return "{ " + "\n".join(lines) + " }"

    def function(self, index):
        scope = [("x", "long"), ("first", "long")]
        lines = [self.closure(scope, [], index, "own")]
        own = ["own"]
        for _ in range(self.random.randint(2, 5)):
            if self.chance(0.35):
                lines.append(self.declaration(scope, own, index, f"w{self.random.randrange(10 ** 6)}"))
            else:
                lines.append(self.statement(scope, own, index, 0, False))
        body = "\n".join(lines)
        return (f"static long f{index}(long x, step older) {{\nif (budget-- <= 0) return x;\nlong first = x + {index};\n"
                f"{body}\nnote(first);\nreturn {self.value(scope)} & 65535;\n}}\n")

    def source(self):
        functions = [self.function(index) for index in reversed(range(self.functions))]
        return (PREFIX + "".join(functions) +
                "int main(void) {\nlong total = 0;\nlong bottom closure (long k) { total += k; note(total); return total & 511; }\n"
                "for (int i = 0; i < 6; i++) { budget = 300; seen = 1; const long r = f0(i, bottom); "
                'printf("%ld %lu %ld\\n", r, seen, total); }\nreturn 0;\n}\n')


def run(command):
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=500, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, -1, "", "it ran longer than 500 seconds")


def refused(sukima):
    """Unknown values, and options that exclude each other."""
    failures = 0
    for words, message in ((["-fclosures=heap"], "use 'frame', 'unwind' or 'exceptions'"),
                           (["-fcheck-closures", "-fclosures=unwind"], "'-fcheck-closures' works with '-fclosures=frame' only; "
                            "omit one of the two options")):
        result = run([sukima, "cc", *words, "-c", "none.tc"])
        if result.returncode != 2 or message not in result.stderr:
            failures += 1
            print(f"FAILED: {' '.join(words)}: exit code {result.returncode}, {result.stderr}")
    return failures


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("sukima")
    parser.add_argument("backends", nargs="+")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--programs", type=int, default=10)
    parser.add_argument("--keep")
    arguments = parser.parse_args()
    failures = refused(arguments.sukima)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(arguments.keep or temporary)
        for seed in range(arguments.seed, arguments.seed + arguments.programs):
            source = folder / f"closures{seed}.tc"
            source.write_text(program(seed).source())
            backend = arguments.backends[seed % len(arguments.backends)]
            expected = None
            for way in WAYS:
                binary = str(source.with_suffix(""))
                result = run([arguments.sukima, "cc", f"--backend={backend}", "-w", *way, "-o", binary, str(source)])
                if result.returncode == 0:
                    result = run([binary])
                if result.returncode != 0 or (expected is not None and result.stdout != expected):
                    failures += 1
                    print(f"FAILED: seed {seed}, {backend}, {' '.join(way)}: exit code {result.returncode}\n"
                          f"{result.stderr[:1500]}\n{result.stdout}, expected:\n{expected}")
                if expected is None:
                    expected = result.stdout
    print(f"{arguments.programs} programs, {failures} failures")
    return 1 if failures else 0


sys.exit(main())
