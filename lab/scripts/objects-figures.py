#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures figures 8 and 9 of the paper on concurrent objects on this machine.

Figure 8: all objects are processes, and the messages go through pipes: is there a number of objects from which on a
message takes longer? The paper found 16, and supposed that a buffer was full. Here a client waits for each answer, so no
stream is ever full; a program that sends bursts shows what a full pipe costs.
Figure 9: the groups are processes and their objects are simulated: does a round take the same time with more objects?
The settings take turns; medians and quartiles are printed.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

from figures import quartiles

CLIENTS = (1, 2, 4, 7, 12, 20)
BURSTS = (128, 256, 512, 1024, 1536, 2048, 4096)
BURST_MESSAGES = 400000


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--offices", type=pathlib.Path, required=True, help="examples/objects_offices.cpp, built")
    parser.add_argument("--burst", type=pathlib.Path, required=True, help="tests/objects/burst_program.cpp, built")
    parser.add_argument("--rounds", type=int, default=5, help="how often each setting is run")
    return parser.parse_args()


def seconds_of(program, model, arguments):
    """The time for which the objects ran."""
    with tempfile.TemporaryDirectory() as folder:
        time_file = pathlib.Path(folder) / "ns"
        environment = {**os.environ, "SUKIMA_OBJECTS": model, "SUKIMA_OBJECTS_TIME": str(time_file)}
        done = subprocess.run([program, *map(str, arguments)], env=environment, capture_output=True, text=True, check=False)
        if done.returncode != 0 or "as expected" not in done.stdout:
            sys.exit(f"objects-figures.py: under {model} '{program}' ended with code {done.returncode}: {done.stderr}{done.stdout}")
        return int(time_file.read_text(encoding="utf-8")) / 1e9


def measure(settings, rounds):
    """The times of all settings (program, model, arguments), which take turns."""
    times = {setting: [] for setting in settings}
    for _ in range(rounds):
        for setting, all_times in times.items():
            all_times.append(seconds_of(*setting))
    return times


def text_of(times, divisor):
    low, median, high = quartiles([1e9 * one / divisor for one in times])
    return f"{median:10.0f} ({low:.0f} to {high:.0f})"


def offices_settings(given, models, offices, messages):
    """In each round each client sends a question and receives the answer. Every second question of the first client is
    forwarded."""
    for model in models:
        for clients in CLIENTS:
            yield given.offices, model, (offices, clients, messages // (offices * (2 * clients + 1)))


def print_offices(times):
    for (_, model, (offices, clients, rounds)), all_times in times.items():
        messages = offices * (2 * clients + 1)
        print(f"{model:<20} {offices:>7} {offices * (clients + 1):>7} {messages:>14}  {text_of(all_times, rounds * messages):<28}"
              f"{text_of(all_times, rounds)}")


def main():
    given = parse_arguments()
    head = f"{'model':<20} {'offices':>7} {'objects':>7} {'messages/round':>14}  {'ns a message':<28}ns a round"
    print("Figure 8: all objects are processes")
    print(head)
    print_offices(measure(list(offices_settings(given, ("processes:pipe", "processes"), 2, 20000)), given.rounds))
    print("\nBursts of messages of 64 bytes, capacity 1024, which is what a pipe holds")
    print(f"{'model':<20} {'burst':>7}  ns a message")
    bursts = [(given.burst, model, (burst, BURST_MESSAGES // burst)) for model in ("processes:pipe", "processes")
              for burst in BURSTS]
    for (_, model, (burst, rounds)), all_times in measure(bursts, given.rounds).items():
        print(f"{model:<20} {burst:>7} {text_of(all_times, burst * rounds)}")
    print("\nFigure 9: groups are processes, their objects are simulated")
    print(head)
    for offices in (2, 4):
        print_offices(measure(list(offices_settings(given, ("processes:simulated",), offices, 200000)), given.rounds))
    return 0


if __name__ == "__main__":
    sys.exit(main())
