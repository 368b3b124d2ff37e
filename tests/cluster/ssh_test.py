#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`sukima cluster run --hosts` by ssh itself: ssh_test.py SUKIMA CLUSTER_FIB CLUSTER_QUEENS

The test starts its own sshd on the loopback device, with fresh keys. hosts_test.py has most cases. This test has the
cases in which sshd may differ from the shell that replaces it there.
"""
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import machines
from nodes import DIES_WITH_TEST, run_launcher, wait_until_ended, wait_until_it_works, without_late_nodes

SUKIMA, FIB, QUEENS = (str(Path(word).resolve()) for word in sys.argv[1:4])
del sys.argv[1:4]
SSHD = shutil.which("sshd") or shutil.which("sshd", path="/usr/sbin:/usr/local/sbin")
TWO = "127.0.0.1\n127.0.0.1\n"


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listens:
        return listens.getsockname()[1]


class Server:
    """An sshd that runs until `stop`, at an address of a machine or on the loopback device."""

    def __init__(self, folder, address="127.0.0.1", inside=lambda *words: words, other=None):
        """`other`: a server from which this one takes port and user."""
        self.folder, self.port = Path(folder), other.port if other else free_port()
        for key in ("host", *(() if other else ("user", "stranger"))):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.folder / key], check=True)
        shutil.copy(self.folder / "user.pub", self.folder / "authorized")
        (self.folder / "config").write_text(
            f"Port {self.port}\nListenAddress {address}\nHostKey {folder}/host\nAuthorizedKeysFile {folder}/authorized\n"
            "PidFile none\nStrictModes no\nUsePAM no\nPermitRootLogin yes\nPasswordAuthentication no\n")
        if os.getuid() == 0:
            Path("/run/sshd").mkdir(exist_ok=True)  # the folder of sshd, which Debian makes when its service starts
        self.process = subprocess.Popen([*DIES_WITH_TEST, *inside(SSHD, "-D", "-e", "-f", self.folder / "config")],
                                        stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        said = ""
        for line in self.process.stderr:
            said += line
            if "listening" in line:
                return
        self.stop()
        raise AssertionError(f"sshd ended: {said}")

    def command(self, key="user"):
        return (f"ssh -p {self.port} -i {self.folder / key} -o IdentitiesOnly=yes -o StrictHostKeyChecking=no "
                f"-o UserKnownHostsFile={self.folder / 'known'} -o LogLevel=ERROR -F none")

    def connections(self):
        """The processes of sshd that serve one connection each."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text()
        return [int(pid) for pid in children.split()]

    def stop(self):
        for pid in self.connections() if self.process.poll() is None else []:
            os.kill(pid, signal.SIGTERM)
        self.process.kill()
        self.process.communicate()


class hosts_by_ssh(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.kept = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.kept.cleanup)
        cls.folder = Path(cls.kept.name).resolve()
        cls.server = Server(cls.folder)
        cls.addClassCleanup(cls.server.stop)

    def words(self, hosts, *words, options=(), key="user"):
        file = self.folder / "hosts.txt"
        file.write_text(hosts)
        return [*DIES_WITH_TEST, SUKIMA, "cluster", "run", "--hosts", str(file), "--ssh", self.server.command(key),
                *options, "--", *words]

    def run_on(self, hosts, *words, **how):
        return run_launcher(self.words(hosts, *words, **how), stdin=subprocess.DEVNULL, capture_output=True, text=True,
                            cwd=self.folder)

    def start(self, script, before=""):
        """(the launcher, the pids of two programs), after they have reported that they run."""
        started = subprocess.Popen(self.words(TWO, "sh", "-c", f"{before} echo $$ >&2; {script}"), stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=self.folder)
        self.addCleanup(started.communicate)
        self.addCleanup(started.kill)
        return started, [int(started.stderr.readline().split()[-1]) for _ in range(2)]

    def test_have_the_result_of_one_machine(self):
        ended = self.run_on("127.0.0.1 2\n127.0.0.1\n", FIB, "25")
        self.assertEqual((ended.stdout, ended.stderr, ended.returncode), ("75025\n", "", 0))
        ended = self.run_on(TWO, QUEENS, "8", options=["--hope"])
        self.assertEqual((ended.stdout.split()[-1], ended.stderr, ended.returncode), ("92", "", 0))

    def test_get_all_arguments_unchanged(self):
        odd = ["", " a  b ", "it's", '"$HOME" `id` $(id) \\n \\', "two\nlines\n", "*", "-n", "!x", "a;b&|<>"]
        ended = self.run_on(TWO, "printf", "<%s>", *odd)
        self.assertEqual((ended.stdout, ended.returncode), ("".join(f"<{word}>" for word in odd), 0))

    def test_get_signals(self):
        for name in ("INT", "TERM", "USR1"):
            running, _ = self.start("while :; do sleep 0.05; done", before=f'trap "echo {name} >&2; exit 0" {name};')
            running.send_signal(getattr(signal, "SIG" + name))  # setpriv has become the launcher
            self.assertEqual(sorted(without_late_nodes(running.stderr.read()).splitlines()),
                             [f"[0 127.0.0.1] {name}", f"[1 127.0.0.1] {name}"])
            self.assertEqual(running.wait(), 0)

    def test_are_refused_without_the_right_key(self):
        ended = self.run_on(TWO, FIB, "25", key="stranger")
        self.assertEqual(ended.returncode, 255)
        self.assertIn("node 0 (host 127.0.0.1): ssh ended with status 255: the host was not reached", ended.stderr)

    def test_have_no_such_program(self):
        ended = self.run_on("127.0.0.1\n", "/no/such/program")
        self.assertEqual((ended.stderr, ended.returncode),
                         ("[0 127.0.0.1] sukima: node 0 (host 127.0.0.1): there is no program /no/such/program: copy it "
                          "there, or share its folder\n", 127))

    def test_end_when_the_launcher_is_killed(self):
        for script in ("exec sleep 1000", "trap '' TERM; while :; do sleep 0.05; done"):
            running, pids = self.start(script)
            running.kill()
            wait_until_ended(pids)

    def test_end_when_a_connection_is_lost(self):
        running, pids = self.start(f"SUKIMA_WORKERS=1 exec {FIB} 70")
        for pid in pids:
            wait_until_it_works(pid)
        for pid in self.server.connections():
            os.kill(pid, signal.SIGKILL)
        running.stderr.read()
        self.assertNotEqual(running.wait(), 0)
        wait_until_ended(pids)


