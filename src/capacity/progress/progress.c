// SPDX-License-Identifier: Apache-2.0
// Reports the program's progress to the guest service; see <sukima/capacity/progress.h>.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sukima/capacity/progress.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

// The service accepts ten messages per second, and itself sends two.
static const int64_t between_reports_ns = 200000000;
static const int64_t between_attempts_ns = 1000000000;
// The largest number in a message. Above it the sum begins again, as after a restart.
static const uint64_t most_progress = 1000000000000000;

// Relaxed: the sum, and the time of the next report; no other data depends on them. Partner:
// sukima_progress_add in other threads.
static _Atomic uint64_t sum;
static _Atomic int64_t due_ns;
// The process whose thread is reporting; 0: none. A child of fork inherits the value, but not the thread that
// holds it.
static _Atomic pid_t holder;

// Belongs to the thread that set `holder`.
static struct {
  int socket;
  pid_t process;  // the process that opened the socket; 0: none is open
  dev_t device;
  ino_t number;  // of the socket: the program may have closed it, and its descriptor may now be another file
  bool has_path;
  struct sockaddr_un address;
} own;

static void find_path(void) {
  own.has_path = true;
  own.address.sun_family = AF_UNIX;
  const char* path = getenv("SUKIMA_GUEST_SOCKET");
  if (path == NULL) path = "/run/sukima/guest.sock";
  // A path that is too long counts as no path.
  if (strlen(path) < sizeof own.address.sun_path) strcpy(own.address.sun_path, path);
}

static bool is_still_ours(void) {
  struct stat status;
  return fstat(own.socket, &status) == 0 && status.st_dev == own.device && status.st_ino == own.number;
}

static void forget_socket(void) {
  if (own.process != 0 && is_still_ours()) close(own.socket);
  own.process = 0;
}

static bool open_socket(pid_t process) {
  if (own.address.sun_path[0] == '\0') return false;
  const int made = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (made < 0) return false;
  struct stat status;
  if (connect(made, (const struct sockaddr*)&own.address, sizeof own.address) != 0 ||
      fstat(made, &status) != 0) {
    close(made);
    return false;
  }
  own.socket = made;
  own.process = process;
  own.device = status.st_dev;
  own.number = status.st_ino;
  return true;
}

static size_t write_message(char* text, uint64_t value) {
  static const char head[] = "sukima-guest 1\nprogress ", tail[] = "\nend\n";
  char digits[24];
  size_t count = 0;
  do digits[count++] = (char)('0' + value % 10);
  while ((value /= 10) != 0);
  size_t size = sizeof head - 1;
  memcpy(text, head, size);
  while (count > 0) text[size++] = digits[--count];
  memcpy(text + size, tail, sizeof tail - 1);
  return size + sizeof tail - 1;
}

// Sends the sum, or drops it if the service is too slow to read: the next message has a larger sum. Returns
// whether the service is connected.
static bool report(pid_t process) {
  if (!own.has_path) find_path();
  if (own.process != process || !is_still_ours()) {
    forget_socket();
    if (!open_socket(process)) return false;
  }
  char text[80];
  const size_t size = write_message(text, atomic_load_explicit(&sum, memory_order_relaxed) % most_progress);
  const ssize_t sent = send(own.socket, text, size, MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent == (ssize_t)size) return true;
  if (sent < 0 && (errno == EAGAIN || errno == EINTR)) return true;  // dropped
  // If only a part of a message was sent, the next message would be malformed, so close the socket.
  forget_socket();
  return false;
}

void sukima_progress_add(uint64_t amount) {
  atomic_fetch_add_explicit(&sum, amount, memory_order_relaxed);
  struct timespec clock = {0};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &clock);
  const int64_t now = (int64_t)clock.tv_sec * 1000000000 + clock.tv_nsec;
  if (now < atomic_load_explicit(&due_ns, memory_order_relaxed)) return;
  const int kept = errno;
  // If the thread were cancelled in connect() or send(), it would hold `holder` forever.
  int cancellation = 0;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancellation);
  const pid_t process = getpid();
  pid_t held = atomic_load_explicit(&holder, memory_order_relaxed);  // only a hint; the exchange decides
  // Acquire and release of `holder` pass `own` from one reporting thread to the next.
  if (held != process && atomic_compare_exchange_strong_explicit(
                             &holder, &held, process, memory_order_acquire, memory_order_relaxed)) {
    const bool is_connected = report(process);
    atomic_store_explicit(&due_ns, now + (is_connected ? between_reports_ns : between_attempts_ns),
                          memory_order_relaxed);
    atomic_store_explicit(&holder, 0, memory_order_release);
  }
  pthread_setcancelstate(cancellation, &cancellation);
  errno = kept;
}
