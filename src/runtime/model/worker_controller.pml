// SPDX-License-Identifier: Apache-2.0
// The worker controller: the changed target, the flag that sends a surplus worker home, and the worker's
// sleep at home and in a search.
//
// check: spin -a; cc -O2 -DSAFETY; -m100000
// expect: errors: 0
// check: spin -DCHANGES=5 -a; cc -O2 -DSAFETY; -m100000
// expect: errors: 0
// check: spin -DBUG_CLEAR -a; cc -O2 -DSAFETY; -m100000
// expect: errors: 1
// check: spin -DBUG_EPOCH -a; cc -O2 -DSAFETY; -m100000
// expect: errors: 1
// check: spin -DBUG_NO_UNPARK -a; cc -O2 -DSAFETY; -m100000
// expect: errors: 1
// check: spin -DBUG_FLAG_FIRST -a; cc -O2 -DSAFETY; -m100000
// expect: errors: 1
//
// What is modelled: one background worker (background_main and its search), and the decisions of
// worker_controller::adjust, one at a time (its lock), that make the worker surplus or call it back, CHANGES
// of them. Every access to a shared word is one step. The worker checks its flag wherever it polls, searches,
// or wakes.
//
// What must hold when nothing else can happen (`timeout`): a surplus worker sleeps at home, and a worker that
// is not surplus is not at home. So no wake-up is lost, and no flag.
//
// Each BUG_ macro removes one safeguard:
//   BUG_CLEAR       the flag is cleared after the target was read
//   BUG_EPOCH       the wake epoch is read after the target was read
//   BUG_NO_UNPARK   the controller calls the worker back without unparking it
//   BUG_FLAG_FIRST  the flag is set before the target is changed

#ifndef CHANGES
#define CHANGES 3
#endif

bool surplus = false;  /* rank >= target */
bool leave = false;    /* flag_leave */
byte epoch = 0;
bool at_home = true;
bool asleep = false;

active proctype worker() {
  byte seen;
  bool allowed;
home:
  at_home = true;
#ifdef BUG_EPOCH
  leave = false;
  allowed = !surplus;
  seen = epoch;
#else
  seen = epoch;
#ifdef BUG_CLEAR
  allowed = !surplus;
  leave = false;
#else
  leave = false;
  allowed = !surplus;
#endif
#endif
  if
  :: allowed -> goto running
  :: !allowed ->
     asleep = true;
end_at_home:
     epoch != seen;
     asleep = false;
     goto home
  fi;
running:
  at_home = false;
  seen = epoch;            /* read before the last check */
  if
  :: leave -> goto home
  :: !leave
  fi;
  asleep = true;          /* the worker searches or works: any event makes it poll */
end_running:
  epoch != seen;
  asleep = false;
  goto running
}

active proctype controller() {
  byte changes = 0;
  do
  :: changes < CHANGES ->
     changes++;
     if
     :: !surplus ->
#ifdef BUG_FLAG_FIRST
        leave = true;
        surplus = true;
#else
        surplus = true;
        leave = true;
#endif
        epoch++
     :: surplus ->
        surplus = false;
#ifndef BUG_NO_UNPARK
        epoch++
#else
        skip
#endif
     fi
  :: changes == CHANGES -> break
  :: true -> break        /* fewer changes than CHANGES */
  od;
  timeout;
  assert(asleep && at_home == surplus)
}
