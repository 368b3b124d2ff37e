#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`sukima host` on real machines: QEMU's, and libvirt's test driver and daemon.

live_check.py PROGRAM [--sanitized]

The guest is a boot sector that jumps to itself, so its first virtual CPU is busy and its second one never starts. The
test waits until `sukima host` shows that, and judges no time.
"""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

PROGRAM = str(pathlib.Path(sys.argv.pop(1)).resolve())
SANITIZED = "--sanitized" in sys.argv
if SANITIZED:
    sys.argv.remove("--sanitized")
UUID = "12345678-1234-1234-1234-123456789abc"


def host(*arguments):
    done = subprocess.run([PROGRAM, "host", *arguments], capture_output=True, text=True, timeout=500)
    return done.returncode, done.stdout, done.stderr


def boot_sector(folder):
    disk = pathlib.Path(folder, "spin.img")
    disk.write_bytes(bytes([0xEB, 0xFE]).ljust(510, b"\0") + bytes([0x55, 0xAA]))
    return disk


class Qemu(unittest.TestCase):
    def setUp(self):
        emulator = shutil.which("qemu-system-x86_64")
        if emulator is None:
            self.skipTest("qemu-system-x86_64 is not installed")
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.socket = os.path.join(self.folder.name, "monitor")
        self.machine = subprocess.Popen(
            [emulator, "-nodefaults", "-no-user-config", "-display", "none", "-machine", "pc", "-accel",
             "tcg,thread=multi", "-name", "spin", "-uuid", UUID, "-m", "32", "-smp",
             "2,maxcpus=3,sockets=1,cores=3,threads=1", "-drive",
             f"if=floppy,format=raw,file={boot_sector(self.folder.name)}", "-qmp",
             f"unix:{self.socket},server=on,wait=off"],
            stderr=subprocess.PIPE, text=True)
        self.addCleanup(self.end)
        while not os.path.exists(self.socket):
            self.assertIsNone(self.machine.poll(), "QEMU ended")

    def end(self):
        self.machine.kill()
        self.machine.wait()
        self.machine.stderr.close()

    def read(self, *arguments):
        code, out, error = host("list", "--qmp", self.socket, "--interval", "0.2", "--json", *arguments)
        self.assertEqual((code, error), (0, ""))
        return json.loads(out)["vms"]

    def counters(self):
        code, out, error = host("record", "-", "--qmp", self.socket, "--count", "1")
        self.assertEqual((code, error), (0, ""))
        return [vcpu.get("ran") for vcpu in json.loads(out)["vms"][0]["vcpus"]]

    def test_the_busy_vcpu_is_seen(self):
        first = self.counters()
        self.assertEqual(len(first), 3)
        self.assertIsNone(first[2], "the third can be plugged in")
        while self.counters()[0] < first[0] + 0.5:
            pass  # it spins, so this comes
        last = self.counters()
        self.assertLess(last[1], 0.5, "it never starts")
        one, = self.read()
        self.assertEqual((one["name"], one["id"], one["state"], one["online"], one["vcpus"]), ("spin", UUID, "running", 2, 3))

    def test_it_is_found_without_its_socket(self):
        code, out, _ = host("list", "--json", "--interval", "0.2")
        self.assertEqual(code, 0)
        self.assertIn(UUID, [one["id"] for one in json.loads(out)["vms"]])

    def test_a_machine_whose_monitor_hangs_is_late(self):
        self.read()  # its socket listens, which happens after the socket exists
        self.machine.send_signal(signal.SIGSTOP)
        self.addCleanup(self.machine.send_signal, signal.SIGCONT)
        code, out, error = host("list", "--qmp", self.socket, "--interval", "0.2")
        self.assertEqual((code, out), (2, ""))
        self.assertIn("did not answer in time", error)

    def test_a_machine_that_was_killed_is_gone(self):
        self.read()
        self.machine.kill()
        self.machine.wait()
        code, out, error = host("list", "--qmp", self.socket)
        self.assertEqual((code, out), (2, ""))
        self.assertIn("is not the socket of a running machine", error)


class Libvirt(unittest.TestCase):
    def setUp(self):
        code, _, error = host("list", "--connect", "test:///default", "--interval", "0.2")
        if "built without libvirt" in error or "libvirt is not installed" in error:
            self.skipTest("libvirt is not installed")
        self.assertEqual(code, 0, error)

    def test_its_test_driver_is_read(self):
        code, out, error = host("list", "--connect", "test:///default", "--interval", "0.2", "--json")
        self.assertEqual((code, error), (0, ""))
        listing = json.loads(out)
        self.assertEqual([one["name"] for one in listing["vms"]], ["test"])
        self.assertEqual((listing["vms"][0]["vcpus"], listing["vms"][0]["weight"]), (2, 50))
        self.assertEqual([one["id"] for one in listing["pcpus"]], [0, 2, 4])

    def test_its_machine_without_a_port_is_a_neighbour(self):
        following = subprocess.Popen([PROGRAM, "host", "optimise", "--connect", "test:///default", "--dry-run", "--no-times"],
                                     stdout=subprocess.PIPE, text=True)
        self.assertEqual(following.stdout.readline(), "test: it is not optimised, but what it uses counts\n")
        following.terminate()
        following.communicate()
        self.assertEqual(following.returncode, 0)

    def test_a_uri_that_leads_nowhere_is_refused(self):
        code, out, error = host("list", "--connect", "nonesuch:///system")
        self.assertEqual((code, out), (2, ""))
        self.assertIn("libvirt cannot be reached at nonesuch:///system", error)
        self.assertEqual(error.count("\n"), 1)


DOMAIN = """<domain type='qemu'><name>sukima-check-{pid}</name><memory unit='MiB'>32</memory>
<vcpu placement='static' current='2'>3</vcpu>
<os><type arch='x86_64' machine='pc'>hvm</type><boot dev='fd'/></os>
<cpu><topology sockets='1' cores='3' threads='1'/></cpu>
<devices><disk type='file' device='floppy'><driver name='qemu' type='raw'/><source file='{disk}'/>
<target dev='fda' bus='fdc'/></disk></devices></domain>"""


class Daemon(unittest.TestCase):
    """A domain of libvirtd: the machine's own one if it runs, otherwise one that ends with the test."""

    def setUp(self):
        if SANITIZED:
            # GCC's sanitizers replace functions of libtirpc (xdr_*) by functions that call those that glibc no longer has.
            self.skipTest("under a sanitizer libvirt cannot talk to its daemon")
        for tool in ("virsh", "libvirtd", "virtlogd", "qemu-system-x86_64"):
            if shutil.which(tool) is None:
                self.skipTest(f"{tool} is not installed")
        code, _, error = host("list", "--connect", "test:///default", "--interval", "0.2")
        if "built without libvirt" in error:
            self.skipTest("libvirt is not installed")
        self.assertEqual(code, 0, error)
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        os.chmod(self.folder.name, 0o755)
        self.uri = "qemu:///system" if os.geteuid() == 0 else "qemu:///session"
        if self.virsh("list").returncode != 0:
            # Without the daemon that writes logs, libvirtd starts no machine.
            daemons = [subprocess.Popen([name], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                       for name in ("virtlogd", "libvirtd")]
            for one in daemons:
                self.addCleanup(one.wait)
                self.addCleanup(one.terminate)
            while self.virsh("list").returncode != 0:
                if any(one.poll() is not None for one in daemons):
                    self.skipTest("no libvirtd can be started here")
        self.name = f"sukima-check-{os.getpid()}"
        description = pathlib.Path(self.folder.name, "domain.xml")
        description.write_text(DOMAIN.format(pid=os.getpid(), disk=boot_sector(self.folder.name)))
        started = self.virsh("create", str(description))
        self.assertEqual(started.returncode, 0, started.stderr)
        self.addCleanup(self.virsh, "destroy", self.name)

    def virsh(self, *arguments):
        return subprocess.run(["virsh", "-c", self.uri, *arguments], capture_output=True, text=True, timeout=500)

    def description(self):
        # Just after a start, and beside other programs, libvirt answers only after seconds.
        error = "did not answer in time"
        while "did not answer in time" in error:
            code, out, error = host("record", "-", "--connect", self.uri, "--count", "1")
        self.assertEqual(code, 0, error)
        return next(one for one in json.loads(out)["vms"] if one["name"] == self.name)

    def test_the_busy_vcpu_is_seen(self):
        first = self.description()["vcpus"]
        self.assertEqual([one["online"] for one in first], [True, True, False])
        while self.description()["vcpus"][0]["ran"] < first[0]["ran"] + 0.5:
            pass
        self.assertLess(self.description()["vcpus"][1]["ran"], 0.5)

    def test_a_virtual_cpu_is_plugged_in_and_one_that_the_guest_ignores_is_reported(self):
        config = pathlib.Path(self.folder.name, "host.json")
        config.write_text(json.dumps({"sukima-host": 1, "pcpus": [{"id": 0}], "vms": [
            {"name": "a", "weight_of": "vm", "act": ["plug"], "domain": self.name, "connect": self.uri,
             "vcpus": [{"id": 0}, {"id": 1}, {"id": 2, "online": False}]}]}))
        journal = ("--journal", str(pathlib.Path(self.folder.name, "journal")))
        code, _, error = host("act", "a", "plug", "3", "--config", str(config), *journal)
        self.assertEqual(code, 1)
        self.assertIn("a: the virtual CPUs are plugged in, but the guest does not use them", error)
        self.assertEqual(self.virsh("vcpucount", self.name, "--live", "--active").stdout.strip(), "3")
        code, _, error = host("act", "a", "plug", "2", "--config", str(config), *journal)
        self.assertEqual(code, 1)
        self.assertIn("none is unplugged", error)
        code, out, _ = host("revert", *journal)
        self.assertEqual(code, 0)
        self.assertIn("was left as it is", out)

    def test_pins_and_pauses_are_seen(self):
        self.assertEqual(self.virsh("vcpupin", self.name, "0", "0").returncode, 0)
        self.assertEqual(self.virsh("suspend", self.name).returncode, 0)
        one = self.description()
        if os.cpu_count() > 1:
            self.assertEqual(one["vcpus"][0]["hard"], "0")
        self.assertEqual((one["state"], one["vcpus"][0]["demand"]), ("paused", 0))


if __name__ == "__main__":
    unittest.main()
