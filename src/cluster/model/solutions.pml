// SPDX-License-Identifier: Apache-2.0
// Best solutions that nodes share (src/cluster/entry/solution_board.hpp). Each node computes all tasks, or omits those
// whose results it receives. A task is pruned if the node knows a better solution. Messages may be lost, duplicated,
// delayed and overtaken. Any node but the last one may die at any step.
//
// check: spin -DNODES=2 -a; cc -O2 -DSAFETY -DCOLLAPSE; -m100000
// expect: errors: 0
// check: spin -a; cc -O2 -DSAFETY -DCOLLAPSE; -m100000
// expect: errors: 0
// check: spin -DNODES=2 -DBUG_RESULT_ALONE -a; cc -O2 -DSAFETY -DCOLLAPSE; -m100000
// expect: errors: 1
// check: spin -DNODES=2 -DBUG_SOLUTIONS_AT_START -a; cc -O2 -DSAFETY -DCOLLAPSE; -m100000
// expect: errors: 1
// check: spin -DNODES=2 -DBUG_PRUNES_EQUAL_COSTS -a; cc -O2 -DSAFETY -DCOLLAPSE; -m100000
// expect: errors: 1
// check: spin -DNODES=2 -DBUG_KEEPS_THE_FIRST -a; cc -O2 -DSAFETY -DCOLLAPSE; -m100000
// expect: errors: 1
//
// What is modelled: three tasks with one solution each. Ranks order the solutions; 1 is the best. Ranks 1 and 2 have
// the same cost, and the smaller value decides. A message that was sent once stays available for ever, so loss,
// duplication, delay and overtaking need no channel. A node may improve its solutions between the step at which a task
// reads the bound and the step at which its result is sent.
//
// What must hold: a node that has all tasks has the solution of rank 1.
//
// Each BUG_ removes one safeguard:
//   BUG_RESULT_ALONE         a result is sent without the solutions by which its task may have been pruned
//   BUG_SOLUTIONS_AT_START   a result is sent with the solutions known when the task began
//   BUG_PRUNES_EQUAL_COSTS   a task that could be as good as the best solution is pruned
//   BUG_KEEPS_THE_FIRST      of two solutions of equal cost the first one to arrive is kept

#ifndef NODES
#define NODES 3
#endif
#define TASKS 3
#define RANK_OF(task) (TASKS - (task))
#define COST_OF(rank) ((rank) < 3 -> 1 : 2)

#ifdef BUG_PRUNES_EQUAL_COSTS
#define IS_PRUNED(best, task) ((best) != 0 && COST_OF(best) <= COST_OF(RANK_OF(task)))
#else
#define IS_PRUNED(best, task) ((best) != 0 && COST_OF(best) < COST_OF(RANK_OF(task)))
#endif
#ifdef BUG_KEEPS_THE_FIRST
#define IS_BETTER(rank, best) ((best) == 0 || COST_OF(rank) < COST_OF(best))
#else
#define IS_BETTER(rank, best) ((best) == 0 || (rank) < (best))
#endif

// Sent messages: results with the solution sent along, 0 for none; and solutions alone.
bit result_sent[12];  // of each task, for TASKS + 1 ranks
bit best_sent[4];

#define RECEIVE(t, k) :: result_sent[t * 4 + k] -> task = t; known = k

inline keep(rank) {
  if
  :: (rank) != 0 && IS_BETTER(rank, best) -> best = rank
  :: else
  fi
}

active [NODES] proctype node() {
  byte best = 0;
  bit done[TASKS];
  byte task, known;
  bit is_pruned;
  do
  :: _pid != NODES - 1 -> break  // the node dies
  :: d_step { done[0] && done[1] && done[2] -> assert(best == 1) }
     break
  :: atomic {
       if
       :: !done[0] -> task = 0
       :: !done[1] -> task = 1
       :: !done[2] -> task = 2
       fi;
       is_pruned = IS_PRUNED(best, task);
       known = best
     }
     atomic {
       if
       :: !is_pruned -> keep(RANK_OF(task)); best_sent[best] = 1
       :: else
       fi
     }
     d_step {
       done[task] = 1;
#ifdef BUG_RESULT_ALONE
       known = 0;
#endif
#if !defined(BUG_RESULT_ALONE) && !defined(BUG_SOLUTIONS_AT_START)
       known = best;
#endif
       result_sent[task * 4 + known] = 1;
       known = 0
     }
  :: atomic {
       if
       RECEIVE(0, 0) RECEIVE(0, 1) RECEIVE(0, 2) RECEIVE(0, 3)
       RECEIVE(1, 0) RECEIVE(1, 1) RECEIVE(1, 2) RECEIVE(1, 3)
       RECEIVE(2, 0) RECEIVE(2, 1) RECEIVE(2, 2) RECEIVE(2, 3)
       fi;
       keep(known);
       done[task] = 1;
       known = 0
     }
  :: atomic {
       if
       :: best_sent[1] -> known = 1
       :: best_sent[2] -> known = 2
       :: best_sent[3] -> known = 3
       fi;
       keep(known);
       known = 0
     }
  od
}
