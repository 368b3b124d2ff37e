#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts the instructions that a program needs for one unit of its work, and compares them with a limit.

The program runs under callgrind with two sizes; what is the same in both (start-up, warm-up, output) cancels out:
  instructions per unit = (instructions of the larger - of the smaller run) / (units of the larger - of the smaller)
Instructions, unlike seconds, are the same on a noisy machine.

The file of limits is JSON:
  {"measurements": {"fib": {"program": "bench-sukima", "unit": "call", "sizes": [15, 20], "units": [1973, 21891],
                            "arguments": ["fib", "--size", "{size}", "--workers", "1", "--repetitions", "1"]}},
   "limits": {"gcc-12": {"fib": 21.5}}}
`units` is the amount of work of each size. The optional `environment` has variables for the program. The optional
`excluding` has patterns of callgrind for functions whose instructions, and those of their callees, are not counted: the
runtime calls them only after something took long. A limit's key is compiler-MAJOR. A compiler without a limit for a
measurement is reported and skipped (exit code 77).
"""
import argparse
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SKIPPED = 77


class BadInput(Exception):
    """One sentence about an error in the arguments, the file of limits or the program."""


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--limits", required=True, type=pathlib.Path, help="the JSON file of limits")
    parser.add_argument("--measurement", required=True, help="a name in that file")
    parser.add_argument("--compiler", required=True, help="what built the program, such as gcc-12 or clang-19")
    parser.add_argument("--program", required=True, type=pathlib.Path, help="path of the program")
    parser.add_argument("--update", type=float, metavar="PERCENT",
                        help="write the measured figure plus PERCENT as the new limit")
    return parser.parse_args()


def read_limits(path):
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}") from error
    except json.JSONDecodeError as error:
        raise BadInput(f"{path}:{error.lineno}: not JSON: {error.msg}") from error
    if not isinstance(content, dict) or not all(isinstance(content.get(k), dict) for k in ("measurements", "limits")):
        raise BadInput(f"{path} must be an object with the objects 'measurements' and 'limits'")
    return content


def find_measurement(content, path, name):
    measurement = content["measurements"].get(name)
    if measurement is None:
        known = ", ".join(sorted(content["measurements"])) or "none"
        raise BadInput(f"{path} has no measurement '{name}'; it has: {known}")
    missing = [key for key in ("program", "arguments", "sizes", "units", "unit") if key not in measurement]
    if missing:
        raise BadInput(f"{path}: measurement '{name}' lacks {', '.join(missing)}")
    sizes, units = measurement["sizes"], measurement["units"]
    if len(sizes) != 2 or len(units) != 2 or units[0] >= units[1]:
        raise BadInput(f"{path}: measurement '{name}' must have two sizes and two rising units")
    return measurement


def count_instructions(program, arguments, environment, excluding):
    """The instructions of one run of the program."""
    # Counting begins at the start and stops while such a function runs.
    without = [f"--toggle-collect={function}" for function in excluding]
    with tempfile.TemporaryDirectory() as folder:
        output = pathlib.Path(folder, "callgrind.out")
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={output}", *without, "--collect-atstart=yes",
                   str(program), *arguments]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False,
                                  env={**os.environ, **environment})
        except FileNotFoundError as error:
            raise BadInput("valgrind is not installed; run scripts/install-dependencies.sh") from error
        if done.returncode != 0:
            raise BadInput(f"'{' '.join(command)}' ended with code {done.returncode}:\n{done.stderr.strip()}")
        totals = re.findall(r"^(?:totals|summary): (\d+)", output.read_text(encoding="utf-8", errors="replace"), re.M)
    if not totals:
        raise BadInput(f"callgrind reported no total for {program}")
    return int(totals[-1])


def instructions_per_unit(program, measurement):
    counts = [
        count_instructions(program, [argument.format(size=size) for argument in measurement["arguments"]],
                           measurement.get("environment", {}), measurement.get("excluding", []))
        for size in measurement["sizes"]
    ]
    return (counts[1] - counts[0]) / (measurement["units"][1] - measurement["units"][0])


def write_limit(content, path, compiler, name, limit):
    content["limits"].setdefault(compiler, {})[name] = limit
    path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def run():
    arguments = parse_arguments()
    content = read_limits(arguments.limits)
    measurement = find_measurement(content, arguments.limits, arguments.measurement)
    if not arguments.program.is_file():
        raise BadInput(f"there is no program {arguments.program}; build it first")
    limit = content["limits"].get(arguments.compiler, {}).get(arguments.measurement)
    if limit is None and arguments.update is None:
        print(f"No limit for {arguments.measurement} with {arguments.compiler}; set one with --update 2")
        return SKIPPED
    measured = instructions_per_unit(arguments.program, measurement)
    text = f"{arguments.measurement}, {arguments.compiler}: {measured:.2f} instructions a {measurement['unit']}"
    if arguments.update is not None:
        limit = math.ceil(measured * (100 + arguments.update) / 10) / 10
        write_limit(content, arguments.limits, arguments.compiler, arguments.measurement, limit)
        print(f"{text}; the limit is now {limit}")
        return 0
    if measured > limit:
        print(f"{text}: more than the limit of {limit}")
        return 1
    print(f"{text}, limit {limit}")
    return 0


def main():
    try:
        return run()
    except BadInput as error:
        print(f"instruction_count.py: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
