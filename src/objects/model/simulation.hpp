// SPDX-License-Identifier: Apache-2.0
// The discrete-event simulation of an object graph: objects on islands, islands on threads, threads on CPUs.
//
// The simulation has no queue of events. Each CPU has a clock: the time at which its present step ends and
// takes effect. The CPU with the earliest clock is next, so effects happen in the order of time.
#pragma once

#include <base/shared/walk_pace.hpp>

#include <compare>
#include <cstdint>
#include <deque>
#include <functional>
#include <queue>
#include <random>
#include <vector>

#include "model/batch_means.hpp"
#include "shared/prediction.hpp"

namespace sukima::objects::model {

/// The state of a simulated run.
// Long: objects, islands, threads and CPUs change each other at every step
class simulation {
 public:
  /// \param part the part of the whole run to simulate: objects that start make this part of their starts
  simulation(const description& program, const flow& all, const configuration& how, const machine& where,
             double part, std::uint64_t seed);

  /// Simulates until the end, until the batch means agree, or for the largest number of events.
  void run(const effort& most);

  double now() const { return now_; }
  std::uint64_t events() const { return events_; }
  double computations() const { return computations_; }
  /// Whether all objects that end by themselves have ended.
  bool finished() const { return driving_ == 0; }
  /// Whether no object can continue. That is also the end of a finished program.
  bool at_rest() const { return at_rest_; }
  batch_means::estimate mean_time() const { return means_.now(); }
  double busy_ns() const { return busy_ns_; }
  double computing_ns(std::size_t object) const { return objects_[object].computing_ns; }
  double blocked_ns(std::size_t object) const { return objects_[object].blocked_ns; }
  /// Returns the part of the stream's sends that found no room.
  double full_part(std::size_t stream) const;

  /// Returns the first invariant that does not hold between two steps, as a sentence, or null.
  /// \par Complexity linear in the objects, threads and islands, quadratic in the inputs of one object
  const char* violated_invariant() const;

 private:
  friend struct test_access;
  static constexpr std::size_t none = ~std::size_t{0};

  struct stream_state {
    std::size_t capacity = 1, count = 0;
    double sender_ns = 0, receiver_ns = 0;
    std::size_t waiting_senders = 0, waiting_receivers = 0;
    std::size_t next_sender = 0, next_receiver = 0;  ///< the first ones to try to wake, for fairness
    bool shared = false;  ///< whether it is between islands
    std::size_t listeners = 0;  ///< receivers that have not ended; without one, messages are dropped
    double sends = 0, blocked = 0;
  };
  struct object_state {
    std::size_t island = 0;
    std::size_t next_input = 0;  ///< round robin
    std::size_t next_send = none;  ///< none: it receives next
    std::size_t waits_for_room = none;  ///< the stream for whose room it waits
    std::size_t woken_for = none;  ///< the stream whose message ended the wait for input
    bool waits_for_input = false, drives = false, ended = false;
    bool shared_inputs = false;  ///< whether at least one of its inputs is between islands
    bool was_suspended = false;  ///< whether another island could end its last wait
    double starts_left = 0, computing_ns = 0, blocked_ns = 0;
    double computations = 0, computations_left = 0;  ///< until it ends; infinite if it ends with its inputs
    std::gamma_distribution<double> gamma;  ///< for its computing times, if not constant or exponential
    std::vector<std::size_t> owed;  ///< for each sending: messages still to send
    std::vector<double> credit;  ///< for each sending: the sum of its fractions, minus those messages
    std::vector<double> pools;  ///< for each input, and for no input: the sum of the fractions
  };
  struct island_state {
    std::deque<std::size_t> ready;
    std::size_t running = none, last = none;  ///< objects
    double slice_began = 0;
    unsigned in_a_row = 0;  ///< computations in this slice
    std::size_t thread = none;  ///< the thread that holds its token
    bool queued = false;  ///< whether it waits for a worker
  };
  enum class thread_at { sleep, blocked, queue, cpu };
  struct thread_state {
    thread_at at = thread_at::sleep;
    std::size_t island = none;
    std::size_t cpu = none;
    bool looks_around = false;  ///< whether it is on a CPU and searches for work
    double unpaid_ns = 0;  ///< the rest of the step in which its slice ended
    double interrupted_ns = 0;  ///< time that the listener thread took on its CPU
    double slice_end = 0;
    double ran_ns = 0;  ///< time that it has run so far
    double blocks_ns = 0;  ///< how long it sleeps in the kernel after the present step
  };
  struct blocked_thread {
    double until = 0;
    std::size_t thread = none;
    auto operator<=>(const blocked_thread&) const = default;
  };
  struct cpu_state {
    double clock = 0;
    std::size_t thread = none;
  };

