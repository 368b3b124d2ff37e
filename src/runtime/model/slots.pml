// SPDX-License-Identifier: Apache-2.0
// Published tasks: publish, take, reclaim, and inject when the fiber parks, with task memory that is reused.
//
// check: spin -a; cc -O2 -DSAFETY; -m200000
// expect: errors: 0
// check: spin -DTASKS=4 -DTHIEVES=1 -a; cc -O2 -DSAFETY; -m200000
// expect: errors: 0
// check: spin -DBUG_READ -a; cc -O2 -DSAFETY; -m200000
// expect: errors: 1
// check: spin -DBUG_TAKE -a; cc -O2 -DSAFETY; -m200000
// expect: errors: 1
// check: spin -DBUG_RECLAIM -a; cc -O2 -DSAFETY; -m200000
// expect: errors: 1
// check: spin -DBUG_INJECT -a; cc -O2 -DSAFETY; -m200000
// expect: errors: 1
//
// What is modelled: the fiber that owns SLOTS slots publishes TASKS tasks one after the other, two at most at
// a time, joins the younger first (reclaims it, or waits for its end), may park before it waits (moves the
// tasks of its slots to the queue `injected`), and frees a task that is joined. The allocator may return the
// same address again at once: the task at an address in a slot may differ from the task that a thief saw
// there (ABA). Thieves read a slot, then take by CAS.
//
// What must hold: each task is run exactly once; no thread accesses a task that was freed.
//
// Each BUG_ macro removes one safeguard:
//   BUG_READ     a thief accesses the task before it has taken it
//   BUG_TAKE     a thief takes by a load and a store
//   BUG_RECLAIM  the owner reclaims by a load and a store
//   BUG_INJECT   the slots are emptied by a load and a store

#ifndef SLOTS
#define SLOTS 2
#endif
#ifndef TASKS
#define TASKS 3
#endif
#ifndef THIEVES
#define THIEVES 2
#endif
#define ADDRESSES 2     /* 1 … ADDRESSES; 0 is null */

byte slot[SLOTS];
bool injected[ADDRESSES + 1];    /* the task at this address is in the queue */
byte content[ADDRESSES + 1];    /* number of the task at this address; 0: freed */
bool done[ADDRESSES + 1];       /* task::joining */
byte runs[TASKS + 1];           /* how often each task was run */
bool finished;

inline execute(t) {
  atomic {
    assert(content[t] != 0);
    runs[content[t]]++;
    assert(runs[content[t]] == 1)
  }
}

inline free_task(t) { atomic { content[t] = 0; done[t] = false } }

active proctype owner() {
  byte made = 0, depth = 0, t, i, a;
  byte pending[2], where[2];            /* task and slot of each pending choice point */
  do
  :: made < TASKS && depth < 2 ->       /* publish_work(): into the first free slot, if there is one */
     i = 0;
     do
     :: i < SLOTS && slot[i] != 0 -> i++
     :: i < SLOTS && slot[i] == 0 -> break
     :: i == SLOTS -> break
     od;
     if
     :: i < SLOTS ->
        atomic {
          if
          :: content[1] == 0 -> a = 1
          :: content[2] == 0 -> a = 2
          fi;
          made++;
          content[a] = made;
          pending[depth] = a;
          where[depth] = i
        };
        slot[i] = a;                    /* release */
        atomic { depth++; a = 0; i = 0 }
     :: else -> i = 0
     fi
  :: depth > 0 ->                       /* the join of the youngest choice point */
     atomic { depth--; t = pending[depth]; i = where[depth]; pending[depth] = 0; where[depth] = 0 };
     if
#ifdef BUG_RECLAIM
     :: slot[i] == t -> slot[i] = 0; execute(t)
#else
     :: atomic { slot[i] == t -> slot[i] = 0 }; execute(t)
#endif
     :: slot[i] != t ->
        if
        :: true ->                      /* await(): inject_published */
           i = 0;
           do
           :: i < SLOTS ->
              if
              :: slot[i] != 0 ->
#ifdef BUG_INJECT
                 a = slot[i];
                 slot[i] = 0;
#else
                 atomic { a = slot[i]; slot[i] = 0 };
#endif
                 if :: a != 0 -> injected[a] = true :: else fi
              :: slot[i] == 0
              fi;
              i++
           :: i == SLOTS -> break
           od
        :: true                         /* a descendant runs on top: correct without emptied slots */
        fi;
        done[t]
     fi;
     free_task(t);
     atomic { t = 0; i = 0; a = 0 }
  :: made == TASKS && depth == 0 -> break
  od;
  for (t : 1 .. TASKS) { assert(runs[t] == 1) }
  finished = true
}

active [THIEVES] proctype thief() {
  byte t, i;
  do
  :: i = 0;
     do :: i < SLOTS - 1 -> i++ :: break od;
     t = slot[i];
     if
     :: t != 0 ->
#ifdef BUG_READ
        assert(content[t] != 0);
#endif
        if
#ifdef BUG_TAKE
        :: slot[i] == t -> slot[i] = 0; execute(t); done[t] = true
#else
        :: atomic { slot[i] == t -> slot[i] = 0 }; execute(t); done[t] = true
#endif
        :: slot[i] != t
        fi
     :: t == 0
     fi;
     atomic { t = 0; i = 0 }
  :: atomic { injected[1] -> injected[1] = false }; execute(1); done[1] = true
  :: atomic { injected[2] -> injected[2] = false }; execute(2); done[2] = true
  :: finished -> break
  od
}
