// SPDX-License-Identifier: Apache-2.0
// The poll limit of a fiber: the owner's two polls, its slow path, and all that request a poll.
//
// check: spin -DTHIEF=2 -DPUSHES=5 -DNO_SWITCH -a; cc -O2 -DSAFETY -DCOLLAPSE; -m200000
// expect: errors: 0
// check: spin -DABORTER -DCALLER -a; cc -O2 -DSAFETY -DCOLLAPSE; -m200000
// expect: errors: 0
// check: spin -DTHIEF=1 -DABORTER -DPUSHES=2 -a; cc -O2 -DSAFETY -DCOLLAPSE; -m200000
// expect: errors: 0
// check: spin -DTHIEF=1 -DCALLER -DPUSHES=2 -a; cc -O2 -DSAFETY -DCOLLAPSE; -m200000
// expect: errors: 0
// check: spin -DTHIEF=1 -DNO_SWITCH -DBUG_STALE -a; cc -O2 -DSAFETY -DCOLLAPSE; -m200000
// expect: errors: 1
// check: spin -DABORTER -DCALLER -DBUG_FLAGS_FIRST -a; cc -O2 -DSAFETY -DCOLLAPSE; -m200000
// expect: errors: 1
// check: spin -DTHIEF=1 -DABORTER -DBUG_STORE -a; cc -O2 -DSAFETY -DCOLLAPSE; -m200000
// expect: errors: 1
// check: spin -DTHIEF=1 -DCALLER -DBUG_EXECUTE -a; cc -O2 -DSAFETY -DCOLLAPSE; -m200000
// expect: errors: 1
// check: spin -DCALLER -DBUG_ARRIVE -a; cc -O2 -DSAFETY -DCOLLAPSE; -m200000
// expect: errors: 1
// check: spin -DTHIEF=2 -DPUSHES=5 -DNO_SWITCH -DBUG_LIMIT_LOW -a; cc -O2 -DSAFETY -DCOLLAPSE; -m200000
// expect: errors: 1
// check: spin -DTHIEF=1 -DPUSHES=2 -DNO_SWITCH -DBUG_IGNORE -a; cc -O2 -DSAFETY -DCOLLAPSE; -m200000
// expect: errors: 1
// check: spin -DTHIEF=2 -DPUSHES=4 -DNO_SWITCH -DBUG_REMEMBER -a; cc -O2 -DSAFETY -DCOLLAPSE; -m200000
// expect: errors: 1
//
// What is modelled: one worker with two fibers. On fiber 0 it pushes and joins forks as it likes (choice
// point r is at position r), runs a task on top of a waiting join, and may switch to fiber 1, begin a task
// there, and come back. A thief is idle, asks, takes from the one slot. One thread aborts, another calls
// the worker home. Each access to a shared word is one step.
//
// The first fork of a root that is expected to be over at once may ignore its poll and its join: the limit
// stays raised.
//
// What must hold, at every poll that takes the fast path (`choice_point >= limit`):
//   a choice point that was split off is not joined;
//   no request is pending that was made completely;
// and where a choice point is split, the memory of the choice points below `known` (known_steps.hpp) is true:
// none was pushed there since. Any number of them is remembered, and forgotten.
//
// Each BUG_ takes one safeguard away:
//   BUG_STALE        the limit written at the begin of the slow path stays, though older choice points were split
//   BUG_FLAGS_FIRST  the slow path reads the flags before it writes the true limit
//   BUG_STORE        a limit that grew is written without keeping a request that came in between
//   BUG_EXECUTE      beginning a task overwrites the limit and does not look at the worker's flags
//   BUG_ARRIVE       a worker that changes fibers does not look at its flags
//   BUG_LIMIT_LOW    the limit does not cover what is remembered
//   BUG_IGNORE       a poll that is ignored writes the true limit
//   BUG_REMEMBER     the slow path does not forget what lies above the choice point that polls

