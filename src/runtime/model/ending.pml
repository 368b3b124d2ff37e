// SPDX-License-Identifier: Apache-2.0
// The end of a block's future that the block's own fiber computes: without a locked instruction, unless
// another thread may change the cell.
//
// check: spin -a; cc -O2 -DSAFETY; -m200000
// expect: errors: 0
// check: spin -DREFUSED -a; cc -O2 -DSAFETY; -m200000
// expect: errors: 0
// check: spin -DBUG_OVERLOOK -a; cc -O2 -DSAFETY; -m200000
// expect: errors: 1
// check: spin -DBUG_ORDER -a; cc -O2 -DSAFETY; -m200000
// expect: errors: 1
// check: spin -DBUG_CLAIM -a; cc -O2 -DSAFETY; -m200000
// expect: errors: 1
// check: spin -DBUG_FENCE -a; cc -O2 -DSAFETY; -m200000
// expect: errors: 1
// check: spin -DBUG_ENDING -a; cc -O2 -DSAFETY; -m200000
// expect: errors: 1
// check: spin -DBUG_SHARE -a; cc -O2 -DSAFETY; -m200000
// expect: errors: 1
// check: spin -DBUG_UNBEGUN -a; cc -O2 -DSAFETY; -m200000
// expect: errors: 1
// check: spin -DBUG_STATE -DCLAIMERS=0 -DNO_CANCEL -a; cc -O2 -DSAFETY; -m200000
// expect: errors: 1
// check: spin -DBUG_LIMIT -DCLAIMERS=0 -DNO_CANCEL -a; cc -O2 -DSAFETY; -m200000
// expect: errors: 1
// check: spin -DBUG_LOOP -DCLAIMERS=0 -DNO_CANCEL -a; cc -O2 -DSAFETY; -m200000
// expect: errors: 1
// check: spin -DBUG_JOIN -DCLAIMERS=0 -DNO_CANCEL -a; cc -O2 -DSAFETY; -m200000
// expect: errors: 1
//
// What is modelled: one future. Its own fiber computes it, or a task that was split off at its choice point.
// While the fiber computes it, the fiber may split off a part of its other work (of a fork or of a loop), and
// may cancel the future. That part touches the future or cancels it, without a claim. CLAIMERS other fibers
// claim the future and touch it. Unless NO_CANCEL is defined, one thread claims the future and cancels it.
//
// The fiber's stores to `ending` and `state` wait in a buffer, and reach the memory in their order at any
// later time. A locked instruction of the fiber empties the buffer, and so does the heavy fence of a claimer.
// Every other access is one step. With REFUSED the kernel provides no such fence.
//
// What must hold: the future ends; each fiber that waits is resumed once; a future that was cancelled stays so.
//
// Each BUG_ macro removes one safeguard:
//   BUG_OVERLOOK  the fiber writes the end without checking for claims
//   BUG_ORDER     the fiber reads the claim before it writes that the end begins
//   BUG_CLAIM     a claimer writes no claim
//   BUG_FENCE     a claimer executes no heavy fence
//   BUG_ENDING    a claimer does not check whether the end has begun
//   BUG_SHARE     a claimer that finds a claim executes no fence of its own
//   BUG_UNBEGUN   a claimer does nothing if it finds that no fiber has begun the future
//   BUG_STATE     the fiber does not check whether it has cancelled the future itself
//   BUG_LIMIT     the fiber does not check its poll limit
//   BUG_LOOP      a part of a loop leaves the future's choice point above the limit
//   BUG_JOIN      the fiber lowers the limit before the part that it has split off is joined

#ifndef CLAIMERS
#define CLAIMERS 2
#endif
#ifdef NO_CANCEL
#define CANCELS 0
#else
#define CANCELS 1
#endif

// The cell. `state` is one word: a bit for each waiting fiber, or how the future has ended.
#define VALUE 1
#define CANCELLED 3
#define IS_DONE ((state & 1) != 0)
#define BIT(waiter) (4 << waiter)
byte state;
bool ending;
bool claimed;
mtype = { nothing, in_place, as_task };
mtype runs_as = nothing;

// The buffer of the fiber's processor.
bool ending_is_buffered;
bool value_is_buffered;

bool limit_is_above; // the poll limit is above the future's choice point
bool was_split, part_has_ended, is_joined;
bool owner_is_over;

#define PART CLAIMERS // the bit number of the part that was split off, when it waits
byte resumed[CLAIMERS + 1];
bool is_cancelled; // a cancellation came before the end
byte running = CLAIMERS + CANCELS + 2;

inline empty_buffer() {
  atomic {
    if :: ending_is_buffered -> ending = true; ending_is_buffered = false :: else fi;
    if :: value_is_buffered -> state = VALUE; value_is_buffered = false :: else fi
  }
}

