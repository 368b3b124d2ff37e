// SPDX-License-Identifier: Apache-2.0
// Reads and checks settings.
#include "settings.hpp"

#include "shared/bad_setting.hpp"
#include "steal/publication_slots.hpp"

#include <base/shared/enum_names.hpp>
#include <base/shared/parse_number.hpp>

#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string_view>

namespace sukima {

namespace {

constexpr enum_names<wait_policy, wait_policy::inherit> wait_policies("adaptive", "block", "spin", "pause",
                                                                      "yield", "condvar", "inherit");
constexpr enum_names<wait_point, wait_point::lock> points("idle", "result", "reply", "refusal", "start",
                                                          "lock");
constexpr enum_names<pin_policy, pin_policy::cpu> pin_policies("adaptive", "none", "cpu");
constexpr enum_names<victim_policy, victim_policy::weighted> victim_policies("random", "last", "weighted");
constexpr enum_names<placement_policy, placement_policy::queue> placement_policies("off", "prefer",
                                                                                   "exchange", "queue");
static_assert(points.count == wait_points);

}  // namespace

namespace detail {

bool uses(const settings& s, wait_policy p) noexcept {
  for (unsigned i = 0; i < wait_points; ++i)
    if (s.policy_at(static_cast<wait_point>(i)) == p) return true;
  return false;
}

const char* name_of(wait_policy p) noexcept { return wait_policies.of(p); }
const char* name_of(wait_point p) noexcept { return points.of(p); }
const char* name_of(pin_policy p) noexcept { return pin_policies.of(p); }
const char* name_of(victim_policy p) noexcept { return victim_policies.of(p); }
const char* name_of(placement_policy p) noexcept { return placement_policies.of(p); }

}  // namespace detail

namespace {

constexpr std::size_t kibi = 1024;
constexpr std::size_t mebi = kibi * kibi;
constexpr std::size_t gibi = kibi * mebi;
constexpr std::size_t least_stack = 16 * kibi;
constexpr std::size_t most_stack = 64 * gibi;
constexpr std::size_t least_choices = 16 * kibi;
constexpr std::size_t most_choices = 64 * mebi;
constexpr std::size_t most_fibers = 1'000'000;
/// Longest interval that may be set. No worker should wait longer than a time slice, and a longer sleep would
/// count as an idle CPU (tuning::long_idle_ns).
constexpr unsigned most_interval_us = 10'000;
constexpr unsigned default_interval_us = 100;
constexpr unsigned most_clones_ns = 1'000'000'000;
constexpr unsigned most_threshold_ns = 64'000'000;

[[noreturn]] void refuse(std::string_view name, std::string_view value, std::string_view accepted) {
  detail::throw_bad_setting(std::string(name) + "='" + std::string(value) + "' is not accepted; use " +
                            std::string(accepted));
}

std::optional<std::size_t> number(std::string_view text) { return parse_number<std::size_t>(text); }

/// A number with an optional suffix K, M or G.
std::optional<std::size_t> size(std::string_view text) {
  if (text.empty()) return std::nullopt;
  std::size_t unit = 1;
  switch (text.back()) {
    case 'k':
    case 'K':
      unit = kibi;
      break;
    case 'm':
    case 'M':
      unit = mebi;
      break;
    case 'g':
    case 'G':
      unit = gibi;
      break;
    default:
      break;
  }
  if (unit != 1) text.remove_suffix(1);
  const auto n = number(text);
  if (!n || *n > std::numeric_limits<std::size_t>::max() / unit) return std::nullopt;
  return *n * unit;
}

constexpr std::string_view accepted_workers =
    "a whole number from 1 to 1024, or leave it unset for the usable CPUs";
constexpr std::string_view accepted_wait =
    "adaptive, block, spin, pause, yield, condvar or inherit, perhaps followed by others for single wait "
    "points as in adaptive,reply=spin (points: idle, result, reply, refusal, start, lock)";
constexpr std::string_view accepted_stack = "a size from 16K to 64G, such as 256M";
constexpr std::string_view accepted_choices = "a size from 16K to 64M, such as 8M";
constexpr std::string_view accepted_fibers = "a whole number from 1 to 1000000";
constexpr std::string_view accepted_steal =
    "publish or publish:K with K from 1 to 8, request, or indolent or indolent:T with T from 1 to 10000 "
    "microseconds";
constexpr std::string_view accepted_clones = "auto, off, or a time from 1ns to 1000ms, such as 20us";
constexpr std::string_view accepted_threshold = "0, or a time from 1ns to 64ms, such as 16us";
constexpr std::string_view accepted_interval =
    "a number from 0 to 10000, and published_tasks 0 if it is not 0";

/// `policy` or `point=policy`, separated by commas. If two parts name the same point, the later one counts.
/// Returns false on a syntax error.
bool read_waits(std::string_view text, settings& chosen) {
  for (;;) {
    const std::size_t comma = text.find(',');
    const std::string_view part = text.substr(0, comma);
    const std::size_t equals = part.find('=');
    const auto p = wait_policies.find(equals == std::string_view::npos ? part : part.substr(equals + 1));
    if (!p) return false;
    if (equals == std::string_view::npos) {
      chosen.wait = *p;
    } else {
      const auto point = points.find(part.substr(0, equals));
      if (!point) return false;
      chosen.wait_at[static_cast<unsigned>(*point)] = p;
    }
    if (comma == std::string_view::npos) return true;
    text.remove_prefix(comma + 1);
  }
}

/// `request`, or `publish` or `indolent`, perhaps with a number. Returns false on a syntax error.
bool read_steal(std::string_view text, settings& chosen) {
  const std::size_t colon = text.find(':');
  const std::string_view protocol = text.substr(0, colon);
  std::optional<std::size_t> n;
  if (colon != std::string_view::npos) {
    n = number(text.substr(colon + 1));
    if (!n || *n < 1) return false;
  }
  if (protocol == "publish") {
    if (n.value_or(1) > detail::max_published) return false;
    chosen.published_tasks = n ? static_cast<unsigned>(*n) : settings{}.published_tasks;
    chosen.request_interval_us = 0;
    return true;
  }
  if (protocol == "request" ? n.has_value() : protocol != "indolent") return false;
  if (n.value_or(1) > most_interval_us) return false;
  chosen.published_tasks = 0;
  chosen.request_interval_us =
      protocol == "request" ? 0 : static_cast<unsigned>(n.value_or(default_interval_us));
  return true;
}

/// A number with the unit ns, us or ms, in nanoseconds.
std::optional<unsigned> duration(std::string_view text, unsigned most_ns) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto n = number(text.substr(0, digits));
  const std::string_view name = text.substr(digits);
  if (n == 0 && name.empty()) return 0;  // the same in each unit
  const std::size_t unit = name == "ns" ? 1 : name == "us" ? 1'000 : name == "ms" ? 1'000'000 : 0;
  if (!n || unit == 0 || *n > most_ns / unit) return std::nullopt;
  return static_cast<unsigned>(*n * unit);
}

/// `auto`, `off`, or a time. Returns false on a syntax error.
bool read_clones(std::string_view text, settings& s) {
  if (text == "auto" || text == "off") {
    s.clones_ns = text == "off" ? 0 : settings{}.clones_ns;
    return true;
  }
  const auto t = duration(text, most_clones_ns);
  if (!t || *t == 0) return false;
  s.clones_ns = *t;
  return true;
}

std::optional<std::string_view> variable(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return value;
}

/// \throws bad_setting if the variable is set to another name
template <class Policy, Policy last>
void read_policy(const char* name, const enum_names<Policy, last>& policies, Policy& chosen) {
  const auto v = variable(name);
  if (!v) return;
  const auto p = policies.find(*v);
  if (!p) refuse(name, *v, policies.list());
  chosen = *p;
}

/// \throws bad_setting for a number that is none of the enumeration's values
template <class Policy, Policy last>
void require_value(const char* name, const enum_names<Policy, last>& policies, Policy value) {
  const auto number = static_cast<int>(value);
  if (number < 0 || number > static_cast<int>(last)) refuse(name, std::to_string(number), policies.list());
}

}  // namespace

