// SPDX-License-Identifier: Apache-2.0
// A program with several processes: the role of the parent, the role of a child, and announcements to all of
// them.
#include "deadlock/watch.hpp"
#include "process/listener.hpp"
#include "process/processes.hpp"
#include "program/declaration.hpp"
#include "program/program_core.hpp"
#include "recording/recording.hpp"
#include "schedule/island.hpp"

#include <sys/stat.h>
#include <unistd.h>
#include <base/shared/read_text.hpp>

#include <algorithm>

#include "stream/remote.hpp"

namespace sukima::objects::detail {

namespace {

/// Whether a program of this process has had processes. A child runs main up to the `run` of the first
/// program, so only one program can have processes. The flag publishes no data. If several programs run at
/// once, the exchange admits one of them. Relaxed: one word. pairs with: program_core, run_as_parent
std::atomic<bool> processes_were_used{false};

/// Whether the process was started with these arguments; true if that is unknown.
bool are_own(char** argv) {
  const std::string started_with = read_file_text("/proc/self/cmdline").value_or("");
  if (started_with.empty()) return true;
  std::string given;
  for (char** one = argv; *one != nullptr; ++one) given.append(*one).push_back('\0');
  return given == started_with;
}

std::vector<std::string> copied(char** argv) {
  std::vector<std::string> arguments;
  for (; argv != nullptr && *argv != nullptr; ++argv) arguments.emplace_back(*argv);
  return arguments;
}

bool is_current(const descriptor& folder) {
  struct stat then{};
  struct stat now{};
  return folder.get() < 0 || fstat(folder.get(), &then) != 0 || stat(".", &now) != 0 ||
         (then.st_dev == now.st_dev && then.st_ino == now.st_ino);
}

}  // namespace

program_core::program_core(runtime& chosen, char** argv)
    : on(chosen),
      has_arguments(argv != nullptr),
      arguments(copied(argv)),
      has_own_arguments(argv != nullptr && are_own(argv)) {
  if (argv != nullptr) child = child_role::take();
  if (child != nullptr) processes_were_used.store(true, std::memory_order_relaxed);
  if (argv != nullptr && child == nullptr)
    folder = beyond_standard(descriptor(open(".", O_PATH | O_DIRECTORY | O_CLOEXEC)));
}

void program_core::drop_others() noexcept {
  for (const auto& o : objects)
    if (o->process != process) {
      o->drop();
      // Relaxed: the watch and the listener start later, and starting a thread orders it.
      // pairs with: observe in find_deadlock.cpp
      o->has_ended.store(true, std::memory_order_relaxed);
    }
}

void program_core::run_as_child() {
  {
    const std::lock_guard hold(run_lock);
    memory = &child->memory();
    // Announces a stop or an abort that came before the other processes could be notified, as run_as_parent
    // does. The ring follows. pairs with: stop, abort_here in program.cpp; run in listener.cpp
    if (aborting.load(std::memory_order_seq_cst))
      memory->header().aborting.store(1, std::memory_order_seq_cst);
    if (stopping.load(std::memory_order_seq_cst))
      memory->header().stopping.store(1, std::memory_order_seq_cst);
  }
  if (aborting.load(std::memory_order_seq_cst) || stopping.load(std::memory_order_seq_cst))
    memory->ring_all();
  process = child->process();
  const std::string difference = first_difference(memory->graph(), declaration_of(*this));
  if (!difference.empty()) {
    child->send(report::differs, difference);
    _exit(1);
  }
  for (std::size_t i = 0; i < objects.size(); ++i) {
    objects[i]->process = memory->homes()[i].process;
    objects[i]->island_number = memory->homes()[i].island;
  }
  share_streams();
  attach_streams(*this, *memory, process);
  drop_others();
  child->follow_parent();
  on.limit_workers(std::max(1U, on.workers() / memory->header().processes));
  child->send(report::ready, {});
  run_islands(model::parts_of(static_cast<model::execution_model>(memory->header().model)));
  child->end();
}

void program_core::run_as_parent(std::uint32_t processes, model::execution_model how) {
  if (processes_were_used.exchange(true, std::memory_order_relaxed))
    throw usage_error(
        "sukima: only one program of a process can have processes: each child runs main up to the "
        "first program::run");
  if (!has_own_arguments)
    throw usage_error(
        "sukima: program p(argc, argv) must be the first statement of main where objects are processes: its "
        "arguments are not those that this process was started with, and each process starts with the same");
  const bool any_here =
      std::any_of(objects.begin(), objects.end(), [](const auto& o) { return o->process == 0; });
  shared_memory =
      std::make_unique<segment>(*this, processes, static_cast<std::uint32_t>(how), declaration_of(*this));
  child_processes children(*this, *shared_memory);
  // The program may have since changed its argv, as option parsers do.
  std::vector<std::string> again = arguments;
  std::vector<char*> argv;
  for (std::string& one : again) argv.push_back(one.data());
  argv.push_back(nullptr);
  children.start(argv.data(), is_current(folder) ? -1 : folder.get());
  {
    const std::lock_guard hold(run_lock);
    memory = shared_memory.get();
    // Announces a stop or an abort that came before the other processes could be notified. The
    // store in stop() comes before it takes the lock. The ring follows.
    // pairs with: stop, abort_here in program.cpp; run in listener.cpp
    if (aborting.load(std::memory_order_seq_cst))
      memory->header().aborting.store(1, std::memory_order_seq_cst);
    if (stopping.load(std::memory_order_seq_cst))
      memory->header().stopping.store(1, std::memory_order_seq_cst);
  }
  attach_streams(*this, *memory, 0);
  drop_others();
  const clock::time_point began = clock::now();
  memory->ring_all();
  children.watch();
  {
    const deadlock_watch watch(*this);
    if (any_here)
      run_islands(model::parts_of(how));
    else
      memory->process(0).gone.store(1, std::memory_order_seq_cst);  // pairs with: ask_processes in watch.cpp
    children.wait();
  }
  took = clock::now() - began;
}

void program_core::abort() noexcept {
  {
    // Before an object leaves, because objects that then find a stream broken read this word.
    // pairs with: abort_began
    const std::lock_guard hold(run_lock);
    if (memory != nullptr) memory->header().aborting.store(1, std::memory_order_seq_cst);
  }
  abort_here();
  const std::lock_guard hold(run_lock);
  if (memory == nullptr) return;
  // Before the ring. pairs with: run in listener.cpp
  memory->header().aborting.store(1, std::memory_order_seq_cst);
  memory->ring_all();
}

bool program_core::abort_began() const noexcept {
  // Read after a stream was found broken. pairs with: abort, abort_here in program.cpp
  return aborting.load(std::memory_order_seq_cst) ||
         (memory != nullptr && memory->header().aborting.load(std::memory_order_seq_cst) != 0);
}

void program_core::stop() noexcept {
  // Before the lock is taken. pairs with: run_as_parent, run_as_child; wait_for_others in stream.cpp
  stopping.store(true, std::memory_order_seq_cst);
  wake_timers();
  const std::lock_guard hold(run_lock);
  if (memory == nullptr) return;
  // Before the ring. pairs with: run in listener.cpp
  memory->header().stopping.store(1, std::memory_order_seq_cst);
  memory->ring_all();
}

}  // namespace sukima::objects::detail
