// SPDX-License-Identifier: Apache-2.0
// A directory for temporary files that is removed after use.
#pragma once

#include <string>

namespace sukima::process {

/// Returns the folder for temporary files: TMPDIR, or /tmp if that is not set. It may not exist.
std::string place_of_temporary_files();

/// A new directory in TMPDIR. The destructor removes it with its contents.
class temporary_directory {
 public:
  /// \param purpose a word in its name: sukima-PURPOSE-XXXXXX
  /// \param fixed   replaces XXXXXX, unless it is empty or such a directory exists
  /// \throws usage_error the directory cannot be made; the message names the folder and TMPDIR
  explicit temporary_directory(const std::string& purpose, const std::string& fixed = "");
  ~temporary_directory();
  temporary_directory(const temporary_directory&) = delete;
  temporary_directory& operator=(const temporary_directory&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace sukima::process
