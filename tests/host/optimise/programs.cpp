// SPDX-License-Identifier: Apache-2.0
#include "programs.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace synthetic {

std::uint64_t draws::next() {
  std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

double draws::uniform(double from, double to) {
  return from + (to - from) * static_cast<double>(next() >> 11) * 0x1p-53;
}

unsigned draws::number(unsigned from, unsigned to) {
  return from + static_cast<unsigned>(next() % (to - from + 1));
}

double draws::normal(double deviation) {
  const double radius = std::sqrt(-2 * std::log(1 - uniform(0, 1)));
  return deviation * radius * std::cos(2 * std::numbers::pi * uniform(0, 1));
}

const char* name_of(shape one) {
  switch (one) {
    case shape::flat:
      return "1 flat";
    case shape::rises:
      return "2 rises, then flat";
    case shape::drops:
      return "3 drops, then turns";
    case shape::oscillates:
      return "4 oscillates, best is the estimate";
    case shape::oscillates_best_above:
      return "4 oscillates, best is 2 above";
    case shape::use_misleads:
      return "5 use rises, speed falls";
    case shape::best_below:
      break;
  }
  return "6 best below the estimate";
}

program draw_program(shape of, draws& from) {
  program drawn;
  drawn.of = of;
  drawn.usable = from.number(3, 11);
  drawn.reach = from.number(1, 4);
  drawn.loss = from.uniform(0.01, 0.08);
  drawn.lowest = drawn.usable - std::min(drawn.usable - 1, from.number(1, 3));
  return drawn;
}

namespace {

double amdahl(double threads) { return 1 / (0.05 + 0.95 / threads); }

/// With `gain` more at the end of the reach.
double rising_speed(const program& p, double threads, double above, double gain) {
  const double usable = p.usable, reach = p.reach;
  if (threads < usable) return amdahl(usable) * threads / usable;
  return amdahl(usable) * (1 + gain * std::min(above, reach) / reach) *
         std::pow(1 - p.loss, std::max(0.0, above - reach));
}

}  // namespace

double program::speed(unsigned n) const {
  const double threads = n, cpus = usable, above = std::max(0.0, threads - cpus);
  const double held = amdahl(std::min(threads, cpus));
  const bool odd = n > usable && (n - usable) % 2 != 0;
  switch (of) {
    case shape::rises:
      return rising_speed(*this, threads, above, 0.25);
    case shape::drops:
      return rising_speed(*this, threads, above, 0.3);
    case shape::oscillates:
      return held * std::pow(1 - loss, above) * (odd ? 0.8 : 1);
    case shape::oscillates_best_above:
      return held * std::pow(0.98, above) * (n == usable + 2 ? 1.2 : odd ? 0.75 : 1);
    case shape::best_below:
      return amdahl(std::min(n, lowest)) * std::pow(0.93, n > lowest ? n - lowest : 0);
    case shape::flat:
    case shape::use_misleads:
      break;
  }
  return held * std::pow(1 - loss, above);
}

double program::use(unsigned n) const {
  const double threads = n, cpus = usable, above = std::max(0.0, threads - cpus);
  const double far = std::min<double>(above, reach) / reach;
  const bool odd = n > usable && (n - usable) % 2 != 0;
  switch (of) {
    case shape::rises:
      return threads < cpus ? threads * 0.75 : cpus * (0.75 + 0.25 * far);
    case shape::drops:
      return threads < cpus ? threads : cpus * (1 - 0.35 * far) + cpus * 0.02 * std::max(0.0, above - reach);
    case shape::oscillates:
    case shape::oscillates_best_above:
      return std::min(threads, cpus) * (odd ? 0.7 : 1);
    case shape::use_misleads:
      return std::min(threads, cpus) * (0.75 + 0.25 * std::min(1.0, above / 4));
    case shape::flat:
    case shape::best_below:
      break;
  }
  return std::min(threads, cpus);
}

unsigned program::best() const {
  unsigned found = 1;
  for (unsigned n = 2; n <= most; n++)
    if (speed(n) > speed(found)) found = n;
  return found;
}

double program::below_best(unsigned threads) const { return 100 * (1 - speed(threads) / speed(best())); }

window world::measure(unsigned threads) {
  window sum;
  settling_.reset();
  if (threads != threads_) settle(threads);
  threads_ = threads;
  for (unsigned i = 0; i < in_.window_seconds; i++) {
    const window one = second(threads);
    sum.speed += one.speed / in_.window_seconds;
    sum.use += one.use / in_.window_seconds;
  }
  return sum;
}

void world::settle(unsigned threads) {
  const program& p = now();
  const double runs = settling_seconds - in_.change_cost;
  done_ += p.speed(threads) * runs;
  possible_ += p.speed(p.best()) * settling_seconds;
  seconds_ += settling_seconds;
  // Half a second is noisier than a whole one.
  const double error = std::exp(settling_draws_.normal(in_.noise / std::sqrt(settling_seconds)) + level_);
  settling_ = window{p.speed(threads) * runs / settling_seconds * error, p.use(threads) * error};
}

window world::second(unsigned threads) {
  const program& p = now();
  static constexpr double keeps = 0.95;
  level_ = keeps * level_ + draws_.normal(in_.drift * std::sqrt(1 - keeps * keeps));
  done_ += p.speed(threads);
  possible_ += p.speed(p.best());
  const auto error = [&] {
    const double burst = draws_.uniform(0, 1) < 0.02 ? draws_.uniform(0.5, 0.9) : 1;
    return std::exp(draws_.normal(in_.noise)) * burst;
  };
  const double speed = p.speed(threads) * error() * std::exp(level_);
  const double use = p.use(threads) * error() * std::exp(level_ * 0.5);
  seconds_ += 1;
  return {speed, use};
}

}  // namespace synthetic