settings settings::from_environment() {
  settings s;
  if (const auto v = variable("SUKIMA_WORKERS")) {
    const auto n = number(*v);
    if (!n || *n < 1 || *n > settings::most_workers) refuse("SUKIMA_WORKERS", *v, accepted_workers);
    s.workers = static_cast<unsigned>(*n);
  }
  if (const auto v = variable("SUKIMA_WAIT")) {
    if (!read_waits(*v, s)) refuse("SUKIMA_WAIT", *v, accepted_wait);
  }
  if (const auto v = variable("SUKIMA_STEAL")) {
    if (!read_steal(*v, s)) refuse("SUKIMA_STEAL", *v, accepted_steal);
  }
  if (const auto v = variable("SUKIMA_CLONES")) {
    if (!read_clones(*v, s)) refuse("SUKIMA_CLONES", *v, accepted_clones);
  }
  read_policy("SUKIMA_VICTIM", victim_policies, s.victim);
  read_policy("SUKIMA_PLACEMENT", placement_policies, s.placement);
  if (const auto v = variable("SUKIMA_HINT_THRESHOLD")) {
    const auto t = duration(*v, most_threshold_ns);
    if (!t) refuse("SUKIMA_HINT_THRESHOLD", *v, accepted_threshold);
    s.hint_threshold_ns = *t;
  }
  read_policy("SUKIMA_PIN", pin_policies, s.pin);
  if (const auto v = variable("SUKIMA_STACK")) {
    const auto n = size(*v);
    if (!n || *n < least_stack || *n > most_stack) refuse("SUKIMA_STACK", *v, accepted_stack);
    s.stack = *n;
  } else {
    // A fiber's stack is at least as large as the program's own limit, up to the largest accepted size.
    rlimit own{};
    if (getrlimit(RLIMIT_STACK, &own) == 0 && own.rlim_cur != RLIM_INFINITY)
      s.stack = std::clamp<std::size_t>(own.rlim_cur, s.stack, most_stack);
  }
  if (const auto v = variable("SUKIMA_CHOICES")) {
    const auto n = size(*v);
    if (!n || *n < least_choices || *n > most_choices) refuse("SUKIMA_CHOICES", *v, accepted_choices);
    s.choices = *n;
  }
  if (const auto v = variable("SUKIMA_FIBERS")) {
    const auto n = number(*v);
    if (!n || *n < 1 || *n > most_fibers) refuse("SUKIMA_FIBERS", *v, accepted_fibers);
    s.fibers = *n;
  }
  if (const auto v = variable("SUKIMA_ELASTIC")) {
    if (*v != "on" && *v != "off" && *v != "neighbours")
      refuse("SUKIMA_ELASTIC", *v, "on, off or neighbours");
    s.elastic = *v != "off";
    s.neighbours = *v == "neighbours";
  }
  return s;
}

