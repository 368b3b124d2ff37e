// SPDX-License-Identifier: Apache-2.0
// Collects the reports of the programs in a guest.
#include "guest/program_reports.hpp"

#include <base/shared/assert.hpp>

#include <algorithm>
#include <utility>

namespace sukima::host {

bool program_reports::opened(int number) {
  if (programs_.size() >= most_programs) return false;
  programs_[number];
  return true;
}

void program_reports::closed(int number) { programs_.erase(number); }

void program_reports::feed(int number, std::string_view bytes, double now) {
  auto& one = programs_.at(number);
  one.inbox.feed(bytes, now);
  for (const guest_message& message : one.inbox.take()) {
    if (message.progress) {
      const double growth = *message.progress - one.progress.value_or(*message.progress);
      // If the sum does not fit into a message, it begins again at 0.
      const double sum = progress_.value_or(0) + std::max(0.0, growth);
      progress_ = sum <= most_progress ? sum : 0;
      SUKIMA_ASSERT(*progress_ >= 0 && *progress_ <= most_progress,
                    "the sum fits into a message to the host");
      one.progress = message.progress;
    }
    if (message.want) one.want = message.want;
    if (message.turn) add_turn();
  }
}

std::optional<unsigned> program_reports::want() const {
  double sum = 0;
  for (const auto& [number, one] : programs_) {
    if (!one.want) return std::nullopt;
    sum += *one.want;
  }
  if (programs_.empty()) return std::nullopt;
  return static_cast<unsigned>(std::min(sum, most_message_cpus));
}

bool program_reports::take_turn() { return std::exchange(turn_, false); }

}  // namespace sukima::host
