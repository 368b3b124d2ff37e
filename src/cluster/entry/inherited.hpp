// SPDX-License-Identifier: Apache-2.0
// Descriptors that a node inherits from the launcher. A variable has the number of each, and the file to
// which it belongs: NUMBER@DEVICE.INODE. A program that starts the node's program, such as Python's
// subprocess, may close the descriptor. Then the number may belong to a file of the node's program, which
// Sukima must not read, write or close.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sukima::cluster {

class inherited_descriptor {
 public:
  /// \param number  an open descriptor of this process
  explicit inherited_descriptor(int number) : number_(number), file_(file_of(number)) {}

  /// Parses what text() has returned in the launcher. A number without a file is the file that the descriptor
  /// has now; other launchers, and the scripts on other machines, write that.
  /// \return nothing: the text is malformed
  static std::optional<inherited_descriptor> read(std::string_view text) noexcept {
    inherited_descriptor d;
    if (!take(text, d.number_) || d.number_ < 0) return {};
    if (text.empty()) return inherited_descriptor(d.number_);
    file f{};
    if (!take(text, f.device, '@') || !take(text, f.inode, '.') || !text.empty()) return {};
    d.file_ = f;
    return d;
  }
  std::string text() const {
    return std::to_string(number_) +
           (file_ ? "@" + std::to_string(file_->device) + "." + std::to_string(file_->inode) : "");
  }

  int number() const noexcept { return number_; }
  /// Whether a descriptor of this process belongs to the inherited file.
  bool is(int descriptor) const noexcept { return file_ && file_of(descriptor) == file_; }
  /// Whether the descriptor is still there. If so, the program's children do not inherit it any more.
  bool keep() const noexcept { return is(number_) && fcntl(number_, F_SETFD, FD_CLOEXEC) == 0; }

 private:
  struct file {
    std::uint64_t device, inode;
    bool operator==(const file&) const = default;
  };

  inherited_descriptor() = default;
  static std::optional<file> file_of(int descriptor) noexcept {
    struct stat s{};
    if (fstat(descriptor, &s) != 0) return {};
    return file{s.st_dev, s.st_ino};
  }
  /// Removes a number from the beginning of the text, behind this sign.
  template <class Number> static bool take(std::string_view& text, Number& into, char sign = 0) noexcept {
    if (sign != 0 && (text.empty() || text.front() != sign)) return false;
    if (sign != 0) text.remove_prefix(1);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), into);
    if (error != std::errc{}) return false;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return true;
  }

  int number_ = -1;
  std::optional<file> file_;
};

}  // namespace sukima::cluster
