#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests `sukima cluster run`: launch_test.py SUKIMA CLUSTER_FIB"""
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from nodes import DIES_WITH_TEST, lives, run_launcher, wait_until_ended, without_late_nodes

SUKIMA, FIB = (str(Path(word).resolve()) for word in sys.argv[1:3])
del sys.argv[1:3]


def cluster(*words, text="", environment=None, most_descriptors=None):
    limit = ["prlimit", f"--nofile={most_descriptors}"] if most_descriptors else []
    return run_launcher([*limit, SUKIMA, "cluster", "run", *words], input=text, capture_output=True, text=True,
                        env={name: value for name, value in {**os.environ, **(environment or {})}.items()
                             if value is not None})


def shell(script, *words, nodes="3", **how):
    return cluster("-n", nodes, *words, "--", "sh", "-c", script, **how)


#: Leads a session with the terminal on its stdin, and runs a program in the background of it; with "later" the program comes
#: to the foreground once it has written a line to stderr.
SHELL_OF_A_TERMINAL = """
import fcntl, os, signal, subprocess, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
running = subprocess.Popen(sys.argv[2:], preexec_fn=os.setpgrp, stderr=subprocess.PIPE)
if sys.argv[1] == "later":
    running.stderr.readline()
    os.tcsetpgrp(0, running.pid)
_, status = os.waitpid(running.pid, os.WUNTRACED)
if os.WIFSTOPPED(status):
    running.kill()
sys.exit("it was stopped" if os.WIFSTOPPED(status) else os.waitstatus_to_exitcode(status))
"""


def in_background_of_terminal(until, *words, typed=b""):
    controller, terminal = os.openpty()
    os.write(controller, typed)
    ended = subprocess.run([sys.executable, "-c", SHELL_OF_A_TERMINAL, until, SUKIMA, "cluster", "run", "-n", "2", "--", *words],
                           stdin=terminal, start_new_session=True, capture_output=True, text=True)
    os.close(controller)
    os.close(terminal)
    return ended.stdout, ended.stderr, ended.returncode


