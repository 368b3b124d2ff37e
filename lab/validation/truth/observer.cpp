// SPDX-License-Identifier: Apache-2.0
// A process that watches our program with an estimator.
#include "truth/observer.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <system_error>
#include <vector>

#include "truth/load.hpp"

namespace sukima::truth {

namespace {

/// Makes the view of a container: namespaces of its own, with mounts of its own of the hierarchies.
bool narrow(const control_groups& groups, const std::string& group, sight seen) {
  if (seen == sight::all) return true;
  std::vector<int> ways_back;  // the mounts that lead out are covered afterwards
  for (const std::string& mount : groups.mounts()) {
    ways_back.push_back(open((mount + "/cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC));
  }
  if (seen == sight::own_group) groups.place(getpid(), group);
  if (unshare(CLONE_NEWNS | (seen == sight::own_group ? CLONE_NEWCGROUP : 0)) != 0) return false;
  if (mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return false;
  if (seen == sight::no_groups_file) return mount("none", "/sys/fs/cgroup", "tmpfs", 0, nullptr) == 0;
  for (std::size_t i = 0; i < groups.mounts().size(); i++) {
    const std::string& point = groups.mounts()[i];
    const char* type = groups.v2() ? "cgroup2" : "cgroup";
    const char* options = groups.v2() ? nullptr : groups.options()[i].c_str();
    // The same file system cannot be mounted on itself, so the mount of the whole tree is removed first.
    if (umount2(point.c_str(), MNT_DETACH) != 0) return false;
    if (mount("cgroup", point.c_str(), type, 0, options) != 0) return false;
  }
  for (const int way : ways_back) {
    if (way < 0 || write(way, "0", 1) != 1) return false;
    close(way);
  }
  return true;
}

void take_record(notebook& book, sukima_capacity_estimator* estimator, std::uint64_t time_ns) {
  const int count = book.count.load(std::memory_order_relaxed);  // only we change it
  if (count == most_records) return;
  observation& record = book.records[static_cast<std::size_t>(count)];
  sukima_capacity_load load{};
  sukima_capacity_estimator_load(estimator, &load);
  record.time_ns = time_ns;
  record.now = load.now;
  record.now_short = load.now_short;
  book.cost = load.cost;
  for (std::size_t i = 0; i < asked_threads.size(); i++) {
    sukima_capacity_estimator_usable(estimator, asked_threads[i], &record.usable[i]);
  }
  book.count.store(count + 1, std::memory_order_release);
}

[[noreturn]] void observe(notebook& book, pid_t watched, std::uint64_t begin_ns,
                          const experiment_plan& experiment) {
  sukima_capacity_options options{};
  options.pid = watched;
  options.override_text = "";
  sukima_capacity_estimator* estimator = sukima_capacity_estimator_open(&options);
  if (estimator == nullptr) _exit(1);
  book.ready.store(1, std::memory_order_release);
  bool experiment_begun = false;
  bool experiment_ended = experiment.threads == 0;
  for (std::uint64_t next = begin_ns;; next += sampling_ns) {
    sleep_until_ns(next);
    const std::uint64_t now = monotonic_ns();
    sukima_capacity_estimator_sample(estimator, now);
    if (!experiment_begun && experiment.threads != 0 && now >= experiment.begin_ns) {
      sukima_capacity_estimator_experiment_begin(estimator, experiment.threads);
      experiment_begun = true;
    }
    if (experiment_begun && !experiment_ended && now >= experiment.end_ns) {
      sukima_capacity_estimate result{};
      experiment_ended = sukima_capacity_estimator_experiment_end(estimator, &result) == 0;
      if (experiment_ended) book.experiment_usable = result.usable;
    }
    take_record(book, estimator, now);
  }
}

}  // namespace

pid_t start_observer(notebook& book, const control_groups& groups, const std::string& group, sight seen,
                     pid_t watched, std::uint64_t begin_ns, const experiment_plan& experiment) {
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (child != 0) return child;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  bool able = false;
  try {
    able = narrow(groups, group, seen);
  } catch (const no_groups&) {
    able = false;
  }
  if (!able) {
    book.ready.store(-1, std::memory_order_release);
    _exit(1);
  }
  // The samples must be on time; they use hardly any CPU.
  const sched_param priority{.sched_priority = 10};
  sched_setscheduler(0, SCHED_FIFO, &priority);
  observe(book, watched, begin_ns, experiment);
}

}  // namespace sukima::truth