#ifndef DEPTH
#define DEPTH 3       /* choice points that fit on fiber 0 */
#endif
#ifndef PUSHES
#define PUSHES 3      /* forks in all */
#endif
#ifndef THIEF
#define THIEF 0       /* times that a thief becomes idle_worker */
#endif
#define ALL 15        /* the limit that everything is below */

#define CHECK_ABORT 1
#define LEAVE 2

byte limit[2];        /* gate::limit */
byte current;         /* worker::current: the fiber it runs */
byte flags;           /* worker::flags */
bool publish_wanted;  /* of fiber 0 */
bool idle_worker;          /* worker_counts::searching != 0 */
byte slot;            /* of fiber 0: 0 empty, else choice point + 1 */

/* Abort: the word that is_concerned() reads, when it is raised everywhere, and what the owner has seen of it. */
bool aborted, abort_requested, abort_seen;
/* The call home: it was made completely; the owner has seen it. */
bool leave_requested, leave_seen;
/* The thief is done with asking, and nothing was published for it since. */
bool asked;

/* Owner only. */
byte clean[2];        /* fiber::clean_from */
byte oldest;          /* fiber::oldest, of fiber 0 */
bool split[DEPTH];    /* was_split(choice point) */
byte known;           /* known_steps::end() */
bool fresh[DEPTH];    /* pushed since it was looked at */
byte runs[DEPTH];     /* times that the second branch of this choice point was begun */

/* poll_limit::request_poll, from any thread. */
inline request_poll(s, seen) {
  seen = limit[s];
  if
  :: seen != ALL -> limit[s] = ALL           /* exchange; what it returns is not used */
  :: else
  fi;
  seen = 0
}

/* What must be true whenever the owner continues without the slow path. */
#define NOTHING_PENDING                                                                             \
  assert(!abort_requested || abort_seen);                                                              \
  assert(!leave_requested || leave_seen)

/* true_limit() */
#ifdef BUG_LIMIT_LOW
#define TRUE_LIMIT clean[s]
#else
#define TRUE_LIMIT (s == 0 && known > clean[0] -> known : clean[s])
#endif

/* look_for_abort() */
#define LOOK_FOR_ABORT abort_seen = aborted

#ifdef BUG_FLAGS_FIRST
#define WRITE_LIMIT_EARLY
#define WRITE_LIMIT_LATE limit[s] = TRUE_LIMIT
#else
#define WRITE_LIMIT_EARLY limit[s] = TRUE_LIMIT
#define WRITE_LIMIT_LATE
#endif

