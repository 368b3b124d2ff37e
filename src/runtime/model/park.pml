// SPDX-License-Identifier: Apache-2.0
// Parking: the worker counts, permits, the sentinel, workers whose flag `parked` is set, and entries that
// begin and end.
//
// check: spin -a; cc -O2 -DSAFETY; -m1000000 -w24
// expect: errors: 0
// check: spin -DFAST_CLOCK -a; cc -O2 -DSAFETY; -m1000000 -w24
// expect: errors: 0
// check: spin -DNC=2 -DNW=1 -DDEMAND=1 -DPUBLISHERS=2 -a; cc -O2 -DSAFETY; -m1000000 -w24
// expect: errors: 0
// check: spin -DBOUND -DSUSPENSIONS=1 -DDEMAND=1 -DPUBLISHERS=1 -a; cc -O2 -DSAFETY; -m1000000 -w24
// expect: errors: 0
// check: spin -DBUG_CALL_UP -a; cc -O2 -DSAFETY; -m1000000 -w24
// expect: errors: 1
// check: spin -DBUG_EPOCH -a; cc -O2 -DSAFETY; -m1000000 -w24
// expect: errors: 1
// check: spin -DBUG_PARK_LAST -a; cc -O2 -DSAFETY; -m1000000 -w24
// expect: errors: 1
// check: spin -DBUG_RESTRICTED -DBOUND -DSUSPENSIONS=1 -DDEMAND=1 -DPUBLISHERS=1 -a; cc -O2 -DSAFETY; -m1000000 -w24
// expect: errors: 1
//
// What is modelled: NW background workers and NC threads that enter (each is a worker while it is inside).
// Every access to a shared word is one step. A worker that runs a task may publish one of its own without
// reading the counts, and waits for it if another worker took it. It checks nothing before DEMAND tasks were
// taken: the worst case, a program that never polls. A task may suspend; an outside thread resumes it later
// (`runnable`). When all entries have ended the runtime stops.
//
// The clock is as slow as it can be: a time-out expires only when nothing else can happen (`timeout`). At
// that point the model asserts that no sleeping worker was called. With -DFAST_CLOCK a time-out expires at
// any time instead, without this assertion.
//
// What must hold:
//   everything ends: each entry, then each background worker (spin reports any other end as an invalid end state);
//   while an entry is active and a worker is parked, a worker searches or was called up to search;
//   no permit remains that no worker took, and the count of parked workers is right.
//
// With -DBOUND thread 0 waits without searching: it takes only descendants of its task (here: none).
//
// Each BUG_ macro removes one safeguard:
//   BUG_CALL_UP     the last searching worker that found work calls no parked worker up
//   BUG_EPOCH       the wake epoch is read after the last search
//   BUG_PARK_LAST   the last searching worker parks although an entry is active
//   BUG_RESTRICTED  a worker that may take only descendants counts as searching

#ifndef NW
#define NW 2
#endif
#ifndef NC
#define NC 1
#endif
#ifndef ENTRIES
#define ENTRIES 1      /* entries of each thread */
#endif
#ifndef SUSPENSIONS
#define SUSPENSIONS 0
#endif
#ifndef DEMAND
#define DEMAND NW      /* tasks that must be taken before any worker joins: until then no worker polls */
#endif
#ifndef PUBLISHERS
#define PUBLISHERS N   /* workers 0 … PUBLISHERS-1 publish tasks of their own */
#endif
#ifdef BOUND
#define MAY_TAKE(w) (w != 0)
#else
#define MAY_TAKE(w) true
#endif
#define N (NC + NW)    /* threads 0 … NC-1 enter, the others are background workers */
#define NONE 15
#define ROOT 14

/* worker_counts: one word, changed by CAS only; each change is one step here. */
byte active_entries = 0, searching = 0, parked = 0;
byte permits = 0;
byte sentinel = NONE;
bool parked_flag[N];
bool epoch_advanced[N];          /* worker::epoch differs from what the worker read last */
bool closed;

/* The task that worker i published: */
mtype = { none, published, taken, done };
mtype task[N] = none;
bool registered[N];    /* task::joining holds the worker that waits for the task */
bool runnable[N];         /* the fiber that runs the task is in the injector queue */
bool outside[N];       /* the fiber is suspended */
byte suspensions = SUSPENSIONS;
byte takes = 0;        /* tasks taken from slots, counted up to DEMAND */
byte left = 0;         /* entries that have ended */
bool blocked[N];       /* the worker sleeps on its epoch, with or without a time-out */

