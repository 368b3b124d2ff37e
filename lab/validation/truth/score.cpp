// SPDX-License-Identifier: Apache-2.0
// Computes figures from results.
#include "truth/score.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

namespace sukima::truth {

namespace {

/// Collects the cases of one figure.
class tally {
 public:
  tally(std::string name, std::string demand, double limit, double target) : limit_(limit) {
    figure_.name = std::move(name);
    figure_.demand = std::move(demand);
    figure_.target = target;
  }

  void compare(const std::string& case_name, double estimated, double truth) {
    count(case_name, std::abs(estimated / truth - 1),
          fmt::format("estimated {:.2f}, is {:.2f}", estimated, truth));
  }

  void count(const std::string& case_name, double error, const std::string& text) {
    figure_.cases++;
    figure_.worst = std::max(figure_.worst, error);
    if (error <= limit_) {
      figure_.held++;
    } else {
      misses_.emplace(-error, fmt::format("{}: {}", case_name, text));
    }
  }

  void add_to(std::vector<figure>& figures) {
    if (figure_.cases == 0) return;
    for (const auto& [error, text] : misses_) figure_.misses.push_back(text);
    figures.push_back(figure_);
  }

 private:
  double limit_;
  figure figure_;
  std::multimap<double, std::string> misses_;
};

/// The CPUs that k threads get in each family.
using truth_table = std::map<std::string, std::map<int, double>>;

std::map<std::string, cell> cells_by_name() {
  std::map<std::string, cell> result;
  for (const std::vector<cell>& cells : {all_cells(), quick_cells()}) {
    for (const cell& one : cells) result.emplace(one.name(), one);
  }
  return result;
}

struct judged {
  const cell_result& result;
  const cell& one;
};

void score_now(const std::vector<judged>& all, std::vector<figure>& figures) {
  tally windows("now: 500 ms windows", "within 10 %", 0.1, 0.95);
  tally several("now: half a second after a change, two or more threads", "within 10 %", 0.1, 0.9);
  tally one_thread("now: a second after a change, one thread", "within 10 %", 0.1, 0.75);
  for (const auto& [result, one] : all) {
    for (const double estimated_now : result.windows) windows.compare(result.name, estimated_now, result.got);
    for (const after_change& change : result.changes) {
      const bool first = change.after_seconds < 0.75;
      if (one.threads >= 2 && first) several.compare(result.name, change.estimated_now, change.got);
      if (one.threads == 1 && !first) one_thread.compare(result.name, change.estimated_now, change.got);
    }
  }
  windows.add_to(figures);
  several.add_to(figures);
  one_thread.add_to(figures);
}

bool is_steady(const cell& one) {
  return one.purpose == purpose::base || one.purpose == purpose::quota || one.purpose == purpose::nice;
}

/// Calls visit(k, index of k, truth) for each number of threads with a known truth.
template <class Function>
void for_known(const truth_table& truths, const cell& one, Function visit) {
  const auto family = truths.find(one.family());
  if (family == truths.end()) return;
  for (std::size_t i = 0; i < asked_threads.size(); i++) {
    const auto truth = family->second.find(asked_threads[i]);
    if (truth != family->second.end() && truth->second > 0) visit(asked_threads[i], i, truth->second);
  }
}

void score_tree(const std::vector<judged>& all, const truth_table& truths, std::vector<figure>& figures) {
  tally running("usable, all groups visible: running programs", "within 10 %", 0.1, 0.95);
  tally idle("usable, all groups visible: programs that have not started", "within 10 %", 0.1, 0.95);
  tally bound("usable, all groups visible: both", "within 30 %", 0.3, 1);
  tally near("usable, all groups visible: hogs on and off", "within 35 %", 0.35, 1);
  tally high("usable, all groups visible: hogs on and off", "at most 10 % too high", 0.1, 1);
  for (const auto& [result, one] : all) {
    for_known(truths, one, [&](int k, std::size_t i, double truth) {
      const std::string question = fmt::format("{}, asked about {}", result.name, k);
      const double now = result.tree[i].usable;
      const double before = result.tree_idle[i].usable;
      if (is_steady(one)) {
        running.compare(question, now, truth);
        idle.compare(question + " before the start", before, truth);
        bound.compare(question, now, truth);
        bound.compare(question + " before the start", before, truth);
      } else if (one.purpose == purpose::on_off) {
        for (const double value : {now, before}) {
          near.compare(question, value, truth);
          high.count(question, value / truth - 1, fmt::format("estimated {:.2f}, is {:.2f}", value, truth));
        }
      }
    });
  }
  for (tally* one : {&running, &idle, &bound, &near, &high}) one->add_to(figures);
}

void score_blind(const std::vector<judged>& all, const truth_table& truths, std::vector<figure>& figures) {
  constexpr double slack = 0.05;
  tally interval("usable, blind: the interval", "holds the truth", slack, 0.95);
  tally fewer("usable, blind: fewer threads than now", "within 10 %", 0.1, 0.9);
  tally more("usable, blind: more threads than now", "within 10 %", 0.1, 0.7);
  tally tried("usable, blind: after an experiment of 300 ms", "within 10 %", 0.1, 0.9);
  for (const auto& [result, one] : all) {
    // A shield keeps other processes from our CPUs, but they still count as runnable threads.
    if (result.foreign > most_foreign) continue;
    if (one.purpose == purpose::experiment) {
      tried.compare(result.name, result.experiment_estimate, result.experiment_got);
      continue;
    }
    if (!is_steady(one)) continue;
    for_known(truths, one, [&](int k, std::size_t i, double truth) {
      const std::string question = fmt::format("{}, asked about {}", result.name, k);
      const estimate& now = result.blind[i];
      const estimate& before = result.blind_idle[i];
      for (const estimate& value : {now, before}) {
        const double error = std::max({0.0, value.low / truth - 1, 1 - value.high / truth});
        interval.count(question, error,
                       fmt::format("estimated {:.2f} to {:.2f}, is {:.2f}", value.low, value.high, truth));
      }
      if (k < one.threads) fewer.compare(question, now.usable, truth);
      if (k > one.threads) more.compare(question, now.usable, truth);
    });
  }
  for (tally* figure : {&interval, &fewer, &more, &tried}) figure->add_to(figures);
}

void score_cost(const std::vector<judged>& all, std::vector<figure>& figures) {
  tally cost("cost of ten samples a second", "below 0.1 % of a CPU", 0.001, 1);
  for (const auto& [result, one] : all) {
    if (one.purpose == purpose::cost) {
      cost.count(result.name, result.cost, fmt::format("{:.3f} %", result.cost * 100));
    }
  }
  cost.add_to(figures);
}

}  // namespace

std::vector<figure> score(const std::vector<cell_result>& results) {
  const std::map<std::string, cell> cells = cells_by_name();
  std::vector<judged> all;
  truth_table truths;
  for (const cell_result& result : results) {
    const auto found = cells.find(result.name);
    if (found == cells.end()) continue;  // of another version of the table
    if (is_disturbed(result, found->second)) continue;
    all.push_back({result, found->second});
    const purpose purpose = found->second.purpose;
    const bool usable =
        purpose != purpose::change && purpose != purpose::experiment && purpose != purpose::cost;
    if (usable) truths[found->second.family()][found->second.threads] = result.got;
  }
  std::vector<figure> figures;
  score_now(all, figures);
  score_tree(all, truths, figures);
  score_blind(all, truths, figures);
  score_cost(all, figures);
  return figures;
}

}  // namespace sukima::truth
