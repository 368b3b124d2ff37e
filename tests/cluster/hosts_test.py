#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests `sukima cluster run --hosts` without a network: hosts_test.py SUKIMA CLUSTER_FIB CLUSTER_QUEENS

remote_shell.py replaces ssh. Its hosts are addresses of the loopback device that only this test uses.
"""
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from nodes import DIES_WITH_TEST, run_launcher, wait_until_ended, wait_until_it_works, without_late_nodes

SUKIMA, FIB, QUEENS = (str(Path(word).resolve()) for word in sys.argv[1:4])
del sys.argv[1:4]
SHELL = str(Path(__file__).resolve().parent / "remote_shell.py")
HERE = "127.%d.%d.%d" % (64 + (os.getpid() >> 16) % 64, os.getpid() >> 8 & 255, os.getpid() & 255)
TWO = f"alpha {HERE}\nbeta {HERE}\n"


class Hosts(unittest.TestCase):
    def setUp(self):
        # Outside the folder of the test, which another host does not have.
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name).resolve()
        self.log = self.folder / "log"

    def words(self, hosts, *words, options=(), shell=SHELL):
        file = self.folder / "hosts.txt"
        file.write_bytes(hosts if isinstance(hosts, bytes) else hosts.encode())
        return [*DIES_WITH_TEST, SUKIMA, "cluster", "run", "--hosts", str(file), "--ssh", shell, *options, "--", *words]

    def how(self, **variables):
        return {"text": True, "cwd": self.folder,
                "env": {**os.environ, "REMOTE_SHELL_LOG": str(self.log), **variables}}

    def run_on(self, hosts, *words, text="", options=(), shell=SHELL, **variables):
        return run_launcher(self.words(hosts, *words, options=options, shell=shell), input=text, capture_output=True,
                            **self.how(**variables))

    def start_on(self, hosts, script, before="", options=(), **variables):
        """(the launcher, the programs by node), after they have reported that they run."""
        started = subprocess.Popen(self.words(hosts, "sh", "-c", f"{before} echo $SUKIMA_CLUSTER_NODE $$ >&2; {script}",
                                              options=options),
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   **self.how(**variables))
        self.addCleanup(started.communicate)
        self.addCleanup(started.kill)
        nodes = sum(1 for line in hosts.splitlines() if line)
        said = [started.stderr.readline().split()[-2:] for _ in range(nodes)]
        return started, [pid for _, pid in sorted((int(node), int(pid)) for node, pid in said)]

    def connection(self, host):
        """The process that replaces ssh."""
        return next(int(line.split()[0]) for line in self.log.read_text().splitlines() if line.split()[1] == host)


def ports_with_connections(address):
    """The ports of that address with connections, once for each connection."""
    number = "".join(f"{int(part):02X}" for part in reversed(address.split(".")))
    lines = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return sorted(int(here.split(":")[1], 16) for _, here, _, state, *_ in lines
                  if here.startswith(number) and state == "01")


class nodes_with_ports(Hosts):
    def test_listen_on_these_only(self):
        with socket.create_server((HERE, 21001)):
            running, pids = self.start_on(f"alpha {HERE}\n" * 3, f"exec {FIB} 70", options=["--port", "21000-21004"],
                                          SUKIMA_WORKERS="1")
            for pid in pids:
                wait_until_it_works(pid)
            ports = ports_with_connections(HERE)
            running.kill()
        wait_until_ended(pids)
        # Nodes 1 and 2 are connected to node 0, and node 2 to node 1. Another program has the first port of node 1.
        self.assertEqual(ports[:2], [21000, 21000])
        self.assertIn(ports[2:], ([21002], [21003]))

    def test_leave_the_first_one_to_node_0(self):
        ended = self.run_on(f"alpha 2 {HERE}\nbeta {HERE}\n", "sh", "-c", "echo $SUKIMA_CLUSTER_NODE $SUKIMA_CLUSTER_ADDRESS $SUKIMA_CLUSTER_PORT >&2",
                            options=["--no-tags", "--port", "21000-21004"])
        self.assertEqual(sorted(ended.stderr.splitlines()),
                         [f"0 {HERE}:21000 21000-21004", f"1 {HERE}:21000 21001-21004", f"2 {HERE}:21000 21000-21004"])

    def test_say_that_none_is_free(self):
        with socket.create_server((HERE, 21000)), socket.create_server((HERE, 21001)):
            ended = self.run_on(f"alpha {HERE}\nbeta {HERE}\n", FIB, "25", options=["--port", "21000-21001"])
        self.assertEqual(ended.returncode, 2)
        self.assertRegex(ended.stderr, f"sukima: node (0: node 0 cannot listen on port 21000 of {HERE}: Address already in use|"
                                       "1: node 1 cannot listen on any of the ports 21000-21001: Address already in use: give "
                                       "others by --port or SUKIMA_CLUSTER_PORT)\n")

    def test_need_one_for_each_node_of_a_host(self):
        ended = self.run_on(f"alpha {HERE}\nbeta 2 {HERE}\n", FIB, "25", options=["--port", "21000"])
        self.assertEqual((ended.stderr, ended.returncode),
                         ("sukima: --port 21000: beta has 2 nodes, which need a port each: give FIRST-LAST\n", 2))

    def test_are_numbers(self):
        for text in ("0", "65536", "2-1", "1-", "-1", "x", "1-2-3"):
            ended = self.run_on(TWO, FIB, "25", options=[f"--port={text}"])
            self.assertEqual((ended.stderr, ended.returncode),
                             (f"sukima: --port: '{text}' is neither a port nor a range: give a number from 1 to 65535, or "
                              "FIRST-LAST\n", 2))


class nodes_with_tunnels(Hosts):
    """remote_shell.py forwards nothing, but its hosts share one loopback device, so nodes still find each other."""

    def forwards(self):
        """By host, in the order of the log: the forwardings that the shells which start nodes were asked for."""
        found = []
        for line in self.log.read_text().splitlines():
            words = line.split()[1:]
            options = [(words[i], words[i + 1]) for i in range(len(words)) if words[i] in ("-L", "-R")]
            host = next(word for word in words if word in ("alpha", "beta"))
            self.assertEqual(bool(options), "ExitOnForwardFailure=yes" in words)
            found.append((host, options))
        return found

    def test_forward_the_ports_of_all_others(self):
        for options in ([], ["--hope"]):
            self.log.unlink(missing_ok=True)
            ended = self.run_on("alpha 2 10.0.0.1\nbeta 1 10.0.0.2\n", FIB, "25",
                                options=["--ssh-tunnel", "--port", "21100-21105", *options])
            self.assertEqual((ended.stdout, ended.stderr, ended.returncode), ("75025\n", "", 0))
            own = "127.0.0.1"
            self.assertEqual(sorted(self.forwards()), [
                ("alpha", []),
                ("alpha", [("-L", f"{own}:21103:{own}:21100"), ("-L", f"{own}:21104:{own}:21101"),
                           ("-R", f"{own}:21102:{own}:21105")]),
                ("beta", [("-R", f"{own}:21100:{own}:21103"), ("-R", f"{own}:21101:{own}:21104"),
                          ("-L", f"{own}:21105:{own}:21102")])])

    def test_listen_at_the_loopback_device_only(self):
        ended = self.run_on(TWO, "sh", "-c", "echo $SUKIMA_CLUSTER_ADDRESSES $SUKIMA_CLUSTER_PORT >&2",
                            options=["--no-tags", "--ssh-tunnel", "--port", "21000-21003"])
        self.assertEqual(sorted(ended.stderr.splitlines()), ["127.0.0.1,127.0.0.1 21000-21000", "127.0.0.1,127.0.0.1 21001-21001"])

    def test_draw_their_ports(self):
        ended = self.run_on(TWO, FIB, "25", options=["--ssh-tunnel"])
        self.assertEqual((ended.stdout, ended.stderr, ended.returncode), ("75025\n", "", 0))

    def test_need_two_ports_each(self):
        ended = self.run_on(TWO, FIB, "25", options=["--ssh-tunnel", "--port", "21000-21002"])
        self.assertEqual((ended.stderr, ended.returncode),
                         ("sukima: --port 21000-21002: --ssh-tunnel needs two ports for each node: give FIRST-LAST with 4 of "
                          "them\n", 2))
        ended = subprocess.run([SUKIMA, "cluster", "run", "--ssh-tunnel", "--", FIB, "25"], capture_output=True, text=True)
        self.assertEqual((ended.stderr, ended.returncode), ("sukima: --ssh-tunnel needs --hosts\n", 2))


class nodes_on_hosts(Hosts):
    def test_have_the_result_of_one_machine(self):
        from_windows = b"\xef\xbb\xbf" + TWO.replace("\n", "\r\n").encode()
        for hosts in (TWO, f"alpha 2 {HERE}  # two\n\n# and another one\nme@beta\t{HERE}\n", from_windows):
            ended = self.run_on(hosts, FIB, "25")
            self.assertEqual((ended.stdout, ended.stderr, ended.returncode), ("75025\n", "", 0))
            ended = self.run_on(hosts, QUEENS, "8", options=["--hope"])
            self.assertEqual((ended.stdout.split()[-1], ended.stderr, ended.returncode), ("92", "", 0))

    def test_need_not_have_silent_login_shells(self):
        for hosts in (f"alpha {HERE}\nnoisy {HERE}\n", f"noisy {HERE}\nalpha {HERE}\n"):
            for options in ([], ["--hope"]):
                ended = self.run_on(hosts, FIB, "25", options=options)
                self.assertEqual((ended.stdout, ended.stderr, ended.returncode), ("75025\n", "", 0))

    def test_get_all_arguments_unchanged(self):
        odd = ["", " a  b ", "it's", '"$HOME" `id` $(id) \\n \\', "two\nlines\n", "*", "-n", "é\u0081\u0088", "!x", "a;b&|<>"]
        ended = self.run_on(TWO, "printf", "<%s>", *odd)
        self.assertEqual((ended.stdout, ended.returncode), ("".join(f"<{word}>" for word in odd), 0))

    def test_get_the_folder_and_the_settings_of_the_launcher(self):
        script = 'echo "$PWD|$SUKIMA_WORKERS|$SUKIMA_TRY|$OTHER_TRY"'
        value = "it's\n$x"
        ended = self.run_on(TWO, "sh", "-c", script, SUKIMA_WORKERS="3", SUKIMA_TRY=value, OTHER_TRY="x",
                            SUKIMA_CLUSTER_LISTEN="5")
        self.assertEqual(ended.stdout.split("|")[:3], [str(self.folder), "3", value])
        ended = self.run_on(TWO, "sh", "-c", "env | grep SUKIMA_CLUSTER_LISTEN", SUKIMA_CLUSTER_LISTEN="5")
        self.assertEqual(ended.stdout, "")

    def test_share_the_cpus_of_their_host(self):
        cpus = int(subprocess.run(["nproc"], capture_output=True, text=True, check=True).stdout)
        environment = {name: value for name, value in os.environ.items() if name != "SUKIMA_WORKERS"}
        ended = run_launcher(self.words(f"alpha 2 {HERE}\nbeta {HERE}", "sh", "-c", "echo $SUKIMA_WORKERS. >&2"),
                             input="", capture_output=True, text=True, env=environment)
        shares = [max(1, cpus // 2 + (node < cpus % 2)) for node in range(2)]
        self.assertEqual(sorted(ended.stderr.splitlines()),
                         [f"[0 alpha] {shares[0]}.", f"[1 alpha] {shares[1]}.", "[2 beta] ."])

    def test_say_their_host_on_stderr_and_print_what_node_0_prints(self):
        script = "cat; echo on >&2"
        ended = self.run_on(TWO, "sh", "-c", script, text="input\n")
        self.assertEqual((ended.stdout, sorted(ended.stderr.splitlines())), ("input\n", ["[0 alpha] on", "[1 beta] on"]))
        ended = self.run_on(TWO, "sh", "-c", script, options=["--no-tags"])
        self.assertEqual(ended.stderr, "on\non\n")
        ended = self.run_on(TWO, "sh", "-c", "cat; echo end", text="input\n", options=["--hope"])
        self.assertEqual((ended.stdout, ended.returncode), ("input\nend\n", 0))

    def test_get_long_inputs_and_need_not_read_them(self):
        text = "".join(f"line {i}\n" for i in range(300000))
        script = '[ $SUKIMA_CLUSTER_NODE = 1 ] && exec <&-; exec cat'
        self.assertEqual(self.run_on(TWO, "sh", "-c", script, text=text).stdout, text)

    def test_end_as_node_0(self):
        # Node 1 reads until node 0 has ended. If a node fails in the second before node 0 ends, its status counts.
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        script = f"if [ $SUKIMA_CLUSTER_NODE = 0 ]; then exec 9>{pipe}; exit 7; fi; cat {pipe}; exit 8"
        self.assertEqual(self.run_on(TWO, "sh", "-c", script).returncode, 7)
        self.assertEqual(self.run_on(f"alpha {HERE}", "sh", "-c", "kill -USR1 $$").returncode, -signal.SIGUSR1)

    def test_are_reported_with_their_hosts(self):
        file = self.folder / "ends.json"
        # Node 0 does not end before the launcher ends it, so the order of their ends is known. By which signal
        # it ends depends on how soon it takes the first one.
        self.run_on(TWO, "sh", "-c", "[ $SUKIMA_CLUSTER_NODE = 0 ] && exec sleep 3600; kill -KILL $$",
                    options=["--json", str(file)])
        alpha, beta = json.loads(file.read_text())["nodes"]
        self.assertIn(alpha.pop("signal"), (signal.SIGTERM, signal.SIGKILL))
        self.assertEqual(alpha, {"node": 0, "exit_code": 0, "host": "alpha"})
        self.assertEqual(beta, {"node": 1, "exit_code": 0, "signal": signal.SIGKILL, "host": "beta"})

    def test_get_all_signals(self):
        for name in ("INT", "QUIT", "TERM", "HUP", "USR1", "USR2", "ALRM"):
            trap = f'trap "echo {name} >&2; exit 0" {name};'
            running, _ = self.start_on(TWO, "while :; do sleep 0.05; done", before=trap)
            # setpriv has become the launcher.
            running.send_signal(getattr(signal, "SIG" + name))
            self.assertEqual(sorted(without_late_nodes(running.stderr.read()).splitlines()),
                             [f"[0 alpha] {name}", f"[1 beta] {name}"])
            self.assertEqual(running.wait(), 0)

    def test_keep_the_token_and_the_arguments_from_command_lines(self):
        self.run_on(TWO, FIB, "17", SUKIMA_CLUSTER_TOKEN="sesame, open for at least 128 bits")
        self.assertIn("alpha", self.log.read_text())
        for word in ("sesame", FIB):
            self.assertNotIn(word, self.log.read_text())
        self.assertNotRegex(self.log.read_text(), r"\b17\b")  # each line begins with a process number, such as 12317

    def test_are_reached_by_ssh_with_options_that_keep_it_from_waiting(self):
        (self.folder / "ssh").symlink_to(SHELL)
        words = [word for word in self.words(TWO, FIB, "10") if word not in ("--ssh", SHELL)]
        ended = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL,
                               env={**os.environ, "REMOTE_SHELL_LOG": str(self.log),
                                    "PATH": f"{self.folder}:{os.environ['PATH']}"})
        self.assertEqual((ended.stdout, ended.returncode), ("55\n", 0))
        for option in ("BatchMode=yes", "ConnectTimeout=", "ServerAliveInterval=", "ControlPath=none"):
            self.assertIn(option, self.log.read_text())

    def test_are_reached_by_a_command_of_several_words(self):
        shell = self.folder / "a shell"
        shutil.copy(SHELL, shell)
        ended = self.run_on(TWO, FIB, "10", shell=f"'{shell}' -p  2222")
        self.assertEqual((ended.stdout, ended.returncode), ("55\n", 0))
        self.assertIn("-p 2222 alpha", self.log.read_text())


class requests(Hosts):
    def test_that_are_wrong_are_refused(self):
        for hosts, sentence in [
                ("", "hosts.txt names no host"),
                ("# alpha\n\n", "hosts.txt names no host"),
                ("alpha 0", "hosts.txt:1: 0 nodes are too few"),
                ("\nalpha 257", "hosts.txt:2: the lines name too many nodes: give at most 256"),
                ("alpha 256\nbeta", "hosts.txt:2: the lines name too many nodes"),
                ("alpha 99999999999", "hosts.txt:1: the lines name too many nodes"),
                ("-oProxyCommand=id", "hosts.txt:1: the host '-oProxyCommand=id' begins with '-'"),
                ("me@-x", "hosts.txt:1: 'me@-x' is not a host"),
                ("a;id", "hosts.txt:1: 'a;id' is not a host"),
                (b"\xff\x00a", "hosts.txt:1: '??a' is not a host"),
                ("alpha 1 -x", "hosts.txt:1: '-x' is not an address"),
                ("alpha 1 10.0.0.1 more", "hosts.txt:1: 'more' is one word too many"),
                ("localhost\nbeta", "hosts.txt:2: 'localhost' means a different machine on each host")]:
            ended = self.run_on(hosts, FIB)
            self.assertEqual((ended.returncode, len(ended.stderr.splitlines())), (2, 1), hosts)
            self.assertIn(sentence, ended.stderr)
        self.assertFalse(self.log.exists())

    def test_whose_options_do_not_fit_are_refused(self):
        missing = str(self.folder / "missing")
        given = self.folder / "given"
        given.write_text(TWO)
        for words, sentence in [
                (["--hosts", missing], f"cannot read '{missing}': No such file or directory"),
                (["--hosts", str(self.folder)], "Is a directory"),
                (["--hosts", ""], "--hosts: '' was given"),
                (["--hosts", "/dev/zero"], "more than 1 MiB"),
                (["--hosts", str(given), "--hosts", str(given)], "--hosts"),
                (["--hosts", str(given), "-n", "2"], "leave --nodes out"),
                (["--hosts", str(given), "--ssh", ""], "--ssh: '' was given"),
                (["--hosts", str(given), "--ssh", " "], "--ssh names no program"),
                (["--hosts", str(given), "--ssh", "ssh 'x"], "a quote is open"),
                (["--ssh", "ssh"], "--ssh needs --hosts")]:
            ended = subprocess.run([SUKIMA, "cluster", "run", *words, "--", FIB], capture_output=True, text=True)
            self.assertEqual((ended.returncode, len(ended.stderr.splitlines())), (2, 1), words)
            self.assertIn(sentence, ended.stderr)


class bad_days(Hosts):
    def test_a_host_cannot_be_reached(self):
        for host in ("refused", "unknown"):
            ended = self.run_on(f"alpha {HERE}\n{host} {HERE}\n", FIB, "70")
            self.assertEqual(ended.returncode, 255)
            self.assertIn(f"sukima: node 1 (host {host}): {SHELL} ended with status 255: the host was not reached",
                          ended.stderr)
            ended = self.run_on(f"{host} {HERE}\nalpha {HERE}\n", FIB, "70")
            self.assertEqual(ended.returncode, 255)
        ended = self.run_on(f"alpha {HERE}\nrefused {HERE}\n", "echo", "on", options=["--hope"])
        self.assertEqual((ended.stdout, ended.returncode), ("on\n", 0))

    def test_a_remote_shell_runs_nothing(self):
        for options in ([], ["--hope"]):
            ended = self.run_on(TWO, FIB, "25", options=options, shell="true")
            self.assertEqual((ended.stdout, ended.returncode), ("", 255))
            for line in ended.stderr.splitlines():
                self.assertRegex(line, r"^sukima: node [01] \(host (alpha|beta)\): true ended with status 0, but did not begin the "
                                       r"program: it must run its last argument as a command on that host$")
            self.assertNotEqual(ended.stderr, "")

    def test_ssh_is_not_installed(self):
        ended = self.run_on(TWO, FIB, "25", shell="/no/such/ssh")
        self.assertEqual((ended.stderr, ended.returncode),
                         ("sukima: '/no/such/ssh' cannot be started: there is no such program; check its name and "
                          "PATH\n", 127))

    def test_the_program_is_not_there(self):
        for program in ("/no/such/program", "no-such-program", str(self.folder)):
            ended = self.run_on(f"alpha {HERE}", program)
            self.assertEqual((ended.stderr, ended.returncode),
                             (f"[0 alpha] sukima: node 0 (host alpha): there is no program {program}: copy it there, "
                              "or share its folder\n", 127))

    def test_the_folder_is_not_there(self):
        own = self.folder / "only here"
        own.mkdir()
        # The folder disappears while the shell is starting.
        script = f"#!/bin/sh\nrmdir '{own}' 2>/dev/null\nexec '{sys.executable}' {SHELL} \"$@\"\n"
        slow = self.folder / "slow"
        slow.write_text(script)
        slow.chmod(0o755)
        ended = subprocess.run(self.words(f"alpha {HERE}", "pwd", shell=str(slow)), cwd=own, input="",
                               capture_output=True, text=True)
        self.assertEqual((ended.stderr, ended.returncode),
                         (f"[0 alpha] sukima: node 0 (host alpha): there is no folder {own}: make it there, or start the "
                          "run in a folder that all hosts have\n", 127))

    def test_another_program_is_there(self):
        script = f"[ $SUKIMA_CLUSTER_NODE = 0 ] && exec {FIB} 25; exec {QUEENS} 8"
        ended = self.run_on(TWO, "sh", "-c", script)
        self.assertEqual(ended.returncode, 2)
        self.assertIn("another program: build id", ended.stderr)

    def test_a_host_dies(self):
        running, pids = self.start_on(TWO, f"exec {FIB} 70", SUKIMA_WORKERS="1")
        for pid in pids:
            wait_until_it_works(pid)
        os.kill(self.connection("beta"), signal.SIGKILL)
        os.kill(pids[1], signal.SIGKILL)
        # Node 0 prints the first message, unless it gets no CPU until the launcher ends it.
        self.assertRegex(running.stderr.read(),
                         "sukima: node 1 was (lost|ended by signal 9, so the others were ended, too)")
        self.assertEqual(running.wait(), 75)
        wait_until_ended(pids)

    def test_a_connection_is_lost(self):
        # Its program is ended, too, and the other nodes lose it.
        running, pids = self.start_on(TWO, f"exec {FIB} 70", SUKIMA_WORKERS="1")
        for pid in pids:
            wait_until_it_works(pid)
        os.kill(self.connection("beta"), signal.SIGKILL)
        running.stderr.read()
        self.assertNotEqual(running.wait(), 0)
        wait_until_ended(pids)

    def test_the_launcher_is_killed(self):
        for script in ("exec sleep 1000", "exec <&-; sleep 1000 & wait", "trap '' TERM; while :; do sleep 0.05; done"):
            running, pids = self.start_on(TWO, script)
            running.kill()
            wait_until_ended(pids)

    def test_processes_that_a_program_leaves_behind_are_ended(self):
        ended = self.run_on(f"alpha {HERE}", "sh", "-c", "sleep 1000 & echo $!")
        self.assertEqual(ended.returncode, 0)
        wait_until_ended([int(ended.stdout)])


if __name__ == "__main__":
    unittest.main()
