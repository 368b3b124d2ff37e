// SPDX-License-Identifier: Apache-2.0
// Collects and prints statistics.
#include "constants.hpp"
#include "fiber/fiber.hpp"
#include "future/future.hpp"
#include "join/join.hpp"
#include "join/join_parts.hpp"
#include "worker.hpp"

#include <base/shared/plain_numbers.hpp>

#include <cstdio>

namespace sukima {

namespace {

struct column {
  const char* name;
  std::uint64_t statistics_counts::* count;
};
constexpr column columns[] = {
    {"polls_answered", &statistics_counts::polls_answered},
    {"promotions", &statistics_counts::promotions},
    {"backtracks", &statistics_counts::backtracks},
    {"steals", &statistics_counts::steals},
    {"reclaims", &statistics_counts::reclaims},
    {"parks", &statistics_counts::parks},
    {"run_on_top", &statistics_counts::run_on_top},
    {"wakeups", &statistics_counts::wakeups},
    {"sentinel_wakeups", &statistics_counts::sentinel_wakeups},
    {"suspensions", &statistics_counts::suspensions},
    {"aborts", &statistics_counts::aborts},
    {"cpus_lent", &statistics_counts::cpus_lent},
    {"choice_points_scanned", &statistics_counts::choice_points_scanned},
    {"clones", &statistics_counts::clones},
    {"clone_polls", &statistics_counts::clone_polls},
    {"clones_left", &statistics_counts::clones_left},
    {"steals_by_hint", &statistics_counts::steals_by_hint},
    {"exchanges", &statistics_counts::exchanges},
    {"offers_taken_back", &statistics_counts::offers_taken_back},
    {"offers_taken_elsewhere", &statistics_counts::offers_taken_elsewhere},
};
struct time_column {
  const char* name;
  double statistics_counts::* seconds;
};
constexpr time_column time_columns[] = {
    {"working_seconds", &statistics_counts::working_seconds},
    {"searching_seconds", &statistics_counts::searching_seconds},
    {"sleeping_seconds", &statistics_counts::sleeping_seconds},
    {"at_home_seconds", &statistics_counts::at_home_seconds},
    {"away_seconds", &statistics_counts::away_seconds},
};

statistics_counts read(const detail::worker_statistics& source, double tick) noexcept {
  statistics_counts c;
  c.polls_answered = source.polls_answered.get();
  c.promotions = source.promotions.get();
  c.backtracks = source.backtracks.get();
  c.steals = source.steals.get();
  c.reclaims = source.reclaims.get();
  c.parks = source.parks.get();
  c.run_on_top = source.run_on_top.get();
  c.wakeups = source.wakeups.get();
  c.sentinel_wakeups = source.sentinel_wakeups.get();
  c.suspensions = source.suspensions.get();
  c.aborts = source.aborts.get();
  c.cpus_lent = source.cpus_lent.get();
  c.choice_points_scanned = source.choice_points_scanned.get();
  c.clones = source.clones.get();
  c.clone_polls = source.clone_polls.get();
  c.clones_left = source.clones_left.get();
  c.steals_by_hint = source.steals_by_hint.get();
  c.exchanges = source.exchanges.get();
  c.offers_taken_back = source.offers_taken_back.get();
  c.offers_taken_elsewhere = source.offers_taken_elsewhere.get();
  const auto seconds = [&](detail::worker_state s) {
    return static_cast<double>(source.ticks_in_state[static_cast<unsigned>(s)].get()) * tick;
  };
  c.working_seconds = seconds(detail::worker_state::working);
  c.searching_seconds = seconds(detail::worker_state::searching);
  c.sleeping_seconds = seconds(detail::worker_state::sleeping);
  c.at_home_seconds = static_cast<double>(source.ticks_at_home.get()) * tick;
  c.away_seconds = static_cast<double>(source.ticks_away.get()) * tick;
  return c;
}

std::string json_of(const statistics_counts& c) {
  std::string t;
  for (const column& k : columns)
    t.append(t.empty() ? "\"" : ",\"").append(k.name).append("\":").append(std::to_string(c.*k.count));
  char number[40];
  for (const time_column& k : time_columns) {
    std::snprintf(number, sizeof number, "%.6f", c.*k.seconds);
    t.append(",\"").append(k.name).append("\":").append(number);
  }
  return t;
}

}  // namespace

statistics runtime::statistics() const {
  struct statistics all;
  const double tick = detail::seconds_per_tick();
  for (const detail::worker& w : core_->workers.all()) {
    const statistics_counts one = read(w.statistics, tick);
    all.workers.push_back(one);
    for (const column& k : columns) all.*k.count += one.*k.count;
    for (const time_column& k : time_columns) all.*k.seconds += one.*k.seconds;
  }
  const auto& parts = detail::parts_of<detail::join_parts>(*core_);
  all.fibers_peak = parts.fibers.peak();
  all.parked_peak = parts.parked.peak();
  all.launched_peak = parts.launched.most_waiting();
  return all;
}

std::string statistics::text() const {
  std::string t;
  char line[160];
  const auto print = [&](std::uint64_t n) {
    std::snprintf(line, sizeof line, "%14llu", static_cast<unsigned long long>(n));
  };
  const auto print_seconds = [&](double s) { std::snprintf(line, sizeof line, "%14.3f", s); };
  const auto row = [&](const char* name, auto value, auto print_value) {
    std::snprintf(line, sizeof line, "%-22s", name);
    t += line;
    const auto cell = [&](const statistics_counts& c) {
      print_value(c.*value);
      t += line;
    };
    cell(*this);
    for (const statistics_counts& w : workers) cell(w);
    t += '\n';
  };
  std::snprintf(line, sizeof line, "%-22s%14s", "", "all");
  t += line;
  for (std::size_t i = 0; i < workers.size(); ++i) {
    std::snprintf(line, sizeof line, "%14s", ("worker " + std::to_string(i)).c_str());
    t += line;
  }
  t += '\n';
  for (const column& k : columns) row(k.name, k.count, print);
  for (const time_column& k : time_columns) row(k.name, k.seconds, print_seconds);
  t += "fibers_peak " + std::to_string(fibers_peak) + ", parked_peak " + std::to_string(parked_peak) +
       ", launched_peak " + std::to_string(launched_peak) + '\n';
  return t;
}

std::string statistics::json() const {
  const plain_numbers here;
  std::string t = "{";
  t.append(json_of(*this)).append(",\"fibers_peak\":").append(std::to_string(fibers_peak));
  t.append(",\"parked_peak\":").append(std::to_string(parked_peak));
  t.append(",\"launched_peak\":").append(std::to_string(launched_peak)).append(",\"workers\":[");
  for (std::size_t i = 0; i < workers.size(); ++i)
    t.append(i == 0 ? "{" : ",{").append(json_of(workers[i])).append("}");
  return t + "]}";
}

}  // namespace sukima
