// SPDX-License-Identifier: Apache-2.0
// The search for a deadlock of objects in several processes (src/objects/deadlock/watch.cpp).
//
// check: spin -a; cc -O2 -DSAFETY -DCOLLAPSE; -m1000000
// expect: errors: 0
// check: spin -DKILLED -a; cc -O2 -DSAFETY -DCOLLAPSE; -m1000000
// expect: errors: 0
// check: spin -DDEADLOCK -a; cc -O2 -DSAFETY -DCOLLAPSE; -m1000000 -E
// expect: errors: 0
// check: spin -DBUG_ONE_ROUND -a; cc -O2 -DSAFETY -DCOLLAPSE; -m1000000
// expect: errors: 1
// check: spin -DBUG_OLD_ANSWERS -a; cc -O2 -DSAFETY -DCOLLAPSE; -m1000000
// expect: errors: 1
// check: spin -DBUG_RINGS_UNSEEN -a; cc -O2 -DSAFETY -DCOLLAPSE; -m1000000
// expect: errors: 1
// check: spin -DBUG_COUNT_FIRST -a; cc -O2 -DSAFETY -DCOLLAPSE; -m1000000
// expect: errors: 1
// check: spin -DKILLED -DBUG_OVER_LATE -a; cc -O2 -DSAFETY -DCOLLAPSE; -m1000000
// expect: errors: 1
// check: spin -DBUG_FORGETS_FIRST -a; cc -O2 -DSAFETY -DCOLLAPSE; -m1000000
// expect: errors: 1
// check: spin -DDEADLOCK -DBUG_BLIND -a; cc -O2 -DSAFETY -DCOLLAPSE; -m1000000 -E
// expect: errors: 1
//
// What is modelled: two objects in two processes send each other messages. The first sends a question and waits for
// the answer; the second answers. With DEADLOCK both wait at first. Each process has a listener, which
// resumes the object for which its process's doorbell is rung, and answers the watch. The watch makes two
// rounds. An object counts as deadlocked if both rounds see it in the same wait, for a stream without a
// message, and if the holder of the stream's other end is deadlocked, too. With KILLED the second object's
// process is killed at any step; the parent closes its stream, and then records that it is gone.
//
// The properties: a verdict is true: no process will ever resume that object. With DEADLOCK, once both wait,
// one search gives the verdict.
//
// Each BUG_ takes one safeguard away:
//   BUG_ONE_ROUND       an object that waits in the first round counts as one that has waited all the time
//   BUG_OLD_ANSWERS     the watch does not wait until both processes have answered
//   BUG_RINGS_UNSEEN    an object whose stream has a message counts as waiting until it is resumed
//   BUG_COUNT_FIRST     the count of waits is read once, before the stream
//   BUG_OVER_LATE       the holders of ends are those of the second round
//   BUG_FORGETS_FIRST   an object erases its end before the stream is closed
//   BUG_BLIND           objects that wait for streams between processes count as alive

bool message[2];             /* a message of object p was sent, and not taken yet */
bool closed[2];              /* the stream of p's messages is closed */
bool holds[2];               /* for the watch: p holds its sending end; false once p has ended */
byte count[2];               /* the count of p's waits; odd while it waits */
bool suspended[2];           /* p is suspended, and its resumption was not claimed */
bool marked[2];              /* the doorbell of p's process was rung */
bool gone[2], dead[2];

#define OTHER(p) (1 - p)
#define READY(p) (message[OTHER(p)] || closed[OTHER(p)])
#define STUCK(p) (count[p] % 2 == 1 && suspended[p] && !READY(p))

/* The last answer of a process. */
byte asked, answered[2], seen_count[2];
bool seen_holds[2];

