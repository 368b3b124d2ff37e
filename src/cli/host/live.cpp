// SPDX-License-Identifier: Apache-2.0
// The running host; see live.hpp.
#include "host/live.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <thread>
#include <utility>

#include "shared/console.hpp"

namespace sukima::cli::host {
namespace {

using clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

/// The sockets of libvirt's daemons for readers: of the daemon for all drivers, and of the one for QEMU
/// alone.
constexpr const char* libvirt_sockets[] = {"/run/libvirt/libvirt-sock-ro", "/run/libvirt/virtqemud-sock-ro"};

bool libvirt_listens() {
  return std::ranges::any_of(libvirt_sockets, [](const char* path) {
    std::error_code unknown;
    return std::filesystem::exists(path, unknown);
  });
}

}  // namespace

live_host::live_host(const live_options& options)
    : given_(!options.connect.empty() || !options.domstats.empty() || !options.qmp.empty() ||
             !options.cgroups.empty()),
      still_(!options.domstats.empty()),
      interval_(
          std::chrono::duration_cast<clock::duration>(std::chrono::duration<double>(options.interval))) {
  std::vector<std::unique_ptr<model::source>> parts;
  try {
    if (given_)
      open_given(options, parts);
    else
      open_found(options, parts);
  } catch (const model::source_error& error) {
    throw process::usage_error(error.what());
  }
  source_ = model::join_sources(std::move(parts));
  sources_ = source_->can().name;
}

void live_host::open_given(const live_options& options, std::vector<std::unique_ptr<model::source>>& parts) {
  if (!options.connect.empty()) parts.push_back(model::open_libvirt(options.connect, options.root));
  if (!options.domstats.empty()) parts.push_back(model::open_domain_file(options.domstats, options.root));
  if (!options.qmp.empty()) parts.push_back(model::open_qmp({options.qmp, false, options.root}));
  if (!options.cgroups.empty())
    parts.push_back(model::open_control_groups({options.cgroups, false, options.root}));
}

void live_host::open_found(const live_options& options, std::vector<std::unique_ptr<model::source>>& parts) {
  no_libvirt_ = "libvirt does not run here";
  if (options.root.empty() && libvirt_listens()) try {
      parts.push_back(model::open_libvirt("qemu:///system"));
      no_libvirt_ = "libvirt has no active domain";
    } catch (const model::source_error& error) {
      no_libvirt_ = "libvirt cannot be used";
      notes_.emplace_back(error.what());
    }
  parts.push_back(model::open_qmp({{}, true, options.root}));
  no_groups_ = "no control group looks like a container";
  try {
    parts.push_back(model::open_control_groups({{}, true, options.root}));
  } catch (const model::source_error& error) {
    no_groups_ = "control groups cannot be read";
    notes_.emplace_back(error.what());
  }
}

void live_host::next(const std::atomic<bool>* stopped) {
  // Relaxed: no other data is published with it. Partner: stop in stop.cpp.
  const auto is_stopped = [stopped] { return stopped->load(std::memory_order_relaxed); };
  // Sleep in short pieces, because a signal that arrives just before a piece does not end it.
  while (stopped != nullptr && !is_stopped() && clock::now() < due_)
    std::this_thread::sleep_until(std::min(due_, clock::now() + 100ms));
  if (stopped != nullptr && is_stopped()) return;
  std::this_thread::sleep_until(due_);
  try {
    // The first reading may take longer: it connects to the sources, and nothing can be shown before it.
    const auto patience = begun_ ? std::clamp<clock::duration>(interval_ * 4 / 5, 100ms, 5s) : 5s;
    const model::snapshot read = source_->read(clock::now() + patience);
    for (const std::string& note : read.notes) add_note(note);
    const model::description& host = observer_.update(read);
    // If a source that the user named yields nothing, the user must change the request.
    if (!begun_ && given_ && host.vms.empty() && !notes_.empty()) throw process::usage_error(notes_.front());
    latest_clock_ = read.clock;
    if (!begun_) {
      first_ = host;
      first_clock_ = read.clock;
    }
    begun_ = true;
  } catch (const model::source_error& error) {
    if (!begun_) throw process::usage_error(error.what());
    // Earlier changes were reported already.
    observer_.record_failed_reading();
    add_note(error.what());
  }
  // Intervals begin with the first reading. Missed readings are not made up for.
  due_ = due_ == clock::time_point() ? clock::now() + interval_ : std::max(due_ + interval_, clock::now());
}

void live_host::add_note(const std::string& note) {
  if (noted_.insert(note).second) notes_.push_back(note);
}

void live_host::measure() {
  next();
  if (!still_) next();
}

model::description live_host::first() const {
  model::description host = first_;
  if (const auto& taken = observer_.host().taken) host.taken = *taken - (latest_clock_ - first_clock_);
  return host;
}

std::vector<std::string> live_host::take_notes() { return std::exchange(notes_, {}); }

std::string live_host::reason_for_none() const {
  if (given_) return fmt::format("There is no virtual machine in the given sources ({}).", sources_);
  return fmt::format(
      "There is no virtual machine here: {}, no QEMU process with a QMP socket was found, and {}; name "
      "others with "
      "--connect, --qmp or --cgroup.",
      no_libvirt_, no_groups_);
}

}  // namespace sukima::cli::host
