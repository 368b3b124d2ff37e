// SPDX-License-Identifier: Apache-2.0
// A stream between two processes, of which one may be killed at any step.
//
// check: spin -a; cc -O2 -DSAFETY; -m100000
// expect: errors: 0
// check: spin -DKILLED=SENDER -a; cc -O2 -DSAFETY -DCOLLAPSE; -m100000
// expect: errors: 0
// check: spin -DKILLED=RECEIVER -a; cc -O2 -DSAFETY -DCOLLAPSE; -m100000
// expect: errors: 0
// check: spin -DKILLED=SENDER -DBUG_NO_RING -a; cc -O2 -DSAFETY; -m100000
// expect: errors: 1
// check: spin -DKILLED=SENDER -DBUG_RING_ONLY -a; cc -O2 -DSAFETY; -m100000
// expect: errors: 1
// check: spin -DBUG_NO_SECOND_LOOK -a; cc -O2 -DSAFETY; -m100000
// expect: errors: 1
// check: spin -DBUG_RING_FIRST -a; cc -O2 -DSAFETY; -m100000
// expect: errors: 1
// check: spin -DBUG_SLEEP_AT_ONCE -a; cc -O2 -DSAFETY; -m100000
// expect: errors: 1
// check: spin -DKILLED=SENDER -DBUG_CLOSED_READ_LATE -a; cc -O2 -DSAFETY; -m100000
// expect: errors: 1
// check: spin -DBUG_PUBLISH_FIRST -a; cc -O2 -DSAFETY; -m100000
// expect: errors: 1
//
// What is modelled: a sender sends MESSAGES messages through a ring of ROOM slots; each object waits in the list of
// its own process (`listed`), whose listener sleeps on the doorbell's word. Each statement is one atomic
// access; the wake-up of a futex is a step of its own after the exchange of the word. The process KILLED
// stops between any two steps, together with its listener; then the parent closes its side and rings for it.
// Only one process takes the lock of a list. The model omits the lock, because it only guards against objects
// of the same process.
//
// The properties: each process that is not killed ends. The receiver has then received every published
// message, in order and none twice.
//
// Each BUG_ takes one safeguard away:
//   BUG_NO_RING            the parent closes the side of a dead process, but does not ring
//   BUG_RING_ONLY          the parent rings as others do, and so wakes only a listener that has announced its
//   sleep
//   BUG_NO_SECOND_LOOK     an object that has announced its wait does not check the stream again
//   BUG_RING_FIRST         the word is exchanged before the bit is set
//   BUG_SLEEP_AT_ONCE      the listener announces its sleep whatever the word is
//   BUG_CLOSED_READ_LATE   the receiver checks the ring first, then whether the stream is closed
//   BUG_PUBLISH_FIRST      the index moves before the slot is written

#define MESSAGES 2
#define ROOM 1
#define SENDER 0
#define RECEIVER 1
#define NO_PROCESS 2
#ifndef KILLED
#define KILLED NO_PROCESS
#endif
#define AWAKE 0
#define RUNG 1
#define ASLEEP 2

byte head, tail, slot[ROOM];
bool waiting[2];             /* the bits of stream_words::waiting: an object of that side waits */
bool closed, broken;
byte word[2];                /* the doorbells */
bool marked[2];              /* the stream's bit of each doorbell */
bool in_futex[2];
bool listed[2];              /* the object is in its process's list, and parks */
bool dead[2];
byte got;

/* The exchange of the word, then the wake-up of a sleeping listener. */
inline exchange(p) {
  if
  :: atomic { word[p] == ASLEEP -> word[p] = RUNG }; in_futex[p] = false
  :: atomic { word[p] != ASLEEP -> word[p] = RUNG }
  fi
}
inline ring(p) {
#ifdef BUG_RING_FIRST
  exchange(p);
  marked[p] = true
#else
  marked[p] = true;
  exchange(p)
#endif
}

/* Called after an index was moved. */
inline wake(p) {
  if
  :: atomic { waiting[p] -> waiting[p] = false }; ring(p)
  :: !waiting[p]
  fi
}

/* ready: the condition of the wait. */
#define SENDER_READY (tail - head < ROOM || broken)
#define RECEIVER_READY (tail != head || closed)
inline wait(p, ready) {
  listed[p] = true;
  waiting[p] = true;
#ifndef BUG_NO_SECOND_LOOK
  if
  :: ready -> listed[p] = false
  :: else
  fi;
#endif
  !listed[p]                 /* the listener has taken the object out, or the object did so itself */
}

proctype sender() {
  byte next;
  {
    do
    :: next == MESSAGES || broken -> break
    :: else ->
       if
       :: tail - head < ROOM ->
#ifdef BUG_PUBLISH_FIRST
          tail++;
          slot[next % ROOM] = next + 1;
#else
          slot[next % ROOM] = next + 1;
          tail++;
#endif
          next++;
          wake(RECEIVER)
       :: else -> wait(SENDER, SENDER_READY)
       fi
    od;
    closed = true;
    ring(RECEIVER)
  } unless { dead[SENDER] }
}

proctype receiver() {
  bool over;
  {
    do
    ::
#ifndef BUG_CLOSED_READ_LATE
       over = closed;
#endif
       if
       :: tail != head ->
          assert(slot[head % ROOM] == head + 1);
          got++;
          head++;
          wake(SENDER)
       :: else ->
#ifdef BUG_CLOSED_READ_LATE
          over = closed;
#endif
          if
          :: over -> break
          :: else -> wait(RECEIVER, RECEIVER_READY)
          fi
       fi
    od;
    assert(got == tail);
    broken = true;
    ring(SENDER)
  } unless { dead[RECEIVER] }
}

proctype listener(byte p) {
  bool any;
  {
    do
    :: atomic { any = (word[p] == RUNG); word[p] = AWAKE };
       if
       :: atomic { marked[p] -> marked[p] = false; any = true };
          /* wake_here: objects that cannot continue stay listed, and are announced again before a last check
           * */
          do
          :: !listed[p] -> break
          :: listed[p] && (p == SENDER -> SENDER_READY : RECEIVER_READY) -> listed[p] = false; break
          :: listed[p] && !(p == SENDER -> SENDER_READY : RECEIVER_READY) ->
             waiting[p] = true;
             if
             :: (p == SENDER -> SENDER_READY : RECEIVER_READY)
             :: else -> break
             fi
          od
       :: !marked[p]
       fi;
       if
       :: any
#ifdef BUG_SLEEP_AT_ONCE
       :: atomic { !any -> word[p] = ASLEEP };
#else
       :: atomic { !any && word[p] != AWAKE }
       :: atomic { !any && word[p] == AWAKE -> word[p] = ASLEEP };
#endif
          if
          :: atomic { word[p] == ASLEEP -> in_futex[p] = true };
end_sleeping:
             !in_futex[p]
          :: word[p] != ASLEEP
          fi
       fi
    od
  } unless { dead[p] }
}

/* The parent: a process dies, and the parent detects that. */
proctype parent() {
  byte other;
#if KILLED != NO_PROCESS
  dead[KILLED] = true;
  other = 1 - KILLED;
  if
  :: KILLED == SENDER -> closed = true
  :: else -> broken = true
  fi;
#ifdef BUG_RING_ONLY
  ring(other)
#elif !defined(BUG_NO_RING)
  marked[other] = true;
  word[other] = RUNG;
  in_futex[other] = false
#endif
#endif
}

init {
  atomic {
    run sender();
    run receiver();
    run listener(SENDER);
    run listener(RECEIVER);
    run parent()
  }
}
