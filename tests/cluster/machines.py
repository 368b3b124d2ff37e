# SPDX-License-Identifier: Apache-2.0
"""Network namespaces as machines, and connections between two of them: a cable, or a line with a delay.

They end with the processes that hold them. The test's own namespace stays as it is.
"""
import contextlib
import ctypes
import fcntl
import heapq
import multiprocessing
import os
import select
import struct
import subprocess
import time

from nodes import DIES_WITH_TEST


class Machine:
    """A network namespace as long as the object lives."""

    def __init__(self):
        self.holder = subprocess.Popen([*DIES_WITH_TEST, "unshare", "--net", "sleep", "infinity"],
                                       stderr=subprocess.DEVNULL)
        self.place = f"/proc/{self.holder.pid}/ns/net"
        while os.readlink(self.place) == os.readlink("/proc/self/ns/net"):
            if self.holder.poll() is not None:
                raise PermissionError("no network namespace can be made here")
            time.sleep(0.01)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.holder.kill()
        self.holder.wait()

    def inside(self, *words):
        return ["nsenter", f"--net={self.place}", *words]

    def ip(self, *words):
        subprocess.run(self.inside("ip", *words), check=True, capture_output=True)


@contextlib.contextmanager
def two_machines():
    with Machine() as a, Machine() as b:
        a.ip("link", "add", "cable", "type", "veth", "peer", "name", "cable", "netns", str(b.holder.pid))
        for number, machine in enumerate((a, b), start=1):
            machine.ip("addr", "add", f"10.77.0.{number}/24", "dev", "cable")
            machine.ip("link", "set", "cable", "up")
            machine.ip("link", "set", "lo", "up")
        yield a, b


def obstacle():
    """Why there can be no such machines here, or None."""
    try:
        with two_machines():
            return None
    except (OSError, subprocess.CalledProcessError) as error:
        return error


def carry(places, seconds, ready):
    """Makes a device `line` in both namespaces, and carries packets between them until the process ends."""
    enter_network, set_interface, plain_packets = 0x40000000, 0x400454ca, 0x1001
    ends = []
    for place in places:
        with open(place) as namespace:
            if ctypes.CDLL(None, use_errno=True).setns(namespace.fileno(), enter_network) != 0:
                raise OSError(ctypes.get_errno(), "setns")
        ends.append(os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK))
        fcntl.ioctl(ends[-1], set_interface, struct.pack("16sH22x", b"line", plain_packets))
    ready.set()
    under_way = []
    read = 0
    while True:
        left = max(0, under_way[0][0] - time.monotonic()) if under_way else None
        for device in select.select(ends, [], [], left)[0]:
            read += 1  # packets of one time stay in their order
            due = time.monotonic() + seconds
            heapq.heappush(under_way, (due, read, os.read(device, 65536), ends[device == ends[0]]))
        while under_way and under_way[0][0] <= time.monotonic():
            *_, packet, to = heapq.heappop(under_way)
            with contextlib.suppress(OSError):  # the other end is full, or not up yet: the packet is lost
                os.write(to, packet)


@contextlib.contextmanager
def two_sites(seconds):
    """Two machines, 10.78.0.1 and 10.78.0.2, with a line that has this delay in each direction."""
    with Machine() as a, Machine() as b:
        ready = multiprocessing.Event()
        line = multiprocessing.Process(target=carry, args=((a.place, b.place), seconds, ready), daemon=True)
        line.start()
        try:
            while not ready.wait(0.1):
                if not line.is_alive():
                    raise PermissionError("no TUN device can be made here")
            for number, machine in enumerate((a, b), start=1):
                machine.ip("addr", "add", f"10.78.0.{number}", "peer", f"10.78.0.{3 - number}", "dev", "line")
                machine.ip("link", "set", "line", "up")
                machine.ip("link", "set", "lo", "up")
            yield a, b
        finally:
            line.kill()
            line.join()
