// SPDX-License-Identifier: Apache-2.0
// Messages between nodes that steal:
//
//   thief -> victim      request    requests a task of that entry
//   victim -> thief      none       the answer without a task
//   victim -> thief      task       the answer with a task; `id` is the number that the victim gave it
//   thief -> victim      result     the task has ended: ok, thrown, or aborted
//   victim -> thief      abort      the result is not needed; the victim waits for it nevertheless
//   thief -> victim      lifeline   requests a task of that entry as soon as there is one; never refused
//   thief -> victim      declined   the thief has not begun the task; another node may take it
//   node 0 -> all        entry      the name of an entry, and its result: ok or thrown
//   all -> all           best       the sender's best solutions of that entry; results contain them, too
//   any -> all           differs    the sender's entry of that number is another one; all nodes then end
//                                   with this sentence
//   any but 0 -> all     leaves     the sender takes no more tasks, and leaves after its tasks have ended
//   node 0 -> newcomer   welcome    `entry` entries had ended when it joined; the results up to `id` follow
//   newcomer -> node 0   missing    requests the results from `entry` to `id`; fewer may be sent
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
  outcome how = outcome::ok;  ///< of messages result and entry
  std::uint32_t entry = 0;  ///< the number of the entry, from 1
  std::uint32_t function = 0;  ///< of a task: the number of its function among all functions that travel
  /// In messages about a task: its number among the tasks that the victim gave away. In a welcome, and in
  /// results of entries for a newcomer: the last entry whose result follows.
  std::uint64_t id = 0;
  std::uint64_t request = 0;  ///< number of a request, repeated in its answer; 0: a task for a lifeline
  std::uint32_t round_trip = 0;  ///< of request and lifeline: round trip to the victim, in µs; 0: unknown
  byte_view solutions{};  ///< of result, entry and best: as returned by solution_board::all
  byte_view content{};  ///< the arguments, or the result
};

bytes write_message(const message& m);
/// Reads a message. Its content and solutions are views of `from`. \returns nothing: the message is malformed
std::optional<message> read_message(byte_view from);

}  // namespace sukima::cluster
