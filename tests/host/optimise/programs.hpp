// SPDX-License-Identifier: Apache-2.0
// Synthetic programs: how fast a parallel program is with n threads, and how much CPU it uses, where only
// some CPUs are usable. Shapes 1 to 4 are those of paper 001, figure 13; 5 and 6 are what that leaves open.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace synthetic {

/// The most threads of a program.
inline constexpr unsigned most = 16;

/// A generator that gives the same numbers everywhere (SplitMix64).
class draws {
 public:
  explicit draws(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next();
  double uniform(double from, double to);
  unsigned number(unsigned from, unsigned to);  ///< both may come
  double normal(double deviation);  ///< by Box and Muller

 private:
  std::uint64_t state_;
};

enum class shape { flat, rises, drops, oscillates, oscillates_best_above, use_misleads, best_below };
inline constexpr shape all_shapes[] = {
    shape::flat,         shape::rises,     shape::drops, shape::oscillates, shape::oscillates_best_above,
    shape::use_misleads, shape::best_below};
const char* name_of(shape one);

/// One program.
struct program {
  shape of = shape::flat;
  unsigned usable = 1;  ///< CPUs: the estimate
  unsigned reach = 1;  ///< so far above the estimate the use still changes
  double loss = 0;  ///< for each thread too many
  unsigned lowest = 1;  ///< of best_below: the best count

  double speed(unsigned threads) const;
  double use(unsigned threads) const;
  unsigned best() const;
  /// Per cent that it is slower than at the best count.
  double below_best(unsigned threads) const;
};
/// With 3 to 11 usable CPUs.
program draw_program(shape of, draws& from);

/// What surrounds the program.
struct circumstances {
  double noise = 0.05;  ///< standard deviation of a second's logarithm
  double drift = 0.05;  ///< of a slow change of the level
  std::optional<program> other = {};  ///< runs in its place from `change` on
  double change = 0;
  unsigned window_seconds = 1;
  double change_cost =
      0;  ///< so many seconds a change of the number of threads stops the program; at most 0.5
};

/// What a window shows: the mean of its seconds. After a change of the number of threads it begins 0.5 s
/// later. 2 % of the seconds are bursts: 10 to 50 % too low.
struct window {
  double speed = 0, use = 0;
};

/// Seconds from a change of the number of threads to the next window.
inline constexpr double settling_seconds = 0.5;

/// A program under way, from which windows are drawn.
class world {
 public:
  world(const program& runs, const circumstances& in, draws from)
      : first_(runs), in_(in), draws_(from), settling_draws_(~from.next()) {}

  window measure(unsigned threads);
  /// What a window of the settling time before the last window showed; empty: the number had not changed.
  const std::optional<window>& settling() const { return settling_; }
  unsigned window_seconds() const { return in_.window_seconds; }
  const program& now() const { return in_.other && seconds_ >= in_.change ? *in_.other : first_; }
  double seconds() const { return seconds_; }
  /// Per cent of the work of a run at the best count.
  double lost() const { return 100 * (1 - done_ / possible_); }

 private:
  window second(unsigned threads);
  void settle(unsigned threads);

  program first_;
  circumstances in_;
  draws draws_, settling_draws_;
  std::optional<window> settling_;
  unsigned threads_ = 0;
  double seconds_ = 0, level_ = 0, done_ = 0, possible_ = 0;
};

}  // namespace synthetic
