// SPDX-License-Identifier: Apache-2.0
// What operations on streams, and program::run, throw.
#pragma once

#include <stdexcept>

namespace sukima::objects {
/// \addtogroup objects
/// @{

/// Something is wrong with a stream; the text names it.
struct stream_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};
/// No receiver is left for what is sent. If it leaves the object, that is no failure of the program.
struct stream_broken : stream_error {
  using stream_error::stream_error;
};
/// A sender of the stream has ended by an exception, or with its process. Thrown after what was accepted has
/// been received, when no other sender is left; the text names the object and has its exception's text.
struct stream_failed : stream_error {
  using stream_error::stream_error;
};
/// A message for another process has more than 64 MiB once it is encoded.
struct message_too_large : stream_error {
  using stream_error::stream_error;
};
/// An object of another process has ended by an exception, or its process by a signal or without finishing.
/// program::run throws it; the text says which, and why.
struct object_failed : std::runtime_error {
  using std::runtime_error::runtime_error;
};
/// All objects wait for one another. The text lists which object waits for which stream.
struct deadlock : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// @}
}  // namespace sukima::objects

namespace sukima::objects::detail {

/// A reader gets this from a sender that ended because another reader had left early. If it leaves the
/// object, that is no failure of the program.
struct stream_cut_off : stream_failed {
  using stream_failed::stream_failed;
};

}  // namespace sukima::objects::detail
