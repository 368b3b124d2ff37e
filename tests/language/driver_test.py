#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the outputs of `sukima cc` other than programs: driver_test.py SUKIMA BACKEND...

-E, --emit-c, a project with a makefile, builds that are the same bit for bit, and the lines that debugging information
gives to machine code.
"""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SUKIMA, BACKENDS = str(Path(sys.argv[1]).resolve()), sys.argv[2:]
PROGRAM = """\
#include <stdio.h>
#define ANSWER 21 + 21
task part { in int from, to; out long sum; };
worker long range(int from, int to) {
  long s = 0;
  for (int i : from, to) {
    s += i;
  } handles part (int a, int b) {
    this.from = a;
    this.to = b;
  } {
    s += this.sum;
  }
  return s;
}
task_exec part {
  this.sum = range(this.from, this.to);
}
int main(void) {
  printf("%ld %d\\n", range(0, 1000), ANSWER);
#ifdef __SUKIMA__
  puts("language");
#endif
  return 0;
}
"""
OUTPUT = "499500 42\nlanguage\n"
PROJECT = {
    "Makefile": """\
CFLAGS = -O2 -g -Wall -Wextra -Werror -MMD
OBJECTS = main.o search.o text.o
program: $(OBJECTS)
\t$(CC) $(CFLAGS) -o $@ $(OBJECTS)
%.o: %.tc
\t$(CC) $(CFLAGS) -c -o $@ $<
clean:
\trm -f program *.o *.d
-include $(OBJECTS:.o=.d)
""",
    "search.h": "long queens(int n);\n",
    "text.h": "const char *text(long n);\n",
    "text.c": '#include <stdio.h>\n#include "text.h"\n'
              'const char *text(long n) { static char t[32]; snprintf(t, sizeof t, "<%ld>", n); return t; }\n',
    "main.c": '#include <stdio.h>\n#include "search.h"\n#include "text.h"\nint main(void) { puts(text(queens(8))); }\n',
    "rows.h": "#define ROWS 32\n",
    "search.tc": """\
