// SPDX-License-Identifier: Apache-2.0
// Reading a text as a whole before it is parsed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <istream>
#include <optional>
#include <string>

namespace sukima {

/// All that is left of a stream. O(size).
/// \param most  reading ends beyond so many bytes: a text that is longer than that was cut off
/// \return nothing if it cannot be read, as a folder, or the file in /proc of a process that has ended:
///   std::istreambuf_iterator throws there, because the stream buffer does
inline std::optional<std::string> read_all(std::istream& in, std::size_t most = SIZE_MAX) {
  if (!in) return std::nullopt;
  std::string text;
  char part[16384];
  while (text.size() <= most && (in.read(part, sizeof part) || in.gcount() > 0))
    text.append(part, static_cast<std::size_t>(in.gcount()));
  return in.bad() ? std::nullopt : std::optional(std::move(text));
}

/// All of a file; `most` as for `read_all`. \return nothing if it cannot be read
inline std::optional<std::string> read_file_text(const std::string& path, std::size_t most = SIZE_MAX) {
  std::ifstream in(path, std::ios::binary);
  return read_all(in, most);
}

}  // namespace sukima
