// SPDX-License-Identifier: Apache-2.0
// Hierarchical omission: each node has all named tasks to do, in any order, and omits what another one has finished
// (src/cluster/hope). Two nodes with two tasks, and three nodes with one. Any message may be lost, delayed or overtaken,
// any node but the last one may die at any step, and a node may be thought lost that lives.
//
// check: spin -DNODES=2 -a; cc -O2 -DSAFETY -DCOLLAPSE; -m100000
// expect: errors: 0
// check: spin -DNODES=2 -DSUSPECTS -a; cc -O2 -DSAFETY -DCOLLAPSE; -m100000
// expect: errors: 0
// check: spin -DTASKS=1 -a; cc -O2 -DSAFETY -DCOLLAPSE; -m100000
// expect: errors: 0
// check: spin -DNODES=2 -a; cc -O2 -DNP -DCOLLAPSE; -l -m100000
// expect: errors: 0
// check: spin -DTASKS=1 -DMOST_GIFTS=0 -a; cc -O2 -DNP -DCOLLAPSE; -l -m100000
// expect: errors: 0
// check: spin -DNODES=2 -DBUG_WAITS_FOR_CLAIMANTS -a; cc -O2 -DSAFETY -DCOLLAPSE; -m100000
// expect: errors: 1
// check: spin -DNODES=2 -DBUG_BOTH_YIELD -a; cc -O2 -DNP -DCOLLAPSE; -l -m100000
// expect: errors: 1
// check: spin -DNODES=2 -DBUG_NAMED_BY_ORDER -a; cc -O2 -DSAFETY -DCOLLAPSE; -m100000
// expect: errors: 1
// check: spin -DNODES=2 -DBUG_GIVES_FOR_GOOD -a; cc -O2 -DSAFETY -DCOLLAPSE; -m100000
// expect: errors: 1
// check: spin -DNODES=2 -DBUG_RESULT_AT_START -a; cc -O2 -DSAFETY -DCOLLAPSE; -m100000
// expect: errors: 1
//
// What is modelled: a node takes a task that has no result and that no node it believes alive has claimed, and claims
// it; when it has waited long enough, also one that is claimed. It withdraws from the task that it runs whenever the
// claim of a node with a smaller number arrives. A result is sent to all. A node that has the task to do takes it
// over, and ends what it runs of it. A task's value is its own: equal on all nodes. A node may
// give a free task to any other one at any moment, as that may have asked, and takes it for claimed by that one, whether it
// arrives or not; a node that receives it runs it if it runs nothing, else it refuses. The refusal may be lost, too.
// Time is not modelled: patience may be over at any moment.
//
// Not explored: the request that a gift answers; more than two gifts between two nodes, and more than one among three;
// cycles of three nodes with a gift, as that search takes too long for each run.
//
// What must hold: no node has a wrong value; every node that does not die ends with all values, whatever is lost, also
// where it is the only one left; and no endless sequence of takes and withdrawals (no cycle at all: pan -l, without a
// label of progress).
//
// Each BUG_ takes one safeguard away:
//   BUG_WAITS_FOR_CLAIMANTS  a claim is more than a hint: its task is never taken while the claimant lives
//   BUG_BOTH_YIELD           a node that receives a claim of what it runs withdraws, also if its number is smaller
//   BUG_GIVES_FOR_GOOD       a task that was given away is none of the giver's business any more
//   BUG_NAMED_BY_ORDER       tasks are named by their place in the node's own order
//   BUG_RESULT_AT_START      a result is said when the task begins, before it has its value

#ifndef NODES
#define NODES 3
#endif
#ifndef TASKS
#define TASKS 2
#endif
#ifndef MOST_GIFTS
#define MOST_GIFTS (4 - NODES)
#endif
#define NONE 9
#define LAST (TASKS - 1)