#include "rows.h"
task place { in int n, row, from, to, columns, up, down; out long solutions; };
worker long place(int n, int row, int from, int to, int columns, int up, int down) {
  long s = 0;
  for (int c : from, to) {
    const int bit = 1 << c;
    if ((columns | up | down) & bit) continue;
    s += row + 1 == n ? 1 : place(n, row + 1, 0, n, columns | bit, (up | bit) << 1, (down | bit) >> 1);
  } handles place (int a, int b) {
    this.n = n; this.row = row; this.from = a; this.to = b; this.columns = columns; this.up = up; this.down = down;
  } {
    s += this.solutions;
  }
  return s;
}
task_exec place {
  this.solutions = place(this.n, this.row, this.from, this.to, this.columns, this.up, this.down);
}
worker long queens(int n) { return n < ROWS ? place(n, 0, 0, n, 0, 0, 0) : 0; }
""",
}


class failure(Exception):
    pass


def run(command, folder, **environment):
    result = subprocess.run([str(word) for word in command], cwd=folder, capture_output=True, text=True, timeout=500,
                            stdin=subprocess.DEVNULL, env={**os.environ, **environment})
    if result.returncode != 0:
        raise failure(f"{command}: exit code {result.returncode}\n{result.stdout}\n{result.stderr}")
    return result


def is_equal(subject, got, expected):
    if got != expected:
        raise failure(f"{subject}: {got!r}, not {expected!r}")


def check_preprocessing(backend, work):
    text = run([SUKIMA, "cc", backend, "-E", "program.tc"], work).stdout
    for expected in ("for (int i : from, to) {", "handles part (int a, int b)", 'range(0, 1000), 21 + 21);',
                     'puts("language");'):
        if expected not in text:
            raise failure(f"-E: {expected!r} is missing")
    run([SUKIMA, "cc", backend, "-E", "-o", "program.i", "program.tc"], work)
    is_equal("-E -o", (work / "program.i").read_text(), text)
    (work / "form.tc").write_text("#ifdef __SUKIMA_SEQUENTIAL__\nint sequential;\n#else\nint parallel;\n#endif\n")
    for options, expected in (([], "int parallel;"), (["--sequential"], "int sequential;")):
        text = run([SUKIMA, "cc", backend, *options, "-E", "form.tc"], work).stdout
        is_equal(f"-E {options}", [line for line in text.splitlines() if line.startswith("int ")], [expected])


def check_translation(backend, work):
    for options in ([], ["--sequential"]):
        text = run([SUKIMA, "cc", backend, *options, "--emit-c", "program.tc"], work).stdout
        run([SUKIMA, "cc", backend, *options, "--emit-c", "-o", "translated.c", "program.tc"], work)
        is_equal("--emit-c -o", (work / "translated.c").read_text(), text)
        run([SUKIMA, "cc", backend, *options, "--emit-c", "-o", "/dev/null", "program.tc"], work)
        with open("/dev/full", "wb") as full:
            done = subprocess.run([SUKIMA, "cc", backend, *options, "--emit-c", "program.tc"], cwd=work, stdout=full,
                                  stderr=subprocess.PIPE, text=True)
        if done.returncode != 1 or "cannot write 'standard output': No space left on device" not in done.stderr \
                or "LLVM ERROR" in done.stderr:
            raise failure(f"--emit-c to a full disk: {done.returncode}, {done.stderr}")
        for goal in (["-M", "program.tc"], ["--help"], ["--version"]):
            with open("/dev/full", "wb") as full:
                done = subprocess.run([SUKIMA, "cc", backend, *options, *goal], cwd=work, stdout=full, stderr=subprocess.PIPE,
                                      text=True)
            is_equal(f"{goal[0]} to a full disk", (done.returncode, done.stderr),
                     (1, "sukima cc: the output could not be written to standard output\n"))
        if '#line' not in text or '"program.tc"' not in text:
            raise failure("--emit-c: there are no #line directives")
        run([SUKIMA, "cc", backend, "-O1", "-D__SUKIMA__", "-o", "translated", "translated.c"], work)
        is_equal("the translation", run(["./translated"], work).stdout, OUTPUT)


def check_output_files(backend, work):
    for goal in ([], ["-c"], ["-S"], ["--emit-c"]):
        refused = subprocess.run([SUKIMA, "cc", backend, *goal, "-o", "./program.tc", "program.tc"], cwd=work, text=True,
                                 capture_output=True)
        is_equal(f"-o INPUT with {goal}", (refused.returncode, "names the input 'program.tc'" in refused.stderr), (2, True))
        is_equal("the source", (work / "program.tc").read_text(), PROGRAM)
    is_equal("what -MM -MF prints", run([SUKIMA, "cc", backend, "-MM", "-MF", "program.d", "program.tc"], work).stdout, "")
    if "program.tc" not in (work / "program.d").read_text():
        raise failure("-MM -MF: the rule does not name the source")


def check_makefile(backend, work):
    folder = work / "project"
    folder.mkdir()
    for name, text in PROJECT.items():
        (folder / name).write_text(text)
    make = ["make", f"CC={SUKIMA} cc {backend}", "-j2"]
    run(make, folder)
    is_equal("the program of the makefile", run(["./program"], folder).stdout, "<92>\n")
    if "up to date" not in run(make, folder).stdout:
        raise failure("make builds again what has not changed")
    before = {one.name: one.stat().st_mtime_ns for one in folder.glob("*.o")}
    os.utime(folder / "text.h")
    run(make, folder)
    after = {one.name: one.stat().st_mtime_ns for one in folder.glob("*.o")}
    is_equal("rebuilt after a change of text.h", {name for name in after if after[name] != before[name]},
             {"main.o", "text.o"})


def check_reproducible(backend, work):
    (work / "one").mkdir()
    (work / "two").mkdir()
    for options in (["-g", "-O0"], ["-g", "-O2"], ["-g3", "-O1", "--sequential"], ["-O3"]):
        results = []
        for folder in ("one", "two"):
            for command in (["-c", "-o", "object.o"], ["-o", "linked"]):
                run([SUKIMA, "cc", backend, *options, *command, "program.tc"], work, TMPDIR=str(work / folder))
            results.append([(work / name).read_bytes() for name in ("object.o", "linked")])
        if results[0] != results[1]:
            raise failure(f"{options}: two builds differ")
        for content in results[0]:
            if b"sukima-cc-" in content or (b"program.tc" not in content and options[0].startswith("-g")):
                raise failure(f"{options}: the program names a temporary file")
    # The same sources in two folders, without the names of the folders.
    objects = []
    for folder in ("one", "two"):
        (work / folder / "program.tc").write_text(PROGRAM)
        source = work / folder / "program.tc"
        run([SUKIMA, "cc", backend, "-g", "-c", "-o", "object.o", f"-ffile-prefix-map={work / folder}=.", source],
            work / folder)
        objects.append((work / folder / "object.o").read_bytes())
    if objects[0] != objects[1]:
        raise failure("-ffile-prefix-map: builds in two folders differ")


def check_lines(backend, work):
    """The machine code of the worker function has the user's lines, as perf annotate and addr2line use them."""
    for options, forms in ((["-O0"], ["worker"]), (["-O2"], ["clone", "parallel"])):
        run([SUKIMA, "cc", backend, "-g", *options, "-o", "program", "program.tc"], work)
        symbols = run(["nm", "program"], work).stdout
        listing = run(["objdump", "-dl", "--no-show-raw-insn", "program"], work).stdout
        for form in forms:
            found = re.search(rf"^([0-9a-f]+) [Tt] range\.{form}$", symbols, re.MULTILINE)
            if found is None:
                raise failure(f"there is no symbol range.{form}")
            place = run(["addr2line", "-e", "program", "0x" + found[1]], work).stdout.strip()
            if not re.search(r"/program\.tc:4( |$)" if form == "worker" else r"/program\.tc:[4-7]( |$)", place):
                raise failure(f"{options}: addr2line says {place}")
            body = listing.partition(f"<range.{form}>:")[2].partition("\n\n")[0]
            lines = {int(number) for number in re.findall(r"/program\.tc:(\d+)", body)}
            needed = {4, 6, 7} if form == "worker" else {6}  # an optimiser may move the others elsewhere
            if not needed <= lines or not lines <= set(range(4, 17)):
                raise failure(f"{options}: the code of range.{form} has the lines {sorted(lines)}")


def clones_of(program, **environment):
    """How many clones a run of clones.tc begins."""
    done = subprocess.run([program], capture_output=True, text=True, timeout=500, check=True, stdin=subprocess.DEVNULL,
                          env={**os.environ, "TELL_STATISTICS": "1", "SUKIMA_CLONES": "1000ms", **environment})
    return int(re.search(r"^clones +(\d+)", done.stderr, re.MULTILINE)[1]), done.stdout


