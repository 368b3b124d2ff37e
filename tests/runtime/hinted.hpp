// SPDX-License-Identifier: Apache-2.0
// Runtimes whose workers are on the CPUs of a made-up machine.
#pragma once

#include "place/made_up_machine.hpp"

#include "made_up_machine.hpp"
#include "support.hpp"

#include <array>
#include <atomic>
#include <optional>

namespace support {

/// The CPU of each worker, by its number.
inline std::array<std::atomic<int>, 64> cpus;
inline int cpu_of(unsigned worker) { return cpus[worker % cpus.size()].load(); }

/// Worker i is on CPU i of a made-up machine. Hints request an exchange at once.
class hinted : public testing::Test {
 protected:
  explicit hinted(int cpu_count = 8) : machine_(cpu_count), made_up_{&machine_.table(), cpu_of} {
    for (std::size_t i = 0; i < cpus.size(); ++i) cpus[i] = static_cast<int>(i) % cpu_count;
    sukima::detail::make_up_machine(&made_up_);
  }
  ~hinted() override {
    runtime_.reset();
    sukima::detail::make_up_machine(nullptr);
  }
  hinted(const hinted&) = delete;
  hinted& operator=(const hinted&) = delete;
  void TearDown() override {
    if (runtime_) sukima::detail::check_at_rest_if_built(*runtime_);
  }

  static sukima::settings settings_of(unsigned workers) {
    sukima::settings s = with_workers(workers);
    s.hint_threshold_ns = 0;
    return s;
  }
  sukima::runtime& start(const sukima::settings& s) { return runtime_.emplace(s); }
  sukima::runtime& start(unsigned workers) { return start(settings_of(workers)); }
  sukima::runtime& runtime() { return *runtime_; }
  sukima::place core(int cpu) const { return machine_.core(cpu); }
  sukima::place of(int cpu, sukima::place_level level) const {
    return sukima::place(machine_.of(cpu, level));
  }

 private:
  const made_up_machine machine_;
  const sukima::detail::made_up_machine made_up_;
  std::optional<sukima::runtime> runtime_;
};

}  // namespace support
