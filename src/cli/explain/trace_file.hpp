// SPDX-License-Identifier: Apache-2.0
// Reads the trace that a program wrote to the file named by SUKIMA_TRACE.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "explain/periods.hpp"

namespace sukima::cli::explain {

/// Activity of a worker inside the runtime; otherwise it is outside.
enum class activity { working, searching, sleeping };
inline constexpr std::size_t activities = 3;

/// A task that a worker took from another worker.
struct recorded_steal {
  double at = 0;  ///< seconds since the beginning of the trace
  std::uint64_t victim = 0;
};

/// One worker's events.
struct recorded_worker {
  std::uint64_t runtime = 0;
  std::uint64_t number = 0;
  bool is_full = false;  ///< the trace had no room for its later events
  std::array<periods, activities> during;  ///< by activity; the periods of two activities do not overlap
  periods without_cpu;  ///< its thread waited for a CPU: the lengths are exact, the positions approximate
  std::vector<recorded_steal> steals;
  std::uint64_t parks = 0;
  std::uint64_t suspensions = 0;
};

/// A decision that a runtime made by itself.
struct recorded_decision {
  std::uint64_t runtime = 0;
  double at = 0;  ///< seconds since the beginning of the trace
  std::string setting;
  std::uint64_t before = 0;
  std::uint64_t after = 0;
  std::string reason;
};

/// The calls of one place at one depth.
struct recorded_calls {
  double expected = 0;  ///< seconds that one call takes, by the runtime's measurements
  std::uint64_t clones = 0;  ///< how many ran as sequential clones
};

/// A place of the program where sequential clones may begin.
struct recorded_clones {
  std::map<std::uint64_t, recorded_calls> at;  ///< by depth
  // Numbers of polls in its clones at which a request was pending:
  std::uint64_t served = 0;  ///< the clone continued
  std::uint64_t left_for_work = 0;
  std::uint64_t left_for_abort = 0;

  std::uint64_t clones() const;
};

/// A whole trace: its workers in order of runtime and number, its decisions in order of time.
struct recorded_trace {
  std::vector<recorded_worker> workers;
  std::vector<recorded_decision> decisions;
  std::map<std::string, recorded_clones> clones;  ///< of all runtimes, by place
};

/// Parses the text of a trace.
/// \param name the name of the text in messages
/// \throws usage_error if it is not a trace of Sukima, or damaged
recorded_trace parse_trace(std::string_view text, std::string_view name);

/// Returns the whole text of a file. \throws usage_error it cannot be read, or is a program
std::string read_text_to_explain(const std::string& file);

}  // namespace sukima::cli::explain
