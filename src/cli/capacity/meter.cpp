// SPDX-License-Identifier: Apache-2.0
// Measuring the CPU available; see meter.hpp.
#include "capacity/meter.hpp"

#include <fmt/format.h>
#include <signal.h>

#include <cerrno>
#include <chrono>
#include <cmath>
#include <iterator>
#include <limits>
#include <new>
#include <sstream>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <base/shared/parse_number.hpp>
#include <base/shared/read_text.hpp>
#include "capacity/topology.hpp"
#include "shared/console.hpp"

namespace sukima::cli {

namespace {

using namespace std::chrono_literals;

constexpr auto sampling = 50ms;
/// If others use less CPU than this, it is the use by reading the counters and by the kernel's own threads.
constexpr double no_neighbour = 0.15;

void expect_process(pid_t process) {
  if (!is_there(process))
    throw process::usage_error(
        fmt::format("there is no process {}: give the number of a running process", process));
}

}  // namespace

bool is_there(pid_t process) {
  if (process == 0) return true;
  if (kill(process, 0) != 0 && errno == ESRCH) return false;
  // A process that has ended keeps its number until its parent reads its exit status.
  constexpr std::size_t state_field = 0, threads_field = 17;  // after the name
  const std::string stat = read_file_text(fmt::format("/proc/{}/stat", process)).value_or("");
  const std::size_t name_end = stat.rfind(')');
  if (name_end == std::string::npos) return true;
  std::istringstream words(stat.substr(name_end + 1));
  const std::vector<std::string> fields{std::istream_iterator<std::string>(words), {}};
  if (fields.size() <= threads_field || fields[state_field] != "Z") return true;
  return parse_number<unsigned>(fields[threads_field]).value_or(0) > 1;  // only the main thread has ended
}

capacity_meter::capacity_meter(const meter_place& place) {
  if (!place.is_recorded) expect_process(place.process);
  sukima_capacity_options options{};
  options.pid = place.process;
  options.root = place.root.c_str();
  if (place.override_text) options.override_text = place.override_text->c_str();
  estimator_.reset(sukima_capacity_estimator_open(&options));
  if (!estimator_) throw std::bad_alloc();
  if (const char* const error = sukima_capacity_estimator_error(estimator_.get()))
    throw process::usage_error(error);
}

void capacity_meter::measure(double seconds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  sample();
  do {
    std::this_thread::sleep_for(sampling);
    sample();
  } while (std::chrono::steady_clock::now() < end);
}

void capacity_meter::measure_quickly() {
  sample();
  std::this_thread::sleep_for(30ms);
  sample();
  // The use of others is counted in ticks of 10 ms. So it is zero in such a short time only if others use
  // almost no CPU.
  if (load().others <= no_neighbour && load().throttled <= 0) return;
  std::this_thread::sleep_for(50ms);
  sample();
  std::this_thread::sleep_for(50ms);
  sample();
}

void capacity_meter::measure_briefly() {
  sample();
  std::this_thread::sleep_for(10ms);
  sample();
  // This may miss a neighbour that runs with pauses; the preloaded library observes programs while they run.
  // The number of runnable threads does not include this thread.
  const sukima_capacity_load seen = load();
  if (seen.others <= no_neighbour && seen.throttled <= 0 && !(seen.running >= 1)) return;
  std::this_thread::sleep_for(15ms);
  sample();
}

std::map<unsigned, double> capacity_meter::probe_steal(const std::set<unsigned>& cpus, double seconds) {
  std::map<unsigned, double> taken;
  for (const unsigned cpu : cpus) taken[cpu] = std::numeric_limits<double>::quiet_NaN();
  {
    std::vector<std::jthread> readers;  // joined also if one of them cannot be started
    for (auto& one : taken) {
      readers.emplace_back([&one, seconds] {
        try {
          pin_to({one.first});  // pins only the calling thread
        } catch (const std::system_error&) {
          return;  // the CPU was switched off in the meantime, or the mask has changed
        }
        sukima_capacity_probe_steal(seconds, &one.second);
      });
    }
  }
  double sum = 0;
  unsigned known = 0;
  for (const auto& [cpu, part] : taken) {
    if (std::isnan(part)) continue;
    sum += part;
    ++known;
  }
  if (known != 0) sukima_capacity_estimator_add_steal_probe(estimator_.get(), sum / known);
  return taken;
}

sukima_capacity_facts capacity_meter::facts() const {
  sukima_capacity_facts facts{};
  sukima_capacity_estimator_facts(estimator_.get(), &facts);
  return facts;
}

sukima_capacity_load capacity_meter::load() const {
  sukima_capacity_load load{};
  sukima_capacity_estimator_load(estimator_.get(), &load);
  return load;
}

sukima_capacity_estimate capacity_meter::usable(double threads) const {
  sukima_capacity_estimate estimate{};
  sukima_capacity_estimator_usable(estimator_.get(), threads, &estimate);
  return estimate;
}

sukima_capacity_kind capacity_meter::cause(const sukima_capacity_estimate& estimate) const {
  return sukima_capacity_estimator_cause(estimator_.get(), &estimate);
}

capacity_report capacity_meter::explain() const {
  capacity_report report(sukima_capacity_estimator_explain(estimator_.get()));
  if (!report) throw std::bad_alloc();
  return report;
}

namespace {

bool is_measured(sukima_capacity_kind kind) {
  return kind == SUKIMA_CAPACITY_HOST || kind == SUKIMA_CAPACITY_STEAL || kind == SUKIMA_CAPACITY_NEIGHBOUR ||
         kind == SUKIMA_CAPACITY_THROTTLING;
}

std::string sentence_of(const sukima_capacity_report& report, const sukima_capacity_limit& limit,
                        const std::string& root) {
  std::string file = limit.file;
  if (file.starts_with(root)) file.erase(0, root.size());
  std::string text = fmt::format("{} ({})", limit.text, printable(std::move(file)));
  if (limit.kind != SUKIMA_CAPACITY_NEIGHBOUR) return text;
  unsigned count = 0;
  double sum = 0;
  for (std::size_t i = 0; i < report.limit_count; ++i) {
    if (report.limits[i].kind != SUKIMA_CAPACITY_NEIGHBOUR) continue;
    ++count;
    sum += report.limits[i].value;
  }
  return count < 2 ? text : fmt::format("{} neighbours use {}, the largest: {}", count, cpus_text(sum), text);
}

}  // namespace

std::string reason_for(const sukima_capacity_report& report, const sukima_capacity_estimate& estimate,
                       const std::string& root) {
  const sukima_capacity_limit& decides = binding_limit(report);
  std::string reason = sentence_of(report, decides, root);
  // The limit that reduces the number most does not explain losses within that limit.
  if (is_measured(decides.kind) || estimate.usable >= 0.9 * report.facts.usable) return reason;
  const sukima_capacity_limit* other = nullptr;
  for (std::size_t i = 0; i < report.limit_count; ++i) {
    const sukima_capacity_limit& limit = report.limits[i];
    const bool is_share = limit.kind == SUKIMA_CAPACITY_HOST || limit.kind == SUKIMA_CAPACITY_NEIGHBOUR ||
                          limit.kind == SUKIMA_CAPACITY_STEAL;
    if (is_share && (other == nullptr || other->kind == SUKIMA_CAPACITY_STEAL)) other = &limit;
  }
  return other == nullptr ? reason : fmt::format("{}, and {}", reason, sentence_of(report, *other, root));
}

std::string reason_for_limits(const sukima_capacity_report& report) {
  const sukima_capacity_limit* smallest = nullptr;
  for (std::size_t i = 0; i < report.limit_count; ++i) {
    const sukima_capacity_limit& limit = report.limits[i];
    if (limit.kind == report.facts.binding && (smallest == nullptr || limit.value < smallest->value))
      smallest = &limit;
  }
  return sentence_of(report, smallest == nullptr ? binding_limit(report) : *smallest, {});
}

const sukima_capacity_limit& binding_limit(const sukima_capacity_report& report) {
  for (std::size_t i = 0; i < report.limit_count; ++i)
    if (report.limits[i].is_binding != 0) return report.limits[i];
  static constexpr sukima_capacity_limit unknown{
      SUKIMA_CAPACITY_ONLINE,
      1,
      0,
      0,
      1,
      "",
      "nothing is known about the CPUs of this machine, so one is assumed",
      0,
      0};
  return unknown;
}

std::string cpus_text(double cpus) {
  std::string number = fmt::format("{:.2f}", cpus);
  if (number == "0.00" && cpus > 0) return "less than 0.01 CPUs";
  while (number.ends_with('0')) number.pop_back();
  if (number.ends_with('.')) number.pop_back();
  return number + (number == "1" ? " CPU" : " CPUs");
}

}  // namespace sukima::cli
