// SPDX-License-Identifier: Apache-2.0
// Plain QEMU: recorded dialogues, played over a Unix socket, and threads of a recorded machine or of this
// process.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <host/shared/source.hpp>

#include "../../capacity/recorded_tree.hpp"
#include "deadlines.hpp"
#include "monitor.hpp"
#include "source/qmp_dialogue.hpp"

namespace sukima::host {
namespace {

const std::string recording = std::string(SUKIMA_RECORDED) + "/qmp.txt";

/// A thread of the recorded machine.
void add_thread(sukima_test::recorded_tree& tree, long process, long thread, const std::string& schedstat,
                int cpu, const std::string& begun = "1711807") {
  const std::string stat = std::to_string(thread) +
                           " (CPU 0/TCG) S 13031 13031 24835 0 -1 138412416 5280 0 0 0 194 2 "
                           "0 0 20 0 6 0 " +
                           begun +
                           " 1559711744 11013 18446744073709551615 93984888524800 "
                           "93984894385237 140733623495728 0 0 0 268444224 4100 16451 0 0 0 17 " +
                           std::to_string(cpu) + " 0 0 0 0 0\n";
  const std::string own = "/proc/" + std::to_string(process) + "/task/" + std::to_string(thread);
  tree.file("/proc/" + std::to_string(thread) + "/status",
            "Name:\tCPU 0/TCG\nTgid:\t" + std::to_string(process) + "\nCpus_allowed_list:\t0-1\n");
  tree.file(own + "/schedstat", schedstat).file(own + "/stat", stat);
  tree.file("/proc/" + std::to_string(process) + "/stat", stat);
  // Neither file of this folder may count: the kernel's stat here has sums over the process.
  if (thread != process)
    tree.file("/proc/" + std::to_string(thread) + "/schedstat", "99000000000 99000000000 99\n")
        .file("/proc/" + std::to_string(thread) + "/stat", "1 (x) S\n");
}

class qmp : public testing::Test {
 protected:
  qmp() : player_(tree_.root() + "/monitor", load_answers(recording)) {
    tree_.file("/proc/stat", "cpu 0 0 0 0\ncpu0 100 0 0 500 0 0 0 0 50 0\ncpu1 10 20 30 500 9 1 2 3 0 0\n");
    add_thread(tree_, 13038, 13042, "1930336807 243907754 255\n", 1);
    add_thread(tree_, 13038, 13043, "5455160 17866410 24\n", 0);
    source_ = open_qmp({{tree_.root() + "/monitor"}, false, tree_.root()});
  }

