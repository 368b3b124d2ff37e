// SPDX-License-Identifier: Apache-2.0
// Cuts the output of QEMU's monitor into JSON objects. The bytes may be cut anywhere, and an object may be
// printed over several lines (-qmp-pretty), so only the braces show where an object ends. Source: QEMU's "QMP
// Protocol Specification", section 2.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace sukima::host {

/// Cuts a stream into its JSON objects. Takes linear time and at most 32 MiB.
class qmp_objects {
 public:
  /// \param take called with the text of each complete object; returns false to stop
  /// \returns an error in the stream, as a text that follows the socket's name in a sentence; empty if there
  ///   is none. After an error, `feed` must not be called again.
  std::string feed(std::string_view bytes, const std::function<bool(std::string_view)>& take);

 private:
  std::string received_;  // an incomplete object
  std::size_t scanned_ = 0;
  int depth_ = 0;
  bool in_string_ = false, after_backslash_ = false;
};

}  // namespace sukima::host
