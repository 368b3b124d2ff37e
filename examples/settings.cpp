// SPDX-License-Identifier: Apache-2.0
// Settings: a program that ends with one sentence and exit code 2 if a variable SUKIMA_... is wrong, and the
// properties of the default runtime.
#include <sukima/sukima.hpp>

#include <cstdio>
#include <cstdlib>

/// Reads the environment as the default runtime does. \returns an exit code
static int check_environment() {
  try {
    static_cast<void>(sukima::settings::from_environment());
    return 0;
  } catch (const sukima::bad_setting& wrong) {
    std::printf("%s\n", wrong.what());
    return 2;
  }
}

int main() {
  setenv("SUKIMA_WAIT", "sometimes", 1);
  std::printf("exit code %d\n", check_environment());
  setenv("SUKIMA_WAIT", "block", 1);
  if (const int code = check_environment(); code != 0) return code;

  // The first use starts the default runtime, with the settings of that moment.
  sukima::runtime& used = sukima::default_runtime();
  if (used.chosen().policy_at(sukima::wait_point::reply) != sukima::wait_policy::block) return 1;
  std::printf("a worker at least: %s; outside it is number %d, inside run not\n",
              used.workers() >= 1 ? "yes" : "no", sukima::worker_id());
  sukima::run([](sukima::context c) {
    sukima::set_weight(10);  // with SUKIMA_VICTIM=weighted thieves ask this worker more often
    // A fork that is never split, because its second branch is cheap.
    auto [a, b] = sukima::fork2(
        c, [](sukima::context) { return 1; }, [](sukima::context) { return 2; }, sukima::guard(0));
    std::printf("%d, on worker %s\n", a + b, sukima::worker_id() >= 0 ? "0 or higher" : "-1");
  });
  try {
    sukima::run([&](sukima::context) { used.shutdown(); });
  } catch (const sukima::usage_error& wrong) {
    std::printf("%s\n", wrong.what());
  }
}
