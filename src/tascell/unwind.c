/* SPDX-License-Identifier: Apache-2.0 */
/* Functions for programs compiled with -fclosures=unwind or exceptions: the explicit stack of a thread, and
 * its levels. This file is an object of its own, so that it does not link the runtime. */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sukima/tascell/unwind.h>
#include <sys/mman.h>
#include <unwind.h>

__thread sukima_unwind_state sukima_unwinding;

/* Address space; untouched pages cost no memory. */
static const size_t most_bytes = (size_t)1 << 30;
static const size_t fewest_bytes = (size_t)1 << 24;
/* The minimum room for arguments and the next records. */
enum { slack = 1 << 16 };

typedef struct explicit_stack {
  char* begin;
  char* end;
} explicit_stack;
static __thread explicit_stack stack_here;

/* The levels that have begun, outermost first. A longjmp of plain C may leave some of them unnoticed, and
 * then their frames are overwritten. So this list is stored separately. */
typedef struct open_level {
  sukima_level* level;
  char *base, *saved; /* of the explicit stack: its first record, and up to where they are in use */
  char* top_before;
} open_level;
static __thread struct {
  open_level* list;
  size_t count;
  size_t capacity;
} levels_here;

static pthread_key_t stack_key;
static pthread_once_t stack_key_once = PTHREAD_ONCE_INIT;

static __attribute__((noreturn, cold)) void refuse(const char* file, int line, const char* why) {
  fflush(stdout);
  if (file != NULL)
    fprintf(stderr, "%s:%d: call of a closure %s\n", file, line, why);
  else
    fprintf(stderr, "call of a closure %s\n", why);
  _Exit(70);
}

/* Runs at the end of a thread. The program's own destructors may call closures after it. */
static void release(void* begin) {
  munmap(begin, (size_t)(stack_here.end - (char*)begin));
  free(levels_here.list);
  memset(&stack_here, 0, sizeof stack_here);
  memset(&levels_here, 0, sizeof levels_here);
  memset(&sukima_unwinding, 0, sizeof sukima_unwinding);
}
static void make_key(void) {
  if (pthread_key_create(&stack_key, release) != 0) abort();
}

static __attribute__((noreturn, cold)) void out_of_memory(void) {
  fflush(stdout);
  fprintf(stderr,
          "no address space for the variables of closures; raise the limit (ulimit -v), or compile "
          "with -fclosures=frame\n");
  _Exit(70);
}

static __attribute__((cold)) void make_stack(void) {
  for (size_t size = most_bytes; size >= fewest_bytes; size /= 2) {
    void* const memory =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) continue;
    stack_here.begin = memory;
    stack_here.end = stack_here.begin + size;
    /* Records beyond the end cause a fault, as in a stack overflow. */
    mprotect(stack_here.end - slack, slack, PROT_NONE);
    sukima_unwinding.sukima_top = stack_here.begin;
    pthread_once(&stack_key_once, make_key);
    pthread_setspecific(stack_key, memory);
    return;
  }
  out_of_memory();
}

static void enter_innermost(void) {
  static const open_level none;
  const open_level* const l = levels_here.count > 0 ? &levels_here.list[levels_here.count - 1] : &none;
  sukima_unwinding.sukima_innermost = l->level;
  sukima_unwinding.sukima_base = l->base;
  sukima_unwinding.sukima_saved = l->saved;
}

/* Removes all levels but the `count` outermost ones. */
static void keep_levels(size_t count) {
  if (count == levels_here.count) return;
  sukima_unwinding.sukima_top = levels_here.list[count].top_before;
  levels_here.count = count;
  enter_innermost();
}

/* Returns the number of levels up to and including this one. */
static size_t levels_up_to(const sukima_level* l) {
  size_t count = levels_here.count;
  while (levels_here.list[count - 1].level != l) --count;
  return count;
}

/* Removes the levels whose C frames are below `frame`, because a jump has left them. NULL: removes all
 * levels. */
void sukima_levels_left(const void* frame) {
  size_t count = levels_here.count;
  while (count > 0 && (frame == NULL || (const void*)levels_here.list[count - 1].level < frame)) --count;
  if (count == levels_here.count) return;
  sukima_unwinding.sukima_asked = 0;
  keep_levels(count);
}

static __attribute__((cold)) void grow_levels(void) {
  levels_here.capacity = levels_here.capacity == 0 ? 16 : 2 * levels_here.capacity;
  void* const list = realloc(levels_here.list, levels_here.capacity * sizeof *levels_here.list);
  if (list == NULL) out_of_memory();
  levels_here.list = list;
}

int sukima_is_in_level(const void* frame) {
  sukima_levels_left(frame);
  return sukima_unwinding.sukima_innermost != NULL;
}

char* sukima_level_begin(sukima_level* l) {
  if (stack_here.begin == NULL) make_stack();
  sukima_levels_left(l + 1); /* also a level whose frame was at the same address */
  if (levels_here.count == levels_here.capacity) grow_levels();
  char* const top = sukima_unwinding.sukima_top;
  l->sukima_base = sukima_unmarked(top);
  l->sukima_newest = NULL;
  levels_here.list[levels_here.count++] = (open_level){l, l->sukima_base, l->sukima_base, top};
  enter_innermost();
  return sukima_marked(l->sukima_base);
}