def check_clones(backend, work):
    """Which options leave clones out, and files compiled in different ways in one program."""
    folder = Path(__file__).parent / "programs"
    for name in ("clones", "clones_part"):
        for way, options in (("with", ["-O1"]), ("without", ["-O1", "--no-clones"]), ("debug", ["-g", "-O0"])):
            run([SUKIMA, "cc", backend, *options, "-c", "-o", f"{name}_{way}.o", folder / f"{name}.tc"], work)
    outputs = set()
    for main, part in (("with", "with"), ("with", "without"), ("without", "with"), ("debug", "with"), ("with", "debug"),
                       ("without", "without"), ("debug", "debug")):
        program = work / f"clones_{main}_{part}"
        run([SUKIMA, "cc", backend, "-o", program, f"clones_{main}.o", f"clones_part_{part}.o"], work)
        for setting in ({}, {"SUKIMA_WORKERS": "3"}, {"SUKIMA_CLONES": "off"}):
            clones, output = clones_of(program, **setting)
            outputs.add(output)
            expected = "with" in (main, part) and setting != {"SUKIMA_CLONES": "off"}
            if (clones > 0) != expected:
                raise failure(f"main file {main} and part {part} clones, {setting}: {clones} clones began")
    if len(outputs) != 1:
        raise failure(f"clones change the output: {outputs}")


def check_left_clones(backend, work):
    """Clones give work away when another worker requests it, also with undo and with a throw. Repeats until it was requested."""
    run([SUKIMA, "cc", backend, "-O1", "-o", "left", Path(__file__).parent / "programs" / "clones_left.tc"], work)
    done = subprocess.run([work / "left"], capture_output=True, text=True, timeout=500, stdin=subprocess.DEVNULL, check=False,
                          env={**os.environ, "TELL_STATISTICS": "1", "UNTIL_LEFT": "1", "SUKIMA_CLONES": "1000ms",
                               "SUKIMA_WORKERS": "2", "SUKIMA_TRACE": str(work / "left.json")})
    left = re.search(r"^clones.left +(\d+)", done.stderr, re.MULTILINE)
    if done.stdout != "tree right\nqueens right\nhunt right\n" or left is None or int(left[1]) < 3:
        raise failure(f"clones that had to be left: {done.stdout}{done.stderr}")
    events = [e for e in json.loads((work / "left.json").read_text())["traceEvents"] if e["name"] == "clone_polls"]
    traced = {e["args"]["place"]: e["args"]["left_for_work"] for e in events}
    if not {"tree", "queens", "hunt"} <= set(traced) or not 3 <= sum(traced.values()) <= int(left[1]):
        raise failure(f"clones that were left are traced as {traced}; statistics count {left[1]}")


def check_interruption(_, work):
    """A signal also ends the C compiler, and removes the temporary folder. An ignored signal stays ignored."""
    backend = work / "waits"
    # The stand-in for the compiler answers a request for its macros at once.
    backend.write_text('#!/bin/sh\ncase " $* " in *" -dM "*) exit 0;; esac\n'
                       'echo $$ > "$PIDS/new"; mv "$PIDS/new" "$PIDS/pid"; exec sleep 1000\n')
    backend.chmod(0o755)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        for ignored in (False, True):
            temporary = Path(tempfile.mkdtemp(dir=work))
            pids = Path(tempfile.mkdtemp(dir=work))
            running = subprocess.Popen([SUKIMA, "cc", f"--backend={backend}", "-c", "program.tc"], cwd=work,
                                       env={**os.environ, "TMPDIR": str(temporary), "PIDS": str(pids)},
                                       preexec_fn=(lambda one=number: signal.signal(one, signal.SIG_IGN)) if ignored else None)
            while not (pids / "pid").exists() and running.poll() is None:
                time.sleep(0.01)
            compiler = int((pids / "pid").read_text())
            running.send_signal(number)
            if ignored:
                os.kill(compiler, signal.SIGKILL)
            is_equal(f"the end after {number}", running.wait(), 128 + signal.SIGKILL if ignored else -number)
            is_equal("what stays in the temporary folder", list(temporary.iterdir()), [])
            if Path("/proc", str(compiler)).exists():
                raise failure(f"the compiler goes on after {number}")


PRAGMAS = """\
task t { in int n; out int r; };
worker int f(int n) {
  int a, b;
  do_two { a = n; } { b = n; }
  handles t guard (__extension__({
      _Pragma("omp parallel") { }
      1.0; })) {
    int s = 0;
#pragma omp parallel
    { s = n; }
    this.n = s;
  } { b = this.r; }
  try
#pragma omp critical
  {
#pragma omp parallel
    { }
    throw 1;
  } catch (1) { b++; }
  return a + b;
}
task_exec t { this.r = this.n; }
int main(void) { return f(1) == 3 ? 0 : 1; }
"""


def check_pragmas(backend, work):
    """A pragma of a block that becomes a function is only in that function: otherwise a parallel region would run twice."""
    (work / "pragmas.tc").write_text(PRAGMAS)
    for options in ([], ["--sequential"]):
        text = run([SUKIMA, "cc", backend, "-fopenmp", *options, "--emit-c", "pragmas.tc"], work).stdout
        is_equal(f"the number of pragmas with {options}", text.count("omp parallel"), 3)
        is_equal(f"those in front of a block with {options}", text.count("omp critical"), 1)
        run([SUKIMA, "cc", backend, *options, "-o", "pragmas", "pragmas.tc"], work)
        run(["./pragmas"], work)


