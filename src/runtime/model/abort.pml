// SPDX-License-Identifier: Apache-2.0
// Aborting: every fiber that an abort concerns notices the abort at a poll, whatever the fiber was doing when
// the abort came.
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
// check: spin -DSHIELD -DCANCEL -a; cc -O2 -DSAFETY; -m500000
// expect: errors: 0
// check: spin -DSHIELD -DCANCEL -DERROR -a; cc -O2 -DSAFETY; -m500000
// expect: errors: 0
// check: spin -DSHIELD -DOUTER -DERROR -a; cc -O2 -DSAFETY; -m500000
// expect: errors: 0
// check: spin -DSHIELD -DCANCEL -DBUG_RAISE -a; cc -O2 -DSAFETY; -m500000
// expect: errors: 1
// check: spin -DSHIELD -DCANCEL -DBUG_LOWER -a; cc -O2 -DSAFETY; -m500000
// expect: errors: 1
// check: spin -DSHIELD -DCANCEL -DERROR -DBUG_ONE_WORD -a; cc -O2 -DSAFETY; -m500000
// expect: errors: 1
// check: spin -DSHIELD -DCANCEL -DBUG_REACH -a; cc -O2 -DSAFETY; -m500000
// expect: errors: 1
// check: spin -DSHIELD -DOUTER -DBUG_MARK -a; cc -O2 -DSAFETY; -m500000
// expect: errors: 1
//
// What is modelled: fiber O opens a cancel scope (choice point 1) and has a fork in it (choice point 2),
// whose second branch is task t. Worker 1 runs t on fiber T. Task t may publish a task g, which worker 2
// runs, or worker 0 after O was parked. O waits for t in place, or O is parked and then continues on worker
// 1. With -DCANCEL a thread cancels the scope at any time. With -DERROR t ends by an exception, which aborts
// what O does from choice point 2 on. Each fiber polls any number of times. O may be unwinding (a destructor
// that forks) at some of its polls.
//
// With -DSHIELD, O raises a shield in the scope before it forks, and lowers the shield after the join. O
// polls before and after that, too. With -DOUTER a task that O descends from is cancelled instead of the
// scope.
//
// What must hold:
//   while no abort is just being announced, no fiber that is concerned passes a poll on the fast path, so it
//   stops at its next poll;
//   when the scope is closed, nothing of the abort is left, and nothing of it comes later;
//   below the shield no fiber stops for an abort from outside; only the exception of t stops a fiber there; and
//   O stops at its first poll after the shield.
//
// Each BUG_ macro removes one safeguard:
//   BUG_ORDER      the polls are requested before the abort is written
//   BUG_RESUME     a fiber that was parked does not check for an abort when it continues
//   BUG_EXECUTE    a task begins without a check for an abort
//   BUG_CLOSE      a scope is closed while a thread is cancelling it
//   BUG_UNWINDING  a fiber forgets an abort that it notices while a destructor forks
//   BUG_CLEAR      a join does not clear the abort of its own choice point
//   BUG_RAISE      raising a shield keeps the abort that the fiber has noticed before
//   BUG_LOWER      lowering a shield does not check for an abort that came from outside while the shield was raised
//   BUG_ONE_WORD   aborts below the shield are written to the word for aborts from outside
//   BUG_REACH      a task checks only whether it is younger than what was aborted
//   BUG_MARK       a task that was split off below the shield also checks the tasks further up

#define O 0
#define T 1
#define G 2
#define NOTHING 3       /* no fiber */
#define ALL 9
#define SCOPE 1         /* positions of the two choice points on O, and of the shield */
#define PLACE 2
#define FORK 3

byte limit[4];          /* 0: the true one, every poll is fast; ALL: raised */
byte current[3] = NOTHING;   /* of the three workers */
bool flags[3];          /* flag_check_abort */
byte on[4];             /* the worker that runs a fiber */
bool pending[4];        /* fiber::abort_pending */
byte abort_to = ALL;    /* of what O runs */
byte raising = 0;       /* aborts that are written and not yet announced to all workers */
bool unwinding;         /* of O: uncaught_exceptions() > 0 */

/* Of what O runs: task::shield, shielded_abort_to; and task::cancelled of a task that it descends from. */
byte shield = ALL;
byte inside = ALL;
bool above_cancelled;

bool opened, forked, t_done, g_published, g_taken, g_done, o_parked, o_done;

mtype = { open, cancelling, cancelled, closed };
mtype stage = open;

/* is_concerned(): t comes from choice point FORK of O, g from t. */
#ifdef BUG_REACH
#define REACHED (FORK >= abort_to || FORK >= inside)
#else
#define REACHED ((!T_SHIELDED && FORK >= abort_to) || FORK >= inside)
#endif
#ifdef BUG_MARK
#define T_SHIELDED false
#else
#define T_SHIELDED (shield != ALL)
#endif
#define O_CONCERNED ((abort_to != ALL && (shield == ALL || abort_to >= shield)) || \
                     (shield != ALL && inside != ALL) || (shield == ALL && above_cancelled))