inline unpark(w) { epoch_advanced[w] = true }

inline unpark_one() {
  k = 0;
  do
  :: k < N ->
     if
     :: parked_flag[k] ->
        if
        :: atomic { parked_flag[k] -> parked_flag[k] = false }; unpark(k); k = N
        :: atomic { !parked_flag[k] -> k++ }
        fi
     :: !parked_flag[k] -> k++
     fi
  :: k == N -> break
  od;
  k = 0
}

inline wake_sentinel() {
  if
  :: sentinel != NONE ->
     atomic { k = sentinel; sentinel = NONE };
     if :: k != NONE -> unpark(k) :: else fi;
     k = 0
  :: else
  fi
}

inline begin_search() { searching++ }

inline end_search() {
  atomic {
    searching--;
#ifndef BUG_CALL_UP
    if
    :: searching == 0 && parked > 0 && active_entries > 0 -> searching++; parked--; calls_up = true
    :: else
    fi
#endif
  };
  if :: calls_up -> permits++; unpark_one(); calls_up = false :: else fi
}

inline entry_begins() {
  atomic {
    active_entries++;
    if
    :: searching == 0 && parked > 0 -> searching++; parked--; calls_up = true
    :: else
    fi
  };
  if :: calls_up -> permits++; unpark_one(); calls_up = false :: else fi
}

/* try_once(): `found` is a task that no other worker has, or NONE. Checking several slots is one step, because the
   checks do not depend on each other and each take is a CAS of its own. */
#define CAN_TAKE(t) ((t != i && task[t] == published) || runnable[t])
#define TAKE(t) if :: runnable[t] -> runnable[t] = false :: else -> task[t] = taken; takes = takes + (takes < DEMAND) fi; found = t
inline try_once() {
  atomic {
    if
    :: CAN_TAKE(0) -> TAKE(0)
    :: N > 1 && CAN_TAKE(1 % N) -> TAKE(1 % N)
    :: N > 2 && CAN_TAKE(2 % N) -> TAKE(2 % N)
    :: N > 3 && CAN_TAKE(3 % N) -> TAKE(3 % N)
    :: else
    fi
  }
}

#define IS_CALLED ((awaits && task[i] == done) || (background && closed))

/* What a worker does with a task that it has: the worker ends the task, or the task suspends. */
inline end_task(t) {
  if
  :: atomic { suspensions > 0 -> suspensions-- }; outside[t] = true
  :: atomic { task[t] = done; must_unpark = registered[t] };
     if :: must_unpark -> unpark(t); must_unpark = false :: else fi
  fi
}

#ifdef FAST_CLOCK
#define CLOCK true
#else
#define CLOCK timeout
#endif

#ifdef FAST_CLOCK
#define NO_WORKER_FORGOTTEN skip
#else
/* Asserted when nothing else can happen: no sleeping worker was called, none is about to be called up, and each
   runnable fiber has a sentinel that may take it. */
#define NO_WORKER_FORGOTTEN                                                             \
  assert(permits == 0);                                                              \
  assert(!closed);                                                                   \
  k = 0;                                                                             \
  do                                                                                 \
  :: k < N ->                                                                        \
     assert(k == i || !blocked[k] || task[k] != done);                               \
     assert(!runnable[k] || (sentinel != NONE && MAY_TAKE(sentinel)));                        \
     k++                                                                             \
  :: else -> break                                                                   \
  od;                                                                                \
  k = 0
#endif

inline sleep_with_timeout() {
  blocked[i] = true;
  if
  :: epoch_advanced[i]
  :: atomic { CLOCK -> NO_WORKER_FORGOTTEN }
  fi;
  blocked[i] = false
}

/* parking::park; the caller is searching before and after. */
inline park() {
  parked_flag[i] = true;
  if
  :: atomic {
#ifdef BUG_PARK_LAST
       true
#else
       searching > 1 || active_entries == 0
#endif
       -> searching--; parked++
     };
     do
     :: if
        :: atomic { permits > 0 -> permits-- }; break
        :: permits == 0
        fi;
        if
        :: IS_CALLED ->
           if
           :: atomic { parked > 0 -> parked--; searching++ }; break
           :: parked == 0
           fi
        :: else ->
           blocked[i] = true;
           epoch_advanced[i];
           blocked[i] = false;
           epoch_advanced[i] = false;
           parked_flag[i] = true
        fi
     od;
     atomic { was_parked = parked_flag[i]; parked_flag[i] = false };
     if :: !was_parked && permits != 0 -> unpark_one() :: else fi;
     was_parked = false
  :: searching == 1 ->                      /* an entry is active, or idle grace: the sentinel */
     atomic { was_parked = parked_flag[i]; parked_flag[i] = false };
     if :: !was_parked -> unpark_one() :: else fi;
     was_parked = false;
     sentinel = i;
     sleep_with_timeout();
     if :: atomic { sentinel == i -> sentinel = NONE } :: else fi
  fi
}

