#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""With 1.5 of two CPUs, is `workers:simulated` as fast as the best of the fixed models? examples/objects_log.cpp, on files
of its own, in a control group with that quota. The models take turns; medians count, within 5 % is as fast."""
import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "clients"))
from quota_group import QuotaGroup  # pylint: disable=wrong-import-position

CPUS = 1.5
FIXED = ("simulated", "threads", "threads:simulated")
ADAPTING = "workers:simulated"
RIGHT = 1.05
FILES, LINES = 4, 600000
TIMES = 24  # how often each file is read: a run lasts for several of the quota's periods


def write_logs(folder):
    """Lines as of a web server, the same in each file."""
    line = "10.0.{}.{} - - [25/Nov/2026:12:00:00] \"GET /page/{}\" {}\n"
    text = "".join(line.format(i % 256, i % 13, i, ("200", "404", "500")[i % 17 % 3]) for i in range(LINES))
    for i in range(FILES):
        path = pathlib.Path(folder) / f"log{i}"
        path.write_text(text, encoding="utf-8")
        yield str(path)


def seconds_of(program, model, files, group):
    """The time for which the objects run under this model."""
    with tempfile.TemporaryDirectory() as folder:
        time_file = pathlib.Path(folder) / "ns"
        environment = {**os.environ, "SUKIMA_OBJECTS": model, "SUKIMA_OBJECTS_TIME": str(time_file)}
        done = subprocess.run([program, *files * TIMES], env=environment, preexec_fn=group.enter, capture_output=True, text=True,
                              check=False)
        if done.returncode != 0 or not done.stdout.startswith(f"{TIMES * FILES * LINES} lines"):
            sys.exit(f"objects_quota.py: under {model} the program ended with code {done.returncode}: {done.stderr}{done.stdout}")
        return int(time_file.read_text(encoding="utf-8")) / 1e9


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", type=pathlib.Path, help="examples/objects_log.cpp, built")
    parser.add_argument("--rounds", type=int, default=11)
    given = parser.parse_args()
    if len(os.sched_getaffinity(0)) < 2:
        print("SKIPPED: needs two CPUs")
        return 77
    with QuotaGroup(CPUS) as group, tempfile.TemporaryDirectory() as folder:
        if group.folder is None:
            print("SKIPPED: no control group can be made here:", group.why_not)
            return 77
        files = list(write_logs(folder))
        times = {model: [] for model in (*FIXED, ADAPTING)}
        for _ in range(given.rounds):
            for model, all_times in times.items():
                all_times.append(seconds_of(given.program, model, files, group))
    for model, all_times in times.items():
        low, median, high = statistics.quantiles(all_times, n=4)
        print(f"{model:<18} {median:6.3f} s ({low:.3f} to {high:.3f})")
    ratio = statistics.median(times[ADAPTING]) / min(statistics.median(times[model]) for model in FIXED)
    print(f"{ADAPTING}: {ratio:.2f} x the best fixed model, at most {RIGHT} wanted")
    return 0 if ratio <= RIGHT else 1


if __name__ == "__main__":
    sys.exit(main())