THREADS = """\
#include <stdio.h>
static inline int *of_thread(void) {
  struct seen { int times; };
  static _Thread_local struct seen seen = {3};
  return &seen.times;
}
static int later(void) {
  extern _Thread_local int declared_later;
  return declared_later;
}
_Thread_local int declared_later = 4;
worker int f(void) {
  int (*p) closure (void);
  int own closure (void) { static _Thread_local int one = 5; return one++; }
  p = own;
  poll;
  return (*of_thread())++ + later() + p();
}
int main(void) { f(); printf("%d\\n", f()); return 0; }
"""


def check_threads(backend, work):
    """Plain functions look up their thread-local variables by calls, because they may be inlined into worker functions,
    which may continue on another thread."""
    (work / "threads.tc").write_text(THREADS)
    text = run([SUKIMA, "cc", backend, "--emit-c", "threads.tc"], work).stdout
    for name in ("seen", "declared_later", "one"):
        uses = re.findall(rf"\(\*(sukima_thread_\w*{name})\(\)\)", text)
        is_equal(f"the number of calls that look up {name}", len(uses), 1)
        if not re.search(rf"__attribute__\(\(noinline\)\) [^;]* \*{uses[0]}\(void\)", text):
            raise failure(f"{uses[0]} may be inlined")
    for options in (["-O0"], ["-O2"], ["-O2", "--sequential"]):
        run([SUKIMA, "cc", backend, *options, "-Wall", "-Wextra", "-Werror", "-o", "threads", "threads.tc"], work)
        is_equal(f"the output with {options}", run(["./threads"], work).stdout, "14\n")


def check_predefined(backend, work):
    """#if knows the macros that options define."""
    (work / "defined.tc").write_text("""\
#ifdef _OPENMP
int with_openmp;
#endif
#if defined(__SANITIZE_ADDRESS__) || (defined(__has_feature) && __has_feature(address_sanitizer))
int with_sanitizer;
#endif
#ifdef __OPTIMIZE__
int with_optimisation;
#endif
#include <stdio.h>
""")
    for options, expected in (([], []), (["-fopenmp"], ["with_openmp"]), (["-fsanitize=address"], ["with_sanitizer"]),
                              (["-O2", "-DX=_OPENMP"], ["with_optimisation"])):
        text = run([SUKIMA, "cc", backend, *options, "--emit-c", "defined.tc"], work).stdout
        is_equal(f"what #if knows with {options}", re.findall(r"int (with_\w+);", text), expected)


def check_preprocessor_words(backend, work):
    """-Wp and -Xpreprocessor apply to the user's text: the front end gets the definitions, and the dependencies are the user's."""
    (work / "words.h").write_text("#define EMPTY\n")
    (work / "words.tc").write_text('#include "words.h"\n#ifndef GIVEN\n#define GIVEN "not given"\n#endif\n'
                                   "EMPTY int main(void) { return sizeof GIVEN - 4; }\n")
    for words in (['-Wp,-DGIVEN="abc",-DOTHER'], ["-Xpreprocessor", '-DGIVEN="abc"']):
        run([SUKIMA, "cc", backend, *words, "-o", "words", "words.tc"], work)
        run(["./words"], work)
    for words, target in ((["-Wp,-MMD,listed.d"], "words.o"), (["-Wp,-MMD,listed.d", "-Wp,-MT,other"], "other"),
                          (["-Xpreprocessor", "-MMD", "-Xpreprocessor", "listed.d"], "words.o")):
        run([SUKIMA, "cc", backend, *words, "-c", "words.tc"], work)
        is_equal(f"the rule by {words}", (work / "listed.d").read_text(), target + ": words.tc words.h\n")
        (work / "listed.d").unlink()


STRINGS = """\
#include <stdio.h>
#define TEXT "\u00e4\u00df"
#define SHOW(x) show(#x, sizeof #x)
enum { SIZE = sizeof "\u00e4\u00f6" "\u00fc", LETTER = '\u00e4' };
static const char names[] = TEXT "\\u00e4\\xe4" "b";
static void show(const char *t, unsigned n) {
  for (unsigned i = 0; i < n; i++) printf("%02x ", (unsigned char)t[i]);
  puts("");
}
int main(void) {
  char own[] = "\u00e4\u00f6\u00fc!";
  int wide[] = L"\u00e4" "\u00f6";
  FUNCTION
  show(names, sizeof names);
  SHOW(\u00e4 \u00f6);
  show(u8"\u00e4", sizeof u8"\u00e4");
  printf("%d %d %x %x %d\\n", SIZE, LETTER, (unsigned)wide[0], (unsigned)wide[1], (int)(sizeof wide / sizeof *wide));
  return 0; // \u00e4
}
"""


def check_character_sets(backend, work):
    """Strings have the bytes of the C compiler, also where Clang must know their number."""
    if "clang" in backend:
        return  # it has no character sets but UTF-8
    closure = ("void change closure (void) { own[0] = own[1]; show(own, sizeof own); } char (*all)[sizeof own] = &own; "
               "change(); show(*all, sizeof *all);")
    plain = "own[0] = own[1]; show(own, sizeof own); show(own, sizeof own);"
    for source, target in ((None, None), (None, "ISO-8859-15"), ("ISO-8859-15", None), ("ISO-8859-15", "ISO-8859-15"),
                           ("ISO-8859-15", "UTF-8"), ("cp1252", "IBM850"), ("utf-8", "latin1"), (None, "GB18030")):
        outputs = []
        for name, text in (("strings.c", plain), ("strings.tc", closure)):
            (work / name).write_bytes(STRINGS.replace("FUNCTION", text).encode(source or "utf-8"))
            options = [f"-finput-charset={source}"] * bool(source) + [f"-fexec-charset={target}"] * bool(target)
            # For the C compiler, a letter of two bytes is several characters.
            done = run([SUKIMA, "cc", backend, "-Wall", "-Wno-multichar", *options, "-o", "strings", name], work)
            outputs.append((done.stderr, run(["./strings"], work).stdout))
        is_equal(f"the bytes with {source} and {target}", outputs[1], outputs[0])
    refused = subprocess.run([SUKIMA, "cc", backend, "-fexec-charset=none", "-c", "program.tc"], cwd=work, text=True,
                             capture_output=True)
    is_equal("-fexec-charset=none", (refused.returncode, "iconv --list" in refused.stderr), (2, True))


