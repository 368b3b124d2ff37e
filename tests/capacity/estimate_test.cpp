// SPDX-License-Identifier: Apache-2.0
// Estimates on made-up trees whose counters move as we want: who would get how much is worked out by hand.
#include <gtest/gtest.h>

#include <cerrno>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "recorded_tree.hpp"

namespace {

using sukima_test::mount_line;
using sukima_test::recorded_tree;

struct estimator_deleter {
  void operator()(sukima_capacity_estimator* one) const { sukima_capacity_estimator_close(one); }
};

/// A machine whose groups and threads use CPU at constant rates.
class world {
 public:
  explicit world(const std::string& cpus) {
    tree_.machine(cpus, cpus).file("/proc/self/cgroup", "0::/ours\n");
    tree_.file("/proc/self/mountinfo", mount_line("/", "/sys/fs/cgroup", "cgroup2", "rw"));
    tree_.file("/sys/fs/cgroup/cgroup.procs", "").file("/sys/fs/cgroup/cgroup.threads", "");
    count_ = static_cast<int>(std::stoi(cpus.substr(cpus.find('-') + 1))) + 1;
    group("", "", "");
  }

  world& group(const std::string& path, const std::string& weight, const std::string& quota) {
    const std::string folder = "/sys/fs/cgroup" + path;
    tree_.file(folder + "/cgroup.procs", "").file(folder + "/cgroup.threads", "");
    if (!path.empty()) {
      tree_.file(folder + "/cgroup.events", "populated 1\n");
      tree_.file(folder + "/cpu.weight", weight + "\n").file(folder + "/cpu.max", quota + "\n");
    }
    use_[path] = 0;
    return *this;
  }

  /// A group uses so many CPUs, those below included; the root's use is given as the group "".
  world& uses(const std::string& path, double cpus, double throttled = 0) {
    use_[path] = cpus;
    throttled_[path] = throttled;
    return *this;
  }

  /// One of our threads runs and waits for these parts of the time.
  world& own_thread(int number, double run, double wait) {
    own_[number] = {run, wait};
    return *this;
  }

  /// A thread of somebody else that is listed in a group.
  world& foreign_thread(const std::string& path, int number, double run, double wait, int nice = 0) {
    foreign_[number] = {run, wait};
    listed_[path] += std::to_string(number) + "\n";
    tree_.file("/sys/fs/cgroup" + path + "/cgroup.threads", listed_[path]);
    tree_.file(
        "/proc/" + std::to_string(number) + "/stat",
        std::to_string(number) + " (hog) R 1 1 1 0 -1 4194304 1 2 3 4 5 6 7 8 20 " + std::to_string(nice) +
            " 1 0 99 1000000 200 18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 1 0 0 0 0 0 0 0 0 0 0 0 0 "
            "0\n");
    return *this;
  }

  world& steals(double part) {
    stolen_ = part;
    return *this;
  }
  world& runs(int threads) {
    running_ = threads;
    return *this;
  }

  recorded_tree& tree() { return tree_; }

  /// Ten samples a second.
  void run(double seconds) {
    if (!estimator_) {
      write();
      sukima_capacity_options options = tree_.options();
      estimator_.reset(sukima_capacity_estimator_open(&options));
      ASSERT_NE(estimator_, nullptr);
    }
    for (int i = 0; i < std::lround(seconds * 10); i++) {
      write();
      sukima_capacity_estimator_sample(estimator_.get(),
                                       1000000000000 + static_cast<std::uint64_t>(std::llround(time_ * 1e9)));
      time_ += 0.1;
    }
  }

  sukima_capacity_estimate usable(double threads) {
    sukima_capacity_estimate result{};
    sukima_capacity_estimator_usable(estimator_.get(), threads, &result);
    return result;
  }
  sukima_capacity_load load() {
    sukima_capacity_load result{};
    sukima_capacity_estimator_load(estimator_.get(), &result);
    return result;
  }
  sukima_capacity_estimator* estimator() { return estimator_.get(); }

 private:
  struct rates {
    double run = 0;
    double wait = 0;
  };

  static std::string nanoseconds(double seconds) { return std::to_string(std::llround(seconds * 1e9)); }

