// SPDX-License-Identifier: Apache-2.0
// Exchanging fibers (place/hints.hpp): the offer of one place, the workers that want the place, and the
// workers in it.
//
// check: spin -DINSISTS -a; cc -O2 -DSAFETY; -m200000
// expect: errors: 0
// check: spin -DINSISTS -DNO_HURRY -a; cc -O2 -DSAFETY; -m200000
// expect: errors: 0
// check: spin -DINSISTS -DTWO -a; cc -O2 -DSAFETY -DCOLLAPSE; -m200000
// expect: errors: 0
// check: spin -DTWO -DIDLE -a; cc -O2 -DSAFETY -DCOLLAPSE; -m200000
// expect: errors: 0
// check: spin -DINSISTS -DIDLE -DSTALE -a; cc -O2 -DSAFETY; -m200000
// expect: errors: 0
// check: spin -DINSISTS -DMORE -a; cc -O2 -DSAFETY; -m200000
// expect: errors: 0
// check: spin -DINSISTS -DMORE -DNO_HURRY -a; cc -O2 -DSAFETY; -m200000
// expect: errors: 0
// check: spin -DNO_POLL -a; cc -O2 -DSAFETY; -m200000
// expect: errors: 0
// check: spin -DNO_POLL -DIDLE -DLEAVES -a; cc -O2 -DSAFETY; -m200000
// expect: errors: 0
// check: spin -DSTOPS -DIDLE -DSTALE -a; cc -O2 -DSAFETY; -m200000
// expect: errors: 0
// check: spin -DBUG_EARLY -a; cc -O2 -DSAFETY; -m200000
// expect: errors: 1
// check: spin -DIDLE -DSTALE -DBUG_STORE -a; cc -O2 -DSAFETY; -m200000
// expect: errors: 1
// check: spin -DINSISTS -DBUG_ORDER -a; cc -O2 -DSAFETY; -m200000
// expect: errors: 1
// check: spin -DINSISTS -DNO_HURRY -DBUG_REQUEST -a; cc -O2 -DSAFETY; -m200000
// expect: errors: 1
// check: spin -DNO_POLL -DBUG_TAKE_BACK -a; cc -O2 -DSAFETY; -m200000
// expect: errors: 1
// check: spin -DNO_POLL -DIDLE -DLEAVES -DBUG_HOME -a; cc -O2 -DSAFETY; -m200000
// expect: errors: 1
// check: spin -DINSISTS -DBUG_WISH -a; cc -O2 -DSAFETY; -m200000
// expect: errors: 1
// check: spin -DINSISTS -DTWO -DBUG_STALE -a; cc -O2 -DSAFETY; -m200000
// expect: errors: 1
// check: spin -DINSISTS -DTWO -DBUG_PASS_ON -a; cc -O2 -DSAFETY; -m200000
// expect: errors: 1
// check: spin -DINSISTS -DBUG_NEXT -a; cc -O2 -DSAFETY; -m200000
// expect: errors: 1
//
// What is modelled: place P, in which worker B is. Fiber 1 (run by A) and, with TWO, fiber 3 (run by D) want
// P. B runs fiber 2; with INSISTS fiber 2 wants P, too, until its frame with the hint ends, and it ends last.
// C is idle and takes ready fibers and, with STALE, fibers that are on offer elsewhere. A fiber that wants P
// continues only there, so a missed match is an invalid end state, except where no worker can come: with
// NO_POLL fiber 2 never polls and ends last; with STOPS worker B stops and hands over its fiber. With LEAVES,
// A's thread is called home at any time. With MORE, P has a second worker, E, which begins with fiber 4 and
// behaves as B does with INSISTS. With NO_HURRY a worker takes its offer back only when no worker can come
// any more.
//
// What must hold:
//   one worker at a time runs a fiber, and only after the switch away from the fiber; each fiber ends;
//   no worker waits for another worker's poll.
//
// Each BUG_ macro removes one safeguard:
//   BUG_EARLY      a worker offers a fiber before the switch away from it is complete
//   BUG_STORE      a worker takes the offered fiber by a load and a store
//   BUG_ORDER      a worker that begins to yield checks for wishes first, and publishes afterwards that it yields
//   BUG_REQUEST    an offer requests no attention
//   BUG_TAKE_BACK  a worker that has offered its fiber waits until another one takes it
//   BUG_HOME       a worker that is called home leaves its offer behind
//   BUG_WISH       a worker whose fiber is on offer does not count as one that wants the place
//   BUG_STALE      a worker that asks another one does not check whether that one still wants the place
//   BUG_PASS_ON    a worker that was asked and no longer wants the place asks no other one
//   BUG_NEXT       a worker whose hint has ended, or that has another fiber, does not check who wants the place