def check_dependencies(backend, work):
    """Rules for make are those that the C compiler writes for the same text: with -MG headers that do not exist yet, too."""
    (work / "there.h").write_text("#define THERE 1\n")
    (work / "deps.tc").write_text('#include "there.h"\n#include "made later.h"\n#include <stdio.h>\n#include <made/later.h>\n'
                                  "#if 0\n#include \"never.h\"\n#endif\nnot C at all {\n")
    (work / "deps.c").write_text((work / "deps.tc").read_text())
    (work / "some $.tc").write_text('#include "there.h"\nint some;\n')
    (work / "some $.c").write_text('#include "there.h"\nint some;\n')
    for options in (["-MM", "-MG"], ["-MM", "-MG", "-MP"], ["-MM", "-MG", "-MT", "x y"], ["-MM", "-MG", "-MQ", "a $b\\ #"],
                    ["-c", "-MG", "-MM"], ["-MM", "-MG", "-S"], ["-MM", "-MG", "-E"], ["-MM", "-MG", "-fsyntax-only"],
                    ["-MM", "-MG", "-MP", "-MT", "x", "-MT", "y", "-MQ", "z"], ["-MM", "-MG", "-MF", "rule"],
                    ["-MM", "-MG", "-o", "rule"], ["-MM", "-MG", "-MF", "-", "-o", "unused"], ["-MG", "-M", "-MP"],
                    ["-MM", "-MG", "-include", "before.h"]):
        rules = []
        for source in ("deps.c", "deps.tc"):
            printed = run([SUKIMA, "cc", backend, *options, source], work).stdout
            rule = (work / "rule").read_text() if "rule" in options else printed
            rules.append(rule.replace(source, "deps.x").split())
            (work / "rule").unlink(missing_ok=True)
        if options[:2] == ["-MG", "-M"]:  # Clang has system headers of its own, each on a line
            rules = [[one for one in rule if not one.startswith(("/", "\\"))] for rule in rules]
        if "clang" in backend and "-MM" in options:  # gcc counts a missing <header> as one of the system, Clang does not
            rules[0] = [one for one in rules[0] if not one.startswith("made/later.h")]
        is_equal(f"the rule with {options}", rules[1], rules[0])
    for options in (["-MD"], ["-MMD"], ["-MMD", "-MP"], ["-MMD", "-MT", "x"], ["-MMD", "-MQ", "$x"], ["-MMD", "-MF", "some $.d"]):
        rules = []
        for source in ("some $.c", "some $.tc"):
            run([SUKIMA, "cc", backend, *options, "-c", source], work)
            text = (work / "some $.d").read_text()
            rules.append([one for one in text.replace("$$.tc", "$$.c").split() if not one.startswith("/")])
        is_equal(f"the rule with {options}", rules[1], rules[0])
    for options, expected in ((["-MM"], 1), (["-MG", "-c"], 2), (["-MD", "-MG", "-c"], 2)):
        refused = subprocess.run([SUKIMA, "cc", backend, *options, "deps.tc"], cwd=work, text=True, capture_output=True)
        is_equal(f"the end with {options}", (refused.returncode, refused.stdout), (expected, ""))


def check_line_directives(backend, work):
    """Messages and __LINE__ follow #line, as with the C compiler."""
    (work / "made.tc").write_text('#include <stdio.h>\nint main(void) {\n#line 77 "grammar.y"\n'
                                  '  printf("%s:%d\\n", __FILE__, __LINE__);\n  return unknown;\n}\n')
    wrong = subprocess.run([SUKIMA, "cc", backend, "-c", "made.tc"], cwd=work, text=True, capture_output=True)
    is_equal("the message", wrong.stderr.splitlines()[0], "grammar.y:78:10: error: use of undeclared identifier 'unknown'")
    run([SUKIMA, "cc", backend, "-Dunknown=0", "-o", "made", "made.tc"], work)
    is_equal("__LINE__", run(["./made"], work).stdout, "grammar.y:77\n")


def check_packed_structures(backend, work):
    """The language refuses -fpack-struct, because choice points would have another layout than in the runtime."""
    refused = subprocess.run([SUKIMA, "cc", backend, "-fpack-struct=1", "-c", "program.tc"], cwd=work, text=True,
                             capture_output=True)
    is_equal("-fpack-struct", (refused.returncode, "#pragma pack" in refused.stderr), (2, True))
    (work / "plain.c").write_text("int plain;\n")
    run([SUKIMA, "cc", backend, "-fpack-struct=1", "-c", "plain.c"], work)


def check_without_temporary_folder(backend, work):
    refused = subprocess.run([SUKIMA, "cc", backend, "-c", "program.tc"], cwd=work, text=True, capture_output=True,
                             stdin=subprocess.DEVNULL, check=False, env={**os.environ, "TMPDIR": "/no/such/folder"})
    is_equal("a TMPDIR that does not exist", (refused.returncode, refused.stderr),
             (2, "sukima cc: no temporary folder can be made in '/no/such/folder', which TMPDIR names: No such file or "
                 "directory; set TMPDIR to a folder with room where you can write\n"))


