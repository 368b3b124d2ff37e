/* SPDX-License-Identifier: Apache-2.0 */
/* Tickets of closures in programs compiled with -fcheck-closures. All tickets are in one region, which
 * distinguishes them from the records of closures compiled without that option. A free ticket is used again
 * only after many others, and then its pointers contain another number. This file is an object of its own,
 * because it needs nothing of the runtime. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sukima/tascell/closure.h>

enum { most_tickets = 1 << 22, use_shift = 48, use_mask = 0x3fff };
static const unsigned fewest_free = 1u << 16; /* before one is used again */

static pthread_mutex_t all = PTHREAD_MUTEX_INITIALIZER;
static sukima_ticket* region; /* read without the lock: written once */
static unsigned made;
static sukima_ticket *first_free, *last_free;
static unsigned free_count;

static void lock(void) { pthread_mutex_lock(&all); }
static void unlock(void) { pthread_mutex_unlock(&all); }
/* A child of fork() has none of the other threads, one of which might hold the lock. */
__attribute__((constructor)) static void keep_lock_for_children(void) {
  pthread_atfork(lock, unlock, unlock);
}

static int is_ticket(const void* address) {
  const sukima_ticket* const begin = __atomic_load_n(&region, __ATOMIC_ACQUIRE);
  return begin != NULL && (const sukima_ticket*)address >= begin &&
         (const sukima_ticket*)address < begin + most_tickets;
}

static sukima_ticket* take(void) {
  if (free_count > fewest_free || (made == most_tickets && first_free != NULL)) {
    sukima_ticket* const old = first_free;
    first_free = old->sukima_next;
    if (first_free == NULL) last_free = NULL;
    --free_count;
    return old;
  }
  if (region == NULL) {
    void* const memory = calloc(most_tickets, sizeof(sukima_ticket)); /* its pages cost nothing yet */
    if (memory == NULL) return NULL;
    __atomic_store_n(&region, (sukima_ticket*)memory, __ATOMIC_RELEASE);
  }
  return made < most_tickets ? &region[made++] : NULL;
}

static void close_ticket(sukima_ticket* t) {
  if ((t->sukima_use & 1) == 0) return;
  __atomic_fetch_add(&t->sukima_use, 1, __ATOMIC_RELEASE);
  t->sukima_next = NULL;
  if (last_free != NULL)
    last_free->sukima_next = t;
  else
    first_free = t;
  last_free = t;
  ++free_count;
}

void* sukima_ticket_open(void** block, sukima_closure* record, void (*code)(void), const char* name,
                         const char* file, int line) {
  lock();
  sukima_ticket* const t = take();
  if (t != NULL) {
    t->sukima_head.sukima_code = code;
    t->sukima_record = record;
    t->sukima_name = name;
    t->sukima_file = file;
    t->sukima_line = line;
    t->sukima_next = (sukima_ticket*)*block;
    *block = t;
    __atomic_fetch_add(&t->sukima_use, 1, __ATOMIC_RELEASE);
  }
  unlock();
  return t != NULL ? sukima_ticket_pointer(t) : sukima_closure_pointer(record);
}

void sukima_tickets_close(void** block) {
  if (*block == NULL) return;
  lock();
  for (sukima_ticket* t = (sukima_ticket*)*block; t != NULL;) {
    sukima_ticket* const next = t->sukima_next;
    close_ticket(t);
    t = next;
  }
  unlock();
}

void* sukima_ticket_pointer(void* self) {
  if (!is_ticket(self)) return sukima_closure_pointer(self);
  const __UINTPTR_TYPE__ use = ((sukima_ticket*)self)->sukima_use & use_mask;
  return (void*)((__UINTPTR_TYPE__)self | use << use_shift | SUKIMA_CLOSURE_BIT);
}

void* sukima_ticket_record(void* self) {
  return is_ticket(self) ? ((sukima_ticket*)self)->sukima_record : self;
}

__UINTPTR_TYPE__ sukima_ticket_check(__UINTPTR_TYPE__ pointer, const char* file, int line) {
  if (!sukima_is_closure(pointer)) {
    if (pointer != 0) return pointer;
    fflush(stdout);
    fprintf(stderr, "%s:%d: call of a null pointer to a closure\n", file, line);
    _Exit(70);
  }
  sukima_ticket* const t = sukima_closure_self(pointer);
  if (!is_ticket(t)) return pointer;
  const unsigned use = __atomic_load_n(&t->sukima_use, __ATOMIC_ACQUIRE);
  if ((pointer >> use_shift & use_mask) == (use & use_mask)) return pointer;
  fflush(stdout);
  fprintf(stderr,
          (use & 1) != 0 ? "%s:%d: call of a closure whose block has been left\n"
                         : "%s:%d: call of closure '%s' (%s:%d), whose block has been left\n",
          file, line, t->sukima_name, t->sukima_file, t->sukima_line);
  _Exit(70);
}

void sukima_tickets_left(const void* low, const void* high) {
  if (__atomic_load_n(&region, __ATOMIC_ACQUIRE) == NULL) return;
  lock();
  for (unsigned k = 0; k < made; ++k)
    if ((const char*)region[k].sukima_record >= (const char*)low &&
        (const char*)region[k].sukima_record < (const char*)high)
      close_ticket(&region[k]);
  unlock();
}
