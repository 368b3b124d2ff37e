// SPDX-License-Identifier: Apache-2.0
// A steal reply that races with the result which the thief's own fiber waits for, while the thief sleeps.
//
// check: spin -a; cc -O2 -DSAFETY; -m200000
// expect: errors: 0
// check: spin -DASKS=3 -a; cc -O2 -DSAFETY; -m200000
// expect: errors: 0
// check: spin -DBUG_WANTED -a; cc -O2 -DSAFETY; -m200000
// expect: errors: 1
// check: spin -DBUG_EPOCH -a; cc -O2 -DSAFETY; -m200000
// expect: errors: 1
// check: spin -DBUG_WITHDRAW -a; cc -O2 -DSAFETY; -m200000
// expect: errors: 1
// check: spin -DBUG_WITHDRAW_EPOCH -a; cc -O2 -DSAFETY; -m200000
// expect: errors: 1
// check: spin -DBUG_REGISTER -a; cc -O2 -DSAFETY; -m200000
// expect: errors: 1
// check: spin -DBUG_UNPARK_FIRST -a; cc -O2 -DSAFETY; -m200000
// expect: errors: 1
// check: spin -DBUG_BOTH -a; cc -O2 -DSAFETY; -m200000
// expect: errors: 1
//
// What is modelled: the thief, a worker whose fiber S waits for task A, and the victim, a worker that runs A.
// The thief searches (search in steal/find_work.cpp): it sends the victim a request, registers for A's end,
// searches once more, and sleeps. It has one wake epoch for both events, and no time-out: the thief is
// parked, not the sentinel. The victim polls, replies with a task or with none, ends A at any time, then
// continues S if S was parked, and closes its mailbox in the end. The thief runs a task that it gets on top
// of S, or on another fiber; for that it parks S, and searches on without a fiber that waits. It makes up to
// ASKS requests, and may find one task elsewhere while its request is pending. What the victim gives may have
// been split off from A, which then cannot end before that task was run. When S has ended, an idle thief is
// unparked because the runtime is closed.
//
// request.pml models the mailbox alone, with two thieves and changes of fibers; join.pml models the end of A
// alone.
//
// What must hold: S continues once after A has ended, on one worker; each task that was given is run once; no
// reply is left over for the next request; everything ends.
//
// Each BUG_ macro removes one safeguard:
//   BUG_WANTED          a parked worker that is unparked does not check for a reply
//   BUG_EPOCH           the wake epoch is read after the last search
//   BUG_WITHDRAW        a thief that cannot withdraw its request does not wait for the reply
//   BUG_WITHDRAW_EPOCH  … or reads the wake epoch after it checked for the reply
//   BUG_REGISTER        the thief registers for A's end after its last search
//   BUG_UNPARK_FIRST    the victim unparks the thief before it stores the reply
//   BUG_BOTH            a task that comes with the withdrawal is dropped because A has ended

#ifndef ASKS
#define ASKS 2
#endif

/* The victim's mailbox: */
#define EMPTY 0
#define THIEF 1
#define CLOSED 2
byte mailbox = EMPTY;
/* worker::reply of the thief: */
#define NO_TASK 1
#define A_TASK 2
byte reply = 0;
byte given = 0, ran = 0;
byte elsewhere = 1;     /* tasks in the injector queue */
/* task::joining of A: */
#define DONE 1
#define SLEEPER 2
#define PARKED 3
byte joining = 0;
bool advanced;          /* the thief's wake epoch differs from what it read last */
bool s_ready;           /* S is in the injector queue */
bool s_ended;           /* S has ended, and so has its entry: the runtime is closed */
byte s_on = THIEF;      /* the worker that has S: the thief, the victim, or none */
#define VICTIM 2
#define NOWHERE 0

inline continue_s(w) {
  atomic {
    assert(s_on == NOWHERE && joining == DONE && !s_ended);
    s_on = w
  }
}
inline end_s() {
  atomic { assert(s_on != NOWHERE && joining == DONE && !s_ended); s_ended = true; advanced = true }
}

inline reply_to_thief(answer) {
#ifdef BUG_UNPARK_FIRST
  advanced = true;
#endif
  atomic {
    assert(reply == 0);
    if :: answer == A_TASK -> given++ :: else fi;
    reply = answer
  };
#ifndef BUG_UNPARK_FIRST
  advanced = true
#endif
}

