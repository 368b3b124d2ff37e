// SPDX-License-Identifier: Apache-2.0
// The CPUs of the simulation: which thread runs, which island it serves, and how it sleeps and wakes.
#include <algorithm>
#include <utility>

#include "model/simulation.hpp"

namespace sukima::objects::model {
namespace {

constexpr double island_slice_ns = 1e6;  // slice of an object, while others of its island are ready
constexpr unsigned island_slice_messages = 64;

}  // namespace

std::size_t simulation::next_cpu() const {
  std::size_t best = none;
  for (std::size_t cpu = 0; cpu < cpus_.size(); cpu++) {
    if (cpus_[cpu].thread == none) continue;
    if (best == none || cpus_[cpu].clock < cpus_[best].clock) best = cpu;
  }
  return best;
}

/// Gives the CPU to the next waiting thread, after a delay.
void simulation::dispatch(std::size_t cpu, double delay) {
  cpus_[cpu].thread = none;
  if (thread_queue_.empty()) return;
  const std::size_t next = thread_queue_.front();
  thread_queue_.pop_front();
  occupy(cpu, next, now_ + delay);
  busy_ns_ += delay;
}

/// Gives the CPU to a thread from that time on.
void simulation::occupy(std::size_t cpu, std::size_t number, double from) {
  thread_state& thread = threads_[number];
  thread.at = thread_at::cpu;
  thread.cpu = cpu;
  thread.slice_end = from + cpu_slice_ns_;
  cpus_[cpu] = {from, number};
}

/// Keeps the CPU busy for that cost from now on. Its thread leaves the CPU when its slice ends.
void simulation::advance(std::size_t cpu, double cost) {
  thread_state& thread = threads_[cpus_[cpu].thread];
  if (thread_queue_.empty() || now_ + cost <= thread.slice_end) {
    thread.ran_ns += cost;
    cpus_[cpu].clock = now_ + cost;
    busy_ns_ += cost;
    return;
  }
  const double part = std::min(cost, std::max(0.0, thread.slice_end - now_));
  thread.ran_ns += part;
  thread.unpaid_ns = cost - part;
  thread.at = thread_at::queue;
  thread_queue_.push_back(cpus_[cpu].thread);
  dispatch(cpu, part + same_.until_ns);
}

/// Called if the thread has nothing to do: it searches for work for a while, then sleeps. A worker sleeps at
/// once if another thread needs its CPU; an island's own thread cannot know that.
void simulation::rest(std::size_t cpu) {
  thread_state& thread = threads_[cpus_[cpu].thread];
  if (!thread.looks_around && (!pool_ || thread_queue_.empty()) && cpus_.size() > 1) {
    thread.looks_around = true;
    cpus_[cpu].clock = now_ + look_around_ns_;
    busy_ns_ += look_around_ns_;
    return;
  }
  thread.looks_around = false;
  thread.at = thread_at::sleep;
  dispatch(cpu, same_.until_ns);
}

/// Ends the search of a thread, because its island can continue.
void simulation::stop_looking(std::size_t number) {
  thread_state& thread = threads_[number];
  cpu_state& cpu = cpus_[thread.cpu];
  busy_ns_ -= std::max(0.0, cpu.clock - now_);
  cpu.clock = now_;
  thread.looks_around = false;
}

/// Wakes a sleeping thread. The thread that wakes it pays the cost: see serve.
void simulation::wake(std::size_t number) {
  if (const std::size_t cpu = free_cpu(); cpu != none) {
    waking_ns_ += other_.waker_ns;
    occupy(cpu, number, now_ + waking_ns_ + other_.until_ns);
    return;
  }
  thread_state& woken = threads_[number];
  woken.at = thread_at::queue;
  if (pool_) {
    waking_ns_ += same_.waker_ns;
    thread_queue_.push_back(number);
    end_a_search();
    return;
  }
  // Kernels leave a woken thread on its CPU. Calling another CPU is expensive even if that CPU is busy.
  thread_state& waker = threads_[serving_];
  waking_ns_ += woken.cpu == waker.cpu ? same_.waker_ns : other_.waker_ns;
  if (woken.cpu != waker.cpu || listens_ || woken.ran_ns >= waker.ran_ns) {
    thread_queue_.push_back(number);
    return;
  }
  // The woken thread has had less CPU time than its waker, so it preempts the waker. A long sleep counts as
  // one slice.
  woken.ran_ns = std::max(woken.ran_ns, waker.ran_ns - cpu_slice_ns_);
  waker.slice_end = now_;
  thread_queue_.push_front(number);
}

std::size_t simulation::free_cpu() const {
  for (std::size_t cpu = 0; cpu < cpus_.size(); cpu++)
    if (cpus_[cpu].thread == none) return cpu;
  return none;
}

/// Called if CPU is short: a thread that searches for work sleeps, and a waiting thread gets its CPU.
/// \returns whether a thread was searching
bool simulation::end_a_search() {
  for (std::size_t cpu = cpus_.size(); cpu-- > 0;) {
    if (cpus_[cpu].thread == none || !threads_[cpus_[cpu].thread].looks_around) continue;
    stop_looking(cpus_[cpu].thread);
    threads_[cpus_[cpu].thread].at = thread_at::sleep;
    dispatch(cpu, same_.until_ns);
    return true;
  }
  return false;
}

/// Lets the CPU's thread sleep in the kernel. It keeps its island, whose other objects wait.
void simulation::block(std::size_t cpu) {
  const std::size_t number = cpus_[cpu].thread;
  thread_state& thread = threads_[number];
  blocked_.push({now_ + std::exchange(thread.blocks_ns, 0), number});
  thread.at = thread_at::blocked;
  dispatch(cpu, same_.until_ns);
}

/// Gives the first of the waiting threads a CPU: the CPU whose step takes longest. The thread of that CPU
/// continues later, with the rest of its step. \pre all CPUs have a thread
void simulation::preempt() {
  std::size_t last = 0;
  for (std::size_t cpu = 1; cpu < cpus_.size(); cpu++)
    if (cpus_[cpu].clock > cpus_[last].clock) last = cpu;
  thread_state& thread = threads_[cpus_[last].thread];
  const double rest = cpus_[last].clock - now_;
  if (rest <= same_.until_ns) {
    thread.slice_end = cpus_[last].clock;
    return;
  }
  busy_ns_ -= rest;
  thread.unpaid_ns += rest;
  thread.at = thread_at::queue;
  thread_queue_.push_back(cpus_[last].thread);
  dispatch(last, same_.until_ns);
}

/// Lets the first of the threads that sleep in the kernel continue, before others that compute.
void simulation::unblock() {
  now_ = std::max(now_, blocked_.top().until);
  const std::size_t number = blocked_.top().thread;
  blocked_.pop();
  if (const std::size_t cpu = free_cpu(); cpu != none) return occupy(cpu, number, now_);
  threads_[number].at = thread_at::queue;
  thread_queue_.push_front(number);
  if (!end_a_search()) preempt();
}

/// Adds the cost of ending a wait if another thread runs the island, because the CPU of that thread caches
/// the object's state. Between processes, a listener thread in the other process receives the wake-up. It
/// sleeps in between, and takes its own process's CPU for two switches.
void simulation::resume_elsewhere(thread_state& thread) {
  waking_ns_ += resume_ns_;
  if (!listens_) return;
  const bool sleeps = thread.at == thread_at::sleep;
  waking_ns_ += other_.waker_ns + (sleeps ? other_.until_ns : 0);
  if (!sleeps) thread.interrupted_ns += same_.waker_ns + 2 * same_.until_ns;
}

void simulation::make_ready(std::size_t object) {
  const std::size_t number = objects_[object].island;
  island_state& island = islands_[number];
  island.ready.push_back(object);
  if (island.thread != none) {
    thread_state& thread = threads_[island.thread];
    if (island.thread != serving_ && objects_[object].was_suspended) resume_elsewhere(thread);
    if (thread.at == thread_at::sleep) {
      wake(island.thread);
    } else if (thread.looks_around) {
      stop_looking(island.thread);
    }
    return;
  }
  if (island.queued) return;
  island.queued = true;
  island_queue_.push_back(number);
  std::size_t sleeping = none;
  for (std::size_t worker = 0; worker < threads_.size(); worker++) {
    if (threads_[worker].looks_around) return stop_looking(worker);
    if (threads_[worker].at == thread_at::sleep) sleeping = worker;
  }
  if (sleeping != none) wake(sleeping);
}

/// Finds work for a thread. \returns whether the thread has an island that can continue
bool simulation::find_island(thread_state& thread) {
  const auto has_work = [](const island_state& island) {
    return island.running != none || !island.ready.empty();
  };
  if (!pool_) return has_work(islands_[thread.island]);
  if (thread.island != none) {
    if (has_work(islands_[thread.island])) return true;
    islands_[thread.island].thread = none;
    thread.island = none;
  }
  if (island_queue_.empty()) return false;
  thread.island = island_queue_.front();
  island_queue_.pop_front();
  islands_[thread.island].queued = false;
  islands_[thread.island].thread = static_cast<std::size_t>(&thread - threads_.data());
  return true;
}

/// Lets the CPU's thread continue with its island. \returns false if there is nothing to do
bool simulation::serve(std::size_t cpu) {
  thread_state& thread = threads_[cpus_[cpu].thread];
  if (!find_island(thread)) return false;
  island_state& island = islands_[thread.island];
  double cost = 0;
  if (island.running != none && !island.ready.empty() && objects_[island.running].next_send == none &&
      (island.in_a_row >= island_slice_messages || now_ - island.slice_began > island_slice_ns)) {
    island.ready.push_back(island.running);
    island.running = none;
  }
  if (island.running == none) {
    island.running = island.ready.front();
    island.ready.pop_front();
    // A wait that another island could end is a suspension, even if no other object of the island ran since.
    if (std::exchange(objects_[island.running].was_suspended, false))
      cost = wait_ns_;
    else if (island.running != island.last)
      cost = switch_ns_;
    island.last = island.running;
    island.slice_began = now_;
    island.in_a_row = 0;
    if (cost > 0) {
      advance(cpu, cost);
      return true;
    }
  }
  if (objects_[island.running].next_send == none) island.in_a_row++;
  waking_ns_ = 0;
  serving_ = cpus_[cpu].thread;
  cost += std::exchange(thread.interrupted_ns, 0);
  if (!step(island.running, cost)) island.running = none;
  advance(cpu, cost + waking_ns_);
  return true;
}

/// Whether all objects that end by themselves have done about the same part of their work. Otherwise one
/// object ends before the others, and the rest of the run differs from the simulated part.
bool simulation::in_step() const {
  double least = 1, most = 0;
  for (const object_state& state : objects_) {
    if (!state.drives) continue;
    const double done = 1 - std::max(0.0, state.computations_left) / state.computations;
    least = std::min(least, done);
    most = std::max(most, done);
  }
  return least >= 0.8 * most;
}

void simulation::run(const effort& most) {
  SUKIMA_ASSERT_VALID_AT_END(*this);
  std::uint64_t look_at = 1024;
  while (events_ < most.events) {
    const std::size_t cpu = next_cpu();
    if (!blocked_.empty() && (cpu == none || blocked_.top().until <= cpus_[cpu].clock)) {
      unblock();
      continue;
    }
    if (cpu == none) {
      if (program_.recorded && !finished() && go_on_as_recorded()) continue;
      at_rest_ = true;
      return;
    }
    now_ = std::max(now_, cpus_[cpu].clock);
    thread_state& thread = threads_[cpus_[cpu].thread];
    if (thread.unpaid_ns > 0) {
      advance(cpu, std::exchange(thread.unpaid_ns, 0));
    } else if (thread.blocks_ns > 0) {
      block(cpu);
    } else if (!serve(cpu)) {
      rest(cpu);
    }
    if (events_ < look_at) continue;
    look_at = events_ + 1024;
    SUKIMA_ASSERT_VALID_PACED(*this, walks_, objects_.size() / 64);
    const batch_means::estimate mean = means_.now();
    if (mean.half_width <= most.agreement * mean.mean && in_step()) return;
  }
}

}  // namespace sukima::objects::model
