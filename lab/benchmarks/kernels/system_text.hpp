// SPDX-License-Identifier: Apache-2.0
// Real text: files of a Debian-like system, read in a fixed order and cut into pieces at words.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

namespace kernels {

/// Bytes of words: ASCII letters and digits, the underline, and all bytes of other characters in UTF-8.
inline constexpr auto is_word_byte = [] {
  std::array<bool, 256> is{};
  for (std::size_t c = 0; c < 256; ++c)
    is[c] =
        (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' || c >= 128;
  return is;
}();
inline bool in_word(const char* p) { return is_word_byte[static_cast<unsigned char>(*p)]; }

/// A part of a text: the words that begin in [first, last). The last of them may end later.
struct text_piece {
  const char* first;
  const char* last;
};

/// Texts of the system, in memory: licences, copyright files, and the files below /usr/include, each in the
/// order of the paths, without symbolic links.
class system_text {
 public:
  static constexpr std::size_t piece_bytes = 32 * 1024;
  /// Number of bytes that may be read after a word.
  static constexpr std::size_t padding = 8;

  /// Reads files until there are this many bytes. On a system with less text it uses the files several times.
  /// \throws std::runtime_error if there is no file to read
  explicit system_text(std::size_t bytes) : bytes_(bytes) {
    text_ = "\n";  // before the first piece there is no word
    for (const source& from : sources) {
      if (text_.size() > bytes) break;
      for (const auto& path : files_of(from)) {
        if (text_.size() > bytes) break;
        append(path);
      }
    }
    const std::size_t once = text_.size();
    if (once == 1)
      throw std::runtime_error(
          "no text to be read in /usr/share/common-licenses, /usr/share/doc, "
          "/usr/include");
    text_.reserve(std::max(once, bytes + 1) + once + padding);
    while (text_.size() <= bytes) text_.append(text_, 1, once - 1);
    text_.resize(bytes + 1);
    text_.append(padding, '\0');
  }

  [[nodiscard]] int pieces() const { return static_cast<int>((bytes_ + piece_bytes - 1) / piece_bytes); }
  [[nodiscard]] text_piece piece(int i) const {
    const std::size_t first = static_cast<std::size_t>(i) * piece_bytes;
    return {begin() + first, begin() + std::min(first + piece_bytes, bytes_)};
  }
  [[nodiscard]] text_piece whole() const { return {begin(), begin() + bytes_}; }

 private:
  struct source {
    const char* folder;
    const char* only;  // files of this name, or of any name
  };
  static constexpr std::array<source, 3> sources{
      {{"/usr/share/common-licenses", nullptr}, {"/usr/share/doc", "copyright"}, {"/usr/include", nullptr}}};

  static std::vector<std::filesystem::path> files_of(const source& from) {
    namespace fs = std::filesystem;
    std::vector<fs::path> files;
    std::error_code error;
    fs::recursive_directory_iterator at(from.folder, fs::directory_options::skip_permission_denied, error);
    for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
      std::error_code unknown;
      if (at->is_symlink(unknown) || !at->is_regular_file(unknown)) continue;
      if (from.only == nullptr || at->path().filename() == from.only) files.push_back(at->path());
    }
    std::sort(files.begin(), files.end());
    return files;
  }

  void append(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    std::error_code unknown;
    const auto length = std::filesystem::file_size(path, unknown);
    if (!file || unknown) return;  // we may not read this file
    const std::size_t before = text_.size();
    text_.resize(before + length);
    file.read(text_.data() + before, static_cast<std::streamsize>(length));
    text_.resize(before + static_cast<std::size_t>(file.gcount()));
    text_ += '\n';
  }

  [[nodiscard]] const char* begin() const { return text_.data() + 1; }

  std::size_t bytes_;
  std::string text_;
};

}  // namespace kernels
