// SPDX-License-Identifier: Apache-2.0
// A made-up machine for tests; see made_up_machine.hpp.
#include "place/made_up_machine.hpp"

#include "worker.hpp"

#if defined(SUKIMA_STRESS)

#include <atomic>

namespace sukima::detail {

namespace {

std::atomic<const made_up_machine*> made_up{nullptr};  // no partner: written before any runtime begins

}  // namespace

void make_up_machine(const made_up_machine* machine) noexcept {
  made_up.store(machine, std::memory_order_seq_cst);
}

const sukima_place_table& table_of_machine() noexcept {
  const made_up_machine* const machine = made_up.load(std::memory_order_seq_cst);
  return machine != nullptr ? *machine->table : *sukima_place_table_of_machine();
}

int current_cpu(const worker& w) noexcept {
  const made_up_machine* const machine = made_up.load(std::memory_order_seq_cst);
  return machine != nullptr ? machine->cpu_of(w.id) : sched_getcpu();
}

}  // namespace sukima::detail

#endif
