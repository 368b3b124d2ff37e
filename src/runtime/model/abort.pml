// SPDX-License-Identifier: Apache-2.0
// Aborting: every fiber that is concerned finds out, at a poll, whatever it was doing when the abort came.
//
// check: spin -DCANCEL -a; cc -O2 -DSAFETY; -m500000
// expect: errors: 0
// check: spin -DERROR -a; cc -O2 -DSAFETY; -m500000
// expect: errors: 0
// check: spin -DCANCEL -DBUG_ORDER -a; cc -O2 -DSAFETY; -m500000
// expect: errors: 1
// check: spin -DCANCEL -DBUG_RESUME -a; cc -O2 -DSAFETY; -m500000
// expect: errors: 1
// check: spin -DCANCEL -DBUG_EXECUTE -a; cc -O2 -DSAFETY; -m500000
// expect: errors: 1
// check: spin -DCANCEL -DBUG_CLOSE -a; cc -O2 -DSAFETY; -m500000
// expect: errors: 1
// check: spin -DCANCEL -DBUG_UNWINDING -a; cc -O2 -DSAFETY; -m500000
// expect: errors: 1
// check: spin -DERROR -DBUG_CLEAR -a; cc -O2 -DSAFETY; -m500000
// expect: errors: 1
//
// What is modelled: fiber O opens a cancel scope (choice point 1) and has a fork in it (choice point 2),
// whose second branch is task t, run by worker 1 on fiber T; t may publish a task g, run by worker 2, or by
// worker 0 after O was parked. O waits for t in place, or parked, and then continues on worker 1. With
// -DCANCEL somebody cancels the scope at any time, with -DERROR t ends by an exception, which aborts what O
// does from choice point 2 on. Each fiber does as many polls as it likes. O may be unwinding (a destructor
// that forks) at some of its polls.
//
// What must hold:
//   while no abort is just being announced, no fiber that is concerned passes a poll on the fast path: so it
//   stops at its next poll;
//   when the scope is closed nothing of the abort is left, and nothing comes later.
//
// Each BUG_ takes one safeguard away:
//   BUG_ORDER      the polls are requested before the abort is written
//   BUG_RESUME     a fiber that was parked does not look for an abort when it continues
//   BUG_EXECUTE    a task is begun without looking for an abort
//   BUG_CLOSE      a scope is closed while it is being cancelled
//   BUG_UNWINDING  an abort that is seen while a destructor forks is forgotten
//   BUG_CLEAR      a join does not clear the abort of its own choice point

#define O 0
#define T 1
#define G 2
#define NOTHING 3       /* no fiber */
#define ALL 9
#define SCOPE 1         /* positions of the two choice points on O */
#define FORK 2

byte limit[4];          /* 0: the true one, every poll is fast; ALL: raised */
byte current[3] = NOTHING;   /* of the three workers */
bool flags[3];          /* flag_check_abort */
byte on[4];             /* the worker that runs a fiber */
bool pending[4];        /* fiber::abort_pending */
byte abort_to = ALL;    /* of O */
byte raising = 0;       /* aborts that are written and not yet raised everywhere */
bool unwinding;         /* of O: uncaught_exceptions() > 0 */

bool opened, t_done, g_published, g_taken, g_done, o_parked, o_done;

mtype = { open, cancelling, cancelled, closed };
mtype stage = open;

/* is_concerned(): t comes from choice point FORK of O, g from t. */
#define CONCERNED(s) (s == O -> abort_to != ALL : FORK >= abort_to)
#define MUST_NOT_PASS(s) (raising == 0 && CONCERNED(s))

inline request_poll(s) {
  if
  :: limit[s] != ALL -> limit[s] = ALL
  :: limit[s] == ALL
  fi
}

inline request_abort_checks() {
  v = 0;
  do
  :: v < 3 ->
     flags[v] = true;
     c = current[v];
     if :: c != NOTHING -> request_poll(c) :: else fi;
     v++
  :: v == 3 -> break
  od;
  v = 0;
  c = 0
}

/* lower_abort() and request_abort_checks(). */
inline abort(r) {
#ifdef BUG_ORDER
  raising++;
  request_abort_checks();
  atomic { if :: r < abort_to -> abort_to = r :: else fi; raising-- }
#else
  atomic { if :: r < abort_to -> abort_to = r :: else fi; raising++ };
  request_abort_checks();
  raising--
#endif
}

