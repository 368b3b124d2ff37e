// SPDX-License-Identifier: Apache-2.0
// The number of a node that joins a run.
//
// The run is started with room for nodes that come later: their numbers are free. A process that joins asks
// the first living node for one of them, in a connection of its own, which ends with the answer:
//
//   hello   both, as in each handshake (protocol/handshake.hpp); the process has no number yet
//   place   the node's answer: a number and the size of the run; or a sentence with the reason why not
//
// Only the first living node gives numbers, all of them above its own, in ascending order and each once. It
// sends the others a `place` frame with the next number, so that its successor continues there. Afterwards
// the process connects to that node again, now as a node with a number, and receives the list of the others
// (tcp_joining.cpp).
#pragma once

#include "transport/tcp.hpp"

#include <string>
#include <variant>

namespace sukima::cluster {

/// A number of a run, and what its node must know of the run.
struct place {
  std::uint32_t nodes = 0;  ///< with the room
  std::uint32_t room = 0;
  node_id node = 0;
  node_id sponsor = 0;  ///< the node that has given the number, which is below it
};
/// A place, or one sentence that says why there is none.
using place_answer = std::variant<place, std::string>;

bytes write_place(const place_answer& answer);
/// \throws frame_error the bytes are no answer
place_answer read_place(byte_view from);

/// Asks the node at `host` and `port` for a place.
/// \param chosen  the identity has no number of nodes
/// \throws start_failure no node answers there in time, it refuses, or it runs another program
place ask_for_place(const tcp_settings& chosen, clock::time_point deadline);

}  // namespace sukima::cluster
