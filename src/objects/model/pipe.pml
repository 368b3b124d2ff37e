// SPDX-License-Identifier: Apache-2.0
// A stream through a pipe with two senders and two receivers, of which one may be killed at any step
// (src/objects/stream/pipe.hpp).
//
// check: spin -a; cc -O2 -DSAFETY -DCOLLAPSE; -m100000
// expect: errors: 0
// check: spin -DKILLED=0 -a; cc -O2 -DSAFETY -DCOLLAPSE; -m100000
// expect: errors: 0
// check: spin -DKILLED=2 -a; cc -O2 -DSAFETY -DCOLLAPSE; -m100000
// expect: errors: 0
// check: spin -DKILLED=0 -DBUG_NO_REPAIR -a; cc -O2 -DSAFETY -DCOLLAPSE; -m100000
// expect: errors: 1
// check: spin -DKILLED=2 -DBUG_NO_REPAIR -a; cc -O2 -DSAFETY -DCOLLAPSE; -m100000
// expect: errors: 1
// check: spin -DKILLED=0 -DBUG_ONE_LOCK -a; cc -O2 -DSAFETY -DCOLLAPSE; -m100000
// expect: errors: 1
//
// What is modelled: each sender sends one message: it locks, writes the message into the pipe, stores the tail,
// unlocks. Each receiver takes one message: it locks, reads from the pipe if the tail is beyond the head,
// stores the head, unlocks. KILLED (0 is a sender, 2 a receiver) stops between two steps; another process
// then inherits its lock. Objects wait as in all streams between processes (doorbell.pml). In this model a
// receiver that finds nothing tries again.
//
// The properties: no receiver reads from an empty pipe. A sent message is received once, or the dead receiver
// had read it. At the end, if no process was killed, nothing is left.
//
// Each BUG_ takes one safeguard away:
//   BUG_NO_REPAIR        a process that inherits a lock makes no repair
//   BUG_ONE_LOCK         the process that inherits a lock repairs at once, without the other lock

#define NO_PROCESS 9
#ifndef KILLED
#define KILLED NO_PROCESS
#endif
byte head, tail;
byte content[4], first, last;  /* the pipe: the number of each message's sender */
byte owner[2];                 /* owner of each side's lock: NO_PROCESS, a process, or DEAD */
bool repair, accepted[2], received[2], dead;
#define DEAD 8
/* A process that inherits a lock and dies before it sets `owner` to its number leaves the lock to be
 * inherited again. */
#define INHERITED(me) (16 + me)

inline take(which, me) {
  if
  :: atomic { owner[which] == NO_PROCESS -> owner[which] = me }
  :: atomic { owner[which] == DEAD -> owner[which] = INHERITED(me) };
#ifndef BUG_NO_REPAIR
     repair = true;
#endif
     owner[which] = me
  fi
}
inline repair_counters() {
  atomic {
    if
    :: last - first > tail - head -> tail = head + (last - first)
    :: last - first < tail - head -> head = tail - (last - first)
    :: else
    fi
  };
  repair = false
}
inline lock(which, me) {
  do
  :: take(which, me);
     if
     :: !repair -> break
     :: else
     fi;
#ifdef BUG_ONE_LOCK
     repair_counters();
     break
#else
     owner[which] = NO_PROCESS;
     take(0, me);
     take(1, me);
     if
     :: repair -> repair_counters()
     :: else
     fi;
     owner[1] = NO_PROCESS;
     owner[0] = NO_PROCESS
#endif
  od
}

proctype sender(byte me) {
  {
    lock(0, me);
    atomic { content[last] = me; last++ };
    tail++;
    owner[0] = NO_PROCESS;
    accepted[me] = true
  } unless { dead && me == KILLED }
}

proctype receiver(byte me) {
  byte got;
  {
end_receiving:
    do
    :: head != tail ->
       lock(1, me);
       if
       :: head != tail ->
          atomic {
            assert(last != first);
            got = content[first];
            first++;
            assert(!received[got]);
            received[got] = true
          };
          head++
       :: else
       fi;
       owner[1] = NO_PROCESS
    od
  } unless { dead && me == KILLED }
}

proctype killer() {
#if KILLED != NO_PROCESS
  byte i;
  d_step {
    dead = true;
    i = 0;
    do
    :: i < 2 ->
       if
       :: owner[i] == KILLED || owner[i] == INHERITED(KILLED) -> owner[i] = DEAD
       :: else
       fi;
       i++
    :: else -> break
    od
  }
#else
  skip
#endif
}

/* When no process can continue, all accepted messages have been received. */
proctype judge() {
  timeout;
  assert(!accepted[0] || received[0]);
  assert(!accepted[1] || received[1])
}

init {
  atomic {
    owner[0] = NO_PROCESS;
    owner[1] = NO_PROCESS;
    run sender(0);
    run sender(1);
    run receiver(2);
    run receiver(3);
    run killer();
    run judge()
  }
}