  sukima_test::recorded_tree tree_;
  monitor player_;
  std::unique_ptr<source> source_;
};

void expect_the_recorded(const snapshot& now) {
  ASSERT_EQ(now.vms.size(), 1U) << (now.notes.empty() ? "" : now.notes[0]);
  const observed_vm& one = now.vms[0];
  EXPECT_EQ(one.now.name, "spin");
  EXPECT_EQ(one.now.id, "12345678-1234-1234-1234-123456789abc");
  EXPECT_EQ(one.state, vm_state::running);
  EXPECT_FALSE(one.stale);
  EXPECT_EQ(one.run, "13038 1711807");
  ASSERT_EQ(one.now.vcpus.size(), 4U);
  EXPECT_NEAR(one.now.vcpus[0].ran.value(), 1.930336807, 1e-12);
  EXPECT_NEAR(one.now.vcpus[0].waited.value(), 0.243907754, 1e-12);
  EXPECT_NEAR(one.now.vcpus[1].ran.value(), 0.00545516, 1e-12);
  EXPECT_FALSE(one.now.vcpus[2].online);
  EXPECT_FALSE(one.now.vcpus[3].online);
  EXPECT_EQ(one.last_pcpu[0], 1U);
  EXPECT_EQ(one.last_pcpu[1], 0U);
  EXPECT_TRUE(now.notes.empty());
}

TEST_F(qmp, a_recorded_dialogue_says_what_the_machine_did) {
  for (const auto how : {monitor::manner::good, monitor::manner::in_pieces, monitor::manner::pretty}) {
    player_.behave(how);
    expect_the_recorded(source_->read(far()));
  }
}

TEST_F(qmp, the_host_is_read_beside_it) {
  const snapshot now = source_->read(far());
  ASSERT_EQ(now.pcpus.size(), 2U);
  EXPECT_EQ(now.busy, (std::vector<double>{1, 0.66}));
}

TEST_F(qmp, a_machine_can_be_paused_renamed_or_without_a_name) {
  player_.answer("query-status", {{"return", {{"status", "paused"}, {"running", false}}}});
  EXPECT_EQ(source_->read(far()).vms.at(0).state, vm_state::paused);
  player_.answer("query-name", {{"return", {{"name", "other"}}}});
  EXPECT_EQ(source_->read(far()).vms.at(0).now.name, "other");
  player_.answer("query-name", {{"return", nlohmann::json::object()}});
  player_.answer("query-uuid", {{"return", {{"UUID", "00000000-0000-0000-0000-000000000000"}}}});
  const observed_vm one = source_->read(far()).vms.at(0);
  EXPECT_EQ(one.now.name, "qemu-13038");
  EXPECT_EQ(one.now.id, std::nullopt);
}

TEST_F(qmp, an_unplugged_virtual_cpu_keeps_its_number) {
  player_.answer("query-cpus-fast", nlohmann::json::parse(R"({"return": [
      {"cpu-index": 0, "thread-id": 13042}, {"cpu-index": 2, "thread-id": 13043}]})"));
  const auto plugged = source_->read(far()).vms.at(0).now.vcpus;
  ASSERT_EQ(plugged.size(), 4U);
  for (const std::uint32_t id : {0U, 1U, 2U, 3U}) {
    const auto found = std::ranges::find(plugged, id, &vcpu::id);
    ASSERT_NE(found, plugged.end()) << id;
    EXPECT_EQ(found->online, id % 2 == 0) << id;
  }
}

TEST_F(qmp, a_process_that_came_in_its_place_is_another_run) {
  add_thread(tree_, 13038, 13042, "5 5 5\n", 1, "1999999");
  EXPECT_EQ(source_->read(far()).vms.at(0).run, "13038 1999999");
}

TEST_F(qmp, a_monitor_that_is_late_makes_the_machine_stale) {
  player_.behave(monitor::manner::silent);
  const snapshot never = source_->read(soon());
  EXPECT_TRUE(never.vms.empty());
  EXPECT_NE(never.notes.at(0).find("did not answer in time"), std::string::npos);
  player_.behave(monitor::manner::good);
  EXPECT_FALSE(source_->read(far()).vms.at(0).stale);
  player_.behave(monitor::manner::silent);
  add_thread(tree_, 13038, 13042, "3000000000 243907754 255\n", 1);
  const snapshot late = source_->read(soon());
  EXPECT_TRUE(late.vms.at(0).stale);
  EXPECT_EQ(late.vms[0].now.vcpus[0].ran, 3) << "the counters are the kernel's, and fresh";
}

TEST_F(qmp, a_machine_that_ended_is_gone) {
  EXPECT_EQ(source_->read(far()).vms.size(), 1U);
  tree_.remove("/proc/13042").remove("/proc/13043");
  const snapshot now = source_->read(far());
  EXPECT_TRUE(now.vms.empty());
  EXPECT_NE(now.notes.at(0).find("has ended"), std::string::npos);
}

TEST_F(qmp, a_socket_that_is_not_a_monitor_is_named) {
  for (const auto& [how, sentence] : {std::pair{monitor::manner::broken_off, "closed the connection"},
                                      {monitor::manner::garbage, "does not speak QMP"}}) {
    player_.behave(how);
    const snapshot now = source_->read(far());
    EXPECT_TRUE(now.vms.empty());
    EXPECT_NE(now.notes.at(0).find(sentence), std::string::npos) << now.notes[0];
    EXPECT_NE(now.notes.at(0).find(tree_.root() + "/monitor"), std::string::npos);
  }
  player_.behave(monitor::manner::good);
  player_.answer("query-cpus-fast", {{"error", {{"desc", "not now"}}}});
  EXPECT_NE(source_->read(far()).notes.at(0).find("it refuses query-cpus-fast: not now"), std::string::npos);
  const auto elsewhere = open_qmp({{tree_.root() + "/nonesuch", std::string(200, 'x')}, false, tree_.root()});
  const snapshot none = elsewhere->read(far());
  EXPECT_NE(none.notes.at(0).find("is not the socket of a running machine"), std::string::npos);
  EXPECT_NE(none.notes.at(1).find("longer than the kernel allows"), std::string::npos);
}

TEST_F(qmp, alone_in_its_control_group_a_machine_has_the_groups_weight) {
  EXPECT_EQ(source_->read(far()).vms.at(0).now.weight_of, weight_owner::vcpu);
  tree_.file("/proc/self/mountinfo", "31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n")
      .file("/sys/fs/cgroup/cgroup.controllers", "cpuset cpu\n")
      .file("/proc/13038/cgroup", "0::/vm.scope\n")
      .file("/sys/fs/cgroup/vm.scope/cgroup.procs", "13038\n")
      .file("/sys/fs/cgroup/vm.scope/cpu.weight", "200\n")
      .file("/sys/fs/cgroup/vm.scope/cpu.max", "150000 100000\n")
      .file("/sys/fs/cgroup/vm.scope/cpu.stat", "usage_usec 2000000\nthrottled_usec 500000\n");
  const auto again = open_qmp({{tree_.root() + "/monitor"}, false, tree_.root()});
  const observed_vm alone = again->read(far()).vms.at(0);
  EXPECT_EQ(alone.now.weight_of, weight_owner::vm);
  EXPECT_EQ(alone.now.weight, 512);
  EXPECT_EQ(alone.now.cap, 1.5);
  EXPECT_EQ(alone.throttled, 0.5);
  tree_.file("/sys/fs/cgroup/vm.scope/cgroup.procs", "13038\n99\n");
  const observed_vm beside = again->read(far()).vms.at(0);
  EXPECT_EQ(beside.now.weight_of, weight_owner::vcpu);
  EXPECT_EQ(beside.now.weight, 256);
}

TEST_F(qmp, sockets_are_found_by_command_lines) {
  const std::string zero(1, '\0');
  tree_
      .file("/proc/13038/cmdline", "/usr/bin/qemu-system-x86_64" + zero + "-qmp" + zero +
                                       "unix:" + tree_.root() + "/monitor,server=on,wait=off" + zero)
      .file("/proc/77/cmdline", "qemu-system-aarch64" + zero + "-m" + zero + "64" + zero)
      .file("/proc/78/cmdline", "bash" + zero);
  const snapshot now = open_qmp({{}, true, tree_.root()})->read(far());
  ASSERT_EQ(now.vms.size(), 1U);
  EXPECT_EQ(now.vms[0].now.name, "spin");
  ASSERT_EQ(now.notes.size(), 1U);
  EXPECT_NE(now.notes[0].find("the QEMU process 77 has no QMP socket"), std::string::npos);
}

/// Threads of this process that stand for virtual CPUs.
class standing_threads {
 public:
  standing_threads() {
    for (long& thread : ids) threads_.emplace_back([&thread, this] { stand(thread); });
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return ids[0] != 0 && ids[1] != 0; });
  }
  ~standing_threads() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    changed_.notify_all();
    for (std::thread& one : threads_) one.join();
  }
  long ids[2] = {0, 0};

 private:
  void stand(long& id) {
    std::unique_lock lock(mutex_);
    id = gettid();
    changed_.notify_all();
    changed_.wait(lock, [&] { return stop_; });
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stop_ = false;
  std::vector<std::thread> threads_;
};

