#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`kill -9` of `sukima host optimise` at each step of plugging a virtual CPU in: what is left is within the lease, and
`sukima host revert` says what it leaves. The test plays QEMU: its threads stand for virtual CPUs, and it has a monitor.

host_kill_test.py PROGRAM
"""
import contextlib
import json
import os
import pathlib
import socket
import subprocess
import sys
import threading
import time
import unittest

from host_acting import PROGRAM, Acting, Machine, Port, until


class Monitor:
    """QEMU's monitor of a machine with two virtual CPUs and one place."""

    def __init__(self, path, qemu):
        self.qemu = qemu
        self.got = []
        self.listening = socket.socket(socket.AF_UNIX)
        self.listening.bind(str(path))
        self.listening.listen()
        # Called before and after each command, in the thread of the monitor. If it returns true, the monitor hangs up.
        self.at = lambda command, moment: False
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        while True:
            connection = self.listening.accept()[0]
            if self.ended.is_set():
                connection.close()
                return
            with contextlib.suppress(OSError), connection:
                self.serve(connection)

    def serve(self, connection):
        with connection.makefile("r") as lines:
            self.send(connection, {"QMP": {"version": {}, "capabilities": []}})
            for line in lines:
                command = json.loads(line)
                name = command["execute"]
                self.got.append(name)
                if self.at(name, "before"):
                    return
                answer = self.answer(name)
                if self.at(name, "after"):
                    return
                self.send(connection, {"return": answer, "id": command["id"]})

    def send(self, connection, message):
        connection.sendall((json.dumps(message) + "\r\n").encode())

    def answer(self, name):
        there = self.qemu.threads
        if name == "query-cpus-fast":
            return [{"cpu-index": i, "thread-id": thread} for i, thread in enumerate(there)]
        if name == "query-hotpluggable-cpus":
            return [{"props": {"core-id": i}, "vcpus-count": 1, "type": "cpu",
                     **({"qom-path": f"/machine/{i}"} if i < len(there) else {})} for i in range(3)]
        if name == "device_add":
            self.qemu.plug()
        return {"query-name": {"name": "a"}, "query-status": {"status": "running", "running": True},
                "query-uuid": {"UUID": "00000000-0000-0000-0000-000000000001"}}.get(name, {})

    def close(self):
        self.ended.set()
        # Wakes it: closing a socket does not end an accept.
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as one:
            one.connect(self.listening.getsockname())
        self.thread.join()
        self.listening.close()


