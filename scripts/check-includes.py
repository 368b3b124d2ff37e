#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that #include lines obey the order of the parts: check-includes.py [FOLDER]

A part is a folder src/PART with its public headers include/sukima/…, its tests and its examples. It may use the
parts below it in ORDER, and only two kinds of their headers: the public ones as <sukima/…>, and those in
src/PART/shared, which are not installed, as <PART/shared/…>. src/capacity is plain C and uses no other part. Every
other part may use src/base, which uses no other part either.

Inside src/runtime and src/objects there are layers (LAYERS): a file includes headers of its own layer and of the layers
below it. ALL_PARTS, the headers that know all parts of the runtime, are included only by CORE_USERS.

The part lab is the folder lab/, which measures the product: the sources of src/ and include/ and the CMakeLists.txt of
src/ must not use it. Its benchmark programs get their include paths from CMake.

In src/cli and lab/commands each folder but the shared ones is one command; a command includes no header of another
command, and one tool in lab/validation none of another.
"""
import pathlib
import re
import sys

# Each part with those whose public headers it may include.
ORDER = {
    "capacity": set(),
    "base": set(),
    "preload": {"capacity"},
    "runtime": {"base", "capacity"},
    "objects": {"base", "runtime", "capacity"},
    "tascell": {"base", "runtime", "capacity"},
    "compiler": {"base"},
    "host": {"base", "runtime", "capacity"},
    "calibrate": {"base", "capacity", "objects", "runtime"},
    "cluster": {"base", "tascell", "runtime", "capacity"},
    "lab": {"base", "capacity", "cli", "host"},
    "cli": {"base", "calibrate", "capacity", "cluster", "host", "objects", "preload"},
}
# The folders of one command or one tool each, and the folders among them that all may include.
ROOMS = {("src", "cli"): "command", ("lab", "commands"): "command", ("lab", "validation"): "tool"}
SHARED_ROOMS = {"capacity", "shared"}
# The public headers that are not the runtime's: the first element of their path under include/sukima.
HEADER_PART = {
    "calibrate.hpp": "calibrate",
    "capacity.h": "capacity",
    "capacity": "capacity",
    "cluster": "cluster",
    "cluster.h": "cluster",
    "cluster.hpp": "cluster",
    "objects": "objects",
    "objects.hpp": "objects",
    "tascell": "tascell",
}
# The folders from which sources in lab/ include with a short name.
LAB_FOLDERS = ("", "lab", "lab/commands", "lab/validation", "lab/benchmarks")
# Expressions of CMake that refer to the laboratory.
LAB_IN_CMAKE = re.compile(r"(?:^|[\s(/\"])lab(?=[\s)/\"]|$)|\bsukima_lab|\bSUKIMA_BUILD_(?:LAB|BENCHMARKS)\b")
NO_LAB = "the product must not use the laboratory, lab/; it is built and installed without it"
# The layers of parts, the lowest first: folders, and files without their suffix. A file that is named belongs to its layer
# wherever it is.
RUNTIME_LAYERS = [
    ("constants and the data of a worker", [
        "assert", "constants", "end_state", "fiber/exception_state", "fixed_order", "forked_child", "join/joining",
        "linked_queue", "observe", "park/contention", "park/futex", "park/learned_spin", "park/priority_loan", "park/wait_turn", "park/wake_epoch", "place/made_up_machine",
        "place/worker_hints", "place/worker_places", "process_end", "invariants/rest_mark", "runtime_core", "settings", "shared", "short_calls",
        "short_roots", "stay_loaded", "steal/mailbox", "steal/publication_slots", "steal/weighted_draw", "stress", "tick_rate", "uncaught",
        "worker", "worker_target",
    ]),
    ("fibers and choice points", [
        "checks", "choice", "fiber", "place/place_events", "remote/node_events", "worker_slots",
    ]),
    ("park", ["park"]),
    ("publishing and stealing", ["choice/clone", "steal"]),
    ("join, futures, cancellation", ["cancel", "future", "join"]),
    ("placement and remote", ["place", "remote"]),
    ("control", ["control"]),
    ("lifecycle and entry", [
        "background_worker", "default_runtime", "entries", "invariants", "lifecycle", "observe/statistics", "poll_handlers",
        "runtime_parts", "whole_runtime", "worker_loop",
    ]),
]
OBJECTS_LAYERS = [
    ("shared descriptions", ["shared"]),
    ("predictions and plans", ["model"]),
    ("the data of a program and its islands", [
        "program/declaration", "program/program_core", "schedule/division", "schedule/division_steps", "schedule/island",
        "schedule/slice", "schedule/timer",
    ]),
    ("recording", ["recording"]),
    ("streams and their shared memory", ["process/doorbell", "process/segment", "stream"]),
    ("placing objects", ["schedule"]),
    ("the search for deadlocks", ["deadlock"]),
    ("processes", ["process"]),
    ("the life of a program", ["program"]),
]
LAYERS = {"runtime": RUNTIME_LAYERS, "objects": OBJECTS_LAYERS}
# The headers of src/runtime that know all parts, and the files that may include them; at most eight.
ALL_PARTS = ("whole_runtime.hpp", "runtime_parts.hpp")
CORE_USERS = {
    "src/runtime/default_runtime.cpp",
    "src/runtime/entries.cpp",
    "src/runtime/invariants/at_rest.cpp",
    "src/runtime/lifecycle.cpp",
    "src/runtime/whole_runtime.hpp",
    "tests/instructions/entries.cpp",
    "tests/memory/protocols/world.hpp",
    "tests/runtime/race.hpp",
}
SOURCES = {".c", ".h", ".cpp", ".hpp", ".in"}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def header_part(path):
    """The part of the public header <sukima/PATH>."""
    return HEADER_PART.get(pathlib.PurePosixPath(path).parts[0], "runtime")


def file_part(relative):
    """The part that a source belongs to, or None for one that may use every public header (benchmarks, examples)."""
    top, *rest = relative.parts
    if top == "src" and len(rest) > 1:
        return rest[0]
    if top == "lab" and rest[0] != "benchmarks":
        return "lab"
    if top == "include":
        return header_part(pathlib.PurePosixPath(*rest[1:]))
    return None


def exists(path):
    """Whether the file is there, or the template that it is generated from."""
    return path.is_file() or path.with_name(path.name + ".in").is_file()


def check_public(root, part, name):
    """The complaint about including <sukima/NAME>, or None."""
    if not exists(root / "include" / "sukima" / name):
        return f"there is no public header include/sukima/{name}"
    other = header_part(name)
    if part is not None and other != part and other not in ORDER[part]:
        return f"the part {part} must not use the part {other}"
    return None


def check_shared(root, part, name):
    """The complaint about including <PART/shared/NAME>, or None."""
    other = pathlib.PurePosixPath(name).parts[0]
    home = part_folder(root, other).parent
    if not exists(home / name):
        return f"there is no shared header {(home / name).relative_to(root)}"
    if other == part:
        return "write \"shared/…\": a part's own headers are included with quotes"
    if part is not None and other not in ORDER[part]:
        return f"the part {part} must not use the part {other}"
    return None


def part_folder(root, part):
    """Where the sources of a part are."""
    return root / "lab" if part == "lab" else root / "src" / part


def room(relative):
    """The command or shared folder of the commands, or the tool, that a source belongs to; None for other sources."""
    parts = relative.parts
    return parts[2] if parts[:2] in ROOMS and len(parts) > 3 else None


def check_rooms(relative, found):
    """The complaint about a source that includes the file FOUND of its own part, or None."""
    here, there = room(relative), room(found)
    if here is None and there is not None and found.parts[0] == "lab":
        return f"what all of lab shares must not use the {ROOMS[found.parts[:2]]} {there}"
    if here is None or there is None or here == there or there in SHARED_ROOMS - {here}:
        return None
    kind = ROOMS[found.parts[:2]]
    if here in SHARED_ROOMS:
        return f"the shared folder {here} must not use the command {there}"
    return f"the {ROOMS[relative.parts[:2]]} {here} must not use the {kind} {there}; move what both need to a shared folder"


def is_in_lab(root, name):
    """Whether the include path of the laboratory has the header NAME."""
    return any((root / folder / name).resolve().is_relative_to(root / "lab") and exists(root / folder / name)
               for folder in LAB_FOLDERS)


def layer_of(relative):
    """The index of the layer in LAYERS that a source of a part with layers belongs to, or None."""
    name = pathlib.PurePosixPath(*relative.parts[2:]).with_suffix("").as_posix()
    found = [
        (len(entry), index)
        for index, (_, entries) in enumerate(LAYERS[relative.parts[1]])
        for entry in entries
        if name == entry or name.startswith(entry + "/")
    ]
    return max(found)[1] if found else None


def check_layers(relative, found):
    """The complaint about a source of a part with layers that includes FOUND of a layer above it, or None."""
    here, there = layer_of(relative), layer_of(found)
    if here is None or there is None or there <= here:
        return None
    layers = LAYERS[relative.parts[1]]
    low, high = layers[here][0], layers[there][0]
    return f"the layer '{low}' must not use the layer '{high}'; move it up, or let it call an interface of its own layer"


def check_own(root, relative, part, name):
    """The complaint about including "NAME", or None."""
    if name.startswith("sukima/"):
        return f"write <{name}>: public headers are included with angle brackets"
    if name in ALL_PARTS and relative.as_posix() not in CORE_USERS and (root / "src/runtime" / name).is_file():
        if part in {None, "runtime"}:
            return "it knows all parts of the runtime; include the headers of those that are used, and of the layer's parts"
    if part is None:
        return None  # tests and benchmark programs get their include paths from CMake
    if ".." in pathlib.PurePosixPath(name).parts:
        return "no '..' in includes; name the file from the folder of its part"
    rooms = [root.joinpath(*relative.parts[:2])] if relative.parts[:2] in ROOMS else []
    for base in ((root / relative).parent, *rooms, part_folder(root, part)):
        if exists(base / name):
            target = (base / name).relative_to(root)
            has_layers = part in LAYERS and relative.parts[0] == "src"
            return check_layers(relative, target) if has_layers else check_rooms(relative, target)
    if part != "lab" and is_in_lab(root, name):
        return NO_LAB
    for other in sorted(ORDER.keys() - {part}):
        if exists(part_folder(root, other) / name):
            return f"it is an internal header of the part {other}; use that part through <sukima/…> or <{other}/shared/…>"
    return f"the part {part} has no such file"


def check_core_users(root):
    """The complaints about CORE_USERS."""
    if len(CORE_USERS) > 8:
        yield "check-includes.py: CORE_USERS has more than eight files"
    for user in sorted(CORE_USERS):
        path = root / user
        if path.is_file() and not any(f'#include "{name}"' in path.read_text(encoding="utf-8") for name in ALL_PARTS):
            yield f"check-includes.py: {user} includes none of {' and '.join(ALL_PARTS)}; remove it from CORE_USERS"


def check_file(root, relative):
    """The complaints about one file."""
    part = file_part(relative)
    if part in LAYERS and relative.parts[0] == "src" and layer_of(relative) is None:
        yield f"{relative}: it has no layer; add it to {part.upper()}_LAYERS in check-includes.py"
    if part is not None and part not in ORDER:
        yield f"{relative}: the part {part} has no place in the order of the parts; add it to check-includes.py"
        return
    if part == "capacity" and relative.suffix not in {".c", ".h"}:
        yield f"{relative}: the part capacity is plain C; only .c and .h files belong there"
    lines = (root / relative).read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines, 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        kind, name = match.groups()
        complaint = None
        if kind == '"':
            complaint = check_own(root, relative, part, name)
        elif part not in (None, "lab") and is_in_lab(root, name):
            complaint = NO_LAB
        elif name.startswith("sukima/"):
            complaint = check_public(root, part, name.removeprefix("sukima/"))
        elif len(names := pathlib.PurePosixPath(name).parts) > 2 and names[0] in ORDER and names[1] == "shared":
            complaint = check_shared(root, part, name)
        elif part == "capacity" and not name.endswith(".h"):
            complaint = "the part capacity is plain C; it includes no C++ header"
        if complaint:
            yield f"{relative}:{number}: {name}: {complaint}"


def check_build(root):
    """The complaints about CMakeLists.txt of the product."""
    for path in sorted((root / "src").rglob("CMakeLists.txt")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if LAB_IN_CMAKE.search(line.partition("#")[0]):
                yield f"{path.relative_to(root)}:{number}: {NO_LAB}"


def main():
    if len(sys.argv) > 2:
        print("check-includes.py: too many arguments; give at most the folder of the sources", file=sys.stderr)
        return 2
    root = pathlib.Path(sys.argv[1] if len(sys.argv) == 2 else pathlib.Path(__file__).parent.parent).resolve()
    files = [
        path.relative_to(root)
        for top in ("src", "include", "tests", "lab", "examples")
        for path in sorted((root / top).rglob("*"))
        if path.suffix in SOURCES and path.is_file() and "target" not in path.parts
    ]
    if not any(file.parts[0] == "src" for file in files):
        print(f"check-includes.py: {root} has no sources in src/; give the folder of the sources", file=sys.stderr)
        return 2
    complaints = [complaint for file in files for complaint in check_file(root, file)]
    complaints += [*check_core_users(root), *check_build(root)]
    complaints += [
        f"check-includes.py: the part {part} has no folder; remove it from ORDER"
        for part in ORDER
        if not part_folder(root, part).is_dir()
    ]
    for complaint in complaints:
        print(complaint)
    if complaints:
        return 1
    print(f"{len(files)} files include only what they may")
    return 0


if __name__ == "__main__":
    sys.exit(main())