  std::string schedstat(const rates& of) const {
    return nanoseconds(of.run * time_) + " " + nanoseconds(of.wait * time_) + " " +
           std::to_string(std::llround(time_ * 100)) + "\n";
  }

  void write() {
    for (const auto& [path, cpus] : use_) {
      tree_.file("/sys/fs/cgroup" + path + "/cpu.stat",
                 "usage_usec " + std::to_string(std::llround(cpus * time_ * 1e6)) + "\nuser_usec 0\n" +
                     "nr_throttled 1\nthrottled_usec " +
                     std::to_string(std::llround(throttled_[path] * time_ * 1e6)) + "\n");
    }
    for (const auto& [number, of] : own_) {
      tree_.file("/proc/self/task/" + std::to_string(number) + "/schedstat", schedstat(of));
    }
    for (const auto& [number, of] : foreign_) {
      tree_.file("/proc/" + std::to_string(number) + "/schedstat", schedstat(of));
    }
    const double busy = use_[""] * time_ * 100;
    const double stolen = busy / (1 - stolen_) * stolen_;
    const double idle = count_ * time_ * 100 - busy - stolen;
    tree_.file("/proc/stat", "cpu  " + std::to_string(std::llround(busy)) + " 0 0 " +
                                 std::to_string(std::llround(idle)) + " 0 0 0 " +
                                 std::to_string(std::llround(stolen)) + " 0 0\n");
    tree_.file("/proc/loadavg", "0.5 0.6 0.7 " + std::to_string(running_ + 1) + "/300 4711\n");
  }

