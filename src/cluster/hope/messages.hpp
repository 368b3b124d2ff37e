// SPDX-License-Identifier: Apache-2.0
// Messages between nodes under hierarchical omission. Results are facts; all other messages are hints. If a
// message is lost, late, repeated or overtaken, it costs time, but never changes a result.
//
//   claim         the sender has run a task for the given time; other nodes may run other tasks first
//   unclaim       the sender does not run the task any more, and has no result
//   result        the result of a task, for all nodes that would run it
//   entry_result  the name and the result of the entry; no node needs to work on it any more
//   missing       requests the result of this task, or of the entry
//   request       the sender has nothing to do, and requests a task
//   given         the answer: a task with its arguments; the sender considers it claimed by the receiver
//   none          the other answer: there is no task
//   best          the sender's best solutions of the entry; results contain them, too
//   differs       the sender's entry of that number is another one; all nodes end with this sentence
//   interest      the sender's subscription, for its mediator alone (mediation/interest.hpp)
#pragma once

#include "hope/named_task.hpp"
#include "transport/transport.hpp"

#include <chrono>
#include <cstdint>
#include <optional>

namespace sukima::cluster::hope {

enum class note_kind : std::uint8_t {
  claim = 1,
  unclaim,
  result,
  entry_result,
  missing,
  request,
  given,
  none,
  best,
  differs,
  interest
};

/// The name of the entry itself, in `missing` and as the place of a task. The probability that a task has the
/// same name is 2^-128; that would cost only time.
inline constexpr task_key name_of_entry{};

struct note {
  note_kind kind = note_kind::claim;
  std::uint64_t entry = 0;  ///< the number of the entry, from 1
  task_key task{};  ///< of claim, unclaim, result and missing
  /// Of a claim, a result or a given task: the task that the sender has split it off from, or the entry. It
  /// shows where the note is useful. Other nodes may have reached the same task in another way.
  task_key within{};
  /// The age of a claim, or the time that it took to compute a result. In whole microseconds, not negative;
  /// more than an hour counts as an hour.
  std::chrono::microseconds time{};
  std::uint32_t type = 0;  ///< of a given task: the number of its function
  byte_view solutions{};  ///< of results and best: as returned by solution_board::all
  byte_view content{};  ///< a result, or the arguments of a given task
};

/// Writes a note. Complexity: linear in the size of the content.
bytes write_note(const note& n);
/// Reads a note. Its content and solutions are views of `from`. Complexity: constant, no allocation.
/// \returns nothing: the note is malformed
std::optional<note> read_note(byte_view from);

}  // namespace sukima::cluster::hope