class launch(unittest.TestCase):
    def test_gives_the_same_result_with_each_number_of_nodes(self):
        for nodes in "1234":
            ended = cluster("-n", nodes, "--", FIB, "25")
            self.assertEqual((ended.stdout, ended.stderr, ended.returncode), ("75025\n", "", 0), nodes)

    def test_starts_a_run_within_a_node_of_other_hosts(self):
        for addresses in ("192.0.2.1,192.0.2.2", "192.0.2.1,192.0.2.2,192.0.2.3"):
            ended = cluster("-n", "2", "--", FIB, "20", environment={"SUKIMA_CLUSTER_ADDRESSES": addresses})
            self.assertEqual((ended.stdout, ended.stderr, ended.returncode), ("6765\n", "", 0), addresses)

    def test_gives_the_input_to_all_and_the_output_of_node_0(self):
        text = "".join(f"line {i}\n" for i in range(20000))
        ended = shell("cat; cat >&2", text=text)
        self.assertEqual(ended.stdout, text)
        ended = shell("sum=$(wc -l); echo $sum >&2", text=text)
        self.assertEqual(sorted(ended.stderr.splitlines()), ["[0] 20000", "[1] 20000", "[2] 20000"])

    def test_goes_on_when_a_node_does_not_read(self):
        text = "x" * 3000000
        ended = shell('if [ $SUKIMA_CLUSTER_NODE = 1 ]; then exec <&-; fi; wc -c', text=text, nodes="2")
        self.assertEqual(ended.stdout.strip(), str(len(text)))

    def test_goes_on_when_only_node_0_reads(self):
        text = "x" * 3000000
        ended = shell(f'if [ $SUKIMA_CLUSTER_NODE = 0 ]; then wc -c; fi; exec {FIB} 20', text=text)
        self.assertEqual((ended.stdout, ended.stderr, ended.returncode), (f"{len(text)}\n6765\n", "", 0))

    def test_ends_with_the_reader_of_its_output_whatever_is_left_to_read(self):
        with open("/dev/zero", "rb") as endless, subprocess.Popen(
                [*DIES_WITH_TEST, SUKIMA, "cluster", "run", "-n", "2", "--", "sh", "-c", "cat; exit 0"], stdin=endless,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
            self.assertEqual(running.stdout.read(10), b"\0" * 10)
            running.stdout.close()
            self.assertEqual((running.stderr.read(), running.wait()), (b"", -signal.SIGPIPE))

    def test_says_that_a_node_does_not_read(self):
        with tempfile.TemporaryDirectory() as folder:
            os.mkfifo(f"{folder}/go")
            script = f"if [ $SUKIMA_CLUSTER_NODE = 1 ]; then read line < {folder}/go; fi; exec wc -c"
            with subprocess.Popen([*DIES_WITH_TEST, "sh", "-c", 'head -c 70000000 /dev/zero | "$@"', "sh", SUKIMA, "cluster",
                                   "run", "-n", "2", "--", "sh", "-c", script],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
                self.assertEqual(running.stderr.readline(),
                                 "sukima: node 1 lags 64 MiB behind on stdin, so the other nodes receive no more input: let "
                                 "each node read stdin, or read a file\n")
                Path(f"{folder}/go").write_text("go\n")
                output, errors = running.communicate()
                self.assertEqual((output, without_late_nodes(errors), running.returncode), ("70000000\n", "", 0))

    def test_goes_on_when_a_node_ends_and_has_not_read(self):
        """The launcher finds at the same time that node 1 has ended, that it does not read, and that there is more input."""
        with tempfile.TemporaryDirectory() as folder:
            os.mkfifo(f"{folder}/end")
            script = (f'if [ $SUKIMA_CLUSTER_NODE = 1 ]; then echo $$ > {folder}/pid; read line < {folder}/end; exit; fi; '
                      f'head -c 200000 > /dev/null; echo read; wc -c')
            with subprocess.Popen([*DIES_WITH_TEST, SUKIMA, "cluster", "run", "-n", "2", "--", "sh", "-c", script],
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE) as running:
                running.stdin.write(b"x" * 200000)
                running.stdin.flush()
                self.assertEqual(running.stdout.readline(), b"read\n")
                with open(f"{folder}/end", "w", encoding="utf-8") as end:
                    running.send_signal(signal.SIGSTOP)
                    os.waitid(os.P_PID, running.pid, os.WSTOPPED | os.WNOWAIT)
                    end.write("\n")
                wait_until_ended([int(Path(f"{folder}/pid").read_text())])
                running.stdin.write(b"x" * 50000)
                running.stdin.close()
                running.send_signal(signal.SIGCONT)
                self.assertEqual(running.stdout.read(), b"50000\n")
                self.assertEqual(running.wait(), 0)

    def test_runs_in_the_background_of_a_terminal(self):
        self.assertEqual(in_background_of_terminal("always", FIB, "20", typed=b"for the shell\n"), ("6765\n", "", 0))

    def test_reads_the_terminal_once_it_is_in_the_foreground(self):
        words = ["sh", "-c", 'echo ready >&2; read line; echo "$line"']
        self.assertEqual(in_background_of_terminal("later", *words, typed=b"a line\n"), ("a line\n", "", 0))

    def test_sees_the_ends_of_nodes_where_they_are_ignored(self):
        ended = run_launcher(["env", "--ignore-signal=CHLD", SUKIMA, "cluster", "run", "-n", "2", "--", FIB, "20"],
                             capture_output=True, text=True, stdin=subprocess.DEVNULL)
        self.assertEqual((ended.stdout, ended.stderr, ended.returncode), ("6765\n", "", 0))

    def test_runs_with_closed_standard_streams(self):
        ended = run_launcher(["sh", "-c", '"$@" <&-', "sh", SUKIMA, "cluster", "run", "-n", "2", "--", "cat"],
                             capture_output=True, text=True)
        self.assertEqual((ended.stdout, ended.stderr, ended.returncode), ("", "", 0))
        for words in ([], ["--hope"]):
            ended = subprocess.run(["sh", "-c", '"$@" >&-', "sh", SUKIMA, "cluster", "run", "-n", "2", *words, "--", FIB, "20"],
                                   stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            self.assertIn(ended.returncode, (0, 1, 74), "it ends")

    def test_writes_all_lines_to_a_descriptor_that_does_not_wait(self):
        ends = os.pipe2(os.O_CLOEXEC)
        os.set_blocking(ends[1], False)
        with subprocess.Popen([SUKIMA, "cluster", "run", "-n", "2", "--", "sh", "-c", "seq 20000 >&2; exec >&-; read x || :"],
                              stdin=subprocess.PIPE, stderr=ends[1]) as running:
            os.close(ends[1])
            with open(ends[0], encoding="utf-8") as errors:
                running.stdin.close()
                self.assertEqual(sum(1 for _ in errors), 40000)
            self.assertEqual(running.wait(), 0)

    def test_meets_at_the_first_port_that_is_free(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            ended = shell("echo $SUKIMA_CLUSTER_ADDRESS $SUKIMA_CLUSTER_PORT", "--port", f"{port}-65535", nodes="2")
            address, ports = ended.stdout.split()
            self.assertGreater(int(address.removeprefix("127.0.0.1:")), port)
            self.assertEqual((ports, ended.returncode), (f"{port}-65535", 0))
            ended = shell("exit", "--port", str(port), nodes="1")
            self.assertEqual((ended.stderr, ended.returncode),
                             (f"sukima: none of the ports {port}-{port} is free here: give others by --port\n", 2))

    def test_tags_lines_with_their_node(self):
        script = 'printf "a\\nb" >&2'
        self.assertEqual(sorted(shell(script, nodes="2").stderr.splitlines()), ["[0] a", "[0] b", "[1] a", "[1] b"])
        self.assertEqual(sorted(shell(script, "--no-tags", nodes="2").stderr.splitlines()), ["a", "a", "b", "b"])

    def test_ends_as_node_0(self):
        self.assertEqual(shell("exit $((SUKIMA_CLUSTER_NODE + 7))", nodes="1").returncode, 7)
        self.assertEqual(shell("kill -USR1 $$", nodes="1").returncode, -signal.SIGUSR1)

    def test_reports_how_each_node_ended(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "ends.json"
            pipe = Path(folder) / "pipe"  # node 0 keeps it open, so node 1 reads until node 0 has ended
            os.mkfifo(pipe)
            shell(f'if [ $SUKIMA_CLUSTER_NODE = 0 ]; then exec 9>{pipe}; exit 0; fi; cat {pipe}; kill -KILL $$',
                  "--json", str(file), nodes="2")
            ends = json.loads(file.read_text())
        self.assertEqual(ends["nodes"][0], {"node": 0, "exit_code": 0, "signal": 0})
        self.assertEqual(ends["nodes"][1], {"node": 1, "exit_code": 0, "signal": signal.SIGKILL})

    def test_reports_ends_on_standard_output(self):
        with tempfile.TemporaryDirectory() as folder:
            ended = subprocess.run([SUKIMA, "cluster", "run", "-n", "1", "--json", "-", "--", "echo", "first"], cwd=folder,
                                   stdin=subprocess.DEVNULL, capture_output=True, text=True)
            self.assertEqual(os.listdir(folder), [])
        line, report = ended.stdout.split("\n", 1)
        self.assertEqual((line, json.loads(report)["nodes"]), ("first", [{"node": 0, "exit_code": 0, "signal": 0}]))

    def test_reports_what_each_node_has_counted(self):
        for options in ([], ["--hope"]):
            with tempfile.TemporaryDirectory() as folder:
                file = Path(folder) / "run.json"
                ended = cluster("-n", "3", *options, "--report", "--json", str(file), "--", FIB, "25")
                run = json.loads(file.read_text())
                explained = subprocess.run([SUKIMA, "explain", str(file)], capture_output=True, text=True)
            self.assertEqual((ended.stdout, ended.returncode, explained.returncode), ("75025\n", 0, 0), ended.stderr)
            sent = [node["counts"]["notes"] for node in run["nodes"]]
            if not options:
                self.assertGreaterEqual(sent[0], 2, "the result of the entry goes to all")
            self.assertEqual(run["hope"], bool(options))
            report = without_late_nodes(ended.stderr)
            self.assertTrue(report.startswith("sukima: 3 nodes ran for "), report)
            self.assertIn(f"messages sent {sum(sent)} ", " ".join(report.split()))
            self.assertTrue(("sukima: " + explained.stdout).startswith(report + "\nTo try:\n"), explained.stdout)

    def test_reports_that_a_node_has_no_counts(self):
        ended = shell(f"[ $SUKIMA_CLUSTER_NODE = 0 ] || exit 3; exec {FIB} 5", "--hope", "--report", nodes="2")
        report = without_late_nodes(ended.stderr)
        self.assertIn("  node 1 ended with status 3\n  no counts of node 1: ", report)
        self.assertEqual((ended.stdout, ended.returncode), ("5\n", 0))

    def test_names_a_node_that_is_killed_without_an_entry(self):
        ended = shell("[ $SUKIMA_CLUSTER_NODE = 0 ] || kill -KILL $$", nodes="2")
        self.assertEqual(ended.returncode, 75)
        self.assertIn("sukima: node 1 was ended by signal 9", ended.stderr)
        ended = shell("[ $SUKIMA_CLUSTER_NODE = 1 ] || kill -KILL $$", nodes="2")
        self.assertEqual((ended.stderr, ended.returncode), ("sukima: node 0 was ended by signal 9\n", -signal.SIGKILL))

    def test_ends_all_when_a_node_fails_before_they_meet(self):
        ended = shell('if [ $SUKIMA_CLUSTER_NODE = 1 ]; then exit 3; fi; exec sleep 1000', nodes="2")
        self.assertEqual(ended.returncode, 3)
        self.assertIn("sukima: node 1 ended with status 3, so the others were ended, too", ended.stderr)

    def test_waits_for_a_node_that_still_writes(self):
        notice = ("sukima: node 0 ended with status 0, and node 1 still runs: waiting for its end (--grace SECONDS limits "
                  "that)\n")
        output, said, errors, status = self.held_up(1, "exit 0", "echo whole > $FOLDER/file")
        self.assertEqual((output, said, errors, status), ("6765\n", notice, "", 0))
        self.assertEqual(self.file, "whole\n")

    def test_waits_for_node_0_when_others_have_failed(self):
        output, said, errors, status = self.held_up(0, "exit 1", "echo whole; exit 1")
        self.assertEqual((output, errors, status), ("6765\nwhole\n", "", 1))
        self.assertEqual(said, "sukima: node 1 ended with status 1, and node 0 still runs: waiting for its end (--grace "
                               "SECONDS limits that)\n")

    def held_up(self, node, others, script):
        """After the entry one of two nodes continues only after the launcher has printed that it waits."""
        with tempfile.TemporaryDirectory() as folder:
            os.mkfifo(f"{folder}/go")
            whole = f"{FIB} 20; [ $SUKIMA_CLUSTER_NODE = {node} ] || {others}; read line < $FOLDER/go; {script}"
            with subprocess.Popen([*DIES_WITH_TEST, SUKIMA, "cluster", "run", "-n", "2", "--", "sh", "-c", whole],
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                  env={**os.environ, "FOLDER": folder}) as running:
                said = running.stderr.readline()
                self.assertNotEqual(said, "", "it has ended")
                Path(f"{folder}/go").write_text("go\n")
                output, errors = running.communicate()
            file = Path(f"{folder}/file")
            self.file = file.read_text() if file.exists() else None
            return output, said, errors, running.returncode

    def test_ends_nodes_when_their_grace_has_passed(self):
        for late, end in ((1, "0 s after the end of node 0, node 1 still runs: ending it now"),
                          (0, "0 s after the end of node 1, node 0 still runs: ending it now")):
            script = f"{FIB} 20; [ $SUKIMA_CLUSTER_NODE = {late} ] || exit 1; exec sleep 1000"
            ended = shell(script, "--grace", "0", nodes="2")
            self.assertEqual(ended.stderr, f"sukima: {end} (--grace SECONDS gives more time)\n")

    def test_ends_nodes_that_wait_for_one_that_has_ended(self):
        for absent in (0, 1):
            ended = shell(f'[ $SUKIMA_CLUSTER_NODE = {absent} ] && exit 0; exec {FIB} 20', nodes="2")
            self.assertEqual((ended.stdout, ended.returncode), ("", 2))
            self.assertEqual(ended.stderr,
                             f"sukima: node {absent} ended its program without an entry, and node {1 - absent} waits for it "
                             "in its first one: each node must make the same calls of sukima::cluster::run\n")

    def test_ends_all_with_75_when_a_node_is_lost(self):
        # Its shell kills node 1 once it has used CPU, which only a node that helps does.
        script = (f'if [ $SUKIMA_CLUSTER_NODE = 0 ]; then exec {FIB} 60; fi; {FIB} 60 & program=$!; '
                  'until [ "$(cut -d" " -f14 /proc/$program/stat)" -ge 20 ]; do sleep 0.05; done; '
                  'kill -KILL $program; wait $program')
        ended = shell(script, nodes="2")
        self.assertEqual(ended.returncode, 75)
        self.assertIn("[0] sukima: node 1 was lost", ended.stderr)
        self.assertEqual(ended.stderr.count("sukima:"), 1)

    def test_passes_signals_on(self):
        names = ("INT", "QUIT", "TERM", "HUP", "USR1", "USR2", "ALRM")
        traps = "; ".join(f'trap "echo {name} >&2; exit 0" {name}' for name in names)
        script = f"{traps}; echo ready >&2; while :; do sleep 0.05; done"
        for name in names:
            with subprocess.Popen([SUKIMA, "cluster", "run", "-n", "2", "--", "sh", "-c", script],
                                  stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as running:
                ready = {running.stderr.readline(), running.stderr.readline()}
                self.assertEqual(ready, {"[0] ready\n", "[1] ready\n"})
                running.send_signal(getattr(signal, "SIG" + name))
                self.assertEqual(sorted(without_late_nodes(running.stderr.read()).splitlines()),
                                 [f"[0] {name}", f"[1] {name}"])
                self.assertEqual(running.wait(), 0)

    def test_signals_that_are_ignored_stay_ignored(self):
        """As under nohup: such a signal ends neither the launcher nor a node."""
        names = ("INT", "QUIT", "TERM", "HUP", "USR1", "USR2", "ALRM")
        script = f"for one in {' '.join(names)}; do kill -$one $$; done; echo ready >&2; read line; echo $line >&2"
        with subprocess.Popen(["sh", "-c", f"trap '' {' '.join(names)}; exec \"$@\"", "sh", SUKIMA, "cluster", "run", "-n", "2",
                               "--", "sh", "-c", script],
                              stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
            self.assertEqual({running.stderr.readline(), running.stderr.readline()}, {"[0] ready\n", "[1] ready\n"})
            for name in names:
                running.send_signal(getattr(signal, "SIG" + name))
            running.stdin.write("alive\n")
            running.stdin.close()
            self.assertEqual(sorted(without_late_nodes(running.stderr.read()).splitlines()), ["[0] alive", "[1] alive"])
            self.assertEqual(running.wait(), 0)

    def test_ends_by_a_signal_before_the_first_entry_although_node_0_handles_it(self):
        script = ("if [ $SUKIMA_CLUSTER_NODE = 0 ]; then trap : USR1; fi; echo ready >&2; while :; do sleep 0.05; done")
        with subprocess.Popen([SUKIMA, "cluster", "run", "-n", "2", "--", "sh", "-c", script],
                              stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as running:
            self.assertEqual({running.stderr.readline(), running.stderr.readline()}, {"[0] ready\n", "[1] ready\n"})
            running.send_signal(signal.SIGUSR1)
            self.assertEqual(without_late_nodes(running.stderr.read()), "")
            self.assertEqual(running.wait(), -signal.SIGUSR1)

    def test_ends_the_processes_that_nodes_leave_behind(self):
        # Each program starts a process that would run for ever: one keeps the pipes of its node, one ignores SIGTERM, one
        # is a child of such a process, and one is in a session of its own.
        quiet = "< /dev/null > /dev/null 2>&1 &"
        starts = {"open": "sleep 1000000 & echo $! > PIDS", "closed": f"sleep 1000000 {quiet} echo $! > PIDS",
                  "deaf": f"(trap '' TERM; exec sleep 1000000) {quiet} echo $! > PIDS",
                  "deep": f"sh -c 'sleep 1000000 & echo $! > PIDS; wait' {quiet} until [ -s PIDS ]; do :; done",
                  "detached": f"setsid sleep 1000000 {quiet} echo $! > PIDS; "
                              "until [ $(cut -d' ' -f6 /proc/$!/stat) = $! ]; do :; done"}
        killed = ("kill -KILL $$", -signal.SIGKILL)
        for kind, start in starts.items():
            for end, status in [("exit 0", 0), killed] if kind == "open" else [killed]:
                with self.subTest(kind, end=end), tempfile.TemporaryDirectory() as folder:
                    pids = Path(folder, "pids")
                    ended = shell(start.replace("PIDS", str(pids)) + "; " + end, nodes="1")
                    self.assertEqual((ended.stdout, ended.stderr, ended.returncode), ("", "", status))
                    pid = int(pids.read_text())
                    self.assertEqual(lives(pid), kind == "detached")
                    if kind == "detached":
                        os.kill(pid, signal.SIGKILL)

    def test_works_with_a_stack_of_64_KiB(self):
        program = (Path(SUKIMA).parent.parent / "libexec/sukima/sukima-cluster").read_bytes()
        limit = 1 << (20 if b"__asan_init" in program or b"__tsan_init" in program else 16)
        text = "line\n" * 50000
        ended = run_launcher(["prlimit", f"--stack={limit}:", SUKIMA, "cluster", "run", "-n", "2", "--", "sh", "-c",
                              f"cat; {FIB} 20; echo error >&2"], input=text, capture_output=True, text=True)
        self.assertEqual((ended.stdout, ended.returncode), (text + "6765\n", 0), ended.stderr)
        self.assertEqual(sorted(ended.stderr.splitlines()), ["[0] error", "[1] error"])

    def test_ends_no_process_that_is_not_of_a_node(self):
        ended = subprocess.run(["sh", "-c", "sleep 1000000 > /dev/null 2>&1 & echo $!; "
                                f"exec {SUKIMA} cluster run -n 1 -- true"],
                               stdin=subprocess.DEVNULL, capture_output=True, text=True)
        pid = int(ended.stdout)
        self.assertTrue(lives(pid))
        os.kill(pid, signal.SIGKILL)
        self.assertEqual((ended.returncode, ended.stderr), (0, ""))

    def test_passes_the_signal_of_an_inherited_timer_on(self):
        ended = subprocess.run([SUKIMA, "cluster", "run", "-n", "2", "--", "sleep", "600"], stdin=subprocess.DEVNULL,
                               capture_output=True, preexec_fn=lambda: signal.alarm(1))
        self.assertIn(ended.returncode, (-signal.SIGALRM, 128 + signal.SIGALRM))

    def test_prints_the_output_once_or_fails_where_descriptors_are_few(self):
        ends = set()
        for most in range(10, 40):
            ended = cluster("-n", "3", "--", "sh", "-c", "echo out", most_descriptors=most)
            with self.subTest(most):
                self.assertIn((ended.returncode == 0, ended.stdout), [(True, "out\n"), (False, "")])
                self.assertEqual(len(ended.stderr.splitlines()), 0 if ended.returncode == 0 else 1, ended.stderr)
            ends.add(ended.returncode)
        self.assertIn(0, ends)
        self.assertGreater(len(ends), 1, "no limit is so small that the launcher fails")

    def test_says_that_a_script_has_closed_the_descriptors(self):
        for keeps in (False, True):
            script = f"import subprocess, sys; subprocess.run(sys.argv[1:], close_fds={not keeps})"
            ended = cluster("-n", "2", "--", sys.executable, "-c", script, FIB, "20")
            self.assertEqual((ended.stdout, ended.returncode), ("6765\n", 0) if keeps else ("", 2), ended.stderr)
            self.assertEqual(ended.stderr, "" if keeps else
                             "[0] sukima: the listening socket of node 0 was closed before the program began: a script that "
                             "starts the program must leave descriptors open, as subprocess.run(..., close_fds=False) does in "
                             "Python\n")

    def test_gives_descriptors_as_numbers_which_older_programs_expect(self):
        for words in ((), ("--hope",)):
            ended = shell('[ $SUKIMA_CLUSTER_NODE != 0 ] || printenv SUKIMA_CLUSTER_LISTEN SUKIMA_CLUSTER_ENDED >&2; '
                          'echo "${SUKIMA_CLUSTER_REPORT%%:*}" >&2', *words)
            numbers = [line.split()[-1] for line in ended.stderr.splitlines()]
            self.assertEqual(len(numbers), 4 + len(words), ended.stderr)
            self.assertTrue(all(number.isdecimal() for number in numbers), ended.stderr)
        ended = shell(f"unset SUKIMA_CLUSTER_FILES; exec {FIB} 20")  # as if an older launcher had begun it
        self.assertEqual((ended.stdout, ended.stderr, ended.returncode), ("6765\n", "", 0))

    def test_writes_no_report_to_a_file_of_the_program(self):
        script = """if True:
            import os, subprocess, sys
            reader, writer = os.pipe()
            numbers = [int(os.environ[name].partition(":")[0])
                       for name in ("SUKIMA_CLUSTER_REPORT", "SUKIMA_CLUSTER_LISTEN") if name in os.environ]
            subprocess.run(sys.argv[1:], pass_fds=numbers, preexec_fn=lambda: os.dup2(writer, numbers[0]), check=True)
            os.close(writer)
            sys.stderr.write(os.read(reader, 1).decode() and "the program's pipe has a report")
            """
        ended = cluster("-n", "2", "--", sys.executable, "-c", script, FIB, "20")
        self.assertEqual((ended.stdout, ended.stderr, ended.returncode), ("6765\n", "", 0))

    def test_refuses_wrong_requests(self):
        for words, sentence in [
                (["-n", "2"], "no program was given"),
                (["-n", "0", "--", FIB], "--nodes"),
                (["-n", "x", "--", FIB], "--nodes"),
                (["-n", "257", "--", FIB], "from 1 to 256")]:
            ended = cluster(*words)
            self.assertEqual(ended.returncode, 2, words)
            self.assertIn(sentence, ended.stderr)
            self.assertEqual(len(ended.stderr.splitlines()), 1)
        self.assertEqual(cluster("--", "/no/such/program").returncode, 127)
        for no_program in (__file__, "/"):
            self.assertEqual(cluster("--", no_program).returncode, 126, no_program)
        ended = cluster("--json", "/nonesuch/x", "--", "echo", "begun")
        self.assertEqual((ended.returncode, ended.stdout), (2, ""))
        self.assertIn("cannot write '/nonesuch/x': No such file or directory", ended.stderr)

    def test_a_report_that_cannot_be_written_is_a_failure(self):
        why = "sukima: how the nodes ended could not be written to '/dev/full': No space left on device\n"
        for word, status in (("true", 74), ("false", 1)):
            ended = cluster("-n", "1", "--json", "/dev/full", "--", word)
            self.assertEqual((ended.stderr, ended.returncode), (why, status), word)

    def test_says_what_is_wrong_with_the_variables(self):
        ended = subprocess.run([FIB, "5"], capture_output=True, text=True,
                               env={**os.environ, "SUKIMA_CLUSTER_NODES": "2", "SUKIMA_CLUSTER_NODE": "2"})
        self.assertEqual(ended.returncode, 2)
        self.assertEqual(ended.stderr, "sukima: SUKIMA_CLUSTER_NODE=2 is wrong: give a whole number from 0 to 1, or "
                                       "start the program with sukima cluster run\n")

    def test_starts_at_most_as_many_workers_as_a_node_may_have(self):
        ended = shell("echo $SUKIMA_WORKERS", nodes="2", environment={"SUKIMA_CPUS": "5000", "SUKIMA_WORKERS": None})
        self.assertEqual((ended.stdout, ended.stderr, ended.returncode), ("1024\n", "", 0))

    def test_refuses_a_malformed_number_of_cpus(self):
        ended = cluster("-n", "2", "--", "echo", "begun", environment={"SUKIMA_CPUS": "two", "SUKIMA_WORKERS": None})
        self.assertEqual((ended.stdout, ended.returncode), ("", 2))
        self.assertEqual(ended.stderr, "sukima: SUKIMA_CPUS: 'two' is not a number of CPUs; give a decimal number above 0 and "
                                       "at most 65536, such as 2 or 1.5\n")

    def test_processes_that_nothing_joins_end_at_their_entry(self):
        def started_with(**variables):
            ended = subprocess.run([FIB, "20"], capture_output=True, text=True, env={**os.environ, **variables})
            return ended.stdout, ended.stderr, ended.returncode

        step = {"SLURM_STEP_ID": "0", "SLURM_PROCID": "2", "SLURM_NTASKS": "4", "SLURM_STEP_NUM_TASKS": "4"}
        why = (", and Sukima finds no MPI that connects the processes: start it with mpirun, srun --mpi=pmi2 (MPICH), srun "
               "--mpi=pmix (Open MPI) or sukima cluster run, or each process by itself with sukima cluster run -n 1\n")
        self.assertEqual(started_with(**step), ("", f"sukima: srun has started this program 4 times{why}", 2))
        self.assertEqual(started_with(PMIX_RANK="1"),
                         ("", f"sukima: a PMIx launcher has started this program several times{why}", 2))
        result = ("6765\n", "", 0)
        self.assertEqual(started_with(**{**step, "SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "1"}), result)
        self.assertEqual(started_with(SLURM_PROCID="0", SLURM_NTASKS="4"), result, "in a job's script")
        self.assertEqual(started_with(PMIX_RANK="0"), result)
        self.assertEqual(started_with(**step, OMPI_COMM_WORLD_RANK="0", OMPI_COMM_WORLD_SIZE="1"), result)
        # What the sentence recommends.
        for nodes in "12":
            ended = cluster("-n", nodes, "--", FIB, "20", environment=step)
            self.assertEqual((ended.stdout, ended.stderr, ended.returncode), result, nodes)


if __name__ == "__main__":
    unittest.main()