def check_names_that_are_not_utf8(backend, work):
    name = os.fsdecode(b"na\xffme.c")
    (work / name).write_text("int main(void) { return 0; }\n")
    run([SUKIMA, "cc", backend, "-c", name, "-MJ", "entry.json"], work)
    entry = json.loads((work / "entry.json").read_text(encoding="utf-8").rstrip().rstrip(","))
    is_equal("the file of a database", entry["file"], "na\ufffdme.c")


def check_launcher(backend, work):
    """A launcher starts the C compiler, with the same name of the C file in each build."""
    (work / "launch").write_text('#!/bin/sh\necho "$LOGGED $@" >> "$LOG"\nexec "$@"\n')
    (work / "launch").chmod(0o755)
    (work / "copy").mkdir()
    (work / "copy" / "program.tc").write_text(PROGRAM)
    launch = f"--launcher={work}/launch"
    for folder, output in ((work, "1.o"), (work, "2.o"), (work / "copy", "3.o")):
        run([SUKIMA, "cc", backend, launch, "--launcher=env", "-O1", "-c", "program.tc", "-o", work / output], folder, LOGGED="x",
            LOG=str(work / "launched"))
    first, second, third = (re.sub(r" -o \S+", "", line) for line in (work / "launched").read_text().splitlines())
    is_equal("the second build's command", second, first)
    is_equal("the command in a copy of the project", third, first)
    is_equal("the command's first word", first.split()[:3], ["x", "env", backend.removeprefix("--backend=")])
    done = subprocess.run([SUKIMA, "cc", backend, "--launcher=missing", "-c", "program.tc"], cwd=work, capture_output=True, text=True)
    is_equal("the message about a missing launcher", (done.returncode, done.stderr),
             (2, "sukima cc: cannot start 'missing': No such file or directory; select a C compiler with --backend=COMPILER or "
              "SUKIMA_CC, and the program that starts it with --launcher=PROGRAM\n"))


def check_compilers_that_cannot_start(backend, work):
    """A wrong name is wrong use. No output file is made, and an older one stays."""
    if backend != f"--backend={BACKENDS[0]}":
        return
    (work / "plain.c").write_text("int plain;\n")
    (work / "text").write_text("not a program\n")
    for goal in (["-c", "program.tc"], ["program.tc"], ["-S", "program.tc"], ["--emit-c", "program.tc"], ["-fsyntax-only", "program.tc"],
                 ["-E", "program.tc"], ["-M", "program.tc"], ["-c", "plain.c"], ["program.tc", "plain.c"], ["--version"]):
        for name, reason in (("missing", "No such file or directory"), ("./text", "Permission denied")):
            done = subprocess.run([SUKIMA, "cc", *goal], cwd=work, capture_output=True, text=True, env={**os.environ, "SUKIMA_CC": name})
            is_equal(f"{goal} with SUKIMA_CC={name}", (done.returncode, done.stderr.split(";")[0]),
                     (2, f"sukima cc: cannot start '{name}': {reason}"))
    (work / "program.o").write_text("older")
    done = subprocess.run([SUKIMA, "cc", "--backend=missing", "-c", "program.tc"], cwd=work, capture_output=True, text=True)
    is_equal("the older object", (done.returncode, (work / "program.o").read_text()), (2, "older"))
    for words, message in ((["--backend"], "'--backend=' needs the name of a C compiler"),
                           (["--backend="], "'--backend=' needs the name of a C compiler"),
                           (["--launcher", "ccache"], "'--launcher=' needs a program, such as ccache"),
                           (["--launcher="], "'--launcher=' needs a program, such as ccache")):
        done = subprocess.run([SUKIMA, "cc", "-c", "program.tc", *words], cwd=work, capture_output=True, text=True)
        is_equal(f"{words}", (done.returncode, done.stderr), (2, f"sukima cc: {message}\n"))


