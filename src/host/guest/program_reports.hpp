// SPDX-License-Identifier: Apache-2.0
// What the programs in a guest report to the guest service.
#pragma once

#include <map>
#include <optional>

#include "shared/inbox.hpp"

namespace sukima::host {

/// Adds up what the connected programs say. Each has the grammar and the rate of a guest (shared/inbox.hpp);
/// `online` is not for programs and counts as nothing.
class program_reports {
 public:
  /// The most programs whose reports are kept at once.
  static constexpr std::size_t most_programs = 64;

  /// A program has connected. \returns false if there are too many
  bool opened(int number);
  /// Its progress so far stays in the sum.
  void closed(int number);
  /// \pre it was opened. Linear time.
  void feed(int number, std::string_view bytes, double now);

  /// The sum of all growth so far; nothing before the first report. A number that falls begins again.
  std::optional<double> progress() const { return progress_; }
  /// The sum of what the programs want, if each of them has said it.
  std::optional<unsigned> want() const;
  /// Whether a program has asked for a turn since the last call.
  bool take_turn();

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
