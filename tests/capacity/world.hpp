// SPDX-License-Identifier: Apache-2.0
// A made-up machine with counters that a test controls, and an estimator that reads them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "recorded_tree.hpp"

namespace sukima_test {

struct estimator_deleter {
  void operator()(sukima_capacity_estimator* one) const { sukima_capacity_estimator_close(one); }
};

/// A machine whose groups and threads use CPU at constant rates.
class world {
 public:
  explicit world(const std::string& cpus, const std::string& allowed = "") {
    tree_.machine(cpus, allowed.empty() ? cpus : allowed).file("/proc/self/cgroup", "0::/ours\n");
    tree_.file("/proc/self/mountinfo", mount_line("/", "/sys/fs/cgroup", "cgroup2", "rw"));
    tree_.file("/sys/fs/cgroup/cgroup.procs", "").file("/sys/fs/cgroup/cgroup.threads", "");
    count_ = static_cast<int>(std::stoi(cpus.substr(cpus.find('-') + 1))) + 1;
    group("", "", "");
  }

  /// The use of this group also comes and goes.
  world& with_use_of(const std::string& path) {
    moving_.insert(path);
    return *this;
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

  /// Sets the number of CPUs that a group uses, including the groups below it. The root's use is that of the
  /// group "".
  world& uses(const std::string& path, double cpus, double throttled = 0) {
    use_[path] = cpus;
    throttled_[path] = throttled;
    return *this;
  }

  /// Sets the use of the whole machine, if the highest visible group is not the machine's group.
  world& machine_uses(double cpus) {
    machine_ = cpus;
    return *this;
  }

  /// The root group does not report its use; `machine_uses` sets it.
  world& has_silent_root() {
    use_.erase("");
    tree_.file("/sys/fs/cgroup/cpu.stat", "");
    return *this;
  }

  /// Adds a thread of ours that runs and waits for these fractions of the time.
  world& own_thread(int number, double run, double wait) {
    own_[number] = {run, wait};
    return *this;
  }

  /// Adds a thread of another program to a group.
  world& foreign_thread(const std::string& path, int number, double run, double wait, int nice = 0,
                        const std::string& cpus = "") {
    foreign_[number] = {run, wait};
    if (!cpus.empty()) {
      tree_.file("/proc/" + std::to_string(number) + "/status",
                 "Name:\thog\nCpus_allowed_list:\t" + cpus + "\n");
    }
    listed_[path] += std::to_string(number) + "\n";
    tree_.file("/sys/fs/cgroup" + path + "/cgroup.threads", listed_[path]);
    tree_.file(
        "/proc/" + std::to_string(number) + "/stat",
        std::to_string(number) + " (hog) R 1 1 1 0 -1 4194304 1 2 3 4 5 6 7 8 20 " + std::to_string(nice) +
            " 1 0 99 1000000 200 18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 1 0 0 0 0 0 0 0 0 0 0 0 0 "
            "0\n");
    return *this;
  }

  /// Ends a thread of another program, which was added to this group.
  world& end_thread(const std::string& path, int number) {
    foreign_.erase(number);
    const std::string line = std::to_string(number) + "\n";
    std::string& listed = listed_[path];
    listed.erase(listed.find(line), line.size());
    tree_.file("/sys/fs/cgroup" + path + "/cgroup.threads", listed);
    tree_.remove("/proc/" + std::to_string(number));
    return *this;
  }

  /// Removes a group. Its threads go on in another group.
  world& remove_group(const std::string& path) {
    use_.erase(path);
    listed_.erase(path);
    tree_.remove("/sys/fs/cgroup" + path);
    return *this;
  }

  /// Threads of others want CPU only in the first part of each period. Their rates apply to that part.
  world& comes_and_goes(double on_seconds, double off_seconds) {
    on_ = on_seconds;
    period_ = on_seconds + off_seconds;
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

  /// Advances the time, with ten samples per second.
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

  /// Seconds until now in which the threads that come and go wanted CPU.
  double time_on() const {
    if (period_ <= 0) return time_;
    const double whole = std::floor(time_ / period_ + 1e-9);
    return whole * on_ + std::min(on_, time_ - whole * period_);
  }

  static std::string nanoseconds(double seconds) { return std::to_string(std::llround(seconds * 1e9)); }

  std::string schedstat(const rates& of, double time, double slice = 0.01) const {
    const bool wants = of.run > 0 || of.wait > 0;
    return nanoseconds(of.run * time) + " " + nanoseconds(of.wait * time) + " " +
           std::to_string(wants ? std::llround(time / slice) : 0) + "\n";
  }

  void write() {
    for (const auto& [path, cpus] : use_) {
      tree_.file("/sys/fs/cgroup" + path + "/cpu.stat",
                 "usage_usec " +
                     std::to_string(std::llround(cpus * (moving_.contains(path) ? time_on() : time_) * 1e6)) +
                     "\nuser_usec 0\n" + "nr_throttled 1\nthrottled_usec " +
                     std::to_string(std::llround(throttled_[path] * time_ * 1e6)) + "\n");
    }
    // There may be thousands of idle threads, so only files that change are written.
    for (const auto& [number, of] : own_) {
      std::string now = schedstat(of, time_);
      if (std::string& written = written_[number]; written != now) {
        tree_.file("/proc/self/task/" + std::to_string(number) + "/schedstat", now);
        written = std::move(now);
      }
    }
    for (const auto& [number, of] : foreign_) {
      tree_.file("/proc/" + std::to_string(number) + "/schedstat",
                 schedstat(of, time_on(), period_ > 0 ? std::min(on_, 0.1) : 0.01));
    }
    const double busy = (machine_ < 0 ? use_[""] : machine_) * time_ * 100;
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
  std::map<int, std::string> written_;  ///< by thread: the content of its file
  std::map<int, rates> foreign_;
  std::map<std::string, std::string> listed_;
  std::set<std::string> moving_;
  double on_ = 0;
  double period_ = 0;  ///< 0: all threads run at constant rates
  double stolen_ = 0;
  double machine_ = -1;  ///< used as the root's use
  int running_ = 0;
  int count_ = 1;
  double time_ = 0;
  std::unique_ptr<sukima_capacity_estimator, estimator_deleter> estimator_;
};

}  // namespace sukima_test
