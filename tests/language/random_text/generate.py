# SPDX-License-Identifier: Apache-2.0
"""Random Tascell programs whose results do not depend on timing.

A program computes a sum over a workspace that dynamic_winds change and restore; each task gets a copy. The parallel program
must print what its sequential erasure prints. Two rules ensure that it does:

- A throw goes to the innermost `try` around it, and a construct that a throw may pass is left in no other way; otherwise
  the throw of a task and a jump of the owner could race.
- A jump (`break`, `return` …) out of a construct's part that became a task cannot be made in the task. The task stores it
  as a number; GET takes it and ignores all later tasks, and the jump follows after the construct.

So the generator prints the second half of a do_two, and the body of a loop, twice: in place, and as a function for the task.

Closures take part in four ways: worker closures with such trees as their blocks; plain ones that BEFORE, AFTER, PUT and
GET call; `readers`, which see a variable of a suspended function and are called through pointers, also by tasks; and
`escapes`, whose goto jumps to a label of the function that declared them. Escapes are used like throws: to the
innermost one, wherever a throw is allowed.

Programs for several nodes have no readers and escapes, whose pointers would keep the tasks in their node, and call each
program by an entry that all nodes share.
"""
import random

PRELUDE = """#include <stdio.h>
#include <string.h>
struct env { unsigned long stack[64]; int n, wrong; };
static unsigned long mix(unsigned long a, unsigned long b) {
  a ^= b + 0x9e3779b97f4a7c15ul + (a << 6) + (a >> 2);
  return a * 0xbf58476d1ce4e5b9ul ^ a >> 29;
}
static unsigned long look(const struct env *e, unsigned long x, const long *v, int m) {
  unsigned long r = x;
  for (int k = 0; k < e->n; k++) r = mix(r, e->stack[k]);
  for (int k = 0; k < m; k++) r = mix(r, (unsigned long)v[k]);
  for (int k = 0; k < WORK; k++) r = mix(r, 1);
  return r;
}
typedef void escape closure (void);
typedef long reader closure (unsigned long);
static void leave_by(escape *way) { way(); }
static long read_by(reader *from, unsigned long y) { return from(y); }
static long nothing_read(unsigned long y) { return (long)(y & 15); }
static void push(struct env *e, unsigned long value) { e->stack[e->n++] = value; }
static void pop(struct env *e, unsigned long value) { if (e->stack[--e->n] != value) e->wrong++; }
"""