/* Messages on their way, by receiver, task and sender; and what a node believes. */
#define AT(to, task, from) ((to) * TASKS * NODES + (task) * NODES + (from))
bit claim_sent[18], unclaim_sent[18], result_sent[18], given_sent[18];
bit claimed[18];                 /* by node, task and claimant */
byte value[6], content[18];      /* 0: none; of the results on their way */
byte runs[3];                    /* NONE, or a task */
byte gifts = MOST_GIFTS;         /* that all nodes together may give still */
bit lost[9], dead[3];            /* lost: by node and the other one */
byte living = NODES;

#define VALUE(task) (1 + (task))
#define HAS(me, task) (value[(me) * TASKS + (task)] != 0)
#define IS_CLAIMED(me, task) (claimed[AT(me, task, 0)] || claimed[AT(me, task, 1)] || (NODES > 2 && claimed[AT(me, task, 2 % NODES)]))
#ifdef BUG_GIVES_FOR_GOOD
bit gave[6];                     /* by node and task */
#define NEEDS(me, task) (!HAS(me, task) && !gave[(me) * TASKS + (task)])
#else
#define NEEDS(me, task) (!HAS(me, task))
#endif
#ifdef BUG_BOTH_YIELD
#define YIELDS_TO(from, me) true
#else
#define YIELDS_TO(from, me) (from < me)
#endif
/* Node 1 has the other order. */
#ifdef BUG_NAMED_BY_ORDER
#define HEARD_AS(me, task) ((me) == 1 -> TASKS - 1 - (task) : (task))
#else
#define HEARD_AS(me, task) (task)
#endif

/* Who is dead or has the value has no use for it: not sent, so that there are fewer states. */
#define RECEIVES(other, task) (!dead[other] && !HAS(other, task))
/* Each receiver may get it or not. */
inline say_claim(me, task) {
  other = 0;
  do
  :: other < NODES && other != me && RECEIVES(other, task) -> claim_sent[AT(other, task, me)] = 1; other++
  :: other < NODES -> other++
  :: other == NODES -> break
  od;
  other = 0
}
inline say_unclaim(me, task) {
  other = 0;
  do
  :: other < NODES && other != me && RECEIVES(other, task) -> unclaim_sent[AT(other, task, me)] = 1; other++
  :: other < NODES -> other++
  :: other == NODES -> break
  od;
  other = 0
}
inline say_result(me, task, result) {
  other = 0;
  do
  :: other < NODES && other != me && RECEIVES(other, task) ->
     result_sent[AT(other, task, me)] = 1; content[AT(other, task, me)] = result; other++
  :: other < NODES -> other++
  :: other == NODES -> break
  od;
  other = 0
}
inline take(me, task) {
  runs[me] = task;
  say_claim(me, task);
#ifdef BUG_RESULT_AT_START
  say_result(me, task, 7);
#endif
}
inline give(me, task, to) {
  gifts--;
  claimed[AT(me, task, to)] = 1;
#ifdef BUG_GIVES_FOR_GOOD
  gave[(me) * TASKS + (task)] = 1;
#endif
  if
  :: RECEIVES(to, task) -> given_sent[AT(to, task, me)] = 1
  :: skip                                                            /* it gets lost */
  fi
}
/* The task is no concern of this node any more: nor are claims of it. */
inline settle(me, task) {
  other = 0;
  do
  :: other < NODES ->
     claimed[AT(me, task, other)] = 0; claim_sent[AT(me, task, other)] = 0; unclaim_sent[AT(me, task, other)] = 0;
     given_sent[AT(me, task, other)] = 0;
#ifndef BUG_NAMED_BY_ORDER
     result_sent[AT(me, task, other)] = 0; content[AT(me, task, other)] = 0;
#endif
     other++
  :: other == NODES -> break
  od;
  other = 0
}
inline set_value(me, task, result) {
  if
  :: !HAS(me, task) ->
     assert(result == VALUE(task));
     value[(me) * TASKS + (task)] = result;
     settle(me, task);
     if
     :: runs[me] == task -> runs[me] = NONE
     :: else
     fi
  :: else
  fi
}