/* poll_slow(): `here` is the choice point that polls, `end` one past the youngest choice point with work. Fiber 1 has no choice points. */
inline poll_slow(s, here, end) {
  atomic {
    if :: oldest > here -> oldest = here :: else fi;
    if :: clean[s] > here -> clean[s] = here :: else fi;
#ifndef BUG_REMEMBER
    if                                             /* forget_from() */
    :: s == 0 && known > here -> if :: known = here :: known = 0 fi
    :: else
    fi;
#endif
    written = TRUE_LIMIT
  }
  WRITE_LIMIT_EARLY;
  do
  :: seen_flags = flags;
     if
     :: seen_flags & CHECK_ABORT -> flags = flags & ~CHECK_ABORT; LOOK_FOR_ABORT
     :: else
     fi;
     if
     :: seen_flags & LEAVE ->                /* hand_over(): continues, on whatever worker */
        atomic { leave_seen = true; flags = flags & ~LEAVE };
        LOOK_FOR_ABORT;
        WRITE_LIMIT_EARLY
     :: else -> break
     fi
  od;
  WRITE_LIMIT_LATE;
  /* publish_work() */
  more = false;
  wanted = false;
  if
  :: s == 0 ->
     if :: publish_wanted -> atomic { publish_wanted = false; wanted = true } :: else fi;
     if
     :: idle_worker || wanted ->
        if
        :: slot != 0 -> if :: more = true :: more = false fi       /* a young root looks again, another does not */
        :: slot == 0 && oldest < here -> more = idle_worker             /* the last backtrack found nothing, lately */
        :: slot == 0 ->
           /* split_oldest(): what is not open is passed now and later, what a guard refuses only now. */
           atomic {
             r = oldest;
             do :: r < end && split[r] -> r++ :: else -> break od;
             oldest = r;
             if :: clean[s] < oldest -> clean[s] = oldest :: else fi
           }
           do
           :: r < end && !split[r] -> break
           :: r < end -> r++                                       /* split already, or its guard refuses */
           :: r >= end -> break
           od;
           if
           :: r < end ->
              atomic {
                /* look_through(): what is known is true, the rest is looked at. */
                k = r;
                do
                :: k < known && k < here -> assert(!fresh[k]); k++
                :: else -> break
                od;
                if
                :: true ->                         /* deep enough to be remembered */
                   k = 0;
                   do :: k < here -> fresh[k] = false; k++ :: else -> break od;
                   known = here
                :: known = 0
                fi;
                k = 0;
                split[r] = true;
                if :: clean[s] < r + 1 -> clean[s] = r + 1 :: else fi
              }
              slot = r + 1;
              asked = false;
              if :: more = true :: more = false fi
           :: else -> more = idle_worker
           fi
        fi
     :: else
     fi
  :: else -> more = idle_worker
  fi;
  r = 0;
#ifdef BUG_STALE
  written = here;
#endif
  if
  :: more -> request_poll(s, seen)
  :: else ->
     if
     :: TRUE_LIMIT > written ->              /* restore_limit() */
#ifdef BUG_STORE
        limit[s] = TRUE_LIMIT
#else
        atomic { seen = limit[s]; limit[s] = TRUE_LIMIT };
        if :: seen == ALL -> limit[s] = ALL :: else fi;
        seen = 0
#endif
     :: else
     fi
  fi;
  atomic { more = false; wanted = false; seen_flags = 0; written = 0 }
}

/* The begin of execute(): a segment of its own above what is there. With other workers its first poll is slow,
   and the limit is raised without being written before; alone, it is written unless it is right (begin_limit). */
inline begin_segment(s, base) {
  if :: s == 0 -> known = 0 :: else fi;
  if
  :: request_poll(s, seen)
  :: atomic { limit[s] == TRUE_LIMIT -> skip }
  :: atomic { limit[s] != TRUE_LIMIT -> skip };
     limit[s] = TRUE_LIMIT
  fi;
  LOOK_FOR_ABORT;
#ifdef BUG_EXECUTE
  if :: idle_worker -> request_poll(s, seen) :: else fi
#else
  if :: idle_worker || flags != 0 || publish_wanted -> request_poll(s, seen) :: else fi
#endif
}

/* arrive(): the worker's fiber is s now. */
inline arrive(s) {
  atomic { current = s; asked = false };     /* searchers ask again, now and then */
#ifndef BUG_ARRIVE
  seen_flags = flags;
  if :: seen_flags != 0 -> request_poll(s, seen) :: else fi;
  seen_flags = 0
#endif
}

