// SPDX-License-Identifier: Apache-2.0
// Subscriptions (src/cluster/hope/mediation): a note finally reaches a node that needs it, although the node did not
// need it at first. Nodes 0, 1 and 2 are a group. Node 3 is the mediator of another group and has the note. Node 2
// subscribes. Nodes 0 and 1 may die at any step, also between two of their messages, and each other node notices a loss
// at any later step of its own. With JOINS node 0 joins instead, and no node dies.
//
// check: spin -a; cc -O2 -DSAFETY -DCOLLAPSE; -m100000
// expect: errors: 0
// check: spin -DBUG_KEEPS_NO_LOG -a; cc -O2 -DSAFETY -DCOLLAPSE; -m100000
// expect: errors: 1
// check: spin -DBUG_TAKES_OLD -a; cc -O2 -DSAFETY -DCOLLAPSE; -m100000
// expect: errors: 1
// check: spin -DBUG_UNKNOWN_NEEDS_NOTHING -a; cc -O2 -DSAFETY -DCOLLAPSE; -m100000
// expect: errors: 1
// check: spin -DBUG_KEEPS_NOTHING -a; cc -O2 -DSAFETY -DCOLLAPSE; -m100000
// expect: errors: 1
// check: spin -DBUG_SUCCESSOR_IS_NOT_TOLD -a; cc -O2 -DSAFETY -DCOLLAPSE; -m100000
// expect: errors: 1
// check: spin -DBUG_HANDS_NO_LOG_OVER -a; cc -O2 -DSAFETY -DCOLLAPSE; -m100000
// expect: errors: 1
// check: spin -DJOINS -a; cc -O2 -DSAFETY -DCOLLAPSE; -m100000
// expect: errors: 0
// check: spin -DJOINS -DBUG_HANDS_NO_LOG_OVER -a; cc -O2 -DSAFETY -DCOLLAPSE; -m100000
// expect: errors: 1
// check: spin -DJOINS -DBUG_FORMER_MEDIATOR_KEEPS -a; cc -O2 -DSAFETY -DCOLLAPSE; -m100000
// expect: errors: 1
//
// What is modelled: one note, and two subscriptions of node 2: the first does not include the note, the second does.
// Bundles overtake each other, because a refused bundle waits. Messages of a node that has died may arrive or be lost
// until the receiver notices the loss; after that none arrives. A note sent to a mediator is kept and sent to its
// successor, or it is too old to be kept, and is in the log that node 3 hands over. Node 2 may have kept only its first
// subscription, because its second one was dropped for lack of room. With JOINS node 1 is the mediator at first, and
// hands its log over when it notices that node 0 has joined; each node notices that at any step of its own. Not
// modelled: false suspicion, a full log, the loss of node 3, and the loss of a mediator before it has handed its log
// over to a joining node. These cost only time, because every node computes what it does not receive.
//
// What must hold: when no more step is possible, node 2 has the note.
//
// Each BUG_ removes one safeguard:
//   BUG_KEEPS_NO_LOG            a mediator does not send the notes that it has withheld
//   BUG_TAKES_OLD               a late subscription replaces a newer one
//   BUG_UNKNOWN_NEEDS_NOTHING   a mediator forwards nothing to a node whose subscription it does not know
//   BUG_KEEPS_NOTHING           nothing is sent again to a successor
//   BUG_SUCCESSOR_IS_NOT_TOLD   node 2 does not subscribe again at a successor
//   BUG_HANDS_NO_LOG_OVER       the successor gets no log of another mediator
//   BUG_FORMER_MEDIATOR_KEEPS   a former mediator does not forward notes that still arrive

#define ORIGIN 3
#define MEMBER 2

bit across[3];       /* the note under way from node 3, by receiver */
bit log[3];          /* the note under way in a log, by receiver */
bit down[2];         /* the note under way to node 2, by sender */
bit up[6];           /* subscriptions under way from node 2: by receiver and version - 1 */
bit across_waits, across_kept[3];
bit in_log;          /* the note is in the log of node 3, and too old to be kept */
bit down_waits[2];   /* the note waits to be sent to node 2, by mediator */
bit up_waits[2], up_kept[4]; /* at node 2: by version - 1; by mediator and version - 1 */
byte known[2];       /* the version that a mediator knows; 0: none */
bit logged[2];       /* the mediator has taken the note */
byte version;        /* of the subscription of node 2. 1: without the note; 2: with it */
bit received;        /* node 2 has the note */
bit gone[8];         /* by node 0 to 3, and the lost node 0 or 1 */
bit dead[4];
bit joined;          /* node 0 has joined */

#define GONE(me, x) gone[(me) * 2 + (x)]
/* Nodes 1 to 3 each notice once that node 0 has joined. */
#ifdef JOINS
#define NOTICES_JOIN(me) joined && GONE(me, 0)
#define IS_THERE(me) (me != 0 || joined)
#else
#define NOTICES_JOIN(me) false
#define IS_THERE(me) true
#endif
#define MEDIATOR(me) (!GONE(me, 0) -> 0 : (!GONE(me, 1) -> 1 : 2))

inline needs_note(at, result) {
  result = (known[at] == 2 -> 1 : 0);
#ifndef BUG_UNKNOWN_NEEDS_NOTHING
  if :: known[at] == 0 -> result = 1 :: else fi
#endif
}

inline take_subscription(at, which) {
  up[at * 2 + which - 1] = 0;
  if
#ifdef BUG_TAKES_OLD
  :: known[at] != which ->
#else
  :: known[at] < which ->
#endif
#ifndef BUG_KEEPS_NO_LOG
     if :: known[at] == 1 && which == 2 && logged[at] -> down[at] = 1 :: else fi;
#endif
     known[at] = which
  :: else
  fi
}

