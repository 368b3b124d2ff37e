#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""own_names_test.py COMPILER INCLUDE_FOLDER SOURCE...

Compiles each SOURCE, whose namespace `program` gets a deleted function for the name of each function that the headers call. If
a header calls its own function by its bare name, the compiler also finds the program's function, because the program's types
are among the arguments, and reports an error.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

# Names that the standard library looks for in a program's namespace, and words of the language.
CUSTOMISED = set("begin end rbegin rend cbegin cend crbegin crend size ssize data empty swap iter_move iter_swap get".split())
WORDS = set(
    "if while for switch return sizeof alignof alignas decltype noexcept requires static_assert catch asm new delete operator throw "
    "and or not void bool int char long short double float auto unsigned signed constexpr consteval explicit const volatile "
    "co_await co_return co_yield typeid typename class struct template this defined case else do static_cast const_cast "
    "dynamic_cast reinterpret_cast using friend default".split())
# Parts without templates.
LEFT_OUT = ("tascell", "capacity")
MOST_ARGUMENTS = 10


def called_names(include):
    """The names that the headers call without a namespace or an object in front."""
    names = set()
    for header in sorted(pathlib.Path(include).rglob("*.h*")):
        if header.relative_to(include).parts[1].partition(".")[0] in LEFT_OUT:
            continue
        text = re.sub(r"//[^\n]*|\"[^\"\n]*\"|^\s*#(.*\\\n)*.*", "", header.read_text(encoding="utf-8"), flags=re.M)
        names |= set(re.findall(r"(?<![\w.:>~])([a-z]\w*)(?:<[^<>()]*>)?\(", text))
    return sorted(name for name in names - CUSTOMISED - WORDS if not name.startswith(("sukima_", "pthread_")))


def declarations(names):
    """Deleted functions of these names with any number of arguments of any type."""
    lines = ["#include <utility>", "namespace program {"]
    for name in names:
        for count in range(1, MOST_ARGUMENTS + 1):
            types = ", ".join(f"class T{i}" for i in range(count))
            arguments = ", ".join(f"T{i}&&" for i in range(count))
            lines.append(f"template <{types}> void {name}({arguments}) = delete;")
    return "\n".join([*lines, "}", ""])


def main():
    compiler, include, *sources = sys.argv[1:]
    names = called_names(include)
    folders = [f"-I{include}", f"-I{include}/sukima/tbb-compat", f"-I{include}/sukima/pstl"]
    with tempfile.TemporaryDirectory() as folder:
        deleted = pathlib.Path(folder) / "deleted.hpp"
        deleted.write_text(declarations(names), encoding="utf-8")
        failed = 0
        for source in sources:
            command = [compiler, "-std=c++20", "-fsyntax-only", *folders, "-include", str(deleted), source]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                print(f"{source}:\n{done.stderr[:20000]}")
                failed += 1
    print(f"{len(names)} names, {failed} failures")
    return 1 if failed or len(names) < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