active proctype owner() {
  byte top = 0, base = 0, outer_oldest = 0, pushes = 0, seen = 0, seen_flags = 0, written = 0, r = 0, k = 0;
  bool more = false, wanted = false, on_top = false, visited = false, ignored = false;
  do
  :: pushes < PUSHES && top < DEPTH ->       /* a fork is entered */
     atomic { pushes++; split[top] = false; runs[top] = 0; fresh[top] = true };
     if
     :: atomic { top >= limit[0] -> NOTHING_PENDING; assert(!asked || !idle_worker || slot != 0) }
     :: atomic { top < limit[0] -> skip };
        if
        :: pushes == 1 && flags == 0 && !abort_seen -> ignored = true
#ifdef BUG_IGNORE
           ; limit[0] = clean[0]
#endif
        :: poll_slow(0, top, top + 1)
        fi
     fi;
     top++
  :: top > base ->                           /* its first branch has ended */
     if
     :: atomic { top - 1 >= limit[0] -> NOTHING_PENDING; assert(!asked || !idle_worker || slot != 0);
                 assert(!split[top - 1]); assert(runs[top - 1] == 0); top-- }
     :: atomic { top - 1 < limit[0] -> skip };
        if                                   /* join_child() */
        :: atomic { split[top - 1] && slot == top -> slot = 0; split[top - 1] = false };
           if :: skip :: poll_slow(0, top - 1, top - 1) fi;     /* reclaimed; polls slowly if an abort is pending */
           top--
        :: atomic { split[top - 1] && slot != top -> skip };
           poll_slow(0, top - 1, top - 1);
           if
           :: !on_top ->                     /* the thief has it; until then one of its descendants runs here */
              atomic { on_top = true; base = top; outer_oldest = oldest; oldest = top };
              begin_segment(0, top)
           :: top--                          /* the thief has it, and has completed it */
           fi
        :: ignored && top == 1 && !split[top - 1] && flags == 0 && !abort_seen ->   /* ignores_join() */
           ignored = false;
           top--
        :: !split[top - 1] ->
           poll_slow(0, top - 1, top - 1);
           top--
        fi
     fi
  :: on_top && top == base ->                /* the end of execute() */
     atomic { on_top = false; base = 0; oldest = outer_oldest; known = 0 };
     LOOK_FOR_ABORT;
     request_poll(0, seen);
     top--
#ifndef NO_SWITCH
  :: !visited && slot == 0 ->                /* fiber 0 is parked: its slots were emptied */
     visited = true;
     arrive(1);
     if
     :: begin_segment(1, 0)                  /* a task is begun there */
     :: skip
     fi;
     LOOK_FOR_ABORT;                         /* every wait ends with it */
     do
     :: if
        :: atomic { 0 >= limit[1] -> NOTHING_PENDING }
        :: atomic { 0 < limit[1] -> skip };
           poll_slow(1, 0, 0)
        fi
     :: break
     od;
     arrive(0);
     LOOK_FOR_ABORT
#endif
  :: pushes == PUSHES && top == 0 -> break
  od
}

#define HAS_ASKED asked = (victim == 0 && current == 0 && slot == 0)

#if THIEF > 0
/* find_work(): becomes a searcher, asks, takes. */
active proctype thief() {
  byte seen, s, victim, turns = THIEF;
  do
  :: turns > 0 ->
     turns--;
     idle_worker = true;
     victim = current;                       /* request_poll_all() */
     atomic { seen = limit[victim]; if :: seen == ALL -> HAS_ASKED :: else fi };
     if
     :: seen != ALL -> atomic { limit[victim] = ALL; HAS_ASKED }
     :: else
     fi;
     seen = 0;
     do
     :: atomic { slot != 0 -> s = slot };
        if
        :: atomic { slot == s -> slot = 0; runs[s - 1]++; asked = false };
           publish_wanted = true;
           request_poll(0, seen);
           break
        :: slot != s
        fi
     :: true -> break                        /* looks elsewhere */
     od;
     atomic { asked = false; idle_worker = false; s = 0; victim = 0 }
  :: turns == 0 -> break
  od
}

#endif

#ifdef ABORTER
/* complete() or cancel_scope(), then request_abort_checks(). */
active proctype aborter() {
  byte seen, s;
  aborted = true;
  flags = flags | CHECK_ABORT;
  s = current;
  request_poll(s, seen);
  abort_requested = true
}

#endif

#ifdef CALLER
/* complete() of a root: its thread must go home. */
active proctype caller() {
  byte seen, s;
  flags = flags | LEAVE;
  s = current;
  request_poll(s, seen);
  leave_requested = true
}
#endif
