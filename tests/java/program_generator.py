# SPDX-License-Identifier: Apache-2.0
"""Random Java programs with nested functions, each in two forms that must behave alike.

The extended form changes the variables of methods in nested functions. The plain form keeps these variables in arrays of
one element, so that javac accepts it and no frame is ever captured.
"""
import random

from program_expressions import Expressions, Variable
from program_prelude import PRELUDE


class Program:
    """One class, P<number>, made from a seed."""

    def __init__(self, number, seed, is_plain):
        self.random = random.Random(seed)
        self.number, self.is_plain = number, is_plain
        self.lines, self.indent, self.names = [], 1, 0
        self.methods = self.random.randint(1, 3)

    def put(self, line):
        self.lines.append("    " * self.indent + line)

    def name(self, kind):
        self.names += 1
        return f"{kind}{self.names}"

    def text(self):
        self.put("int field = 1;")
        self.put(f"static final P{self.number} self = new P{self.number}();")
        for index in range(self.methods):
            Method(self, index).write()
        Constructor(self, 0).write()
        self.put("static <T> T generic(T first, List<? extends T> more, Visit f) throws E1 {")
        self.put("    T kept = first;")
        self.put("    for (T each : more) if (f.visit(kept.hashCode()) > 0) kept = each;")
        self.put("    return kept;")
        self.put("}")
        self.put("static void run() throws E1 {")
        self.put("    Log.add(self.field + start(5));")
        self.put("}")
        self.put("static int start(int x) throws E1 {")
        variable = Variable("calls", "int", True, self.is_plain)
        self.put(f"    {variable.declaration('0')}")
        self.put(f"    Visit f = y -> {{ {variable.use()} += y; return {variable.use()} % 7; }};")
        self.put(f"    int r = {self.call(0, '4', 'x', 'f', 'f')};")
        self.put(f"    return r + {variable.use()};")
        self.put("}")
        return f"final class P{self.number} {{\n" + "\n".join(self.lines) + "\n}\n"

    def call(self, index, depth, argument, f, g, receivers=("self.",)):
        receiver = self.random.choice(receivers) if index % 2 else ""
        return f"{receiver}m{index}({depth}, {argument}, {f}, {g})"


