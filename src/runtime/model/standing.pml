// SPDX-License-Identifier: Apache-2.0
// A standing request: a node wants a task, however long it takes until a worker has one (remote.pml models
// the other requests).
//
// check: spin -a; cc -O2 -DSAFETY -DCOLLAPSE; -m2000000
// expect: errors: 0
// check: spin -DBUG_NONE -a; cc -O2 -DSAFETY; -m2000000
// expect: errors: 1
// check: spin -DBUG_UNTOLD -a; cc -O2 -DSAFETY; -m2000000
// expect: errors: 1
// check: spin -DBUG_TAKEN_BACK -a; cc -O2 -DSAFETY; -m2000000
// expect: errors: 1
// check: spin -DBUG_BEGIN -a; cc -O2 -DSAFETY; -m2000000
// expect: errors: 1
// check: spin -DBUG_BEGIN_LOOKS_FIRST -a; cc -O2 -DSAFETY; -m2000000
// expect: errors: 1
// check: spin -DBUG_NO_POLL -a; cc -O2 -DSAFETY; -m2000000
// expect: errors: 1
// check: spin -DBUG_TWICE -a; cc -O2 -DSAFETY; -m2000000
// expect: errors: 1
// check: spin -DBUG_STILL_STANDS -a; cc -O2 -DSAFETY; -m2000000
// expect: errors: 1
// check: spin -DBUG_STAYS_WANTED -a; cc -O2 -DSAFETY; -m2000000
// expect: errors: 1
//
// What is modelled: the node's thread and two workers with one fiber each. A worker polls, finds work that
// can be given away or none, goes idle and begins again. The node's request stands. While it stands the node
// may withdraw it for a request that may also be answered by "none", and then let it stand again. The fork
// with work comes at any time, or never; if it never comes, the workers end, and the entry's end withdraws
// the request.
//
// What must hold:
//   no node starves: if there is work, the request is answered (otherwise the node waits in an invalid end state);
//   it is answered once, by a task, and a task that is found is given or left to the workers, once;
//   a request that was withdrawn is not answered, and the next one is answered as it should be.
//
// Each BUG_ macro removes one safeguard:
//   BUG_NONE               the last worker that answers a standing request without a task answers "none"
//   BUG_UNTOLD             a worker that finds nothing does not notify the node
//   BUG_TAKEN_BACK         a worker whose question the node took back while it was idle does not notify the node
//   BUG_BEGIN              a worker that begins does not check whether a request stands
//   BUG_BEGIN_LOOKS_FIRST  a worker that begins checks this before it publishes that it answers
//   BUG_NO_POLL            a worker that begins takes the question, and nothing makes its fiber poll
//   BUG_TWICE              an answer leaves the request standing
//   BUG_STILL_STANDS       the next request stands, too
//   BUG_STAYS_WANTED       the end of an entry does not withdraw the request

#define STEPS 1          /* how often a worker goes idle, before it has work or ends */

bool wanted = false, stands = false;   /* bits 0 and 1 of the word */
byte count = 0;          /* the remaining bits of the word; all change in one step */
bool answers[2];         /* worker::answers_remote */
bool asked[2];           /* worker::asked_by_node */
bool high[2];            /* the limit is raised, for flag_remote */
byte answered = 0;       /* answers to the current request */
bool got_task = false;   /* the answer was a task */
bool notified = false;       /* unanswered() was called since the node's last question */
byte tasks = 0, given = 0, left = 0;
bool comes;              /* work comes */
bool is_withdrawn = false, is_over = false;
byte ended = 0;

inline answer(is_task) {
  answered++;
  assert(answered == 1 && !is_withdrawn);
  if
  :: is_task -> given++; got_task = true
  :: else -> assert(!stands)
  fi
}

/* One step, as the CAS in reply(). */
inline reply(is_task) {
  atomic {
    assert(count > 0);
    count--;
    if
#ifdef BUG_NONE
    :: wanted && (is_task || count == 0) ->
#else
    :: wanted && (is_task || (count == 0 && !stands)) ->
#endif
       answer(is_task);
#ifndef BUG_TWICE
       wanted = false; stands = false
#endif
    :: else -> if :: is_task -> left++ :: else fi
    fi
  }
}

