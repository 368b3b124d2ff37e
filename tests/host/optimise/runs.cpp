// SPDX-License-Identifier: Apache-2.0
#include "runs.hpp"

#include <algorithm>
#include <cmath>

namespace synthetic {

using namespace sukima::host;

namespace {

run end_of(const world& in, unsigned threads) {
  run result;
  result.below_best = in.now().below_best(threads);
  result.lost = in.lost();
  return result;
}

/// Section 4.1: up by one while the use changes by 5 % or more in the same direction.
unsigned paper_rule(world& in) {
  const unsigned start = in.now().usable;
  unsigned n = start;
  double use = in.measure(n).use;
  int phase = 0;
  while (n < most) {
    const double next = in.measure(n + 1).use;
    const double change = next / use - 1;
    if (std::abs(change) < 0.05) break;
    if (change > 0 && phase == -1) break;
    if (change < 0 && phase == 1) return start;
    phase = change > 0 ? 1 : -1;
    n++;
    use = next;
  }
  return n;
}

vm_report report_of(const world& in, double at, unsigned threads, const window& seen) {
  const unsigned usable = in.now().usable;
  vm_report report;
  report.status = vm_status{at, static_cast<double>(usable), usable, seen.use, 1000 + at};
  report.window = measured_window{.at = at, .count = threads, .use = seen.use, .progress = seen.speed};
  return report;
}

run optimised(world& in, optimise_by by) {
  optimiser all(1);
  optimiser_settings settings;
  settings.most = most;
  settings.by = by;
  settings.window_seconds = in.window_seconds();
  const std::size_t vm = all.add("vm", settings);
  all.event(vm, 0, vm_event::opted_in);
  while (in.seconds() < run_seconds) {
    const unsigned threads = all.wanted(vm).value_or(in.now().usable);
    const window seen = in.measure(threads);
    if (in.settling()) {
      vm_report unsettled = report_of(in, in.seconds() - in.window_seconds(), threads, *in.settling());
      unsettled.window->settled = false;
      all.cycle({unsettled});
    }
    all.cycle({report_of(in, in.seconds(), threads, seen)});
  }
  run result = end_of(in, all.resting(vm));
  result.verdicts = all.take_verdicts();
  unsigned rests_at = 0;
  for (const verdict& one : result.verdicts) {
    if (one.state != optimiser_state::rest) continue;
    if (rests_at != 0 && one.after != rests_at && one.at > settled_after) result.changes++;
    rests_at = one.after;
  }
  return result;
}

}  // namespace

run make_run(method by, const program& of, const circumstances& around, draws from) {
  world in(of, around, from);
  if (by == method::use) return optimised(in, optimise_by::use);
  if (by == method::progress) return optimised(in, optimise_by::progress);
  const unsigned paper = by == method::paper ? paper_rule(in) : 0;
  while (in.seconds() < run_seconds) in.measure(by == method::paper ? paper : in.now().usable);
  return end_of(in, by == method::paper ? paper : in.now().usable);
}

summary summarise(const std::vector<run>& runs) {
  std::vector<double> below;
  summary all;
  for (const run& one : runs) {
    below.push_back(one.below_best);
    all.near += one.below_best <= 5 ? 1 : 0;
    all.lost += one.lost;
    all.changes_an_hour += one.changes * 3600 / (run_seconds - settled_after);
  }
  std::sort(below.begin(), below.end());
  const double count = static_cast<double>(runs.size());
  all.median = below[below.size() / 2];
  all.p95 = below[static_cast<std::size_t>(count * 0.95)];
  all.near /= count;
  all.lost /= count;
  all.changes_an_hour /= count;
  return all;
}

summary summarise(method by, shape of, const circumstances& in, unsigned runs, std::uint64_t seed) {
  std::vector<run> made;
  for (unsigned i = 0; i < runs; i++) {
    draws from(seed + i);
    const program drawn = draw_program(of, from);
    made.push_back(make_run(by, drawn, in, from));
  }
  return summarise(made);
}

summary summarise_change(method by, double noise, unsigned runs, std::uint64_t seed) {
  std::vector<run> made;
  for (unsigned i = 0; i < runs; i++) {
    draws from(seed + i);
    const auto any = [&] {
      return draw_program(all_shapes[from.number(0, std::size(all_shapes) - 1)], from);
    };
    const program first = any(), second = any();
    made.push_back(make_run(by, first, {.noise = noise, .other = second, .change = 300}, from));
  }
  return summarise(made);
}

}  // namespace synthetic
