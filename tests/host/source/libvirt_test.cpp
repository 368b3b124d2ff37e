// SPDX-License-Identifier: Apache-2.0
// libvirt as a source, with recorded answers instead of the library: deadlines, domains that are busy,
// failures.
#include "source/libvirt.hpp"

#include <gtest/gtest.h>

#include <condition_variable>
#include <fstream>
#include <mutex>

#include "../../capacity/recorded_tree.hpp"
#include "deadlines.hpp"

namespace sukima::host {
namespace {

/// What the calls answer; they can be made to hang.
class desk {
 public:
  void put(const std::string& text) {
    const std::lock_guard lock(mutex_);
    text_ = text;
  }
  void hang(bool hangs) {
    {
      const std::lock_guard lock(mutex_);
      hangs_ = hangs;
    }
    changed_.notify_all();
  }
  std::string take() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !hangs_; });
    ++taken_;
    changed_.notify_all();
    return text_;
  }
  void wait_for_a_call() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return taken_ > 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string text_;
  bool hangs_ = false;
  int taken_ = 0;
};

class recorded_calls final : public libvirt_calls {
 public:
  explicit recorded_calls(std::shared_ptr<desk> from) : desk_(std::move(from)) {}
  libvirt_answer read() override {
    const std::string text = desk_->take();
    if (text == "fail") throw source_error("libvirt cannot be reached");
    libvirt_answer answer;
    answer.domains = parse_domains(text);
    answer.read_at = ++readings_;
    return answer;
  }

 private:
  std::shared_ptr<desk> desk_;
  double readings_ = 0;
};

class libvirt : public testing::Test {
 protected:
  libvirt() {
    tree_.file("/proc/stat", "cpu0 100 0 0 500\n");
    source_ = make_libvirt_source(std::make_unique<recorded_calls>(desk_), tree_.root());
  }

  sukima_test::recorded_tree tree_;
  std::shared_ptr<desk> desk_ = std::make_shared<desk>();
  std::unique_ptr<source> source_;
};

const std::string running =
    "Domain: 'a'\n  state.state=1\n  vcpu.current=1\n  vcpu.0.state=1\n  vcpu.0.time=5000000000\n";
const std::string identity = "UUID : u-1\n";

TEST_F(libvirt, says_what_its_domains_did) {
  desk_->put(running + identity);
  const snapshot now = source_->read(far());
  ASSERT_EQ(now.vms.size(), 1U);
  EXPECT_EQ(now.vms[0].now.vcpus[0].ran, 5);
  EXPECT_EQ(now.vms[0].read_at, 1);
  EXPECT_FALSE(now.vms[0].stale);
  EXPECT_EQ(now.pcpus.size(), 1U);
  EXPECT_EQ(now.busy, std::vector<double>{1});
}

TEST_F(libvirt, that_hangs_does_not_hold_up_a_reading) {
  desk_->put(running + identity);
  desk_->hang(true);
  EXPECT_THROW(source_->read(soon()), source_error);
  desk_->hang(false);
  EXPECT_FALSE(source_->read(far()).vms.at(0).stale);
  desk_->hang(true);
  const snapshot late = source_->read(soon());
  EXPECT_TRUE(late.vms.at(0).stale);
  EXPECT_EQ(late.vms[0].now.vcpus[0].ran, 5);
  EXPECT_NE(late.notes.at(0).find("did not answer in time"), std::string::npos);
  desk_->hang(false);
  EXPECT_FALSE(source_->read(far()).vms.at(0).stale);
}

TEST_F(libvirt, that_answers_between_two_readings_is_read_at_the_next_one) {
  desk_->put(running + identity);
  desk_->hang(true);
  EXPECT_THROW(source_->read(soon()), source_error);
  desk_->hang(false);
  desk_->wait_for_a_call();
  EXPECT_EQ(source_->read(far()).vms.at(0).read_at, 1)
      << "the first call has answered; no second one is made";
}

TEST_F(libvirt, that_hangs_does_not_hold_up_the_end) {
  desk_->hang(true);
  EXPECT_THROW(source_->read(soon()), source_error);
  source_.reset();
  desk_->hang(false);
}

TEST_F(libvirt, a_domain_that_it_would_have_to_wait_for_is_stale) {
  desk_->put(running + identity);
  source_->read(far());
  // Another client works on it: its counters are left out.
  desk_->put("Domain: 'b'\n  state.state=1\n" + identity);
  const observed_vm one = source_->read(far()).vms.at(0);
  EXPECT_TRUE(one.stale);
  EXPECT_EQ(one.now.vcpus.at(0).ran, 5);
  EXPECT_EQ(one.read_at, 1);
  EXPECT_EQ(one.now.name, "b") << "it may have been renamed since";
  desk_->put(running + identity);
  EXPECT_FALSE(source_->read(far()).vms.at(0).stale);
}

