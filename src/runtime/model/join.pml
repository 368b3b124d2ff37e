// SPDX-License-Identifier: Apache-2.0
// Joining: the word task::joining between the strand that waits and the worker that ends the task.
//
// CHECKS
//
// What is modelled: workers A and B, one strand S that waits for task 0, whose runner is a worker of its own (F). While
// it waits, S is on some worker's thread: it registers that worker and sleeps, or finds a descendant (task 1), runs it
// on top, waits in there for task 2 (run by G) and may be parked for it and resumed on the other worker, or is parked
// for task 0 itself. The bell of a worker is a bit: it differs from what the worker read last. Deep sleep only: no
// clock wakes anybody here, a ring is needed.
//
// What must hold:
//   S runs on one worker at a time, and goes on after each wait exactly once (assertions in `comes_to`);
//   S comes to its end: no wake-up is lost (any other end is an invalid end state);
//   nobody resumes a strand whose switch is not complete, nothing reads a task after its owner has gone on.
//
// Each BUG_ takes one safeguard away:
//   BUG_STALE     a worker registers only if nobody is registered, although it may be a worker that S has left
//   BUG_EARLY     a strand is marked as parked before the switch away from it is complete
//   BUG_STORE     the finisher reads who waits, then stores `done`, in two steps
//   BUG_NO_READY  a strand whose task ended during the switch is not made ready
//   BUG_LEAVE     the finisher of a root raises the flag first and says done afterwards

#define NOBODY 9
#define HOME 8
/* Values of joining: 0 not done, DONE, SLEEPER + worker, PARKED. */
#define DONE 1
#define SLEEPER 2       /* + worker: 2 or 3 */
#define PARKED 4
#define IS_SLEEPER(v) (v == SLEEPER || v == SLEEPER + 1)

byte joining[3];        /* of tasks 0 and 2; task 1 is the one run on top */
bool gone[3];           /* its owner has joined it: nobody may touch it any more */
bool rung[2];           /* worker::bell */
byte on = 0;            /* the worker whose thread runs S; NOBODY: S is parked or ready */
bool saved;             /* the switch away from S is complete */
byte ready = 0;         /* S lies so many times in the ready queue */
byte stage = 0;         /* of S: 0 waits for task 0, 1 waits for task 2 on top of that, 2 has ended */
bool found_descendant;  /* task 1 was begun */

#define WAITS_FOR(s) (s -> 2 : 0)

/* S goes on, on worker w. */
inline comes_to(w) {
  atomic {
    assert(on == NOBODY);
    assert(saved);
    assert(stage < 2);
    on = w;
    saved = false
  }
}

/* finish(): ends task t on worker or thread w; the worker goes on with the strand if it gets one. */
inline finish(t, w) {
#ifdef BUG_STORE
  assert(!gone[t]);
  waiter = joining[t];
  joining[t] = DONE;
#else
  atomic { assert(!gone[t]); waiter = joining[t]; joining[t] = DONE };
#endif
  if
  :: IS_SLEEPER(waiter) -> rung[waiter - SLEEPER] = true
  :: waiter == PARKED -> got = true
  :: waiter == 0
  fi;
  waiter = 0
}

/* after_park(), called on the stack arrived at; t is what S waits for. */
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

/* A worker's thread: runs S while S is here, else goes on with S if it is ready. */
proctype worker(byte w) {
  byte seen = 0, t = 0;
  do
  :: atomic { ready > 0 && on != w -> ready-- }; comes_to(w)
  :: on == w ->
     /* The loop of await(). */
     t = WAITS_FOR(stage);
     if
     :: joining[t] == DONE ->
        atomic { assert(on == w); gone[t] = true };
        if
        :: stage == 1 -> stage = 0            /* task 1 has ended, too: await() of task 0 goes round again */
        :: stage == 0 -> atomic { stage = 2; on = NOBODY }; break
        fi
     :: joining[t] != DONE ->
        if
        :: stage == 0 && !found_descendant -> found_descendant = true; stage = 1
        :: true ->                            /* finds other work: parks */
#ifdef BUG_EARLY
           after_park(t);
           atomic { if :: on == w -> on = NOBODY; saved = true :: else fi }
#else
           atomic { on = NOBODY; saved = true };
           after_park(t)
#endif
        :: true ->                            /* finds nothing: sleeps in place */
           rung[w] = false;                   /* reads the bell */
           do
           :: atomic { seen = joining[t] };
              if
              :: seen == DONE || seen == SLEEPER + w -> break
#ifdef BUG_STALE
              :: IS_SLEEPER(seen) && seen != SLEEPER + w -> break
              :: seen == 0 ->
#else
              :: else ->
#endif
                 if
                 :: atomic { joining[t] == seen -> joining[t] = SLEEPER + w }; break
                 :: joining[t] != seen
                 fi
              fi
           od;
           seen = 0;
           if
           :: joining[t] == DONE
           :: else -> rung[w]                 /* futex */
           fi
        fi
     fi
  :: stage == 2 -> break
  od
}

/* Who runs what S waits for. In the end it goes on with S, on the worker that is free: S was parked. */
proctype finisher(byte t) {
  byte waiter = 0;
  bool got = false;
  if
  :: t == 2 -> found_descendant || stage == 2
  :: else
  fi;
  if
  :: t == 2 && stage == 2
  :: else ->
     finish(t, HOME);
     if
     :: got -> comes_to(t / 2)                /* task 0 was run by worker 0, task 2 by worker 1 */
     :: else
     fi
  fi
}

init { atomic { run worker(0); run worker(1); run finisher(0); run finisher(2) } }
