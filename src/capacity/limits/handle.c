// SPDX-License-Identifier: Apache-2.0
// The handle of <sukima/capacity.h>: any thread can refresh and read the facts, and none ever waits.
#define _GNU_SOURCE
#include <errno.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "limits/reader.h"

// The facts are published as words in two slots. `published` counts publications. The valid slot is published
// % 2, and the next publication is written to the other slot. If a reader finds `published` unchanged after
// copying, it has copied a single publication: if it had read a word of a later publication (acquire, paired
// with the store-release of the word), it would then also see the count that was stored before that
// publication, which is a different one.
enum { fact_words = (sizeof(sukima_capacity_facts) + 7) / 8 };

struct sukima_capacity {
  _Atomic uint64_t published;  // store-release in publish(), load-acquire in sukima_capacity_latest()
  _Atomic uint64_t slots[2][fact_words];
  _Atomic long refreshing;  // the process whose thread refreshes, 0: none; see try_lock()
  cap_reader reader;  // belongs to the thread that set `refreshing`
};

typedef union fact_copy {
  sukima_capacity_facts facts;
  uint64_t words[fact_words];
} fact_copy;

static void publish(sukima_capacity* handle, const sukima_capacity_facts* facts) {
  fact_copy copy;
  memset(&copy, 0, sizeof copy);
  copy.facts = *facts;
  uint64_t next = atomic_load_explicit(&handle->published, memory_order_relaxed) + 1;  // changed only here
  for (int i = 0; i < fact_words; i++) {
    // Partner: the load-acquire of the word in sukima_capacity_latest().
    atomic_store_explicit(&handle->slots[next % 2][i], copy.words[i], memory_order_release);
  }
  atomic_store_explicit(&handle->published, next, memory_order_release);  // partner: load-acquire in latest()
}

void sukima_capacity_latest(const sukima_capacity* handle, sukima_capacity_facts* facts) {
  fact_copy copy;
  uint64_t before = 0;
  uint64_t after = atomic_load_explicit(&handle->published, memory_order_acquire);  // partner: publish()
  do {
    before = after;
    for (int i = 0; i < fact_words; i++) {
      copy.words[i] =
          atomic_load_explicit(&handle->slots[before % 2][i], memory_order_acquire);  // partner: publish()
    }
    after = atomic_load_explicit(&handle->published, memory_order_acquire);  // partner: publish()
  } while (after != before);
  *facts = copy.facts;
}

// One thread refreshes at a time. The owner is stored as a process number: it shows a child of fork() that
// the thread which held the lock does not exist in the child.
static bool try_lock(sukima_capacity* handle) {
  long self = syscall(SYS_getpid);
  long owner = 0;
  // Acquire: makes the previous refresh's writes to the reader visible. Partner: the store-release in
  // unlock().
  if (atomic_compare_exchange_strong_explicit(&handle->refreshing, &owner, self, memory_order_acquire,
                                              memory_order_relaxed)) {
    return true;
  }
  if (owner == self) return false;
  if (!atomic_compare_exchange_strong_explicit(&handle->refreshing, &owner, self, memory_order_acquire,
                                               memory_order_relaxed)) {
    return false;
  }
  handle->reader.groups_found = false;  // fork() may have interrupted that thread anywhere in the reader
  return true;
}

static void unlock(sukima_capacity* handle) {
  atomic_store_explicit(&handle->refreshing, 0, memory_order_release);  // partner: try_lock()
}

// Opens a reader and reads once. Returns NULL and sets *result on failure.
static sukima_capacity* open_handle(const sukima_capacity_options* options, int* result) {
  sukima_capacity* handle = cap_allocate(sizeof *handle);
  *result = ENOMEM;
  if (handle == NULL) return NULL;
  *result = cap_reader_set(&handle->reader, options);
  if (*result != 0) {
    cap_release(handle, sizeof *handle);
    return NULL;
  }
  sukima_capacity_facts facts;
  cap_reader_read(&handle->reader, &facts);
  facts.generation = 1;
  publish(handle, &facts);
  return handle;
}

sukima_capacity* sukima_capacity_open(const sukima_capacity_options* options) {
  int saved = errno;
  int result = 0;
  sukima_capacity* handle = open_handle(options, &result);
  errno = saved;
  return handle;
}

void sukima_capacity_close(sukima_capacity* handle) {
  int saved = errno;
  if (handle != NULL) cap_release(handle, sizeof *handle);
  errno = saved;
}

int sukima_capacity_refresh(sukima_capacity* handle, sukima_capacity_facts* facts) {
  int saved = errno;
  int changed = 0;
  if (try_lock(handle)) {
    sukima_capacity_facts before;
    sukima_capacity_facts now;
    sukima_capacity_latest(handle, &before);
    cap_reader_read(&handle->reader, &now);
    changed = !cap_same_facts(&before, &now);
    now.generation = before.generation + (uint64_t)changed;
    if (changed) publish(handle, &now);
    unlock(handle);
  }
  if (facts != NULL) sukima_capacity_latest(handle, facts);
  errno = saved;
  return changed;
}

const char* sukima_capacity_error(const sukima_capacity* handle) {
  return handle->reader.error[0] != '\0' ? handle->reader.error : NULL;
}

int sukima_capacity_read(const sukima_capacity_options* options, sukima_capacity_facts* facts) {
  int saved = errno;
  int result = 0;
  *facts = (sukima_capacity_facts){.usable = 1,
                                   .cap = 1,
                                   .weight = 1,
                                   .quota = INFINITY,
                                   .generation = 1,
                                   .note_count = 1,
                                   .binding = SUKIMA_CAPACITY_AFFINITY};
  sukima_capacity* handle = open_handle(options, &result);
  if (handle != NULL) {
    sukima_capacity_latest(handle, facts);
    if (sukima_capacity_error(handle) != NULL) result = EINVAL;
    cap_release(handle, sizeof *handle);
  }
  errno = saved;
  return result;
}
