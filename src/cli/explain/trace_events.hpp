// SPDX-License-Identifier: Apache-2.0
// The events of a trace file, one by one, without a tree of the whole file in memory.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace sukima::cli::explain {

/// One event of the file, with the members that matter.
struct event {
  std::string ph, name, category;
  std::optional<std::uint64_t> tid;
  std::optional<double> ts, dur;
  // Of `args`:
  std::string shown_name, setting, reason, place;
  std::optional<std::uint64_t> runtime, victim, before, after;
  std::optional<std::uint64_t> depth, expected_ns, clones, served, left_for_work, left_for_abort;
  bool full = false;
};

/// Reads a trace's text, and hands each event on. The receiver may move its texts away.
/// \param file what the text is called in messages
/// \throws usage_error if the text is not JSON, is cut off, or has no list of events
void read_events(std::string_view text, std::string_view file, const std::function<void(event&)>& take);

}  // namespace sukima::cli::explain
