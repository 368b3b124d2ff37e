// SPDX-License-Identifier: Apache-2.0
// Starts a Sukima runtime with a number of workers; all other settings come from the environment.
#include "system.hpp"

#include "harness/harness.hpp"

namespace {

sukima::runtime* running = nullptr;

sukima::settings chosen(unsigned workers) {
  try {
    sukima::settings s = sukima::settings::from_environment();
    s.workers = workers;
    s.check();
    return s;
  } catch (const sukima::bad_setting& e) {
    throw bench::bad_argument(e.what());
  }
}

}  // namespace

sukima::runtime& system_runtime() noexcept { return *running; }

void bench::with_system(unsigned workers, const std::function<void()>& body) {
  sukima::runtime runtime(chosen(workers));
  running = &runtime;
  body();
  running = nullptr;
}

void bench::fields_of_system(run& r) {
  const sukima::statistics counted = running->statistics();
  r.field("fibers", static_cast<double>(counted.fibers_peak));
  r.field("parked", static_cast<double>(counted.parked_peak));
}
