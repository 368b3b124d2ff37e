// SPDX-License-Identifier: Apache-2.0
// A program of objects while it is declared and while it runs (program.cpp).
#pragma once

#include <sukima/objects.hpp>
#include <sukima/suspend.hpp>

#include <condition_variable>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "deadlock/waits.hpp"
#include "process/processes.hpp"
#include "recording/recording.hpp"
#include "schedule/island.hpp"
#include "shared/execution_model.hpp"

namespace sukima::objects::detail {

/// How the islands run, as program::model or SUKIMA_OBJECTS says (plan.cpp). A plan file sets the groups of
/// the objects and the capacities of the streams, too.
/// \throws bad_setting
model::execution_model chosen_model(program_core& p);

/// Whether the runtime's workers run the islands, which can be divided then.
inline bool runs_on_workers(const model::model_parts& how) noexcept {
  return how.name == "workers:simulated";
}

/// Whether objects that wait for one another for ever end the program though others go on, as SUKIMA_DEADLOCK
/// says (deadlock.cpp). \throws bad_setting
bool does_deadlock_of_some_end();

/// Resumes waits whose time has come. The thread starts with the first of them.
class timer {
 public:
  using due = std::multimap<clock::time_point, std::pair<sukima::detail::fiber*, std::uint64_t>>;
  timer() = default;
  timer(const timer&) = delete;
  timer& operator=(const timer&) = delete;
  ~timer();
  void add(clock::time_point at, sukima::detail::fiber& s, std::uint64_t number);
  /// Forgets the fiber's wait for that time, if it is not over.
  void remove(clock::time_point at, const sukima::detail::fiber& s) noexcept;

 private:
  void run();
  std::mutex lock_;
  std::condition_variable changed_;
  due waits_;
  bool ends_ = false;
  std::thread thread_;
};

struct program_core {
  /// \param argv null: it can have no processes
  program_core(runtime& chosen, char** argv);
  program_core(const program_core&) = delete;
  program_core& operator=(const program_core&) = delete;
  ~program_core();

  runtime& on;
  const bool has_arguments;  ///< else it can have no processes
  const std::vector<std::string> arguments;  ///< of main, as they were
  const bool has_own_arguments;  ///< they are those that the process was started with
  descriptor folder;  ///< the current one when the program was made; none: it is not known
  std::unique_ptr<child_role> child;  ///< null: it is the parent, or has no processes
  std::unique_ptr<segment> shared_memory;  ///< the parent's
  const segment* memory = nullptr;  ///< null: it has no processes
  std::uint32_t process = 0;  ///< this one
  std::vector<std::unique_ptr<stream_core>> streams;
  std::vector<std::unique_ptr<object_core>> objects;
  std::vector<std::unique_ptr<island_core>> islands;  ///< guarded by run_lock while the program runs
  sukima::detail::runtime_core* core = nullptr;
  timer time;
  std::unique_ptr<recording> recorded;  ///< null: it is not
  std::string wanted_model;  ///< that program::model has chosen; empty: none
  bool has_run = false;
  bool deadlock_of_some_ends = false;  ///< set before the watch begins, which reads it

  /// No data goes with it. Partners: stop(), listener::run; stop_requested.
  std::atomic<bool> stopping{false};
  /// Set before anybody is woken; read after a wait was announced, and after an object was marked as begun.
  /// Partners: wait() (stream.cpp), run_object, run_bell.
  std::atomic<bool> aborting{false};
  std::atomic<std::size_t> left{0};  ///< bound fibers that have not ended; partner: end_fiber
  resumer over;

  std::mutex ends_lock;  ///< object_core::ends of all objects
  std::mutex run_lock;  ///< guards the following, and the islands while they are made and ended
  bool is_running = false;
  clock::duration took{};  ///< from the start of the objects to the end of the last
  std::exception_ptr error;  ///< the first
  bool error_follows = false;