proctype victim() {
  byte waiter = 0;
  bool runs_a = true, gives_of_a;
  if :: gives_of_a = true :: gives_of_a = false fi;
  do
  :: atomic { mailbox == THIEF -> mailbox = EMPTY };        /* a poll */
     if :: reply_to_thief(A_TASK) :: reply_to_thief(NO_TASK) fi
  :: runs_a && (!gives_of_a || given == ran) ->             /* complete() */
     runs_a = false;
     atomic { waiter = joining; joining = DONE };
     if
     :: waiter == SLEEPER -> advanced = true
     :: waiter == PARKED -> continue_s(VICTIM)
     :: else
     fi
  :: s_on == VICTIM && !s_ended -> end_s()
  :: !runs_a && (s_on != VICTIM || s_ended) -> break
  od;
  atomic { waiter = mailbox; mailbox = CLOSED };            /* close_mailbox() */
  if :: waiter == THIEF -> reply_to_thief(NO_TASK) :: else fi
}

#define AWAITS (s_on == THIEF)          /* only the thief itself changes that while it searches for S */
#define IS_CALLED ((awaits && joining == DONE) || (!awaits && s_ended))

/* steal_request::poll() and, without a fiber that waits, the injector queue. */
inline look() {
  if
  :: atomic { !awaits && s_ready -> s_ready = false; got_s = true }
  :: atomic { elsewhere > 0 -> elsewhere--; given++; got = true }
  :: awaits || !s_ready ->           /* the task elsewhere may come later */
     if
     :: pending && reply != 0 ->
        atomic { pending = false; got = (reply == A_TASK); reply = 0 }
     :: else
     fi;
     if
     :: atomic { !got && !pending && asks > 0 && mailbox == EMPTY -> mailbox = THIEF }; pending = true; asks--
     :: else
     fi
  fi
}

inline register_at() {
  if
  :: awaits ->
     atomic { if :: joining == 0 -> joining = SLEEPER :: else fi }
  :: else
  fi
}

/* parking::sleep_until_called_up() */
inline park() {
  do
  :: IS_CALLED -> break
#ifndef BUG_WANTED
  :: reply != 0 -> break
#endif
  :: !awaits && s_ready -> break       /* the sentinel finds it and calls this worker up */
  :: else -> advanced; advanced = false
  od
}

proctype thief() {
  byte asks = ASKS;
  bool pending, got, got_s, awaits = true;
searching:
  do
  :: IS_CALLED -> break
  :: else ->
#ifndef BUG_EPOCH
     advanced = false;
#endif
     look();
     if :: got || got_s -> break :: else fi;
#ifdef BUG_REGISTER
     look();
     if :: got || got_s || IS_CALLED -> break :: else fi;
     register_at();
#else
     register_at();
     look();
     if :: got || got_s || IS_CALLED -> break :: else fi;
#endif
#ifdef BUG_EPOCH
     advanced = false;
#endif
     /* Before the thief sleeps on its epoch it checks whether it was called; it read the epoch before that. */
#ifdef BUG_REGISTER
     advanced; advanced = false
#else
     if
     :: true -> park()
     :: true -> advanced        /* as the sentinel: here only the epoch wakes it */
     fi
#endif
  od;
  /* steal_request::withdraw() */
  if
  :: pending ->
     pending = false;
     if
     :: atomic { mailbox == THIEF -> mailbox = EMPTY }
     :: mailbox != THIEF ->
#ifdef BUG_WITHDRAW
        skip
#else
        do
        ::
#ifndef BUG_WITHDRAW_EPOCH
           advanced = false;
#endif
           if
           :: reply != 0 ->
              if
#ifdef BUG_BOTH
              :: awaits && joining == DONE -> skip
#endif
              :: reply == A_TASK && got -> ran++     /* two tasks: this one goes to the injector queue */
              :: reply == A_TASK && !got -> got = true
              :: else
              fi;
              reply = 0;
              break
           :: else ->
#ifdef BUG_WITHDRAW_EPOCH
              advanced = false;
#endif
              advanced
           fi
        od
#endif
     fi
  :: else
  fi;
  /* await(), or worker_loop(). */
  if
  :: got_s -> got_s = false; continue_s(THIEF); end_s()
  :: !got_s && got && awaits ->
     got = false;
     if
     :: ran++                                        /* on top of S */
     :: atomic { s_on = NOWHERE; awaits = false };   /* after_park() */
        if
        :: atomic { joining != DONE -> joining = PARKED }
        :: atomic { joining == DONE -> s_ready = true }
        fi;
        ran++
     fi
  :: !got_s && got && !awaits -> got = false; ran++
  :: !got_s && !got && awaits && joining == DONE -> end_s()
  :: else
  fi;
  if
  :: !s_ended -> goto searching
  :: else
  fi;
  /* No reply to this worker can come any more: the mailbox is closed or holds no request of this worker. */
  assert(mailbox != THIEF);
  assert(reply == 0);
  assert(given == ran)
}

init { atomic { run victim(); run thief() } }
