// SPDX-License-Identifier: Apache-2.0
// Optimising synthetic guests: the whole way from the counters to the guests and back.
#include <fcntl.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>

#include "synthetic_host.hpp"

namespace {

using namespace guests;

class session_of_guests : public testing::Test {
 protected:
  std::size_t verdicts(verdict_kind kind) const {
    return static_cast<std::size_t>(std::ranges::count(host.verdicts, kind, &verdict::kind));
  }
  bool reported(const std::string& part) const {
    return std::ranges::any_of(host.events,
                               [&](const std::string& one) { return one.find(part) != std::string::npos; });
  }

  guests::folder folder;
  journal written{folder.path / "journal"};
  synthetic_host host{4};
};

TEST_F(session_of_guests, a_number_reaches_the_programs_and_ends_by_its_lease) {
  host.add(4, independent);
  host.add(4, independent);
  host[0].reports = host[1].reports = false;
  host.begin("threads", {}, &written);
  host.run(3);
  // Two busy guests on four CPUs; no progress, so the number is the estimate.
  for (int j = 0; j < 2; ++j)
    EXPECT_EQ(text_in(host[static_cast<std::size_t>(j)].machine.number()),
              "sukima-host 1\nusable 2.000\nvalid 10.000\nend\n");
  const auto path = host[0].machine.number();
  fs::remove(path);
  host.run(3.5);  // it is said again within three seconds
  EXPECT_TRUE(fs::exists(path));
  host.running.reset();
  fs::remove(path);
  for (int i = 0; i < 40; ++i) host[0].run(0.25, 2, host.now += 0.25);
  EXPECT_FALSE(fs::exists(path));
}

TEST_F(session_of_guests, cpus_that_one_leaves_are_offered_to_the_other) {
  host.add(4, independent);
  host.add(4, independent);
  host[0].reports = host[1].reports = false;
  host[1].busy = false;
  host.begin("threads", {}, &written);
  host.run(120);
  EXPECT_GT(host.running->usable(0), 3.8);
  // An idle guest gets the number that it could have.
  EXPECT_NEAR(host.running->usable(1), 2, 0.01);
  host[1].busy = true;
  host.run(2.5);
  EXPECT_NEAR(host.running->usable(0), 2, 0.01);
}

TEST_F(session_of_guests, threads_end_at_the_best_count) {
  host.add(4, locked);
  host.begin("threads", {}, &written);
  host.run(200);
  EXPECT_EQ(host.running->count(0), 2U);
  EXPECT_GE(verdicts(verdict_kind::better), 1U);
  EXPECT_GE(verdicts(verdict_kind::rested), 1U);
  // Numbers are leased: the journal has nothing of them.
  EXPECT_TRUE(text_in(written.file()).empty());
}

TEST_F(session_of_guests, a_search_ends_within_the_bounds) {
  host.add(4, locked);
  host[0].least = 2;
  host.begin("threads", {}, &written);
  while (verdicts(verdict_kind::rested) == 0 && host.now < 2000) host.run(1);
  EXPECT_EQ(verdicts(verdict_kind::rested), 1U);
  EXPECT_EQ(host.running->count(0), 2U);
  EXPECT_EQ(verdicts(verdict_kind::voided), 0U) << "below its least count nothing is tried";
}

TEST_F(session_of_guests, trials_are_announced) {
  host.add(4, locked);
  host.begin("threads", {}, &written);
  bool announced = false;
  host.run(60, [&] {
    const auto& said = host.running->message_to(0);
    if (!said || !said->trial) return;
    announced = true;
    EXPECT_EQ(said->usable, *said->trial);
  });
  EXPECT_TRUE(announced);
}

TEST_F(session_of_guests, virtual_cpus_are_switched_with_a_line_before_each_act) {
  host.add(4, spinning);
  host.add(4, independent);
  host[1].reports = false;
  host.begin("vcpus", {}, &written);
  host.run(10);
  // The estimate: two each. Proved by the host's counters, and written down.
  EXPECT_EQ(host[0].machine.on(), "0-1");
  EXPECT_EQ(host[1].machine.on(), "0-1");
  ASSERT_EQ(written.in_effect().size(), 2U);
  for (const auto& [number, entry] : written.in_effect()) {
    EXPECT_EQ(entry.last, "proved");
    EXPECT_EQ(entry.change.after, "2");
  }
  host.run(200);
  EXPECT_EQ(host.running->count(0), 2U);
  EXPECT_GE(verdicts(verdict_kind::worse), 1U);
  // When the host stops, the port closes and the CPUs come back.
  host.running.reset();
  EXPECT_TRUE(written.in_effect().empty());
  host[0].service->host_closed();
  host[0].machine.settle();
  EXPECT_EQ(host[0].machine.on(), "0-3");
}

TEST_F(session_of_guests, cpus_of_a_guest_whose_host_was_killed_come_back) {
  host.add(4, independent);
  host.add(4, independent);
  host.begin("vcpus", {}, &written);
  host.run(10);
  ASSERT_EQ(host[0].machine.on(), "0-1");
  // The service is silent; the port stays open, as QEMU's does.
  for (int i = 0; i < 4 * 31; ++i) host[0].run(0.25, 2, host.now += 0.25);
  EXPECT_EQ(host[0].machine.on(), "0-3");
}

TEST_F(session_of_guests, a_guest_without_the_service_is_not_acted_on) {
  host.add(4, independent);
  host.add(4, independent);
  host[0].silent = true;
  host.begin("vcpus", {}, &written);
  host.run(100);
  EXPECT_TRUE(reported("a: its virtual CPUs could not be set: the guest service of a is silent"));
  EXPECT_EQ(host[0].machine.on(), "0-3");
  EXPECT_EQ(host[1].machine.on(), "0-1");
  EXPECT_FALSE(host.running->message_to(0)->vcpus);
}

TEST_F(session_of_guests, a_guest_that_only_claims_to_obey_is_found_out) {
  host.add(4, independent);
  host.add(4, independent);
  host[0].lie = "sukima-guest 1\nonline 0-1\nend\n";
  host[0].follows = false;
  host[0].deaf = true;
  host.begin("vcpus", {}, &written);
  host.run(60);
  EXPECT_TRUE(reported("a: its virtual CPUs could not be set: the host's counters do not confirm it"));
  for (const auto& [number, entry] : written.in_effect()) EXPECT_EQ(entry.change.vm, "b");
  EXPECT_TRUE(host.running->state(0) == optimiser_state::back ||
              host.running->state(0) == optimiser_state::hold);
}

TEST_F(session_of_guests, a_program_that_ignores_its_number_is_reported) {
  host.add(4, locked);
  host[0].follows = false;
  host[0].most = 2;
  host.begin("threads", {}, &written);
  host.run(200);
  EXPECT_TRUE(reported("a: it does not follow its number"));
}

TEST_F(session_of_guests, a_guest_that_ends_or_falls_silent_has_no_trial) {
  host.add(4, locked);
  host.add(4, locked);
  host.begin("threads", {}, &written);
  host.run(30);
  host[0].gone = true;
  host[1].silent = true;
  host.run(30);
  EXPECT_TRUE(reported("a: it has ended"));
  EXPECT_TRUE(reported("b: its guest service is silent"));
  EXPECT_FALSE(host.running->message_to(0));
  EXPECT_TRUE(host.running->state(1) == optimiser_state::back ||
              host.running->state(1) == optimiser_state::hold);
  EXPECT_GE(host.running->usable(1), 3.9);
}

TEST_F(session_of_guests, a_guest_whose_service_has_ended_counts_with_all_its_cpus) {
  host.add(4, independent);
  host.add(4, independent);
  host[0].reports = host[1].reports = false;
  host[0].follows = false;
  host[0].most = 1;
  host.begin("vcpus", {}, &written);
  host.run(15);
  ASSERT_EQ(host[0].machine.on(), "0");
  EXPECT_NEAR(host.running->usable(1), 3, 0.01);
  // It has brought all of them back; from now on nothing that comes is a message.
  host[0].service->stop();
  host[0].machine.settle();
  host[0].deaf = true;
  host[0].lie = "?\n";
  host.run(15);
  EXPECT_TRUE(reported("a: its guest service is silent"));
  EXPECT_NEAR(host.running->usable(1), 2, 0.01);
  for (const auto& [number, entry] : written.in_effect()) EXPECT_EQ(entry.change.vm, "b");
}

TEST_F(session_of_guests, a_wish_ends_with_the_service_that_said_it) {
  host.add(4, independent);
  host[0].lie = "sukima-guest 1\nwant 1\nend\n";
  host.begin("threads", {}, &written);
  host.run(3);
  EXPECT_NEAR(host.running->message_to(0)->usable, 1, 1e-6);
  host[0].lie = "?\n";  // nothing that comes is a message
  host.run(15);
  EXPECT_NEAR(host.running->message_to(0)->usable, 4, 1e-6);
}

TEST_F(session_of_guests, its_metrics_are_those_of_its_machines) {
  host.add(4, locked);
  host.add(4, locked);
  host.begin("vcpus", {}, &written);
  host.run(60);
  host[1].gone = true;
  host.run(3);
  const host_metrics all = host.running->metrics();
  ASSERT_EQ(all.vms.size(), 2U);
  EXPECT_EQ(all.vms[0].name, "a");
  EXPECT_NEAR(all.vms[0].usable.value(), host.running->usable(0), 1e-9);
  EXPECT_EQ(all.vms[0].online, host.running->count(0));
  EXPECT_EQ(all.vms[0].online + all.vms[0].offline, 4U);
  EXPECT_GT(all.vms[0].ran.value(), 10);
  EXPECT_EQ(all.vms[0].state, host.running->state(0));
  // Of a machine that has ended, only its state is left.
  EXPECT_FALSE(all.vms[1].usable);
  EXPECT_EQ(all.vms[1].state, optimiser_state::idle);
  EXPECT_GT(all.acts.at(act_kind::vcpus).proved, 0U);
  EXPECT_GT(all.messages.value().taken, 60U);
}

TEST_F(session_of_guests, ends_with_its_last_machine) {
  host.add(4, locked);
  host.add(4, locked);
  host.begin("threads", {}, &written);
  host.run(5);
  host[0].gone = true;
  host.run(5);
  EXPECT_FALSE(host.running->has_ended());
  host[1].gone = true;
  host.run(5);
  EXPECT_TRUE(host.running->has_ended());
  // By the clock, too: this would not return otherwise.
  const std::atomic<bool> stopped = false;
  run_session(*host.running, stopped, {[](const verdict&) {}, [](const std::string&) {}, {}});
}

/// Counts how often it is asked, and always has something to read.
class endless_link final : public guest_link {
 public:
  explicit endless_link(std::size_t& steps) : steps_(steps) {}
  void step(double) override { ++steps_; }
  int readable() const override { return zero_.get(); }
  std::optional<std::string> complaint(double) override { return std::nullopt; }