def check_json(backend, work):
    """-fdiagnostics-format=json prints one array for each .tc file, as gcc does for a C file."""
    (work / "wrong.tc").write_text(
        'task t { in int x, y; };\nworker int f(int n) {\n\tint ä = 1, unused;\n\tdo_two { n++; } { n++; } handles t { this.x = 1; } {}\n'
        '\treturn ä + unknown;\n}\ntask_exec t { }\nint f(int);\n')
    for option in ("-fdiagnostics-format=json", "-fdiagnostics-format=json-stderr"):
        done = subprocess.run([SUKIMA, "cc", backend, option, "-Wall", "-Werror=unused-variable", "-c", "wrong.tc"], cwd=work,
                              capture_output=True, text=True)
        is_equal("the exit code", done.returncode, 1)
        found = json.loads(done.stderr)
        seen = [(one["kind"], one["message"].split("'")[0], one.get("option"),
                 {k: v for k, v in one["locations"][0]["caret"].items()}) for one in found]
        is_equal("the message", [one for one in seen if "undeclared" in one[1]],
                 [("error", "use of undeclared identifier ", None,
                   {"file": "wrong.tc", "line": 5, "byte-column": 14, "column": 20, "display-column": 20})])
    (work / "wrong.tc").write_text(
        'task t { in int x, y; };\nworker int f(int n) {\n  int unused;\n  do_two { n++; } { n++; } handles t { this.x = 1; } {}\n'
        '  return n;\n}\ntask_exec t { }\nstatic int g(void);\nstatic int g(int);\n')
    for options, kinds in (([], {None: "error"}), (["-fmax-errors=1"], {None: "error"})):
        done = subprocess.run([SUKIMA, "cc", backend, "-fdiagnostics-format=json", *options, "-c", "wrong.tc"], cwd=work,
                              capture_output=True, text=True)
        conflict = [one for one in json.loads(done.stderr) if "conflicting types" in one["message"]]
        is_equal("the kind", [one["kind"] for one in conflict], ["error"])
        is_equal("its note", [(one["kind"], one["locations"][0]["caret"]["line"]) for one in conflict[0]["children"]], [("note", 8)])
    (work / "wrong.tc").write_text(
        'task t { in int x, y; };\nworker int f(int n) {\n  int unused;\n  do_two { n++; } { n++; } handles t { this.x = 1; } {}\n'
        '  return n;\n}\ntask_exec t { }\n')
    for options, expected in ((["-Wall"], {"-Wput": "warning", "-Wunused-variable": "warning"}), (["-w"], {}),
                              (["-Wall", "-Werror=put"], {"-Werror=put": "error", "-Wunused-variable": "warning"})):
        done = subprocess.run([SUKIMA, "cc", backend, "-fdiagnostics-format=json", *options, "-c", "wrong.tc"], cwd=work,
                              capture_output=True, text=True)
        found = json.loads(done.stderr)
        is_equal(f"options with {options}", {one["option"]: one["kind"] for one in found}, expected)
        is_equal(f"messages with the option, with {options}", [one for one in found if "[-W" in one["message"]], [])
        is_equal(f"the exit code with {options}", done.returncode, 1 if "-Werror=put" in options else 0)
    done = subprocess.run([SUKIMA, "cc", backend, "-fdiagnostics-format=sarif-file", "-c", "wrong.tc"], cwd=work, capture_output=True,
                          text=True)
    is_equal("another format", (done.returncode, done.stderr),
             (2, "sukima cc: messages about .tc files have no format 'sarif-file'; use text, json, msvc or vi in "
                 "'-fdiagnostics-format='\n"))
    done = subprocess.run([SUKIMA, "cc", backend, "-fdiagnostics-format=vi", "-Wall", "-c", "wrong.tc"], cwd=work, capture_output=True,
                          text=True)
    is_equal("the format of vi", "wrong.tc +3:" in done.stderr, True)
    for known in ("text", "clang", "json", "msvc", "vi"):
        run([SUKIMA, "cc", backend, f"-fdiagnostics-format={known}", "-o", "linked", "program.tc"], work)


def check_names_of_files(backend, work):
    """__FILE__ in a header that a source without a folder includes is the same as for a C file."""
    (work / "deeper").mkdir()
    (work / "part.h").write_text('#include "deeper/more.h"\nstatic const char *part(void) { return __FILE__; }\n')
    (work / "deeper" / "more.h").write_text('#include "most.h"\nstatic const char *more(void) { return __FILE__; }\n')
    (work / "deeper" / "most.h").write_text("static const char *most(void) { return __FILE__; }\n")
    (work / "main.c").write_text('#include <stdio.h>\n#include "part.h"\n'
                                 'int main(void) { printf("%s %s %s %s\\n", __FILE__, part(), more(), most()); return 0; }\n')
    (work / "main.tc").write_text((work / "main.c").read_text())
    names = []
    for source in ("main.c", "main.tc", "./main.c", "./main.tc"):
        run([SUKIMA, "cc", backend, "-o", "names", source], work)
        name = run(["./names"], work).stdout.replace(".tc", ".c")
        names.append(name.replace("./", "") if "clang" in backend else name)  # Sukima names headers as gcc does
    is_equal("the names of files", names[1::2], names[::2])


def check_side_files(backend, work):
    """Coverage and -save-temps in one step, as for a C file."""
    (work / "bin").mkdir()
    run([SUKIMA, "cc", backend, "-O0", "--coverage", "-o", "bin/covered", "program.tc"], work)
    run(["bin/covered"], work)
    is_equal("what --coverage leaves", sorted(p.name for p in (work / "bin").iterdir()),
             ["covered", "covered-program.gcda", "covered-program.gcno"])
    before = {p.name for p in work.iterdir()}
    run([SUKIMA, "cc", backend, "-save-temps", "-o", "saved", "program.tc"], work)
    left = {p.name for p in work.iterdir()} - before
    kept = (["program.bc", "program.i", "program.s", "saved", "saved-program.o"] if "clang" in backend else
            ["saved", "saved-program.i", "saved-program.o", "saved-program.s"])
    is_equal("what -save-temps leaves", sorted(left), kept)


def check_colours(backend, work):
    """An empty NO_COLOR has no effect."""
    (work / "wrong.tc").write_text("int main(void) { return unknown; }\n")
    usual = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}

    def printed(**more):
        ours, its = os.openpty()
        subprocess.run([SUKIMA, "cc", backend, "-c", "wrong.tc"], cwd=work, env={**usual, **more}, stderr=its,
                       stdin=subprocess.DEVNULL, check=False)
        os.close(its)
        text = b""
        try:
            while part := os.read(ours, 4096):  # one read may return a part of what is there
                text += part
        except OSError:  # EIO: the other side is closed
            pass
        os.close(ours)
        return text

    for option, is_coloured in (("-fdiagnostics-color", True), ("-fdiagnostics-color=always", True),
                                ("-fdiagnostics-color=auto", False), ("-fdiagnostics-color=never", False)):
        message = subprocess.run([SUKIMA, "cc", backend, option, "-c", "wrong.tc"], cwd=work, capture_output=True, check=False)
        is_equal(f"colours with {option}", b"\x1b[" in message.stderr, is_coloured)
    is_equal("the message with an empty NO_COLOR", printed(NO_COLOR=""), printed())
    is_equal("colours with NO_COLOR=1", b"\x1b[" in printed(NO_COLOR="1"), False)


