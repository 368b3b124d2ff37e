// SPDX-License-Identifier: Apache-2.0
// Joining: how the waiting fiber and the worker that ends the task use the word task::joining.
//
// check: spin -a; cc -O2 -DSAFETY; -m200000
// expect: errors: 0
// check: spin -DBUG_STALE -a; cc -O2 -DSAFETY; -m200000
// expect: errors: 1
// check: spin -DBUG_EARLY -a; cc -O2 -DSAFETY; -m200000
// expect: errors: 1
// check: spin -DBUG_STORE -a; cc -O2 -DSAFETY; -m200000
// expect: errors: 1
// check: spin -DBUG_NO_READY -a; cc -O2 -DSAFETY; -m200000
// expect: errors: 1
// check: spin -DBUG_LEAVE -a; cc -O2 -DSAFETY; -m200000
// expect: errors: 1
//
// What is modelled: a fiber S that waits for task 0, and the threads of two workers. S runs on one of them. S
// registers that worker and sleeps in place; or it finds a descendant, runs it on top, waits in there for
// task 2, and may be parked for it and resumed on the other worker; or S itself is parked for task 0. Two
// more workers end the tasks 0 and 2. In addition, a thread at home waits for a root (task 1) that ends
// elsewhere. A wake epoch is one bit: whether it differs from what its worker read last. No time-out wakes a
// thread here.
//
// What must hold:
//   S runs on one worker at a time, and continues exactly once after each wait (`comes_to`);
//   S reaches its end, so no wake-up is lost (any other end is an invalid end state);
//   no worker continues with a fiber whose switch is not complete, or accesses a task that its owner has joined.
//
// Each BUG_ macro removes one safeguard:
//   BUG_STALE     a worker registers only if no worker is registered, although S may have left the registered one since
//   BUG_EARLY     a fiber is marked as parked before the switch away from it is complete
//   BUG_STORE     the completer reads the waiting fiber and stores `done` in two steps
//   BUG_NO_READY  a fiber whose task ended during the switch is not made ready
//   BUG_LEAVE     the completer of a root sets the flag that lets its thread go, and writes `done` afterwards

#define NO_WORKER 9
/* Values of task::joining; 0: not done, and nothing waits. */
#define DONE 1
#define SLEEPER 2       /* + the worker, 0 or 1 */
#define PARKED 4
#define IS_SLEEPER(v) (v == SLEEPER || v == SLEEPER + 1)

byte joining[3];        /* of the three tasks */
bool gone[3];           /* its owner has joined it */
bool unparked[2];           /* worker::epoch */
byte on = 0;            /* the worker whose thread runs S; NO_WORKER: S is parked or ready */
bool saved;             /* the switch away from S is complete */
byte ready = 0;         /* how often S is in the ready queue */
byte stage = 0;         /* of S: 0 waits for task 0, 1 waits for task 2 on top of that, 2 has ended */
bool found_descendant;

bool flag_leave, home_unparked;   /* of the worker whose thread waits for the root */

/* S continues, on worker w. */
inline comes_to(w) {
  atomic {
    assert(on == NO_WORKER);
    assert(saved);
    assert(stage < 2);
    on = w;
    saved = false
  }
}

/* complete(): ends task t. `got`: the fiber to continue with is S. */
inline complete(t) {
#ifdef BUG_STORE
  waiter = joining[t];
  atomic { assert(!gone[t]); joining[t] = DONE };
#else
  atomic { assert(!gone[t]); waiter = joining[t]; joining[t] = DONE };
#endif
  if
  :: IS_SLEEPER(waiter) -> unparked[waiter - SLEEPER] = true
  :: waiter == PARKED -> got = true
  :: waiter == 0
  fi;
  waiter = 0
}

/* after_park(), called on the stack that the worker has switched to. */
inline after_park(t) {
  do
  :: atomic { assert(!gone[t]); seen = joining[t] };
     if
     :: seen == DONE ->
#ifndef BUG_NO_READY
        ready++;
#endif
        break
     :: else ->
        if
        :: atomic { joining[t] == seen -> joining[t] = PARKED }; break
        :: joining[t] != seen
        fi
     fi
  od;
  seen = 0
}

/* register_sleeper(). */
inline register_sleeper(t) {
  do
  :: seen = joining[t];
     if
     :: seen == DONE || seen == SLEEPER + w -> break
#ifdef BUG_STALE
     :: IS_SLEEPER(seen) && seen != SLEEPER + w -> break
#endif
     :: seen == 0 ||
#ifdef BUG_STALE
        false
#else
        (IS_SLEEPER(seen) && seen != SLEEPER + w)
#endif
        ->
        if
        :: atomic { joining[t] == seen -> joining[t] = SLEEPER + w }; break
        :: joining[t] != seen
        fi
     fi
  od;
  seen = 0
}

/* A worker's thread runs S while S is on this worker; otherwise it continues with S when S is ready. */
proctype worker(byte w) {
  byte seen = 0, t = 0;
  do
  :: atomic { ready > 0 && on != w -> ready-- }; comes_to(w)
  :: atomic { on == w -> t = (stage == 1 -> 2 : 0) };
     /* The loop of await(). */
     if
     :: joining[t] == DONE ->
        atomic { assert(on == w); gone[t] = true };
        if
        :: stage == 1 -> stage = 0           /* the task on top has ended, too: await(task 0) repeats its loop */
        :: stage == 0 -> atomic { stage = 2; on = NO_WORKER }
        fi
     :: joining[t] != DONE ->
        if
        :: stage == 0 && !found_descendant -> atomic { stage = 1; found_descendant = true }
        :: true ->                           /* the worker finds other work: S is parked */
#ifdef BUG_EARLY
           after_park(t);
           atomic { if :: on == w -> on = NO_WORKER; saved = true :: else fi }
#else
           atomic { on = NO_WORKER; saved = true };
           after_park(t)
#endif
        :: true ->                           /* the worker finds nothing and sleeps in place */
           unparked[w] = false;                  /* reads the wake epoch */
           register_sleeper(t);
           if
           :: joining[t] == DONE
           :: joining[t] != DONE && stage == 0 && !found_descendant ->
              atomic { stage = 1; found_descendant = true }      /* the last check finds a descendant */
           :: joining[t] != DONE -> unparked[w]  /* futex */
           fi
        fi
     fi
  :: stage == 2 -> break
  od
}

/* The worker that runs task t. It continues with S if S was parked for it. */
proctype completer(byte t; byte w) {
  byte waiter = 0;
  bool got = false;
  if
  :: t == 0
  :: t == 2 && found_descendant
  :: t == 2 && !found_descendant && stage == 2 -> goto nothing_to_do
  fi;
  complete(t);
  if :: got -> comes_to(w) :: else fi;
nothing_to_do:
  skip
}

/* A thread at home, and the worker that completes its root. */
proctype home() {
  do
  :: flag_leave -> break
  :: else ->
     home_unparked = false;
     if
     :: flag_leave -> break
     :: else -> home_unparked
     fi
  od;
  gone[1] = true
}

proctype root_completer() {
#ifdef BUG_LEAVE
  flag_leave = true;
  atomic { assert(!gone[1]); joining[1] = DONE };
#else
  atomic { assert(!gone[1]); joining[1] = DONE };
  flag_leave = true;
#endif
  home_unparked = true
}

init {
  atomic { run worker(0); run worker(1); run completer(0, 0); run completer(2, 1); run home(); run root_completer() }
}
