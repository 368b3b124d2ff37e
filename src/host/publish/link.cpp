// SPDX-License-Identifier: Apache-2.0
// Determines when a number is sent again.
#include "shared/publish.hpp"

namespace sukima::host {

void guest_link::set_message(std::optional<host_message> message, double now) {
  const bool same = message && message_ && text_of(*message) == text_of(*message_);
  if (message) message->valid = number_lease;
  if (!same) sent_at_.reset();
  message_ = message;
  step(now);
}

std::optional<std::string> guest_link::due(double now) {
  if (!message_ || (sent_at_ && now - *sent_at_ < number_renewal)) return std::nullopt;
  sent_at_ = now;
  return text_of(*message_);
}

}  // namespace sukima::host