def check_number_of_errors(backend, work):
    """No more errors are shown than -fmax-errors= says; 0 means all."""
    (work / "wrong.tc").write_text("".join(f"int f{k}(void) {{ return unknown{k}; }}\n" for k in range(5)))
    for options, expected in ([], 5), (["-fmax-errors=0"], 5), (["-fmax-errors=2"], 2), (["-fmax-errors=5"], 5):
        done = subprocess.run([SUKIMA, "cc", backend, *options, "-c", "wrong.tc"], cwd=work, capture_output=True, text=True)
        is_equal(f"errors with {options}", (done.returncode, done.stderr.count(": error: ")), (1, expected))
        is_equal(f"more are announced with {options}", "there are more errors" in done.stderr, expected < 5)


def check_words_of_several_lines(backend, work):
    refused = subprocess.run([SUKIMA, "cc", backend, "-fclosures=a\nb"], cwd=work, text=True, capture_output=True)
    is_equal("the message", (refused.returncode, refused.stderr),
             (2, "sukima cc: unknown '-fclosures=a\\nb'; use 'frame', 'unwind' or 'exceptions'\n"))


def check_stack_probes(backend, work):
    """Every compilation makes code that probes large frames, unless the user turns that off."""
    (work / "plain.c").write_text("int plain;\n")
    (work / "made.o").write_text("")
    probes = "-fstack-clash-protection"
    for options, expected in ((["-c", "program.tc"], True), (["program.tc"], True), (["-c", "plain.c"], True),
                              (["-c", "program.tc", "plain.c"], True), (["made.o"], False), (["-E", "plain.c"], False)):
        shown = run([SUKIMA, "cc", backend, "-###", *options], work).stderr
        is_equal(f"{probes} of {' '.join(options)}", probes in shown, expected)
    shown = run([SUKIMA, "cc", backend, "-###", "-c", "-fno-stack-clash-protection", "program.tc"], work).stderr
    is_equal("the user's option comes later", shown.index(probes) < shown.index("-fno-stack-clash-protection"), True)


NEWER_C = """\
#include <stdbool.h>
#include <stdalign.h>
worker int f(unsigned _BitInt(7) n) { return (int)n; }
worker int g(bool b) { alignas(8) int k = b ? true : false; enum e : long { one = 1 }; return k + one; }
int main(void) { return f(1) - g(1) - 1; }
"""


def check_newer_c(backend, work):
    """gcc 12 does not know C that Clang parses: one message for each feature, not gcc's about the generated C."""
    (work / "newer.tc").write_text(NEWER_C)
    (work / "later.tc").write_text("int *p = nullptr;\nint f(bool b) { auto k = 3; static_assert(true); return b + k; }\n")
    version = run([backend.removeprefix("--backend="), "-dumpversion"], work).stdout.split(".")[0].strip()
    if "clang" in backend or int(version) >= 13:
        return
    for options, name, features in (
            ([], "newer.tc", [("3:23", "'_BitInt'", 14), ("4:66", "an enum with a type", 13)]),
            (["-std=gnu2x"], "later.tc", [("1:10", "'nullptr'", 13), ("2:7", "'bool'", 13), ("2:22", "'auto' without", 13),
                                          ("2:29", "'static_assert'", 13), ("2:43", "'true'", 13)])):
        done = subprocess.run([SUKIMA, "cc", backend, *options, "-c", name], cwd=work, capture_output=True, text=True)
        found = [line for line in done.stderr.splitlines() if ": error: " in line]
        is_equal("exit code and number of errors", (done.returncode, len(found)), (1, len(features)))
        for place, feature, since in features:
            if not any(line.startswith(f"{name}:{place}: error: {feature}") and
                       f" needs gcc {since}, but the C compiler is gcc {version}; " in line for line in found):
                raise failure(f"no message about {feature} at {name}:{place}: {done.stderr}")


def check_levels(backend, work):
    """gcc accepts -O9, and -Ofast without a warning."""
    for level in ["-Ofast"] if "clang" in backend else ["-O9", "-Ofast"]:
        is_equal(f"messages with {level}", run([SUKIMA, "cc", backend, "-Werror", level, "-c", "program.tc"], work).stderr, "")


def main():
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)  # a shell's command in the background ignores some
    for backend in BACKENDS:
        for check in (check_interruption, check_preprocessing, check_translation, check_output_files, check_makefile,
                      check_reproducible, check_lines, check_clones, check_left_clones, check_colours, check_pragmas,
                      check_threads, check_predefined, check_preprocessor_words, check_character_sets, check_dependencies,
                      check_packed_structures, check_without_temporary_folder, check_line_directives,
                      check_names_that_are_not_utf8, check_launcher, check_compilers_that_cannot_start,
                      check_json, check_names_of_files, check_side_files, check_stack_probes, check_newer_c,
                      check_levels, check_number_of_errors, check_words_of_several_lines):
            with tempfile.TemporaryDirectory() as folder:
                work = Path(folder)
                (work / "program.tc").write_text(PROGRAM)
                try:
                    check(f"--backend={backend}", work)
                except failure as problem:
                    print(f"FAILED: {check.__name__} with {backend}: {problem}")
                    return 1
    print("everything is as it should be")
    return 0 if BACKENDS else 1


sys.exit(main())
