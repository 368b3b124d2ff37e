// SPDX-License-Identifier: Apache-2.0
// The runtime that workers share.
#pragma once

#include "cancel/abort.hpp"
#include "choice/poll.hpp"
#include "control/cpu_spread.hpp"
#include "control/elastic.hpp"
#include "fiber/fiber.hpp"
#include "fiber/switch.hpp"
#include "join/join.hpp"
#include "observe/trace.hpp"
#include "park/park.hpp"
#include "park/wait_policy.hpp"
#include "settings.hpp"
#include "steal/steal.hpp"
#include "stress.hpp"
#include "worker.hpp"

#include <sukima/detail/ambient.hpp>
#include <sukima/runtime.hpp>
#include <sukima/statistics.hpp>

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace sukima::detail {

inline constexpr unsigned max_workers = 4096;

struct runtime_core {
  /// \param most_workers background threads and one entering thread; what the settings left open is decided
  runtime_core(const settings& s, unsigned most_workers);
  ~runtime_core();
  runtime_core(const runtime_core&) = delete;
  runtime_core& operator=(const runtime_core&) = delete;

  const settings chosen;
  const bool uses_condvar;  ///< at any place
  const unsigned worker_limit;  ///< background threads + one entering thread
  const std::uint64_t serial;  ///< tells runtimes apart that had the same address
  const unsigned generation;  ///< how often fork() was called above it
  fiber_pool fibers;

  /// Append only: [0, worker_count) are set. Released by the store of worker_count.
  std::unique_ptr<std::atomic<worker*>[]> workers;
  std::atomic<unsigned> worker_count{0};
  std::mutex growing;

  alignas(128) std::atomic<census> counts{};
  std::atomic<std::uint32_t> permits{0};  ///< promotions that no sleeper has taken yet
  std::atomic<worker*> watch{nullptr};  ///< the last searcher, while it sleeps by the clock
  std::atomic<std::uint64_t> quiet_since{0};  ///< tick at which the last entry left

  /// Fibers that can go on, and tasks whose fiber was parked before anybody took them. First in, first out.
  alignas(128) policy_mutex queue_lock{chosen.policy_at(wait_place::lock)};
  std::deque<fiber*> ready;
  std::deque<task*> spilled;
  std::atomic<std::size_t> queued{0};

  /// Fibers that stopped with work left that a stand-in may split off.
  policy_mutex suspended_lock{chosen.policy_at(wait_place::lock)};
  std::deque<fiber*> suspended;
  std::atomic<std::size_t> suspended_count{0};

  std::atomic<bool> stopping{false};  ///< nobody may enter any more
  std::atomic<bool> closed{false};  ///< nobody is inside any more: background threads end
  std::mutex leaving;
  std::condition_variable left;  ///< an entry ended while `stopping`
  /// Threads inside of resume_fiber: what they resumed may end the last task, but not the runtime under
  /// them.
  std::atomic<std::size_t> resumers{0};
  std::atomic<std::size_t> parked{0};
  std::atomic<std::size_t> parked_peak{0};
  std::vector<std::thread> threads;  ///< guarded by `growing`
  cpu_spread spread{*this};
  elastic elasticity{*this};

  // entry.cpp
  void stop();
  bool is_orphaned() const noexcept;
  void die_if_orphaned() const noexcept;
  void enter(root_task& root);
  worker* acquire_worker();
  /// \param rank of a background worker, from 1; 0: for a thread that enters
  worker* add_worker(unsigned rank);
  /// Adds a background worker and starts its thread.
  void start_worker(unsigned rank);
  void background_main(worker& w);

  // schedule.cpp
  void run_fiber(fiber& self);
  /// Something to do; empty when `awaited` is done or the worker's thread is called home.
  work find_work(worker& w, task* awaited, reach allowed);
  work search(worker& w, task* awaited);
  work wait_for_descendants(worker& w, task* awaited, reach allowed);
  bool is_called(const worker& w, const task* awaited, reach allowed) const noexcept;
  /// Does whoever waits at this place since that tick look again at once, or sleep now?
  bool spins(wait_place place, std::uint64_t since) const noexcept;
  /// `w` has nothing to do: may it give its CPU to a worker that has, and no CPU?
  bool give_cpu(worker& w, task* awaited) noexcept;
  void register_sleeper(worker& w, task* awaited) noexcept;
  work try_once(worker& w, task* awaited, reach allowed);
  work take_queued(task* awaited, reach allowed);
  task* steal_from(worker& w, worker& victim) noexcept;
  /// Number of the worker that is asked first, below `count` (victims.cpp).
  unsigned first_victim(worker& w, unsigned count) noexcept;
  void ask(worker& w) noexcept;
  void push_ready(fiber* s) noexcept;
  void push_spilled(task* t) noexcept;
  void drain_slots(fiber& s) noexcept;

  // sleep.cpp
  /// Is somebody looking for work? Sequentially consistent: read after the limit was exchanged (partner:
  /// ask).
  bool hungry() const noexcept { return counts.load().searchers != 0; }
  void begin_search() noexcept;
  /// A searcher stops searching: if it was the last one, a sleeper is promoted to search in its place.
  void end_search() noexcept;
  /// Sleeps until there may be something to look at; the caller is a searcher before and after.
  void sleep(worker& w, wait_place place, task* awaited, std::uint32_t seen,
             std::uint64_t& timeout_ns) noexcept;
  void entry_begins() noexcept;
  void entry_ends(std::uint64_t now) noexcept;
  /// Changes nothing that counts, but is ordered with all changes of the census.
  void touch_census() noexcept;
  void wake_watch() noexcept;
  void ring(worker& w) noexcept;
  void wait_for_bell(worker& w, wait_place place, std::uint32_t seen) noexcept;
  /// Sleeps until the bell or a time-out, which grows from call to call up to `longest_ns`.
  void sleep_by_the_clock(worker& w, wait_place place, std::uint32_t seen, std::uint64_t& timeout_ns,
                          std::uint64_t longest_ns) noexcept;

  // abort.cpp
  void request_abort_checks() noexcept;

  // suspend.cpp
  task* split_suspended(worker& w) noexcept;
};

}  // namespace sukima::detail
