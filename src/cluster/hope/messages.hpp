// SPDX-License-Identifier: Apache-2.0
// Messages between nodes under hierarchical omission. Results are facts, all other messages are hints. A
// message that is lost, late, repeated or overtaken costs time, and never changes a result.
//
//   claim         the sender has run a task for that long; other nodes may do something else first
//   unclaim       the sender does not run it any more, and has no result
//   result        what the task returned, for all nodes that would run it
//   entry_result  the entry's name, and what it returned: no node has work left for it
//   missing       asks for the result of this task, or of the entry
//   request       the sender has nothing to do: it asks for a task
//   given         the answer: a task with its arguments; the sender regards it as claimed by the receiver
//   none          the other answer: there is no task
//   best          the sender's best solutions of the entry. Results carry them, too
//   differs       the sender is in another entry of that number: all nodes end with this sentence
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

/// The name of the entry itself, in `missing` and as the place of a task. A task has the same name with a
/// probability of 2^-128, which would cost time only.
inline constexpr task_key name_of_entry{};

struct note {
  note_kind kind = note_kind::claim;
  std::uint64_t entry = 0;  ///< its number, from 1
  task_key task{};  ///< of claim, unclaim, result and missing
  /// Of a claim, a result or a given task: the task out of which the sender has split it, or the entry. It
  /// shows where the note is of use. Other nodes may have reached the same task by another way.
  task_key within{};
  /// Age of a claim, or the time that the computation of a result took. Whole microseconds, not negative;
  /// longer than an hour counts as an hour.
  std::chrono::microseconds time{};
  std::uint32_t type = 0;  ///< of a given task: the number of its function
  byte_view solutions{};  ///< of results and best: as solution_board::all gives them
  byte_view content{};  ///< the bytes of a result, or of a given task's arguments
};

/// Linear in the size of the content.
bytes write_note(const note& n);
/// Reads a message. The content and the solutions are views of `from`; nothing: it is malformed. Constant,
/// allocates nothing.
std::optional<note> read_note(byte_view from);

}  // namespace sukima::cluster::hope
