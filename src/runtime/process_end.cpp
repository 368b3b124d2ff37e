// SPDX-License-Identifier: Apache-2.0
// Ends a process whose main thread has ended by pthread_exit: the library's own threads do not keep it alive.
//
// Two events may come in either order: the main thread calls pthread_exit, and the first thread of the
// library begins. The later one starts a watching thread. When all threads but the library's own have ended,
// the watching thread ends the process by exit(0), as the C library does after the last thread. It is never
// started if the main thread returns from main, or if the process has no threads of the library.
//
// Plug-ins may contain more copies of the library. The threads of all copies are the library's own threads.
// So the copies share one counter, if the dynamic linker finds that they have the same one
// (shared_by_copies).
//
// The watching thread has the signal mask of the main thread. So it takes the signals that the main thread
// would have taken, and SIGTERM ends the process although the library's own threads block it.
#include "shared/stay_loaded.hpp"

#include <sukima/detail/own_thread.hpp>

#include <fcntl.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace sukima::detail {

/// The data that all copies of the library in the process share. Another layout needs another name.
/// The atomics are real ones, also on the simulated machine, where the main thread never ends first.
struct own_threads_1 {
  /// The lower half counts the own threads that run, and the upper half how many have begun or ended. If the
  /// word is the same before and after another read, the same threads existed in between.
  /// pairs with: own_thread, ~own_thread, none_but_own
  std::atomic<std::uint64_t> count{0};
  /// Each of this flag and the count is written before the other is read. pairs with: main_ends, own_thread
  std::atomic<bool> main_has_ended{false};
  /// pairs with: watch_once
  std::atomic<bool> is_watched{false};
  /// no partner: the child's only thread writes it
  std::atomic<unsigned> forks{0};
  /// Written before `main_has_ended`.
  sigset_t mask_of_main{};
};

/// Inline, so that g++ makes it a symbol that exists once in a process (STB_GNU_UNIQUE), even if copies were
/// loaded with RTLD_LOCAL. A statically linked executable shares it if it exports its symbols.
[[gnu::visibility("default")]] inline constinit own_threads_1 shared_by_copies;