TEST_F(libvirt, a_domain_that_was_shut_off_is_gone) {
  desk_->put(running + identity);
  source_->read(far());
  desk_->put("Domain: 'a'\n  state.state=5\n" + identity);
  EXPECT_TRUE(source_->read(far()).vms.empty());
  desk_->put("");
  EXPECT_TRUE(source_->read(far()).vms.empty());
}

TEST_F(libvirt, that_fails_may_come_back) {
  desk_->put("fail");
  EXPECT_THROW(source_->read(far()), source_error);
  desk_->put(running);
  EXPECT_EQ(source_->read(far()).vms.size(), 1U);
}

TEST_F(libvirt, that_starts_anew_does_not_end_its_machines) {
  desk_->put(running + identity);
  source_->read(far());
  desk_->put("fail");
  const snapshot away = source_->read(far());
  ASSERT_EQ(away.vms.size(), 1U);
  EXPECT_TRUE(away.vms[0].stale);
  EXPECT_EQ(away.vms[0].read_at, 1);
  EXPECT_EQ(away.notes,
            std::vector<std::string>{"libvirt cannot be reached; its machines are shown as they were"});
  desk_->put(running + identity);
  EXPECT_FALSE(source_->read(far()).vms.at(0).stale);
}

TEST_F(libvirt, the_weight_depends_on_the_version_of_control_groups) {
  desk_->put(running + "Scheduler : posix\ncpu_shares : 1024\n");
  EXPECT_EQ(source_->read(far()).vms.at(0).now.weight, 256);
  tree_.file("/proc/self/mountinfo", "31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n")
      .file("/sys/fs/cgroup/cgroup.controllers", "cpuset cpu\n");
  source_ = make_libvirt_source(std::make_unique<recorded_calls>(desk_), tree_.root());
  EXPECT_EQ(source_->read(far()).vms.at(0).now.weight, 2621.44);
}

TEST_F(libvirt, a_file_of_virsh_takes_its_place) {
  tree_.file("/domains", running);
  const auto file = open_domain_file(tree_.root() + "/domains", tree_.root());
  const snapshot first = file->read(far()), again = file->read(far());
  EXPECT_EQ(first.vms.at(0).read_at, again.vms.at(0).read_at)
      << "counters that are the same are one moment's";
  tree_.file("/domains", "");
  EXPECT_THROW(file->read(far()), source_error);
  EXPECT_THROW(open_domain_file(tree_.root() + "/nonesuch", tree_.root()), source_error);
  // A few lines may claim more virtual CPUs than fit into memory.
  tree_.file("/domains", "Domain: 'a'\n  vcpu.maximum=65536\nDomain: 'b'\n  vcpu.maximum=1\n");
  EXPECT_THROW(file->read(far()), source_error);
}

class fixed_source final : public source {
 public:
  explicit fixed_source(std::vector<observed_vm> vms) : vms_(std::move(vms)) {}
  snapshot read(deadline) override {
    if (vms_.empty()) throw source_error("it is away");
    snapshot result;
    result.pcpus.emplace_back();
    result.vms = vms_;
    return result;
  }
  capabilities can() const override { return {"fixed", true, false, false, false, false}; }

 private:
  std::vector<observed_vm> vms_;
};

TEST(joined_sources, show_each_machine_once_and_go_on_without_one_that_fails) {
  observed_vm one, same, nameless;
  one.now.name = "by libvirt";
  same.now.name = "by its monitor";
  one.now.id = same.now.id = "u-1";
  nameless.now.name = "other";
  std::vector<std::unique_ptr<source>> parts;
  parts.push_back(std::make_unique<fixed_source>(std::vector{one}));
  parts.push_back(std::make_unique<fixed_source>(std::vector{same, nameless}));
  parts.push_back(std::make_unique<fixed_source>(std::vector<observed_vm>{}));
  const auto all = join_sources(std::move(parts));
  const snapshot now = all->read(far());
  ASSERT_EQ(now.vms.size(), 2U);
  EXPECT_EQ(now.vms[0].now.name, "by libvirt");
  EXPECT_EQ(now.vms[1].now.name, "other");
  EXPECT_EQ(now.notes, std::vector<std::string>{"it is away"});
  EXPECT_EQ(all->can().name, "fixed, fixed, fixed");
}

}  // namespace
}  // namespace sukima::host
