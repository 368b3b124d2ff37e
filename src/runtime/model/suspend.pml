// SPDX-License-Identifier: Apache-2.0
// Suspending and resuming: how the fiber, the thread that resumes it, and helpers use the word
// fiber::suspension.
//
// check: spin -a; cc -O2 -DSAFETY; -m200000
// expect: errors: 0
// check: spin -DBUG_SWITCH -a; cc -O2 -DSAFETY; -m200000
// expect: errors: 1
// check: spin -DBUG_SPLITTING -a; cc -O2 -DSAFETY; -m200000
// expect: errors: 1
// check: spin -DBUG_UNPARK -a; cc -O2 -DSAFETY; -m200000
// expect: errors: 1
// check: spin -DBUG_NUMBER -a; cc -O2 -DSAFETY; -m200000
// expect: errors: 1
// check: spin -DBUG_LIST -a; cc -O2 -DSAFETY; -m200000
// expect: errors: 1
//
// check: spin -DCANCEL -a; cc -O2 -DSAFETY; -m200000
// expect: errors: 0
// check: spin -DCANCEL -DBUG_LIST_LATE -a; cc -O2 -DSAFETY; -m200000
// expect: errors: 1
// check: spin -DCANCEL -DWORK=0 -a; cc -O2 -DSAFETY; -m200000
// expect: errors: 0
// check: spin -DCANCEL -DWORK=0 -DBUG_CHECK_EARLY -a; cc -O2 -DSAFETY; -m200000
// expect: errors: 1
// check: spin -DCANCEL -DBUG_ONE_LOOK -a; cc -O2 -DSAFETY; -m200000
// expect: errors: 1
// check: spin -DCANCEL -DBUG_HELPER -a; cc -O2 -DSAFETY; -m200000
// expect: errors: 1
// check: spin -DCANCEL -DBUG_NOT_HELD -a; cc -O2 -DSAFETY; -m200000
// expect: errors: 1
//
// What is modelled: fiber S suspends twice, each time away from its worker (the worker switches away from it)
// or in place (S is thread-bound, or no other fiber is available). Two threads try to resume each suspension:
// one succeeds, the other gets an error. S leaves work that helpers may split off. Two workers' threads do
// what follows a switch, continue S when it is ready, and help.
//
// With -DCANCEL one suspension has an action for its cancellation. A thread aborts S at any time. The event
// that S waits for may never come once the abort was written. Either the event's thread or the action takes
// the event and resumes S.
//
// What must hold:
//   S continues exactly once after each suspension, and not before the switch away from it is complete;
//   no helper splits a fiber that runs, and no two helpers split a fiber at a time;
//   exactly one of the threads that try resumes each suspension; everything ends.
//
// Each BUG_ macro removes one safeguard:
//   BUG_SWITCH       a thread that resumes a fiber during the switch away from it makes it ready at once
//   BUG_SPLITTING    a thread that resumes a fiber with a helper makes it ready at once
//   BUG_UNPARK       a worker that waits in place is not unparked
//   BUG_NUMBER       the thread that resumes does not check the number of the suspension
//   BUG_LIST         a helper takes a fiber from the list without the CAS suspended → splitting
//   BUG_LIST_LATE    the fiber checks for an abort before it is listed
//   BUG_CHECK_EARLY  the worker checks `cancel_check` before the fiber is suspended
//   BUG_ONE_LOOK     the aborting thread does not check the stage again after it has set `cancel_check`
//   BUG_HELPER       the aborting thread skips a fiber that a helper holds
//   BUG_NOT_HELD     the action is called while the fiber may run

#ifndef WORK
#define WORK 2
#endif
#ifdef CANCEL
#define SUSPENSIONS 1
#else
#define SUSPENSIONS 2
#endif
mtype = { running, suspending, suspended, splitting, splitting_and_resumed };
mtype stage = running;
byte number = 0;              /* stage and number are one word */

bool s_runs = true;           /* S runs, on any worker */
bool must_follow;             /* a worker has left S and must do after_suspend() */
bool in_place, unparked;          /* S waits in place; its worker's wake epoch */
byte helping = 0;           /* helpers at work on S */
byte handed = 0;              /* number of the suspension whose resumer was published last */
byte ready = 0, listed = 0; /* how often S is in the ready queue, in the list of splittable fibers */
byte work_left = WORK;        /* choice points of S that could be split off */
byte successes[SUSPENSIONS + 1];
bool finished;