inline receive(p, got) {
  do
  :: atomic { message[OTHER(p)] -> message[OTHER(p)] = false; got = true; break }
  :: atomic { !message[OTHER(p)] && closed[OTHER(p)] -> got = false; break }
  :: atomic { !message[OTHER(p)] && !closed[OTHER(p)] -> suspended[p] = true; count[p]++ };
     if
     :: READY(p) -> suspended[p] = false
     :: else
     fi;
     atomic { !suspended[p] -> count[p]++ }
  od
}
inline send(p) {
  d_step { message[p] = true; marked[OTHER(p)] = true }
}
inline leave(p) {
#ifdef BUG_FORGETS_FIRST
  holds[p] = false;
  d_step { closed[p] = true; marked[OTHER(p)] = true }
#else
  d_step { closed[p] = true; marked[OTHER(p)] = true };
  holds[p] = false
#endif
}

proctype first() {
  bool got;
#ifdef DEADLOCK
  receive(0, got);
#endif
  send(0);
  receive(0, got);
  leave(0)
}

proctype second() {
  bool got;
  {
    do
    :: receive(1, got);
       if
       :: got -> send(1)
       :: else -> break
       fi
    od;
    leave(1)
  } unless { dead[1] }
}

proctype listener(byte p) {
  byte before;
  bool ready;
  {
end_listening:
    do
    :: atomic { marked[p] -> marked[p] = false };
       if
       :: READY(p) -> suspended[p] = false
       :: else
       fi
    :: atomic { asked != answered[p] -> seen_holds[p] = holds[p]; before = count[p] };
#ifdef BUG_BLIND
       before = 0;
#endif
       if
       :: before % 2 == 1 ->
#ifndef BUG_RINGS_UNSEEN
          ready = READY(p);
#endif
          if
#ifdef BUG_COUNT_FIRST
          :: !ready -> seen_count[p] = before
#else
          :: atomic { count[p] == before && suspended[p] && !ready -> seen_count[p] = before }
#endif
          :: else -> seen_count[p] = 0
          fi
       :: else -> seen_count[p] = 0
       fi;
       d_step { answered[p] = asked; before = 0; ready = false }
    od
  } unless { dead[p] }
}

#ifdef BUG_OLD_ANSWERS
#define HAS_ANSWERED(p) true
#else
#define HAS_ANSWERED(p) (answered[p] == asked || gone[p])
#endif

proctype watch() {
  byte p, first_count[2];
  bool held[2], suspected[2], is_dead[2];
#ifdef DEADLOCK
  STUCK(0) && STUCK(1);
#endif
  asked = 1;
  HAS_ANSWERED(0) && HAS_ANSWERED(1);
  d_step {
    p = 0;
    do
    :: p < 2 ->
       held[p] = seen_holds[p] && !gone[p];
       first_count[p] = (gone[p] -> 0 : seen_count[p]);
       p++
    :: else -> break
    od;
    p = 0
  };
#ifndef BUG_ONE_ROUND
  asked = 2;
  HAS_ANSWERED(0) && HAS_ANSWERED(1);
#endif
  d_step {
    do
    :: p < 2 ->
       suspected[p] = first_count[p] != 0 && first_count[p] == seen_count[p] && !gone[p];
#ifdef BUG_OVER_LATE
       held[p] = seen_holds[p] && !gone[p];
#endif
       p++
    :: else -> break
    od;
    p = 0;
    do
    :: p < 2 ->
       /* An object that is alive frees the objects that wait for its messages. */
       is_dead[p] = suspected[p] && (suspected[OTHER(p)] || !held[OTHER(p)]);
       p++
    :: else -> break
    od;
    assert(!is_dead[0] || (STUCK(0) && (STUCK(1) || !holds[1] || gone[1])));
    assert(!is_dead[1] || (STUCK(1) && (STUCK(0) || !holds[0] || gone[0])));
#ifdef DEADLOCK
    assert(is_dead[0] && is_dead[1]);
#endif
  }
}

/* The parent: the second process dies, and the parent detects that. */
proctype parent() {
#ifdef KILLED
  d_step { dead[1] = true; closed[1] = true; marked[0] = true };
  gone[1] = true
#else
  skip
#endif
}

init {
  atomic {
    holds[0] = true;
    holds[1] = true;
    run first();
    run second();
    run listener(0);
    run listener(1);
    run watch();
    run parent()
  }
}
