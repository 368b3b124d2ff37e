// SPDX-License-Identifier: Apache-2.0
// Switches the CPUs of a guest on and off, and finds out which are online.
#include "guest/cpu_switch.hpp"

#include <unistd.h>
#include <base/shared/assert.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "shared/description.hpp"
#include "shared/files.hpp"

namespace sukima::host {
namespace {

constexpr const char* cpu_folder = "sys/devices/system/cpu";
constexpr const char* state_file = "run/sukima/guest.state";
constexpr const char* plugged_file = "run/sukima/guest.plugged";

std::vector<std::uint32_t> list_in(const std::filesystem::path& file) {
  const auto text = read_small_file(file);
  if (!text) return {};
  try {
    return parse_cpu_list(*text);
  } catch (const description_error&) {
    return {};
  }
}

std::string trouble(const std::string& failure, int error) { return failure + ": " + std::strerror(error); }

}  // namespace

cpu_switch::cpu_switch(std::filesystem::path root) : root_(std::move(root)) {
  for (const std::uint32_t cpu : list_in(root_ / state_file))
    if (cpu != 0) off_.insert(cpu);
  const std::vector<std::uint32_t> came = list_in(root_ / plugged_file);
  for (const std::uint32_t cpu : present())
    (cpu != 0 && std::ranges::binary_search(came, cpu) ? plugged_ : known_).insert(cpu);
  restore();
}

void cpu_switch::accept_present() {
  for (const std::uint32_t cpu : present())
    if (!plugged_.contains(cpu)) known_.insert(cpu);
}

/// Writes the CPUs that were plugged in to a file, so that they are switched off at the end even if this
/// process is killed.
std::optional<std::string> cpu_switch::claim_plugged() {
  std::set<std::uint32_t> all = plugged_;
  for (const std::uint32_t cpu : present())
    if (!known_.contains(cpu)) all.insert(cpu);
  if (all == plugged_) return std::nullopt;
  if (auto problem = keep(plugged_file, all)) return problem;
  plugged_ = std::move(all);
  return std::nullopt;
}

std::vector<std::uint32_t> cpu_switch::online() const { return list_in(root_ / cpu_folder / "online"); }
std::vector<std::uint32_t> cpu_switch::present() const { return list_in(root_ / cpu_folder / "present"); }

std::filesystem::path cpu_switch::file_of(std::uint32_t cpu) const {
  return root_ / cpu_folder / ("cpu" + std::to_string(cpu)) / "online";
}

std::optional<std::string> cpu_switch::set(std::uint32_t cpu, bool on) {
  SUKIMA_ASSERT(cpu != 0 || on, "CPU 0 stays online, so that the guest never stops");
  const int error = write_control_file(file_of(cpu), on ? "1\n" : "0\n");
  if (error == 0) return std::nullopt;
  return trouble("CPU " + std::to_string(cpu) + " cannot be switched " + (on ? "on" : "off"), error);
}

/// Writes to a file which CPUs must be switched at the end, even if this process is killed.
std::optional<std::string> cpu_switch::keep(const char* name, const std::set<std::uint32_t>& cpus) const {
  const std::filesystem::path file = root_ / name;
  if (cpus.empty()) {
    if (::unlink(file.c_str()) == 0 || errno == ENOENT) return std::nullopt;
    return trouble(file.string() + " cannot be removed", errno);
  }
  const int error = replace_file(file, cpu_list_text({cpus.begin(), cpus.end()}) + "\n", 0644);
  if (error == 0) return std::nullopt;
  return trouble(file.string() + " cannot be written, so no CPU is switched", error);
}

std::optional<std::string> cpu_switch::switch_off(std::uint32_t cpu) {
  if (plugged_.contains(cpu)) return set(cpu, false);
  SUKIMA_ASSERT(follows_, "a CPU is switched off only while the host sets a number");
  off_.insert(cpu);
  if (auto problem = keep(state_file, off_)) {
    off_.erase(cpu);
    return problem;
  }
  if (auto problem = set(cpu, false)) {
    off_.erase(cpu);
    keep(state_file, off_);  // a failure is harmless: an online CPU would be switched on again
    return problem;
  }
  return std::nullopt;
}

bool cpu_switch::is_there(std::uint32_t cpu) const {
  std::error_code ignored;
  return std::filesystem::exists(file_of(cpu), ignored);
}

std::optional<std::string> cpu_switch::switch_on(std::uint32_t cpu) {
  // Skip a CPU that was unplugged since: it cannot be switched on.
  if (is_there(cpu))
    if (auto problem = set(cpu, true)) return problem;
  return off_.erase(cpu) == 0 ? std::nullopt : keep(state_file, off_);
}

std::optional<std::string> cpu_switch::restore() {
  std::optional<std::string> problem;
  for (const std::uint32_t cpu : std::set<std::uint32_t>(off_))
    if (auto one = switch_on(cpu)) problem = std::move(one);
  if (std::exchange(follows_, false))
    if (auto one = claim_plugged()) problem = std::move(one);
  for (const std::uint32_t cpu : plugged_)
    if (is_there(cpu))
      if (auto one = set(cpu, false)) problem = std::move(one);
  return problem;
}

std::optional<std::string> cpu_switch::follow(unsigned count) {
  const std::vector<std::uint32_t> on = online();
  if (on.empty()) return "the CPUs that are online cannot be read";
  // If another program switched a CPU on again, this object no longer controls that CPU.
  const std::size_t before = off_.size();
  for (const std::uint32_t cpu : on) off_.erase(cpu);
  if (off_.size() != before) keep(state_file, off_);
  follows_ = true;
  if (auto failed = claim_plugged()) return failed;
  const std::size_t wanted = std::max(1U, count);
  std::size_t now = on.size();
  std::optional<std::string> problem;  // with the first CPU that cannot be switched
  const auto note = [&problem](std::optional<std::string> failed) {
    if (failed && !problem) problem = std::move(failed);
    return failed.has_value();
  };
  for (auto cpu = on.rbegin(); cpu != on.rend() && *cpu != 0 && now > wanted; ++cpu)
    if (!note(switch_off(*cpu))) --now;
  if (now >= wanted) return problem;
  std::vector<std::uint32_t> back(off_.begin(), off_.end());
  for (const std::uint32_t cpu : plugged_)
    if (!std::ranges::binary_search(on, cpu)) back.push_back(cpu);
  for (auto cpu = back.begin(); cpu != back.end() && now < wanted; ++cpu) {
    const bool exists = is_there(*cpu);  // a CPU that was unplugged since does not count
    if (!note(switch_on(*cpu)) && exists) ++now;
  }
  return problem;
}

}  // namespace sukima::host
