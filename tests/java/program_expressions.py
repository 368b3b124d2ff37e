# SPDX-License-Identifier: Apache-2.0
"""Random expressions of the programs that program_generator makes."""


class Variable:
    def __init__(self, name, kind, is_shared, is_plain, is_of_loop=False):
        self.name, self.kind, self.is_of_loop = name, kind, is_of_loop
        self.is_box = is_shared and is_plain

    def declaration(self, value):
        if self.is_box:
            return f"{self.kind}[] {self.name} = {{{value}}};"
        return f"{self.kind} {self.name} = {value};"

    def use(self):
        return self.name + "[0]" if self.is_box else self.name


class Expressions:
    """Draws expressions from the variables and functions that a Method keeps."""

    def chance(self, probability):
        return self.random.random() < probability

    def visible(self, kind):
        found = [v for scope in self.scopes for v in scope if v.kind == kind]
        if self.nesting:  # in the plain form a nested function cannot use another function's loop variables
            found = [v for v in found if not v.is_of_loop or v in self.own]
        return found

    def integer(self, depth=None):
        if depth is None:
            depth = self.random.choice([1, 2, 2, 3])
        choices = ["literal", "variable"]
        if depth > 0:
            choices += ["binary", "binary", "conditional", "assign", "increment", "both", "sum", "field", "array", "switch"]
            if not self.is_pure:
                choices += ["visit", "visit", "visit", "method", "generic", "new"] + ["step", "step"] * bool(self.steps)
        choice = self.random.choice(choices)
        sub = lambda: self.integer(depth - 1)
        variables = self.visible("int")
        if choice == "variable" and variables:
            return self.random.choice(variables).use()
        if choice == "binary":
            return f"({sub()} {self.random.choice('+-*^&|')} {sub()})"
        if choice == "conditional":
            return f"({self.boolean(depth - 1)} ? {sub()} : {sub()})"
        if choice == "assign" and variables:
            return f"({self.random.choice(variables).use()} {self.random.choice(['=', '+=', '-=', '^='])} {sub()})"
        if choice == "increment" and variables:
            return f"{self.random.choice(variables).use()}{self.random.choice(['++', '--'])}"
        if choice == "both":
            return f"Log.both({sub()}, {sub()})"
        if choice == "sum":
            return f"Log.sum({sub()}, {sub()}, {sub()})"
        if choice == "field":
            own = self.random.choice(["field", "this.field", "self.field"]) if self.index % 2 else "self.field"
            return self.random.choice([own, f"({own} += {sub()})"])
        if choice == "array":
            return f"new int[] {{{sub()}, {sub()}}}[{sub()} & 1]"
        if choice == "switch":
            make = self.pure if self.chance(0.4) else lambda each: each()
            return f"switch ({make(lambda: self.integer(0))} & 3) {{ case 0 -> 7; case 1, 2 -> {make(sub)}; default -> {make(sub)}; }}"
        if choice == "visit":
            return f"{self.random.choice(self.functions)}.visit({sub()})"
        if choice == "method":
            f, g = self.random.choice(self.functions), self.random.choice(self.functions)
            return self.program.call(self.random.randrange(self.program.methods), "depth - 1", sub(), f, g,
                                     ["", "this."] if self.index % 2 else ["self."])
        if choice == "step":
            return f"{self.random.choice(self.steps)}.step({sub()})"
        if choice == "new":
            f, g = self.random.choice(self.functions), self.random.choice(self.functions)
            return f"new Built(depth - 1, {sub()}, {f}, {g}).value()"
        if choice == "generic":
            return f"generic({sub()}, List.of({sub()}, {sub()}), {self.random.choice(self.functions)})"
        return str(self.random.randint(-3, 9))

    def long(self):
        variables = self.visible("long")
        if variables and self.chance(0.5):
            return f"{self.random.choice(variables).use()} * 3 + {self.integer(2)}"
        return f"{self.integer(2)} + 10000000000L"

    def string(self):
        variables = self.visible("String")
        start = self.random.choice(variables).use() if variables and self.chance(0.5) else '"s"'
        return f"({start} + {self.integer(2)} + \",\" + {self.integer(1)}).substring(1)"

    def boolean(self, depth=2):
        choice = self.random.choice(["compare", "odd", "and", "or", "not", "variable"]) if depth > 0 else "odd"
        if choice == "variable" and self.visible("boolean"):
            return self.random.choice(self.visible("boolean")).use()
        if choice == "compare":
            return f"({self.integer(depth)} {self.random.choice(['<', '>=', '=='])} {self.integer(depth)})"
        if choice in ("and", "or"):
            return f"({self.boolean(depth - 1)} {'&&' if choice == 'and' else '||'} {self.boolean(depth - 1)})"
        if choice == "not":
            return f"!{self.boolean(depth - 1)}"
        return f"Log.odd({self.integer(depth)})"

    def pure(self, make):
        was, self.is_pure = self.is_pure, True
        text = make()
        self.is_pure = was
        return text
