#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The program `sukima host` from outside: estimates, explanations, recorded machines, refusals.

host_command_test.py PROGRAM PAGE RECORDINGS
"""
import fcntl
import json
import os
import pathlib
import pty
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest

PROGRAM = str(pathlib.Path(sys.argv.pop(1)).resolve())
PAGE = pathlib.Path(sys.argv.pop(1)).resolve()
RECORDINGS = pathlib.Path(sys.argv.pop(1)).resolve()
FOLDER = tempfile.TemporaryDirectory()


def vm(name, *hard, **others):
    return {"name": name, "weight_of": "vcpu", **others, "vcpus": [{"id": i, "hard": h} for i, h in enumerate(hard)]}


def host(pcpus, *vms, **others):
    return {"sukima-host": 1, "pcpus": [{"id": p} for p in range(pcpus)], "vms": vms, **others}


FIGURE_14 = host(4, vm("a", "0-1", "0-1"), vm("b", "1-3", "1-3", "1-3"))
COUNTEREXAMPLE = host(4, *(vm(f"v{i}", h) for i, h in enumerate(["1", "0,2", "0,2-3", "0-2", "0,3", "1"])))


def run(*arguments, given=None):
    return subprocess.run([PROGRAM, "host", *arguments], capture_output=True, text=True, timeout=500,
                          input=json.dumps(given) if isinstance(given, dict) else given, cwd=FOLDER.name)


def is_locked(path):
    """Whether a process holds the lock of a file. Trying to lock it could refuse the process that is about to do so."""
    return path.exists() and f":{path.stat().st_ino} " in pathlib.Path("/proc/locks").read_text(encoding="utf-8")


def answer(*arguments, given):
    done = run(*arguments, "--json", given=given)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return json.loads(done.stdout)


def counted(ran, waited, **others):
    one = host(1, vm("a", "0"), vm("b", "0"), **others)
    one["vms"][0]["vcpus"][0].update(ran=ran, waited=waited)
    return one


class Estimates(unittest.TestCase):
    def test_figure_14_by_each_method(self):
        for method in ("exact", "partition", "formula"):
            vms = answer("estimate", "-", "--method", method, given=FIGURE_14)["vms"]
            for one in vms:
                for each in one["vcpus"]:
                    self.assertAlmostEqual(each["share"], 0.8, msg=method)
            self.assertEqual("fit" in vms[0], method == "exact")

    def test_partition_beside_the_truth(self):
        self.assertAlmostEqual(answer("estimate", "-", "--method", "partition", given=COUNTEREXAMPLE)["vms"][0]["usable"], 2 / 3)
        self.assertAlmostEqual(answer("estimate", "-", given=COUNTEREXAMPLE)["vms"][0]["usable"], 1 / 2)

    def test_weight_of(self):
        usable = [one["usable"] for one in answer("estimate", "-", "--weight-of", "vm", given=FIGURE_14)["vms"]]
        self.assertAlmostEqual(usable[0], 2)
        self.assertAlmostEqual(usable[1], 2)

    def test_text(self):
        done = run("estimate", "-", given=FIGURE_14)
        self.assertEqual(done.returncode, 0)
        self.assertIn("b          2.40        3 of 3     3     2  others", done.stdout)

    def test_the_page_shows_what_is_printed(self):
        blocks = re.findall(r"^```console\n\$ cat (\S+)\n(.*?)\n\$ sukima host estimate \1\n(.*?)```", PAGE.read_text(),
                            re.MULTILINE | re.DOTALL)
        self.assertEqual(len(blocks), 1)
        for _, text, printed in blocks:
            self.assertEqual(run("estimate", "-", given=text).stdout, printed)


class Explanations(unittest.TestCase):
    def test_of_one_description(self):
        explanation = answer("explain", "a", "-", given=counted(30, 70))
        self.assertAlmostEqual(explanation["entitled"], 0.5)
        self.assertAlmostEqual(explanation["got"], 0.3)
        self.assertIn("Others received a part of its share", explanation["reasons"][0])
        self.assertIn("a is entitled to 0.50 CPUs and got 0.30 while it could run.",
                      run("explain", "a", "-", given=counted(30, 70)).stdout)

    def test_of_an_interval(self):
        earlier = pathlib.Path(FOLDER.name, "earlier.json")
        earlier.write_text(json.dumps(counted(10, 5, taken=100)))
        explanation = answer("explain", "a", "-", "--since", str(earlier), given=counted(12, 5.02, taken=110))
        self.assertAlmostEqual(explanation["got"], 0.2)
        self.assertEqual(explanation["seconds"], 10)


def play(name):
    """Makes the root of a recorded machine from one file: == PATH, then the lines of that file."""
    root = pathlib.Path(FOLDER.name, name)
    for part in (RECORDINGS / name).read_text().split("\n== ")[1:]:
        path, _, content = part.partition("\n")
        file = root / path.lstrip("/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content + "\n")
    return str(root)


class RecordedMachines(unittest.TestCase):
    def test_containers_are_listed(self):
        root = play("containers-v2.tree")
        done = run("list", "--root", root, "--interval", "0.1")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        rows = [line.split() for line in done.stdout.splitlines()]
        self.assertEqual([row[0] for row in rows], ["VM", "fedcba987654", "web-1", "0123456789ab"])
        self.assertIn("paused", rows[2])
        listing = json.loads(run("list", "--root", root, "--interval", "0.1", "--json").stdout)
        self.assertEqual([one["usable"] for one in listing["vms"]][1], 0)
        self.assertEqual(len(listing["pcpus"]), 4)
        only = json.loads(run("list", "--root", root, "--cgroup", "/system.slice/*", "--json", "--interval", "0.1").stdout)
        self.assertEqual([one["name"] for one in only["vms"]], ["0123456789ab"])
        explained = run("explain", "--root", root, "--interval", "0.1", "--cgroup", "/system.slice/*", "0123456789ab")
        self.assertIn("0123456789ab is entitled to", explained.stdout, explained.stderr)

    def test_domains_of_virsh_are_recorded_and_estimated(self):
        root = play("containers-v2.tree")
        here = ("--domstats", str(RECORDINGS / "domains.txt"), "--root", root)
        file = str(pathlib.Path(FOLDER.name, "recorded.json"))
        done = run("record", file, "--count", "1", *here)
        self.assertEqual((done.returncode, done.stdout), (0, f"{file}: 2 virtual machines on 4 pCPUs\n"), done.stderr)
        vms = answer("estimate", file, given=None)["vms"]
        self.assertEqual([one["name"] for one in vms], ["sk1", "sk2"])
        self.assertAlmostEqual(vms[0]["usable"], 2)
        self.assertAlmostEqual(vms[1]["usable"], 0)  # it is paused
        self.assertEqual(answer("estimate", *here, given=None)["vms"], vms)
        self.assertIn("sk1 is entitled to 2.00 CPUs", run("explain", "sk1", *here).stdout)

    def test_two_recordings_do_not_write_one_file(self):
        here = ("--domstats", str(RECORDINGS / "domains.txt"), "--root", play("containers-v2.tree"))
        file = pathlib.Path(FOLDER.name, "twice.json")
        lock = pathlib.Path(f"{file}.lock")
        with subprocess.Popen([PROGRAM, "host", "record", file, "--count", "2", "--interval", "3600", *here],
                              stdout=subprocess.DEVNULL) as first:
            while not is_locked(lock):
                time.sleep(0.01)
            second = run("record", str(file), "--count", "1", *here)
            self.assertEqual((second.returncode, second.stdout, second.stderr),
                             (2, "", f"sukima: another sukima host record writes '{file}'; wait for its end, or give another "
                                     "file\n"))
            self.assertEqual(run("record", f"{file}-2", "--count", "1", *here).returncode, 0, "another file")
            first.kill()
        self.assertTrue(lock.exists(), "the first recording was killed")
        self.assertEqual(run("record", str(file), "--count", "1", *here).returncode, 0)
        self.assertFalse(lock.exists())
        self.assertEqual(len(answer("estimate", str(file), given=None)["vms"]), 2)

    def test_a_recording_that_is_interrupted_leaves_nothing(self):
        here = ("--domstats", str(RECORDINGS / "domains.txt"), "--root", play("containers-v2.tree"))
        file = pathlib.Path(FOLDER.name, "interrupted.json")
        lock = pathlib.Path(f"{file}.lock")
        with subprocess.Popen([PROGRAM, "host", "record", file, "--count", "2", "--interval", "3600", *here],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as recording:
            while not is_locked(lock):
                time.sleep(0.01)
            recording.terminate()
            self.assertEqual(recording.communicate(),
                             ("", f"sukima: the recording was interrupted; '{file}' was not written\n"))
        self.assertEqual((recording.returncode, lock.exists(), file.exists()), (1, False, False))

    def test_watching_prints_lines_and_ends(self):
        root = play("containers-v2.tree")
        done = run("watch", "--root", root, "--interval", "0.1", "--count", "2")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(len(done.stdout.splitlines()), 6)
        self.assertRegex(done.stdout, r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d  web-1: paused, 4 of 4 vCPUs, uses \S+ CPUs, waits 0 %, 0.00 usable")
        lines = run("watch", "--root", root, "--interval", "0.1", "--count", "2", "--json").stdout.splitlines()
        self.assertEqual([len(json.loads(line)["vms"]) for line in lines], [3, 3])
        self.assertRegex(json.loads(lines[0])["time"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d$")
        plain = ("watch", "--root", root, "--interval", "0.1", "--count", "1", "--no-times")
        self.assertRegex(run(*plain).stdout, r"(?m)^web-1: paused")
        self.assertNotIn("time", json.loads(run(*plain, "--json").stdout))

    def test_watching_without_standard_output_is_one_sentence(self):
        """The socket of the metrics must not get the number of the stream."""
        here = ("--domstats", str(RECORDINGS / "domains.txt"), "--root", play("containers-v2.tree"))
        words = ("watch", "--count", "1", "--interval", "0.1", "--metrics", "127.0.0.1:0", *here)
        with open("/dev/full", "wb") as full:
            ends = (subprocess.run([PROGRAM, "host", *words], stderr=subprocess.PIPE, text=True, preexec_fn=lambda: os.close(1)),
                    subprocess.run([PROGRAM, "host", *words], stderr=subprocess.PIPE, text=True, stdout=full))
        for done in ends:
            self.assertRegex(done.stderr, r"^sukima: metrics are at \S+\nsukima: the output could not be written to standard output\n$")
            self.assertEqual(done.returncode, 1)

    def test_watching_keeps_to_the_width_of_the_terminal(self):
        """A line that continues in the next row would stay when the table is redrawn."""
        root = play("containers-v2.tree")
        process, terminal = pty.fork()
        if process == 0:
            fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 40, 0, 0))
            os.execve(PROGRAM, [PROGRAM, "host", "watch", "--root", root, "--interval", "0.1", "--count", "2", "--no-times"],
                      {"TERM": "xterm"})
        written = b""
        try:
            while piece := os.read(terminal, 4096):
                written += piece
        except OSError:  # the program has ended
            pass
        os.close(terminal)
        self.assertEqual(os.waitpid(process, 0)[1], 0)
        lines = re.sub(r"\033\[[0-9]*[A-Za-z]", "", written.decode()).replace("\r", "").split("\n")
        self.assertEqual(sum(line.startswith("web-1 ") for line in lines), 2, lines)
        self.assertLess(max(map(len, lines)), 40, lines)

    def test_watching_publishes_metrics(self):
        root = play("containers-v2.tree")
        file = pathlib.Path(FOLDER.name, "sukima.prom")
        watching = subprocess.Popen([PROGRAM, "host", "watch", "--root", root, "--interval", "0.1", "--metrics", str(file)],
                                    stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        while 'sukima_vm_usable_cpus{vm="web-1"} 0\n' not in (file.read_text() if file.exists() else ""):
            self.assertIsNone(watching.poll())
            time.sleep(0.01)
        watching.send_signal(signal.SIGTERM)
        self.assertEqual((watching.communicate()[1], watching.returncode), (f"sukima: metrics are at {file}\n", 0))
        self.assertFalse(file.exists())

    def test_watching_survives_a_signal_that_is_ignored(self):
        """As after nohup, when the terminal is closed."""
        root = play("containers-v2.tree")
        file = pathlib.Path(FOLDER.name, "nohup.prom")
        with subprocess.Popen([PROGRAM, "host", "watch", "--root", root, "--interval", "0.1", "--json", "--metrics", str(file)],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                              preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)) as watching:
            self.assertTrue(watching.stdout.readline())
            watching.send_signal(signal.SIGHUP)
            for _ in range(10):  # a command that ends would have printed fewer lines
                self.assertTrue(watching.stdout.readline())
            watching.send_signal(signal.SIGTERM)
            watching.communicate()
        self.assertEqual((watching.returncode, file.exists()), (0, False))

    def test_watching_removes_its_metrics_when_its_reader_ends(self):
        """As in `sukima host watch --metrics FILE | head -1`."""
        file = pathlib.Path(FOLDER.name, "sukima.prom")
        watching = subprocess.Popen([PROGRAM, "host", "watch", "--root", play("containers-v2.tree"), "--interval", "0.1",
                                     "--metrics", str(file)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        watching.stdout.readline()
        watching.stdout.close()
        self.assertEqual(watching.wait(), 1)
        self.assertIn("the output could not be written to standard output", watching.stderr.read())
        watching.stderr.close()
        self.assertFalse(file.exists())

    def test_a_host_without_machines_says_so(self):
        root = play("containers-v2.tree")
        for folder in ("system.slice", "machine.slice", "kubepods.slice"):
            shutil.rmtree(pathlib.Path(root, "sys/fs/cgroup", folder))
        done = run("list", "--root", root, "--interval", "0.1")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("There is no virtual machine here: libvirt does not run here", done.stdout)
        self.assertEqual(done.stdout.count("\n"), 1)


class Help(unittest.TestCase):
    def test_of_each_action_has_its_options_and_examples(self):
        whole = run("--help").stdout
        actions = re.search(r"ACTION TEXT:\{([a-z,]+)\}", whole)[1].split(",")
        self.assertIn("optimise", actions)
        for action in actions:
            text = run("help", action).stdout
            self.assertEqual(run(action, "--help").stdout, text, action)
            self.assertIn(f"Usage: sukima host {action}", text)
            examples = text[text.index("Examples:"):]
            self.assertIn(f"  sukima host {action}", examples)
            for line in re.findall(r"(?m)^  sukima host .*", examples):
                self.assertIn(line.split("  ")[1], whole)
                for option in re.findall(r"--[a-z-]+", line):
                    self.assertIn(option, text[:text.index("Examples:")], line)
        self.assertEqual(run("help").stdout, whole)
        self.assertEqual(run("optimize", "--help").stdout, run("help", "optimise").stdout)
        self.assertNotIn("--since", run("help", "optimise").stdout)
        self.assertIn("--since", run("help", "explain").stdout)


class WithoutLibvirt(unittest.TestCase):
    def test_a_file_is_estimated_and_this_host_is_read(self):
        """The loader finds a file that is not a library in the library's place."""
        path = pathlib.Path(FOLDER.name, "no-libvirt")
        path.mkdir()
        (path / "libvirt.so.0").write_text("this is not a library")
        environment = {**os.environ, "LD_LIBRARY_PATH": str(path)}

        def bare(*arguments, given=None):
            return subprocess.run([PROGRAM, "host", *arguments], capture_output=True, text=True, timeout=500,
                                  input=json.dumps(given), cwd=FOLDER.name, env=environment)

        refused = bare("list", "--connect", "test:///default")
        self.assertEqual((refused.returncode, refused.stdout), (2, ""))
        self.assertRegex(refused.stderr, "libvirt is not installed on this machine|built without libvirt")
        done = bare("estimate", "-", given=FIGURE_14)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout, run("estimate", "-", given=FIGURE_14).stdout)
        self.assertEqual(bare("explain", "a", "-", given=FIGURE_14).stderr.count("libvirt"), 0)
        root = play("containers-v2.tree")
        done = bare("list", "--root", root, "--interval", "0.1", "--cgroup", "/system.slice/*")
        self.assertEqual((done.returncode, done.stderr), (0, ""))


