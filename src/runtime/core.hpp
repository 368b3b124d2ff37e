// SPDX-License-Identifier: Apache-2.0
// Workers and the runtime they share: what the files of this part see of each other.
#pragma once

#include "control/cpu_spread.hpp"
#include "control/elastic.hpp"
#include "fiber/fiber.hpp"
#include "observe/trace.hpp"
#include "settings.hpp"
#include "stress.hpp"

#include <sukima/detail/inside.hpp>
#include <sukima/runtime.hpp>
#include <sukima/statistics.hpp>

#include <array>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace sukima::detail {

/// Flags of a worker, set by others before they raise its fiber's limit.
inline constexpr std::uint32_t flag_check_abort = 1;  ///< something was aborted: does it concern your task?
inline constexpr std::uint32_t flag_leave = 2;  ///< the root that your thread waits for is done

/// Times of a worker by state, in ticks of `ticks()`.
enum class worker_state : unsigned { working, searching, sleeping, outside };

inline void pause_cpu() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// One turn of a policy that does not sleep.
inline void wait_a_moment(wait_policy p) noexcept {
  if (p == wait_policy::yield)
    std::this_thread::yield();
  else if (p != wait_policy::spin)
    pause_cpu();
}

/// A mutex that is waited for by a policy. `condvar` is a mutex's own way to wait, `block`.
class policy_mutex {
 public:
  explicit policy_mutex(wait_policy p) : policy_(p) {}
  void lock() {
    // A lock is held for some ten nanoseconds, unless its holder has lost its CPU.
    for (int tries = 0; policy_ != wait_policy::block && policy_ != wait_policy::condvar; ++tries) {
      if (mutex_.try_lock()) return;
      if (policy_ == wait_policy::adaptive && tries == 20) break;
      wait_a_moment(policy_);
    }
    mutex_.lock();
  }
  void unlock() { mutex_.unlock(); }

 private:
  const wait_policy policy_;
  std::mutex mutex_;
};

struct alignas(128) worker {
  runtime_core* runtime = nullptr;
  unsigned id = 0;
  std::uint32_t number = 0;  ///< among all workers that this process ever had, from 1

  // Others read and write these.
  std::atomic<fiber*> current{nullptr};  ///< exchanged at every switch; raisers read it after setting a flag
  std::atomic<std::uint32_t> flags{0};
  /// Futex: counts calls to wake up. Read before the last look around, waited on afterwards.
  std::atomic<std::uint32_t> bell{0};
  std::mutex bell_lock;  ///< with bell_rung, for the policy `condvar`: held while `bell` is looked at
  std::condition_variable bell_rung;
  std::atomic<bool> deep{false};  ///< asleep for good, or about to be (sleep.cpp)
  std::atomic<bool> taken{false};  ///< an entering thread has this slot
  std::atomic<bool> inside{false};  ///< … and works. Partner: cpu_spread::hold
  cpu_set_t
      affinity_before{};  ///< of its thread, valid while `held`; written by cpu_spread before that is set
  std::atomic<bool> held{false};  ///< its thread stays on one CPU (cpu_spread.cpp), or will in a moment
  std::atomic<bool> shares_cpu{false};  ///< it is another worker's guest, or has one. Set by cpu_spread only
  std::atomic<int> thread_id{
      0};  ///< the kernel's number of the thread that is this worker; read by the monitor
  /// The thief that asks this worker for a task; null: none; closed_box: do not ask. Partner: request.cpp.
  std::atomic<worker*> box{nullptr};
  /// The answer to this worker's own request: null: pending; no_task; else the task.
  std::atomic<task*> reply{nullptr};

  // Only for its own thread.
  alignas(128) boost::context::detail::fcontext_t home = nullptr;  ///< the thread's own stack
  exception_state home_exceptions;
  exception_state* thread_exceptions = nullptr;  ///< the C++ runtime's own words of this thread
  void* home_tsan_fiber = nullptr;
  void* home_fake_stack = nullptr;
  const void* home_stack_bottom = nullptr;
  std::size_t home_stack_size = 0;
  bool background = false;  ///< a thread of the runtime, not one that entered
  unsigned rank = 0;  ///< number among the background workers, from 1; 0: a thread that entered
  std::uint64_t random_state = 0;
  const worker* last_victim = nullptr;  ///< who gave it its last task; null: nobody, or has no more
  std::array<fiber*, 4> cache{};
  unsigned cached = 0;
  worker_statistics counts;
  worker_state state = worker_state::outside;
  std::uint64_t state_since = 0;
  trace_buffer* trace = nullptr;  ///< null: no trace

  std::uint64_t random() noexcept;
  fiber* take_fiber();  ///< a fresh one; null: no memory
  void give_fiber(fiber* s) noexcept;
  void enter_state(worker_state s) noexcept;
  void enter_state(worker_state s, std::uint64_t now) noexcept;
  void note(trace_kind kind, std::uint32_t argument = 0) noexcept;
  void count_abort() noexcept {
    ++counts.aborts;
    note(trace_kind::abort);
  }
};

inline worker* const closed_box = reinterpret_cast<worker*>(std::uintptr_t{1});
inline task* const no_task = reinterpret_cast<task*>(std::uintptr_t{1});

/// Counts of entries, searchers and sleepers in one word, changed by CAS only (sleep.cpp).
struct census {
  std::uint16_t active = 0;  ///< entries that have not left
  std::uint16_t searchers = 0;  ///< idle workers that look for work, the watch included
  std::uint16_t sleepers = 0;  ///< idle workers that sleep until they are promoted
  std::uint16_t version = 0;
};

