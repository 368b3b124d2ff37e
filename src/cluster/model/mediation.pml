// SPDX-License-Identifier: Apache-2.0
// Mediation (src/cluster/hope/mediation): a note of one node reaches all others through mediators. A group of three
// nodes and one of two. All nodes but the origin may die at any step, also between two of their messages, and each
// other node notices a loss at any later step of its own.
//
// check: spin -a; cc -O2 -DSAFETY -DCOLLAPSE; -m100000
// expect: errors: 0
// check: spin -DORIGIN=3 -a; cc -O2 -DSAFETY -DCOLLAPSE; -m100000
// expect: errors: 0
// check: spin -DBUG_KEEPS_NOTHING -a; cc -O2 -DSAFETY -DCOLLAPSE; -m100000
// expect: errors: 1
// check: spin -DBUG_FORWARDS_BY_ROLE -a; cc -O2 -DSAFETY -DCOLLAPSE; -m100000
// expect: errors: 1
// check: spin -DBUG_RECEIVED_IS_FORWARDED -a; cc -O2 -DSAFETY -DCOLLAPSE; -m100000
// expect: errors: 1
//
// What is modelled: one note. A bundle may wait at each step. Messages of a node that has died may arrive or be lost,
// until the receiver notices the loss; after that none arrives. A node keeps the notes that it has sent to a mediator,
// and sends them to the successor when it notices the loss. A mediator forwards a note once. Not modelled: false
// suspicion, and notes that are kept for too short a time. Both cost only time, because every node computes what it
// does not receive.
//
// What must hold: when no more step is possible, every living node has the note.
//
// Each BUG_ removes one safeguard:
//   BUG_KEEPS_NOTHING          nothing is sent again to a successor
//   BUG_FORWARDS_BY_ROLE       a node forwards only if it considers itself the mediator
//   BUG_RECEIVED_IS_FORWARDED  a node considers a note that it has received in any way as forwarded

#ifndef ORIGIN
#define ORIGIN 2
#endif
#ifndef DEATHS
#define DEATHS 3
#endif
#define NONE 9
#define UP 0
#define ACROSS 1
#define DOWN 2

bit msg[75];         /* messages under way: by receiver, sender and way */
bit up_waits[5];     /* to be sent to the own mediator */
bit across_waits[10]; /* by node and group */
bit down_waits[25];  /* by node and receiver */
bit kept_up[25], kept_across[25]; /* by node and mediator */
bit received[5], forwarded[5];
bit gone[25];        /* by node and the lost node */
bit dead[5];
byte deaths;

#define MSG(to, from, way) msg[(to) * 15 + (from) * 3 + (way)]
#define GROUP(node) ((node) / 3)
#define LIVES(me, x) (!gone[(me) * 5 + (x)])
#define FIRST(me) (LIVES(me, 0) -> 0 : (LIVES(me, 1) -> 1 : (LIVES(me, 2) -> 2 : NONE)))
#define SECOND(me) (LIVES(me, 3) -> 3 : (LIVES(me, 4) -> 4 : NONE))
#define MEDIATOR(me, group) ((group) == 0 -> FIRST(me) : SECOND(me))

#define SENDS_DOWN(by, sender, x) \
  if :: GROUP(x) == GROUP(by) && x != by && x != sender && x != ORIGIN -> down_waits[by * 5 + x] = 1 :: else fi

/* Puts the note into the queue for the own group, and for the other group if it comes from the own one. */
inline forward(by, sender, for_all) {
  if
  :: forwarded[by] -> skip
#ifdef BUG_RECEIVED_IS_FORWARDED
  :: !forwarded[by] && received[by] && sender != by -> skip
  :: !forwarded[by] && (!received[by] || sender == by) ->
#else
  :: !forwarded[by] ->
#endif
     forwarded[by] = 1;
     if :: for_all -> across_waits[by * 2 + 1 - GROUP(by)] = 1 :: else fi;
     SENDS_DOWN(by, sender, 0); SENDS_DOWN(by, sender, 1); SENDS_DOWN(by, sender, 2);
     SENDS_DOWN(by, sender, 3); SENDS_DOWN(by, sender, 4)
  fi
}

