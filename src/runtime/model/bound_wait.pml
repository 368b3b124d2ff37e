// SPDX-License-Identifier: Apache-2.0
// A thread-bound wait that ends only after work that the waiting thread must not take.
//
// check: spin -a; cc -O2 -DSAFETY; -m100000
// expect: errors: 0
// check: spin -DDEPTH=2 -a; cc -O2 -DSAFETY; -m100000
// expect: errors: 0
// check: spin -DBUG_NO_PLACE -a; cc -O2 -DSAFETY; -m100000
// expect: errors: 1
// check: spin -DBUG_COUNT_LATE -a; cc -O2 -DSAFETY; -m100000
// expect: errors: 1
// check: spin -DBUG_CAP -DDEPTH=2 -a; cc -O2 -DSAFETY; -m100000
// expect: errors: 1
// check: spin -DBUG_NO_UNPARK -a; cc -O2 -DSAFETY; -m100000
// expect: errors: 1
// check: spin -DBUG_LOST_END -a; cc -O2 -DSAFETY; -m100000
// expect: errors: 1
//
// What is modelled: worker 0 waits in place with a thread-bound fiber for task 1 (wait_for_descendants, or
// wait_in_place). Background workers 1 … DEPTH run the tasks 1 … DEPTH. Task i < DEPTH waits in the same way
// for task i + 1. A worker that becomes surplus hands over the task that it runs (`ready`), unless it waits
// in place. The controller lowers its limit to one worker at any time. Each decision about the target is made
// under one lock. The clock is as slow as it can be: a wait in place notices how long it lasts only when
// nothing else can happen (`timeout`).
//
// What must hold: every wait ends (any other end is an invalid end state), and afterwards the target equals
// the limit.
//
// Each BUG_ macro removes one safeguard:
//   BUG_NO_PLACE    no other worker runs in the place of a worker that waits
//   BUG_COUNT_LATE  the wait is counted after the target was computed
//   BUG_CAP         only one wait at a time is compensated
//   BUG_NO_UNPARK   the worker that may run again is not unparked
//   BUG_LOST_END    the end of a wait does not lower the target again

#ifndef DEPTH
#define DEPTH 1
#endif
#define WORKERS (DEPTH + 1)

byte limit = WORKERS;        /* what the capacity or the program allows */
byte target = WORKERS;
byte bound = 0;              /* waits that are compensated */
bool deciding;               /* worker_controller::deciding_ */
bool leave[WORKERS];         /* flag_leave */
bool advanced[WORKERS];      /* worker::epoch differs from what the worker read last */
bool done[WORKERS + 1];      /* the tasks */
bool ready[WORKERS + 1];     /* the fiber of a task is in the injector queue */
bool in_place[WORKERS];      /* the fiber that the worker runs waits in place, so the worker cannot hand it over */

#ifdef BUG_CAP
#define COMPENSATED (bound > 0 -> 1 : 0)
#else
#define COMPENSATED bound
#endif

/* adjust(), with deciding_ held. */
inline adjust() {
  wanted = limit + COMPENSATED;
  if :: wanted > WORKERS -> wanted = WORKERS :: else fi;
  before = target;
  target = wanted;
  k = 1;
  do
  :: k < WORKERS ->
     if
     :: k >= wanted && k < before -> leave[k] = true; advanced[k] = true
     :: k < wanted && k >= before ->
#ifndef BUG_NO_UNPARK
        advanced[k] = true
#else
        skip
#endif
     :: else
     fi;
     k++
  :: else -> break
  od;
  k = 0
}
#define LOCK atomic { !deciding -> deciding = true }
#define UNLOCK deciding = false

/* The fiber on worker w waits in place for task t. */
inline wait_in_place(w, t) {
  compensates = false;
  in_place[w] = true;
  do
  :: advanced[w] = false;
     if
     :: done[t] -> break
     :: else ->
        if
        :: advanced[w]
#ifndef BUG_NO_PLACE
        :: timeout && !compensates ->
           compensates = true;
#ifdef BUG_COUNT_LATE
           LOCK; adjust(); UNLOCK;
           bound++
#else
           bound++;
           LOCK; adjust(); UNLOCK
#endif
#endif
        fi
     fi
  od;
  in_place[w] = false;
  if
  :: compensates ->
     bound--;
#ifndef BUG_LOST_END
     LOCK; adjust(); UNLOCK;
#endif
     compensates = false
  :: else
  fi
}

proctype waiter() {
  byte k = 0, wanted, before;
  bool compensates;
  wait_in_place(0, 1);
  atomic { !deciding && limit == 1 -> assert(bound == 0 && target == 1) }
}

proctype background(byte w) {
  byte k = 0, wanted, before, task = w;   /* the task that it runs; 0: none */
  bool compensates, begun = false;
  goto running;
home:
  advanced[w] = false;
  leave[w] = false;
  if
  :: w < target -> goto searching
  :: else
  fi;
end_at_home:
  advanced[w];
  goto home;
searching:
  advanced[w] = false;
  if :: leave[w] -> goto home :: else fi;
  if
  :: atomic { ready[1] -> ready[1] = false; task = 1 }; goto running
#if DEPTH > 1
  :: atomic { ready[2] -> ready[2] = false; task = 2 }; goto running
#endif
  :: else
  fi;
end_searching:
  if
  :: advanced[w]
  :: ready[1]                    /* the sentinel checks at any time */
#if DEPTH > 1
  :: ready[2]
#endif
  fi;
  goto searching;
running:
  if
  :: leave[w] -> ready[task] = true; task = 0; goto home      /* hand_over() */
  :: true
  fi;
#if DEPTH > 1
  if
  :: task == 1 -> wait_in_place(w, 2)
  :: else
  fi;
#endif
  done[task] = true;
  advanced[0] = true;
#if DEPTH > 1
  k = 1;
  do :: k < WORKERS -> if :: in_place[k] -> advanced[k] = true :: else fi; k++ :: else -> break od;
  k = 0;
#endif
  task = 0;
  goto searching
}

proctype controller() {
  byte k = 0, wanted, before;
  LOCK;
  limit = 1;
  adjust();
  UNLOCK
}

init {
  byte w = 1;
  atomic {
    run waiter();
    do :: w < WORKERS -> run background(w); w++ :: else -> break od;
    run controller()
  }
}
