// SPDX-License-Identifier: Apache-2.0
// Messages between nodes that steal.
//
//   thief -> victim      request    asks for a task of that entry
//   victim -> thief      none       the answer without a task
//   victim -> thief      task       the answer with a task; `id` is the victim's name for it
//   thief -> victim      result     the task has ended: ok, thrown, or aborted
//   victim -> thief      abort      the result is not needed; the victim awaits it all the same
//   thief -> victim      lifeline   asks for a task of that entry when there is one; the victim does not
//   refuse it
//   thief -> victim      declined   the thief has not begun the task; another node may have it
//   node 0 -> all        entry      the name of an entry, and its result: ok or thrown
//   all -> all           best       the sender's best solutions of that entry; results carry them, too
//   any -> all           differs    the sender is in another entry of that number: all nodes end with this
//   sentence
//   any but 0 -> all     leaves     the sender leaves once its tasks are done, and takes no others
//   node 0 -> newcomer   welcome    `entry` entries had ended when it joined; the results up to `id` follow
//   newcomer -> node 0   missing    asks for the results from `entry` to `id`; the answer may end earlier
#pragma once

#include "transport/transport.hpp"

#include <optional>

namespace sukima::cluster {

enum class message_kind : std::uint8_t {
  request = 1,
  none,
  task,
  result,
  abort,
  entry,
  declined,
  lifeline,
  best,
  differs,
  leaves,
  welcome,
  missing
};
enum class outcome : std::uint8_t { ok, thrown, aborted };

struct message {
  message_kind kind = message_kind::request;
  outcome how = outcome::ok;  ///< of result and entry
  std::uint32_t entry = 0;  ///< the number of the entry, from 1
  std::uint32_t function = 0;  ///< of a task: its number among all functions that travel
  /// Of a task among those that the victim gave away. Of a result for a newcomer: the last entry whose result
  /// follows.
  std::uint64_t id = 0;
  std::uint64_t request = 0;  ///< its number, with its answer, too; 0: a task for a lifeline
  std::uint32_t round_trip = 0;  ///< of request and lifeline: to the victim, in µs; 0: not known
  byte_view solutions{};  ///< of result, entry and best: as solution_board::all gives them
  byte_view content{};  ///< arguments, or the result
};

bytes write_message(const message& m);
/// Reads a message. The content and the solutions are views of `from`; nothing: it is malformed.
std::optional<message> read_message(byte_view from);

}  // namespace sukima::cluster