/* Cancellation of suspension 1: */
bool aborted;                 /* the word that is_concerned() reads */
bool is_listed;               /* in cancellable_suspensions */
bool cancel_check;            /* fiber::cancel_check */
bool cancel_called;           /* fiber::cancel_called */
bool taken;                   /* the event has been taken */
bool holding;                 /* the lock of the list is held */

#define CAS(n, from, to) atomic { number == n && stage == from -> stage = to }

#ifdef BUG_NUMBER
#define IS_OLD false
#else
#define IS_OLD (seen_number != n)
#endif

#define CAN_HOLD (stage == suspended)
/* The action, called by the worker that holds S: takes the event and resumes S, unless the event's thread has taken it. */
inline action() {
  atomic { assert(!cancel_called); cancel_called = true };
#ifndef BUG_NOT_HELD
  atomic { assert(!s_runs || in_place) };
#endif
  if
  :: atomic { !taken -> taken = true };
     atomic {                                   /* resume_fiber() */
       assert(stage != running && stage != splitting_and_resumed);
       successes[1]++;
       if
       :: stage == splitting -> stage = splitting_and_resumed
       :: stage == suspending -> stage = running; unparked = true
       :: stage == suspended -> stage = running; ready++
       fi
     }
  :: taken
  fi;
  atomic { assert(!finished) }                  /* then what the action captured no longer exists */
}
/* hold_if_concerned(): under the lock of the list. */
inline hold_if_concerned() {
  held = false;
  if
#ifdef BUG_NOT_HELD
  :: atomic { stage == suspended && aborted && !cancel_called -> held = true }
#else
  :: atomic { stage == suspended && aborted && !cancel_called -> stage = splitting; held = true }
#endif
  :: stage != suspended || !aborted || cancel_called
  fi
}
inline call_held() {
  if
  :: held ->
     action();
#ifndef BUG_NOT_HELD
     if                                         /* let_go_suspended() */
     :: atomic { stage == splitting -> stage = suspended }
     :: stage != splitting -> assert(stage == splitting_and_resumed); stage = running; ready++
     fi;
#endif
     held = false
  :: else
  fi
}
#define LOCK atomic { !holding -> holding = true }
#define UNLOCK holding = false

#ifdef CANCEL
/* lower_abort(), then cancel_those_concerned(). */
active proctype aborter() {
  bool held;
  aborted = true;
  if
  :: !is_listed -> goto over                    /* count_ is 0 */
  :: else
  fi;
  LOCK;
  if
  :: is_listed ->
     hold_if_concerned();
     if
#ifdef BUG_HELPER
     :: !held && stage == suspending ->
#else
     :: !held ->
#endif
        cancel_check = true;
#ifndef BUG_ONE_LOOK
        hold_if_concerned();
#endif
        if :: !held -> unparked = true :: else fi
     :: else
     fi
  :: else
  fi;
  UNLOCK;
  call_held();
over:
  skip
}

/* The thread that waits for the event, which may never come. */
active proctype event() {
end_not_begun:
  handed >= 1;
  if
  :: atomic { !taken -> taken = true };
     do
     :: atomic { stage == suspending -> stage = running; successes[1]++; unparked = true }; break
     :: atomic { stage == suspended -> stage = running; successes[1]++; ready++ }; break
     :: atomic { stage == splitting -> stage = splitting_and_resumed; successes[1]++ }; break
     od
  :: aborted
  fi
}
#endif

