// SPDX-License-Identifier: Apache-2.0
// The measured costs of messages, switches and sleeps, which are lines of the machine profile.
#pragma once

#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "execution_model.hpp"

namespace sukima::objects::model {

/// The first and third quartile of the measured values.
struct quartiles {
  double low = 0, high = 0;
};
struct message_quartiles {
  quartiles sender, receiver;
};

/// The cost of one message for each side, in a stream of messages of this size.
struct message_cost {
  unit carrier = unit::simulated;
  std::size_t bytes = 0;
  unsigned cpus = 1;  ///< number of CPUs on which the two sides ran
  double sender_ns = 0, receiver_ns = 0;
  std::optional<message_quartiles> spread = {};  ///< only in a measured line
};

/// The cost of a sleep until another thread wakes the sleeper.
struct sleep_cost {
  double waker_ns = 0;  ///< duration of the waker's call
  double until_ns = 0;  ///< time from the end of that call until the sleeper runs
};

/// The costs that were measured on a machine.
struct cost_table {
  std::vector<message_cost> messages;  ///< in ascending order of unit, CPUs and size
  std::optional<double> switch_ns;  ///< from one simulated object to another one, including the wait
  std::optional<quartiles> switch_quartiles;
  /// The same if an object of another group could end the wait, so that it takes a suspension.
  std::optional<double> wait_ns;
  std::optional<quartiles> wait_quartiles;
  /// The cost of ending such a wait of an object whose group another CPU runs, beyond the message.
  std::optional<double> resume_ns;
  std::optional<quartiles> resume_quartiles;
  std::optional<sleep_cost> same_cpu, other_cpu;  ///< if the sleeper's CPU is that of the waker, or is idle

  /// Adds a line, or replaces the line with the same unit, size and CPUs.
  void add(const message_cost& line);
  /// Adds all lines and costs of the other table.
  void merge(const cost_table& other);
  /// Whether there is a line of messages for this unit.
  bool knows(unit carrier) const;
  /// Returns the cost of a message of this size: interpolated linearly between the measured sizes, and
  /// proportional to the size beyond the largest. Of the measured numbers of CPUs, the largest that is not
  /// above `cpus` counts; if there is none, the smallest.
  /// \pre knows(carrier)
  message_cost of(unit carrier, std::size_t bytes, unsigned cpus) const;
};

/// Thrown for a malformed line; the text has its number, and what to do.
class costs_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Reads the lines `message`, `objects-switch`, `objects-wait`, `objects-resume` and `objects-sleep` of a
/// machine profile's text; other lines are skipped.
/// \throws costs_error
cost_table parse_costs(std::string_view profile);

/// Returns the text of a machine profile, with these costs instead of its own.
/// \throws costs_error if the text has no line `end`
std::string profile_with_costs(std::string_view profile, const cost_table& costs);

}  // namespace sukima::objects::model
