// SPDX-License-Identifier: Apache-2.0
// The message in which notes travel by way of mediators. It consists of a mark, the way, and for each note
// the node that has written it, its length, and the note.
#pragma once

#include "transport/transport.hpp"

#include <cstdint>
#include <functional>

namespace sukima::cluster::hope {

/// The way of a bundle, from which its receiver infers to which nodes it forwards the notes.
enum class bundle_way : std::uint8_t {
  up = 1,  ///< it comes from a member: forwards them to its group, and to the other mediators
  across,  ///< it comes from another mediator: forwards them to its group
  down,    ///< it comes from the group's mediator: forwards nothing
  log      ///< another mediator hands over its log to a new one, or a former one what still comes to it:
           ///< forwards them to its group
};

/// The longest note that a bundle carries. Longer ones are sent to each node.
inline constexpr std::size_t longest_bundled = std::size_t{64} << 10;

/// A note on its way.
struct carried_note {
  node_id origin = 0;  ///< the node that has written it
  byte_view content{};
};

/// Begins a bundle. put_note() then appends notes to it.
bytes begin_bundle(bundle_way way);
/// Appends a note. Linear in its size.
void put_note(bytes& bundle, const carried_note& one);
/// Whether a message is a bundle, well-formed or not. Notes begin with other bytes.
bool is_bundle(byte_view message) noexcept;
/// Reads a bundle, and calls a function with its way and with each note, in order. The contents are views of
/// the message. Linear in its size; allocates nothing.
/// \param nodes  the number of nodes; a note of another one is malformed
/// \returns false: it is malformed. Notes before the fault were passed on.
bool read_bundle(byte_view message, unsigned nodes,
                 const std::function<void(bundle_way, const carried_note&)>& take);

}  // namespace sukima::cluster::hope
