// SPDX-License-Identifier: Apache-2.0
// The folders of an installation; see installed.hpp.
#include "shared/installed.hpp"

#include <sys/auxv.h>
#include <unistd.h>

#include <system_error>

namespace sukima::process {

namespace fs = std::filesystem;

namespace {

/// Returns the running program. Without /proc it returns the name with which the program was started.
fs::path own_program() {
  std::error_code missing;
  fs::path program = fs::read_symlink("/proc/self/exe", missing);
  if (!missing) return program;
  const auto* const started = reinterpret_cast<const char*>(getauxval(AT_EXECFN));
  if (started == nullptr) throw fs::filesystem_error("/proc is missing", missing);
  return fs::canonical(started);
}

fs::path folder_beside(const char* place, const char* usual) {
  const fs::path own = program_directory();
  fs::path configured = (own / place).lexically_normal();
  std::error_code ignored;
  return fs::is_directory(configured, ignored) ? configured : own.parent_path() / usual / "sukima";
}

}  // namespace

fs::path program_directory() {
  const fs::path own = own_program().parent_path();
  // The folder of the commands' programs is always called sukima, regardless of its location.
  if (own.filename() != "sukima") return own;
  for (const char* const place :
       {SUKIMA_BIN_PLACE, "../../bin"}) {  // as configured, and as in a build folder
    fs::path above = (own / place).lexically_normal();
    if (access((above / "sukima").c_str(), X_OK) == 0) return above;
  }
  return own;
}

fs::path private_programs() { return folder_beside(SUKIMA_LIBEXECDIR_PLACE, "libexec"); }

fs::path shared_data() { return folder_beside(SUKIMA_DATADIR_PLACE, "share"); }

}  // namespace sukima::process
