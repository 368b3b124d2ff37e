// SPDX-License-Identifier: Apache-2.0
// The cells of the table of truth.
#include "truth/cell.hpp"

#include <fmt/format.h>

namespace sukima::truth {

namespace {

using enum place;

void add_base(std::vector<cell>& cells) {
  struct neighbourhood {
    place where;
    int own_weight;
    int hog_weight;
  };
  static constexpr neighbourhood neighbourhoods[] = {
      {same_group, 1, 1}, {two_groups, 1, 1}, {own_groups, 1, 1}, {two_groups, 1, 2},
      {two_groups, 1, 4}, {two_groups, 4, 1}, {root_group, 1, 1}, {own_sessions, 1, 1}};
  for (const int threads : {1, 2, 3, 4, 8}) {
    cells.push_back({.threads = threads});
    for (const int hogs : {1, 2, 4}) {
      for (const neighbourhood& one : neighbourhoods) {
        cells.push_back({.where = one.where,
                         .threads = threads,
                         .hogs = hogs,
                         .own_weight = one.own_weight,
                         .hog_weight = one.hog_weight});
      }
    }
  }
}

void add_quotas(std::vector<cell>& cells) {
  for (const double quota : {0.5, 1.0, 1.5}) {
    for (const int threads : {1, 2, 4, 8}) {
      const cell alone{.purpose = purpose::quota, .threads = threads, .quota = quota};
      cells.push_back(alone);
      cell beside = alone;
      beside.hogs = 2;
      cells.push_back(beside);
      if (threads == 8) continue;
      beside.where = below_one_parent;
      cells.push_back(beside);
    }
  }
}

void add_others(std::vector<cell>& cells) {
  for (const int nice : {-5, 5, 19}) {
    for (const int threads : {1, 2, 4}) {
      cells.push_back(
          {.purpose = purpose::nice, .where = same_group, .threads = threads, .hogs = 2, .hog_nice = nice});
    }
  }
  for (const place where : {same_group, two_groups}) {
    for (const int hogs : {0, 1, 2, 4}) {
      for (const int threads : {1, 2, 4}) {
        cells.push_back({.purpose = purpose::blocked, .where = where, .threads = threads, .hogs = hogs});
        if (hogs == 0) continue;
        cells.push_back({.purpose = purpose::on_off, .where = where, .threads = threads, .hogs = hogs});
      }
    }
  }
  for (const double quota : {0.5, 1.0}) {
    for (const int threads : {2, 4}) {
      cells.push_back({.purpose = purpose::blocked, .threads = threads, .quota = quota});
    }
  }
}

void add_changes(std::vector<cell>& cells) {
  struct numbers {
    int threads;
    int hogs;
  };
  for (const place where : {same_group, two_groups, own_groups, own_sessions}) {
    for (const numbers each : {numbers{2, 2}, {1, 2}, {4, 1}, {2, 4}}) {
      cells.push_back(
          {.purpose = purpose::change, .where = where, .threads = each.threads, .hogs = each.hogs});
    }
  }
}

void add_experiments(std::vector<cell>& cells) {
  struct numbers {
    int from;
    int to;
  };
  for (const place where : {same_group, two_groups, own_groups}) {
    for (const int hogs : {1, 2, 4}) {
      for (const numbers each : {numbers{1, 2}, {2, 1}, {1, 4}, {2, 4}}) {
        cells.push_back({.purpose = purpose::experiment,
                         .where = where,
                         .threads = each.from,
                         .hogs = hogs,
                         .experiment_threads = each.to});
      }
    }
  }
}

}  // namespace

const char* name_of(purpose purpose) {
  switch (purpose) {
    case purpose::base:
      return "base";
    case purpose::quota:
      return "quota";
    case purpose::nice:
      return "nice";
    case purpose::on_off:
      return "on-off";
    case purpose::blocked:
      return "blocked";
    case purpose::change:
      return "change";
    case purpose::experiment:
      return "experiment";
    case purpose::cost:
      return "cost";
  }
  return "unknown";
}

const char* letter_of(place where) {
  switch (where) {
    case same_group:
      return "a";
    case two_groups:
      return "b";
    case own_groups:
      return "c";
    case root_group:
      return "r";
    case own_sessions:
      return "s";
    case below_one_parent:
      return "Q";
  }
  return "?";
}

std::string cell::family() const {
  std::string text =
      fmt::format("{} {} m={} {}:{}", name_of(purpose), letter_of(where), hogs, own_weight, hog_weight);
  if (quota > 0) text += fmt::format(" q={}", quota);
  if (hog_nice != 0) text += fmt::format(" nice={}", hog_nice);
  return text;
}

std::string cell::name() const {
  std::string text = fmt::format("{} n={}", family(), threads);
  if (experiment_threads != 0) text += fmt::format(" k={}", experiment_threads);
  return text;
}

std::vector<cell> all_cells() {
  std::vector<cell> cells;
  add_base(cells);
  add_quotas(cells);
  add_others(cells);
  add_changes(cells);
  add_experiments(cells);
  cells.push_back({.purpose = purpose::cost, .where = own_groups, .threads = 8, .hogs = 10});
  return cells;
}

std::vector<cell> quick_cells() {
  std::vector<cell> cells;
  for (const int threads : {1, 2, 4}) {
    cells.push_back({.threads = threads});
    for (const place where : {same_group, two_groups, own_groups}) {
      cells.push_back({.where = where, .threads = threads, .hogs = 2});
    }
    cells.push_back({.where = two_groups, .threads = threads, .hogs = 2, .own_weight = 4});
    cells.push_back({.purpose = purpose::quota, .threads = threads, .quota = 0.5});
    cells.push_back(
        {.purpose = purpose::quota, .where = below_one_parent, .threads = threads, .hogs = 2, .quota = 1});
  }
  cells.push_back({.where = root_group, .threads = 2, .hogs = 2});
  cells.push_back({.where = own_sessions, .threads = 2, .hogs = 2});
  cells.push_back({.purpose = purpose::nice, .where = same_group, .threads = 2, .hogs = 2, .hog_nice = 19});
  for (const place where : {same_group, two_groups}) {
    cells.push_back({.purpose = purpose::on_off, .where = where, .threads = 2, .hogs = 2});
    cells.push_back({.purpose = purpose::blocked, .where = where, .threads = 2, .hogs = 1});
  }
  cells.push_back({.purpose = purpose::change, .where = two_groups, .threads = 2, .hogs = 2});
  cells.push_back({.purpose = purpose::experiment,
                   .where = own_groups,
                   .threads = 1,
                   .hogs = 2,
                   .experiment_threads = 2});
  return cells;
}

}  // namespace sukima::truth