#define A 0
#define B 1
#define C 2
#define D 3
#define E 4
#define NONE 0

byte offered;                 /* placement_hints::offer::on_offer: the fiber on offer, or NONE */
bool yields[5];               /* worker_hints::available of B and E: the worker yields, or is idle */
bool wants[5];                /* worker_hints::wanted: the worker wants P */
bool raised[5];               /* flag_place is set, and the limit of what that worker runs is raised */
bool ready[5];                /* by fiber: it is in the injector queue */
bool on_p[5];                 /* by fiber: its innermost place is P */
byte runners[5];              /* by fiber: how many workers run it */
bool ended[5];
bool b_gone;                  /* B has stopped */
bool call_home;               /* flag_leave of A */

#ifdef TWO
#define OTHERS_ENDED (ended[1] && ended[3])
#else
#define OTHERS_ENDED ended[1]
#endif
#ifdef MORE
#define ALL_ENDED (OTHERS_ENDED && ended[2] && ended[4])
#else
#define ALL_ENDED (OTHERS_ENDED && ended[2])
#endif
#define SOMEBODY_YIELDS (yields[B] || yields[E])

#if defined(NO_POLL) || defined(STOPS)
#define ANYWHERE true
#else
#define ANYWHERE false
#endif

/* Whether fiber s may end now. With NO_POLL or INSISTS only the fibers 1 and 3 may end before the others. */
#if defined(NO_POLL) || defined(INSISTS)
#define MAY_END (s == 1 || s == 3 || OTHERS_ENDED)
#else
#define MAY_END true
#endif

inline begin(s) { atomic { runners[s]++; assert(runners[s] == 1 && !ended[s]) } }
inline leave(s) { runners[s]-- }

#define WANTED (wants[A] -> A : (wants[C] -> C : (wants[D] -> D : B)))

/* ask_for, pass_on: asks one worker that wants P, if a worker in P yields. The asked worker may no longer want P; then
   this asks again. */
inline ask() {
  do
  :: w = WANTED;
     if :: w == B || !SOMEBODY_YIELDS -> break :: else fi;
     raised[w] = true;
#ifdef BUG_STALE
     break
#else
     if :: wants[w] -> break :: else fi
#endif
  od;
  w = B
}

/* A worker no longer wants P. If it was asked, it asks another one. */
inline give_up(me) {
  wants[me] = false;
#ifndef BUG_PASS_ON
  if :: raised[me] -> raised[me] = false; ask() :: else fi
#endif
}

/* A worker in P publishes whether it would give its fiber away, then looks for a worker that wants P. */
inline match_in(me, s) {
#ifdef BUG_ORDER
  w = WANTED;
  yields[me] = !on_p[s];
  if :: yields[me] && w != B -> raised[w] = true :: else fi;
  w = B
#else
  yields[me] = !on_p[s];
#ifndef BUG_NEXT
  ask()
#endif
#endif
}

/* A worker outside P has begun to run s, or polls: it offers s if a worker in P would take it. */
inline match_outside(me, s) {
  if :: on_p[s] -> wants[me] = true :: else -> give_up(me) fi;
  if
  :: on_p[s] && SOMEBODY_YIELDS && offered == NONE ->
     callee = (yields[B] -> B : E);
#ifdef BUG_EARLY
     if :: atomic { offered == NONE -> offered = s }; raised[callee] = true :: offered != NONE -> goto stays fi;
     leave(s);
#else
     leave(s);
     if
     :: atomic { offered == NONE -> offered = s }
     :: offered != NONE -> begin(s); goto stays
     fi;
#ifndef BUG_REQUEST
     raised[callee] = true;
#endif
#endif
     mine = s;
     s = NONE;
#ifdef BUG_WISH
     wants[me] = false;
#endif
     do                       /* end_offer */
#ifndef BUG_TAKE_BACK
#ifdef NO_HURRY
     :: atomic { offered == mine && (ended[2] || b_gone) -> offered = NONE }; s = mine; begin(s); wants[me] = true; break
#else
     :: atomic { offered == mine -> offered = NONE }; s = mine; begin(s); wants[me] = true; break
#endif
#endif
     :: offered != mine -> give_up(me); break
#ifdef LEAVES
     :: me == A && call_home ->
#ifndef BUG_HOME
        if
        :: atomic { offered == mine -> offered = NONE }; ready[mine] = true
        :: offered != mine
        fi;
#endif
        give_up(me);
        goto home
#endif
     od;
     mine = NONE
  :: else
  fi;
stays: skip
}

