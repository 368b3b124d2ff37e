// SPDX-License-Identifier: Apache-2.0
// Finds the machines that a session optimises; see discovery.hpp.
#include "shared/discovery.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "source/qemu_processes.hpp"

namespace sukima::host {
namespace {

using nlohmann::json;

using processes_by_uuid = std::multimap<std::string, const qemu_process*>;

/// Finds the process of a domain by the UUID in its command line. Any user can start a QEMU with any UUID, so
/// the processes that libvirt started take precedence, and of several processes none is taken.
/// \param notes  gets a sentence if there are several
std::optional<long> process_of(const vm& one, const processes_by_uuid& processes,
                               std::vector<std::string>& notes) {
  std::vector<const qemu_process*> found;
  for (auto [at, end] = processes.equal_range(one.id.value_or("")); at != end; ++at)
    found.push_back(at->second);
  const auto is_of_libvirt = [](const qemu_process* each) { return each->command_line.of_libvirt; };
  if (std::ranges::any_of(found, is_of_libvirt)) std::erase_if(found, std::not_fn(is_of_libvirt));
  if (found.empty()) return std::nullopt;
  if (found.size() == 1) return found.front()->id;
  notes.push_back(fmt::format(
      "the processes {} and {} of QEMU both have the UUID of {}, which is not measured until one of them "
      "ends",
      found[0]->id, found[1]->id, one.name));
  return std::nullopt;
}

/// Keeps the members that stay the same from one reading to the next, and adds those that steering needs.
void steer(vm& one, const std::optional<long>& process) {
  const json all = one.unknown.empty() ? json::object() : json::parse(one.unknown);
  json kept = json::object();
  if (all.contains("port")) {
    kept["port"] = all["port"];
    one.act = {"threads"};
  }
  if (process) kept["pid"] = *process;
  // Without its process the machine cannot be measured yet: libvirt lists a domain before its QEMU runs.
  if (!process) one.act.reset();
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
  const std::vector<qemu_process> running = find_qemu_processes(root_);
  processes_by_uuid processes;
  for (const qemu_process& one : running)
    if (!one.command_line.uuid.empty()) processes.emplace(one.command_line.uuid, &one);
  for (vm& one : now.vms) steer(one, process_of(one, processes, notes_));
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