namespace {

constexpr std::uint64_t one_change = std::uint64_t{1} << 32;

/// The thread that watches.
enum class watcher : std::uint8_t { own_thread, main_thread };

/// The number of threads if the main thread has ended and waits as a zombie for the others, or if it watches
/// them; otherwise 0. The kernel counts the main thread, too.
unsigned threads_after_main(watcher by) noexcept {
  const int file = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  char text[1024];
  const ssize_t length = read(file, text, sizeof text - 1);
  close(file);
  text[std::max<ssize_t>(length, 0)] = 0;
  const char* const behind_name = std::strrchr(text, ')');
  char state = 0;
  unsigned threads = 0;
  // Field 3 is the state, field 20 the number of threads.
  if (behind_name == nullptr ||
      std::sscanf(behind_name, ") %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %u",
                  &state, &threads) != 2)
    return 0;
  return state == 'Z' || by == watcher::main_thread ? threads : 0;
}

/// Whether no threads are left but the main thread, which has ended or watches, the watching thread and the
/// library's own. A thread that is about to end, or has just begun, counts as another thread.
bool none_but_own(watcher by) noexcept {
  const unsigned beside_own = by == watcher::main_thread ? 1 : 2;
  const std::uint64_t before = shared_by_copies.count.load(std::memory_order_seq_cst);
  const unsigned all = threads_after_main(by);
  return shared_by_copies.count.load(std::memory_order_seq_cst) == before &&
         all == beside_own + static_cast<std::uint32_t>(before);
}

/// Ends the process when no threads are left but the library's own.
/// \param is_replaced  called before each pause: whether another thread watches now
template <class F> void watch(watcher by, F is_replaced) noexcept {
  timespec pause{0, 1'000'000};
  while (!none_but_own(by)) {
    if (is_replaced()) return;
    nanosleep(&pause, nullptr);  // the kernel has no event for the end of a thread
    pause.tv_nsec = std::min(pause.tv_nsec * 2, 32'000'000L);
  }
  std::exit(0);
}

void* watch_as_thread(void*) {
  pthread_setname_np(pthread_self(), "sukima-end");
  watch(watcher::own_thread, [] { return false; });
  return nullptr;
}

bool start_watching_thread() noexcept {
  sigset_t before;
  pthread_sigmask(SIG_SETMASK, &shared_by_copies.mask_of_main, &before);
  pthread_t thread;
  const bool has_started = pthread_create(&thread, nullptr, watch_as_thread, nullptr) == 0;
  if (has_started) pthread_detach(thread);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return has_started;
}

/// If no thread can be started, the main thread watches until one can be. Another thread may be needed by the
/// program, so the next thread of the library that begins or ends tries again.
void watch_once(watcher otherwise) noexcept {
  if (shared_by_copies.is_watched.exchange(true, std::memory_order_seq_cst)) return;
  stay_loaded();  // the thread ends with the process
  if (start_watching_thread()) return;
  if (otherwise == watcher::main_thread)
    watch(watcher::main_thread, start_watching_thread);
  else
    shared_by_copies.is_watched.store(false, std::memory_order_seq_cst);
}

/// Runs when the main thread calls pthread_exit, but not when it returns from main.
void main_ends(void*) {
  if (syscall(SYS_gettid) != getpid() || shared_by_copies.main_has_ended.load(std::memory_order_relaxed))
    return;  // another thread, or another copy's function was called before
  pthread_sigmask(SIG_SETMASK, nullptr, &shared_by_copies.mask_of_main);
  shared_by_copies.main_has_ended.store(true, std::memory_order_seq_cst);
  if (static_cast<std::uint32_t>(shared_by_copies.count.load(std::memory_order_seq_cst)) != 0)
    watch_once(watcher::main_thread);
}

pthread_key_t end_of_main;

/// Called if the calling thread is the main thread.
void follow_this_thread() noexcept { pthread_setspecific(end_of_main, &end_of_main); }

/// Called in the child, where the thread that called fork() is the main thread, and the others do not exist.
void begin_again() {
  shared_by_copies.count.store(0, std::memory_order_relaxed);
  shared_by_copies.main_has_ended.store(false, std::memory_order_relaxed);
  shared_by_copies.is_watched.store(false, std::memory_order_relaxed);
  shared_by_copies.forks.fetch_add(1, std::memory_order_relaxed);
  follow_this_thread();
}

/// Follows the main thread from the loading of the library to the thread's end, or to dlclose(), after which
/// the key's function does not exist.
const struct follows_main {
  follows_main() noexcept {
    if (pthread_key_create(&end_of_main, main_ends) != 0) return;
    is_followed = true;
    pthread_atfork(nullptr, nullptr, begin_again);
    if (syscall(SYS_gettid) == getpid()) follow_this_thread();
  }
  follows_main(const follows_main&) = delete;
  follows_main& operator=(const follows_main&) = delete;
  ~follows_main() {
    if (is_followed) pthread_key_delete(end_of_main);
  }
  bool is_followed = false;
} following;

}  // namespace

own_thread::own_thread() noexcept : forks_(shared_by_copies.forks.load(std::memory_order_relaxed)) {
  shared_by_copies.count.fetch_add(one_change + 1, std::memory_order_seq_cst);
  if (shared_by_copies.main_has_ended.load(std::memory_order_seq_cst)) watch_once(watcher::own_thread);
}

own_thread::~own_thread() {
  if (forks_ != shared_by_copies.forks.load(std::memory_order_relaxed)) return;
  if (shared_by_copies.main_has_ended.load(std::memory_order_seq_cst)) watch_once(watcher::own_thread);
  shared_by_copies.count.fetch_add(one_change - 1, std::memory_order_seq_cst);
}

}  // namespace sukima::detail
