// SPDX-License-Identifier: Apache-2.0
// Collects the reports of the programs in a guest.
#pragma once

#include <map>
#include <optional>

#include "shared/inbox.hpp"

namespace sukima::host {

/// Adds up the reports of the connected programs. A program is limited to the grammar and the rate of a guest
/// (shared/inbox.hpp). `online` in a report is ignored.
class program_reports {
 public:
  /// The largest number of programs whose reports are kept at the same time.
  static constexpr std::size_t most_programs = 64;

  /// Adds a program that has connected. \returns false if there are too many
  bool opened(int number);
  /// Removes a program. Its progress so far stays in the sum.
  void closed(int number);
  /// Takes bytes from a program. \pre the program was added. Linear time.
  void feed(int number, std::string_view bytes, double now);

  /// The sum of all growth of progress so far; nothing before the first report. A program whose number falls
  /// has begun again.
  std::optional<double> progress() const { return progress_; }
  /// The sum of the programs' wishes, if each program has reported one.
  std::optional<unsigned> want() const;
  /// Whether a program has sent `turn` since the last call.
  bool take_turn();
  /// Makes the next call of take_turn return true.
  void add_turn() { turn_ = true; }

 private:
  struct program {
    guest_inbox inbox;
    std::optional<double> progress;
    std::optional<unsigned> want;
  };
  std::map<int, program> programs_;
  std::optional<double> progress_;
  bool turn_ = false;
};

}  // namespace sukima::host
