// SPDX-License-Identifier: Apache-2.0
// The guest service's reactions to messages.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "guest/cpu_switch.hpp"
#include "guest/program_reports.hpp"
#include "shared/description.hpp"
#include "shared/files.hpp"
#include "shared/guest.hpp"

namespace sukima::host {
namespace {

/// Seconds between two messages to the host. The optimiser needs a few in two of its windows.
constexpr double between_messages = 0.5;
/// CPUs stay off for at least this many seconds after the last message, so that they stay off while the
/// host's process restarts.
constexpr double shortest_lease = 30;
constexpr const char* number_file = "run/sukima/host";

}  // namespace

guest_service::guest_service(std::filesystem::path root)
    : root_(std::move(root)),
      cpus_(std::make_unique<cpu_switch>(root_)),
      programs_(std::make_unique<program_reports>()) {}

guest_service::~guest_service() { cpus_->restore(); }

void guest_service::from_host(std::string_view bytes, double now) {
  frames_.feed(bytes, [&](std::string_view text) {
    if (const auto message = parse_host_message(text))
      obey(*message, now);
    else
      say("a message of the host is malformed and was ignored");
  });
}

void guest_service::obey(const host_message& message, double now) {
  host_message number = message;
  number.vcpus.reset();  // the number of virtual CPUs is for this service only
  const std::filesystem::path file = root_ / number_file;
  if (const int error = replace_file(file, text_of(number), 0644); error != 0)
    say(fmt::format("{} cannot be written: {}", file.string(), std::strerror(error)));
  if (message.vcpus) {
    vcpus_until_ = now + std::max(message.valid, shortest_lease);
    follow(*message.vcpus);
  } else if (std::exchange(vcpus_, std::nullopt)) {
    say(cpus_->restore());
    online_now("the host no longer sets their number");
  }
}

void guest_service::follow(unsigned count) {
  const bool fresh = std::exchange(vcpus_, count) != count;
  say(cpus_->follow(count));
  if (fresh) online_now(fmt::format("the host wants {}", count).c_str());
}

void guest_service::host_closed() {
  frames_.clear();
  if (!std::exchange(vcpus_, std::nullopt)) return;
  say(cpus_->restore());
  online_now("the port has closed");
}

std::string guest_service::step(double now, bool can_send) {
  if (vcpus_ && now >= vcpus_until_) {
    vcpus_.reset();
    say(cpus_->restore());
    online_now("the host is silent");
  }
  // Try again to switch on CPUs that could not be switched on.
  if (!vcpus_ && !cpus_->off().empty()) say(cpus_->restore());
  if (!vcpus_) cpus_->accept_present();
  if (!can_send || (sent_at_ && now - *sent_at_ < between_messages)) return {};
  sent_at_ = now;
  guest_message message;
  message.progress = programs_->progress();
  message.want = programs_->want();
  message.turn = reports_turn_ = programs_->take_turn();
  if (auto online = cpus_->online(); !online.empty()) message.online = std::move(online);
  return text_of(message);
}

void guest_service::not_sent() {
  if (std::exchange(reports_turn_, false)) programs_->add_turn();
}

std::optional<std::string> guest_service::stop() {
  vcpus_.reset();
  return cpus_->restore();
}

/// Reports a problem, unless it is the same as the last one.
void guest_service::say(std::optional<std::string> problem) {
  if (problem && *problem != last_problem_) events_.push_back(*problem);
  if (problem) last_problem_ = *std::move(problem);
}

void guest_service::online_now(const char* why) {
  events_.push_back(fmt::format("the CPUs {} are online: {}", cpu_list_text(cpus_->online()), why));
}

std::vector<std::string> guest_service::take_events() { return std::exchange(events_, {}); }

}  // namespace sukima::host