proctype mediator(byte me) {
  bit needed;
end:
  do
  :: atomic { !dead[me] && IS_THERE(me) && across[me] -> across[me] = 0;
       if :: !logged[me] -> logged[me] = 1; down_waits[me] = 1 :: else fi }
  :: atomic { me == 1 && NOTICES_JOIN(1) -> GONE(1, 0) = 0;
#ifndef BUG_HANDS_NO_LOG_OVER
       if :: logged[1] -> log[0] = 1 :: else fi
#endif
       }
  :: atomic { !dead[me] && log[me] -> log[me] = 0;
       logged[me] = 1;
       needs_note(me, needed);
       if :: needed -> down[me] = 1 :: else fi;
       needed = 0 }
  :: atomic { !dead[me] && down_waits[me] -> down_waits[me] = 0;
#if defined(JOINS) && !defined(BUG_FORMER_MEDIATOR_KEEPS)
       if :: me == 1 && !GONE(1, 0) -> log[0] = 1 :: else fi;
#endif
       needs_note(me, needed);
       if :: needed -> down[me] = 1 :: else fi;
       needed = 0 }
  :: atomic { !dead[me] && up[me * 2] -> take_subscription(me, 1) }
  :: atomic { !dead[me] && up[me * 2 + 1] -> take_subscription(me, 2) }
  od
}

inline notice_up(other) {
  GONE(MEMBER, other) = 1;
  down[other] = 0;
#ifndef BUG_KEEPS_NOTHING
  if :: up_kept[other * 2] -> up_kept[other * 2] = 0; up_waits[0] = 1 :: else fi;
  if :: up_kept[other * 2 + 1] -> up_kept[other * 2 + 1] = 0; up_waits[1] = 1 :: else fi;
#endif
#ifndef BUG_SUCCESSOR_IS_NOT_TOLD
  if :: version != 0 -> up_waits[version - 1] = 1 :: else fi
#endif
}

inline send_up(which) {
  up_waits[which - 1] = 0;
  if
  :: MEDIATOR(MEMBER) == MEMBER -> skip
  :: MEDIATOR(MEMBER) != MEMBER ->
     up[MEDIATOR(MEMBER) * 2 + which - 1] = 1;
     if
     :: up_kept[MEDIATOR(MEMBER) * 2 + which - 1] = 1
     :: which == 2 -> skip /* there was no room to keep it */
     fi
  fi
}

proctype member() {
end:
  do
  :: atomic { version < 2 -> version++; up_waits[version - 1] = 1 }
  :: atomic { up_waits[0] -> send_up(1) }
  :: atomic { up_waits[1] -> send_up(2) }
  :: atomic { down[0] && !GONE(MEMBER, 0) -> down[0] = 0; received = 1 }
  :: atomic { down[1] && !GONE(MEMBER, 1) -> down[1] = 0; received = 1 }
  :: atomic { down[0] && dead[0] -> down[0] = 0 }
  :: atomic { down[1] && dead[1] -> down[1] = 0 }
  :: atomic { across[MEMBER] -> across[MEMBER] = 0; received = 1 }
  :: atomic { log[MEMBER] -> log[MEMBER] = 0; received = 1 }
  :: atomic { dead[0] && !GONE(MEMBER, 0) -> notice_up(0) }
  :: atomic { dead[1] && !GONE(MEMBER, 1) -> notice_up(1) }
  :: atomic { NOTICES_JOIN(MEMBER) -> GONE(MEMBER, 0) = 0;
       if :: version != 0 -> up_waits[version - 1] = 1 :: else fi }
  od
}

inline notice_at_origin(other) {
  GONE(ORIGIN, other) = 1;
#ifndef BUG_KEEPS_NOTHING
  if :: across_kept[other] -> across_kept[other] = 0; across_waits = 1 :: else fi;
#endif
#ifndef BUG_HANDS_NO_LOG_OVER
  if :: in_log -> log[MEDIATOR(ORIGIN)] = 1 :: else fi
#endif
}

proctype origin() {
end:
  do
  :: atomic { across_waits -> across_waits = 0; across[MEDIATOR(ORIGIN)] = 1; across_kept[MEDIATOR(ORIGIN)] = 1 }
  /* When the note is too old to be kept, the mediator has received it, or is dead. */
  :: atomic { across_kept[0] && !across[0] -> across_kept[0] = 0; in_log = 1 }
  :: atomic { across_kept[1] && !across[1] -> across_kept[1] = 0; in_log = 1 }
  :: atomic { dead[0] && !GONE(ORIGIN, 0) -> notice_at_origin(0) }
  :: atomic { dead[1] && !GONE(ORIGIN, 1) -> notice_at_origin(1) }
  :: atomic { NOTICES_JOIN(ORIGIN) -> GONE(ORIGIN, 0) = 0 }
  od
}

proctype killer() {
#ifdef JOINS
  joined = 1
#else
  do
  :: atomic { !dead[0] -> dead[0] = 1 }
  :: atomic { !dead[1] -> dead[1] = 1 }
  :: break
  od
#endif
}

init {
  atomic {
    across_waits = 1;
#ifdef JOINS
    GONE(1, 0) = 1; GONE(MEMBER, 0) = 1; GONE(ORIGIN, 0) = 1;
#endif
    run mediator(0); run mediator(1); run member(); run origin(); run killer()
  }
  timeout -> assert(received)
}
