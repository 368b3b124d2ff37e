// SPDX-License-Identifier: Apache-2.0
// The command line of a test program. CLI11 would take longer to compile than the rest of most of them,
// thrice with the sanitizers.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace sukima_test {

/// Options: a name with a number or a text behind it, as the next word or after `=`, or a name alone.
class test_options {
 public:
  /// What an option sets: a number, a text, or true.
  using place = std::variant<std::uint64_t*, unsigned*, int*, std::string*, bool*>;

  /// \param about  what the program does, for `--help`
  explicit test_options(std::string_view about) : about_(about) {}

  /// An option, whose name begins with two dashes. `where` holds the default. Numbers are from `least` to
  /// `most`, and fit into their type.
  void add(std::string_view name, place where, std::string_view about, std::uint64_t least = 0,
           std::uint64_t most = std::numeric_limits<std::uint64_t>::max());

  /// A command line with both is an error.
  void exclude(std::string_view one, std::string_view other) { excluded_.push_back({one, other}); }

  /// What reading the words of a command line found.
  struct outcome {
    bool ends = false;  ///< the program ends now
    int exit_code = 0;  ///< 0 after `--help`, 2 after an error
    std::string text;  ///< for stdout after `--help`, for stderr after an error: a line
  };

  /// Sets what the words give. \complexity O(words × options)
  outcome read(const std::vector<std::string_view>& words);

  /// The same for the arguments of main. Prints the text, and ends the process if the outcome says so.
  void read_or_exit(int count, const char* const* arguments);

 private:
  struct option {
    std::string_view name;
    place where;
    std::string_view about;
    std::uint64_t least;
    std::uint64_t most;
    bool is_given = false;
  };
  option* find(std::string_view name);
  std::string help() const;

  std::string_view about_;
  std::vector<option> options_;
  struct pair {
    std::string_view one, other;
  };
  std::vector<pair> excluded_;
};

}  // namespace sukima_test
