// SPDX-License-Identifier: Apache-2.0
// The internals of the explorer: threads with their own stacks, their pending requests, and the choices of an
// execution.
#pragma once

#include "explorer.hpp"

#include <boost/context/detail/fcontext.hpp>

#include <array>
#include <map>
#include <memory>

namespace sukima::memory {

/// The request at which a thread has stopped.
enum class request_kind : std::uint8_t {
  nothing,
  load,
  store,
  change,
  fence,
  lock,
  begin_wait,  ///< a futex call that must get a place in the order of all calls for its word
  compare,  ///< a futex call whose word is now read
  wake
};

using change_function = std::function<std::optional<std::uint64_t>(std::uint64_t)>;

struct request {
  request_kind kind = request_kind::nothing;
  std::memory_order order = std::memory_order_relaxed;
  std::memory_order failure = std::memory_order_relaxed;
  int location = none;
  std::uint64_t value = 0;  ///< to be stored; of a wait: the expected value; afterwards: the value read
  const change_function* change = nullptr;
  int site = none;
  mutex* lock = nullptr;
  bool timed = false;
};

enum class thread_state : std::uint8_t { runs, blocked, timed, spinning, stuck, ended };

struct explored_thread {
  boost::context::detail::fcontext_t at = nullptr;
  std::unique_ptr<char[]> stack;
  thread_state state = thread_state::runs;
  request wanted;
  /// The write that it reads next must have been added after this; 0: any write.
  std::uint32_t left_behind = 0;
  clock kernel;  ///< of its last futex call
  unsigned accesses = 0;
  void* locals = nullptr;
};

/// The calls for one futex word.
struct futex_queue {
  clock known;
  std::uint32_t changed = 0;
  int waiter = none;
  bool woken = false;  ///< whether it was woken before it had compared
};

class explorer {
 public:
  outcome explore(const program& p, const std::optional<weakening>& weaker);

  // For the running thread.
  int running() const noexcept { return running_; }
  bool inside() const noexcept { return running_ != none; }
  bool at_end() const noexcept { return at_end_; }
  /// Stops the thread until the request is fulfilled.
  void perform(request& r);
  void spin();
  void end_thread();
  unsigned timed_waits() const noexcept;
  [[noreturn]] void fail(const std::string& error);
  /// Calls fail() in a thread; at the end it only records the error.
  void note_error(const std::string& error);
  std::uint32_t generation() const noexcept { return generation_; }
  int locate(const atomic_base& a);
  void begin(atomic_base& a);
  void end(atomic_base& a);
  std::uint64_t last_value(const atomic_base& a) const;
  std::uint64_t& first_value(const atomic_base& a) const noexcept { return a.first_; }
  std::memory_order order_at(int site, std::memory_order written);
  void unlock(mutex& m);
  graph& events() noexcept { return graph_; }
  thread_locals locals{};

 private:
  struct option {
    int thread;
    int write;  ///< for a load or change
  };
  enum class verdict : std::uint8_t { whole, redundant, cut, wrong };

  verdict execute(const program& p);
  verdict finish(const program& p);
  void start_threads(const program& p);
  void resume(int t);
  bool do_at_once();
  void collect_options();
  void collect_reads(int t, bool as_change);
  bool is_new(int t, std::uint32_t stamp) const noexcept;
  void take(const option& o);
  void take_futex_call(int t);
  void finish_compare(int t, std::uint64_t value);
  verdict probe(int t);
  bool fulfil_latest(int t);
  bool time_out(const program& p);
  event event_for(int t, access kind) const;
  std::size_t choose(std::size_t count);
  bool next_branch();
  static void thread_main(boost::context::detail::transfer_t from);

  graph graph_;
  std::array<explored_thread, max_threads> threads_;
  unsigned count_ = 0;
  int running_ = none;
  bool at_end_ = false;
  std::uint32_t generation_ = 1;
  boost::context::detail::fcontext_t scheduler_ = nullptr;
  const program* program_ = nullptr;
  std::optional<weakening> weaker_;
  std::vector<option> options_;
  std::map<int, futex_queue> futexes_;  ///< by location
  struct choice {
    std::size_t taken;
    std::size_t count;
  };
  std::vector<choice> choices_;
  std::size_t depth_ = 0;
  unsigned timeouts_left_ = 0;
  outcome result_;
  std::vector<bool> executed_;  ///< by site
};

explorer& the_explorer();

}  // namespace sukima::memory