/* A worker outside P. */
proctype outsider(byte me; byte s) {
  byte mine, w = B, callee;
  if :: s != NONE -> begin(s); match_outside(me, s) :: else fi;
  do
  :: s != NONE && (me != A || !call_home) && raised[me] ->        /* a poll */
     raised[me] = false;
     match_outside(me, s)
  :: s != NONE && (!on_p[s] || ANYWHERE) && MAY_END ->
     atomic { leave(s); ended[s] = true; s = NONE };
     give_up(me)
#ifdef LEAVES
  :: me == A && call_home ->
     give_up(me);
     if :: s != NONE -> leave(s); ready[s] = true; s = NONE :: else fi;
     goto home
#endif
  :: s == NONE ->             /* the worker looks for work */
     if
     :: atomic { ready[1] -> ready[1] = false }; s = 1
     :: atomic { ready[2] -> ready[2] = false }; s = 2
     :: atomic { ready[3] -> ready[3] = false }; s = 3
     :: atomic { ready[4] -> ready[4] = false }; s = 4
#ifdef STALE
     :: me == C && offered != NONE ->                             /* the offer is old */
        s = offered;
#ifdef BUG_STORE
        offered = NONE
#else
        if :: atomic { offered == s -> offered = NONE } :: offered != s -> s = NONE fi
#endif
#endif
     :: ALL_ENDED -> break
     fi;
     if :: s != NONE -> begin(s); match_outside(me, s) :: else fi
  od;
home: skip
}

/* The worker in P. */
proctype insider(byte me; byte s) {
  byte other, w = B;
  begin(s);
  match_in(me, s);
  do
#ifndef NO_POLL
  :: s != NONE && raised[me] -> /* a poll */
     raised[me] = false;
     if
     :: !on_p[s] ->
        other = offered;
        if
        :: other != NONE ->
#ifdef BUG_STORE
           offered = NONE;
#else
           if :: atomic { offered == other -> offered = NONE } :: offered != other -> other = NONE fi;
#endif
           if
           :: other != NONE ->
              leave(s);
              ready[s] = true;
              s = other;
              begin(s)
           :: else
           fi;
           other = NONE
        :: else
        fi;
        match_in(me, s)
     :: else
     fi
#endif
  :: (s == 2 || s == 4) && on_p[s] -> on_p[s] = false; match_in(me, s)      /* the fiber leaves its `on` */
#ifdef STOPS
  :: s != NONE && me == B -> yields[me] = false; b_gone = true; leave(s); ready[s] = true; break
#endif
  :: s != NONE && ((s != 2 && s != 4) || !on_p[s]) && MAY_END ->
     atomic { leave(s); ended[s] = true; s = NONE };
     yields[me] = true
  :: s == NONE ->
     if
     :: atomic { offered != NONE -> s = offered; offered = NONE }
     :: atomic { ready[1] -> ready[1] = false }; s = 1
     :: atomic { ready[2] -> ready[2] = false }; s = 2
     :: atomic { ready[3] -> ready[3] = false }; s = 3
     :: atomic { ready[4] -> ready[4] = false }; s = 4
     :: wants[A] && !raised[A] -> raised[A] = true                 /* idle: asks a worker that wants to come */
     :: wants[C] && !raised[C] -> raised[C] = true
     :: wants[D] && !raised[D] -> raised[D] = true
     :: ALL_ENDED -> break
     fi;
     if :: s != NONE -> begin(s); match_in(me, s) :: else fi
  od
}

init {
  atomic {
    on_p[1] = true;
    on_p[3] = true;
#ifdef INSISTS
    on_p[2] = true;
#endif
    run insider(B, 2);
#ifdef MORE
    on_p[4] = true;
    run insider(E, 4);
#endif
    run outsider(A, 1);
#ifdef TWO
    run outsider(D, 3);
#endif
#ifdef IDLE
    run outsider(C, NONE);
#endif
  }
#ifdef LEAVES
  if :: call_home = true :: skip fi
#endif
}