#define CONCERNED(s) (s == O -> O_CONCERNED : REACHED || (!T_SHIELDED && above_cancelled))

/* What the model expects: the aborts that were written and not cleared. */
bool from_outside, from_fork;
#define SHOULD_STOP(s) (from_fork || (from_outside && shield == ALL))
#define MUST_NOT_PASS(s) (raising == 0 && SHOULD_STOP(s))

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

/* lower_abort(): one compare-exchange. */
inline lower_abort(r) {
  if
  :: r == FORK -> from_fork = true
  :: else -> from_outside = true
  fi;
  if
#ifndef BUG_ONE_WORD
  :: r >= shield -> if :: r < inside -> inside = r :: else fi
#endif
  :: else -> if :: r < abort_to -> abort_to = r :: else fi
  fi
}

/* clear_abort(): one compare-exchange, too. */
inline clear_abort(r) {
  if
#ifndef BUG_ONE_WORD
  :: r >= shield -> if :: inside == r -> inside = ALL :: else fi
#endif
  :: else -> if :: abort_to == r -> abort_to = ALL :: else fi
  fi;
  if
  :: r == FORK -> from_fork = false
  :: else -> from_outside = false
  fi
}

/* lower_abort() and request_abort_checks(). */
inline abort(r) {
#ifdef BUG_ORDER
  raising++;
  request_abort_checks();
  atomic { lower_abort(r); raising-- }
#else
  atomic { lower_abort(r); raising++ };
  request_abort_checks();
  raising--
#endif
}

inline look_for_abort(s) { pending[s] = CONCERNED(s) }

/* A poll; `stop` is set if the fiber has to leave. */
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
     stop = pending[s] && !(s == O && unwinding);
     assert(!stop || SHOULD_STOP(s))
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
  stop = pending[s];
  assert(!stop || SHOULD_STOP(s))
}

/* Code that forks; a destructor in it may fork, too. */
inline some_tests_of_o() {
  do
  :: stop -> break
  :: !stop -> test(O)
  :: !stop && !unwinding -> unwinding = true
  :: unwinding -> unwinding = false
  :: !unwinding -> break
  od
}

active proctype fiber_o() {
  bool stop;
  atomic { on[O] = 0; current[0] = O; opened = true };
#ifdef SHIELD
  some_tests_of_o();
  if
  :: stop ->                               /* O never reaches the shield */
     atomic { t_done = true; g_done = true };
     goto after_shield
  :: else
  fi;
  shield = PLACE;                          /* raise_shield() */
#ifndef BUG_RAISE
  look_for_abort(O);
#endif
#endif
  forked = true;
  /* The first branch of the fork. */
  some_tests_of_o();
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
  atomic { clear_abort(FORK) };
#endif
  atomic { if :: pending[O] -> look_for_abort(O) :: else fi; stop = pending[O] };
#ifdef SHIELD
  /* lower_shield(); the exception of t leaves the shield here, or O continues. */
  atomic { shield = ALL; inside = ALL };
#ifndef BUG_LOWER
  look_for_abort(O);
  request_poll(O);
#endif
after_shield:
#endif
  /* O continues in the scope until the scope's end. */
  do
  :: stop -> break
  :: !stop -> test(O)
  :: true -> break
  od;
#ifndef OUTER
  /* close_scope() */
  if
  :: atomic { stage == open -> stage = closed }
  :: stage != open ->
#ifndef BUG_CLOSE
     stage != cancelling;
#endif
     atomic { clear_abort(SCOPE) };
     look_for_abort(O);
     request_poll(O)
  fi;
#endif
  o_done = true
}

active proctype task_t() {
  bool stop;
#ifdef ERROR
  byte v, c;
#endif
  if                                       /* its choice point exists */
  :: forked
  :: t_done -> goto over
  fi;
  execute(T, 1);
  do
  :: stop -> break
  :: !stop -> test(T)
  :: !stop && !g_published -> g_published = true
  :: true -> break
  od;
  /* The join of g: t takes g back or waits for it. */
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
  t_done = true;
over:
  skip
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

#ifdef OUTER
active proctype canceller() {
  byte v, c;
  atomic { opened -> above_cancelled = true; from_outside = true; raising++ };
  request_abort_checks();
  raising--
}
#endif

#ifndef OUTER
/* When everything has ended, nothing of an abort is left. */
active proctype afterwards() {
  o_done && stage != cancelling;
  assert(abort_to == ALL);
  assert(!pending[O])
}
#endif
