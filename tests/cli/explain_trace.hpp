// SPDX-License-Identifier: Apache-2.0
// Small traces for the tests of `sukima explain`, in the format of the runtime.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

namespace sukima::cli::explain {

/// A trace that is written event by event. Times are in microseconds.
class pretended_trace {
 public:
  pretended_trace& worker(unsigned number, unsigned runtime = 1, bool full = false) {
    return event(
        R"("ph":"M","name":"thread_name","tid":{},"args":{{"name":"worker {}","runtime":{},"full":{}}})",
        thread(number, runtime), number, runtime, full);
  }
  pretended_trace& state(unsigned number, std::string_view name, double from, double length,
                         unsigned runtime = 1) {
    return event(R"("ph":"X","name":"{}","tid":{},"ts":{:.3f},"dur":{:.3f})", name, thread(number, runtime),
                 from, length);
  }
  pretended_trace& no_cpu(unsigned number, double from, double length, unsigned runtime = 1) {
    return event(
        R"("ph":"X","cat":"cpu","name":"no CPU","tid":{},"ts":{:.3f},"dur":{:.3f},"args":{{"worker":{}}})",
        thread(number, runtime) + 5000, from, length, number);
  }
  pretended_trace& steal(unsigned number, unsigned victim, double at) {
    return event(R"("ph":"i","s":"t","name":"steal","tid":{},"ts":{:.3f},"args":{{"victim":{}}})",
                 thread(number, 1), at, victim);
  }
  pretended_trace& instant(unsigned number, std::string_view name, double at) {
    return event(R"("ph":"i","s":"t","name":"{}","tid":{},"ts":{:.3f})", name, thread(number, 1), at);
  }
  pretended_trace& decision(double at, std::string_view setting, unsigned before, unsigned after,
                            std::string_view reason, unsigned runtime = 1) {
    return event(R"("ph":"i","s":"p","cat":"decision","name":"{}: {} to {}","tid":{},"ts":{:.3f},)"
                 R"("args":{{"what":"{}","before":{},"after":{},"reason":"{}"}})",
                 setting, before, after, thread(0, runtime), at, setting, before, after, reason);
  }
  pretended_trace& clones(std::string_view place, unsigned depth, unsigned expected_ns, unsigned count) {
    return event(
        R"("ph":"M","name":"clones","args":{{"place":"{}","depth":{},"expected_ns":{},"clones":{}}})", place,
        depth, expected_ns, count);
  }
  pretended_trace& clone_polls(std::string_view place, unsigned served, unsigned for_work,
                               unsigned for_abort) {
    return event(R"("ph":"M","name":"clone_polls",)"
                 R"("args":{{"place":"{}","served":{},"left_for_work":{},"left_for_abort":{}}})",
                 place, served, for_work, for_abort);
  }
  std::string text() const { return "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[" + events_ + "\n]}\n"; }

 private:
  static unsigned thread(unsigned number, unsigned runtime) { return runtime * 10'000 + number; }
  template <class... Values> pretended_trace& event(fmt::string_view form, const Values&... values) {
    events_ += (events_.empty() ? "\n{" : ",\n{") + fmt::vformat(form, fmt::make_format_args(values...)) +
               ",\"pid\":4711}";
    return *this;
  }
  std::string events_;
};

/// A run of 4 s with two workers. Worker 0 works all the time, but has no CPU for 0.5 s. Worker 1 works for 2
/// s, of which it has no CPU for 0.5 s, sleeps for 1 s, and does not exist in the last second.
inline std::string pressed_trace() {
  return pretended_trace()
      .worker(0)
      .state(0, "working", 1e6, 4e6)
      .instant(0, "park", 1.5e6)
      .no_cpu(0, 2e6, 0.5e6)
      .worker(1)
      .state(1, "searching", 0.9e6, 0.1e6)
      .steal(1, 0, 1e6)
      .state(1, "working", 1e6, 2e6)
      .steal(1, 0, 1.2e6)
      .instant(1, "suspend", 1.3e6)
      .state(1, "searching", 3e6, 0.2e6)
      .state(1, "sleeping", 3.2e6, 0.8e6)
      .no_cpu(1, 2.2e6, 0.2e6)
      .no_cpu(1, 2.3e6, 0.4e6)
      .decision(0.5e6, "workers", 2, 2, "the settings allow that many")
      .decision(4e6, "workers", 2, 1, "1 CPUs are usable (limit: quota)")
      .decision(2e6, "spinning", 1, 0,
                "the workers waited for a CPU in 20 % of the time that they wanted one")
      .text();
}

}  // namespace sukima::cli::explain