class Method(Expressions):
    """A method, or within it a nested function: scopes of variables and of functions that can be called."""

    def __init__(self, program, index):
        self.program, self.random, self.index = program, program.random, index
        self.scopes = [[]]
        self.functions, self.steps = ["f", "g"], []
        self.labels, self.depth, self.nesting = [], 0, 0
        self.is_pure = False
        self.own = []
        self.budget = 8
        self.has_result = True
        self.yields = None

    def put(self, line):
        self.program.put(line)

    def write(self):
        static = "" if self.index % 2 else "static "
        a = Variable("a", "int", True, self.program.is_plain)
        parameter = "given" if self.program.is_plain else "a"
        self.put(f"{static}{self.random.choice(['', '', 'synchronized '])}int m{self.index}(int depth, int {parameter}, Visit f, Visit g) throws E1 {{")
        self.program.indent += 1
        if self.program.is_plain:
            self.put(a.declaration(parameter))
        self.put("if (depth <= 0 || Log.isEmpty()) { return f.visit(" + a.use() + ") + g.visit(1); }")
        self.put(f"Log.add(\"m{self.index}\");")
        self.put("Visit held = f;")
        self.scopes[0].append(a)
        self.statements(self.random.randint(3, 5))
        self.put(f"return {self.integer()};")
        self.program.indent -= 1
        self.put("}")

    def declare(self, kind):
        value = {"int": self.integer, "long": self.long, "String": self.string, "boolean": self.boolean}[kind]()
        variable = Variable(self.program.name(kind[0]), kind, True, self.program.is_plain)
        self.put(variable.declaration(value))
        self.scopes[-1].append(variable)
        if self.nesting:
            self.own.append(variable)

    def statements(self, count):
        for _ in range(count):
            self.statement()

    def block(self, count=None):
        self.scopes.append([])
        functions, steps = len(self.functions), len(self.steps)
        self.program.indent += 1
        self.depth += 1
        self.statements(count or self.random.randint(1, 3))
        self.depth -= 1
        self.program.indent -= 1
        del self.functions[functions:], self.steps[steps:]
        self.scopes.pop()

    def statement(self):
        self.budget -= 1
        simple = ["declare", "declare", "assign", "log", "log", "call"]
        compound = ["if", "while", "for", "each", "list", "do", "switch", "rules", "try", "try", "jump", "block", "lambda", "step", "synchronized", "resources", "choice"]
        if not self.is_pure:
            compound += ["function", "function"]
        if self.depth > 3 or self.budget < 0:
            compound = ["jump"]
        getattr(self, "write_" + self.random.choice(simple + compound))()

    def write_declare(self):
        self.declare(self.random.choice(["int", "int", "int", "long", "String", "boolean"]))

    def write_assign(self):
        kind = self.random.choice(["int", "int", "long", "String", "boolean"])
        variables = self.visible(kind)
        if not variables:
            return self.write_log()
        variable = self.random.choice(variables).use()
        if kind == "int":
            self.put(f"{variable} {self.random.choice(['=', '+=', '*=', '<<=', '|='])} {self.integer()};")
        elif kind == "long":
            self.put(f"{variable} {self.random.choice(['=', '+=', '-='])} {self.long()};")
        elif kind == "String":
            self.put(f"if ({variable}.length() < 40) {variable} += {self.integer()};")
        else:
            self.put(f"{variable} {self.random.choice(['=', '&=', '^='])} {self.boolean()};")

    def write_log(self):
        self.put(f"Log.add({self.random.choice([self.integer, self.string, self.boolean, self.long])()});")

    def write_call(self):
        if self.is_pure:
            return self.write_log()
        functions = self.functions if self.nesting else [*self.functions, "held"]
        self.put(f"{self.random.choice(functions)}.visit({self.integer()});")

    def write_block(self):
        self.put("{")
        self.block()
        self.put("}")

    def write_synchronized(self):
        if self.yields is not None:
            return self.write_log()  # javac 17 makes wrong code of synchronized blocks inside switch expressions
        locks = ["Log.text", "self"] + (["this"] if self.index % 2 else [])
        self.put(f"synchronized ({self.random.choice(locks)}) {{")
        self.block()
        self.put("}")

    def write_if(self):
        self.put(f"if ({self.boolean()}) {{")
        self.block()
        if self.chance(0.5):
            self.put("} else {")
            self.block()
        self.put("}")

    def loop(self, header, footer="}", declared=None):
        label = self.program.name("loop")
        self.put(f"{label}: {header}")
        self.labels.append((label, True))
        self.scopes.append([declared] if declared else [])
        if declared and self.nesting:
            self.own.append(declared)
        self.put("    if (Log.isEmpty()) break;")
        self.block()
        self.scopes.pop()
        self.labels.pop()
        self.put(footer)

    def write_while(self):
        self.loop(f"while ({self.boolean()} && !Log.isEmpty()) {{")

    def write_do(self):
        self.loop("do {", f"}} while ({self.boolean()});")

    def write_for(self):
        i = self.program.name("i")
        update = f"{i}++" if self.chance(0.6) else f"{i} += 1 + ({self.integer(1)} & 1)"
        test = f"{i} < 3" if self.chance(0.6) else f"{i} < ({self.integer(1)} & 3)"
        self.loop(f"for (int {i} = 0; {test}; {update}) {{", declared=Variable(i, "int", False, False, True))

    def write_each(self):
        x = self.program.name("x")
        elements = ", ".join(self.integer(1) for _ in range(self.random.randint(1, 3)))
        self.loop(f"for (int {x} : new int[] {{{elements}}}) {{", declared=Variable(x, "int", False, False, True))

    def write_list(self):
        x = self.program.name("x")
        kind = self.random.choice(["int", "long"])
        elements = ", ".join(self.integer(1) for _ in range(self.random.randint(1, 3)))
        self.loop(f"for ({kind} {x} : List.of({elements})) {{", declared=Variable(x, kind, False, False, True))

    def write_switch(self):
        label = self.program.name("choice")
        self.put(f"{label}: switch ({self.integer(2)} & 3) {{")
        self.labels.append((label, False))
        for case in self.random.sample(["case 0", "case 1", "case 2", "default"], 3):
            self.put(f"    {case}: {{")
            self.block()
            self.put("    }")
            if self.chance(0.6):
                self.put("    break;")
        self.labels.pop()
        self.put("}")

    def write_rules(self):
        self.put(f"switch ((\"k\" + ({self.integer(2)} & 1))) {{")
        for case in ['case "k0", "k7"', 'case "k1"', "default"]:
            self.put(f"    {case} -> {{")
            self.block()
            self.put("    }")
        self.put("}")

    def write_try(self):
        self.put("try {")
        self.put(f"    Log.check({self.integer(1)});")
        self.block()
        form = self.random.choice(["catch", "finally", "both", "throwable", "multi"])
        if form in ("catch", "both", "multi"):
            types = "E1 | R1" if form == "multi" else "R1"
            e = self.program.name("e")
            self.put(f"}} catch ({types} {e}) {{")
            self.put(f"    Log.add({e}.getMessage());")
            self.block()
        if form == "throwable":
            e = self.program.name("e")
            self.put(f"}} catch (Throwable {e}) {{")
            self.put(f"    Log.add({e}.getClass());")
            self.block()
        if form in ("finally", "both"):
            self.put("} finally {")
            self.last()
        self.put("}")

    def write_resources(self):
        resources = []
        for _ in range(self.random.randint(1, 2)):
            creation = "Resource.of" if self.chance(0.4) else "new Resource"
            resources.append(f"Resource {self.program.name('r')} = {creation}({self.integer(1)} & 7)")
        self.put(f"try ({'; '.join(resources)}) {{")
        self.block()
        form = self.random.choice(["", "catch", "catch", "finally"])
        if form == "catch":
            e = self.program.name("e")
            self.put(f"}} catch (E1 | R1 {e}) {{")
            self.put(f"    Log.addAll({e});")
            self.block()
        if form == "finally":
            self.put("} finally {")
            self.last()
        self.put("}")

    def last(self):
        """The body of a finally block."""
        was, self.is_pure = self.is_pure, self.is_pure or self.chance(0.3)
        self.block()
        self.is_pure = was

    def write_choice(self):
        """A switch expression with blocks, inside an expression that is evaluated around it."""
        kind = self.random.choice(["int", "String"])
        value = self.integer if kind == "int" else self.string
        before = f"Log.both({self.integer(1)}, " if kind == "int" else f"Log.join({self.string()}, "
        self.put(f"Log.add({before}switch ({self.integer(2)} & 3) {{")
        saved = (self.labels, self.yields)
        self.labels, self.yields = [], lambda: ("0 + " if kind == "int" else '"y" + ') + value()  # Java takes `yield (` for a call
        is_rule = self.chance(0.5)
        for case in ["case 0", "case 1, 2", "default"]:
            if is_rule and self.chance(0.4):
                self.put(f"    {case} -> {value()};")
                continue
            self.put(f"    {case}{' -> {' if is_rule else ': {'}")
            self.block()
            falls = not is_rule and case != "default" and self.chance(0.3)
            self.put("    }" if falls else f"        yield {self.yields()};\n    }}")
        self.labels, self.yields = saved
        self.put(f"}}) + {self.integer(1)});")

    def write_jump(self):
        jumps = ["return"] if self.yields is None else ["yield", "yield"]
        jumps += ["throw R1", "throw E1"]
        jumps += [f"break {label}" for label, _ in self.labels] + [f"continue {label}" for label, is_loop in self.labels if is_loop]
        jump = self.random.choice(jumps)
        condition = self.boolean(1)
        if jump == "return":
            jump = f"return {self.integer(1)}" if self.has_result else "return"
        elif jump == "yield":
            jump = f"yield {self.yields()}"
        elif jump.startswith("throw"):
            jump = f"throw new {jump[6:]}({self.string()})"
        self.put(f"if ({condition}) {{ {jump}; }}")

    def write_lambda(self):
        """An ordinary lambda, which sees a variable that never changes."""
        constant, run = self.program.name("c"), self.program.name("run")
        self.put(f"final int {constant} = {self.integer(2)};")
        self.put(f"java.util.function.IntSupplier {run} = () -> {constant} * 2 + 1;")
        self.put(f"Log.add({run}.getAsInt());")

    def write_function(self):
        if self.nesting > 1:
            return self.write_log()
        f, x = self.program.name("f"), self.program.name("x")
        if self.chance(0.3):
            self.put(f"Visit {f} = {x} -> {self.in_function(x, lambda: self.integer(2))};")
        else:
            self.put(f"Visit {f} = {x} -> {{")
            self.put("    if (Log.isEmpty()) return 0;")
            self.in_function(x, self.function_body)
            self.put("};")
        self.functions.append(f)
        if not self.nesting and not any(is_loop for _, is_loop in self.labels) and self.chance(0.5):
            self.put(f"held = {f};")  # it may be called after the end of this block

    def function_body(self):
        self.block(self.random.randint(1, 4))
        self.put(f"    return {self.integer(2)};")

    def in_function(self, parameter, make):
        saved = (self.labels, self.depth, self.own, list(self.functions), list(self.steps), self.has_result, self.yields)
        argument = Variable(parameter, "int", False, False, True)
        self.labels, self.depth, self.own = [], max(self.depth, 2), [argument]
        self.nesting += 1
        self.has_result, self.yields = True, None
        self.scopes.append([argument])
        text = make()
        self.scopes.pop()
        self.nesting -= 1
        self.labels, self.depth, self.own, self.functions, self.steps, self.has_result, self.yields = saved
        return text

    def write_step(self):
        """An ordinary lambda of an interface of the program: it sees functions, but no variables that change."""
        if self.nesting > 1:
            return self.write_log()
        step, x = self.program.name("step"), self.program.name("x")
        outside, self.scopes = self.scopes, []
        self.put(f"Step {step} = {x} -> {{")
        self.put("    if (Log.isEmpty()) return 0;")
        self.in_function(x, self.function_body)
        self.put("};")
        self.scopes = outside
        self.steps.append(step)


