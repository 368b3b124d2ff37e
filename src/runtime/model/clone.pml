// SPDX-License-Identifier: Apache-2.0
// Closed clones on one fiber: clones of searches, whose applied choices cannot be undone.
//
// check: spin -a; cc -O2 -DSAFETY -DCOLLAPSE; -m200000
// expect: errors: 0
// check: spin -DBUG_OPEN -a; cc -O2 -DSAFETY -DCOLLAPSE; -m200000
// expect: errors: 1
// check: spin -DBUG_ABOVE -a; cc -O2 -DSAFETY -DCOLLAPSE; -m200000
// expect: errors: 1
// check: spin -DBUG_STAYS_CLOSED -a; cc -O2 -DSAFETY -DCOLLAPSE; -m200000
// expect: errors: 1
//
// What is modelled: a fiber pushes and joins forks in any order (choice point r is at position r), begins and
// ends closed clones, and runs tasks on top of waiting joins. All of these may be nested. A clone polls at
// its top; if work was requested, the clone pushes choice points there. Other workers request polls, take
// published tasks, and give up at any time. limit.pml models how their accesses interleave with those of the
// owner.
//
// What must hold:
//   no choice point that is older than a closed clone, or than the running segment, is split;
//   where the owner polls slowly, no choice point of the running segment or clone below `oldest` has work, so the
//   owner finds again what was closed;
//   a choice point that is pushed without the slow path does not lie below `oldest`, which must stay an address
//   where a choice point begins (poll.hpp); one that is joined on the fast path was not split.
//
// Each BUG_ macro removes one safeguard:
//   BUG_OPEN          the begin of a clone closes nothing
//   BUG_ABOVE         the end of a clone moves `oldest` up again beyond its top, where nothing is left,
//                     although the limit has come down
//   BUG_STAYS_CLOSED  the end of a clone does not move `oldest` back

#ifndef DEPTH
#define DEPTH 3       /* choice points that fit */
#endif
#ifndef PUSHES
#define PUSHES 5      /* forks in all */
#endif
#define SLOTS 2       /* settings::published_tasks */
#define NESTED 3      /* clones and tasks on top of each other */
#define ALL 15        /* the limit that everything is below */

byte limit;           /* gate::limit */
byte clean;           /* fiber::clean_from, which is the true limit here: nothing is remembered (known_steps.hpp) */
byte oldest;          /* fiber::oldest */
bool published[DEPTH];/* the task that was split off here is in a slot, so the owner may reclaim it */
byte in_slots;        /* how many tasks are in slots */
bool idle;            /* a worker wants work */
bool split[DEPTH];    /* was_split(choice point) */

byte top, pushes;
byte nested;          /* how many clones and tasks are in progress */
byte base[NESTED + 1];     /* where each of them begins; [0] is the fiber's own segment */
byte outer[NESTED + 1];    /* the value of `oldest` when it began */
bool is_clone[NESTED + 1]; /* false: a task on top of a join */

/* poll_slow(): `here` polls, `end` is one past the youngest choice point with work. */
inline poll_slow(here, end) {
  if :: oldest > here -> oldest = here :: else fi;
  if :: clean > here -> clean = here :: else fi;
  k = base[nested];
  do
  :: k < end && k < oldest -> assert(split[k]); k++
  :: else -> break
  od;
  more = false;
  if
  :: idle && in_slots < SLOTS ->
     k = oldest;
     do :: k < end && split[k] -> k++ :: else -> break od;
     oldest = k;
     if :: clean < oldest -> clean = oldest :: else fi;
     do                                      /* its guard may refuse a choice point */
     :: k < end && !split[k] -> break
     :: k < end -> k++
     :: k >= end -> break
     od;
     if
     :: k < end ->
        assert(k >= base[nested]);
        split[k] = true;
        if :: clean < k + 1 -> clean = k + 1 :: else fi;
        published[k] = true;
        in_slots++
     :: else -> more = (in_slots == 0)
     fi
  :: else
  fi;
  limit = (more -> ALL : clean);
  more = false;
  k = 0
}

inline begin(clone) {
  nested++;
  base[nested] = top;
  outer[nested] = oldest;
  is_clone[nested] = clone
}
inline end() {
  base[nested] = 0;
  outer[nested] = 0;
  is_clone[nested] = false;
  nested--
}

active proctype owner() {
  byte k;
  bool more;
  do
  :: atomic {                                /* a fork is entered */
       pushes < PUSHES && top < DEPTH ->
       pushes++;
       split[top] = false;
       if
       :: top >= limit -> assert(top >= oldest)
       :: else -> poll_slow(top, top + 1)
       fi;
       top++
     }
  :: atomic {                                /* its first branch has ended */
       top > base[nested] ->
       if
       :: top - 1 >= limit -> assert(!split[top - 1]); top--
       :: else ->
          if
          :: split[top - 1] && published[top - 1] -> /* reclaimed; polls slowly if an abort is pending */
             published[top - 1] = false;
             in_slots--;
             split[top - 1] = false;
             if :: skip :: poll_slow(top - 1, top - 1) fi;
             top--
          :: split[top - 1] && !published[top - 1] ->
             poll_slow(top - 1, top - 1);
             if
             :: top--                        /* it was completed */
             :: nested < NESTED ->           /* execute(): until then a descendant runs on top */
                begin(false);
                oldest = top;
                if :: limit = ALL :: limit = clean fi
             fi
          :: !split[top - 1] -> poll_slow(top - 1, top - 1); top--
          fi
       fi
     }
  :: atomic {                                /* the end of execute() */
       nested > 0 && !is_clone[nested] && top == base[nested] ->
       oldest = outer[nested];
       limit = ALL;
       end();
       top--
     }
  :: atomic {                                /* sukima_close_older() */
       nested < NESTED ->
       begin(true);
#ifndef BUG_OPEN
       oldest = top
#endif
     }
  :: atomic {                                /* sukima_poll_in_clone() */
       nested > 0 && is_clone[nested] && top == base[nested] && top < limit -> poll_slow(top, top)
     }
  :: atomic {                                /* sukima_reopen_older() */
       nested > 0 && is_clone[nested] && top == base[nested] ->
#ifdef BUG_ABOVE
       oldest = outer[nested];
#elif !defined(BUG_STAYS_CLOSED)
       oldest = (outer[nested] < top -> outer[nested] : top);
#endif
       end();
       if :: idle -> limit = ALL :: else fi
     }
  :: atomic { pushes == PUSHES && top == 0 && nested == 0 -> break }
  od
}

/* The other workers, one step at a time. */
active proctype others() {
  byte taken;
  do
  :: atomic { !idle -> idle = true; limit = ALL }
  :: atomic {                                /* one of them takes the oldest published task … */
       in_slots > 0 ->
       taken = 0;
       do :: !published[taken] -> taken++ :: else -> break od;
       published[taken] = false;
       in_slots--;
       taken = 0;
       idle = false
     }
  :: atomic { idle -> idle = false }                           /* … or finds work elsewhere */
  :: atomic { pushes == PUSHES && top == 0 && nested == 0 -> break }
  od
}
