// SPDX-License-Identifier: Apache-2.0
// The exceptions that operations on streams and program::run throw.
#pragma once

#include <stdexcept>

namespace sukima::objects {
/// \addtogroup objects
/// @{

/// Thrown if an operation on a stream fails. The text names the stream.
struct stream_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};
/// Thrown if no receiver is left for a message. If this exception leaves an object, that does not count as a
/// failure of the program.
struct stream_broken : stream_error {
  using stream_error::stream_error;
};
/// Thrown if a sender of the stream has ended by an exception, or with its process, when no other sender is
/// left and all messages have been received. The text names the object and has the text of its exception.
struct stream_failed : stream_error {
  using stream_error::stream_error;
};
/// Thrown if a message for another process has more than 64 MiB once it is encoded.
struct message_too_large : stream_error {
  using stream_error::stream_error;
};
/// Thrown by program::run if an object of another process has ended by an exception, or that process has
/// ended by a signal or before its objects had ended. The text says which object or process, and why.
struct object_failed : std::runtime_error {
  using std::runtime_error::runtime_error;
};
/// Thrown by program::run if all objects wait for one another. The text lists which object waits for which
/// stream.
struct deadlock : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// @}
}  // namespace sukima::objects

namespace sukima::objects::detail {

/// Thrown to a receiver if a sender ended because another receiver had left early. If this exception leaves
/// an object, that does not count as a failure of the program.
struct stream_cut_off : stream_failed {
  using stream_failed::stream_failed;
};

}  // namespace sukima::objects::detail