def sockets(machine):
    """(local port, remote port) of the TCP connections of a machine, except those of its loopback device."""
    lines = subprocess.run(machine.inside("cat", "/proc/net/tcp"), check=True, capture_output=True, text=True).stdout
    fields = [line.split() for line in lines.splitlines()[1:]]
    return {(int(here.split(":")[1], 16), int(there.split(":")[1], 16)) for _, here, there, state, *_ in fields
            if state == "01" and not here.startswith("0100007F:")}


class tunnels(unittest.TestCase):
    """Two machines with an sshd each. The launcher is on the first one."""

    def setUp(self):
        if obstacle := machines.obstacle():
            self.skipTest(f"no network namespace can be made here: {obstacle}")
        kept = tempfile.TemporaryDirectory()
        self.addCleanup(kept.cleanup)
        self.folder = Path(kept.name).resolve()
        self.machines = self.enterContext(machines.two_machines())
        self.servers = []
        for number, machine in enumerate(self.machines, start=1):
            folder = self.folder / str(number)
            folder.mkdir()
            if self.servers:  # one user and one port for both
                for file in ("user", "user.pub"):
                    shutil.copy(self.servers[0].folder / file, folder / file)
            self.servers.append(Server(folder, f"10.77.0.{number}", machine.inside, self.servers[0] if self.servers else None))
            self.addCleanup(self.servers[-1].stop)
        (self.folder / "hosts.txt").write_text("10.77.0.1 2\n10.77.0.2 2\n")

    def words(self, *words):
        return [*DIES_WITH_TEST, *self.machines[0].inside(SUKIMA, "cluster", "run", "--hosts", str(self.folder / "hosts.txt"), "--ssh",
                                                         self.servers[0].command(), "--ssh-tunnel", *words)]

    def run_nodes(self, *words):
        return run_launcher(self.words(*words), stdin=subprocess.DEVNULL, capture_output=True, text=True, cwd=self.folder)

    def test_join_all_nodes(self):
        for options in ([], ["--hope"]):
            ended = self.run_nodes(*options, "--", QUEENS, "8")
            self.assertEqual((ended.stdout.split()[-1], ended.stderr, ended.returncode), ("92", "", 0))

    def test_are_all_that_goes_between_the_machines(self):
        with subprocess.Popen(self.words("--", "sh", "-c", f"echo $$ >&2; SUKIMA_WORKERS=1 exec {FIB} 70"), cwd=self.folder,
                              stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as running:
            for pid in [int(running.stderr.readline().split()[-1]) for _ in range(4)]:
                wait_until_it_works(pid)
            for machine in self.machines:
                ports = sockets(machine)
                self.assertNotEqual(ports, set())
                self.assertTrue(all(self.servers[0].port in pair for pair in ports), ports)
            running.kill()

    def test_that_cannot_be_made_end_the_run(self):
        taken = "import socket; s = socket.create_server(('127.0.0.1', 23000)); print('taken', flush=True); input()"
        with subprocess.Popen([*DIES_WITH_TEST, *self.machines[1].inside(sys.executable, "-c", taken)], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True) as other:
            self.assertEqual(other.stdout.readline(), "taken\n")
            ended = self.run_nodes("--port", "23000-23007", "--", FIB, "20")
            other.communicate("end\n")
        self.assertEqual(ended.returncode, 255)
        self.assertIn("node 2 (host 10.77.0.2): ssh ended with status 255", ended.stderr)
        self.assertIn("remote port forwarding failed for listen port 23000", ended.stderr)


if __name__ == "__main__":
    if SSHD is None or shutil.which("ssh") is None:
        print("there is no sshd here")
        sys.exit(77)
    unittest.main()
