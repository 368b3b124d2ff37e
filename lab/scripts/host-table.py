#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures whether `sukima host optimise` finds the best number of threads in real virtual machines.

    host-table.py --programs build/release/bin --measured build/release/tests/bin/sukima-measured
                  --image build/guest --results host.json [--quick]

It starts two guests of QEMU with four virtual CPUs each, on two CPUs. One of them runs a program. The guest lacks CPU in one of
three ways, or has more:

    shared  the other guest is busy, too
    capped  its control group gets 1 CPU; the other guest is idle
    fewer   its virtual CPUs are bound to one CPU, those of the other guest, which is busy, to another one
    idle    nothing binds it, and the other guest is idle: more is there than the weights say (only where --ways names it)

Each repetition boots the guests once. It first measures the speed with each number of threads from 1 to 4, in random order,
sent through the port and held. Then it runs the real `sukima host optimise`, by the program's progress, and measures the
speed with the final number. Then it measures the fixed numbers once more, and uses the mean of both, so that a drift affects
all. The static rule is VCPU-Bal's: CPUs by weight, rounded up, whatever else limits the guest (`sukima host estimate
--method formula`).

A cell has the median speed with each number, divided by the best one; the optimiser's last number, and its speed divided by
the best one; and the time with the optimiser divided by that with the static rule, with its 95 % bootstrap interval (below
1: the optimiser is faster). The script stores its results in a file, and continues where it was interrupted. It needs an
idle machine, and root for the control groups.
"""
import argparse
import contextlib
import json
import os
import pathlib
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import time

import resumed
from figures import interval_of_median
from places import QuotaGroup, give_up, locked

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LACKING = ["shared", "capped", "fewer"]  # the ways of the paper, section 3
WAYS = LACKING + ["idle"]
KINDS = ["barrier", "lock", "independent", "sukima"]
VCPUS = 4
COUNTS = range(1, VCPUS + 1)
CAP = 1.0
NEIGHBOUR = "independent"
PATIENCE = 120  # seconds for anything that a guest does


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    resumed.add_arguments(parser)
    parser.add_argument("--measured", type=pathlib.Path, required=True, help="the program sukima-measured")
    parser.add_argument("--image", type=pathlib.Path, required=True, help="folder for the guests' kernel and programs")
    parser.add_argument("--ways", nargs="+", default=LACKING, choices=WAYS, metavar="WAY", help=f"of {' '.join(WAYS)}")
    parser.add_argument("--kinds", nargs="+", default=KINDS, choices=KINDS, metavar="KIND", help=f"of {' '.join(KINDS)}")
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--window", type=float, default=10, help="seconds in which a speed is measured [10]")
    parser.add_argument("--optimise", type=float, default=150, help="seconds that the optimiser has [150]")
    parser.add_argument("--quick", action="store_true", help="one repetition with short windows: does it work?")
    given = parser.parse_args()
    if given.quick:
        given.repetitions, given.window, given.optimise = 1, 3, 60
    return given


class Guest:
    """A virtual machine of QEMU in a control group of its own."""

    def __init__(self, given, folder, name, group, cpus):
        self.name, self.folder, self.received, self.cpus = name, folder, b"", cpus
        path = lambda ending: str(folder / f"{name}.{ending}")  # noqa: E731
        self.service = path("service")
        self.output = open(path("qemu"), "w", encoding="utf-8")

        def enter():
            group.enter()
            if cpus is not None:
                os.sched_setaffinity(0, cpus)

        self.process = subprocess.Popen(
            ["qemu-system-x86_64", "-nodefaults", "-no-user-config", "-no-reboot", "-display", "none",
             "-name", f"{name},debug-threads=on", "-machine", "pc", "-accel", "tcg,thread=multi", "-m", "256",
             "-smp", f"{VCPUS},sockets=1,cores={VCPUS},threads=1", "-kernel", str(given.image / "vmlinuz"),
             "-initrd", str(given.image / "initramfs.gz"), "-append", "console=ttyS0 quiet panic=-1",
             "-serial", f"file:{path('console')}", "-device", "virtio-serial-pci",
             "-chardev", f"socket,id=port,path={path('port')},server=on,wait=off",
             "-device", "virtserialport,chardev=port,name=sukima",
             "-chardev", f"socket,id=service,path={self.service},server=on,wait=off",
             "-device", "virtserialport,chardev=service,name=org.sukima.guest.0"],
            stdin=subprocess.DEVNULL, stdout=self.output, stderr=subprocess.STDOUT, preexec_fn=enter)
        self.port = connect(path("port"))

    def line(self):
        """The next line that comes from it."""
        while b"\n" not in self.received:
            data = self.port.recv(65536)
            if not data:
                give_up(f"the guest {self.name} has ended: {(self.folder / (self.name + '.console')).read_text()[-500:]}")
            self.received += data
        line, _, self.received = self.received.partition(b"\n")
        return line.decode(errors="replace").strip()

    def start(self, kind):
        while "SUKIMA-UP" not in self.line():
            pass
        command = "sukima-guest >/dev/null 2>&1 &" + (f" sukima-measured {kind}" if kind else " sleep 100000")
        self.port.sendall(f"{{ {command}\n}} </dev/null\n".encode())

    def follow(self, seconds):
        """Reads for this long. Returns (when, done, threads) of each line."""
        seen, end = [], time.monotonic() + seconds
        while time.monotonic() < end or not seen:
            with contextlib.suppress(ValueError):
                row = json.loads(self.line())
                if isinstance(row, dict) and "done" in row:
                    seen.append((time.monotonic(), row["done"], row["threads"]))
        return seen

    def speed(self, seconds):
        """The guest's work in a second, measured over this many seconds, and its threads at the end."""
        seen = self.follow(seconds)
        seen += self.follow(0)
        begin, end = seen[0], seen[-1]
        return (end[1] - begin[1]) / (end[0] - begin[0]), end[2]

    def end(self):
        self.process.kill()
        self.process.wait()
        self.port.close()
        self.output.close()


def connect(path):
    end = time.monotonic() + PATIENCE
    while True:
        one = socket.socket(socket.AF_UNIX)
        one.settimeout(PATIENCE)
        with contextlib.suppress(OSError):
            one.connect(path)
            return one
        one.close()
        if time.monotonic() > end:
            give_up(f"QEMU does not listen at {path}")
        time.sleep(0.05)


def held_speed(guest, count, seconds):
    """The speed with a number of threads that is sent as the optimiser sends it."""
    with connect(guest.service) as port:
        port.setblocking(False)
        began, printed_at, speed = time.monotonic(), -1e9, None
        while speed is None:
            if time.monotonic() - printed_at > 2:
                port.send(f"sukima-host 1\nusable {count}\nvalid 30\nend\n".encode())
                printed_at = time.monotonic()
            with contextlib.suppress(BlockingIOError):
                port.recv(65536)
            threads = guest.follow(0.5)[-1][2]
            if threads == count:
                port.send(f"sukima-host 1\nusable {count}\nvalid {seconds + 30:.0f}\nend\n".encode())
                speed = guest.speed(seconds)[0]
            elif time.monotonic() - began > PATIENCE:
                give_up(f"the program does not follow the number {count}: it has {threads} threads")
        return speed


def description(a, b, way):
    """The description of the host, for the optimiser and for the static rule."""
    def machine(guest, cap):
        hard = {} if guest.cpus is None else {"hard": ",".join(map(str, sorted(guest.cpus)))}
        return {"name": guest.name, "weight_of": "vm", "pid": guest.process.pid, **({"cap": cap} if cap else {}),
                "vcpus": [{"id": i, **hard} for i in range(VCPUS)]}
    first = machine(a, CAP if way == "capped" else None) | {"act": ["threads"], "port": a.service}
    return {"sukima-host": 1, "pcpus": [{"id": cpu} for cpu in sorted(os.sched_getaffinity(0))],
            "vms": [first, machine(b, None)]}


def static_count(given, config):
    """VCPU-Bal's number: CPUs by weight, rounded up."""
    done = subprocess.run([given.programs / "sukima", "host", "estimate", config, "--method", "formula", "--json"],
                          capture_output=True, text=True, check=True)
    usable = next(vm["usable"] for vm in json.loads(done.stdout)["vms"] if vm["name"] == "a")
    return min(VCPUS, max(1, int(-(-usable // 1))))


def optimised(given, guest, config, folder):
    """Runs the optimiser. Returns the speed in the end, the number of threads, and its verdicts."""
    log = folder / "verdicts"
    with open(log, "w", encoding="utf-8") as out:
        process = subprocess.Popen([given.programs / "sukima", "host", "optimise", "--json", "--config", config,
                                    "--journal", folder / "journal"], stdout=out, stderr=subprocess.STDOUT)
        try:
            guest.follow(given.optimise)
            speed, threads = guest.speed(given.window)
            if process.poll() is not None:
                give_up(f"sukima host optimise has ended: {log.read_text()[-1000:]}")
        finally:
            process.terminate()
            process.wait()
    verdicts = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines() if line.startswith("{")]
    return speed, threads, [one.get("verdict") or one.get("reason", "") for one in verdicts]


def repetition(given, way, kind):
    """One boot of two guests, and all measurements in it."""
    cpus = sorted(os.sched_getaffinity(0))
    own, others = ({cpus[0]}, {cpus[1]}) if way == "fewer" else (None, None)
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        groups = [stack.enter_context(QuotaGroup(None)) for _ in range(2)]
        for group in groups:
            if group.folder is None:
                give_up(f"the guests need control groups: {group.why_not}")
        a = Guest(given, folder, "a", groups[0], own)
        stack.callback(a.end)
        b = Guest(given, folder, "b", groups[1], others)
        stack.callback(b.end)
        b.start(None if way in ("capped", "idle") else NEIGHBOUR)
        a.start(kind)
        a.follow(2)
        if way == "capped":
            groups[0].set(CAP)
        config = folder / "host.json"
        config.write_text(json.dumps(description(a, b, way)), encoding="utf-8")
        found = {"static": static_count(given, config)}
        speeds = {count: [] for count in COUNTS}

        def hold_each():
            for count in random.sample(COUNTS, VCPUS):
                speeds[count].append(held_speed(a, count, given.window))
                drain(b)

        hold_each()
        found["speed"], found["count"], found["verdicts"] = optimised(given, a, config, folder)
        hold_each()
        found["fixed"] = {str(count): statistics.mean(both) for count, both in speeds.items()}
        return found


def drain(guest):
    """Reads the neighbour's output, so that it never waits for a reader."""
    guest.port.setblocking(False)
    with contextlib.suppress(BlockingIOError):
        while guest.port.recv(65536):
            pass
    guest.port.settimeout(PATIENCE)


def measure(given, measurements):
    if len(os.sched_getaffinity(0)) < 2:
        give_up("two CPUs are needed")
    service = given.programs.parent / "libexec" / "sukima" / "sukima-guest"
    build = [ROOT / "lab/environment/build-image.sh", given.image, service, given.measured]
    if subprocess.run(build, check=False).returncode != 0:
        give_up("the guests' image cannot be built; see above")
    for number in range(given.repetitions):
        for way in given.ways:
            for kind in given.kinds:
                runs = measurements.results.setdefault(f"{way} {kind}", [])
                if len(runs) > number or measurements.is_over():
                    continue
                with locked(given.lock):
                    runs.append(repetition(given, way, kind))
                measurements.keep()
                print(f"{way} {kind}: {len(runs)} of {given.repetitions}", file=sys.stderr, flush=True)


def row(way, kind, runs):
    fixed = {count: statistics.median(run["fixed"][str(count)] for run in runs) for count in COUNTS}
    best = max(fixed, key=fixed.get)
    by_best = statistics.median(run["speed"] / run["fixed"][str(best)] for run in runs)
    times = [run["fixed"][str(run["static"])] / run["speed"] for run in runs]
    low, high = interval_of_median(times)
    parts = " ".join(f"{fixed[count] / fixed[best]:5.2f}" for count in COUNTS)
    counts = ",".join(sorted({str(run["count"]) for run in runs}))
    static = ",".join(sorted({str(run["static"]) for run in runs}))
    return (f"| {way} | {kind} | {parts} | {best} | {static} | {counts} | {by_best:.2f} | "
            f"{statistics.median(times):.2f} ({low:.2f}–{high:.2f}) | {len(runs)} |")


def table(results, given):
    print("| way | program | speed with 1 2 3 4 threads | best | static | optimiser | its speed / best | time / static's | runs |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for way in given.ways:
        for kind in given.kinds:
            if runs := results.get(f"{way} {kind}"):
                print(row(way, kind, runs))


if __name__ == "__main__":
    options = arguments()
    resumed.run(options, measure, table, ["sukima"], settings=("window", "optimise"))
