// SPDX-License-Identifier: Apache-2.0
// Reads a whole text before it is parsed.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <istream>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

namespace sukima {

/// Returns the rest of a stream. O(size).
/// \param most  reading stops once the text is longer than this, so a longer text is incomplete
/// \return nothing if the stream cannot be read, as for a folder, or a file in /proc of a process that has
/// ended (a std::istreambuf_iterator would throw there, because the stream buffer does)
inline std::optional<std::string> read_all(std::istream& in, std::size_t most = SIZE_MAX) {
  if (!in) return std::nullopt;
  errno = 0;
  std::string text;
  char part[16384];
  while (text.size() <= most && (in.read(part, sizeof part) || in.gcount() > 0))
    text.append(part, static_cast<std::size_t>(in.gcount()));
  return in.bad() ? std::nullopt : std::optional(std::move(text));
}

/// Returns all of a file; `most` as for `read_all`. \return nothing if it cannot be read
inline std::optional<std::string> read_file_text(const std::string& path, std::size_t most = SIZE_MAX) {
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  return read_all(in, most);
}

/// Says why one of the functions above has just returned nothing, such as "No such file or directory". The
/// stream does not keep the reason, but the system call that failed has left it in errno.
inline std::string read_error() { return std::generic_category().message(errno != 0 ? errno : EIO); }

}  // namespace sukima
