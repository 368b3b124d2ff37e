// SPDX-License-Identifier: Apache-2.0
// Measuring the CPU available; see meter.hpp.
#include "capacity/meter.hpp"

#include <fmt/format.h>
#include <signal.h>

#include <cerrno>
#include <chrono>
#include <cmath>
#include <limits>
#include <new>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <vector>

#include "capacity/topology.hpp"
#include "console.hpp"

namespace sukima::cli {

namespace {

using namespace std::chrono_literals;

constexpr auto sampling = 50ms;
/// Less than what reading and the kernel's own threads use.
constexpr double no_neighbour = 0.15;

void expect_process(pid_t process) {
  if (process != 0 && kill(process, 0) != 0 && errno == ESRCH)
    throw usage_error(fmt::format("there is no process {}: give the number of a running process", process));
}

}  // namespace

capacity_meter::capacity_meter(pid_t process) {
  expect_process(process);
  sukima_capacity_options options{};
  options.pid = process;
  estimator_.reset(sukima_capacity_estimator_open(&options));
  if (!estimator_) throw std::bad_alloc();
  if (const char* const error = sukima_capacity_estimator_error(estimator_.get())) throw usage_error(error);
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
  // The use of others is counted in ticks of 10 ms, so it is zero in so short a time only if there is next to
  // none.
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
  // A neighbour that runs with pauses may be missed: the preloaded library observes programs while they run.
  // The number of runnable threads does not include this thread.
  const sukima_capacity_load seen = load();
  if (seen.others <= no_neighbour && seen.throttled <= 0 && !(seen.running >= 1)) return;
  std::this_thread::sleep_for(15ms);
  sample();
}

std::map<unsigned, double> capacity_meter::probe_steal(const std::set<unsigned>& cpus, double seconds) {
  std::map<unsigned, double> taken;
  for (const unsigned cpu : cpus) taken[cpu] = std::numeric_limits<double>::quiet_NaN();
  std::vector<std::thread> readers;
  for (auto& one : taken) {
    readers.emplace_back([&one, seconds] {
      try {
        pin_to({one.first});  // only the calling thread
      } catch (const std::system_error&) {
        return;  // the CPU was switched off meanwhile, or the mask has changed
      }
      sukima_capacity_probe_steal(seconds, &one.second);
    });
  }
  for (std::thread& reader : readers) reader.join();
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

capacity_report capacity_meter::explain() const {
  capacity_report report(sukima_capacity_estimator_explain(estimator_.get()));
  if (!report) throw std::bad_alloc();
  return report;
}

std::string reason_for(const sukima_capacity_report& report, const sukima_capacity_estimate& estimate) {
  const sukima_capacity_limit* found = &binding_limit(report);
  // A measurement is the reason where it takes away more than the limits do.
  if (estimate.usable < report.facts.usable - 0.02) {
    for (std::size_t i = report.limit_count; i-- > 0;) {
      const sukima_capacity_kind kind = report.limits[i].kind;
      // The neighbours are ordered: going backwards, the largest one is seen last.
      if (kind == SUKIMA_CAPACITY_HOST || kind == SUKIMA_CAPACITY_STEAL || kind == SUKIMA_CAPACITY_NEIGHBOUR)
        found = &report.limits[i];
    }
  }
  return fmt::format("{} ({})", found->text, found->file);
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
      "nothing is known about the CPUs of this machine, so one is assumed"};
  return unknown;
}

std::string cpus_text(double cpus) {
  const double rounded = std::round(cpus * 100) / 100;
  return fmt::format("{:.4g} {}", rounded, rounded == 1 ? "CPU" : "CPUs");
}

}  // namespace sukima::cli