inline receive(at, source, how) {
  MSG(at, source, how) = 0;
  if
#ifdef BUG_FORWARDS_BY_ROLE
  :: how != DOWN && MEDIATOR(at, GROUP(at)) == at -> forward(at, source, how == UP)
  :: how != DOWN && MEDIATOR(at, GROUP(at)) != at -> skip
#else
  :: how != DOWN -> forward(at, source, how == UP)
#endif
  :: how == DOWN -> skip
  fi;
  received[at] = 1
}

inline notice(at, other) {
  gone[at * 5 + other] = 1;
  MSG(at, other, UP) = 0; MSG(at, other, ACROSS) = 0; MSG(at, other, DOWN) = 0;
#ifndef BUG_KEEPS_NOTHING
  if :: kept_up[at * 5 + other] -> kept_up[at * 5 + other] = 0; up_waits[at] = 1 :: else fi;
  if :: kept_across[at * 5 + other] -> kept_across[at * 5 + other] = 0; across_waits[at * 2 + GROUP(other)] = 1 :: else fi
#endif
}

#define RECEIVE(from, way) \
  :: atomic { !dead[me] && MSG(me, from, way) && !gone[me * 5 + from] -> receive(me, from, way) } \
  :: atomic { !dead[me] && MSG(me, from, way) && dead[from] -> MSG(me, from, way) = 0 }
#define SEND_DOWN(x) \
  :: atomic { !dead[me] && down_waits[me * 5 + x] -> down_waits[me * 5 + x] = 0; \
       if :: !gone[me * 5 + x] -> MSG(x, me, DOWN) = 1 :: else fi }
#define NOTICE(x) \
  :: atomic { !dead[me] && dead[x] && !gone[me * 5 + x] -> notice(me, x) }

proctype node(byte me) {
  byte to;
end:
  do
  RECEIVE(0, UP) RECEIVE(0, ACROSS) RECEIVE(0, DOWN)
  RECEIVE(1, UP) RECEIVE(1, ACROSS) RECEIVE(1, DOWN)
  RECEIVE(2, UP) RECEIVE(2, ACROSS) RECEIVE(2, DOWN)
  RECEIVE(3, UP) RECEIVE(3, ACROSS) RECEIVE(3, DOWN)
  RECEIVE(4, UP) RECEIVE(4, ACROSS) RECEIVE(4, DOWN)
  SEND_DOWN(0) SEND_DOWN(1) SEND_DOWN(2) SEND_DOWN(3) SEND_DOWN(4)
  NOTICE(0) NOTICE(1) NOTICE(2) NOTICE(3) NOTICE(4)
  :: atomic { !dead[me] && up_waits[me] ->
       up_waits[me] = 0;
       to = MEDIATOR(me, GROUP(me));
       if
       :: to == me -> forward(me, me, 1)
       :: to != me -> MSG(to, me, UP) = 1; kept_up[me * 5 + to] = 1
       fi;
       to = 0 }
  :: atomic { !dead[me] && across_waits[me * 2 + 1 - GROUP(me)] ->
       across_waits[me * 2 + 1 - GROUP(me)] = 0;
       to = MEDIATOR(me, 1 - GROUP(me));
       if
       :: to == NONE -> skip
       :: to != NONE -> MSG(to, me, ACROSS) = 1; kept_across[me * 5 + to] = 1
       fi;
       to = 0 }
  od
}

/* Lets nodes die. */
proctype killer() {
  do
  :: atomic { deaths < DEATHS && ORIGIN != 0 && !dead[0] -> dead[0] = 1; deaths++ }
  :: atomic { deaths < DEATHS && ORIGIN != 1 && !dead[1] -> dead[1] = 1; deaths++ }
  :: atomic { deaths < DEATHS && ORIGIN != 2 && !dead[2] -> dead[2] = 1; deaths++ }
  :: atomic { deaths < DEATHS && ORIGIN != 3 && !dead[3] -> dead[3] = 1; deaths++ }
  :: atomic { deaths < DEATHS && ORIGIN != 4 && !dead[4] -> dead[4] = 1; deaths++ }
  :: break
  od
}

init {
  atomic {
    received[ORIGIN] = 1;
    up_waits[ORIGIN] = 1;
    run node(0); run node(1); run node(2); run node(3); run node(4);
    run killer()
  }
  timeout ->
  assert((dead[0] || received[0]) && (dead[1] || received[1]) && (dead[2] || received[2]) && (dead[3] || received[3]) &&
         (dead[4] || received[4]))
}
