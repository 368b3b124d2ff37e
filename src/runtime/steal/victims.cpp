// SPDX-License-Identifier: Apache-2.0
// How idle workers choose a first victim. The others follow in the order of their numbers, so a bad choice
// costs a few loads, and with two workers there is none.
#include "fiber/fiber.hpp"
#include "fiber/switch.hpp"
#include "runtime_core.hpp"
#include "steal/steal.hpp"
#include "steal/weighted_draw.hpp"
#include "worker.hpp"

#include <sukima/runtime.hpp>

#include <cmath>

namespace sukima {

namespace detail {

namespace {

/// The weight that the victim's task has set; 0 for a worker that runs no task.
double weight_of(const worker& victim) noexcept {
  const fiber* s = victim.current.load(std::memory_order_acquire);
  return s == nullptr ? 0 : static_cast<double>(s->weight.load(std::memory_order_relaxed));
}

}  // namespace

unsigned first_victim(worker& w, unsigned count) noexcept {
  const runtime_core& r = *w.runtime;
  const worker_table& workers = r.workers;
  const auto any_worker = [&] { return static_cast<unsigned>(w.random() % count); };
  if (r.chosen.victim == victim_policy::last) {
    for (unsigned i = 0; w.last_victim != nullptr && i < count; ++i)
      if (&workers[i] == w.last_victim) return i;
    return any_worker();
  }
  if (r.chosen.victim == victim_policy::random) return any_worker();
  const auto weight = [&](unsigned i) { return &workers[i] == &w ? 0 : weight_of(workers[i]); };
  const unsigned drawn = weighted_draw(count, weight, static_cast<double>(w.random() >> 11) * 0x1p-53);
  return drawn < count ? drawn : any_worker();
}

}  // namespace detail

void set_weight(double weight) noexcept {
  detail::fiber* const s = detail::running_fiber();
  if (s == nullptr) return;
  // Also for NaN: nothing.
  constexpr double most = 1e9;
  const double w = weight > 0 ? std::fmin(weight, most) : 0;
  s->weight.store(static_cast<float>(w), std::memory_order_relaxed);
}

}  // namespace sukima
