// SPDX-License-Identifier: Apache-2.0
// Suspending and resuming: the word fiber::suspension between the fiber, whoever resumes it, and helpers.
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
// What is modelled: fiber S suspends twice, each time elsewhere (it is switched away from) or in place
// (thread-bound, or no fiber to be had). Two threads try to resume each suspension: one succeeds, the other gets an
// error. S leaves work that helpers may split off. Two workers' threads do what follows a switch, continue
// with S when it is ready, and help.
//
// What must hold:
//   S continues exactly once after each suspension, and not before the switch away from it is complete;
//   nobody splits a fiber that runs, nor do two at a time;
//   each suspension is resumed by exactly one of those that try; everything ends.
//
// Each BUG_ takes one safeguard away:
//   BUG_SWITCH    whoever resumes a fiber that is being switched away from makes it ready at once
//   BUG_SPLITTING  whoever resumes a fiber with a helper makes it ready at once
//   BUG_UNPARK      a worker that waits in place is not unparked
//   BUG_NUMBER    the number of the suspension is not looked at
//   BUG_LIST      a helper takes a fiber from the list without the CAS suspended → splitting

#define SUSPENSIONS 2
mtype = { running, suspending, suspended, splitting, splitting_and_resumed };
mtype stage = running;
byte number = 0;              /* stage and number are one word */

bool s_runs = true;           /* S runs, on whatever worker */
bool must_follow;             /* a worker has left S and must do after_suspend() */
bool in_place, unparked;          /* S waits in place; its worker's wake epoch */
byte helping = 0;           /* helpers at work on S */
byte handed = 0;              /* number of the suspension whose resumer was handed out last */
byte ready = 0, listed = 0; /* how often S lies in the ready queue, in the list of splittable fibers */
byte work_left = 2;           /* choice points of S that could be split off */
byte successes[SUSPENSIONS + 1];
bool finished;

#define CAS(n, from, to) atomic { number == n && stage == from -> stage = to }

#ifdef BUG_NUMBER
#define IS_OLD false
#else
#define IS_OLD (seen_number != n)
#endif

active proctype fiber() {
  byte n = 1;
  do
  :: n <= SUSPENSIONS ->
     atomic { stage = suspending; number = n };
     handed = n;              /* the user's function runs; the resumer may be called from here on */
     if
     :: atomic { in_place = true };
        do
        :: unparked = false;      /* wait_in_place(): reads the wake epoch */
           if
           :: number == n && stage == running -> break
           :: else -> unparked
           fi
        od;
        atomic { in_place = false; assert(helping == 0) }
     :: atomic { s_runs = false; must_follow = true };
        s_runs                /* somebody continues with S */
     fi;
     assert(stage == running && number == n && successes[n] == 1);
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
  bool more, leaves_work;
  do
  :: atomic { must_follow -> must_follow = false };
     /* after_suspend() */
     atomic { assert(!s_runs); leaves_work = (work_left > 0); seen_number = number };
     if
     :: CAS(seen_number, suspending, suspended);
        if :: leaves_work -> listed++ :: else fi
     :: stage != suspending -> assert(stage == running); ready++
     fi;
     atomic { leaves_work = false; seen_number = 0 }
  :: atomic { ready > 0 -> ready-- };
     atomic { assert(!s_runs && !must_follow && helping == 0 && !in_place); s_runs = true }
  :: atomic { listed > 0 -> listed-- };
     /* split_one(): the entry may be an old one. */
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
           if :: more -> listed++ :: else fi
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
    run resumer(1); run resumer(1); run resumer(2); run resumer(2);
    run worker(); run worker()
  }
}
