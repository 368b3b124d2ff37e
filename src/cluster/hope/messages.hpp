// SPDX-License-Identifier: Apache-2.0
// What nodes say to each other under hierarchical omission. All are hints but the results, and those are
// facts: whatever is lost, late, repeated or overtaken costs time, and never changes a result.
//
//   claim         the sender has run a task for that long; other nodes may do something else first
//   unclaim       the sender does not run it any more, and has no result
//   result        what the task returned, for all who have it to do
//   entry_result  the entry's name, and what it returned: no node has work left for it
//   missing       does anybody know the result of this task, or of the entry?
//   request       the sender has nothing to do: it asks for a task
//   given         the answer: a task with its arguments; the sender takes it for claimed by the receiver
//   none          the other answer: there is none
//   best          the sender's best solutions of the entry. Results bring them along, too
//   differs       the sender is in another entry of that number: all end with this sentence
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
  differs
};

/// The name of the entry itself, in `missing` and as what a task is within. A task has it with a probability
/// of 2^-128, and costs time then.
inline constexpr task_key name_of_entry{};

struct note {
  note_kind kind = note_kind::claim;
  std::uint64_t entry = 0;  ///< its number, from 1
  task_key task{};  ///< of claim, unclaim, result and missing
  /// Of a claim, a result or a given task: the task out of which the sender has split it, or the entry. It
  /// shows where the note is of use. Other nodes may have reached the same task by another way.
  task_key within{};
  /// Of a claim: how long it is old; of a result: the time that its computation took. Whole microseconds, not
  /// negative; longer than an hour counts as an hour.
  std::chrono::microseconds time{};
  std::uint32_t type = 0;  ///< of a given task: the number of its function
  byte_view solutions{};  ///< of results and best: as solution_board::all gives them
  byte_view content{};  ///< of results: what came out, in bytes; of a given task: its arguments
};

/// Linear in the size of the content.
bytes write_note(const note& n);
/// Reads a message. The content and the solutions are views of `from`; nothing: it is malformed. Constant,
/// allocates nothing.
std::optional<note> read_note(byte_view from);

}  // namespace sukima::cluster::hope
