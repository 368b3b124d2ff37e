// SPDX-License-Identifier: Apache-2.0
// Stealing between nodes, at the level of messages (src/cluster/steal): requests, lifelines, tasks, declined tasks, and
// the end of an entry. Three nodes with one worker each. The exchange between a node and its worker is modelled in
// src/runtime/model/remote.pml and standing.pml. Here a node gives a task if it has work to spare and knows of another
// node that waits.
//
// check: spin -DPIECES=3 -a; cc -O2 -DSAFETY -DCOLLAPSE; -m1000000
// expect: errors: 0
// check: spin -DLIFELINES_ONLY -a; cc -O2 -DSAFETY -DCOLLAPSE; -m1000000
// expect: errors: 0
// check: spin -DPIECES=3 -a; cc -O2 -DNP -DCOLLAPSE; -l -m1000000
// expect: errors: 0
// check: spin -DLIFELINES_ONLY -a; cc -O2 -DNP -DCOLLAPSE; -l -m1000000
// expect: errors: 0
// check: spin -DLIFELINES_ONLY -DBUG_PARTNERS_ONLY -a; cc -O2 -DSAFETY; -m1000000
// expect: errors: 1
// check: spin -DLIFELINES_ONLY -DBUG_STAYS_REGISTERED -a; cc -O2 -DSAFETY; -m1000000
// expect: errors: 1
// check: spin -DLIFELINES_ONLY -DBUG_LATE_IS_DROPPED -a; cc -O2 -DSAFETY; -m1000000
// expect: errors: 1
// check: spin -DLIFELINES_ONLY -DBUG_DECLINED_IS_KEPT -a; cc -O2 -DSAFETY; -m1000000
// expect: errors: 1
// check: spin -DPIECES=3 -DBUG_REFUSED_AT_LIFELINE -a; cc -O2 -DSAFETY; -m1000000
// expect: errors: 1
// check: spin -DPIECES=3 -DBUG_ASKS_ON -a; cc -O2 -DNP; -l -m1000000
// expect: errors: 1
//
// What is modelled: node 0 has all pieces of work at first. A node that runs one piece can give any part of its other
// pieces. An idle node may send one request to another node, once, and stops waiting for an answer at any step. It
// registers lifelines with its partners (0 and 1, 0 and 2), and at any step with all nodes. LIFELINES_ONLY: no node
// sends a request. The node that gives does not wait: results are not modelled. The first pieces may end at any time.
// The last three end only when all three run, so each node must get one. Then everything ends: node 0 announces that.
//
// What must hold:
//   no node is idle for ever while another node has work to spare (else the last pieces wait in an invalid end state);
//   each piece is begun once, and none is left or under way at the end;
//   no endless exchange of messages (no cycle at all: pan -l, without a label of progress).
//
// Each BUG_ removes one safeguard:
//   BUG_PARTNERS_ONLY       no lifeline is registered with a node that is not a partner
//   BUG_STAYS_REGISTERED    a node considers its lifeline registered after it declined the task sent for it
//   BUG_LATE_IS_DROPPED     a task that arrives at a node without an idle worker is dropped
//   BUG_DECLINED_IS_KEPT    such a task is declined and also run
//   BUG_REFUSED_AT_LIFELINE a lifeline is removed when there is no work to spare
//   BUG_ASKS_ON             an idle node never stops sending requests

#ifndef PIECES
#define PIECES 4
#endif
#define LAST 3                    /* number of pieces that end only when all of them run */
#define NODES 3
#define ARE_PARTNERS(a, b) (a + b == 1 || a + b == 2)   /* of nodes 0, 1, 2: a differs from b in one bit */

mtype = { request, none, task, declined, lifeline, over };
/* Messages from one node to another one, in order. */
chan to[9] = [4] of { mtype, byte };
#define CHANNEL(from, at) to[from * NODES + at]

byte spare[NODES];                /* bits: pieces that no node has begun */
byte begun = 0;                   /* bits */
bit runs[NODES];
byte running = 0, ended = 0;

inline begin(me) {
  piece = (spare[me] & 1 -> 1 : (spare[me] & 2 -> 2 : (spare[me] & 4 -> 4 : 8)));
  assert(!(begun & piece));
  begun = begun | piece;
  spare[me] = spare[me] & ~piece;
  piece = 0;
  runs[me] = 1;
  running++
}

/* Gives all spare pieces or one. */
inline give(me, peer) {
  if
  :: part = spare[me]
  :: part = (spare[me] & 1 -> 1 : (spare[me] & 2 -> 2 : (spare[me] & 4 -> 4 : 8)))
  fi;
  spare[me] = spare[me] & ~part;
  wants[peer] = 0;
  held[peer] = 0;
  CHANNEL(me, peer)!task, part;
  part = 0
}