class Refusals(unittest.TestCase):
    def refused(self, sentence, *arguments, given=None):
        done = run(*arguments, given=given)
        self.assertEqual((done.returncode, done.stdout), (2, ""), arguments)
        self.assertIn(sentence, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)

    def test_are_one_sentence(self):
        self.refused("one argument too many", "estimate", "x", "y")
        self.refused("'/nonesuch' cannot be read: No such file or directory; give another file", "estimate", "/nonesuch")
        self.refused("'/' cannot be read: Is a directory; give another file", "estimate", "/")
        for words in (("estimate", "/dev/zero"), ("explain", "a", "/dev/zero"), ("list", "--domstats", "/dev/zero"),
                      ("explain", "a", "-", "--since", "/dev/zero"), ("optimise", "--config", "/dev/zero"),
                      ("act", "a", "cap", "1", "--config", "/dev/zero")):
            self.refused("longer than 64 MiB; give another ", *words, given=FIGURE_14)
        # Standard input has no end here, either.
        with open("/dev/zero", "rb") as endless:
            for words in (("estimate", "-"), ("list", "--domstats", "-")):
                done = subprocess.run([PROGRAM, "host", *words], stdin=endless, capture_output=True, text=True)
                self.assertEqual((done.returncode, done.stdout), (2, ""), words)
                self.assertIn("longer than 64 MiB", done.stderr)
        self.refused("'/' cannot be read: Is a directory; give another file", "list", "--domstats", "/")
        self.refused("-: the description is not JSON", "estimate", "-", given="nothing")
        self.refused("vms[0].vcpus[0].hard: CPU 64 does not exist", "estimate", "-", given=host(1, vm("a", "64")))
        self.refused("vms[0].weight_of: is missing", "estimate", "-", given=host(1, vm("a", "0", weight_of=None)))
        self.refused("--since is for sukima host explain; leave it out", "estimate", "x", "--since", "y")
        self.refused("an explanation needs a virtual machine", "explain")
        self.refused("--method is for sukima host estimate; leave it out", "explain", "a", "x", "--method", "formula")
        self.refused("has no virtual machine 'c'", "explain", "c", "-", given=FIGURE_14)
        self.refused("vms[0].vcpus[0].ran: is missing", "explain", "a", "-", given=FIGURE_14)
        self.refused("--method", "estimate", "x", "--method", "guess")
        self.refused("there is no action 'x': choose list", "help", "x")
        self.refused("--metrics is for sukima host watch and optimise; leave it out", "list", "--metrics", "0")
        self.refused("--no-times is for sukima host watch and optimise; leave it out", "status", "--no-times")
        self.refused("leave one of the two out", "optimise", "--connect", "test:///default", "--config", "x")
        root = play("containers-v2.tree")
        for where in ("70000", "-1", "nowhere:1", "/proc/nonesuch/x"):
            self.refused("--metrics: ", "watch", "--root", root, "--metrics", where)

    def test_the_argument_after_a_source_is_the_file(self):
        for source, sentence in (("--qmp", "is not the socket of a running machine"), ("--cgroup", "there is no control group /nonesuch")):
            self.refused(sentence, "record", source, "/nonesuch", "/nonesuch/x")

    def test_of_sources_are_one_sentence(self):
        self.refused("a recording needs a file", "record")
        self.refused("one argument too many", "list", "x")
        self.refused("one argument too many", "record", "x", "y")
        self.refused("--qmp is for a running host", "estimate", "x", "--qmp", "y")
        self.refused("--interval is for a running host", "estimate", "x", "--interval", "2")
        self.refused("--interval is for a running host", "explain", "a", "x", "--interval", "1")
        for action in (("list",), ("estimate",), ("explain", "a")):
            self.refused("--interval has no effect", *action, "--domstats", "x", "--interval", "2")
        self.refused("--count is for sukima host watch and record; leave it out", "list", "--count", "2")
        self.refused("--config is for sukima host optimise and act; leave it out", "list", "--config", "x")
        self.refused("--journal is for sukima host optimise, act, status and revert; leave it out", "watch", "--journal", "x")
        self.refused("--interval is for sukima host list, watch, record, estimate and explain; leave it out", "status",
                     "--interval", "2")
        self.refused("--json is for sukima host list, watch, estimate, explain, optimise, act, status and revert; leave it out",
                     "record", "x", "--json")
        self.refused("--since is for an explanation of a file", "explain", "a", "--since", "x")
        self.refused("is not the socket of a running machine", "list", "--qmp", "/nonesuch")
        self.refused("'/nonesuch' cannot be read: No such file or directory; give another file", "list", "--domstats", "/nonesuch")
        self.refused("line 1 of the statistics: it must be as virsh domstats prints it", "list", "--domstats", "-", given="Domain: a")
        self.refused("contain no domain", "list", "--domstats", "-", given="")
        self.refused("/nonesuch/proc/stat cannot be read", "list", "--root", "/nonesuch", "--qmp", "x")
        self.refused("libvirt", "list", "--connect", "nonesuch:///system")
        self.refused("--interval", "list", "--interval", "0")
        root = play("containers-v2.tree")
        self.refused("there is no control group /nonesuch", "list", "--root", root, "--cgroup", "/nonesuch")
        self.refused("this host has no virtual machine 'x'; sukima host list lists them", "explain", "x", "--root", root,
                     "--cgroup", "/user.slice", "--interval", "0.1")
        # The refusal comes before any measurement, which would take an hour.
        for file, why in (("/nonesuch/x", "No such file or directory"), (root, "Is a directory")):
            self.refused(f"cannot be written to '{file}': {why}; give another file", "record", file, "--root", root, "--interval",
                         "3600")


if __name__ == "__main__":
    unittest.main()
