// SPDX-License-Identifier: Apache-2.0
// Futures of a block: touching the futures, waiting for them, and the end of their block.
//
// check: spin -a; cc -O2 -DSAFETY; -m200000
// expect: errors: 0
// check: spin -DWORKERS=2 -a; cc -O2 -DSAFETY; -m200000
// expect: errors: 0
// check: spin -DWORKERS=3 -DYOUNGER_FIRST -a; cc -O2 -DSAFETY; -m200000
// expect: errors: 0
// check: spin -DWORKERS=2 -DBUG_AWAIT -a; cc -O2 -DSAFETY; -m200000
// expect: errors: 1
// check: spin -DWORKERS=2 -DBUG_ADD -a; cc -O2 -DSAFETY; -m200000
// expect: errors: 1
// check: spin -DWORKERS=2 -DBUG_END -a; cc -O2 -DSAFETY; -m200000
// expect: errors: 1
// check: spin -DWORKERS=2 -DBUG_REMOVE -a; cc -O2 -DSAFETY; -m200000
// expect: errors: 1
// check: spin -DWORKERS=2 -DBUG_RECLAIM -a; cc -O2 -DSAFETY; -m200000
// expect: errors: 1
//
// Each end is one step here; ending.pml models the end without a locked instruction.
//
// What is modelled: fiber O makes future 0, whose expression touches future 1, then future 1. O touches both,
// the older one first (or with -DYOUNGER_FIRST last), and ends the block. Workers without work cause O's
// oldest pending future to be split off: at a poll of O while it runs, or as helpers while it is suspended.
// They run what was split off. A third fiber, X, also touches future 0; it may be aborted while it waits.
// WORKERS is the number of fibers that can run at a time.
//
// What must hold:
//   each expression is computed exactly once, and each touch that is not aborted finds its future ended;
//   each fiber that waits is resumed exactly once; everything ends, with any number of workers.
//
// Each BUG_ macro removes one safeguard:
//   BUG_AWAIT    a fiber that touches a future which another fiber computes waits as at a join, whatever it has pending
//   BUG_ADD      a fiber that waits checks whether the future has ended before it adds itself, not in the same step
//   BUG_END      the worker that ends the future takes the list of waiting fibers before it writes the end
//   BUG_REMOVE   a fiber that is aborted while it waits is resumed without being taken out of the list
//   BUG_RECLAIM  the owner takes a task back without checking whether a thief has it

#ifndef WORKERS
#define WORKERS 1
#endif

mtype = { pending, task, begun }
mtype future[2] = pending;   // the choice point
bool ended[2];               // the cell
byte waiters[2];             // the cell's list: a bit for each fiber
byte computed[2];

#define O 0 // the owner
#define T 1 // the task of future 0
#define X 2 // the third one
bool waits[3];               // the fiber is in a suspension
byte resumed[3];             // how often, in its present suspension
bool splittable = true;      // O runs, or is suspended where helpers may split it
byte free_workers = WORKERS;
bool block_is_over;

inline get_worker() { atomic { free_workers > 0 -> free_workers-- } }
inline leave_worker() { free_workers++ }

// A fiber that waits leaves its worker to other fibers.
inline resume(waiter) {
  assert(resumed[waiter] == 0);
  resumed[waiter]++
}

// The fiber adds itself to the list and waits for the future's end.
inline wait_for(i, waiter) {
  resumed[waiter] = 0;
#ifdef BUG_ADD
  if
  :: ended[i] -> resume(waiter)
  :: else -> waiters[i] = waiters[i] | (1 << waiter)
  fi;
#else
  atomic {
    if
    :: ended[i] -> resume(waiter)
    :: else -> waiters[i] = waiters[i] | (1 << waiter)
    fi
  };
#endif
  waits[waiter] = true;
  leave_worker();
  resumed[waiter] > 0;
  get_worker();
  waits[waiter] = false
}

inline resume_all(list) {
  if :: (list & (1 << O)) != 0 -> resume(O) :: else fi;
  if :: (list & (1 << T)) != 0 -> resume(T) :: else fi;
  if :: (list & (1 << X)) != 0 -> resume(X) :: else fi
}

