// SPDX-License-Identifier: Apache-2.0
// The poll limit of a fiber: the owner's two polls, its slow path, and every thread that requests a poll.
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
// What is modelled: one worker with two fibers. On fiber 0 it pushes and joins forks in any order (choice
// point r is at position r), runs a task on top of a waiting join, and may switch to fiber 1, begin a task
// there, and come back. A thief is idle, requests polls, and takes from the one slot. One thread aborts,
// another calls the worker home. Each access to a shared word is one step.
//
// The first fork of a root that is expected to end at once may ignore its poll and its join: the limit stays
// raised.
//
// What must hold, at every poll that takes the fast path (`choice_point >= limit`):
//   a choice point that was split off is not joined;
//   no request is pending that was made completely.
// Where a choice point is split, what is remembered of the choice points below `known` (known_steps.hpp) is
// true: no choice point was pushed there since. The owner remembers and forgets any number of them.
//
// Each BUG_ macro removes one safeguard:
//   BUG_STALE        the limit written at the begin of the slow path stays, though older choice points were split
//   BUG_FLAGS_FIRST  the slow path reads the flags before it writes the true limit
//   BUG_STORE        the slow path writes a limit that grew without keeping a request that came in between
//   BUG_EXECUTE      the begin of a task overwrites the limit without checking the worker's flags
//   BUG_ARRIVE       a worker that changes fibers does not check its flags
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
#define THIEF 0       /* how often a thief sets idle_worker */
#endif
#define ALL 15        /* a limit above every choice point */

#define CHECK_ABORT 1
#define LEAVE 2

byte limit[2];        /* gate::limit */
byte current;         /* worker::current: the fiber that the worker runs */
byte flags;           /* worker::flags */
bool publish_wanted;  /* of fiber 0 */
bool idle_worker;          /* worker_counts::searching != 0 */
byte slot;            /* of fiber 0: 0 empty, else choice point + 1 */

/* Abort: the word that is_concerned() reads; the abort was announced everywhere; the owner has noticed it. */
bool aborted, abort_requested, abort_seen;
/* The call home: it was made completely; the owner has noticed it. */
bool leave_requested, leave_seen;
/* The thief has finished its request, and nothing was published for it since. */
bool asked;

/* The owner alone accesses these. */
byte clean[2];        /* fiber::clean_from */
byte oldest;          /* fiber::oldest, of fiber 0 */
bool split[DEPTH];    /* was_split(choice point) */
byte known;           /* known_steps::end() */
bool fresh[DEPTH];    /* pushed since the owner looked at it */
byte runs[DEPTH];     /* times that the second branch of this choice point was begun */

/* poll_limit::request_poll, from any thread. */
inline request_poll(s, seen) {
  seen = limit[s];
  if
  :: seen != ALL -> limit[s] = ALL           /* exchange, whose result is not used */
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

/* poll_slow(): `here` is the choice point that polls, `end` one past the youngest choice point with work. Fiber 1 has
   no choice points. */
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
     :: seen_flags & LEAVE ->                /* hand_over(): the fiber continues, on any worker */
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
        :: slot != 0 -> if :: more = true :: more = false fi       /* a young root polls slowly again, others do not */
        :: slot == 0 && oldest < here -> more = idle_worker             /* the last backtracking found nothing */
        :: slot == 0 ->
           /* split_oldest(): choice points that are not open are skipped now and later; those that a guard refuses, only
              now. */
           atomic {
             r = oldest;
             do :: r < end && split[r] -> r++ :: else -> break od;
             oldest = r;
             if :: clean[s] < oldest -> clean[s] = oldest :: else fi
           }
           do
           :: r < end && !split[r] -> break
           :: r < end -> r++                                       /* already split, or its guard refuses */
           :: r >= end -> break
           od;
           if
           :: r < end ->
              atomic {
                /* look_through(): what is remembered is true; the owner looks at the rest. */
                k = r;
                do
                :: k < known && k < here -> assert(!fresh[k]); k++
                :: else -> break
                od;
                if
                :: true ->                         /* deep enough for the owner to remember it */
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

/* The begin of execute(): a new segment above what is there. With other workers the segment's first poll is slow: the
   limit is raised and not written before. Alone, the worker writes the limit unless it is right (begin_limit). */
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

/* arrive(): the worker runs fiber s from here on. */
inline arrive(s) {
  atomic { current = s; asked = false };     /* searchers request polls again from time to time */
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
  :: pushes < PUSHES && top < DEPTH ->       /* fiber 0 enters a fork */
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
  :: top > base ->                           /* the first branch has ended */
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
           :: !on_top ->                     /* the thief has the task; until it ends, a descendant of it runs here */
              atomic { on_top = true; base = top; outer_oldest = oldest; oldest = top };
              begin_segment(0, top)
           :: top--                          /* the thief has completed the task */
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
     :: begin_segment(1, 0)                  /* fiber 1 begins a task */
     :: skip
     fi;
     LOOK_FOR_ABORT;                         /* every wait ends with this check */
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
/* find_work(): the thief begins to search, requests polls, and takes a task. */
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
     :: true -> break                        /* the thief searches elsewhere */
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
/* complete() of a root, whose thread must go home. */
active proctype caller() {
  byte seen, s;
  flags = flags | LEAVE;
  s = current;
  request_poll(s, seen);
  leave_requested = true
}
#endif