/* search() in steal/find_work.cpp */
inline search() {
  begin_search();
  do
  :: IS_CALLED -> break
  :: else ->
#ifndef BUG_EPOCH
     epoch_advanced[i] = false;
#endif
     try_once();
     if :: found != NONE -> break :: else fi;
     if :: awaits -> atomic { registered[i] = (task[i] != done) } :: else fi;
     try_once();
     if :: found != NONE || IS_CALLED -> break :: else fi;
#ifdef BUG_EPOCH
     epoch_advanced[i] = false;
#endif
     park()
  od;
  end_search()
}

/* wait_for_descendants() in steal/find_work.cpp */
inline wait_for_descendants() {
#ifdef BUG_RESTRICTED
  begin_search();
#endif
  do
  :: IS_CALLED -> break
  :: else ->
     epoch_advanced[i] = false;
     atomic { registered[i] = (task[i] != done) };
     if :: IS_CALLED -> break :: else fi;
#ifdef BUG_RESTRICTED
     park()
#else
     sleep_with_timeout()
#endif
  od;
#ifdef BUG_RESTRICTED
  end_search()
#endif
}

#ifdef BOUND
#define WAIT if :: i == 0 -> wait_for_descendants() :: else -> search() fi
#else
#define WAIT search()
#endif

proctype worker(byte i) {
  byte found = NONE, holds = NONE, k = 0, entries = ENTRIES;
  bool calls_up, was_parked, must_unpark, awaits;
  bool background = (i >= NC);
  if
  :: background -> goto idle
  :: else
  fi;
outside_of_the_runtime:
  if
  :: entries == 0 -> goto finished
  :: else -> entries--
  fi;
  entry_begins();
  holds = ROOT;
begin_task:
  /* The worker publishes a task of its own, or none. It reads no other shared word. */
  if
  :: atomic { i < PUBLISHERS -> task[i] = published };
     if
     :: atomic { takes == DEMAND && task[i] == published -> task[i] = none }        /* reclaimed */
     :: atomic { takes == DEMAND && task[i] != published -> awaits = true };
        do
        :: task[i] == done -> break
        :: else ->
           WAIT;
           if :: found != NONE -> end_task(found); found = NONE :: else fi
        od;
        atomic { awaits = false; registered[i] = false; task[i] = none }
     fi
  :: takes == DEMAND
  fi;
  if
  :: holds == ROOT -> holds = NONE; active_entries--; left++; goto outside_of_the_runtime
  :: else -> end_task(holds); holds = NONE
  fi;
idle:
  if :: closed -> goto finished :: else fi;
  found = NONE;
  try_once();
  if :: found == NONE -> search() :: else fi;
  if
  :: found == NONE -> goto idle
  :: else -> holds = found; found = NONE; goto begin_task
  fi;
finished:
  skip
}

/* An outside thread that resumes suspended tasks. */
proctype resumer() {
  byte k = 0, t = 0, resumed = 0;
  do
  :: resumed < SUSPENSIONS && t < N && outside[t] ->
     outside[t] = false;
     resumed++;
     runnable[t] = true;
     wake_sentinel()
  :: t < N - 1 && !outside[t] && resumed < SUSPENSIONS -> t++
  :: t > 0 && !outside[t] && resumed < SUSPENSIONS -> t = 0
  :: resumed == SUSPENSIONS || left == NC * ENTRIES -> break
  od
}

/* lifecycle::stop */
proctype stopper() {
  byte w = 0;
  left == NC * ENTRIES && active_entries == 0;
  closed = true;
  do
  :: w < N -> unpark(w); w++
  :: else -> break
  od
}

init {
  byte w = 0;
  atomic {
    do :: w < N -> run worker(w); w++ :: else -> break od;
#if SUSPENSIONS > 0
    run resumer();
#endif
    run stopper()
  }
}
