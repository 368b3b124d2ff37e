#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures many nodes on this machine: the tables of docs/hope.md and docs/cluster-running.md.

    many-nodes.py [--build FOLDER] [--nodes N,...] [--size QUEENS] [--stealing]

Runs tests/cluster/many_nodes.cpp on this many processes of one worker each. Build the targets sukima, sukima-cluster and
cluster_many_nodes before. The first table has for each number of nodes
    start       seconds from the start of the launcher until the last node has met all others
    start CPU   CPU time of a node until then, in ms
    memory      largest resident set of a node, in MiB; pages that nodes share count in each
    rate        messages of all nodes in a second
    sockets     open sockets of a node when all have met, and at the end: the mean, and the most of a node other than 0
With --stealing the nodes steal instead of omitting tasks, and this is the only table. The second one has sums over all
nodes, as counts
    reports     notes for all other nodes
    to all      messages that these would take if each were sent to each other node, and the other messages
    messages    messages sent, and their share of the former; of these bundles, requests for work, given tasks,
                refusals, questions, and answers with a result
    work        computed leaves, in relation to those of one node; and the tasks that were helped, cut and yielded
Then it prints start CPU, memory and the rate as linear functions of the number of nodes, by least squares.
Refuses a number of nodes for which there is not enough free memory.
"""
import argparse
import os
import pathlib
import re
import subprocess
import time

from places import give_up, numbers_from

MOST_MEMORY = 24 << 20  # bytes of a node, more than was ever seen


def free_memory():
    return int(re.search(r"MemAvailable: +(\d+) kB", pathlib.Path("/proc/meminfo").read_text()).group(1)) << 10


def run(build, nodes, size, stealing):
    """The figures of each node, and when the run began."""
    if nodes * MOST_MEMORY > free_memory():
        give_up(f"{nodes} nodes need {nodes * MOST_MEMORY >> 20} MiB of free memory; give fewer --nodes")
    command = [str(build / "bin/sukima"), "cluster", "run", *([] if stealing else ["--hope"]), "-n", str(nodes),
               "--grace", "60", "--", str(build / "tests/bin/cluster_many_nodes"), str(size)]
    begin = time.time()
    done = subprocess.run(command, capture_output=True, text=True, check=False,
                          env={**os.environ, "SUKIMA_WORKERS": "1", "SUKIMA_CLUSTER_SILENCE": "0"})
    lines = re.findall(r"met .*", done.stderr)
    if done.returncode != 0 or len(lines) != nodes:
        give_up(f"{' '.join(command)} ended with {done.returncode}, and {len(lines)} nodes reported: "
                f"{done.stderr[-500:]}")
    figures = [dict(zip(line.split()[::2], map(float, line.split()[1::2]))) for line in lines]
    return begin, figures


def line_through(points):
    """The line y = a + b·x of least squares."""
    mean_x = sum(x for x, _ in points) / len(points)
    mean_y = sum(y for _, y in points) / len(points)
    spread = sum((x - mean_x) ** 2 for x, _ in points)
    b = sum((x - mean_x) * (y - mean_y) for x, y in points) / spread
    return mean_y - b * mean_x, b


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    root = pathlib.Path(__file__).resolve().parent.parent.parent
    parser.add_argument("--build", type=pathlib.Path, default=root / "build/release", help="[build/release]")
    parser.add_argument("--nodes", type=numbers_from(2), default=[16, 32, 64, 128, 256], metavar="N,...",
                        help="each from 2 to 4096 [16,32,64,128,256]")
    parser.add_argument("--size", type=int, default=15, help="of the board [15]")
    parser.add_argument("--stealing", action="store_true", help="without hierarchical omission")
    given = parser.parse_args()
    for program in ("bin/sukima", "tests/bin/cluster_many_nodes"):
        if not (given.build / program).exists():
            give_up(f"there is no {given.build / program}; build the targets sukima, sukima-cluster and "
                    "cluster_many_nodes")
    _, alone = run(given.build, 1, given.size, given.stealing)
    leaves = alone[0]["leaves"]
    rows, counts = [], []
    for nodes in given.nodes:
        begin, figures = run(given.build, nodes, given.size, given.stealing)
        total = {name: sum(f[name] for f in figures) for name in figures[0]}
        met = max(f["met"] for f in figures)
        duration = min(f["ended"] for f in figures) - met
        rows.append((nodes, met - begin, 1e3 * total["start_cpu"] / nodes, total["rss"] / nodes / 1024,
                     total["notes"] / duration, total["first_sockets"] / nodes, total["sockets"] / nodes,
                     max([f["sockets"] for f in figures if f["node"] != 0], default=0)))
        if given.stealing:
            continue
        to_all = total["reports"] * (nodes - 1) + total["notes"] - total["bundles"]
        counts.append((nodes, total["reports"], to_all, total["notes"], total["notes"] / to_all, total["bundles"],
                       total["requests"], total["given"], total["refusals"], total["questions"], total["answers"],
                       total["leaves"] / leaves, total["helped"], total["cut"], total["yielded"]))
    print(f"{'nodes':>5} {'start':>7} {'start CPU':>10} {'memory':>7} {'rate':>7} {'sockets':>8} {'at end':>7} "
          f"{'most':>5}")
    for row in rows:
        print("{:5} {:7.2f} {:10.1f} {:7.1f} {:7.0f} {:8.1f} {:7.1f} {:5.0f}".format(*row))
    if given.stealing:
        return
    print(f"\n{'nodes':>5} {'reports':>8} {'to all':>9} {'messages':>9} {'share':>6} {'bundles':>8} {'requests':>9} "
          f"{'given':>6} {'refusals':>9} {'questions':>10} {'answers':>8} {'work':>6} {'helped':>7} {'cut':>5} {'yielded':>8}")
    for row in counts:
        print("{:5} {:8.0f} {:9.0f} {:9.0f} {:6.3f} {:8.0f} {:9.0f} {:6.0f} {:9.0f} {:10.0f} {:8.0f} {:6.3f} "
              "{:7.0f} {:5.0f} {:8.0f}".format(*row))
    if len(set(given.nodes)) > 1:
        print()
        for name, column, unit in (("start CPU", 2, "ms"), ("memory", 3, "MiB"), ("rate", 4, "messages/s")):
            a, b = line_through([(row[0], row[column]) for row in rows])
            print(f"{name}: {a:.2f} + {b:.4f} n {unit}")


if __name__ == "__main__":
    main()