class Kill(Acting):
    def setUp(self):
        super().setUp()
        self.port = Port(self.folder)
        self.addCleanup(self.port.close)
        self.machine = Machine(self.folder / "guest", 2)
        self.switched_on, self.stop, self.workers, self.threads = threading.Event(), threading.Event(), [], []
        self.addCleanup(self.end_threads)
        for _ in range(2):
            self.start_vcpu()
        self.monitor = Monitor(self.folder / "monitor", self)
        self.addCleanup(self.monitor.close)
        self.config.write_text(json.dumps({"sukima-host": 1, "pcpus": [{"id": i} for i in range(4)], "vms": [
            {"name": "a", "weight_of": "vm", "act": ["vcpus", "plug"], "port": self.port.paths[0], "pid": os.getpid(),
             "monitor": str(self.folder / "monitor"),
             "vcpus": [{"id": 0}, {"id": 1}, {"id": 2, "online": False}]}]}))
        self.service = self.start("guest", "--root", str(self.machine.root), "--port", self.port.paths[1])

    def start_vcpu(self):
        """A thread of this process that has the name of a virtual CPU; they run once the third one is switched on."""
        number, ready = len(self.threads), threading.Event()

        def live():
            thread = threading.get_native_id()
            pathlib.Path(f"/proc/self/task/{thread}/comm").write_text(f"CPU {number}/TCG")
            self.threads.append(thread)
            ready.set()
            self.switched_on.wait()
            while time.thread_time() < 0.01:
                pass
            self.stop.wait()

        self.workers.append(threading.Thread(target=live))
        self.workers[-1].start()
        ready.wait()

    def end_threads(self):
        self.stop.set()
        self.switched_on.set()
        for one in self.workers:
            one.join()

    def plug(self):
        self.start_vcpu()
        self.machine.plug()

    def written(self):
        with contextlib.suppress(OSError):
            return pathlib.Path(self.journal).read_text()
        return ""

    def kill(self, running):
        running.kill()
        running.wait()
        return True

    def killed_in_the_monitor(self, command, moment, steps=lambda: True):
        """Starts, and kills it in the middle of this command."""
        killed, started = threading.Event(), threading.Event()

        def at(name, when):
            if killed.is_set() or (name, when) != (command, moment) or not steps():
                return False
            started.wait()
            self.kill(running)
            killed.set()
            return True

        self.monitor.at = at
        running = self.optimise()
        started.set()
        # The monitor sets the event when it has killed the process.
        until(killed.is_set)

    def killed_when(self, condition):
        running = self.optimise()

        def seen():
            if self.machine.count == 3 and 2 in self.machine.on():
                (self.machine.cpus / "online").write_text("0-2\n")  # as the kernel does
                self.switched_on.set()
            return condition()

        until(seen, running)
        self.kill(running)

    def check(self, plugged):
        """What is left is within the lease: the guest's CPUs that were there are on, and the new one is off."""
        until(lambda: self.machine.on() == [0, 1], self.service)
        self.assertEqual(self.machine.count, 3 if "device_add" in self.monitor.got and len(self.threads) == 3 else 2)
        self.assertEqual('"kind":"plug"' in self.written(), plugged, self.written())
        done = self.run_host("revert", "--json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        outcomes = {one["what"]: one for one in map(json.loads, done.stdout.splitlines())}
        self.assertEqual(outcomes["vcpus"]["outcome"], "ended")
        self.assertEqual("plug" in outcomes, plugged)
        if plugged:
            self.assertEqual(outcomes["plug"]["outcome"], "left")
            self.assertIn("stays until the machine ends", outcomes["plug"]["reason"])
        self.assertEqual(self.run_host("revert").stdout, "")
        self.assertEqual(self.machine.on(), [0, 1])

    def test_when_the_guest_has_obeyed_its_first_number(self):
        self.killed_when(lambda: '"kind":"vcpus"' in self.written())
        self.check(plugged=False)

    def test_while_it_asks_for_places(self):
        self.killed_in_the_monitor("query-hotpluggable-cpus", "before")
        self.assertIn('"kind":"vcpus"', self.written(), "only a guest that obeys is asked about")
        self.check(plugged=False)

    def test_before_the_virtual_cpu_is_plugged_in(self):
        self.killed_in_the_monitor("device_add", "before")
        self.assertEqual(len(self.threads), 2)
        self.check(plugged=True)  # the line was there first

    def test_before_it_knows_that_it_is_plugged_in(self):
        self.killed_in_the_monitor("device_add", "after")
        self.check(plugged=True)

    def test_before_it_knows_the_threads(self):
        self.killed_in_the_monitor("query-cpus-fast", "before", lambda: len(self.threads) == 3)
        self.check(plugged=True)

    def test_when_the_virtual_cpu_is_switched_on(self):
        self.killed_when(lambda: self.machine.count == 3 and self.switched_on.is_set())
        self.check(plugged=True)

    def test_when_all_is_proved_and_again(self):
        def is_proved():
            acts = [json.loads(line) for line in self.written().splitlines()]
            plugs = {one["act"] for one in acts if one.get("kind") == "plug"}
            last = [one for one in acts if one.get("kind") == "vcpus"][-1:]
            return any(one["step"] == "proved" and one["act"] in plugs for one in acts) and last and \
                last[0]["after"] == "3" and any(one["step"] == "proved" and one["act"] == last[0]["act"] for one in acts)

        self.killed_when(is_proved)
        self.check(plugged=True)
        # The next optimiser uses the virtual CPU that is plugged in already.
        (self.machine.cpus / "online").write_text("0-1\n")
        running = self.optimise()
        until(lambda: self.machine.on() == [0, 1, 2], running)
        self.assertEqual(self.monitor.got.count("device_add"), 1)
        self.end(running)


def all_at_once():
    """Each case in a process of its own, whose threads are its machine's: they wait for seconds most of the time."""
    names = unittest.TestLoader().getTestCaseNames(Kill)
    running = [subprocess.Popen([sys.executable, __file__, PROGRAM, f"Kill.{name}"], stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True) for name in names]
    failed = 0
    for name, one in zip(names, running):
        out = one.communicate()[0]
        if one.returncode != 0:
            failed += 1
            print(f"{name}:\n{out}")
    print(f"{len(names)} cases, {failed} failed")
    return 1 if failed or not names else 0


if __name__ == "__main__":
    if len(sys.argv) > 1:
        unittest.main()
    sys.exit(all_at_once())