TEST_F(qmp, threads_of_the_running_machine_are_read) {
  const standing_threads threads;
  const auto vcpus = [](long first, long second) {
    return nlohmann::json{
        {"return", {{{"cpu-index", 0}, {"thread-id", first}}, {{"cpu-index", 1}, {"thread-id", second}}}}};
  };
  player_.answer("query-cpus-fast", vcpus(threads.ids[0], threads.ids[1]));
  const auto here = open_qmp({{tree_.root() + "/monitor"}, false, ""});
  const snapshot now = here->read(far());
  ASSERT_EQ(now.vms.size(), 1U) << (now.notes.empty() ? "" : now.notes[0]);
  EXPECT_GT(now.vms[0].now.vcpus[0].ran.value(), 0);
  EXPECT_EQ(now.vms[0].run.substr(0, now.vms[0].run.find(' ')), std::to_string(getpid()));
  // Numbers of another PID namespace are other processes' here, whatever they did.
  player_.answer("query-cpus-fast", vcpus(1, 1));
  player_.answer("query-cpus-fast", {{"return", {{{"cpu-index", 0}, {"thread-id", 1}}}}});
  const snapshot foreign = here->read(far());
  EXPECT_TRUE(foreign.vms.empty());
  EXPECT_NE(foreign.notes.at(0).find("another PID namespace"), std::string::npos);
}