inline resume_all(list, i) {
  i = 0;
  do
  :: i <= PART ->
    if
    :: (list & BIT(i)) != 0 -> assert(resumed[i] == 0); resumed[i]++
    :: else
    fi;
    i++
  :: else -> break
  od;
  i = 0
}

// future_cell::end: the CAS
inline end(how, list, i) {
  atomic {
    if
    :: IS_DONE -> list = 0
    :: else -> list = state; state = how; is_cancelled = (how == CANCELLED)
    fi
  };
  resume_all(list, i);
  list = 0
}

// future_waiting::claim
inline claim() {
#ifndef REFUSED
  if
  :: IS_DONE
  :: else ->
    if
#ifdef BUG_UNBEGUN
    :: runs_as != in_place
#else
    :: runs_as == as_task
#endif
    :: else ->
#ifdef BUG_SHARE
      if
      :: claimed
      :: else -> claimed = true; empty_buffer()
      fi;
#else
#ifndef BUG_CLAIM
      claimed = true;
#endif
#ifndef BUG_FENCE
      empty_buffer();
#endif
#endif
#ifndef BUG_ENDING
      if
      :: ending -> IS_DONE
      :: else
      fi
#else
      skip
#endif
    fi
  fi
#else
  skip
#endif
}

// future_waiting::add, and the wait
inline wait_for_end(waiter, is_added) {
  atomic {
    if
    :: IS_DONE -> is_added = false
    :: else -> state = state | BIT(waiter); is_added = true
    fi
  };
  if
  :: is_added -> resumed[waiter] > 0
  :: else
  fi;
  assert(IS_DONE)
}

active proctype buffer() {
end_buffer:
  do
  :: atomic { ending_is_buffered -> ending = true; ending_is_buffered = false }
  :: atomic { !ending_is_buffered && value_is_buffered -> state = VALUE; value_is_buffered = false }
  od
}

// The fiber polls, before the expression and in it.
inline poll() {
  do
  :: !was_split ->
    if
    :: limit_is_above = true // the part is of a fork
    :: true // the part is of a loop
#ifndef BUG_LOOP
      -> limit_is_above = true
#endif
    fi;
    was_split = true
#ifdef BUG_JOIN
  :: was_split && limit_is_above -> limit_is_above = false
#endif
  :: part_has_ended && !is_joined -> is_joined = true; limit_is_above = false
  :: break
  od
}

active proctype owner() {
  byte list, i;
  bool is_claimed;
  poll();
  if
  :: runs_as = as_task -> goto by_exchange // the expression runs on another fiber
  :: runs_as = in_place
  fi;
  poll();
  if
  :: true
  :: true -> empty_buffer(); end(CANCELLED, list, i) // the expression itself cancels the future
  fi;
#ifdef REFUSED
  goto by_exchange;
#endif
  // future_cell::end_in_place
  if
#ifndef BUG_LIMIT
  :: limit_is_above -> goto by_exchange
#endif
  :: true -> goto by_exchange // another thread has requested a poll
#ifdef BUG_LIMIT
  :: true
#else
  :: !limit_is_above
#endif
  fi;
#ifndef BUG_STATE
  if
  :: state != 0 -> goto by_exchange
  :: else
  fi;
#endif
#ifdef BUG_ORDER
  is_claimed = claimed;
  ending_is_buffered = true;
#else
  ending_is_buffered = true;
#ifndef BUG_OVERLOOK
  is_claimed = claimed;
#endif
#endif
  if
  :: is_claimed -> goto by_exchange
  :: else -> value_is_buffered = true; goto over
  fi;
by_exchange:
  empty_buffer();
  end(VALUE, list, i);
over:
  // The end of the block: the join of what was split off.
  !was_split || part_has_ended;
  atomic { owner_is_over = true; running-- }
}

// What was split off inside the block.
active proctype part() {
  byte list, i;
  bool is_added;
  if
  :: was_split ->
    if
    :: true -> wait_for_end(PART, is_added)
    :: true -> end(CANCELLED, list, i)
    fi
  :: owner_is_over && !was_split
  fi;
  atomic { part_has_ended = true; running-- }
}

proctype toucher(byte waiter) {
  bool is_added;
  claim();
  wait_for_end(waiter, is_added);
  running--
}

proctype canceller() {
  byte list, i;
  claim();
  end(CANCELLED, list, i);
  running--
}

init {
  byte next;
  atomic {
    do
    :: next < CLAIMERS -> run toucher(next); next++
    :: else -> break
    od;
    if
    :: CANCELS == 1 -> run canceller()
    :: else
    fi
  };
  timeout; // nothing else can happen any more
  assert(running == 0 && IS_DONE);
  assert(is_cancelled == (state == CANCELLED))
}
