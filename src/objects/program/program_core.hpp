// SPDX-License-Identifier: Apache-2.0
// The data of a program of objects, while it is declared and while it runs. All folders except shared and
// model use it. Comments below name the files of its functions.
#pragma once

#include <base/shared/descriptor.hpp>
#include <sukima/objects.hpp>
#include <sukima/suspend.hpp>

#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "schedule/timer.hpp"
#include "shared/execution_model.hpp"

namespace sukima::objects::detail {

class child_role;
class recording;
class segment;
struct island_core;

struct program_core {
  /// \param argv null: the program cannot have processes
  program_core(runtime& chosen, char** argv);  // process/process_roles.cpp
  program_core(const program_core&) = delete;
  program_core& operator=(const program_core&) = delete;
  ~program_core();

  runtime& on;
  const bool has_arguments;  ///< false: the program cannot have processes
  const std::vector<std::string> arguments;  ///< a copy of those of main
  const bool has_own_arguments;  ///< whether the process was started with these arguments
  descriptor folder;  ///< the current folder when the program was made; empty: unknown
  std::unique_ptr<child_role> child;  ///< null: this process is the parent, or there are no processes
  std::unique_ptr<segment> shared_memory;  ///< owned by the parent
  const segment* memory = nullptr;  ///< null: there are no processes
  std::uint32_t process = 0;  ///< the number of this process
  std::vector<std::unique_ptr<stream_core>> streams;
  std::vector<std::unique_ptr<object_core>> objects;
  std::vector<std::unique_ptr<island_core>> islands;  ///< guarded by run_lock while the program runs
  sukima::detail::runtime_core* core = nullptr;
  timer time;
  std::unique_ptr<recording> recorded;  ///< null: the program is not recorded
  std::string wanted_model;  ///< the name given to program::model; empty: none
  bool has_run = false;
  bool deadlock_of_some_ends = false;  ///< set before the watch begins, which reads it

  /// Sequentially consistent with object_core::suspension: a timer that begins to wait sees it, or is woken.
  /// pairs with: stop in process_roles.cpp; run in listener.cpp; wait_for_others in stream.cpp
  std::atomic<bool> stopping{false};
  /// Set before any object is woken; read after a wait was announced, and after an object was marked as
  /// begun. So these accesses are sequentially consistent. pairs with: abort_here, run_object, run_bell in
  /// program.cpp; wait_for_others, leave_if_aborting, wait_in_island in stream.cpp; abort_began in
  /// process_roles.cpp
  std::atomic<bool> aborting{false};
  std::atomic<std::size_t> left{
      0};  ///< Bound fibers that have not ended. pairs with: end_fiber in program.cpp
  resumer when_done;

  std::mutex ends_lock;  ///< guards object_core::ends of all objects
  std::mutex run_lock;  ///< guards the members below, and the islands while they are made and ended
  bool is_running = false;
  clock::duration took{};  ///< from the start of the objects to the end of the last
  std::exception_ptr error;  ///< the first error
  bool error_follows = false;  ///< whether it is the consequence of another object's end

  void run();
  /// Ends all objects, in all processes.
  void abort() noexcept;
  /// Ends the objects of this process.
  void abort_here() noexcept;
  /// Whether an abort has begun in any process, even if this one has not been notified yet.
  bool abort_began() const noexcept;
  void stop() noexcept;
  /// Wakes the timers of this process, which then see that the program was stopped.
  void wake_timers() noexcept;  // stream/sleep.cpp
  /// Keeps the first error. Between processes a consequence may arrive before its cause; the cause then
  /// replaces it.
  /// \param text sent to the parent if this process is a child
  /// \param follows whether it is the consequence of another object's end
  void note_error(std::exception_ptr e, const std::string& text, bool follows) noexcept;
  /// Returns the island of this program that is that executor; null if there is none.
  const island_core* find_island(const sukima::detail::executor* of);  // schedule/placement.cpp
  /// Gives the island its bell, which runs first, and begins its first slice.
  static void make_bell(island_core& i);

 private:
  void check() const;  // program/declaration.cpp
  // schedule/placement.cpp
  /// Checks that each process has room for the threads of its islands.
  /// \throws usage_error if there are too many threads
  void check_threads() const;
  /// Sets the objects' processes and islands. \returns the number of processes
  std::uint32_t place(const model::model_parts& how);
  /// Decides which streams are shared and need locks.
  /// \throws usage_error if a stream leads to another process, and its messages cannot travel
  void share_streams() const;
  /// Makes the islands of this process. \param divide whether they may be divided while they run
  void make_islands(bool on_threads, bool divide);
  /// Ends the islands of objects that cannot start, and gives their fibers back.
  void drop_islands() noexcept;
  // process/process_roles.cpp
  void run_as_child();
  void run_as_parent(std::uint32_t processes, model::execution_model how);
  /// Drops the objects of other processes.
  void drop_others() noexcept;
  // program/program.cpp
  void run_islands(const model::model_parts& how);
  /// Makes the islands, and a fiber for each object. \returns the islands \throws std::system_error
  std::vector<island_core*> prepare(const model::model_parts& how);
  static void prepare(island_core& i);
};

}  // namespace sukima::objects::detail