inline end(i, list) {
#ifdef BUG_END
  list = waiters[i];
  atomic { ended[i] = true; waiters[i] = 0 };
#else
  atomic { list = waiters[i]; waiters[i] = 0; ended[i] = true };
#endif
  resume_all(list);
  list = 0
}

// The touch of future 1 by the owner, where future 0's expression runs on its fiber, too.
inline touch_younger(list) {
  if
  :: ended[1]
  :: else ->
    if
    :: atomic { future[1] != begun -> future[1] = begun }; // its own future, not begun or taken back
      computed[1]++;
      end(1, list)
    :: atomic { future[1] == begun && !ended[1] }; // nothing younger is pending: waits as at a join
      splittable = false;
      leave_worker();
      ended[1];
      get_worker();
      splittable = true
    :: atomic { ended[1] }
    fi
  fi
}

inline touch_older(list) {
  if
  :: ended[0]
  :: else ->
    if
#ifdef BUG_RECLAIM
    :: future[0] != begun -> future[0] = begun;
#else
    :: atomic { future[0] != begun -> future[0] = begun };
#endif
      computed[0]++;
      touch_younger(list);
      end(0, list)
    :: atomic { future[0] == begun && !ended[0] };
      if
#ifndef BUG_AWAIT
      :: future[1] == pending -> wait_for(0, O) // O suspends itself, so helpers can split future 1 off
      :: future[1] != pending ->
#else
      :: true ->
#endif
        splittable = false;
        leave_worker();
        ended[0];
        get_worker();
        splittable = true
      fi
    :: atomic { ended[0] }
    fi
  fi
}

active proctype owner() {
  byte list;
  get_worker();
#ifdef YOUNGER_FIRST
  touch_younger(list);
  touch_older(list);
#else
  touch_older(list);
  touch_younger(list);
#endif
  assert(ended[0] && ended[1]);
  block_is_over = true;
  leave_worker();
}

// An idle worker splits off what O has pending, the oldest first.
active proctype split() {
end_split:
  do
  :: atomic { splittable && free_workers > 0 && future[0] == pending -> future[0] = task }
  :: atomic {
       splittable && free_workers > 0 && future[0] != pending && future[1] == pending -> future[1] = task
     }
  :: block_is_over -> break
  od
}

active proctype run_older() {
  byte list;
end_run_older:
  if
  :: block_is_over -> goto over
  :: atomic { free_workers > 0 && future[0] == task -> free_workers--; future[0] = begun }
  fi;
  computed[0]++;
  // The expression of future 0 touches future 1, on a fiber that does not own future 1.
  if
  :: ended[1]
  :: else -> wait_for(1, T)
  fi;
  assert(ended[1]);
  end(0, list);
  leave_worker();
over:
  skip
}

active proctype run_younger() {
  byte list;
end_run_younger:
  if
  :: block_is_over -> goto over
  :: atomic { free_workers > 0 && future[1] == task -> free_workers--; future[1] = begun }
  fi;
  computed[1]++;
  end(1, list);
  leave_worker();
over:
  skip
}

// Any other fiber in the block.
bool is_aborted;
bool x_waits_no_more;
active proctype other() {
  get_worker();
  if
  :: ended[0]
  :: else -> wait_for(0, X)
  fi;
  atomic { x_waits_no_more = true; assert(ended[0] || is_aborted) };
  leave_worker();
}

// Aborts X at any time while it is suspended, or not at all.
active proctype abort() {
  if
  :: waits[X] ->
    is_aborted = true;
#ifdef BUG_REMOVE
    resume(X)
#else
    bool mine;
    atomic {
      mine = (waiters[0] & (1 << X)) != 0;
      if
      :: mine -> waiters[0] = waiters[0] & ~(1 << X)
      :: else
      fi
    };
    if
    :: mine -> resume(X)
    :: else
    fi
#endif
  :: x_waits_no_more
  fi
}

// Nothing else can happen any more.
active proctype check() {
  timeout;
  assert(block_is_over && x_waits_no_more);
  assert(computed[0] == 1 && computed[1] == 1 && free_workers == WORKERS)
}