  void run();
  void abort() noexcept;
  /// The same in this process only.
  void abort_here() noexcept;
  /// In any process; this one may not have heard of it.
  bool abort_began() const noexcept;
  void stop() noexcept;
  /// Timers of this process see that the program was stopped.
  void wake_timers() noexcept;
  /// Keeps the first. Between processes a consequence may be heard of before its cause, which then takes its
  /// place.
  /// \param text what a child tells the parent of it
  /// \param follows whether it is the consequence of an object's end
  void note_error(std::exception_ptr e, const std::string& text, bool follows) noexcept;
  /// The island of this program that is that executor; null: none.
  const island_core* find_island(const sukima::detail::executor* of);
  /// Gives the island its bell, which runs first, and begins its first slice.
  static void make_bell(island_core& i);

 private:
  void check() const;
  /// The islands of each process have threads of their own. \throws usage_error they are too many
  void check_threads() const;
  /// Sets the objects' processes and islands. \returns the number of processes
  std::uint32_t place(const model::model_parts& how);
  /// Which streams need locks. \throws usage_error one cannot be between processes
  void share_streams() const;
  void run_as_child();
  void run_as_parent(std::uint32_t processes, model::execution_model how);
  /// The objects of other processes go.
  void drop_others() noexcept;
  void run_islands(const model::model_parts& how);
  /// \param divide whether they may be divided while they run
  void make_islands(bool on_threads, bool divide);
  static void prepare(island_core& i);
};

// declaration.cpp
std::string type_name(const stream_core& s);
std::string declaration_of(const program_core& p);
/// Empty: there is none.
std::string first_difference(std::string_view wanted, std::string_view found);

// division_steps.cpp
/// Moves objects of the island to a new one, if that saves time. For the token's holder, which stays.
/// \returns whether any moved
bool divide(program_core& p, island_core& of, const object_core& stays);

/// Looks now and then whether objects wait for one another, in any process. Alive while a program runs; of
/// one with processes in the parent.
class deadlock_watch {
 public:
  explicit deadlock_watch(program_core& of);
  deadlock_watch(const deadlock_watch&) = delete;
  deadlock_watch& operator=(const deadlock_watch&) = delete;
  ~deadlock_watch();

 private:
  void run();
  bool sleep(std::chrono::milliseconds time);
  void look();
  /// Nothing: the program ends, or some process has not answered.
  std::optional<observation> observe();
  std::optional<observation> ask_processes();
  program_core& of_;
  std::mutex lock_;
  std::condition_variable ended_;
  bool ends_ = false;
  std::string reported_;
  std::thread thread_;
};

/// For a process of several: answers the watch of the parent, if that asks.
void answer_watch(program_core& p, const segment& memory, std::uint32_t process) noexcept;

/// Writes the time to the file that SUKIMA_OBJECTS_TIME names, if there is no such file yet.
void tell_run_time(std::chrono::nanoseconds time) noexcept;

// record.cpp: takes the oldest record out, if there is one.
void drop_record(stream_core& s, std::vector<std::byte>& scratch);

// Streams between processes (remote.cpp).
void lock_remote(stream_core& s, bool out);
void unlock_remote(stream_core& s, bool out) noexcept;
/// Somebody may wait on that side, in any process.
void wake_remote(stream_core& s, std::uint32_t side) noexcept;
/// This process's last end on that side was released.
void close_remote(stream_core& s, bool out) noexcept;
/// A sender of this process ends by an exception. \param state what its stream is from now on
void fail_remote(stream_core& s, const std::string& text, std::uint32_t state) noexcept;
/// The text of who failed.
const char* failure_of(const stream_core& s) noexcept;

/// Ends what a wait of another thread's or of the same island's object waits for. False: it was over.
bool claim(wait_state& w) noexcept;
/// Releases the ends that were dropped while an exception unwound the object.
void release_dropped(object_core& me) noexcept;

}  // namespace sukima::objects::detail
