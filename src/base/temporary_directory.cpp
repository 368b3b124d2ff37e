// SPDX-License-Identifier: Apache-2.0
// Temporary directories; see temporary_directory.hpp.
#include "shared/temporary_directory.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "shared/errors.hpp"

namespace sukima::process {

namespace {

/// Returns the value of TMPDIR; empty if it is not set.
std::string chosen_place() {
  const char* const chosen = std::getenv("TMPDIR");
  return chosen != nullptr ? chosen : "";
}

}  // namespace

std::string place_of_temporary_files() {
  const std::string chosen = chosen_place();
  return chosen.empty() ? "/tmp" : chosen;
}

temporary_directory::temporary_directory(const std::string& purpose, const std::string& fixed) {
  const std::string begin = place_of_temporary_files() + "/sukima-" + purpose + "-";
  path_ = begin + fixed;
  if (!fixed.empty() && mkdir(path_.c_str(), S_IRWXU) == 0) return;
  path_ = begin + "XXXXXX";
  if (mkdtemp(path_.data()) != nullptr) return;
  const std::string reason = std::strerror(errno);
  throw usage_error("no temporary folder can be made in '" + place_of_temporary_files() +
                    (chosen_place().empty() ? "', as TMPDIR is not set: " : "', which TMPDIR names: ") +
                    reason + "; set TMPDIR to a folder with room where you can write");
}

temporary_directory::~temporary_directory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace sukima::process
