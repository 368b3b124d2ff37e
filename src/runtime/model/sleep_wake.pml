// SPDX-License-Identifier: Apache-2.0
// Sleeping and waking: the census, permits, the watch, workers that are deep, entries that begin and end.
//
// check: spin -a; cc -O2 -DSAFETY; -m1000000 -w24
// expect: errors: 0
// check: spin -DFAST_CLOCK -a; cc -O2 -DSAFETY; -m1000000 -w24
// expect: errors: 0
// check: spin -DNC=2 -DNW=1 -DDEMAND=1 -DPUBLISHERS=2 -a; cc -O2 -DSAFETY; -m1000000 -w24
// expect: errors: 0
// check: spin -DPINNED -DSUSPENSIONS=1 -DDEMAND=1 -DPUBLISHERS=1 -a; cc -O2 -DSAFETY; -m1000000 -w24
// expect: errors: 0
// check: spin -DBUG_PROMOTE -a; cc -O2 -DSAFETY; -m1000000 -w24
// expect: errors: 1
// check: spin -DBUG_BELL -a; cc -O2 -DSAFETY; -m1000000 -w24
// expect: errors: 1
// check: spin -DBUG_FOR_GOOD -a; cc -O2 -DSAFETY; -m1000000 -w24
// expect: errors: 1
// check: spin -DBUG_RESTRICTED -DPINNED -DSUSPENSIONS=1 -DDEMAND=1 -DPUBLISHERS=1 -a; cc -O2 -DSAFETY; -m1000000 -w24
// expect: errors: 1
//
// What is modelled: NW background workers and NC threads that enter (each a worker meanwhile), every access to a
// shared word one step. Whoever runs a task may publish one of its own without looking at the census, and waits for
// it if it was taken; it does not look at anything before DEMAND tasks were taken: the worst case, a program that never
// polls. A task may suspend; somebody outside resumes it later (`ready`). When all entries are over the runtime stops.
//
// The clock is as slow as it can be: a sleep by the clock ends only when nothing else can happen (`timeout`). There,
// and there only, it is asserted that nobody sleeps who was called. With -DFAST_CLOCK it ends at any time instead.
//
// What must hold:
//   everything ends: each entry, then each background worker (spin finds any other end as an invalid end state);
//   while an entry is active and a worker is asleep for good, somebody searches or was promoted to search;
//   a permit that nobody took, and a count of sleepers that is wrong, do not remain.
//
// With -DPINNED thread 0 waits without searching: it takes only what descends from its task (here: nothing).
//
// Each BUG_ takes one safeguard away:
//   BUG_PROMOTE     the last searcher that found work promotes nobody
//   BUG_BELL        the bell is read after the last look around
//   BUG_FOR_GOOD    the last searcher sleeps for good although an entry is active
//   BUG_RESTRICTED  a worker that may take only descendants counts as a searcher

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
#define DEMAND NW      /* so many tasks must be taken before anybody joins: until then nobody has time to poll */
#endif
#ifndef PUBLISHERS
#define PUBLISHERS N   /* workers 0 … PUBLISHERS-1 publish tasks of their own */
#endif
#ifdef PINNED
#define MAY_TAKE(w) (w != 0)
#else
#define MAY_TAKE(w) true
#endif
#define N (NC + NW)    /* threads 0 … NC-1 enter, the others are background workers */
#define NONE 15
#define ROOT 14

/* The census: one word, changed by CAS only; each change is one step here. */
byte entered = 0, searchers = 0, sleepers = 0;
byte permits = 0;
byte watch = NONE;
bool deep[N];
bool rung[N];          /* worker::bell differs from what the worker read last */
bool closed;

/* The task that i published: */
mtype = { none, published, taken, done };
mtype task[N] = none;
bool registered[N];    /* task::joining holds the worker that waits for it */
bool ready[N];         /* the fiber that runs the task is in the ready queue */
bool outside[N];       /* the fiber is suspended */
byte suspensions = SUSPENSIONS;
byte takes = 0;        /* tasks taken from slots, counted up to DEMAND */
byte left = 0;         /* entries that are over */
bool blocked[N];       /* waits on its bell, with or without the clock */

inline ring(w) { rung[w] = true }

inline ring_a_sleeper() {
  k = 0;
  do
  :: k < N ->
     if
     :: deep[k] ->
        if
        :: atomic { deep[k] -> deep[k] = false }; ring(k); k = N
        :: atomic { !deep[k] -> k++ }
        fi
     :: !deep[k] -> k++
     fi
  :: k == N -> break
  od;
  k = 0
}

inline wake_watch() {
  if
  :: watch != NONE ->
     atomic { k = watch; watch = NONE };
     if :: k != NONE -> ring(k) :: else fi;
     k = 0
  :: else
  fi
}

inline begin_search() { searchers++ }

inline end_search() {
  atomic {
    searchers--;
#ifndef BUG_PROMOTE
    if
    :: searchers == 0 && sleepers > 0 && entered > 0 -> searchers++; sleepers--; promoted = true
    :: else
    fi
#endif
  };
  if :: promoted -> permits++; ring_a_sleeper(); promoted = false :: else fi
}

inline entry_begins() {
  atomic {
    entered++;
    if
    :: searchers == 0 && sleepers > 0 -> searchers++; sleepers--; promoted = true
    :: else
    fi
  };
  if :: promoted -> permits++; ring_a_sleeper(); promoted = false :: else fi
}