/// Something to do for a worker.
struct work {
  task* fresh = nullptr;  ///< a task that nobody has begun
  fiber* ready = nullptr;  ///< a fiber that can go on
  explicit operator bool() const noexcept { return fresh != nullptr || ready != nullptr; }
};

/// What a worker that waits may do meanwhile.
enum class reach {
  anything,
  /// As many fibers are parked as the settings allow: only what needs no fiber of its own. Gives way
  /// after a while:
  /// the limit saves memory, it must not stop a program.
  limited,
  /// The fiber must stay on its thread: only descendants of the awaited task.
  pinned,
};

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
  policy_mutex leftover_lock{chosen.policy_at(wait_place::lock)};
  std::deque<fiber*> leftover;
  std::atomic<std::size_t> leftovers{0};

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
  void raise_all() noexcept;

  // suspend.cpp
  task* split_leftover(worker& w) noexcept;
};

// switch.cpp
// -------------------------------------------------------------------------------------------------------
using after_switch = void (*)(worker& w, fiber* from, void* argument);
/// Leaves `from` (null: the worker's home) and goes on in `to`, where `then` is called first. Returns when
/// somebody resumes `from`, perhaps on another worker.
void switch_to(worker& w, fiber* from, fiber& to, after_switch then, void* argument);
/// Leaves `from` for the worker's home.
void switch_home(worker& w, fiber* from, after_switch then, void* argument);
/// The two words of __cxa_get_globals; their layout is the C++ ABI's.
exception_state* this_threads_exceptions() noexcept;
/// Makes a fresh fiber that will call `runtime_core::run_fiber`.
void make_fresh(fiber& s);
/// `then` of a fiber that is not needed any more.
void recycle(worker& w, fiber* from, void* unused);
void forget_sanitizer_state(fiber& s) noexcept;

// join.cpp
// ---------------------------------------------------------------------------------------------------------
inline constexpr std::uintptr_t join_done = 1;
inline constexpr std::uintptr_t join_sleeper_mark = 2;  ///< | worker
inline constexpr std::uintptr_t join_parked_mark = 4;  ///< | fiber
inline bool is_done(const task* t) noexcept {
  return t->joining.load(std::memory_order_acquire) == join_done;
}
/// Ends a task that this worker ran: wakes or hands out whoever waits for it. The fiber to go on with, or
/// null. The task may be gone afterwards.
fiber* finish(worker& w, task* t) noexcept;
/// Runs a task in a segment that begins at `top`, up to its end; never throws.
void execute(fiber& s, task* t, char* top) noexcept;
/// Runs a task on a fiber of its own and waits for it on this one.
void run_aside(fiber& s, root_task& root);
/// Runs a root within a runtime that this thread is inside of already.
void enter_within(fiber& s, root_task& root);
/// Is t the task `from`, or was it split off below it?
bool descends(const task* t, const task* from) noexcept;
/// Waits for a task; other work is done meanwhile. `top`: where descendants may run; null: nowhere.
void await(fiber& s, task* t, char* top) noexcept;
/// Takes a published task back. False: somebody has it.
bool take_back(fiber& s, task* t) noexcept;
/// Runs a child of a choice point here, if nobody has begun it. False: somebody has it.
bool complete_if_unbegun(fiber& s, choice_point* r, task* t) noexcept;

// request.cpp
// ------------------------------------------------------------------------------------------------------
void open_box(worker& w) noexcept;
void close_box(worker& w) noexcept;
/// Answers a thief: a task, or null: none.
void answer(worker& thief, task* t) noexcept;
bool has_request(const worker& w) noexcept;
/// Takes the request out of the worker's own box; null: none, or withdrawn.
worker* take_request(worker& w) noexcept;
/// A thief's request, from its search's point of view.
class request {
 public:
  /// The task that the victim gave; else asks one, if none is asked.
  task* poll(worker& w) noexcept;
  bool is_pending() const noexcept { return asked_ != nullptr; }
  /// Ends the asking. The task that was on its way, or null.
  task* withdraw(worker& w) noexcept;

 private:
  worker* asked_ = nullptr;
};

// attend.cpp
// -------------------------------------------------------------------------------------------------------
/// Serves what others want at a test. `end`: one past the youngest choice point with work; `testing`: the
/// choice point tested.
void attend(fiber& s, choice_point* end, choice_point* testing, bool at_join) noexcept;
/// Stops running this fiber here and now and lets any worker go on with it; returns when one does.
void hand_over(fiber& s) noexcept;
/// Splits pieces of a running fiber's work off, up to a number, and lets everybody have them.
void give_work_away(fiber& s, choice_point* end, unsigned most) noexcept;
/// Splits the oldest work of a fiber off. Null: nothing, or every guard refused.
task* split_oldest(fiber& s, choice_point* end, choice_point* testing, worker& w) noexcept;

/// The fiber that this thread runs; null: none. Not to be kept across anything that may switch.
fiber* running_fiber() noexcept;
void set_running_fiber(fiber* s) noexcept;

// abort.cpp
// --------------------------------------------------------------------------------------------------------
/// Was the task that this fiber runs, or one of its ancestors, or a choice point of this fiber aborted?
bool is_concerned(const fiber& s) noexcept;
/// The task that it runs, or an ancestor?
bool is_task_concerned(const fiber& s) noexcept;
/// The same where an exception may leave: not while a destructor runs because of another one.
bool must_leave(const fiber& s) noexcept;
/// Sets `abort_pending`, from which on tests at joins look closer.
void look_for_abort(fiber& s) noexcept;
/// Aborts everything that fiber does above and including `r`.
void lower_abort(fiber& s, char* r) noexcept;
void clear_abort(fiber& s, choice_point* r) noexcept;

}  // namespace sukima::detail
