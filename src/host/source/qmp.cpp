// SPDX-License-Identifier: Apache-2.0
// Reads virtual machines of plain QEMU. Their monitors report which threads are virtual CPUs, and /proc has
// the threads' counters.
#include <base/shared/clock.hpp>

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "shared/source.hpp"
#include "source/files.hpp"
#include "source/group_tree.hpp"
#include "source/qemu_processes.hpp"
#include "source/qmp_sockets.hpp"
#include "source/threads.hpp"

namespace sukima::host {
namespace {

/// The most members of a group that are read to find out whether a process is alone in it.
constexpr std::size_t most_members = 64;

/// The latest answer of a monitor.
struct known_machine {
  qmp_machine machine;
  long process = 0;
};

class qmp_source final : public source {
 public:
  explicit qmp_source(const qmp_options& options) : options_(options), groups_(options.root) {}

  snapshot read(deadline end) override {
    snapshot result = read_machine(options_.root);
    const std::vector<std::string> paths = find_paths(result);
    const std::vector<qmp_answer> answers = ask_monitors(paths, end);
    // Read the counters after the answers, which take milliseconds or more.
    const snapshot now = read_machine(options_.root);
    result.taken = now.taken;
    result.clock = now.clock;
    result.pcpus = now.pcpus;
    result.busy = now.busy;
    std::map<std::string, known_machine> known;
    for (std::size_t i = 0; i < paths.size(); ++i) {
      const auto before = known_.find(paths[i]);
      known_machine one;
      const bool late = answers[i].result == qmp_answer::outcome::late;
      if (answers[i].result == qmp_answer::outcome::failed) {
        result.notes.push_back(answers[i].failure);
        continue;
      }
      if (late && before == known_.end()) {
        result.notes.push_back(
            "the monitor " + paths[i] +
            " did not answer in time; it may be in use: QEMU serves one connection at a time");
        continue;
      }
      one = late ? before->second : known_machine{answers[i].machine, answers[i].process};
      if (auto seen = observe(paths[i], one, result.notes)) {
        seen->stale = late;
        result.vms.push_back(std::move(*seen));
        known.emplace(paths[i], std::move(one));
      }
    }
    known_ = std::move(known);
    return result;
  }

  capabilities can() const override {
    return {"qmp", true, groups_.there(), groups_.there(), groups_.there(), true};
  }

 private:
  std::vector<std::string> find_paths(snapshot& result) const {
    std::vector<std::string> paths = options_.sockets;
    std::set<std::string> given(paths.begin(), paths.end());
    if (!options_.find) return paths;
    for (const qemu_process& one : find_qemu_processes(options_.root)) {
      if (std::ranges::any_of(one.command_line.monitors,
                              [&](const std::string& path) { return given.contains(path); }))
        continue;
      if (!one.command_line.monitors.empty()) {
        given.insert(one.command_line.monitors.front());
        paths.push_back(one.command_line.monitors.front());
      } else if (!one.command_line.of_libvirt) {
        result.notes.push_back("the QEMU process " + std::to_string(one.id) +
                               " has no QMP socket; start it with -qmp unix:PATH,server=on,wait=off");
      }
    }
    return paths;
  }

  /// \returns nothing if the machine has ended since, or its threads belong to another PID namespace
  std::optional<observed_vm> observe(const std::string& path, const known_machine& known,
                                     std::vector<std::string>& notes) const {
    observed_vm result;
    result.read_at = steady_seconds();
    result.source = "qmp";
    long process = 0;
    // An emulator with one thread runs all virtual CPUs in turn.
    std::map<long, std::size_t> in_thread;
    for (const qmp_vcpu& one : known.machine.vcpus) ++in_thread[one.thread];
    for (const qmp_vcpu& one : known.machine.vcpus) {
      const auto thread = read_thread(options_.root, one.thread);
      if (!thread) continue;  // the vCPU was unplugged, or the machine has ended
      if (options_.root.empty() && known.process != 0 && thread->process != known.process) {
        notes.push_back(
            "the machine of the monitor " + path +
            " is not read: it runs in another PID namespace, so its threads have other numbers here");
        return std::nullopt;
      }
      process = thread->process;
      result.run = std::to_string(process) + " " + thread->begun;
      vcpu each;
      each.id = one.id;
      each.hard = thread->cpus;
      const auto sharing = static_cast<double>(in_thread.at(one.thread));
      each.ran = thread->ran / sharing;
      each.waited = thread->waited / sharing;
      result.now.vcpus.push_back(std::move(each));
      result.last_pcpu.push_back(thread->last_cpu);
    }
    if (process == 0) {
      if (!known.machine.vcpus.empty())
        notes.push_back("the machine of the monitor " + path +
                        " is not read: it has ended, or its threads are hidden");
      return std::nullopt;
    }
    add_pluggable(known.machine.pluggable, result);
    result.now.name = known.machine.name.empty() ? "qemu-" + std::to_string(process) : known.machine.name;
    if (!known.machine.uuid.empty()) result.now.id = known.machine.uuid;
    if (!known.machine.running) result.state = vm_state::paused;
    take_group(process, result);
    if (in_thread.size() < known.machine.vcpus.size())
      result.now.cap = std::min(result.now.cap.value_or(std::numeric_limits<double>::infinity()),
                                static_cast<double>(in_thread.size()));
    return result;
  }

  /// Adds the virtual CPUs that could be plugged in, with the lowest numbers that are free: an unplugged one
  /// keeps its number.
  static void add_pluggable(std::size_t count, observed_vm& result) {
    std::set<std::uint32_t> taken;
    for (const vcpu& one : result.now.vcpus) taken.insert(one.id);
    std::uint32_t next = 0;
    for (std::size_t i = 0; i < count; ++i) {
      while (taken.contains(next)) ++next;
      if (next > most_id) return;
      vcpu each;
      each.id = next++;
      each.online = false;
      result.now.vcpus.push_back(std::move(each));
    }
  }

  /// If the process is alone in its control group, the machine has the group's weight. Otherwise the kernel
  /// weighs each of its threads.
  void take_group(long process, observed_vm& result) const {
    result.now.weight = default_weight;
    result.now.weight_of = weight_owner::vcpu;
    const auto text = read_text(options_.root + "/proc/" + std::to_string(process) + "/cgroup");
    const auto group = text && groups_.there() ? groups_.group_of(*text) : std::nullopt;
    if (!group || *group == "/") return;
    const auto facts = groups_.facts(*group);
    if (!facts) return;
    result.now.cap = facts->quota;
    if (groups_.processes(*group, most_members) != std::vector<long>{process}) return;
    result.now.weight_of = weight_owner::vm;
    result.now.weight = facts->weight.value_or(1) * default_weight;
    result.throttled = facts->throttled;
  }

  qmp_options options_;
  group_tree groups_;
  std::map<std::string, known_machine> known_;
};

}  // namespace

std::unique_ptr<source> open_qmp(const qmp_options& options) { return std::make_unique<qmp_source>(options); }

}  // namespace sukima::host