inline ask(v) {
  count++;
  atomic { was = asked[v]; asked[v] = true };
  if :: was -> reply(false) :: else fi;
  was = false
}

inline take(v) { atomic { mine = asked[v]; asked[v] = false } }

/* begins() */
inline begin(v) {
#ifdef BUG_BEGIN_LOOKS_FIRST
  looks = stands;
  answers[v] = true;
#else
  answers[v] = true;
  looks = stands;
#endif
#ifndef BUG_BEGIN
  if
  :: looks ->
     ask(v);
#ifndef BUG_NO_POLL
     high[v] = true
#endif
  :: else
  fi;
#endif
  looks = false
}

inline stop(v) {                                                     /* stops() */
  answers[v] = false;
  take(v);
  if :: mine -> reply(false) :: else fi;
  mine = false
}

proctype worker(byte w) {
  byte steps = STEPS;
  bool mine = false, was = false, looks = false, has_work = false, had = false;
  begin(w);
  do
  :: high[w] ->                                                      /* a slow poll */
     high[w] = false;
     take(w);
     if
     :: mine ->
        if
        :: wanted && has_work -> has_work = false; tasks++; reply(true)
        :: else ->
           reply(false);
#ifndef BUG_UNTOLD
           atomic { if :: stands -> notified = true :: else fi }
#endif
        fi
     :: else ->                                                      /* the node took it back */
#ifndef BUG_TAKEN_BACK
        atomic { if :: stands -> notified = true :: else fi }
#endif
     fi;
     mine = false
  /* Fast polls change nothing, so a worker with work only waits here until a poll is slow or the node has its task. */
  :: steps > 0 && !is_over -> steps--; stop(w); begin(w)
  :: comes && !had -> had = true; steps = 0; has_work = true
  :: steps > 0 && !comes -> steps = 0
  :: is_over -> break
  :: !comes && steps == 0 -> break
  od;
  high[w] = false;                                                   /* lifecycle::enter() clears the worker's flags */
  stop(w);
  ended++
}

inline ask_all() {
  v = 0;
  do
  :: v < 2 ->
     if
     :: answers[v] ->
        ask(v);
        if
        :: !answers[v] ->
           take(v);
           if :: mine -> reply(false) :: else fi;
           mine = false
        :: else -> high[v] = true
        fi
     :: else
     fi;
     v++
  :: v == 2 -> break
  od;
  v = 0;
  reply(false)
}

active proctype node() {
  byte v = 0;
  bool mine = false, was = false, single = false, was_wanted = false;
  if :: comes = true :: comes = false fi;
  run worker(0);
  run worker(1);
again:
  atomic { assert(!wanted); answered = 0; got_task = false; is_withdrawn = false; wanted = true; stands = true; count++ };
  ask_all();
  do
  :: answered == 1 -> break
  :: notified -> notified = false; atomic { count++ }; ask_all()             /* remind() */
  :: !single ->                                                      /* the node makes a request that does not stand */
     single = true;
     atomic {
       was_wanted = wanted;
       wanted = false;
#ifndef BUG_STILL_STANDS
       stands = false;
#endif
       is_withdrawn = was_wanted
     };
     if
     :: was_wanted ->
        atomic { is_withdrawn = false; answered = 0; wanted = true; count++ };
        ask_all();
        answered == 1;
        if :: got_task -> break :: else -> goto again fi
     :: else -> answered == 1; break
     fi
  :: !comes && ended == 2 ->                                         /* the entry's end */
#ifndef BUG_STAYS_WANTED
     atomic { was_wanted = wanted; wanted = false; stands = false; is_withdrawn = was_wanted };
     assert(was_wanted);
#endif
     break
  od;
  assert(!comes || got_task);
  is_over = true;
  ended == 2;
  assert(count == 0 && !wanted && !stands);
  assert(tasks == given + left && given <= 1)
}