class Constructor(Method):
    """The constructor of a member class, which assigns a final field."""

    def write(self):
        a = Variable("a", "int", True, self.program.is_plain)
        parameter = "given" if self.program.is_plain else "a"
        self.put("static final class Built {")
        self.put("    final int kept;")
        self.put("    int more = Log.both(1, 2);")
        self.put(f"    Built(int depth, int {parameter}, Visit f, Visit g) throws E1 {{")
        self.program.indent += 2
        if self.program.is_plain:
            self.put(a.declaration(parameter))
        self.put("if (depth <= 0 || Log.isEmpty()) { kept = g.visit(" + a.use() + "); return; }")
        self.put("Visit held = g;")
        self.scopes[0].append(a)
        self.has_result = False
        self.put(f"kept = {self.integer()};")
        self.statements(self.random.randint(2, 4))
        self.put(f"more = {self.integer()};")
        self.program.indent -= 2
        self.put("    }")
        self.put("    int value() { return kept - more; }")
        self.put("}")


def source(seeds, is_plain):
    """One file with a class for each seed and a main that runs them all."""
    marker = "" if is_plain else " extends sukima.closures.Nested"
    text = PRELUDE + f"interface Visit{marker} {{\n    int visit(int x) throws E1;\n}}\n"
    text += "interface Step {\n    int step(int x) throws E1;\n}\n"
    text += "".join(Program(number, seed, is_plain).text() for number, seed in enumerate(seeds))
    text += "public final class Programs {\n    static void run(int number) throws E1 {\n        switch (number) {\n"
    text += "".join(f"            case {number} -> P{number}.run();\n" for number in range(len(seeds)))
    text += "            default -> throw new AssertionError(number);\n        }\n    }\n"
    text += "    static void one(int seed, int number) {\n        Log.fuel = 400;\n        Log.text.setLength(0);\n"
    text += "        try {\n            run(number);\n        } catch (Exception e) {\n            Log.add(e);\n        }\n"
    text += '        System.out.println(seed + ": " + Log.text);\n    }\n'
    text += "    public static void main(String[] arguments) {\n"
    text += "".join(f"        one({seed}, {number});\n" for number, seed in enumerate(seeds))
    return text + "    }\n}\n"
