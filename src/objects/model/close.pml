// SPDX-License-Identifier: Apache-2.0
// Three processes close their ends on one side of a stream (close_party in src/objects/stream/remote.cpp).
// One of the processes may be killed at any step; then the parent closes its end.
//
// check: spin -a; cc -O2 -DSAFETY; -m100000
// expect: errors: 0
// check: spin -DBUG_ONE_LOOP -a; cc -O2 -DSAFETY; -m100000
// expect: errors: 1
//
// What is modelled: each process stores that its end is closed, then reads the words of all processes. If none is
// open, it closes the stream and rings the other side. A killed process does nothing more; the parent, which
// detects its death later, does the same steps for it.
//
// The property: when all processes have ended, the stream is closed.
//
// Each BUG_ takes one safeguard away:
//   BUG_ONE_LOOP   a process reads the words of processes with lower numbers before it stores its own word

#define PROCESSES 3
bool open[PROCESSES], closed, dead;
byte ends;

inline close_party(process) {
  any = false;
  at = 0;
#ifdef BUG_ONE_LOOP
  do
  :: at < PROCESSES ->
     if
     :: at == process -> open[at] = false
     :: else
     fi;
     any = any || open[at];
     at++
  :: else -> break
  od;
#else
  open[process] = false;
  do
  :: at < PROCESSES ->
     any = any || open[at];
     at++
  :: else -> break
  od;
#endif
  if
  :: !any -> closed = true
  :: else
  fi
}

proctype closes(byte process) {
  bool any;
  byte at;
  {
    close_party(process)
  } unless { process == 0 && dead };
  ends++
}

/* Process 0 is killed, or not; the parent closes its end. */
proctype parent() {
  bool any;
  byte at;
  if
  :: dead = true;
     close_party(0)
  :: skip
  fi;
  ends++
}

proctype judge() {
  ends == PROCESSES + 1;
  assert(closed)
}

init {
  atomic {
    open[0] = true;
    open[1] = true;
    open[2] = true;
    run closes(0);
    run closes(1);
    run closes(2);
    run parent();
    run judge()
  }
}
