# SPDX-License-Identifier: Apache-2.0
"""Bindings that repeat structures of the C header have the same members at the same places: layout_test.py SOURCE CC

The structures of Rust are read from its source and those of Python from ctypes. A C compiler then checks each size and
offset against the header.
"""
import ctypes
import pathlib
import re
import subprocess
import sys
import types
import unittest

SOURCE, COMPILER = pathlib.Path(sys.argv[1]), sys.argv[2]
sys.dont_write_bytecode = True
# Without the package's __init__.py, which needs the version that the build writes.
sys.modules["sukima"] = types.ModuleType("sukima")
sys.modules["sukima"].__path__ = [str(SOURCE / "python" / "sukima")]
from sukima import _native  # pylint: disable=wrong-import-position

RUST = SOURCE / "bindings" / "rust" / "src" / "c.rs"
TYPES = {"c_double": ctypes.c_double, "c_int": ctypes.c_int, "u64": ctypes.c_uint64, "u32": ctypes.c_uint32,
         "usize": ctypes.c_size_t}


def of_rust():
    """{name in C: its members as ctypes would have them}"""
    text, found, made = RUST.read_text(encoding="utf-8"), {}, {}
    pattern = re.compile(r"/// `(\w+)`\n#\[repr\(C\)\]\npub struct (\w+) {\n(.*?)\n}", re.DOTALL)
    for c_name, name, body in pattern.findall(text):
        members = re.findall(r"^\s*pub (\w+): ([^,]+),$", body, re.MULTILINE)
        assert len(members) == len(body.splitlines()), body
        fields = [(member, ctypes.c_void_p if kind.startswith("*") else TYPES.get(kind) or made[kind])
                  for member, kind in members]
        made[name] = found[c_name] = type(name, (ctypes.Structure,), {"_fields_": fields})
    return found


def of_python():
    return {kind.__doc__.strip(): kind for kind in vars(_native).values()
            if isinstance(kind, type) and issubclass(kind, ctypes.Structure)}


def checks(structures):
    """Assertions in C: the offset and size of each member, and that no other members follow."""
    for c_name, kind in structures.items():
        yield f"_Static_assert(sizeof({c_name}) == {ctypes.sizeof(kind)}, \"size of {c_name}\");"
        for member, *_ in kind._fields_:
            place = getattr(kind, member)
            yield (f"_Static_assert(offsetof({c_name}, {member}) == {place.offset} && "
                   f"sizeof((({c_name}*)0)->{member}) == {place.size}, \"{c_name}.{member}\");")


class Layout(unittest.TestCase):
    def compiled(self, structures):
        program = "#include <stddef.h>\n#include <sukima/capacity.h>\n" + "\n".join(checks(structures)) + "\n"
        return subprocess.run([COMPILER, "-std=c11", "-fsyntax-only", f"-I{SOURCE / 'include'}", "-xc", "-"], input=program,
                              capture_output=True, text=True, check=False)

    def check(self, structures, *needed):
        self.assertLessEqual(set(needed), set(structures))
        done = self.compiled(structures)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_rust(self):
        self.check(of_rust(), "sukima_capacity_facts", "sukima_capacity_limit", "sukima_capacity_note",
                   "sukima_capacity_report", "sukima_capacity_estimate")

    def test_python(self):
        self.check(of_python(), "sukima_capacity_facts", "sukima_capacity_limit", "sukima_capacity_note",
                   "sukima_capacity_report", "sukima_capacity_estimate", "sukima_capacity_options", "sukima_capacity_policy")

    def test_a_difference_is_found(self):
        class Note(ctypes.Structure):
            _fields_ = [("text", ctypes.c_char_p), ("file", ctypes.c_char_p)]
        done = self.compiled({"sukima_capacity_note": Note})
        self.assertIn("sukima_capacity_note.text", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
