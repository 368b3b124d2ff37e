// SPDX-License-Identifier: Apache-2.0
// Replaces the C library's threads, mutexes, condition variables and initialisers for threads of the
// simulated machine. The definitions apply to the whole program, including its shared libraries. The real
// objects keep their state; only waiting is done by the machine.
#include "clocks.hpp"
#include "machine.hpp"
#include "real_calls.hpp"

#include <pthread.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace sukima::simulation {

namespace {

using body = void* (*)(void*);

struct beginning {
  thread* self;
  body main;
  void* argument;
};

/// The handles of threads that were not joined yet.
std::vector<std::pair<pthread_t, thread*>> handles;

thread* thread_of(pthread_t handle) noexcept {
  const auto found = std::find_if(handles.rbegin(), handles.rend(),
                                  [&](const auto& h) { return pthread_equal(h.first, handle) != 0; });
  return found == handles.rend() ? nullptr : found->second;
}

/// Called when thread-specific data are destroyed. Their destructors are still steps of the thread, so the
/// thread ends in the last round of destructors.
void destroy_data(void* of);

pthread_key_t last_key() noexcept {
  static const pthread_key_t key = [] {
    pthread_key_t made{};
    pthread_key_create(&made, destroy_data);
    return made;
  }();
  return key;
}

void destroy_data(void* of) {
  thread& self = *static_cast<thread*>(of);
  if (++self.endings < PTHREAD_DESTRUCTOR_ITERATIONS)
    pthread_setspecific(last_key(), &self);
  else
    the_machine().end();
}

void* main_of_thread(void* argument) {
  const std::unique_ptr<beginning> given(static_cast<beginning*>(argument));
  the_machine().begin(*given->self);
  pthread_setspecific(last_key(), given->self);
  return given->main(given->argument);
}

int lock(pthread_mutex_t* mutex) noexcept {
  static auto* const try_lock = real<decltype(pthread_mutex_trylock)>("pthread_mutex_trylock");
  for (;;) {
    const int result = try_lock(mutex);
    if (result != EBUSY) return result;
    the_machine().wait(wait_kind::mutex, mutex, never);
  }
}

int unlock(pthread_mutex_t* mutex) noexcept {
  static auto* const call = real<decltype(pthread_mutex_unlock)>("pthread_mutex_unlock");
  const int result = call(mutex);
  if (this_thread() != nullptr) the_machine().wake(wait_kind::mutex, mutex, 1);
  return result;
}

int wait_for(pthread_cond_t* condition, pthread_mutex_t* mutex, std::uint64_t until) noexcept {
  machine& m = the_machine();
  m.step(step_kind::condition);
  unlock(mutex);  // no step until the wait, so no thread can notify in between
  const wake_reason why = m.wait(wait_kind::condition, condition, until);
  lock(mutex);
  return why == wake_reason::timed_out ? ETIMEDOUT : 0;
}

int notify(pthread_cond_t* condition, unsigned most) noexcept {
  the_machine().step(step_kind::condition);
  the_machine().wake(wait_kind::condition, condition, most);
  return 0;
}

/// Initialisers that are running.
std::vector<const pthread_once_t*> initialising;

class initialisation {
 public:
  explicit initialisation(const pthread_once_t* of) : of_(of) { initialising.push_back(of); }
  ~initialisation() {
    std::erase(initialising, of_);
    the_machine().wake(wait_kind::initialiser, of_, UINT_MAX);
  }
  initialisation(const initialisation&) = delete;
  initialisation& operator=(const initialisation&) = delete;

 private:
  const pthread_once_t* of_;
};

}  // namespace

}  // namespace sukima::simulation

using namespace sukima::simulation;

// Threads outside the machine use the real functions: before and after the run.
extern "C" {

int pthread_create(pthread_t* made, const pthread_attr_t* how, body main, void* argument) noexcept {
  static auto* const call = real<decltype(pthread_create)>("pthread_create");
  if (this_thread() == nullptr) return call(made, how, main, argument);
  machine& m = the_machine();
  m.step(step_kind::thread);
  auto given = std::make_unique<beginning>(beginning{&m.add_thread(), main, argument});
  const int result = call(made, how, main_of_thread, given.get());
  if (result != 0) {
    m.remove_thread();
    return result;
  }
  thread& created = *given.release()->self;
  handles.emplace_back(*made, &created);
  m.start(created);
  m.step(step_kind::thread);
  return 0;
}

int pthread_join(pthread_t handle, void** value) {
  static auto* const call = real<decltype(pthread_join)>("pthread_join");
  thread* const other = this_thread() != nullptr ? thread_of(handle) : nullptr;
  if (other == nullptr) return call(handle, value);
  machine& m = the_machine();
  m.step(step_kind::thread);
  while (!other->ended) m.wait(wait_kind::end, other, never);
  std::erase_if(handles, [&](const auto& h) { return h.second == other; });
  return call(handle, value);  // the real thread now ends by itself
}

int pthread_setname_np(pthread_t handle, const char* name) noexcept {
  static auto* const call = real<decltype(pthread_setname_np)>("pthread_setname_np");
  if (this_thread() != nullptr)
    if (thread* const named = thread_of(handle)) named->name = name;
  return call(handle, name);
}

int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  static auto* const call = real<decltype(pthread_mutex_lock)>("pthread_mutex_lock");
  if (this_thread() == nullptr) return call(mutex);
  the_machine().step(step_kind::lock);
  return lock(mutex);
}

int pthread_mutex_trylock(pthread_mutex_t* mutex) noexcept {
  static auto* const call = real<decltype(pthread_mutex_trylock)>("pthread_mutex_trylock");
  if (this_thread() != nullptr) the_machine().step(step_kind::lock);
  return call(mutex);
}

int pthread_mutex_unlock(pthread_mutex_t* mutex) noexcept {
  const int result = unlock(mutex);
  if (this_thread() != nullptr) the_machine().step(step_kind::lock);
  return result;
}

int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  static auto* const call = real<decltype(pthread_cond_wait)>("pthread_cond_wait");
  if (this_thread() == nullptr) return call(condition, mutex);
  return wait_for(condition, mutex, never);
}

int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex, const timespec* end) {
  static auto* const call = real<decltype(pthread_cond_timedwait)>("pthread_cond_timedwait");
  if (this_thread() == nullptr) return call(condition, mutex, end);
  return wait_for(condition, mutex, moment(end));
}

int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                           const timespec* end) {
  static auto* const call = real<decltype(pthread_cond_clockwait)>("pthread_cond_clockwait");
  if (this_thread() == nullptr) return call(condition, mutex, clock, end);
  return wait_for(condition, mutex, moment(end));
}

int pthread_cond_signal(pthread_cond_t* condition) noexcept {
  static auto* const call = real<decltype(pthread_cond_signal)>("pthread_cond_signal");
  return this_thread() == nullptr ? call(condition) : notify(condition, 1);
}

int pthread_cond_broadcast(pthread_cond_t* condition) noexcept {
  static auto* const call = real<decltype(pthread_cond_broadcast)>("pthread_cond_broadcast");
  return this_thread() == nullptr ? call(condition) : notify(condition, UINT_MAX);
}

int pthread_once(pthread_once_t* once, void (*initialise)()) {
  static auto* const call = real<decltype(pthread_once)>("pthread_once");
  if (this_thread() == nullptr) return call(once, initialise);
  the_machine().step(step_kind::lock);
  while (std::find(initialising.begin(), initialising.end(), once) != initialising.end())
    the_machine().wait(wait_kind::initialiser, once, never);
  const initialisation now(once);
  return call(once, initialise);
}

}  // extern "C"
