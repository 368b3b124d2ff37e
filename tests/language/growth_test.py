#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the compiler's work grows no faster than the file: growth_test.py SUKIMA_CC

Counts the instructions of sukima-cc under callgrind for files of n, 2n and 3n equal parts. If the work is linear, the
third n parts need as many instructions as the second ones. If all of it grew with the square, they would need 5/3 as many.
"""
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "scripts"))
from instruction_count import count_instructions  # noqa: E402  (after its folder is known)

PARTS = 40
MOST = 1.06  # measured: from 0.995 to 1.015, and from 1.35 to 1.49 with scans of all constructs and closures


def winds(count):
    """Many `dynamic_wind` in one function, with variables that their blocks capture by value and by address, and calls of the
    function."""
    yield "void put(int); void take(int); worker int leaf(int);\nworker int many(int n) {\n  int s = 0, depth = 0;\n"
    for k in range(count):
        yield (f"  dynamic_wind {{ put({k}); depth++; }} {{ int own{k} = leaf(n); s += own{k} + depth; if (s < 0) return s; }}"
               f" {{ depth--; take({k} + n); }}\n")
    yield "  return s;\n}\nworker int calls(int n) {\n  int s = 0;\n"
    for _ in range(count):
        yield "  s += many(n);\n"
    yield "  return s;\n}\n"


def functions(count):
    """Loops, joins, macros, comments, plain functions and closures, each in a function of its own."""
    yield "#define TWICE(x) ((x) + (x))\ntask t { in int from, to; out long s; };\n"
    for k in range(count):
        yield f"""\
/* number {k} */
static int plain{k}(int n) {{ return TWICE(n) + {k}; }}
worker long loop{k}(int from, int to) {{
  long s = 0;
  int plus closure (int x) {{ s += x; return TWICE(x); }} // adds
  for (int i : from, to) {{ s += plus(plain{k}(i)); {f"s += loop{k - 1}(i, i + 1);" if k else ""} }}
  handles t (int a, int b) {{ this.from = a; this.to = b; }} {{ s += this.s; }}
  switch (s) {{ case 1: goto end; default: break; }}
  join {{ spawn s += plain{k}(from); s++; }}
end:
  return s;
}}
"""
    yield "task_exec t { this.s = this.from + this.to; }\n"


def closures(count):
    """Many closures in one function."""
    yield "int call(int (*f) closure (int));\nint many(int n) {\n  int s = 0, changing = 0;\n"
    for k in range(count):
        yield f"  int f{k} closure (int x) {{ int y = x; changing += n; return y + {k}; }}\n  s += call(f{k}) + f{k}(n);\n"
    yield "  return s + changing;\n}\n"


def main():
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "large.tc")
        for kind in (winds, functions, closures):
            counts = []
            for times in (1, 2, 3):
                source.write_text("".join(kind(times * PARTS)))
                counts.append(count_instructions(sys.argv[1], ["--emit-c", "-o", "/dev/null", str(source)], {}, []))
            growth = (counts[2] - counts[1]) / (counts[1] - counts[0])
            failed |= growth > MOST
            print(f"{kind.__name__}: {counts} instructions for {PARTS}, {2 * PARTS} and {3 * PARTS} parts; "
                  f"growth {growth:.3f}, at most {MOST}")
    return 1 if failed else 0


sys.exit(main())