 private:
  std::size_t& steps_;
  descriptor zero_{::open("/dev/zero", O_RDONLY | O_CLOEXEC)};
};

/// Ends after so many readings.
class ending_counters final : public vm_counters {
 public:
  explicit ending_counters(int readings) : left_(readings) {}
  std::optional<vm_times> read() override {
    return left_-- > 0 ? std::optional(vm_times{.vcpus = {{}, {}, {}, {}}, .up = 100}) : std::nullopt;
  }

 private:
  int left_;
};

TEST_F(session_of_guests, a_guest_that_always_sends_wakes_the_host_rarely) {
  host.add(4, locked);
  std::size_t steps = 0;
  std::vector<session_vm> vms(1);
  vms[0].how.threads = vms[0].chosen = true;
  vms[0].how.most = 4;
  vms[0].link = std::make_unique<endless_link>(steps);
  vms[0].counters = std::make_unique<ending_counters>(10);
  session running(host.described({"threads"}), std::move(vms), {.cycle_seconds = 0.1}, &written);
  const std::atomic<bool> stopped = false;
  const auto begun = std::chrono::steady_clock::now();
  run_session(running, stopped, {[](const verdict&) {}, [](const std::string&) {}, {}});
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begun;
  // A wait never ends early, so a slow machine makes fewer steps. In each, the link may be asked twice.
  EXPECT_LE(static_cast<double>(steps), 2 * (passed.count() / 0.05 + 2));
}

TEST_F(session_of_guests, a_dry_run_says_nothing_to_anybody) {
  host.add(4, locked);
  host.begin("threads", {.dry_run = true}, nullptr);
  host.run(120);
  EXPECT_FALSE(fs::exists(host[0].machine.number()));
  EXPECT_GE(verdicts(verdict_kind::would_try), 1U);
}

/// Runs two guests, of which the first one says this instead of the truth. \returns all that the second one
/// is reported.
std::vector<std::string> numbers_beside(const std::string& lie, std::vector<std::string>& own) {
  const guests::folder folder;
  journal written(folder.path / "journal");
  synthetic_host host(4);
  host.add(4, spinning);
  host.add(4, independent);
  host[0].follows = false;
  host[1].reports = false;
  host[0].lie = lie;
  host.begin("threads", {}, &written);
  std::vector<std::string> all;
  host.run(60, [&] {
    if (host.running->message_to(0)) own.push_back(text_of(*host.running->message_to(0)));
    if (host.running->message_to(1)) all.push_back(text_of(*host.running->message_to(1)));
  });
  return all;
}

TEST(hostile_guest, moves_no_number_of_a_neighbour_by_lying) {
  std::vector<std::string> honest;
  const auto expected = numbers_beside("sukima-guest 1\nend\n", honest);
  ASSERT_GT(expected.size(), 200U);
  unsigned growth = 0;
  for (const std::string lie :
       {"sukima-guest 1\nprogress 999999999999999\nend\n", "sukima-guest 1\nwant 65536\nend\n",
        "sukima-guest 1\nonline 0-1023\nend\n", "sukima-guest 1\nturn\nend\nsukima-guest 1\nturn\nend\n",
        "sukima-guest 1\nwant 1\nonline 0\nend\n", "end\nend\nend\n\xff\xff"}) {
    std::vector<std::string> own;
    EXPECT_EQ(numbers_beside(lie, own), expected) << lie;
    for (const std::string& one : own) {
      const auto read = parse_host_message(one);
      ASSERT_TRUE(read);
      growth += read->usable > 2.001;
    }
  }
  EXPECT_EQ(growth, 0U);
}

TEST(steering, is_read_with_places_of_what_is_wrong) {
  const auto refused = [](const std::string& members, const std::string& vcpu = "") {
    try {
      steering_of(parse_description(
          R"({"sukima-host": 1, "pcpus": [{"id": 0}], "vms": [{"name": "a", "weight_of": "vm", )" + members +
          R"("vcpus": [{"id": 0)" + vcpu + "}]}]}"));
    } catch (const description_error& error) {
      return std::string(error.what());
    }
    return std::string("taken");
  };
  EXPECT_EQ(refused(""), "taken");
  EXPECT_EQ(refused(R"("act": ["threads"], "pid": 3, "port": "/p", "bounds": [1, 8], )"), "taken");
  EXPECT_EQ(refused(R"("act": ["threads"], "pid": 3, "file": "/p", )", R"(, "thread": 4)"), "taken");
  EXPECT_EQ(refused(R"("act": ["threads"], )").find("vms[0]: a machine with 'act' needs 'port'"), 0U);
  EXPECT_EQ(refused(R"("act": ["threads"], "port": "/p", )").find("vms[0]: a machine with 'act' needs 'pid'"),
            0U);
  EXPECT_EQ(
      refused(R"("act": ["vcpus"], "pid": 3, "file": "/p", )").find("vms[0]: virtual CPUs are switched"), 0U);
  EXPECT_EQ(refused(R"("pid": 0, )").find("vms[0].pid: must be a whole number from 1 to 4194304"), 0U);
  EXPECT_EQ(refused(R"("pid": 1.5, )").find("vms[0].pid: must be a whole number from 1 to 4194304"), 0U);
  EXPECT_EQ(refused(R"("port": "p", )").find("vms[0].port: must be an absolute path"), 0U);
  EXPECT_EQ(refused(R"("act": ["cap"], "cgroup": "/)" + std::string(204, 'x') + R"(", )"), "taken")
      << "a container of Kubernetes";
  const std::string too_long = R"("cgroup": "/)" + std::string(4095, 'x') + R"(", )";
  EXPECT_EQ(refused(too_long).find("vms[0].cgroup: must be a path"), 0U);
  EXPECT_EQ(refused(R"("cgroup": "/a\nb", )").find("vms[0].cgroup: must be a path"), 0U);
  EXPECT_EQ(refused(R"("port": "/p", "file": "/f", )").find("vms[0]: give 'port' or 'file'"), 0U);
  EXPECT_EQ(refused(R"("bounds": [2, 1], )").find("vms[0].bounds: must be the lowest and the highest"), 0U);
  EXPECT_EQ(
      refused(R"("bounds": [1, "x"], )").find("vms[0].bounds[1]: must be a whole number from 1 to 65536"),
      0U);
  EXPECT_EQ(refused(R"("act": ["vcpus"], "pid": 3, "port": "/p", "bounds": [1, 4], )")
                .find("vms[0].bounds: there are only 1"),
            0U);
  EXPECT_EQ(refused("", R"(, "thread": "x")")
                .find("vms[0].vcpus[0].thread: must be a whole number from 1 to 4194304"),
            0U);
}

TEST(process_counters, read_what_the_kernel_says) {
  const guests::folder proc;
  const auto process = proc.path / "77";
  EXPECT_THROW(make_process_counters(77, {}, 2, 0, proc.path), description_error);
  write(process / "stat", "77 (qemu (x) 1) S 1 1 1 0 -1 4194560 1 1 1 1 1 1 1 1 20 0 5 0 12300 1 1\n");
  write(proc.path / "uptime", "223.50 1.0\n");
  for (int i = 0; i < 2; ++i) {
    const auto task = process / "task" / std::to_string(80 - i);
    write(task / "comm", "CPU " + std::to_string(i) + "/KVM\n");
    write(task / "schedstat", std::to_string(i + 1) + "000000000 500000000 7\n");
  }
  write(process / "task/77/comm", "qemu\n");
  EXPECT_THROW(make_process_counters(77, {}, 3, 0, proc.path), description_error);
  const auto counters = make_process_counters(77, {}, 2, 0, proc.path);
  const auto times = counters->read();
  ASSERT_TRUE(times);
  EXPECT_DOUBLE_EQ(times->vcpus[0].ran, 1);
  EXPECT_DOUBLE_EQ(times->vcpus[1].ran, 2);
  EXPECT_DOUBLE_EQ(times->vcpus[1].waited, 0.5);
  EXPECT_NEAR(times->up, 223.5 - 12300.0 / static_cast<double>(::sysconf(_SC_CLK_TCK)), 1e-9);
  // Another process with the same number is not this one.
  write(process / "stat", "77 (qemu) S 1 1 1 0 -1 4194560 1 1 1 1 1 1 1 1 20 0 5 0 99999 1 1\n");
  EXPECT_FALSE(counters->read());
}

}  // namespace