  recorded_tree tree_;
  std::map<std::string, double> use_;
  std::map<std::string, double> throttled_;
  std::map<int, rates> own_;
  std::map<int, rates> foreign_;
  std::map<std::string, std::string> listed_;
  double stolen_ = 0;
  int running_ = 0;
  int count_ = 1;
  double time_ = 0;
  std::unique_ptr<sukima_capacity_estimator, estimator_deleter> estimator_;
};

TEST(estimate, facts_are_the_answer_before_anything_is_measured) {
  world here("0-3");
  here.group("/ours", "100", "150000 100000").run(0.1);
  const sukima_capacity_estimate all = here.usable(0);
  EXPECT_EQ(all.threads, 4);
  EXPECT_EQ(all.usable, 1.5);
  EXPECT_EQ(all.low, 0);
  EXPECT_EQ(all.high, 1.5);
  EXPECT_EQ(all.basis, SUKIMA_CAPACITY_BASIS_FACTS);
  EXPECT_EQ(here.usable(1).usable, 1);
}

TEST(estimate, alone_everything_is_usable) {
  world here("0-3");
  here.group("/ours", "100", "max 100000").run(1);
  EXPECT_NEAR(here.usable(4).usable, 4, 0.01);
  EXPECT_NEAR(here.usable(1).usable, 1, 0.01);
  EXPECT_EQ(here.usable(8).usable, 4);
  EXPECT_EQ(here.usable(2).basis, SUKIMA_CAPACITY_BASIS_TREE);
}

// Two hogs in one group, on two CPUs: the groups share by halves.
TEST(estimate, a_program_that_has_not_started_beside_one_busy_group) {
  world here("0-1");
  here.group("/ours", "100", "max 100000").group("/hogs", "100", "max 100000");
  here.uses("/hogs", 2).uses("", 2).run(1);
  EXPECT_NEAR(here.usable(1).usable, 1, 0.01);
  EXPECT_NEAR(here.usable(2).usable, 1, 0.01);
  EXPECT_NEAR(here.usable(8).usable, 1, 0.01);
  EXPECT_EQ(here.load().neighbours, 1u);
}

TEST(estimate, weights_of_groups_count) {
  world here("0-1");
  here.group("/ours", "100", "max 100000").group("/hogs", "400", "max 100000");
  here.uses("/hogs", 2).uses("", 2).run(1);
  EXPECT_NEAR(here.usable(2).usable, 0.4, 0.01);
  here.group("/ours", "400", "max 100000").group("/hogs", "100", "max 100000").uses("/hogs", 2).run(1);
  EXPECT_NEAR(here.usable(2).usable, 1.6, 0.01);
}

TEST(estimate, hogs_in_groups_of_their_own_take_a_share_each) {
  world here("0-1");
  here.group("/ours", "100", "max 100000");
  for (const char* name : {"/one", "/two"}) here.group(name, "100", "max 100000").uses(name, 1);
  here.uses("", 2).run(1);
  EXPECT_NEAR(here.usable(2).usable, 2.0 / 3, 0.01);
}

TEST(estimate, a_neighbour_that_wants_little_keeps_only_that) {
  world here("0-1");
  here.group("/ours", "100", "max 100000").group("/little", "100", "max 100000");
  here.uses("/little", 0.25).uses("", 0.25).run(1);
  EXPECT_NEAR(here.usable(2).usable, 1.75, 0.01);
  EXPECT_NEAR(here.usable(1).usable, 1, 0.01);
}

TEST(estimate, threads_of_others_in_the_same_group_count_one_by_one) {
  world here("0-1");
  here.group("/ours", "100", "max 100000").uses("/ours", 2).uses("", 2);
  here.foreign_thread("/ours", 501, 1, 0).foreign_thread("/ours", 502, 1, 0).run(2);
  EXPECT_NEAR(here.usable(1).usable, 2.0 / 3, 0.01);
  EXPECT_NEAR(here.usable(2).usable, 1, 0.01);
  EXPECT_NEAR(here.usable(4).usable, 4.0 / 3, 0.01);
}

TEST(estimate, nice_threads_leave_more) {
  world here("0-1");
  here.group("/ours", "100", "max 100000").uses("/ours", 2).uses("", 2);
  here.foreign_thread("/ours", 501, 1, 0, 19).foreign_thread("/ours", 502, 1, 0, 19).run(2);
  EXPECT_NEAR(here.usable(2).usable, 2 * 1 / (1 + 15 / 1024.0), 0.01);
}

TEST(estimate, fewer_threads_leave_room_for_neighbours_that_wait) {
  world here("0-1");
  // Four of ours and two hogs in one group on two CPUs: everyone gets a third and waits for the rest.
  here.group("/ours", "100", "max 100000").uses("/ours", 2).uses("", 2);
  for (int i = 0; i < 4; i++) here.own_thread(4711 + i, 1.0 / 3, 2.0 / 3);
  here.foreign_thread("/ours", 501, 1.0 / 3, 2.0 / 3).foreign_thread("/ours", 502, 1.0 / 3, 2.0 / 3).run(2);
  EXPECT_NEAR(here.load().now, 4.0 / 3, 0.01);
  EXPECT_NEAR(here.load().wanted, 4, 0.01);
  EXPECT_NEAR(here.usable(1).usable, 2.0 / 3, 0.01);
  EXPECT_NEAR(here.usable(2).usable, 1, 0.01);
  EXPECT_NEAR(here.usable(8).usable, 1.6, 0.01);
}

TEST(estimate, a_quota_above_both_is_shared) {
  world here("0-1");
  here.tree().file("/proc/self/cgroup", "0::/pod/ours\n");
  here.group("/pod", "100", "100000 100000").group("/pod/ours", "100", "max 100000");
  here.group("/pod/hogs", "100", "max 100000");
  here.uses("/pod/hogs", 1, 1).uses("/pod", 1, 1).uses("", 1).run(1);
  EXPECT_NEAR(here.usable(2).usable, 0.5, 0.01);
  EXPECT_NEAR(here.usable(1).usable, 0.5, 0.01);
}

TEST(estimate, waiting_for_the_next_period_is_not_waiting_for_others) {
  world here("0-1");
  // Two threads under a quota of half a CPU run a quarter of the time each; the kernel counts the throttled
  // time of both CPUs.
  here.group("/ours", "100", "50000 100000").uses("/ours", 0.5, 1.5).uses("", 0.5);
  here.own_thread(4711, 0.25, 0.75).own_thread(4712, 0.25, 0.75).run(1);
  const sukima_capacity_load load = here.load();
  EXPECT_NEAR(load.throttled, 0.75, 0.01);
  EXPECT_NEAR(load.waiting, 0, 0.01);
  EXPECT_NEAR(load.wanted, 2, 0.01);
  EXPECT_NEAR(here.usable(2).usable, 0.5, 0.01);
}

TEST(estimate, steal_takes_from_everybody) {
  world here("0-1");
  here.group("/ours", "100", "max 100000").uses("/ours", 1.5).uses("", 1.5).steals(0.25);
  here.own_thread(4711, 0.75, 0).own_thread(4712, 0.75, 0).run(3);
  EXPECT_NEAR(here.load().stolen, 0.25, 0.01);
  EXPECT_NEAR(here.usable(2).usable, 1.5, 0.03);
  EXPECT_NEAR(here.usable(1).usable, 0.75, 0.02);
}

TEST(estimate, gaps_that_a_probe_found_count_as_taken) {
  world here("0-1");
  here.group("/ours", "100", "max 100000").uses("/ours", 2).uses("", 2);
  here.own_thread(4711, 1, 0).own_thread(4712, 1, 0).run(2);
  ASSERT_NEAR(here.usable(2).usable, 2, 0.01);
  sukima_capacity_estimator_found_gaps(here.estimator(), 0.7);
  sukima_capacity_estimator_found_gaps(here.estimator(), 0.5);
  for (const double refused : {-0.1, 1.1, std::nan("")})
    sukima_capacity_estimator_found_gaps(here.estimator(), refused);
  here.run(1);
  EXPECT_NEAR(here.load().stolen, 0.6, 1e-9);
  EXPECT_NEAR(here.usable(2).usable, 0.8, 0.01);
  EXPECT_NEAR(here.usable(1).usable, 0.4, 0.01);
  EXPECT_NEAR(here.load().now, 0.8, 0.01) << "the kernel has booked 2";
  here.run(31);
  EXPECT_EQ(here.load().stolen, 0) << "that was half a minute ago";
  EXPECT_NEAR(here.usable(2).usable, 2, 0.01);
}

TEST(estimate, gaps_that_are_steal_time_are_taken_once) {
  world here("0-1");
  here.group("/ours", "100", "max 100000").uses("/ours", 1.5).uses("", 1.5).steals(0.25);
  here.own_thread(4711, 0.75, 0).own_thread(4712, 0.75, 0).run(3);
  sukima_capacity_estimator_found_gaps(here.estimator(), 0.24);
  here.run(1);
  EXPECT_NEAR(here.load().stolen, 0.25, 0.01);
  EXPECT_NEAR(here.load().now, 1.5, 0.02);
}

TEST(estimate, clocks_that_run_on_while_others_have_the_cpu_are_corrected) {
  world all_busy("0-1");
  all_busy.group("/ours", "100", "max 100000").uses("/ours", 2).uses("", 1.5).steals(0.25);
  all_busy.own_thread(4711, 1, 0).own_thread(4712, 1, 0).run(3);
  EXPECT_NEAR(all_busy.load().now, 1.5, 0.02);
  world one_busy("0-1");
  one_busy.group("/ours", "100", "max 100000").uses("/ours", 1).uses("", 0.75).steals(0.25);
  one_busy.own_thread(4711, 1, 0).run(3);
  EXPECT_NEAR(one_busy.load().now, 0.75, 0.02);
}

TEST(estimate, the_hosts_word_limits_the_whole_machine) {
  world here("0-3");
  here.group("/ours", "100", "max 100000");
  here.tree().file("/run/sukima/host", "sukima-host 1\nusable 1.5\nvalid 3600\nend\n");
  here.run(1);
  EXPECT_EQ(here.load().host_cpus, 1.5);
  EXPECT_NEAR(here.usable(4).usable, 1.5, 0.01);
  EXPECT_EQ(here.usable(4).basis, SUKIMA_CAPACITY_BASIS_HOST);
  here.tree().remove("/run/sukima/host");
  here.run(1);
  EXPECT_TRUE(std::isnan(here.load().host_cpus));
  EXPECT_NEAR(here.usable(4).usable, 4, 0.01);
}

TEST(estimate, the_users_word_wins) {
  world here("0-3");
  here.group("/ours", "100", "max 100000");
  sukima_capacity_options options = here.tree().options();
  options.override_text = "2.5";
  const std::unique_ptr<sukima_capacity_estimator, estimator_deleter> estimator(
      sukima_capacity_estimator_open(&options));
  sukima_capacity_estimate result{};
  sukima_capacity_estimator_usable(estimator.get(), 0, &result);
  EXPECT_EQ(result.usable, 2.5);
  EXPECT_EQ(result.low, 2.5);
  EXPECT_EQ(result.basis, SUKIMA_CAPACITY_BASIS_OVERRIDE);
  sukima_capacity_estimator_usable(estimator.get(), 1, &result);
  EXPECT_EQ(result.usable, 1);
}

/// A container: its own group is all that it sees.
void hide_the_tree(world& here) {
  here.tree().file("/proc/self/cgroup", "0::/\n");
  here.tree().file("/sys/fs/cgroup/cgroup.events", "populated 1\n");
  here.tree().file("/sys/fs/cgroup/cpu.max", "max 100000\n").file("/sys/fs/cgroup/cpu.weight", "100\n");
}

TEST(estimate, blind_an_idle_program_gets_an_interval) {
  world here("0-1");
  hide_the_tree(here);
  here.uses("", 2).runs(2).run(3);
  const sukima_capacity_estimate two = here.usable(2);
  EXPECT_EQ(two.basis, SUKIMA_CAPACITY_BASIS_BLIND);
  EXPECT_LE(two.low, two.usable);
  EXPECT_LE(two.usable, two.high);
  EXPECT_NEAR(two.usable, 1, 0.02);
  EXPECT_EQ(two.high, 2);
  EXPECT_EQ(here.load().tree_visible, 0u);
}

TEST(estimate, blind_a_trial_gives_a_number) {
  world here("0-1");
  hide_the_tree(here);
  here.own_thread(4711, 1, 0).uses("", 1).runs(3).run(3);
  EXPECT_EQ(sukima_capacity_estimator_trial_end(here.estimator(), nullptr), EINVAL);
  EXPECT_EQ(here.usable(2).basis, SUKIMA_CAPACITY_BASIS_BLIND);
  EXPECT_NEAR(here.usable(2).low, 0.95, 0.01);
  EXPECT_EQ(here.usable(2).high, 2);
  sukima_capacity_estimator_trial_begin(here.estimator(), 2);
  here.run(0.1);
  EXPECT_EQ(sukima_capacity_estimator_trial_end(here.estimator(), nullptr), EAGAIN);
  here.run(0.4);
  sukima_capacity_estimate two{};
  EXPECT_EQ(sukima_capacity_estimator_trial_end(here.estimator(), &two), 0);
  EXPECT_EQ(two.basis, SUKIMA_CAPACITY_BASIS_TRIAL);
  EXPECT_NEAR(two.usable, 1, 0.02);
  EXPECT_LE(here.usable(4).high, 2);
  here.run(11);  // too old
  EXPECT_EQ(here.usable(2).basis, SUKIMA_CAPACITY_BASIS_BLIND);
}

TEST(estimate, a_program_that_blocks_often_is_told_to_measure_its_progress) {
  world here("0-1");
  here.group("/ours", "100", "max 100000").uses("/ours", 0.2).uses("", 0.2);
  here.own_thread(4711, 0.1, 0).own_thread(4712, 0.1, 0).run(1);  // 100 times a second a millisecond
  EXPECT_NEAR(here.load().slice_seconds, 0.001, 1e-5);
  EXPECT_EQ(here.usable(2).basis, SUKIMA_CAPACITY_BASIS_PROGRESS);
}

TEST(estimate, reasons_are_told) {
  world here("0-1");
  here.group("/ours", "100", "max 100000").group("/hogs", "200", "max 100000");
  here.uses("/hogs", 1.5).uses("", 1.5).run(1);
  const sukima_test::report_pointer report(sukima_capacity_estimator_explain(here.estimator()));
  ASSERT_NE(report, nullptr);
  std::string texts;
  for (std::size_t i = 0; i < report->limit_count; i++) {
    texts +=
        std::string(sukima_capacity_kind_name(report->limits[i].kind)) + ": " + report->limits[i].text + "\n";
  }
  EXPECT_NE(texts.find("neighbour: the group 'hogs' beside its own uses 1.5 CPUs with weight 2\n"),
            std::string::npos)
      << texts;
  EXPECT_NE(texts.find("online: "), std::string::npos);
}

}  // namespace