active proctype fiber() {
  byte n = 1;
  do
  :: n <= SUSPENSIONS ->
#ifdef CANCEL
#ifdef BUG_LIST_LATE
     if :: aborted -> break :: else fi;
     LOCK; is_listed = true; UNLOCK;
#else
     LOCK; is_listed = true; UNLOCK;
     if :: aborted -> LOCK; is_listed = false; UNLOCK; break :: else fi;
#endif
#endif
     atomic { stage = suspending; number = n };
     handed = n;              /* the user's function runs; the resumer may be called from here on */
     if
     :: atomic { in_place = true };
        do
        :: unparked = false;      /* wait_in_place(): reads the wake epoch */
#ifdef CANCEL
           if
           :: cancel_check ->
              cancel_check = false;
              if :: !cancel_called -> action() :: else fi
           :: else
           fi;
#endif
           if
           :: number == n && stage == running -> break
           :: else -> unparked
           fi
        od;
        atomic { in_place = false; assert(helping == 0) }
     :: atomic { s_runs = false; must_follow = true };
        s_runs                /* a worker continues S */
     fi;
     assert(stage == running && number == n && successes[n] == 1);
#ifdef CANCEL
     LOCK; is_listed = false; UNLOCK;
#endif
     n++
  :: n > SUSPENSIONS -> break
  od;
  finished = true
}

/* resume_fiber() of suspension n. */
proctype resumer(byte n) {
  mtype seen;
  byte seen_number;
  handed >= n;
  do
  :: atomic { seen = stage; seen_number = number };
     if
     :: seen == running || seen == splitting_and_resumed || IS_OLD ->
        assert(successes[n] == 1); break          /* usage_error: resumed twice */
     :: else ->
        if
        :: atomic {
             stage == seen && number == seen_number ->
             if :: seen == splitting -> stage = splitting_and_resumed :: else -> stage = running fi;
             successes[n]++;
             assert(successes[n] == 1)
           };
           if
           :: seen == suspended -> ready++
#ifdef BUG_SWITCH
           :: seen == suspending -> ready++
#else
#ifndef BUG_UNPARK
           :: seen == suspending -> unparked = true
#endif
#endif
#ifdef BUG_SPLITTING
           :: seen == splitting -> ready++
#endif
           :: else
           fi;
           break
        :: stage != seen || number != seen_number
        fi
     fi
  od
}

proctype worker() {
  mtype seen;
  byte seen_number;
  bool more, leaves_work, held;
  do
  :: atomic { must_follow -> must_follow = false };
     /* after_suspend() */
     atomic { assert(!s_runs); leaves_work = (work_left > 0); seen_number = number };
#ifdef BUG_CHECK_EARLY
     more = cancel_check;
#endif
     if
     :: CAS(seen_number, suspending, suspended);
        if :: leaves_work -> listed++ :: else fi;
#ifdef CANCEL
        if
#ifdef BUG_CHECK_EARLY
        :: more ->
#else
        :: cancel_check ->
#endif
           LOCK;                             /* cancel_if_concerned() */
           if :: is_listed -> hold_if_concerned() :: else fi;
           UNLOCK;
           call_held()
        :: else
        fi;
        more = false
#endif
     :: stage != suspending -> assert(stage == running); ready++
     fi;
     atomic { leaves_work = false; seen_number = 0 }
  :: atomic { ready > 0 -> ready-- };
     atomic { assert(!s_runs && !must_follow && helping == 0 && !in_place); s_runs = true }
  :: atomic { listed > 0 -> listed-- };
     /* split_one(): the entry may belong to an earlier suspension. */
     atomic { seen = stage; seen_number = number };
     if
#ifdef BUG_LIST
     :: true -> stage = splitting;
#else
     :: atomic { seen == suspended && stage == suspended && number == seen_number -> stage = splitting };
#endif
        atomic { assert(!s_runs && helping == 0); helping++ };
        if :: work_left > 0 -> work_left-- :: else fi;
        more = (work_left > 0);
        helping--;
        if
        :: CAS(seen_number, splitting, suspended);
           if :: more -> listed++ :: else fi;
#ifdef CANCEL
           if
           :: cancel_check ->
              LOCK;
              if :: is_listed -> hold_if_concerned() :: else fi;
              UNLOCK;
              call_held()
           :: else
           fi
#endif
        :: stage != splitting ->
           assert(stage == splitting_and_resumed);
           stage = running;
           ready++
        fi
     :: seen != suspended || stage != suspended || number != seen_number
     fi;
     atomic { seen = running; seen_number = 0; more = false }
  :: finished && ready == 0 && listed == 0 -> break
  od
}

init {
  atomic {
#ifndef CANCEL
    run resumer(1); run resumer(1); run resumer(2); run resumer(2);
#endif
    run worker(); run worker()
  }
}
