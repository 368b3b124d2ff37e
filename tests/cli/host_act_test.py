#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`sukima host optimise`, `act` and `revert`, and `sukima guest`, from outside. The test plays QEMU: it hands on what
the host and the guest service write to the two ends of a port.

host_act_test.py PROGRAM
"""
import ctypes
import json
import os
import pathlib
import resource
import signal
import subprocess
import unittest
import urllib.request

from host_acting import PROGRAM, Acting, Machine, Port, until


def obey_modes():
    """Makes file modes apply to root, too, from the next exec on."""
    drop_from_bounding_set, override, read_search = 24, 1, 2
    if os.geteuid() == 0:
        library = ctypes.CDLL(None, use_errno=True)
        for capability in (override, read_search):
            if library.prctl(drop_from_bounding_set, capability, 0, 0, 0) != 0:
                raise OSError(ctypes.get_errno(), "prctl")


class Numbers(Acting):
    def test_reach_a_container_by_a_file(self):
        file = self.folder / "container/host"
        file.parent.mkdir()
        self.write(self.vm("a", self.sleeper(), act=["threads"], file=str(file)))
        running = self.optimise()
        until(file.exists, running)
        self.assertEqual(file.read_text(), "sukima-host 1\nusable 1.000\nvalid 10.000\nend\n")
        self.end(running)

    def test_reach_programs_in_a_guest_by_its_service(self):
        port = Port(self.folder)
        self.addCleanup(port.close)
        machine = Machine(self.folder / "guest")
        self.write(self.vm("a", self.sleeper(), act=["threads"], port=port.paths[0]))
        service = self.start("guest", "--root", str(machine.root), "--port", port.paths[1], "--json")
        running = self.optimise("--json")
        until(lambda: machine.number() == "sukima-host 1\nusable 1.000\nvalid 10.000\nend\n", running)
        self.end(running)
        self.end(service)

    def test_are_shown_as_metrics(self):
        file = self.folder / "host"
        self.write(self.vm("a", self.sleeper(), act=["threads"], file=str(file)))
        running = self.optimise("--metrics", "0", "--json")
        line = json.loads(running.stdout.readline())
        self.assertRegex(line["time"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d$")

        def scraped():
            with urllib.request.urlopen(line["metrics"]) as response:
                return response.read().decode()
        until(lambda: 'sukima_vm_usable_cpus{vm="a"} 1\n' in scraped(), running)
        self.assertIn('sukima_vm_optimiser_state{vm="a",state="idle"} 1\n', scraped())
        self.assertIn("\nsukima_host_cycle_seconds ", scraped())
        self.end(running)

    def test_lines_have_times_unless_they_are_not_wanted(self):
        file = self.folder / "host"
        self.write(self.vm("a", self.sleeper(), act=["threads"], file=str(file)))
        for words, pattern in (((), r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d  metrics are at \S+\n$"),
                               (("--no-times",), r"^metrics are at \S+\n$")):
            running = self.optimise("--metrics", str(self.folder / "m.prom"), *words)
            self.assertRegex(running.stdout.readline(), pattern)
            self.end(running)

    def test_are_held_by_one_command_at_a_time(self):
        file = self.folder / "host"
        self.write(self.vm("a", self.sleeper(), act=["threads"], file=str(file)))
        running = self.optimise()
        until(file.exists, running)
        self.refused(f"another sukima host acts on this host and has the journal {self.journal}; wait until it has "
                     "ended", "optimise", "--config", str(self.config))
        self.assertIsNone(running.poll(), "the first one goes on")
        self.assertTrue(file.exists())
        self.end(running)

    def test_switch_virtual_cpus_of_a_guest_until_the_host_dies(self):
        port = Port(self.folder)
        self.addCleanup(port.close)
        machine = Machine(self.folder / "guest")
        # Threads of this process stand for vCPUs: an idle machine of four, on two CPUs.
        self.write({"name": "a", "weight_of": "vm", "act": ["vcpus"], "port": port.paths[0], "pid": os.getpid(),
                    "vcpus": [{"id": i, "thread": self.thread()} for i in range(4)]})
        service = self.start("guest", "--root", str(machine.root), "--port", port.paths[1])
        running = self.optimise()
        until(lambda: machine.on() == [0, 1], running)
        line = until(lambda: pathlib.Path(self.journal).read_text(), running)
        self.assertIn('"kind":"vcpus"', line)
        self.refused("another sukima host acts on this host", "revert")
        self.assertTrue(json.loads(self.run_host("status", "--json").stdout)["acting"])
        running.kill()
        running.wait()
        # The port closes with the host: QEMU reports that to the guest.
        until(lambda: machine.on() == [0, 1, 2, 3], service)
        done = self.run_host("revert", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout.splitlines()[0])["outcome"], "ended")
        self.assertEqual(self.run_host("revert").stdout, "")
        self.end(service)


class Groups(Acting):
    def setUp(self):
        super().setUp()
        self.group = self.folder / "group"
        self.group.mkdir()
        (self.group / "cpu.max").write_text("max 50000\n")
        (self.group / "cpu.weight").write_text("100\n")
        self.write({"name": "a", "act": ["cap", "weight"], "cgroup": str(self.group), "vcpus": [{"id": 0}]},
                   {"name": "b", "vcpus": [{"id": 0}]})

    def act(self, *words):
        return self.run_host("act", *words, "--config", str(self.config))

    def test_are_capped_and_weighed_until_revert(self):
        self.assertIn("is 75000 50000; sukima host revert undoes it", self.act("a", "cap", "1.5").stdout)
        self.assertEqual((self.group / "cpu.max").read_text(), "75000 50000\n")
        self.assertEqual(json.loads(self.act("a", "weight", "50", "--json").stdout)["before"], "100")
        self.assertEqual((self.group / "cpu.weight").read_text(), "50\n")
        self.assertEqual(self.act("a", "cap", "none").returncode, 0)
        done = self.run_host("revert")
        self.assertEqual((done.returncode, done.stdout.count("again")), (0, 3), done)
        self.assertEqual((self.group / "cpu.max").read_text(), "max 50000\n")
        self.assertEqual((self.group / "cpu.weight").read_text(), "100\n")

    def test_of_version_1_too(self):
        for name in ("cpu.max", "cpu.weight"):
            (self.group / name).unlink()
        (self.group / "cpu.cfs_quota_us").write_text("-1\n")
        (self.group / "cpu.cfs_period_us").write_text("20000\n")
        (self.group / "cpu.shares").write_text("1024\n")
        self.assertEqual(self.act("a", "cap", "0.5").returncode, 0)
        self.assertEqual((self.group / "cpu.cfs_quota_us").read_text(), "10000\n")
        done = self.act("a", "cap", "0.04")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("accepts no cap below 0.05 CPUs: its period is 20000 us, and the least quota is 1000 us", done.stderr)
        self.assertEqual(self.act("a", "weight", "20000").returncode, 0)
        self.assertEqual(self.run_host("revert").returncode, 0)
        self.assertEqual((self.group / "cpu.cfs_quota_us").read_text(), "-1\n")
        self.assertEqual((self.group / "cpu.shares").read_text(), "1024\n")

    def test_are_only_looked_at_without_an_act(self):
        done = self.act("a", "cap", "1.5", "--dry-run")
        self.assertEqual(done.returncode, 0, done)
        self.assertIn(f"{self.group}/cpu.max is max 50000 and would be 75000 50000; nothing was set", done.stdout)
        self.assertEqual((self.group / "cpu.max").read_text(), "max 50000\n")
        self.assertFalse(pathlib.Path(self.journal).exists())
        self.assertEqual(self.run_host("status").stdout, f"Nothing is in effect: there is no journal {self.journal}.\n")
        self.assertFalse(pathlib.Path(self.journal).parent.exists())

    def test_in_lines_that_cannot_be_understood_are_not_called_ended(self):
        journal = pathlib.Path(self.journal)
        journal.parent.mkdir(mode=0o700, parents=True)
        journal.touch(mode=0o600)
        journal.write_text("nonsense\n")
        shown = self.run_host("status")
        self.assertEqual((shown.returncode, shown.stdout), (1, "Nothing that can be read is in effect.\n"))
        self.assertIn("1 of the lines of the journal", shown.stderr)

    def test_are_listed_while_they_are_set(self):
        self.cap_two_acts()
        (self.group / "cpu.weight").write_text("60\n")
        shown = self.run_host("status", "a")
        self.assertEqual(shown.returncode, 0, shown)
        self.assertIn(f"a: cap ({self.group}/cpu.max) was max 50000 and is 75000 50000\n", shown.stdout)
        self.assertIn(f"a: weight ({self.group}/cpu.weight) was 100 and is 60; it was set to 50\n", shown.stdout)
        all_of_them = json.loads(self.run_host("status", "--json").stdout)
        self.assertEqual([one["present"] for one in all_of_them["acts"]], ["75000 50000", "60"])
        self.assertFalse(all_of_them["acting"])
        self.assertEqual(self.run_host("status", "b").stdout, "Nothing is in effect for b.\n")

    def test_are_reverted_one_machine_at_a_time(self):
        other = self.folder / "other"
        other.mkdir()
        (other / "cpu.weight").write_text("100\n")
        self.write({"name": "a", "act": ["weight"], "cgroup": str(self.group), "vcpus": [{"id": 0}]},
                   {"name": "b", "act": ["weight"], "cgroup": str(other), "vcpus": [{"id": 0}]})
        for name in ("a", "b"):
            self.assertEqual(self.act(name, "weight", "50").returncode, 0)
        self.refused("no act on 'c' is in effect", "revert", "a", "c")
        self.assertEqual((self.group / "cpu.weight").read_text(), "50\n")
        done = self.run_host("revert", "b")
        self.assertEqual((done.returncode, done.stdout.count("again")), (0, 1), done)
        self.assertEqual((other / "cpu.weight").read_text(), "100\n")
        self.assertEqual((self.group / "cpu.weight").read_text(), "50\n")
        self.assertEqual(self.run_host("revert").stdout.count("again"), 1)

    def test_are_not_reverted_by_a_journal_that_is_not_there(self):
        self.refused(f"there is no journal {self.journal}; nothing was undone, give another --journal", "revert")
        self.assertFalse(pathlib.Path(self.journal).parent.exists())

    def test_are_named_by_their_whole_path(self):
        self.write({"name": "a", "act": ["weight"], "cgroup": "/machine.slice/a", "vcpus": [{"id": 0}]})
        done = self.act("a", "weight", "50")
        self.assertEqual((done.returncode, done.stderr), (1, (
            "sukima: /machine.slice/a has no weight: there is no such folder; set 'cgroup' to the full path, including "
            "the mount point, such as /sys/fs/cgroup\n")))

    def test_are_left_if_another_program_has_changed_them(self):
        self.act("a", "cap", "1.5")
        (self.group / "cpu.max").write_text("60000 50000\n")
        self.assertIn("another program has set it to 60000 50000 since", self.run_host("revert").stdout)
        self.assertEqual((self.group / "cpu.max").read_text(), "60000 50000\n")

    def revert_as(self, restrict, *words):
        """Returns a `revert` that has ended, in a process that `restrict` has restricted."""
        return subprocess.run([PROGRAM, "host", "revert", "--journal", self.journal, *words], capture_output=True,
                              text=True, preexec_fn=restrict)

    def cap_two_acts(self):
        self.assertEqual(self.act("a", "cap", "1.5").returncode, 0)
        self.assertEqual(self.act("a", "weight", "50").returncode, 0)

    def expect_reverted(self, done, code):
        self.assertEqual(done.returncode, code, done)
        self.assertEqual(done.stdout.count("again"), 2, done.stdout)
        self.assertEqual((self.group / "cpu.max").read_text(), "max 50000\n")
        self.assertEqual((self.group / "cpu.weight").read_text(), "100\n")

    def test_are_reverted_on_a_full_disk_too(self):
        self.cap_two_acts()
        size = os.path.getsize(self.journal)

        def fill_the_disk():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

        done = self.revert_as(fill_the_disk)
        self.expect_reverted(done, 1)
        self.assertIn("cannot be written: ", done.stderr)
        self.assertIn("sukima host revert removes them", done.stderr)
        self.assertNotIn("nothing is done", done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.expect_reverted(self.run_host("revert"), 0)
        self.assertEqual(self.run_host("revert").stdout, "")

    def test_are_reverted_with_a_journal_that_cannot_be_written(self):
        self.cap_two_acts()
        os.chmod(self.journal, 0o400)
        self.expect_reverted(self.revert_as(obey_modes), 1)

    def test_are_reverted_beside_a_damaged_line(self):
        self.cap_two_acts()
        journal = pathlib.Path(self.journal)
        journal.write_text("{\n" + journal.read_text())
        done = self.run_host("revert")
        self.expect_reverted(done, 1)
        self.assertIn("the first of them is line 1; ", done.stderr)
        # It stays until an operator has looked at it.
        self.assertEqual(self.run_host("revert").returncode, 1)
        journal.write_text(journal.read_text().removeprefix("{\n"))
        self.assertEqual(self.run_host("revert").returncode, 0)

    def test_names_in_a_journal_do_not_act_on_the_terminal(self):
        journal = pathlib.Path(self.journal)
        journal.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        journal.write_text('{"act":1,"step":"begun","kind":"cap","vm":"a\\u001b[31m","target":"/nonesuch/b\\u0007","before":"1",'
                           '"after":"2"}\n')
        self.assertEqual(self.run_host("status").stdout, "a?[31m: cap (/nonesuch/b?) is gone\n")
        self.assertNotIn("\033", self.run_host("revert").stdout)

    def test_only_what_is_allowed(self):
        config = ("--config", str(self.config))
        self.refused("vms[1].act: the cap of 'b' may not be set", "act", "b", "cap", "1", *config)
        self.refused("'many' is not a cap in CPUs", "act", "a", "cap", "many", *config)
        self.refused("'0' is not a weight", "act", "a", "weight", "0", *config)
        self.refused("vms[0].act: the virtual CPUs of 'a' may not be set", "act", "a", "plug", "2", *config)
        self.refused("'speed' cannot be set: choose cap, weight or plug", "act", "a", "speed", "1", *config)
        self.refused("an act needs a virtual machine, a kind and a value", "act", "a", *config)
        self.refused("has no virtual machine 'c'", "act", "c", "cap", "1", *config)
        self.assertEqual((self.group / "cpu.max").read_text(), "max 50000\n")

    def test_an_unwritable_journal_stops_everything(self):
        done = subprocess.run([PROGRAM, "host", "act", "a", "cap", "1", "--config", str(self.config), "--journal",
                               "/proc/nonesuch/journal"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("nothing is done without it", done.stderr)
        self.assertEqual((self.group / "cpu.max").read_text(), "max 50000\n")


class Refusals(Acting):
    def test_are_one_sentence(self):
        config = ("--config", str(self.config))
        self.refused("of the machines that may be acted on cannot be read: No such file", "optimise", "--config", "/nonesuch")
        self.write({"name": "a", "weight_of": "vm", "vcpus": [{"id": 0}]})
        self.refused("no virtual machine", "optimise", *config)
        machine = {"name": "a", "weight_of": "vm", "act": ["plug"], "vcpus": [{"id": 0}, {"id": 1}]}
        self.write(machine)
        self.refused("vms[0]: virtual CPUs are plugged in through 'monitor'", "act", "a", "plug", "2", *config)
        self.write(machine | {"monitor": str(self.folder / "monitor")})
        self.refused("'3' is not a number of virtual CPUs in its bounds: give a number from 1 to 2", "act", "a", "plug",
                     "3", *config)
        self.refused("'1.5' is not a number of virtual CPUs", "act", "a", "plug", "1.5", *config)
        failed = self.run_host("act", "a", "plug", "2", *config)
        self.assertEqual(failed.returncode, 1)
        self.assertIn("is not the socket of a running machine; name such a socket", failed.stderr)
        self.write({"name": "a", "weight_of": "vm", "vcpus": [{"id": 0}]})
        self.refused("vms[0].act: 'a' may not be acted on", "optimise", "a", *config)
        self.refused("has no virtual machine 'b'", "optimise", "b", *config)
        self.write({"name": "a", "weight_of": "vm", "act": ["threads"], "port": "/p", "vcpus": [{"id": 0}]})
        self.refused("vms[0]: a machine with 'act' needs 'pid'", "optimise", *config)
        self.write({"name": "a", "weight_of": "vm", "act": ["threads"], "port": "/p", "pid": 4194304,
                    "vcpus": [{"id": 0}]})
        self.refused("vms[0].pid: there is no process 4194304", "optimise", *config)
        self.write({"name": "a", "weight_of": "vm", "act": ["threads"], "port": "/" + "p" * 107, "pid": 1, "vcpus": [{"id": 0}]})
        self.refused("vms[0].port: must be the path of a socket, of at most 107 characters", "optimise", *config)
        self.write(self.vm("a", self.sleeper(), act=["threads"], port="/p", weight_of=None))
        self.refused("vms[0].weight_of: is missing", "optimise", *config)
        self.refused("no act on 'x' is in effect", "revert", "x")
        self.refused("--dry-run is for sukima host optimise and act", "revert", "--dry-run")
        self.refused("--dry-run is for sukima host optimise and act", "status", "--dry-run")
        self.refused("--by is for sukima host optimise", "act", "--by", "use")
        self.refused("--since is for sukima host explain; leave it out", "optimise", "--since", "x")

    def test_of_the_guest_service(self):
        for sentence, *words in (("there is no user 'no-such-user'", "--user", "no-such-user"),
                                 ("is not a folder", "--root", "/nonesuch"),
                                 ("--json is for the service, which --restore does not start", "--restore", "--json"),
                                 (f"--port: '{__file__}' is neither a device nor a socket", "--port", __file__),
                                 ("--port: '/' is neither a device nor a socket", "--port", "/"),
                                 ("has 200 bytes, and that of a socket at most 107; give a shorter path", "--port", "/" + "p" * 199),
                                 ("cannot be created (/proc/nonesuch: No such file or directory); give another --socket",
                                  "--socket", "/proc/nonesuch/x")):
            done = subprocess.run([PROGRAM, "guest", *words], capture_output=True, text=True)
            self.assertEqual(done.returncode, 2)
            self.assertIn(sentence, done.stderr)

    def test_the_guest_service_removes_no_file_that_is_not_a_socket(self):
        notes = self.folder / "notes"
        notes.write_text("precious")
        done = subprocess.run([PROGRAM, "guest", "--root", str(self.folder), "--socket", str(notes)], capture_output=True,
                              text=True)
        self.assertEqual((done.returncode, notes.read_text()), (2, "precious"))
        self.assertIn("notes is not a socket", done.stderr)

    def test_restore_brings_back_what_the_state_names(self):
        machine = Machine(self.folder / "guest")
        (machine.cpus / "cpu2/online").write_text("0\n")
        (machine.root / "run/sukima").mkdir(parents=True)
        (machine.root / "run/sukima/guest.state").write_text("2\n")
        done = subprocess.run([PROGRAM, "guest", "--root", str(machine.root), "--restore"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(machine.on(), [0, 1, 2, 3])


if __name__ == "__main__":
    unittest.main()
