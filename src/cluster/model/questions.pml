// SPDX-License-Identifier: Apache-2.0
// Questions for results (src/cluster/hope/questions.hpp). Node 4 has sent a result to all nodes, and is dead. To each
// of the nodes 0 to 3 the message has arrived, is under way, or is lost. One more node may die at any step. Each node
// notices a loss at any later step. Some nodes ask for the result when they notice the first loss, and one of them asks
// before.
//
// check: spin -a; cc -O2 -DSAFETY -DCOLLAPSE; -m100000
// expect: errors: 0
// check: spin -DBUG_PASSES_NOTHING_ON -a; cc -O2 -DSAFETY -DCOLLAPSE; -m100000
// expect: errors: 1
// check: spin -DBUG_NOT_ASKED_AGAIN -a; cc -O2 -DSAFETY -DCOLLAPSE; -m100000
// expect: errors: 1
// check: spin -DBUG_ONLY_ANSWERS_COUNT -a; cc -O2 -DSAFETY -DCOLLAPSE; -m100000
// expect: errors: 1
//
// What is modelled: one result. Messages of a pair may overtake each other. A message for which there is no room counts
// as one that is under way for long, because its sender tries again. Messages of a dead node may arrive or be lost
// until the receiver notices the loss; after that none arrives. Not modelled: results that nodes compute, nodes that
// join, and questions that are dropped because there are too many. In these cases a node computes the result itself.
//
// What must hold: when no more step is possible, and a living node has the result, each living node that wants it has
// it.
//
// Each BUG_ removes one safeguard:
//   BUG_PASSES_NOTHING_ON    a node that lacks the result does not ask the next one
//   BUG_NOT_ASKED_AGAIN      if the node that was asked is lost, the question is not sent again
//   BUG_ONLY_ANSWERS_COUNT   a result is forwarded only if the node that was asked has sent it

#define NODES 4
#define DEAD 4
#define NONE 5

bit asks[20];     /* questions under way: by receiver and sender */
bit brings[20];   /* results under way: by receiver and sender */
bit gone[20];     /* by node and the lost node */
bit from[20];     /* by node and the node that has asked it */
bit has[4], wants[4];
bit own[4];       /* the node itself has asked */
byte asked[4] = NONE;
bit dead[5];

#define OF(me, x) ((me) * 5 + (x))
#define LIVES(me, x) (!gone[OF(me, x)])
#define AFTER(me, by) (((me) + (by)) % NODES)
#define NEXT(me) (LIVES(me, AFTER(me, 1)) -> AFTER(me, 1) : \
  (LIVES(me, AFTER(me, 2)) -> AFTER(me, 2) : (LIVES(me, AFTER(me, 3)) -> AFTER(me, 3) : NONE)))

inline ask_next(me) {
  asked[me] = NEXT(me);
  if :: asked[me] != NONE -> asks[OF(asked[me], me)] = 1 :: else fi
}

inline ask(me) {
  if :: asked[me] == NONE -> ask_next(me) :: else fi
}

#define PASS(me, x) if :: from[OF(me, x)] -> from[OF(me, x)] = 0; brings[OF(x, me)] = 1 :: else fi
#define PASS_ON(me) PASS(me, 0); PASS(me, 1); PASS(me, 2); PASS(me, 3)

#define IS_OPEN(me) (own[me] || from[OF(me, 0)] || from[OF(me, 1)] || from[OF(me, 2)] || from[OF(me, 3)])

inline take_question(me, x) {
  asks[OF(me, x)] = 0;
  if
  :: has[me] -> brings[OF(x, me)] = 1
  :: !has[me] ->
#ifndef BUG_PASSES_NOTHING_ON
     ask(me);
#endif
     from[OF(me, x)] = 1
  fi
}

inline take_result(me, x) {
  brings[OF(me, x)] = 0;
  has[me] = 1;
  if :: x != DEAD -> from[OF(me, x)] = 0 :: else fi;
#ifdef BUG_ONLY_ANSWERS_COUNT
  if
  :: asked[me] == x -> PASS_ON(me)
  :: asked[me] != x -> from[OF(me, 0)] = 0; from[OF(me, 1)] = 0; from[OF(me, 2)] = 0; from[OF(me, 3)] = 0
  fi;
#else
  PASS_ON(me);
#endif
  own[me] = 0;
  asked[me] = NONE
}

inline notice(me, x) {
  gone[OF(me, x)] = 1;
  asks[OF(me, x)] = 0;
  brings[OF(me, x)] = 0;
  from[OF(me, x)] = 0;
  if
  :: !IS_OPEN(me) -> asked[me] = NONE
#ifndef BUG_NOT_ASKED_AGAIN
  :: IS_OPEN(me) && asked[me] == x -> ask_next(me)
#endif
  :: else
  fi;
  if :: x == DEAD && wants[me] && !has[me] -> own[me] = 1; ask(me) :: else fi
}

#define TAKE(x) \
  :: atomic { !dead[me] && asks[OF(me, x)] -> take_question(me, x) } \
  :: atomic { !dead[me] && brings[OF(me, x)] -> take_result(me, x) } \
  :: atomic { !dead[me] && dead[x] && asks[OF(me, x)] -> asks[OF(me, x)] = 0 } \
  :: atomic { !dead[me] && dead[x] && brings[OF(me, x)] -> brings[OF(me, x)] = 0 } \
  :: atomic { !dead[me] && dead[x] && LIVES(me, x) -> notice(me, x) }

proctype node(byte me) {
end:
  do
  TAKE(0) TAKE(1) TAKE(2) TAKE(3) TAKE(4)
  od
}

proctype killer() {
  if
  :: atomic { dead[0] = 1 }
  :: atomic { dead[1] = 1 }
  :: atomic { dead[2] = 1 }
  :: atomic { dead[3] = 1 }
  :: skip
  fi
}

#define CHOOSE(what) if :: what = 0 :: what = 1 fi
#define SATISFIED(x) (dead[x] || !wants[x] || has[x])
#define HOLDS(x) (!dead[x] && has[x])

init {
  atomic {
    dead[DEAD] = 1;
    CHOOSE(brings[OF(0, DEAD)]); CHOOSE(brings[OF(1, DEAD)]); CHOOSE(brings[OF(2, DEAD)]); CHOOSE(brings[OF(3, DEAD)]);
    CHOOSE(wants[0]); CHOOSE(wants[1]); CHOOSE(wants[2]); CHOOSE(wants[3]);
    if :: wants[0] -> own[0] = 1; ask(0) :: skip fi;
    run node(0); run node(1); run node(2); run node(3);
    run killer()
  }
  timeout ->
  assert(!(HOLDS(0) || HOLDS(1) || HOLDS(2) || HOLDS(3)) ||
         (SATISFIED(0) && SATISFIED(1) && SATISFIED(2) && SATISFIED(3)))
}