inline receive(from, me) {
  if
  :: CHANNEL(from, me)?request, _ -> wants[from] = 1
  :: CHANNEL(from, me)?none, _ -> if :: asks == from -> asks = me :: else fi
  :: CHANNEL(from, me)?lifeline, _ -> held[from] = 1
  :: CHANNEL(from, me)?declined, part ->
     spare[me] = spare[me] | part;
     part = 0
  :: CHANNEL(from, me)?over, _ -> is_over = 1
  :: CHANNEL(from, me)?task, part ->
     assert(!is_over);
     if
     :: !runs[me] ->
        registered[from] = 0;
        spare[me] = spare[me] | part;
        asks = me
     :: runs[me] ->
#ifndef BUG_STAYS_REGISTERED
        registered[from] = 0;
#endif
        if :: asks == from -> asks = me :: else fi;
#ifdef BUG_DECLINED_IS_KEPT
        spare[me] = spare[me] | part;
#endif
#ifndef BUG_LATE_IS_DROPPED
        CHANNEL(me, from)!declined, part;
#endif
     fi;
     part = 0
  fi
}

#define IDLE (!runs[me] && spare[me] == 0 && !is_over && ended < PIECES)
#ifdef BUG_ASKS_ON
#define MAY_ASK(peer) (me != peer && asks == me)
#else
#define MAY_ASK(peer) (me != peer && asks == me && !has_asked)
#endif
#define MISSES(peer) (me != peer && !registered[peer])
#define MAY_GIVE(peer) (runs[me] && spare[me] != 0 && (wants[peer] || held[peer]))
#define MAY_REFUSE(peer) (wants[peer] && (spare[me] == 0 || !runs[me]))

inline ask(me, peer) {
  asks = peer;
  has_asked = 1;
  CHANNEL(me, peer)!request, 0
}
inline wait_at(peer, may) {
  if
  :: MISSES(peer) && may -> registered[peer] = 1; CHANNEL(me, peer)!lifeline, 0
  :: else
  fi
}
inline refuse(me, peer) {
  wants[peer] = 0;
#ifdef BUG_REFUSED_AT_LIFELINE
  held[peer] = 0;
#endif
  CHANNEL(me, peer)!none, 0
}

proctype node(byte me) {
  bit wants[NODES], held[NODES];  /* requests and lifelines of other nodes */
  bit registered[NODES];          /* own lifelines, by other node */
#ifdef LIFELINES_ONLY
  bit has_asked = 1;
#else
  bit has_asked = 0;
#endif
  byte asks = me;                 /* the node whose answer is awaited; me: none */
  bit is_over = 0;
  byte part = 0, piece = 0;
  do
  /* The worker. */
  :: atomic { !runs[me] && spare[me] != 0 -> begin(me) }
  :: atomic { runs[me] && ended < PIECES - LAST -> runs[me] = 0; running--; ended++ }
  :: atomic { runs[me] && running == LAST && ended == PIECES - LAST -> ended = PIECES }
  :: atomic { runs[me] && ended == PIECES -> runs[me] = 0 }
  /* The node. */
  :: atomic { MAY_GIVE(0) -> give(me, 0) }
  :: atomic { MAY_GIVE(1) -> give(me, 1) }
  :: atomic { MAY_GIVE(2) -> give(me, 2) }
  :: atomic { MAY_REFUSE(0) -> refuse(me, 0) }
  :: atomic { MAY_REFUSE(1) -> refuse(me, 1) }
  :: atomic { MAY_REFUSE(2) -> refuse(me, 2) }
  :: atomic { IDLE && MAY_ASK(0) -> ask(me, 0) }
  :: atomic { IDLE && MAY_ASK(1) -> ask(me, 1) }
  :: atomic { IDLE && MAY_ASK(2) -> ask(me, 2) }
  :: atomic { IDLE && asks != me -> asks = me }              /* its patience has ended */
  :: atomic { IDLE && asks == me && ((MISSES(1) && ARE_PARTNERS(me, 1)) || (MISSES(0) && ARE_PARTNERS(me, 0)) ||
                                     (MISSES(2) && ARE_PARTNERS(me, 2))) ->
              wait_at(0, ARE_PARTNERS(me, 0)); wait_at(1, ARE_PARTNERS(me, 1)); wait_at(2, ARE_PARTNERS(me, 2)) }
#ifndef BUG_PARTNERS_ONLY
  :: atomic { IDLE && asks == me && (MISSES(0) || MISSES(1) || MISSES(2)) ->
              wait_at(0, true); wait_at(1, true); wait_at(2, true) }
#endif
  :: atomic { me != 0 && nempty(CHANNEL(0, me)) -> receive(0, me) }
  :: atomic { me != 1 && nempty(CHANNEL(1, me)) -> receive(1, me) }
  :: atomic { me != 2 && nempty(CHANNEL(2, me)) -> receive(2, me) }
  :: atomic { me == 0 && ended == PIECES && !runs[0] && !runs[1] && !runs[2] ->
              assert(begun == (1 << PIECES) - 1);
              to[1]!over, 0; to[2]!over, 0; break }
  :: is_over -> break
  od
}

init {
  atomic {
    spare[0] = (1 << PIECES) - 1;
    run node(0);
    run node(1);
    run node(2)
  }
}
