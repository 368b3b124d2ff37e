// SPDX-License-Identifier: Apache-2.0
// Temporary directories; see temporary_directory.hpp.
#include "shared/temporary_directory.hpp"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace sukima::process {

temporary_directory::temporary_directory(const std::string& purpose) {
  path_ = (std::filesystem::temp_directory_path() / ("sukima-" + purpose + "-XXXXXX")).string();
  if (mkdtemp(path_.data()) == nullptr)
    throw std::system_error(errno, std::generic_category(), "a directory for temporary files, " + path_);
}

temporary_directory::~temporary_directory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace sukima::process
