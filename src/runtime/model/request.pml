// SPDX-License-Identifier: Apache-2.0
// The steal protocol `request`: a thief's request in its victim's box, the answer, and withdrawing.
//
// check: spin -a; cc -O2 -DSAFETY; -m200000
// expect: errors: 0
// check: spin -DBUG_CLOSE -a; cc -O2 -DSAFETY; -m200000
// expect: errors: 1
// check: spin -DBUG_TAKE -a; cc -O2 -DSAFETY; -m200000
// expect: errors: 1
// check: spin -DBUG_ARRIVE -a; cc -O2 -DSAFETY; -m200000
// expect: errors: 1
// check: spin -DBUG_EXECUTE -a; cc -O2 -DSAFETY; -m200000
// expect: errors: 1
//
// What is modelled: one victim with two fibers, and two thieves. The victim does tests, begins tasks,
// searches (its box is closed meanwhile), changes fibers, and leaves in the end. A thief asks, waits for the
// answer, or withdraws.
//
// What must hold:
//   no test takes the fast path while a request is in the box whose thief has finished raising;
//   each thief is answered once for each request that was not withdrawn, and gets each task that was given to
//   it; nobody waits for ever (an invalid end state).
//
// Each BUG_ takes one safeguard away:
//   BUG_CLOSE    the box is closed by a load and a store
//   BUG_TAKE     a request is taken by a load and a store
//   BUG_ARRIVE   a worker that changes fibers does not look into its box
//   BUG_EXECUTE  beginning a task overwrites the limit and does not look into the box

#define STEPS 4         /* of the victim */
#define ASKS 2          /* of each thief */
#define ALL 1           /* the limit that everything is below */
#define EMPTY 0         /* worker::box; else thief 1 or 2 */
#define CLOSED 9
#define NO_TASK 1       /* worker::reply; 0: none yet */
#define A_TASK 2

byte box = CLOSED;
byte limit[2];
byte current = 0;       /* the victim's fiber */
byte reply[3];
byte given[3], taken[3];  /* tasks, for each thief */
bool raised[3];         /* the thief has finished asking */

#define HAS_REQUEST (box != EMPTY && box != CLOSED)

inline request_poll(s) {
  if
  :: limit[s] != ALL -> limit[s] = ALL
  :: limit[s] == ALL
  fi
}

inline answer(t, what) {
  atomic {
    assert(reply[t] == 0);
    reply[t] = what;
    if :: what == A_TASK -> given[t]++ :: else fi
  }
}

inline close_box() {
#ifdef BUG_CLOSE
  thief = box;
  box = CLOSED;
#else
  atomic { thief = box; box = CLOSED };
#endif
  if :: thief != EMPTY && thief != CLOSED -> answer(thief, NO_TASK) :: else fi;
  thief = 0
}

/* take_request(): `thief`, or EMPTY. */
inline take_request() {
  if
  :: HAS_REQUEST ->
     thief = box;
     do
     :: thief == EMPTY -> break
#ifdef BUG_TAKE
     :: thief != EMPTY -> box = EMPTY; break
#else
     :: thief != EMPTY ->
        if
        :: atomic { box == thief -> box = EMPTY }; break
        :: atomic { box != thief -> thief = box }
        fi
#endif
     od
  :: else
  fi
}

active proctype victim() {
  byte thief = 0, s = 0, steps = STEPS;
  box = EMPTY;
  do
  :: steps > 0 -> steps--;
     if
     :: atomic { limit[s] == 0 -> assert(!HAS_REQUEST || !raised[box]) }     /* a fast test */
     :: limit[s] == ALL ->                                                  /* poll_slow() */
        limit[s] = 0;
        take_request();
        if
        :: thief != EMPTY ->
           if :: answer(thief, A_TASK) :: answer(thief, NO_TASK) fi
        :: else
        fi;
        thief = 0
     :: limit[s] = 0;                                                       /* execute() */
#ifndef BUG_EXECUTE
        if :: HAS_REQUEST -> request_poll(s) :: else fi
#endif
     :: close_box();                                                        /* find_work() */
        box = EMPTY
     :: atomic { s = 1 - s; current = s };                                  /* arrive() */
#ifndef BUG_ARRIVE
        if :: HAS_REQUEST -> request_poll(s) :: else fi
#endif
     fi
  :: steps == 0 -> break
  od;
  close_box()
}

proctype thief_thread(byte me) {
  byte asks = ASKS, c;
  do
  :: asks == 0 -> break
  :: asks > 0 && box != EMPTY -> asks--      /* asks somebody else */
  :: atomic { asks > 0 && box == EMPTY -> asks--; box = me };
     c = current;
     request_poll(c);
     raised[me] = true;
     if
     :: reply[me] != 0                       /* poll() */
     :: atomic { box == me -> box = EMPTY; raised[me] = false }; goto withdrawn
     :: box != me -> reply[me] != 0          /* withdraw() came too late: the answer is on its way */
     fi;
     atomic {
       raised[me] = false;
       if :: reply[me] == A_TASK -> taken[me]++ :: else fi;
       reply[me] = 0
     };
withdrawn:
     c = 0
  od;
  assert(reply[me] == 0);
  assert(given[me] == taken[me])
}

init { atomic { run thief_thread(1); run thief_thread(2) } }
