// SPDX-License-Identifier: Apache-2.0
// Judges whether CPU is short; see shortage.h.
#include "shared/shortage.h"

void cap_shortage_add(cap_shortage* state, uint64_t ran_ns, uint64_t waited_ns) {
  for (int i = 0; i < cap_shortage_most_windows; i++) {
    state->ran_ns[i] += ran_ns;
    state->waited_ns[i] += waited_ns;
  }
}

bool cap_shortage_judge(cap_shortage* state, const cap_shortage_rule* rule) {
  bool found_short = false;
  for (unsigned i = 0; i < rule->window_count; i++) {
    const cap_shortage_window* window = &rule->windows[i];
    const uint64_t observed = state->ran_ns[i] + state->waited_ns[i];
    if (observed == 0 || observed < window->length_ns) continue;
    const double waiting = (double)state->waited_ns[i] / (double)observed;
    found_short = found_short || waiting > window->short_above;
    if (i + 1 == rule->window_count) {
      state->waiting = waiting;
      state->calm = waiting <= rule->enough_up_to ? state->calm + 1 : 0;
    }
    state->ran_ns[i] = 0;
    state->waited_ns[i] = 0;
  }
  state->is_short = state->is_short ? state->calm < rule->calm_windows : found_short;
  return state->is_short;
}

void cap_shortage_restart(cap_shortage* state) { *state = (cap_shortage){.is_short = state->is_short}; }
