// SPDX-License-Identifier: Apache-2.0
// Descriptors that a node inherits from the launcher. A variable has the number of each, and the variable
// FILES has the files to which they belong: NUMBER@DEVICE.INODE, separated by commas.
//
// A program that starts the node's program, such as Python's subprocess, may close a descriptor. Then the
// number may belong to a file of the node's program, which Sukima must not read, write or close.
//
// The files have a variable of their own, because programs with an older Sukima accept only a number.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sukima::cluster {

class inherited_descriptor {
 public:
  /// Parses the variable with a descriptor's number.
  /// \param files  the value of the variable FILES. A descriptor that it does not mention belongs to the file
  ///               that it has now: older launchers, and the scripts on other machines, mention none.
  /// \return nothing: one of the texts is malformed
  static std::optional<inherited_descriptor> read(std::string_view text, std::string_view files) noexcept {
    inherited_descriptor d;
    if (!take(text, d.number_) || d.number_ < 0 || !text.empty()) return {};
    std::optional<file> named;
    while (!files.empty()) {
      int number = 0;
      file f{};
      if (!take(files, number) || !take(files, f.device, '@') || !take(files, f.inode, '.')) return {};
      if (number == d.number_) named = f;
      if (files.starts_with(',') && files.size() > 1)
        files.remove_prefix(1);
      else if (!files.empty())
        return {};
    }
    d.file_ = named ? named : file_of(d.number_);
    return d;
  }
  /// Returns the value of FILES for these descriptors of the launcher.
  static std::string files_of(const std::vector<int>& numbers) {
    std::string text;
    for (const int number : numbers)
      if (const auto f = file_of(number))
        text += (text.empty() ? "" : ",") + std::to_string(number) + "@" + std::to_string(f->device) + "." +
                std::to_string(f->inode);
    return text;
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
