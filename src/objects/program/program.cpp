// SPDX-License-Identifier: Apache-2.0
// A program's life: declaring, dividing the objects among islands, running, aborting.
#include "deadlock/watch.hpp"
#include "process/listener.hpp"
#include "process/processes.hpp"
#include "program/program_core.hpp"
#include "recording/recording.hpp"
#include "recording/run_time.hpp"
#include "schedule/island.hpp"
#include "schedule/plan.hpp"
#include "schedule/stacks.hpp"
#include "stream/waiting.hpp"

#include <base/shared/exception_text.hpp>
#include <runtime/shared/require_runner.hpp>
#include <runtime/shared/start_thread.hpp>
#include <sukima/detail/ticks.hpp>

#include <algorithm>
#include <exception>
#include <future>
#include <latch>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>

namespace sukima::objects {
namespace detail {

namespace {

bool runs_on_threads(const model::model_parts& how) noexcept {
  return how.between != model::unit::simulated && !runs_on_workers(how);
}

/// Counts a fiber that has ended. The last one resumes the caller of program_core::run, which may then
/// destroy the program.
void end_fiber(program_core& p) noexcept {
  const resumer when_done = p.when_done;
  // The work of all fibers happens before the code after the resume. pairs with: end_fiber
  if (p.left.fetch_sub(1, std::memory_order_acq_rel) == 1) when_done.resume();
}

/// Records the exception of an object. \pre called in the exception's handler
void note_failure(const object_core& me, const std::string& text, bool follows = false) noexcept {
  me.program->note_error(std::current_exception(), "the object " + me.name + " failed: " + text, follows);
}

void run_object(sukima::detail::task* self, context c) {
  auto& me = static_cast<object_core&>(*self);
  std::string text;
  bool failed = true;
  me.begun.store(true, std::memory_order_seq_cst);  // before `aborting` is read; pairs with: abort_here
  try {
    if (me.program->aborting.load(std::memory_order_seq_cst)) throw aborted{};  // pairs with: abort_here
    recording* const recorded = me.program->recorded.get();
    if (recorded != nullptr) recorded->start(me);
    me.call(c);
    if (recorded != nullptr) recorded->finish(me);
    failed = false;
  } catch (const aborted&) {
    text = "it was aborted";
  } catch (const stream_broken& e) {
    // Its receivers have left. Whether they leave before the object has sent everything depends on chance, so
    // this is not a failure.
    text = e.what();
    me.is_cut_off = true;
  } catch (const stream_cut_off& e) {
    text = e.what();
    me.is_cut_off = true;
  } catch (const stream_error& e) {
    text = e.what();
    // After an abort, streams break and fail as a consequence, because objects have left by the exception
    // `aborted`.
    const bool follows = dynamic_cast<const message_too_large*>(&e) == nullptr;
    if (!me.program->abort_began()) note_failure(me, text, follows);
  } catch (...) {
    text = handled_exception_text();
    note_failure(me, text);
  }
  if (failed) {
    const std::lock_guard hold(me.program->ends_lock);
    me.failing = std::move(text);
  }
  me.drop();
  release_dropped(me);
  me.has_ended.store(true, std::memory_order_release);  // its ends are closed
  island_core& home = static_cast<island_core&>(*me.home);
  if (--home.left == 0) home.own_bell.ring();
}

/// Ends the waits that only the holder of the token can end.
void end_local_waits(island_core& of) noexcept {
  for (object_core* const o : of.objects)
    if (o->local_wait != nullptr) claim(*o->local_wait);
}

void run_bell(sukima::detail::task* self, context) {
  auto& me = *static_cast<bell*>(self);
  island_core& of = *me.of;
  const program_core& p = *of.objects.front()->program;
  if (of.is_divisible()) of.begin_sample();
  while (of.left != 0) {
    const std::uint64_t number = sukima::detail::begin_suspension(*me.self);
    me.number.store(number, std::memory_order_seq_cst);  // before `aborting` is read; pairs with: ring
    const bool wanted = of.left == 0 || (p.aborting.load(std::memory_order_seq_cst) && !me.has_aborted);
    if (!wanted || !sukima::detail::claim_suspension(*me.self, number))
      sukima::detail::finish_suspension(*me.self);
    // Later holders of the token see the abort, too. pairs with: abort_here
    if (p.aborting.load(std::memory_order_seq_cst) && !std::exchange(me.has_aborted, true))
      end_local_waits(of);
  }
}

}  // namespace

// To be called after the store of which the bell gives notice. pairs with: run_bell
void bell::ring() noexcept { sukima::detail::try_resume(*self, number.load(std::memory_order_seq_cst)); }

program_core::~program_core() {
  // Objects that never ran still hold ends.
  for (const auto& o : objects) o->drop();
}

void program_core::note_error(std::exception_ptr e, const std::string& text, bool follows) noexcept {
  const std::lock_guard hold(run_lock);
  if (error && (memory == nullptr || !error_follows || follows)) return;
  error = std::move(e);
  error_follows = follows;
  if (child) child->send(follows ? report::suffered : report::failed, text);
}

void program_core::make_bell(island_core& i) {
  bell& b = i.own_bell;
  b.of = &i;
  b.run = run_bell;
  b.ended = [](sukima::detail::bound_task* t) noexcept {
    end_fiber(*static_cast<bell*>(t)->of->objects.front()->program);
  };
  b.self = &i.make_fiber(b, 0);
  i.worker_since = i.slice_began = sukima::detail::ticks();
  i.make_ready(*b.self);
}

void program_core::prepare(island_core& i) {
  i.left = i.objects.size();
  make_bell(i);
  for (object_core* const o : i.objects) {
    o->run = run_object;
    o->label = {"the object", o->name.c_str(), "give it more with .stack(bytes) where it is declared"};
    o->ended = [](sukima::detail::bound_task* t) noexcept {
      end_fiber(*static_cast<object_core*>(t)->program);
    };
    o->self = &i.make_fiber(*o, o->stack);
    o->recognized = o->ambient = sukima::detail::ambient_of_fiber(*o->self);
    i.make_ready(*o->self);
  }
}

std::vector<island_core*> program_core::prepare(const model::model_parts& how) {
  // This fiber only waits until the objects have ended, so another worker must run them.
  sukima::detail::require_runner(*sukima::detail::this_fiber_now());
  std::vector<island_core*> made;
  const std::lock_guard hold(run_lock);
  core = sukima::detail::running_runtime();
  make_islands(runs_on_threads(how), memory == nullptr && recorded == nullptr && runs_on_workers(how));
  std::size_t fibers = islands.size();
  for (const auto& i : islands) fibers += i->objects.size();
  left.store(fibers, std::memory_order_relaxed);  // before the fibers start; pairs with: end_fiber
  choose_stacks(*this);
  for (const auto& i : islands) {
    prepare(*i);
    made.push_back(i.get());
  }
  if (recorded != nullptr) recorded->begin(*this);
  is_running = true;
  return made;
}

void program_core::run_islands(const model::model_parts& how) {
  const bool on_threads = runs_on_threads(how);
  std::vector<std::thread> threads;
  std::optional<std::latch> entered;
  std::exception_ptr refused;  // a thread cannot enter the runtime; guarded by run_lock
  std::promise<bool> started;
  const std::shared_future<bool> may_start = started.get_future().share();
  clock::time_point began;
  std::vector<island_core*> first_ones;  // more are made when these are divided
  struct start {
    program_core& of;
    bool was_made = false;
    ~start() {
      if (!was_made) of.drop_islands();
    }
  } started_objects{*this};
  on.run([&](context c) {
    first_ones = prepare(how);
    began = clock::now();
    std::optional<deadlock_watch> watch;
    std::optional<listener> listens;
    if (memory != nullptr)
      listens.emplace(*this, *memory, process);
    else
      watch.emplace(*this);
    if (on_threads) {
      try {
        entered.emplace(static_cast<std::ptrdiff_t>(first_ones.size()));
        for (island_core* const i : first_ones)
          threads.push_back(sukima::detail::start_thread("objects", [&, this, i] {
            bool is_inside = false;
            try {
              on.run([&] {
                is_inside = true;
                entered->count_down();
                if (may_start.get()) i->serve();
              });
            } catch (...) {
              if (is_inside) throw;
              {
                const std::lock_guard hold(run_lock);
                refused = std::current_exception();
              }
              entered->count_down();
            }
          }));
        entered->wait();
        const std::lock_guard hold(run_lock);
        if (refused) std::rethrow_exception(refused);
      } catch (...) {
        started.set_value(false);
        for (std::thread& t : threads) t.join();
        threads.clear();
        throw;
      }
    }
    sukima::suspend(c, [&](resumer me) {
      when_done = me;
      started_objects.was_made = true;
      if (on_threads)
        started.set_value(true);
      else
        for (island_core* const i : first_ones) i->start();
    });
    took = clock::now() - began;
    const std::lock_guard hold(run_lock);
    is_running = false;
    if (memory != nullptr) memory->process(process).gone.store(1, std::memory_order_seq_cst);
  });
  for (std::thread& t : threads) t.join();
  const std::lock_guard hold(run_lock);
  if (recorded != nullptr) recorded->end(error != nullptr);
  islands.clear();
}

void program_core::run() {
  // Checked before a plan changes the streams, which may hold messages.
  if (has_run) throw usage_error("sukima: a program can be run only once");
  if (child == nullptr) {  // a child has no watch
    deadlock_of_some_ends = does_deadlock_of_some_end();
    if (recorded == nullptr) recorded = recording::wanted(on);
  }
  const model::execution_model how =
      recorded != nullptr ? model::execution_model::simulated : chosen_model(*this);
  if (child != nullptr) {
    has_run = true;
    check();
    run_as_child();
  }
  const model::model_parts parts = model::parts_of(how);
  if (parts.between == model::unit::process && !has_arguments)
    throw usage_error("sukima: SUKIMA_OBJECTS=" + std::string(parts.name) +
                      " needs a program that was made with the arguments of main: program p(argc, argv)");
  has_run = true;
  check();
  const std::uint32_t processes = place(parts);
  if (runs_on_threads(parts)) check_threads();
  share_streams();
  if (processes > 1)
    run_as_parent(processes, how);
  else
    run_islands(parts);
  const std::lock_guard hold(run_lock);
  if (error) std::rethrow_exception(error);
  if (recorded == nullptr) write_run_time(took);
}

void program_core::abort_here() noexcept {
  const std::lock_guard hold(run_lock);
  // Before the objects are read. pairs with: run_object, run_bell; wait_for_others in stream.cpp
  aborting.store(true, std::memory_order_seq_cst);
  if (!is_running) return;
  // The runtime does not run a cancelled task that has not begun. But an object that has not begun must run
  // to drop its ends, so it is not cancelled.
  for (const auto& o : objects)
    // pairs with: run_object; is_task_concerned in abort.cpp
    if (o->begun.load(std::memory_order_seq_cst)) o->cancelled.store(true, std::memory_order_seq_cst);
  sukima::detail::announce_cancellation(*core);
  for (const auto& o : objects)
    if (const std::uint64_t number = o->suspension.load(std::memory_order_seq_cst); number != 0)
      sukima::detail::try_resume(*o->self, number);
  for (const auto& i : islands) i->own_bell.ring();
}

object_core& running_object(const char* called) {
  sukima::detail::task* const t = sukima::detail::running_bound_task();
  if (t == nullptr || t->run != run_object)
    throw usage_error("sukima: " + std::string(called) + " was called, but no object runs here");
  return static_cast<object_core&>(*t);
}

std::unique_ptr<program_core, program_deleter> make_program(runtime& on, char** argv) {
  return std::unique_ptr<program_core, program_deleter>(new program_core(on, argv));
}

program_core& core_of(program& p) noexcept { return *p.core_; }

void program_deleter::operator()(program_core* p) const noexcept { delete p; }

void add_stream(program_core& p, std::unique_ptr<stream_core> s) {
  if (p.has_run)
    throw usage_error("sukima: the stream " + s->name +
                      " was declared after run() had begun; declare all streams before it");
  s->program = &p;
  s->number = static_cast<std::uint32_t>(p.streams.size());
  p.streams.push_back(std::move(s));
}

object_core& add_object(program_core& p, std::string name, std::unique_ptr<object_core> o) {
  if (p.has_run)
    throw usage_error("sukima: the object " + name +
                      " was declared after run() had begun; declare all objects before it");
  o->program = &p;
  o->name = std::move(name);
  p.objects.push_back(std::move(o));
  return *p.objects.back();
}

void bind_end(stream_end& e, object_core& owner) {
  stream_core& s = e.core();
  if (e.owner_ != nullptr)
    throw usage_error("sukima: stream " + s.name + ": two objects were given the same end");
  owner.ends.push_back({&s, e.out_});
  owner.dropped.reserve(owner.dropped.size() + owner.ends.size());
  e.owner_ = &owner;
}

object_core& find_user(stream_core& core, object_core*& owner, bool out) {
  const sukima::detail::executor* const here = sukima::detail::running_executor();
  const sukima::detail::ambient_state* const running = sukima::detail::find_ambient();
  if (owner != nullptr && owner->recorded != nullptr && owner->ambient == running) {
    owner->program->recorded->begin_operation(*owner, core, out);
    return *owner;
  }
  if (const island_core* const i = owner == nullptr ? core.program->find_island(here) : nullptr; i != nullptr)
    for (object_core* const o : i->objects) {
      if (o->ambient != running) continue;
      const std::lock_guard hold(core.program->ends_lock);
      o->ends.push_back({&core, out});
      o->dropped.reserve(o->dropped.size() + o->ends.size());
      owner = o;
      if (o->recorded != nullptr) o->program->recorded->begin_operation(*o, core, out);
      return *o;
    }
  throw usage_error("sukima: stream " + core.name + ": an end was used outside its object" +
                    (owner != nullptr ? " " + owner->name : std::string()) +
                    "; a branch that an object forks cannot use the object's ends");
}

}  // namespace detail

int program::run() {
  core_->run();
  return 0;
}

void program::stop() noexcept { core_->stop(); }

void program::model(std::string_view name) { core_->wanted_model = name; }

bool program::is_child() const noexcept { return core_->child != nullptr; }

// Acquire: what precedes the stop. pairs with: stop in process_roles.cpp; run in listener.cpp
bool program::stop_requested() const noexcept { return core_->stopping.load(std::memory_order_acquire); }

void program::abort() noexcept { core_->abort(); }

}  // namespace sukima::objects
