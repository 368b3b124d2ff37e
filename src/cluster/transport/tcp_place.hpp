// SPDX-License-Identifier: Apache-2.0
// How a node that joins a run gets its number.
//
// A run with room for more nodes has free numbers. A process that wants to join requests one of them from the
// first living node. It uses a separate connection, which ends with the answer:
//
//   hello   from both, as in each handshake (protocol/handshake.hpp); the process has no number yet
//   place   the node's answer: a number and the size of the run, or a sentence with the reason for a refusal
//
// Only the first living node gives numbers: each number once, in ascending order, above its own number. It
// sends the others a `place` frame with the next number, so its successor can continue from there. Afterwards
// the process connects to that node again, now as a node with a number, and receives the list of the others
// (tcp_joining.cpp).
#pragma once

#include "transport/tcp.hpp"

#include <string>
#include <variant>

namespace sukima::cluster {

/// A number in a run, and the facts that its node needs about the run.
struct place {
  std::uint32_t nodes = 0;  ///< including the room
  std::uint32_t room = 0;
  node_id node = 0;
  node_id sponsor = 0;  ///< the node that gave the number; its own number is lower
};
/// A place, or one sentence that states why there is none.
using place_answer = std::variant<place, std::string>;

bytes write_place(const place_answer& answer);
/// \throws frame_error the bytes are not an answer
place_answer read_place(byte_view from);

/// Requests a place from the node at `host` and `port`.
/// \param chosen  its identity has no number of nodes yet
/// \throws start_failure no node answers there in time, the node refuses, or it runs another program
place ask_for_place(const tcp_settings& chosen, clock::time_point deadline);

}  // namespace sukima::cluster