void settings::check() const {
  if (workers > most_workers) refuse("settings::workers", std::to_string(workers), accepted_workers);
  require_value("settings::wait", wait_policies, wait);
  for (unsigned i = 0; i < wait_points; ++i)
    if (const auto at = wait_at[i]) {
      const std::string name =
          std::string("settings::wait_at, ") + detail::name_of(static_cast<wait_point>(i));
      require_value(name.c_str(), wait_policies, *at);
    }
  require_value("settings::victim", victim_policies, victim);
  require_value("settings::pin", pin_policies, pin);
  require_value("settings::placement", placement_policies, placement);
  if (published_tasks > detail::max_published)
    refuse("settings::published_tasks", std::to_string(published_tasks), "a number from 0 to 8");
  if (request_interval_us > (published_tasks == 0 ? most_interval_us : 0))
    refuse("settings::request_interval_us", std::to_string(request_interval_us), accepted_interval);
  if (clones_ns > most_clones_ns)
    refuse("settings::clones_ns", std::to_string(clones_ns), "a number from 0 to 1000000000");
  if (hint_threshold_ns > most_threshold_ns)
    refuse("settings::hint_threshold_ns", std::to_string(hint_threshold_ns), "a number from 0 to 64000000");
  if (stack < least_stack || stack > most_stack)
    refuse("settings::stack", std::to_string(stack), accepted_stack);
  if (choices < least_choices || choices > most_choices)
    refuse("settings::choices", std::to_string(choices), accepted_choices);
  if (fibers < 1 || fibers > most_fibers) refuse("settings::fibers", std::to_string(fibers), accepted_fibers);
}

std::string settings::text() const {
  std::string t = "workers=" + (workers == 0 ? std::string("auto") : std::to_string(workers));
  t += std::string(" wait=") + detail::name_of(wait);
  for (unsigned i = 0; i < wait_points; ++i)
    if (const auto at = wait_at[i])
      t.append(",")
          .append(detail::name_of(static_cast<wait_point>(i)))
          .append("=")
          .append(detail::name_of(*at));
  t += published_tasks != 0       ? " steal=publish:" + std::to_string(published_tasks)
       : request_interval_us != 0 ? " steal=indolent:" + std::to_string(request_interval_us)
                                  : std::string(" steal=request");
  t += " clones=" + (clones_ns == 0 ? std::string("off") : std::to_string(clones_ns) + "ns");
  t += std::string(" victim=") + detail::name_of(victim);
  t += std::string(" pin=") + detail::name_of(pin);
  t += std::string(" placement=") + detail::name_of(placement);
  if (placement == placement_policy::exchange) t += " threshold=" + std::to_string(hint_threshold_ns) + "ns";
  t += " stack=" + std::to_string(stack) + " choices=" + std::to_string(choices) +
       " fibers=" + std::to_string(fibers) + " elastic=" +
       (!elastic     ? "off"
        : neighbours ? "neighbours"
                     : "on");
  return t;
}

}  // namespace sukima
