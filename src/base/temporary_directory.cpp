// SPDX-License-Identifier: Apache-2.0
// Temporary directories; see temporary_directory.hpp.
#include "shared/temporary_directory.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace sukima::process {

temporary_directory::temporary_directory(const std::string& purpose, const std::string& fixed) {
  const char* const base = std::getenv("TMPDIR");
  const std::string begin =
      std::string(base != nullptr && *base != '\0' ? base : "/tmp") + "/sukima-" + purpose + "-";
  path_ = begin + fixed;
  if (!fixed.empty() && mkdir(path_.c_str(), S_IRWXU) == 0) return;
  path_ = begin + "XXXXXX";
  if (mkdtemp(path_.data()) == nullptr)
    throw std::system_error(errno, std::generic_category(),
                            "cannot create a temporary folder '" + path_ + "'");
}

temporary_directory::~temporary_directory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace sukima::process
