// SPDX-License-Identifier: Apache-2.0
// The steal protocol `request`: a thief's request in its victim's mailbox, the victim's reply, and
// withdrawing the request.
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
// What is modelled: one victim with two fibers, and two thieves. The victim polls, begins tasks, searches
// (with its mailbox closed), changes fibers, and leaves in the end. A thief sends a request, then waits for
// the reply or withdraws. A thief may skip a victim that it could ask: in the protocol `indolent` the clock
// decides that, here it is a free choice.
//
// What must hold:
//   no poll takes the fast path while a request is in the mailbox whose thief has finished its request to poll;
//   each thief gets one reply for each request that was not withdrawn, and gets each task that was given to it;
//   no worker waits for ever (an invalid end state).
//
// Each BUG_ macro removes one safeguard:
//   BUG_CLOSE    the mailbox is closed by a load and a store
//   BUG_TAKE     a request is taken by a load and a store
//   BUG_ARRIVE   a worker that changes fibers does not check its mailbox
//   BUG_EXECUTE  the begin of a task overwrites the limit without checking the mailbox

#define STEPS 4         /* of the victim */
#define ASKS 2          /* of each thief */
#define ALL 1           /* a limit above every choice point */
#define EMPTY 0         /* worker::mailbox; otherwise thief 1 or 2 */
#define CLOSED 9
#define NO_TASK 1       /* worker::reply; 0: none yet */
#define A_TASK 2

byte mailbox = CLOSED;
byte limit[2];
byte current = 0;       /* the victim's fiber */
byte reply[3];
byte given[3], taken[3];  /* tasks, for each thief */
bool requested[3];         /* the thief has finished its request to poll */

#define HAS_REQUEST (mailbox != EMPTY && mailbox != CLOSED)

inline request_poll(s) {
  if
  :: limit[s] != ALL -> limit[s] = ALL
  :: limit[s] == ALL
  fi
}

inline reply_to_thief(t, answer) {
  atomic {
    assert(reply[t] == 0);
    reply[t] = answer;
    if :: answer == A_TASK -> given[t]++ :: else fi
  }
}

inline close_mailbox() {
#ifdef BUG_CLOSE
  thief = mailbox;
  mailbox = CLOSED;
#else
  atomic { thief = mailbox; mailbox = CLOSED };
#endif
  if :: thief != EMPTY && thief != CLOSED -> reply_to_thief(thief, NO_TASK) :: else fi;
  thief = 0
}

/* take(): `thief`, or EMPTY. */
inline take() {
  if
  :: HAS_REQUEST ->
     thief = mailbox;
     do
     :: thief == EMPTY -> break
#ifdef BUG_TAKE
     :: thief != EMPTY -> mailbox = EMPTY; break
#else
     :: thief != EMPTY ->
        if
        :: atomic { mailbox == thief -> mailbox = EMPTY }; break
        :: atomic { mailbox != thief -> thief = mailbox }
        fi
#endif
     od
  :: else
  fi
}

active proctype victim() {
  byte thief = 0, s = 0, steps = STEPS;
  mailbox = EMPTY;
  do
  :: steps > 0 -> steps--;
     if
     :: atomic { limit[s] == 0 -> assert(!HAS_REQUEST || !requested[mailbox]) }     /* a fast poll */
     :: limit[s] == ALL ->                                                  /* poll_slow() */
        limit[s] = 0;
        take();
        if
        :: thief != EMPTY ->
           if :: reply_to_thief(thief, A_TASK) :: reply_to_thief(thief, NO_TASK) fi
        :: else
        fi;
        thief = 0
     :: limit[s] = 0;                                                       /* execute() */
#ifndef BUG_EXECUTE
        if :: HAS_REQUEST -> request_poll(s) :: else fi
#endif
     :: close_mailbox();                                                        /* find_work() */
        mailbox = EMPTY
     :: atomic { s = 1 - s; current = s };                                  /* arrive() */
#ifndef BUG_ARRIVE
        if :: HAS_REQUEST -> request_poll(s) :: else fi
#endif
     fi
  :: steps == 0 -> break
  od;
  close_mailbox()
}

proctype thief_thread(byte me) {
  byte asks = ASKS, c;
  do
  :: asks == 0 -> break
  :: asks > 0 -> asks--      /* the thief asks another victim, or none yet */
  :: atomic { asks > 0 && mailbox == EMPTY -> asks--; mailbox = me };
     c = current;
     request_poll(c);
     requested[me] = true;
     if
     :: reply[me] != 0                       /* poll() */
     :: atomic { mailbox == me -> mailbox = EMPTY; requested[me] = false }; goto withdrawn
     :: mailbox != me -> reply[me] != 0          /* withdraw() came too late: the reply will come */
     fi;
     atomic {
       requested[me] = false;
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