class program:
    """One program: functions that call only functions before them."""

    def __init__(self, seed, name, small=False, travels=False):
        self.random = random.Random(seed)
        self.name = name
        self.travels = travels
        self.nodes = 0
        self.codes = {}
        self.tasks = []  # declarations
        self.parts = []  # functions for tasks
        self.functions = []
        self.budgets = []
        sizes = [4, 16] if small else [40, 150, 500, 1500]
        for number in range(self.random.randint(1, len(sizes))):
            self.current = number
            budget = sizes[number]
            body = self.block(0, budget, [], True, 0)
            self.functions.append(body)
            self.budgets.append(budget)

    # Trees ----------------------------------------------------------------------------------------------

    def new(self, kind, **members):
        self.nodes += 1
        return dict(kind=kind, id=self.nodes, **members)

    def constant(self):
        return self.random.randint(1, 9999)

    def block(self, depth, budget, targets, throws, winds):
        count = self.random.randint(1, 4 if depth < 4 else 2)
        return [self.statement(depth + 1, max(1, budget // count), targets, throws, winds) for _ in range(count)]

    def statement(self, depth, budget, targets, throws, winds):
        r = self.random
        kinds = ["add", "add", "poll", "exit", "exit", "throw", "throw", "call", "read"]
        if depth < 7 and budget >= 2:
            kinds += ["wind", "wind", "if", "loop", "loop", "two", "two", "join", "try", "try", "sequential", "switch",
                      "named", "reader", "escape", "nested"]
        if self.travels:
            kinds = [kind for kind in kinds if kind not in ("read", "reader", "escape")]
        kind = r.choice(kinds)
        inner = lambda cost=1, more=(), t=throws, w=winds, old=targets: self.block(  # noqa: E731
            depth, budget // cost, list(old) + list(more), t, w)
        if kind == "call":
            able = [k for k in range(self.current) if self.budgets[k] <= budget]
            if not able:
                kind = "add"
            else:
                return self.new("call", callee=r.choice(able), constant=self.constant(), throws=throws and r.random() < .7)
        if kind == "exit":
            able = [t for t in targets if t != "no return"] + ([] if "no return" in targets else ["return"])
            if able:
                return self.new("exit", target=r.choice(able), constant=self.constant(), rare=r.randint(2, 6))
            kind = "add"
        if kind == "throw":
            if throws:
                return self.new("throw", constant=self.constant(), rare=r.randint(2, 6))
            kind = "add"
        if kind in ("add", "poll", "read"):
            return self.new(kind, constant=self.constant())
        if kind == "wind" and winds > 40:
            kind = "if"
        node = self.new(kind, constant=self.constant())
        own = node["id"]
        if kind == "wind":
            node["body"] = inner(w=winds + 1)
        elif kind == "if":
            node["body"] = inner(2)
            node["other"] = inner(2) if r.random() < .5 else []
        elif kind == "sequential":
            node["count"] = r.randint(1, 4)
            node["body"] = inner(node["count"], [("break", own), ("continue", own)])
        elif kind == "switch":
            node["cases"] = [inner(3, [("leave", own)]) for _ in range(3)]
            node["through"] = r.random() < .3
        elif kind == "named":
            node["body"] = inner(1, [("leave", own)])
        elif kind in ("try", "escape"):
            node["body"] = inner(2, t=True)
            node["other"] = inner(2)
        elif kind == "reader":
            node["body"] = inner()
        elif kind == "nested":
            node["body"] = inner(2, old=[])
        else:  # a parallel construct: either throws may pass it, or jumps may
            passing = throws and r.random() < .5
            node["passing"] = passing
            old = ["no return"] if passing else targets
            if kind == "two":
                node["first"] = inner(2, old=old, t=passing)
                node["second"] = inner(2, old=old, t=passing)
            elif kind == "loop":
                node["count"] = r.randint(0, 9)
                more = [("continue", own)] + ([] if passing else [("break", own)])
                node["body"] = inner(max(1, node["count"]), more, old=old, t=passing)
                if winds <= 40 and r.random() < .6:  # idle workers come late, so there is something to undo
                    late = self.new("add", constant=self.constant())
                    node["body"] = [self.new("wind", constant=self.constant(),
                                             body=node["body"] + [self.new("poll", constant=0), late])]
            else:
                able = [k for k in range(self.current) if self.budgets[k] <= max(1, budget // 3)]
                node["calls"] = [(r.choice(able), self.constant()) for _ in range(r.randint(1, 3))] if able else []
                node["last"] = inner(3, old=old, t=passing)
        return node

    # Text ------------------------------------------------------------------------------------------------

    def code(self, target):
        return self.codes.setdefault(target, len(self.codes) + 1)

    def nodes_in(self, tree):
        """All nodes of a tree, or of a list of trees and other things."""
        if isinstance(tree, list):
            for one in tree:
                yield from self.nodes_in(one)
        elif isinstance(tree, dict):
            yield tree
            for value in tree.values():
                if isinstance(value, list):
                    yield from self.nodes_in(value)

    def ids_in(self, tree):
        return {node["id"] for node in self.nodes_in(tree)}

    def exits(self, tree):
        """The targets of all jumps in a tree."""
        return {node["target"] for node in self.nodes_in(tree) if node["kind"] == "exit"}

    def jump(self, target, c):
        """C for a jump to a target from the position that `c` describes."""
        if target == "return":
            return "{ *left = %d; return s; }" % self.code(target) if c["part"] else "return s + 17;"
        kind, node = target
        outside = c["part"] and (node not in c["inside"] or (kind == "break" and node == c["part"]))
        if outside:
            return "{ *left = %d; return s; }" % self.code(target)
        if kind == "continue":
            return "continue;" if c["continues"] == node else "goto next%d;" % node
        return "break;" if c["breaks"] == node else "goto behind%d;" % node

    def follow(self, node, trees, c):
        """The code after a construct: the jumps of the parts that became tasks."""
        inside = self.ids_in(trees)
        text = ""
        for target in sorted(self.exits(trees), key=str):
            if target != "return" and target[1] in inside:
                continue
            if target == ("continue", node["id"]):
                continue
            stays = target == ("break", node["id"])
            jump = "" if stays and not (c["part"] == node["id"]) else self.jump(target, c)
            if jump:
                text += "if (left%d == %d) %s\n" % (node["id"], self.code(target), jump)
        return text

    def many(self, tree, c):
        return "".join(self.text(one, c) for one in tree)

    def part(self, node, trees, c, head, loop):
        """The function that a task of the node runs; made at the first call."""
        name = "%s_%s%d" % (self.name, "loop" if loop else "two", node["id"])
        if node.get("printed"):
            return name
        node["printed"] = True
        bounds = ", int from, int to" if loop else ""
        pointers = "" if self.travels else " in escape *way; in reader *seen[2];"
        self.tasks.append("task %s_t { in struct env e; in unsigned long x; in int m; in long v[4]; in size_t tag;"
                          "%s%s out long s; out int left; };\n"
                          "worker long %s(struct env *e, unsigned long x, int m, const long *v0, size_t tag, escape *way,"
                          " reader *const *seen, int *left%s);\n"
                          "task_exec %s_t { this.s = %s(&this.e, this.x, this.m, this.v, this.tag, %s,"
                          " &this.left%s) + this.e.wrong; }\n"
                          % (name, pointers, " in int i0, i1;" if loop else "", name, bounds, name, name,
                             "0, 0" if self.travels else "this.way, this.seen",
                             ", this.i0, this.i1" if loop else ""))
        inner = dict(self.START, part=node["id"], inside=self.ids_in(trees) | {node["id"]})
        body = head(inner)
        self.parts.append("worker long %s(struct env *e, unsigned long x, int m, const long *v0, size_t tag, escape *way,"
                          " reader *const *seen, int *left%s) {\n"
                          "long s = 0; long v[m]; memcpy(v, v0, sizeof v); (void)left; (void)tag;\n%sreturn s;\n}\n"
                          % (name, bounds, body))
        return name

    # A position: the task whose function it is in, and the constructs inside that; the names of the parameters passed on
    # there; the loop or switch around it.
    START = dict(part=None, inside=set(), x="x", tag="tag", way="way", seen="seen", breaks=None, continues=None)

    def put(self, node, c):
        """Declarations before a construct, and the statements of PUT that all tasks need."""
        text = "T e = *e; T x = %s; T m = m; memcpy(T v, v, sizeof(long) * m); T tag = %s;" % (c["x"], c["tag"])
        if not self.travels:
            text += " T way = %s; memcpy(T seen, %s, sizeof T seen);" % (c["way"], c["seen"])
        own = node["id"]
        if node["constant"] % 4:
            return "", text.replace("T ", "this."), "s += this.s;"
        name = "%s_%s%d_t" % (self.name, node["kind"], own)
        return ("void put%d closure (task %s *t) { %s }\nvoid get%d closure (task %s *t) { s += t->s; }\n"
                % (own, name, text.replace("T ", "t->"), own, name),
                "put%d(&this);" % own, "get%d(&this);" % own)

    def the_loop(self, node, c, first, end):
        """A loop over a range, or the same one by successor."""
        own = node["id"]
        successor = "%s; i%d != %s && e != NULL; (int)(i%d + 1u)" % (first, own, end, own)
        bounds = successor if node["constant"] % 3 == 0 else "%s, %s" % (first, end)
        name = "%s_loop%d_t" % (self.name, own)
        inner = dict(c, x="x%d" % own, breaks=own, continues=own)
        follow = self.follow(node, [node["body"]], c)
        closures, put, get = self.put(node, c)
        return ("{ int left%d = 0;\n%sfor (int i%d : %s) {\nconst unsigned long x%d = mix(%s, i%d);\n%snext%d:;\n}\n"
                "handles %s (int from%d, int to%d) { %s this.i0 = from%d; this.i1 = to%d; }\n"
                "{ if (!left%d) { %s left%d = this.left; } }\n%s(void)left%d; }\nbehind%d:;\n"
                % (own, closures, own, bounds, own, c["x"], own, self.many(node["body"], inner), own, name, own, own,
                   put, own, own, own, get, own, follow, own, own))

    def text(self, node, c):
        kind, own, constant, x = node["kind"], node["id"], node["constant"], c["x"]
        if kind == "add":
            return "s += look(e, %s ^ %d, v, m);\n" % (x, constant)
        if kind == "poll":
            return "poll;\n"
        if kind == "exit":
            return "if (mix(%s, %d) %% %d == 0) %s\n" % (x, constant, node["rare"], self.jump(node["target"], c))
        if kind == "throw":
            way = ("leave_by(%s);" if constant % 2 else "(%s)();") % c["way"]
            return ("if (mix(%s, %d) %% %d == 0) { if (%s) %s if (%s) throw %s; }\n"
                    % (x, constant, node["rare"], c["way"], way, c["tag"], c["tag"]))
        if kind == "read":
            form = "read_by(%s[%d], mix(%s, %d))" if constant & 2 else "%s[%d](mix(%s, %d))"
            return "s += " + form % (c["seen"], constant & 1, x, constant) + ";\n"
        if kind == "call":
            by_c = constant % 4 == 0
            return "s += %s_%s%d(e, mix(%s, %d), v, %s, %s, %s);\n" % (
                self.name, "c" if by_c else "f", node["callee"], x, constant,
                c["tag"] if node["throws"] else "0", c["way"] if node["throws"] else "0", c["seen"])
        if kind == "wind":
            value = "mix(%s, %d)" % (x, constant)
            if constant % 3 == 0:
                return ("{ void in%d closure (unsigned long y) { push(e, y); v[%d %% m] += %d; }\n"
                        "void out%d closure (unsigned long y) { v[%d %% m] -= %d; pop(e, y); }\n"
                        "dynamic_wind { in%d(%s); } {\n%s} { out%d(%s); } }\n"
                        % (own, constant, constant, own, constant, constant, own, value,
                           self.many(node["body"], dict(c)), own, value))
            return ("dynamic_wind { push(e, %s); v[%d %% m] += %d; } {\n%s} { v[%d %% m] -= %d; pop(e, %s); }\n"
                    % (value, constant, constant, self.many(node["body"], dict(c)), constant, constant, value))
        if kind == "if":
            return "if (mix(%s, %d) & 1) {\n%s} else {\n%s}\n" % (x, constant, self.many(node["body"], c),
                                                                self.many(node["other"], c))
        if kind == "sequential":
            inner = dict(c, x="x%d" % own, breaks=own, continues=own)
            return ("for (int k%d = 0; k%d < %d; k%d++) {\nconst unsigned long x%d = mix(%s, k%d);\n%snext%d:;\n}\nbehind%d:;\n"
                    % (own, own, node["count"], own, own, x, own, self.many(node["body"], inner), own, own))
        if kind == "switch":
            text = "switch (mix(%s, %d) %% 3) {\n" % (x, constant)
            for number, body in enumerate(node["cases"]):
                text += "%s {\n%s}\n" % ("default:" if number == 2 else "case %d:" % number,
                                        self.many(body, dict(c, breaks=own)))
                text += "" if node["through"] else "break;\n"
            return text + "}\nbehind%d:;\n" % own
        if kind == "named":
            return "{\n%s}\nbehind%d:;\n" % (self.many(node["body"], c), own)
        if kind == "try":
            inner = dict(c, tag="tag%d" % own, way="(escape *)0")
            return ("{ const long s%d = s; const size_t tag%d = %d + (%s & 1);\ntry {\n%s} catch (tag%d) {\ns = s%d + %d;\n%s}\n}\n"
                    % (own, own, 10 * own, x, self.many(node["body"], inner), own, own, constant,
                       self.many(node["other"], c)))
        if kind == "escape":
            inner = dict(c, tag="(size_t)0", way="go%d" % own)
            return ("{ __label__ out%d; const long s%d = s; int all%d = 0;\nvoid go%d closure (void) { goto out%d; }\n"
                    "%sall%d = 1;\nout%d:;\nif (!all%d) { s = s%d + %d;\n%s}\n}\n"
                    % (own, own, own, own, own, self.many(node["body"], inner), own, own, own, own, constant,
                       self.many(node["other"], c)))
        if kind == "reader":
            inner = dict(c, seen="seen%d" % own)
            return ("{ long c%d = %d; reader *seen%d[2] = { %s[0], %s[1] };\n"
                    "long read%d closure (unsigned long y) { return (long)(mix(y, (unsigned long)c%d) & 1023); }\n"
                    "seen%d[%d] = read%d;\n%s%ss += seen%d[0](%s) + read%d(%s);\n}\n"
                    % (own, constant, own, c["seen"], c["seen"], own, own, own, constant & 1, own,
                       "c%d += m;\n" % own if constant & 2 else "", self.many(node["body"], inner), own, x, own, x))
        if kind == "nested":
            inner = dict(c, part=None, inside=set(), x="y%d" % own, breaks=None, continues=None)
            return ("{ worker long work%d closure (unsigned long y%d) {\nlong s = %d;\n%sreturn s;\n}\n"
                    "worker long (*p%d) closure (unsigned long) = work%d;\ns += %s%d(mix(%s, %d));\n(void)p%d; }\n"
                    % (own, own, constant, self.many(node["body"], inner), own, own, "p" if constant & 1 else "work", own,
                       x, constant, own))
        if kind == "loop":
            self.part(node, [node["body"]], c, lambda inner: self.the_loop(node, inner, "from", "to"), True)
            return self.the_loop(node, c, str(constant % 7 - 3), str(constant % 7 - 3 + node["count"]))
        if kind == "two":
            name = self.part(node, [node["second"]], c, lambda inner: self.many(node["second"], inner), False)
            closures, put, get = self.put(node, c)
            return ("{ int left%d = 0;\n%sdo_two {\n%s} {\n%s}\nhandles %s_t { %s }\n{ %s left%d = this.left; }\n"
                    "%s(void)left%d; }\nbehind%d:;\n"
                    % (own, closures, self.many(node["first"], c), self.many(node["second"], c), name,
                       put, get, own, self.follow(node, [node["second"]], c), own, own))
        # join
        # Thieves get copies, because the owner's last statement changes its own workspace at the same time.
        text = "{ long v%d[m]; memcpy(v%d, v, sizeof v); (void)v%d;\n" % (own, own, own)
        text += "".join("struct env e%d_%d = *e; long r%d_%d;\n" % (own, k, own, k) for k in range(len(node["calls"])))
        text += "join {\n"
        for k, (callee, value) in enumerate(node["calls"]):
            passing = (c["tag"], c["way"]) if node["passing"] else ("0", "0")
            text += "spawn r%d_%d = %s_f%d(&e%d_%d, mix(%s, %d), v%d, %s, %s, %s);\n" % (
                own, k, self.name, callee, own, k, x, value, own, *passing, c["seen"])
        text += "{\n%s}\n}\n" % self.many(node["last"], c)
        text += "".join("s += r%d_%d + e%d_%d.wrong;\n" % (own, k, own, k) for k in range(len(node["calls"])))
        return text + "}\n"

    def source(self):
        text = []
        for number, body in enumerate(self.functions):
            self.tasks, self.parts = [], []
            inside = self.many(body, self.START)
            head = ("worker long %s_f%d(struct env *e, unsigned long x, const long *v0, size_t tag, escape *way,"
                    " reader *const *seen)" % (self.name, number))
            by_c = ("static long %s_c%d(struct env *e, unsigned long x, const long *v0, size_t tag, escape *way,"
                    " reader *const *seen) { return %s_f%d(e, x, v0, tag, way, seen); }\n"
                    % (self.name, number, self.name, number))
            text.append("".join(self.tasks) + "%s {\nconst int m = 1 + (int)(x & 3);\nlong v[m];\n"
                        "for (int k = 0; k < m; k++) v[k] = v0[0] + k;\nlong s = 0;\n%sreturn s;\n}\n" % (head, inside)
                        + by_c + "".join(self.parts))
        return "".join(text)

    def entry(self):
        """Prints the program's value by a call that all nodes share, and the final workspace."""
        return ("cluster worker struct answer %s_entry(unsigned long x) {\nstruct env e = { { 0 }, 0, 0 };\n"
                "const long v[4] = { 1, 2, 3, 4 };\nstruct answer a = { 0, 0, 0 };\na.s = %s_f%d(&e, x, v, 0, 0, 0);\n"
                "a.n = e.n;\na.wrong = e.wrong;\nreturn a;\n}\n" % (self.name, self.name, len(self.functions) - 1))

    def call(self):
        last = len(self.functions) - 1
        if self.travels:
            return ("for (unsigned long x = 1; x < 4; x++) {\nconst struct answer a = %s_entry(x);\n"
                    "printf(\"%s %%lx %%d %%d\\n\", (unsigned long)a.s, a.n, a.wrong);\n}\n" % (self.name, self.name))
        return ("for (unsigned long x = 1; x < 4; x++) {\nstruct env e = { { 0 }, 0, 0 };\nconst long v[4] = { 1, 2, 3, 4 };\n"
                "reader *const seen[2] = { nothing_read, nothing_read };\n"
                "printf(\"%s %%lx\", (unsigned long)%s_f%d(&e, x, v, 0, 0, seen));\nprintf(\" %%d %%d\\n\", e.n, e.wrong);\n}\n"
                % (self.name, self.name, last))


def source(seeds, work, repeats, small=False, travels=False):
    """One file with a program for each seed.

    work -- steps of a computation during which other workers become idle
    repeats -- how often everything runs
    small -- short programs: a compiler takes many of these in the time of one other program
    travels -- for several nodes
    """
    programs = [program(seed, "p%d" % seed, small, travels) for seed in seeds]
    entries = "struct answer { long s; int n, wrong; };\n" + "".join(p.entry() for p in programs) if travels else ""
    return ("#define WORK %d\n#define REPEATS %d\n" % (work, repeats) + PRELUDE + "".join(p.source() for p in programs) + entries
            + "int main(void) {\nfor (int again = 0; again < REPEATS; again++) {\n" + "".join(p.call() for p in programs)
            + "}\nreturn 0;\n}\n")
