// SPDX-License-Identifier: Apache-2.0
// Executors: how threads that post, the holder and the runtime's queue pass on the token of bound fibers.
//
// check: spin -a; cc -O2 -DSAFETY; -m200000
// expect: errors: 0
// check: spin -DTHREAD -a; cc -O2 -DSAFETY; -m200000
// expect: errors: 0
// check: spin -DBUG_FREE -a; cc -O2 -DSAFETY; -m200000
// expect: errors: 1
// check: spin -DBUG_POST -a; cc -O2 -DSAFETY; -m200000
// expect: errors: 1
// check: spin -DTHREAD -DBUG_EPOCH -a; cc -O2 -DSAFETY; -m200000
// expect: errors: 1
//
// What is modelled: two bound fibers that stop twice each, two threads that post them (each fiber is posted
// once for each stop, at any time after its worker has left it), and two workers that take the executor's
// fibers from the runtime's queue and continue with the executor until no fiber is ready. With -DTHREAD one
// thread serves the executor and sleeps when no fiber is ready. A list is the set of its fibers: their order
// does not matter here.
//
// What must hold: one fiber of the executor runs at a time; each post continues its fiber once; everything ends.
//
// Each BUG_ macro removes one safeguard:
//   BUG_FREE   the holder frees the token by a store, not by the CAS null → free
//   BUG_POST   a thread that posts to a free executor takes the token by a load and a store
//   BUG_EPOCH  the thread reads its wake epoch after it has checked the inbox

#define FIBERS 2
#define STOPS 2
#define ALL_DONE (stops[0] == STOPS && stops[1] == STOPS)

bool is_free;              /* inbox_ is free_mark; otherwise inbox_ is a set of fibers */
byte inbox;                /* bit i: fiber i */
byte ready;                /* bit i: in the holder's list */
byte queued;               /* bit i: in the runtime's queue, with the token */
byte stops[FIBERS];        /* how often it has run and stopped */
byte posts[FIBERS];        /* how often it was posted */
byte running;              /* fibers that run now */
bool is_left[FIBERS];      /* the fiber is parked and may be posted */
byte epoch;                /* of the thread */

/* The thread begins awake; the workers' executor begins with both fibers ready and its token in the queue. */
init {
  atomic {
    is_left[0] = false;
    is_left[1] = false;
#ifdef THREAD
    ready = 3;
    run thread();
#else
    ready = 2;
    queued = 1;
    run worker();
    run worker();
#endif
    run poster(0);
    run poster(1);
  }
}

inline add(i) {
  if
  :: atomic { is_free ->
#ifdef BUG_POST
     skip }
     is_free = false;
#else
     is_free = false;
#endif
#ifdef THREAD
     inbox = inbox | (1 << i);
#ifndef BUG_POST
     }
#endif
     epoch = (epoch + 1) % 4
#else
#ifndef BUG_POST
     }
#endif
     atomic { assert(!(queued & (1 << i))); queued = queued | (1 << i) }
#endif
  :: atomic { !is_free -> assert(!(inbox & (1 << i))); inbox = inbox | (1 << i) }
  fi
}

proctype poster(byte i) {
  do
  :: posts[i] == STOPS - 1 -> break
  :: atomic { is_left[i] -> is_left[i] = false; posts[i] = posts[i] + 1 }
     add(i)
  od
}

/* The holder runs fiber i until it stops. */
inline run_fiber(i) {
  running = running + 1;
  assert(running == 1);
  running = running - 1;
  atomic {
    stops[i] = stops[i] + 1;
    if
    :: stops[i] < STOPS -> is_left[i] = true
    :: else
    fi
  }
}

inline collect() { atomic { ready = ready | inbox; inbox = 0 } }

/* The holder runs the ready fibers. */
inline run_ready() {
  do
  :: ready & 1 -> ready = ready & ~1; run_fiber(0)
  :: ready & 2 -> ready = ready & ~2; run_fiber(1)
  :: !ready -> break
  od
}

#ifndef THREAD
proctype worker() {
  byte got;
  bool held;
  do
  :: atomic { queued -> got = queued; assert(got == 1 || got == 2); queued = 0; held = true }
     if
     :: got == 1 -> run_fiber(0)
     :: got == 2 -> run_fiber(1)
     fi;
     do
     :: !held -> break
     :: held ->
        run_ready();
        collect();
        if
        :: ready
        :: !ready ->
#ifdef BUG_FREE
           is_free = true;
           held = false
#else
           if
           :: atomic { inbox == 0 -> is_free = true; held = false }
           :: inbox != 0
           fi
#endif
        fi
     od
  :: ALL_DONE && is_free -> break
  od
}
#else
proctype thread() {
  byte seen;
  do
  :: ALL_DONE -> break
  :: else ->
     run_ready();
     collect();
     if
     :: ready
     :: !ready && !ALL_DONE ->
        if
        :: atomic { inbox == 0 -> is_free = true }
           do
           ::
#ifdef BUG_EPOCH
              if
              :: !is_free -> break
              :: is_free
              fi;
              seen = epoch;
#else
              seen = epoch;
              if
              :: !is_free -> break
              :: is_free
              fi;
#endif
              epoch != seen
           od
        :: inbox != 0
        fi
     :: !ready && ALL_DONE
     fi
  od
}
#endif
