// SPDX-License-Identifier: Apache-2.0
// The machine for tests: at each step a schedule made from a seed decides whether another thread continues.
#pragma once

#include "machine.hpp"
#include "schedule.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace sukima::simulation {

class seeded_machine final : public machine {
 public:
  seeded_machine(std::uint64_t seed, const limits& most, hang_handler hangs);

  void step(step_kind kind) noexcept override;
  void pause() noexcept override { step(step_kind::pause); }
  wake_reason wait(wait_kind kind, const void* awaited, std::uint64_t until) noexcept override;
  thread* wake_one(wait_kind kind, const void* awaited) noexcept override;
  unsigned waiting(wait_kind kind, const void* awaited) noexcept override;
  std::uint64_t now() const noexcept override { return now_; }
  int cpu() const noexcept override { return static_cast<int>(this_thread()->id % 2); }
  void end_spurious_wake_ups() noexcept override {
    schedule_.end_spurious_wake_ups();
    may_disturb_ = false;
  }
  void end() noexcept override;

 private:
  void added(thread& created) override;
  std::uint64_t passed() const noexcept override { return now_ - jumped_; }
  void decide(thread& self) noexcept;
  void follow_plan(thread& self) noexcept;
  void give_way(thread& self) noexcept;
  void jump(thread& self, std::uint64_t nanoseconds) noexcept;
  void stop(thread& self, std::uint64_t nanoseconds) noexcept;
  void wake_spuriously(thread& self) noexcept;
  void disturb(thread& woken) noexcept;
  void note(const thread& self, choice::kind kind, std::uint64_t value) noexcept;
  std::optional<std::uint64_t> planned(const thread& self, choice::kind kind) noexcept;
  /// Returns the next thread to run, after advancing the time until one can run. \param without  chosen only
  /// if no other thread can run
  /// \param preferred  the planned choice, if it was already taken from the plan
  thread& choose(const thread& self, choice::kind kind, const thread* without = nullptr,
                 std::optional<std::uint64_t> preferred = {}) noexcept;
  thread& choose_candidate(const thread& self, choice::kind kind,
                           std::optional<std::uint64_t> preferred = {}) noexcept;
  void time_out_waits() noexcept;
  std::uint64_t next_event() const noexcept;
  void pass_time(std::uint64_t nanoseconds) noexcept;

  schedule schedule_;
  std::optional<plan> plan_;
  bool may_disturb_ = true;
  std::vector<thread*> candidates_;
  std::uint64_t now_ = 0;
  std::uint64_t jumped_ = 0;  ///< part of now_ that is due to jumps
  std::uint64_t until_decision_ = 1;
  std::int64_t lowest_priority_ = 0;
};

}  // namespace sukima::simulation
