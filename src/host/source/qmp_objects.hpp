// SPDX-License-Identifier: Apache-2.0
// The objects in what QEMU's monitor says: bytes come cut anywhere, and objects may be printed over many
// lines (-qmp-pretty), so only braces show where one ends. Source: QEMU's "QMP Protocol Specification",
// section 2.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace sukima::host {

/// Cuts a stream into its JSON objects. Takes linear time and at most 32 MiB.
class qmp_objects {
 public:
  /// \param take is called with the text of each whole object; false: no more is wanted
  /// \returns what is wrong with the stream, to follow the name of the socket in a sentence; empty if nothing
  ///          is. Nothing may be fed after that.
  std::string feed(std::string_view bytes, const std::function<bool(std::string_view)>& take);

 private:
  std::string received_;  // an object that is not whole yet
  std::size_t scanned_ = 0;
  int depth_ = 0;
  bool in_string_ = false, after_backslash_ = false;
};

}  // namespace sukima::host