TEST(qmp_dialogue, ends_with_a_sentence_whatever_is_said) {
  const std::string greeting = R"({"QMP": {}})";
  for (const std::string& said :
       {std::string("}"), std::string("[]"), std::string("{\"x\":1}"),
        greeting + R"({"id": "query-cpus-fast", "return": 7})",
        greeting + R"({"id": "query-cpus-fast", "return": [{"cpu-index": -1, "thread-id": 5}]})",
        greeting + R"({"id": "query-cpus-fast", "return": [{"cpu-index": 0, "thread-id": 0}]})",
        greeting + R"({"id": "query-cpus-fast", "return": [{"cpu-index": 0, "thread-id": 5},)"
                   R"({"cpu-index": 0, "thread-id": 6}]})",
        greeting + R"({"id": "qmp_capabilities", "error": {"desc": "no"}})", greeting + "{\"a\": tru}"}) {
    qmp_dialogue one;
    one.receive(said);
    EXPECT_TRUE(one.ended()) << said;
    EXPECT_FALSE(one.failure().empty()) << said;
  }
}

TEST(qmp_dialogue, answers_to_others_and_repeated_ones_count_nothing) {
  qmp_dialogue one;
  one.receive(R"({"QMP": {}} {"return": {}} {"id": 7, "return": {}} {"id": "somebody's", "return": {}})");
  for (int i = 0; i < 10; ++i) one.receive(R"({"id": "query-name", "return": {"name": "a \"}{\" b"}})");
  EXPECT_FALSE(one.ended());
  for (const char* id : {"qmp_capabilities", "query-uuid", "query-status", "query-hotpluggable-cpus"})
    one.receive(std::string(R"({"id": ")") + id + R"(", "error": {"desc": "CommandNotFound"}})");
  EXPECT_TRUE(one.ended()) << "it must not be used without its capabilities";
  EXPECT_FALSE(one.failure().empty());
}

TEST(qmp_dialogue, an_old_version_need_not_know_all_questions) {
  qmp_dialogue one;
  one.receive(R"({"QMP": {}} {"id": "qmp_capabilities", "return": {}})");
  for (const char* id : {"query-name", "query-uuid", "query-status", "query-hotpluggable-cpus"})
    one.receive(std::string(R"({"id": ")") + id + R"(", "error": {"desc": "CommandNotFound"}})");
  one.receive(R"({"id": "query-cpus-fast", "return": [{"cpu-index": 3, "thread-id": 5}, )"
              R"({"cpu-index": 1, "thread-id": 6}]})");
  ASSERT_TRUE(one.ended());
  EXPECT_EQ(one.failure(), "");
  EXPECT_EQ(one.machine().vcpus.at(0).id, 1U);
  EXPECT_EQ(one.machine().vcpus.at(1).thread, 5);
  EXPECT_TRUE(one.machine().running);
}

}  // namespace
}  // namespace sukima::host