  // Construction.
  void add_islands(const configuration& how);
  void add_streams(const configuration& how, const machine& where);
  bool is_in_one_island(const stream& one) const;
  void add_objects(const flow& all, double part);
  void place_threads();

  // CPUs.
  std::size_t next_cpu() const;
  void advance(std::size_t cpu, double cost);
  void dispatch(std::size_t cpu, double delay);
  void rest(std::size_t cpu);
  void wake(std::size_t thread);
  void occupy(std::size_t cpu, std::size_t thread, double from);
  std::size_t free_cpu() const;
  bool end_a_search();
  void preempt();
  void block(std::size_t cpu);
  void unblock();
  void stop_looking(std::size_t thread);
  bool serve(std::size_t cpu);
  bool find_island(thread_state& thread);
  bool in_step() const;

  // Objects.
  void make_ready(std::size_t object);
  void resume_elsewhere(thread_state& thread);
  bool step(std::size_t object, double& cost);
  bool receive(std::size_t object, double& cost);
  bool send(std::size_t object, double& cost);
  bool find_input(object_state& state, const object& one, std::size_t& input);
  void end(std::size_t object);
  void wake_sender(std::size_t stream);
  void wake_receiver(std::size_t stream);
  bool find_send(object_state& state);
  static double& pool_after(object_state& state, const object& one, std::size_t input);
  void owe(object_state& state, const object& one, std::size_t input);
  static void owe_one(object_state& state, const object& one, std::size_t input);
  double computation(const object& one, object_state& state);

  // Parts of violated_invariant.
  const char* violated_stream() const;
  const char* violated_object() const;
  const char* violated_thread() const;

  // A recorded program at rest.
  bool go_on_as_recorded();
  bool send_fraction();
  bool make_room();
  bool give_input();
  bool waits_for_input(std::size_t object) const;

  const description& program_;
  std::vector<stream_state> streams_;
  std::vector<object_state> objects_;
  std::vector<island_state> islands_;
  std::vector<thread_state> threads_;
  std::vector<cpu_state> cpus_;
  /// Threads that sleep in the kernel for a time; the first one wakes next.
  std::priority_queue<blocked_thread, std::vector<blocked_thread>, std::greater<>> blocked_;
  std::deque<std::size_t> thread_queue_;  ///< threads that could run, but have no CPU
  std::deque<std::size_t> island_queue_;  ///< islands that could run, but have no worker
  std::size_t serving_ = none;  ///< the thread of the present step
  bool pool_ = false;  ///< whether threads are workers
  bool listens_ = false;  ///< whether islands are processes
  double switch_ns_ = 0, wait_ns_ = 0, resume_ns_ = 0, look_around_ns_ = 0, cpu_slice_ns_ = 0;
  double waking_ns_ = 0;  ///< the cost of waking others in the present step
  sleep_cost same_, other_;
  std::size_t driving_ = 0;
  bool at_rest_ = false;
  double now_ = 0, busy_ns_ = 0, computations_ = 0;
  std::uint64_t events_ = 0;
  std::mt19937_64 random_;
  batch_means means_;
  walk_pace walks_;
};

}  // namespace sukima::objects::model