/* Something arrives; what does not arrive at all was never sent (say). */
#define RECEIVE(task, from) \
  :: atomic { claim_sent[AT(me, task, from)] -> \
       claim_sent[AT(me, task, from)] = 0; \
       if \
       :: !lost[me * NODES + from] -> \
          claimed[AT(me, task, from)] = 1; \
          if \
          :: runs[me] == task && YIELDS_TO(from, me) -> runs[me] = NONE; say_unclaim(me, task) \
          :: else \
          fi \
       :: else \
       fi } \
  :: atomic { unclaim_sent[AT(me, task, from)] -> \
       unclaim_sent[AT(me, task, from)] = 0; claimed[AT(me, task, from)] = 0 } \
  :: atomic { given_sent[AT(me, task, from)] -> \
       given_sent[AT(me, task, from)] = 0; \
       if \
       :: runs[me] == NONE -> runs[me] = task \
       :: runs[me] != NONE && runs[me] != task && RECEIVES(from, task) -> unclaim_sent[AT(from, task, me)] = 1 \
       :: runs[me] != NONE /* it runs it, or that it has not received */ \
       fi } \
  :: atomic { result_sent[AT(me, task, from)] -> \
       result_sent[AT(me, task, from)] = 0; \
       set_value(me, HEARD_AS(me, task), content[AT(me, task, from)]) }
#define CAN_GIVE(task, to) \
  (to != me && gifts > 0 && !lost[me * NODES + to] && !HAS(me, task) && !IS_CLAIMED(me, task) && runs[me] != task)
#define GIVE(to) \
  :: atomic { CAN_GIVE(0, to) -> give(me, 0, to) } \
  :: atomic { TASKS > 1 && CAN_GIVE(LAST, to) -> give(me, LAST, to) }
/* A node is lost, or is thought to be. */
#ifdef SUSPECTS
#define SEEMS_LOST(from) (from != me)
#else
#define SEEMS_LOST(from) dead[from]
#endif
#define NOTICE(from) \
  :: atomic { SEEMS_LOST(from) && !lost[me * NODES + from] -> \
       lost[me * NODES + from] = 1; claimed[AT(me, 0, from)] = 0; claimed[AT(me, LAST, from)] = 0 }

proctype node(byte me) {
  byte other, current;
  do
  :: atomic { HAS(me, 0) && HAS(me, LAST) -> break }
  :: atomic { living > 1 -> living--; dead[me] = 1; runs[me] = NONE; settle(me, 0); settle(me, LAST); break }

  :: atomic { /* takes a free task */
       runs[me] == NONE && (NEEDS(me, 0) || NEEDS(me, LAST)) ->
       if
       :: NEEDS(me, 0) && !IS_CLAIMED(me, 0) -> take(me, 0)
       :: NEEDS(me, LAST) && !IS_CLAIMED(me, LAST) -> take(me, LAST)
#ifndef BUG_WAITS_FOR_CLAIMANTS
       :: NEEDS(me, 0) && IS_CLAIMED(me, 0) -> take(me, 0) /* its patience has ended */
       :: NEEDS(me, LAST) && IS_CLAIMED(me, LAST) -> take(me, LAST)
#endif
       fi
     }
  :: atomic { /* has finished one */
       runs[me] != NONE ->
       current = runs[me];
       say_result(me, current, VALUE(current));
       set_value(me, current, VALUE(current));
       current = 0
     }

  RECEIVE(0, 0)
  RECEIVE(LAST, 0)
  RECEIVE(0, 1)
  RECEIVE(LAST, 1)
  NOTICE(0)
  NOTICE(1)
  GIVE(0)
  GIVE(1)
#if NODES > 2
  RECEIVE(0, 2)
  RECEIVE(LAST, 2)
  NOTICE(2)
  GIVE(2)
#endif
  od
}
init {
  atomic {
    runs[0] = NONE; runs[1] = NONE; runs[2] = NONE;
    run node(0);
    run node(1);
#if NODES > 2
    run node(2)
#endif
  }
}
