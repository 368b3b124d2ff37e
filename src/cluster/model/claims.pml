// SPDX-License-Identifier: Apache-2.0
// Hierarchical omission: each node must do all named tasks, in any order, and omits tasks that another node has
// finished (src/cluster/hope). Two nodes with two tasks, and three nodes with one. Any message may be lost, delayed or
// overtaken, any node but the last living one may die at any step, and a living node may be considered lost.
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
// What is modelled: a node takes a task without a result if no node that it believes alive claims it, and claims the
// task. After waiting long enough, it also takes a claimed task. It withdraws from the task that it runs whenever the
// claim of a node with a smaller number arrives. A result is sent to all nodes. A node that still has to do the task
// stores the result, and ends its own run of the task. Each task has its own value, equal on all nodes. A node may give
// a free task to any other node at any step, since that node may have requested one. It then considers the task claimed
// by that node, whether the task arrives or not. A node that receives a task runs it if it runs nothing, or else
// refuses it. The refusal may be lost, too. Time is not modelled: patience may end at any step.
//
// Not explored: the request that a gift answers; more than two gifts between two nodes, and more than one among three;
// cycles of three nodes with a gift, because that search takes too long for each run.
//
// What must hold: no node has a wrong value; every node that does not die ends with all values, whatever is lost, even
// if it is the only node left; and there is no endless sequence of takes and withdrawals (no cycle at all: pan -l,
// without a label of progress).
//
// Each BUG_ removes one safeguard:
//   BUG_WAITS_FOR_CLAIMANTS  a claim is more than a hint: its task is never taken while the claimant lives
//   BUG_BOTH_YIELD           a node withdraws at any claim of the task that it runs, even if its own number is smaller
//   BUG_GIVES_FOR_GOOD       a node never runs a task again that it has given away
//   BUG_NAMED_BY_ORDER       tasks are named by their place in the node's own order
//   BUG_RESULT_AT_START      a result is sent when the task begins, before it has its value

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

/* Messages under way, by receiver, task and sender; and the state that a node knows. */
#define AT(to, task, from) ((to) * TASKS * NODES + (task) * NODES + (from))
bit claim_sent[18], unclaim_sent[18], result_sent[18], given_sent[18];
bit claimed[18];                 /* by node, task and claimant */
byte value[6], content[18];      /* 0: none; content: of the results under way */
byte runs[3];                    /* NONE, or a task */
byte gifts = MOST_GIFTS;         /* that all nodes together may still give */
bit lost[9], dead[3];            /* lost: by node and the lost one */
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
/* Node 1 has the opposite order. */
#ifdef BUG_NAMED_BY_ORDER
#define HEARD_AS(me, task) ((me) == 1 -> TASKS - 1 - (task) : (task))
#else
#define HEARD_AS(me, task) (task)
#endif

/* A node that is dead or has the value does not need the message. It is not sent, so that there are fewer states. */
#define RECEIVES(other, task) (!dead[other] && !HAS(other, task))
/* Each receiver may get the message or not. */
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
  :: skip                                                            /* the task is lost */
  fi
}
/* This node needs neither the task nor its claims any more. */
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

/* A message arrives. A message that never arrives was never sent (say_claim, say_unclaim, say_result). */
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
       :: runs[me] != NONE /* it runs the task, or the refusal is lost */ \
       fi } \
  :: atomic { result_sent[AT(me, task, from)] -> \
       result_sent[AT(me, task, from)] = 0; \
       set_value(me, HEARD_AS(me, task), content[AT(me, task, from)]) }
#define CAN_GIVE(task, to) \
  (to != me && gifts > 0 && !lost[me * NODES + to] && !HAS(me, task) && !IS_CLAIMED(me, task) && runs[me] != task)
#define GIVE(to) \
  :: atomic { CAN_GIVE(0, to) -> give(me, 0, to) } \
  :: atomic { TASKS > 1 && CAN_GIVE(LAST, to) -> give(me, LAST, to) }
/* A node is lost, or is considered lost. */
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
  :: atomic { /* has finished its task */
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