void sukima_level_end(sukima_level* l) { keep_levels(levels_up_to(l) - 1); }

static void saved_up_to(const sukima_level* l, char* end) {
  keep_levels(levels_up_to(l));
  levels_here.list[levels_here.count - 1].saved = sukima_unwinding.sukima_saved = end;
}

void sukima_level_run(sukima_level* l) {
  sukima_unwind_state* const s = &sukima_unwinding;
  for (;;) {
    s->sukima_asked = 0;
    if (s->sukima_last != NULL) {
      s->sukima_last->sukima_older = l->sukima_newest;
      l->sukima_newest = s->sukima_first;
    }
    char* end = s->sukima_end;
    saved_up_to(l, end);
    int unwound = s->sukima_run(end);
    while (!unwound && l->sukima_newest != NULL) {
      sukima_frame* const f = l->sukima_newest;
      sukima_frame* const older = f->sukima_older; /* the result overwrites it */
      saved_up_to(l, end);
      unwound = f->sukima_resume(f);
      if (unwound) break;
      end = (char*)f;
      l->sukima_newest = older;
    }
    if (!unwound) {
      saved_up_to(l, l->sukima_base);
      return;
    }
  }
}

void sukima_ask(char* end, int (*run)(char* at)) {
  sukima_unwind_state* const s = &sukima_unwinding;
  if (end > stack_here.end - 2 * slack) {
    fflush(stdout);
    fprintf(stderr, "the frames of the functions that wait for a closure need more than %zu MiB\n",
            (size_t)(stack_here.end - stack_here.begin) >> 20);
    _Exit(70);
  }
  s->sukima_asked = 1;
  s->sukima_first = s->sukima_last = NULL;
  s->sukima_end = end;
  s->sukima_run = run;
}

/* ---- by the unwinder ---------------------------------------------------------------------------------- */

static __thread struct _Unwind_Exception passing;
_Static_assert(sizeof(jmp_buf) <= sizeof(((sukima_landing_level*)NULL)->sukima_context), "a jmp_buf fits");

/* Called before each frame. Unwinding ends at the entry's frame. */
static _Unwind_Reason_Code stop(int version, _Unwind_Action actions, _Unwind_Exception_Class class,
                                struct _Unwind_Exception* exception, struct _Unwind_Context* context,
                                void* level) {
  (void)version, (void)class, (void)exception;
  void* const context_of = ((sukima_landing_level*)level)->sukima_context;
  if ((actions & _UA_END_OF_STACK) != 0 || _Unwind_GetCFA(context) > (_Unwind_Word)(__UINTPTR_TYPE__)level)
    longjmp(*(jmp_buf*)context_of, 1);
  return _URC_NO_REASON;
}

void sukima_ask_landing(char* end, int (*run)(char* at)) {
  sukima_ask(end, run);
  sukima_unwinding.sukima_asked = 0; /* it is not tested */
  memset(&passing, 0, sizeof passing);
  _Unwind_ForcedUnwind(&passing, stop, sukima_unwinding.sukima_innermost);
  fflush(stdout);
  fprintf(stderr,
          "a closure cannot unwind the waiting functions: one of them has no unwind table; compile it with "
          "-fclosures=frame\n");
  _Exit(70);
}

/* Returns 1: in use; 0: the functions of the innermost level must unwind; -1: the closure belongs to an outer
 * level, whose functions cannot unwind. */
static int state_of(const char* c) {
  for (size_t k = levels_here.count; k > 0; --k) {
    const open_level* const l = &levels_here.list[k - 1];
    if (c < l->base) continue;
    return c < l->saved ? 1 : k == levels_here.count ? 0 : -1;
  }
  return -1;
}

static const char below_plain_c[] =
    "below a plain C function, which cannot be unwound; call the closure without that function in between, "
    "or compile with -fclosures=frame";
static const char gone[] = "whose block has been left";
static const char foreign[] =
    "of another thread, whose functions cannot be unwound from here; compile with "
    "-fclosures=frame";

int sukima_is_saved_elsewhere(const sukima_frame_closure* closure, int lands, const char* top,
                              const char* file, int line) {
  const char* const c = (const char*)closure;
  if (c < stack_here.begin || c >= stack_here.end) refuse(file, line, foreign);
  if (c >= (const char*)sukima_closure_self((__UINTPTR_TYPE__)top)) refuse(file, line, gone);
  const int state = state_of(c);
  if (state < 0) refuse(file, line, below_plain_c);
  return state == 1 && closure->sukima_lands != lands ? 2 : state;
}

void (*sukima_frame_closure_code(__UINTPTR_TYPE__ pointer))(void) {
  const sukima_frame_closure* const c = sukima_closure_self(pointer);
  const char* const at = (const char*)c;
  sukima_levels_left(__builtin_dwarf_cfa());
  if (at < stack_here.begin || at >= stack_here.end) refuse(NULL, 0, foreign);
  if (state_of(at) != 1) refuse(NULL, 0, below_plain_c);
  return c->sukima_head.sukima_code;
}
