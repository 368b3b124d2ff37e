# SPDX-License-Identifier: Apache-2.0
"""Code that tests of acting with `sukima host` share: a port, a made-up guest, and running the program. The test's first
argument is the program."""
import contextlib
import json
import pathlib
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

PROGRAM = str(pathlib.Path(sys.argv.pop(1)).resolve())


def until(condition, program=None):
    """Waits for an event, never for a time."""
    while not (found := condition()):
        if program is not None and program.poll() is not None:
            raise AssertionError(f"ended with {program.returncode}: {program.communicate()}")
        time.sleep(0.01)
    return found


class Port:
    """A chardev of QEMU: a socket for the host, and one for the guest."""

    def __init__(self, folder):
        self.paths = [str(folder / "host.sock"), str(folder / "guest.sock")]
        self.listening = []
        for path in self.paths:
            one = socket.socket(socket.AF_UNIX)
            one.bind(path)
            one.listen()
            self.listening.append(one)
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        ends = [None, None]
        while not self.stop.is_set():
            ready = select.select([end or listening for end, listening in zip(ends, self.listening)], [], [], 0.05)[0]
            for i in (0, 1):
                if ends[i] is None and self.listening[i] in ready:
                    ends[i] = self.listening[i].accept()[0]
                elif ends[i] in ready:
                    data = b""
                    with contextlib.suppress(OSError):
                        data = ends[i].recv(4096)
                    if not data:
                        # If one end is closed, the other end gets the event, as from QEMU.
                        for end in ends:
                            if end is not None:
                                end.close()
                        ends = [None, None]
                        break
                    if ends[1 - i] is not None:
                        with contextlib.suppress(OSError):
                            ends[1 - i].sendall(data)
        for one in [*ends, *self.listening]:
            if one is not None:
                one.close()

    def close(self):
        self.stop.set()
        self.thread.join()


class Machine:
    """A made-up guest with CPUs 0-3, or fewer."""

    def __init__(self, root, count=4):
        self.root = root
        self.cpus = root / "sys/devices/system/cpu"
        self.count = 0
        for _ in range(count):
            self.plug("1\n")
        (self.cpus / "online").write_text((self.cpus / "present").read_text())

    def plug(self, online="0\n"):
        """Plugs in one more CPU."""
        (self.cpus / f"cpu{self.count}").mkdir(parents=True)
        if self.count:
            (self.cpus / f"cpu{self.count}/online").write_text(online)
        self.count += 1
        (self.cpus / "present").write_text(f"0-{self.count - 1}\n")

    def on(self):
        return [0, *(i for i in range(1, self.count) if (self.cpus / f"cpu{i}/online").read_text() == "1\n")]

    def number(self):
        with contextlib.suppress(OSError):
            return (self.root / "run/sukima/host").read_text()
        return ""


class Acting(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.journal = str(self.folder / "state/journal")
        self.config = self.folder / "host.json"
        self.processes = []

    def tearDown(self):
        for one in self.processes:
            one.kill()
            one.communicate()

    def enterContext(self, context):  # of Python 3.11
        value = context.__enter__()
        self.addCleanup(context.__exit__, None, None, None)
        return value

    def start(self, *words):
        one = subprocess.Popen([PROGRAM, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.processes.append(one)
        return one

    def end(self, one):
        one.send_signal(signal.SIGTERM)
        out, err = one.communicate()
        self.assertEqual((one.returncode, err), (0, ""))
        return out

    def run_host(self, *words):
        return subprocess.run([PROGRAM, "host", *words, "--journal", self.journal], capture_output=True, text=True,
                              timeout=500)

    def refused(self, sentence, *words):
        done = self.run_host(*words)
        self.assertEqual((done.returncode, done.stdout), (2, ""), words)
        self.assertIn(sentence, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)

    def sleeper(self):
        one = subprocess.Popen(["sleep", "100000"])
        self.addCleanup(lambda: (one.kill(), one.wait()))
        return one

    def write(self, *vms):
        self.config.write_text(json.dumps({"sukima-host": 1, "pcpus": [{"id": 0}, {"id": 1}], "vms": vms}))

    def vm(self, name, process, **others):
        return {"name": name, "weight_of": "vm", "pid": process.pid, **others,
                "vcpus": [{"id": 0, "thread": process.pid}]}

    def optimise(self, *words):
        return self.start("host", "optimise", "--config", str(self.config), "--journal", self.journal, *words)

    def thread(self):
        """A thread of this process that waits until the end of the test."""
        stop, ready = threading.Event(), threading.Event()
        number = []

        def wait():
            number.append(threading.get_native_id())
            ready.set()
            stop.wait()

        one = threading.Thread(target=wait)
        one.start()
        ready.wait()
        self.addCleanup(one.join)
        self.addCleanup(stop.set)
        return number[0]
