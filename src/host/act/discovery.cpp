// SPDX-License-Identifier: Apache-2.0
// Finds the machines that a session optimises; see discovery.hpp.
#include "shared/discovery.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "source/qemu_processes.hpp"

namespace sukima::host {
namespace {

using nlohmann::json;

/// Keeps the members that stay the same from one reading to the next, and adds those that steering needs.
void steer(vm& one, const std::map<std::string, long>& processes) {
  const json all = one.unknown.empty() ? json::object() : json::parse(one.unknown);
  json kept = json::object();
  if (all.contains("port")) {
    kept["port"] = all["port"];
    one.act = {"threads"};
  }
  const auto process = processes.find(one.id.value_or(""));
  if (process != processes.end()) kept["pid"] = process->second;
  // Without its process the machine cannot be measured yet: libvirt lists a domain before its QEMU runs.
  if (process == processes.end()) one.act.reset();
  one.unknown = kept.empty() ? "" : kept.dump();
  // Removes the vCPUs that could still be plugged in. When one of them is plugged in, the description
  // changes.
  while (!one.vcpus.empty() && !one.vcpus.back().online) one.vcpus.pop_back();
  for (vcpu& each : one.vcpus) {
    each.demand.reset();
    each.ran.reset();
    each.waited.reset();
  }
}

}  // namespace

discovery::discovery(std::unique_ptr<source> from, std::string root)
    : from_(std::move(from)), root_(std::move(root)) {}

std::optional<description> discovery::look(deadline end) {
  description now;
  try {
    const snapshot read = from_->read(end);
    for (const std::string& note : read.notes) notes_.push_back(note);
    now = observer_.update(read);
  } catch (const source_error& error) {
    if (!begun_) throw;
    notes_.emplace_back(error.what());
    return std::nullopt;
  }
  begun_ = true;
  now.taken.reset();
  for (pcpu& one : now.pcpus) one.capacity = 1;
  std::map<std::string, long> processes;
  for (const qemu_process& one : find_qemu_processes(root_)) processes[one.command_line.uuid] = one.id;
  for (vm& one : now.vms) steer(one, processes);
  // The source's order of the machines has no meaning.
  std::ranges::sort(now.vms, {}, &vm::name);
  std::string text = description_text(now);
  if (text == latest_) return std::nullopt;
  latest_ = std::move(text);
  return now;
}

std::vector<std::string> discovery::take_notes() {
  std::vector<std::string> fresh;
  for (std::string& note : std::exchange(notes_, {})) {
    if (std::ranges::find(reported_, note) != reported_.end()) continue;
    reported_.push_back(note);
    fresh.push_back(std::move(note));
  }
  return fresh;
}

}  // namespace sukima::host
