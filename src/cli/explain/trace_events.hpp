// SPDX-License-Identifier: Apache-2.0
// Reads the events of a trace file one by one, without a tree of the whole file in memory.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace sukima::cli::explain {

/// One event of the file, with the members that `sukima explain` uses.
struct event {
  std::string ph, name, category;
  std::optional<std::uint64_t> tid;
  std::optional<double> ts, dur;
  // Members of `args`:
  std::string shown_name, setting, reason, place;
  std::optional<std::uint64_t> runtime, victim, before, after;
  std::optional<std::uint64_t> depth, expected_ns, clones, served, left_for_work, left_for_abort;
  bool full = false;
};

/// Parses a trace's text, and passes each event to `take`, which may move strings out of it.
/// \param file the name of the text in messages
/// \throws usage_error if the text is not JSON, is cut off, or has no list of events
void read_events(std::string_view text, std::string_view file, const std::function<void(event&)>& take);

}  // namespace sukima::cli::explain
