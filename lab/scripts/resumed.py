# SPDX-License-Identifier: Apache-2.0
"""Measurements that continue where they were interrupted, for the scripts that print tables.

A script stores its measurements in a file, and makes only those that the file lacks.
"""
import json
import os
import pathlib
import time

from places import give_up, need_programs


def add_arguments(parser):
    """The options of every such script."""
    parser.add_argument("--programs", type=pathlib.Path, required=True, help="folder of sukima and bench-hog")
    parser.add_argument("--results", type=pathlib.Path, required=True, help="file that keeps what was measured")
    parser.add_argument("--lock", type=pathlib.Path, help="file to lock exclusively while a run is measured")
    parser.add_argument("--stop-after", type=float, default=1e9, help="seconds; call again to go on")
    parser.add_argument("--table-only", action="store_true", help="measure nothing")


def replace_text(file, text):
    """Writes a file; it is complete at any time."""
    unfinished = file.with_name(f"{file.name}.{os.getpid()}.new")
    try:
        unfinished.write_text(text, encoding="utf-8")
        unfinished.replace(file)
    except OSError as error:
        unfinished.unlink(missing_ok=True)
        give_up(f"{file} cannot be written: {error.strerror}")


class Measurements:
    """The measurements so far, in `results`, which is written to a file after each run. The file also has `settings`: the
    options, by name, on which the figures depend. Files of older versions have only the results."""

    def __init__(self, given, settings=()):
        self._file = given.results
        self._end = time.monotonic() + given.stop_after
        self._settings = {name: getattr(given, name) for name in settings}
        try:
            content = json.loads(self._file.read_text(encoding="utf-8")) if self._file.exists() else {}
            if not isinstance(content, dict):
                raise ValueError("it is not a JSON object")
        except (OSError, ValueError) as error:
            give_up(f"{self._file} is not a file of results ({error}): remove it, or give another --results")
        is_older = content.keys() != {"settings", "results"}
        self.results = content if is_older else content["results"]
        if not given.table_only and not is_older:
            self._expect(content["settings"])

    def _expect(self, former):
        """Refuses to add to measurements that were made with other settings."""
        def text(name, value):
            return f"without --{name}" if value is None else f"with --{name} {value}"

        for name, value in self._settings.items():
            if name in former and former[name] != value:
                give_up(f"{self._file} was measured {text(name, former[name])}, but this call would measure "
                        f"{text(name, value)}: give another --results")

    def keep(self):
        """Writes the results."""
        replace_text(self._file, json.dumps({"settings": self._settings, "results": self.results}, indent=1))

    def is_over(self):
        """Whether the given time is up."""
        return time.monotonic() >= self._end


def run(given, measure, table, programs=("sukima", "bench-hog"), settings=()):
    """Makes the missing measurements, unless only the table is wanted, and prints the table.

    measure(given, measurements) fills in `results`; table(results, given) prints them. `programs` must have been built.
    `settings` are the names of the options on which the figures depend, and which the keys of the results do not have.
    """
    measurements = Measurements(given, settings)
    if not given.table_only:
        need_programs(given.programs, *programs)
        measure(given, measurements)
    table(measurements.results, given)