/* try_once(): `found` is a task that nobody else has, or NONE. The looks at several slots are one step: they do not
   depend on each other, and each take is a CAS of its own. */
#define CAN_TAKE(t) ((t != i && task[t] == published) || ready[t])
#define TAKE(t) if :: ready[t] -> ready[t] = false :: else -> task[t] = taken; takes = takes + (takes < DEMAND) fi; found = t
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

/* What a worker does with a task that it has: its end, or a suspension. */
inline end_task(t) {
  if
  :: atomic { suspensions > 0 -> suspensions-- }; outside[t] = true
  :: atomic { task[t] = done; must_ring = registered[t] };
     if :: must_ring -> ring(t); must_ring = false :: else fi
  fi
}

#ifdef FAST_CLOCK
#define CLOCK true
#else
#define CLOCK timeout
#endif

#ifdef FAST_CLOCK
#define NOBODY_FORGOTTEN skip
#else
/* Asserted when nothing moves: who is asleep was not called, nobody is about to be promoted, and what is ready will be
   found by a watch that may take it. */
#define NOBODY_FORGOTTEN                                                             \
  assert(permits == 0);                                                              \
  assert(!closed);                                                                   \
  k = 0;                                                                             \
  do                                                                                 \
  :: k < N ->                                                                        \
     assert(k == i || !blocked[k] || task[k] != done);                               \
     assert(!ready[k] || (watch != NONE && MAY_TAKE(watch)));                        \
     k++                                                                             \
  :: else -> break                                                                   \
  od;                                                                                \
  k = 0
#endif

inline sleep_by_the_clock() {
  blocked[i] = true;
  if
  :: rung[i]
  :: atomic { CLOCK -> NOBODY_FORGOTTEN }
  fi;
  blocked[i] = false
}

/* runtime_core::sleep; the caller is a searcher before and after. */
inline sleep() {
  deep[i] = true;
  if
  :: atomic {
#ifdef BUG_FOR_GOOD
       true
#else
       searchers > 1 || entered == 0
#endif
       -> searchers--; sleepers++
     };
     do
     :: if
        :: atomic { permits > 0 -> permits-- }; break
        :: permits == 0
        fi;
        if
        :: IS_CALLED ->
           if
           :: atomic { sleepers > 0 -> sleepers--; searchers++ }; break
           :: sleepers == 0
           fi
        :: else ->
           blocked[i] = true;
           rung[i];
           blocked[i] = false;
           rung[i] = false;
           deep[i] = true
        fi
     od;
     atomic { was_deep = deep[i]; deep[i] = false };
     if :: !was_deep && permits != 0 -> ring_a_sleeper() :: else fi;
     was_deep = false
  :: searchers == 1 ->                      /* active, or it lingers: the watch */
     atomic { was_deep = deep[i]; deep[i] = false };
     if :: !was_deep -> ring_a_sleeper() :: else fi;
     was_deep = false;
     watch = i;
     sleep_by_the_clock();
     if :: atomic { watch == i -> watch = NONE } :: else fi
  fi
}

/* runtime_core::search */
inline search() {
  begin_search();
  do
  :: IS_CALLED -> break
  :: else ->
#ifndef BUG_BELL
     rung[i] = false;
#endif
     try_once();
     if :: found != NONE -> break :: else fi;
     if :: awaits -> atomic { registered[i] = (task[i] != done) } :: else fi;
     try_once();
     if :: found != NONE || IS_CALLED -> break :: else fi;
#ifdef BUG_BELL
     rung[i] = false;
#endif
     sleep()
  od;
  end_search()
}

/* runtime_core::wait_for_descendants */
inline wait_for_descendants() {
#ifdef BUG_RESTRICTED
  begin_search();
#endif
  do
  :: IS_CALLED -> break
  :: else ->
     rung[i] = false;
     atomic { registered[i] = (task[i] != done) };
     if :: IS_CALLED -> break :: else fi;
#ifdef BUG_RESTRICTED
     sleep()
#else
     sleep_by_the_clock()
#endif
  od;
#ifdef BUG_RESTRICTED
  end_search()
#endif
}

#ifdef PINNED
#define WAIT if :: i == 0 -> wait_for_descendants() :: else -> search() fi
#else
#define WAIT search()
#endif

proctype worker(byte i) {
  byte found = NONE, holds = NONE, k = 0, entries = ENTRIES;
  bool promoted, was_deep, must_ring, awaits;
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
  /* A task of its own is published, or none is; one word, nothing else is looked at. */
  if
  :: atomic { i < PUBLISHERS -> task[i] = published };
     if
     :: atomic { takes == DEMAND && task[i] == published -> task[i] = none }        /* taken back */
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
  :: holds == ROOT -> holds = NONE; entered--; left++; goto outside_of_the_runtime
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

/* Whoever resumes what is suspended. */
proctype resumer() {
  byte k = 0, t = 0, resumed = 0;
  do
  :: resumed < SUSPENSIONS && t < N && outside[t] ->
     outside[t] = false;
     resumed++;
     ready[t] = true;
     wake_watch()
  :: t < N - 1 && !outside[t] && resumed < SUSPENSIONS -> t++
  :: t > 0 && !outside[t] && resumed < SUSPENSIONS -> t = 0
  :: resumed == SUSPENSIONS || left == NC * ENTRIES -> break
  od
}

/* runtime_core::stop */
proctype stopper() {
  byte w = 0;
  left == NC * ENTRIES && entered == 0;
  closed = true;
  do
  :: w < N -> ring(w); w++
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
