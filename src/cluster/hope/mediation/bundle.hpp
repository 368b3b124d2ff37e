// SPDX-License-Identifier: Apache-2.0
// The message that carries notes through mediators. It consists of a mark, the way, and for each note the
// node that wrote it, its length, and the note.
#pragma once

#include "transport/transport.hpp"

#include <cstdint>
#include <functional>

namespace sukima::cluster::hope {

/// The way of a bundle. It determines to which nodes the receiver forwards the notes.
enum class bundle_way : std::uint8_t {
  up = 1,  ///< from a member: the receiver forwards them to its group, and to the other mediators
  across,  ///< from another mediator: the receiver forwards them to its group
  down,    ///< from the group's mediator: the receiver forwards nothing
  log      ///< a mediator hands over its log, or a former one its late notes: the receiver forwards
           ///< them to its group
};

/// The longest note that is put into a bundle. Longer ones are sent to each node.
inline constexpr std::size_t longest_bundled = std::size_t{64} << 10;

/// A note in a bundle.
struct carried_note {
  node_id origin = 0;  ///< the node that wrote it
  byte_view content{};
};

/// Begins a bundle. put_note() then appends notes to it.
bytes begin_bundle(bundle_way way);
/// Appends a note. Complexity: linear in its size.
void put_note(bytes& bundle, const carried_note& one);
/// Whether a message is a bundle, well-formed or not. Notes begin with other bytes.
bool is_bundle(byte_view message) noexcept;
/// Reads a bundle, and calls a function with its way and each note, in order. The contents are views of the
/// message. Complexity: linear in its size, no allocation.
/// \param nodes  the number of nodes; a note from a node with a higher number is malformed
/// \returns false: the bundle is malformed. The notes before the fault were passed to the function.
bool read_bundle(byte_view message, unsigned nodes,
                 const std::function<void(bundle_way, const carried_note&)>& take);

}  // namespace sukima::cluster::hope