inline look_for_abort(s) { pending[s] = CONCERNED(s) }

/* A test; `stop` is set if the fiber has to leave. */
inline test(s) {
  if
  :: atomic { limit[s] == 0 -> assert(!MUST_NOT_PASS(s)) }
  :: limit[s] == ALL ->                    /* poll_slow() */
     limit[s] = 0;
     if
     :: flags[on[s]] ->
        flags[on[s]] = false;
#ifdef BUG_UNWINDING
        if :: s == O && unwinding -> pending[s] = false :: else -> look_for_abort(s) fi
#else
        look_for_abort(s)
#endif
     :: else
     fi;
     if :: pending[s] -> request_poll(s) :: else fi;
     stop = pending[s] && !(s == O && unwinding)
  fi
}

/* The begin of execute(). */
inline execute(s, w) {
  on[s] = w;
  current[w] = s;                          /* arrive() */
  if :: flags[w] -> request_poll(s) :: else fi;
  limit[s] = 0;
#ifndef BUG_EXECUTE
  look_for_abort(s);
  if :: pending[s] || flags[w] -> request_poll(s) :: else fi;
#endif
  stop = pending[s]
}

active proctype fiber_o() {
  bool stop;
  atomic { on[O] = 0; current[0] = O; opened = true };
  /* The first branch of the fork; perhaps a destructor in it forks. */
  do
  :: stop -> break
  :: !stop -> test(O)
  :: !stop && !unwinding -> unwinding = true
  :: unwinding -> unwinding = false
  :: !unwinding -> break
  od;
  /* await(t): in place, or parked and resumed by the worker that ends t. */
  if
  :: t_done
  :: current[0] = NOTHING;
     o_parked = true;
     t_done;
     on[O] = 1;
     current[1] = O;
     if :: flags[1] -> request_poll(O) :: else fi
  fi;
#ifndef BUG_RESUME
  look_for_abort(O);
#endif
#ifndef BUG_CLEAR
  if :: atomic { abort_to == FORK -> abort_to = ALL } :: else fi;    /* clear_abort */
#endif
  atomic { if :: pending[O] -> look_for_abort(O) :: else fi; stop = pending[O] };
  /* More of the scope, on the way to its end. */
  do
  :: stop -> break
  :: !stop -> test(O)
  :: true -> break
  od;
  /* close_scope() */
  if
  :: atomic { stage == open -> stage = closed }
  :: stage != open ->
#ifndef BUG_CLOSE
     stage != cancelling;
#endif
     if :: atomic { abort_to == SCOPE -> abort_to = ALL } :: else fi;
     look_for_abort(O);
     request_poll(O)
  fi;
  o_done = true
}

active proctype task_t() {
  bool stop;
#ifdef ERROR
  byte v, c;
#endif
  opened;                                  /* its choice point exists */
  execute(T, 1);
  do
  :: stop -> break
  :: !stop -> test(T)
  :: !stop && !g_published -> g_published = true
  :: true -> break
  od;
  /* The join of g: taken back, or waited for. */
  if
  :: atomic { !g_taken -> g_taken = true; g_done = true }
  :: g_done
  fi;
#ifdef ERROR
  if
  :: abort(FORK)
  :: skip
  fi;
#endif
  current[1] = NOTHING;
  t_done = true
}

active proctype task_g() {
  bool stop;
  byte w;
  if
  :: atomic { g_published && !g_taken -> g_taken = true }
  :: g_done -> goto joined
  fi;
  if
  :: o_parked -> w = 0
  :: w = 2
  fi;
  execute(G, w);
  do
  :: stop -> break
  :: !stop -> test(G)
  :: true -> break
  od;
  current[w] = NOTHING;
  g_done = true;
joined:
  skip
}

#ifdef CANCEL
active proctype canceller() {
  byte v, c;
  if
  :: atomic { opened && stage == open -> stage = cancelling };
     abort(SCOPE);
     stage = cancelled
  :: opened && stage != open
  fi
}
#endif

/* When everything is over nothing of an abort is left. */
active proctype afterwards() {
  o_done && stage != cancelling;
  assert(abort_to == ALL);
  assert(!pending[O])
}
