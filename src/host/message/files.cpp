// SPDX-License-Identifier: Apache-2.0
// Reads, writes and replaces small files.
#include "shared/files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <base/shared/descriptor.hpp>

#include <algorithm>
#include <array>
#include <cerrno>

namespace sukima::host {
namespace {

constexpr std::size_t most_bytes = 65536;

/// \returns 0, or an errno
int write_whole(int file, const std::string& text) {
  for (;;) {
    const ssize_t count = ::write(file, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    return count == static_cast<ssize_t>(text.size()) ? 0 : ENOSPC;
  }
}

}  // namespace

std::optional<std::string> read_small_file(const std::filesystem::path& file) {
  const descriptor in(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!in) return std::nullopt;
  std::string text;
  // A small buffer, because a session reads hundreds of files per second, and most are much smaller than
  // this.
  std::array<char, 1024> piece;
  while (text.size() < most_bytes) {
    const ssize_t count = ::read(in.get(), piece.data(), std::min(piece.size(), most_bytes - text.size()));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return std::nullopt;
    if (count == 0) break;
    text.append(piece.data(), static_cast<std::size_t>(count));
  }
  if (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

int write_control_file(const std::filesystem::path& file, const std::string& text) {
  const descriptor out(::open(file.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC));
  return out ? write_whole(out.get(), text) : errno;
}

int replace_file(const std::filesystem::path& file, const std::string& text, unsigned mode) {
  std::error_code ignored;
  std::filesystem::create_directories(file.parent_path(), ignored);
  const std::filesystem::path fresh = file.string() + ".new";
  // A killed process may have left a file there. In a folder such as /tmp, another user may have made a link
  // there, which must not be followed, or a pipe, which would block.
  ::unlink(fresh.c_str());
  {
    const descriptor out(::open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
    if (!out) return errno;
    ::fchmod(out.get(), mode);  // independent of the umask
    if (const int error = write_whole(out.get(), text); error != 0) {
      ::unlink(fresh.c_str());
      return error;
    }
  }
  if (::rename(fresh.c_str(), file.c_str()) == 0) return 0;
  const int error = errno;
  ::unlink(fresh.c_str());
  return error;
}

}  // namespace sukima::host
