// SPDX-License-Identifier: Apache-2.0
// Calls among many nodes (src/cluster/transport/calls.hpp, tcp_calls.cpp). Nodes 0 and 1 have no connection. At any
// step each may have a message for the other one, so they may call each other at the same time. One of them may die at
// any step, or leave if nodes steal. A third node has a connection to each of them and forwards that news; it may also
// report once that a living node is lost.
//
// check: spin -a; cc -O2 -DSAFETY; -m100000
// expect: errors: 0
// check: spin -DSTEALS -a; cc -O2 -DSAFETY; -m100000
// expect: errors: 0
// check: spin -DBUG_BOTH_WIN -a; cc -O2 -DSAFETY; -m100000
// expect: errors: 1
// check: spin -DBUG_NO_ANSWER -a; cc -O2 -DSAFETY; -m100000
// expect: errors: 1
// check: spin -DBUG_NO_NEWS -a; cc -O2 -DSAFETY; -m100000
// expect: errors: 1
// check: spin -DBUG_NO_DOUBT -a; cc -O2 -DSAFETY; -m100000
// expect: errors: 1
// check: spin -DBUG_BELIEVES -a; cc -O2 -DSAFETY; -m100000
// expect: errors: 1
// check: spin -DSTEALS -DBUG_NEWS_OVERTAKES -a; cc -O2 -DSAFETY; -m100000
// expect: errors: 1
// check: spin -DSTEALS -DBUG_FAILURE_COUNTS -a; cc -O2 -DSAFETY; -m100000
// expect: errors: 1
// check: spin -DBUG_SHORTAGE_COUNTS -a; cc -O2 -DSAFETY; -m100000
// expect: errors: 1
// check: spin -DBUG_WAITS_ON -a; cc -O2 -DSAFETY; -m100000
// expect: errors: 1
// check: spin -DBUG_NEVER_YIELDS -a; cc -O2 -DSAFETY; -m100000
// expect: errors: 1
//
// What is modelled: one message in each direction, and the connection of each call from its first byte to its end. A
// dropped call is under way until the other node has answered it. With STEALS a node that ends leaves: the others must
// not consider it lost. A call of each node may fail once while the other node lives, because this machine lacks a
// resource; the way from node 0 to node 1 may then be blocked for ever. Not modelled: handshakes that are interrupted,
// which only repeat a call; the ways of the news among more nodes.
//
// What must hold: both nodes use the same connection. When no more step is possible, each message between living nodes
// has arrived once, neither node considers the other one gone while it lives, and a living node knows if the other one
// is gone.
//
// Each BUG_ removes one safeguard:
//   BUG_BOTH_WIN        a node takes a call while it calls the same node, whichever number it has
//   BUG_NO_ANSWER       a node uses the connection of its call before the other node has answered
//   BUG_NO_NEWS         nodes learn of the end of others only by connections
//   BUG_NO_DOUBT        a waiting node continues to wait after the news that the other node may be lost
//   BUG_BELIEVES        a node believes each report of a loss
//   BUG_NEWS_OVERTAKES  with STEALS: the news that a node left ends a call that this node has taken
//   BUG_FAILURE_COUNTS  with STEALS: a node whose call fails considers the other one lost
//   BUG_SHORTAGE_COUNTS a node whose call fails for lack of a resource considers the other one lost
//   BUG_WAITS_ON        a node waits for the winner's call without end
//   BUG_NEVER_YIELDS    the winner takes no call between its attempts

#define NONE 0
#define DIALED 1 /* under way, or waiting for the answer */
#define TAKEN 2  /* TAKEN and WAIT: the answers, under way */
#define WAIT 3
#define CLOSED 4 /* ended without an answer */

#define OWN 1    /* the connection in use: of the own call, or of the other node's call */
#define OTHERS 2

byte call[2];     /* by caller */
bit dropped[2];   /* the caller no longer waits for the answer */
bit calling[2], waits[2];
bit paused[2];    /* the call failed, and was not repeated yet */
bit failed[2];    /* a call has failed while the other node was alive */
bit blocked;      /* no call of node 0 reaches node 1 while node 1 lives */
bit ticked[2], late[2]; /* the node has waited too long: once, and once more while the way of the other node is blocked */
byte used[2];
bit wanted[2];    /* a message for the other node was made */
bit waiting[2];   /* the message waits for a connection */
byte on_way[2];   /* messages under way in the connection in use, by sender */
byte got[2];
bit gone[2];      /* this node considers the other one gone */
bit lost[2];      /* and lost */
bit ended[2];     /* the node has died or left */
bit told[2];      /* the third node has reported the end of this node */
bit lied;
bit doubted[2];   /* news has arrived since the own call began */
bit knows[2];     /* with STEALS: this node has received the news while it called */

#define OTHER(me) (1 - (me))

inline begin_call(me) {
  if
  :: !calling[me] && !waits[me] && call[me] == NONE -> calling[me] = 1; dropped[me] = 0; doubted[me] = 0; call[me] = DIALED
  :: else
  fi
}

inline use(me, which) {
  used[me] = which; calling[me] = 0; waits[me] = 0; paused[me] = 0;
  if :: waiting[me] -> waiting[me] = 0; on_way[me]++ :: else fi
}

inline lose(me) {
  gone[me] = 1; lost[me] = 1; calling[me] = 0; waits[me] = 0; paused[me] = 0; waiting[me] = 0; dropped[me] = 1
}

inline let_go(me) {
  lose(me); lost[me] = 0
}

inline fail_call(me) {
  if
  :: dropped[me] -> call[me] = NONE
#if defined(STEALS) && !defined(BUG_FAILURE_COUNTS)
  :: !dropped[me] && knows[me] -> call[me] = NONE; let_go(me)
  :: !dropped[me] && !knows[me] -> call[me] = DIALED /* repeated */
#else
  :: !dropped[me] -> call[me] = NONE; lose(me)
#endif
  fi
}

#ifndef BUG_NEVER_YIELDS
#define WINS(me) (calling[me] && !paused[me] && me == 0)
#else
#define WINS(me) (calling[me] && me == 0)
#endif

inline answer(me) {
  if
  :: gone[me] || used[me] != NONE -> call[OTHER(me)] = CLOSED
#ifndef BUG_BOTH_WIN
  :: !gone[me] && used[me] == NONE && WINS(me) -> call[OTHER(me)] = WAIT
  :: !gone[me] && used[me] == NONE && !WINS(me) ->
#else
  :: !gone[me] && used[me] == NONE ->
#endif
    if :: calling[me] -> dropped[me] = 1 :: else fi;
    call[OTHER(me)] = TAKEN;
    use(me, OTHERS)
  fi
}

/* Takes the news that the other node is gone, or may be. */
inline take_news(me) {
  if
  :: !ended[me] && !gone[me] && used[me] == NONE ->
#if defined(STEALS) && !defined(BUG_NEWS_OVERTAKES)
    if
    :: calling[me] -> knows[me] = 1 /* the call decides: the other node may have taken it, and sent a message */
    :: else -> let_go(me)
    fi
#elif defined(STEALS)
    let_go(me)
#elif defined(BUG_BELIEVES)
    lose(me)
#else
#ifndef BUG_NO_DOUBT
    waits[me] = 0;
    if :: calling[me] -> doubted[me] = 1 :: else fi;
#endif
    begin_call(me)
#endif
  :: else
  fi
}

proctype node(byte me) {
end:
  do
  :: atomic { !ended[me] && !wanted[me] && !gone[me] ->
      wanted[me] = 1;
      if
      :: used[me] != NONE -> on_way[me]++
      :: else -> waiting[me] = 1; begin_call(me)
      fi }
  /* The call of the other node has arrived. */
  :: atomic { !ended[me] && call[OTHER(me)] == DIALED && !ended[OTHER(me)] -> answer(me) }
  /* The answer to the own call. */
  :: atomic { !ended[me] && call[me] == TAKEN ->
      assert(!dropped[me]);
      call[me] = NONE;
      use(me, OWN) }
  :: atomic { !ended[me] && call[me] == WAIT ->
      call[me] = NONE;
      if
      :: dropped[me]
      :: !dropped[me] && knows[me] -> let_go(me)
      :: !dropped[me] && !knows[me] && doubted[me] -> calling[me] = 0; begin_call(me)
      :: !dropped[me] && !knows[me] && !doubted[me] -> calling[me] = 0; waits[me] = 1
      fi }
  :: atomic { !ended[me] && call[me] == CLOSED -> fail_call(me) }
  /* This machine lacks a resource, or the way is blocked. */
  :: atomic { !ended[me] && call[me] == DIALED && calling[me] && !dropped[me] && !failed[me] ->
      failed[me] = 1;
      call[me] = NONE;
#ifdef BUG_SHORTAGE_COUNTS
      lose(me)
#else
      if
      :: knows[me] -> let_go(me)
      :: !knows[me] ->
        paused[me] = 1;
        if
        :: me == 0 -> blocked = 1
        :: true
        fi
      fi
#endif
    }
  :: atomic { !ended[me] && paused[me] && (me == 1 || !blocked || ended[OTHER(me)]) ->
      paused[me] = 0;
      call[me] = DIALED }
#ifndef BUG_WAITS_ON
  /* The call of the other node has not arrived for a while. */
  :: atomic { !ended[me] && waits[me] && !ticked[me] -> ticked[me] = 1; waits[me] = 0; begin_call(me) }
  :: atomic { !ended[me] && waits[me] && paused[OTHER(me)] && blocked && !late[me] ->
      late[me] = 1;
      waits[me] = 0;
      begin_call(me) }
#endif
#ifdef BUG_NO_ANSWER
  :: atomic { !ended[me] && call[me] == DIALED && !dropped[me] && used[me] == NONE -> use(me, OWN) }
#endif
  :: atomic { !ended[me] && on_way[OTHER(me)] != 0 && used[me] != NONE -> on_way[OTHER(me)]--; got[me]++ }
  /* The other node has ended. Its connections end after all their messages. */
#if !defined(STEALS) || defined(BUG_FAILURE_COUNTS)
  :: atomic { !ended[me] && ended[OTHER(me)] && call[me] == DIALED -> fail_call(me) }
#else
  :: atomic { !ended[me] && ended[OTHER(me)] && call[me] == DIALED && calling[me] && knows[me] -> let_go(me) }
#endif
  :: atomic { !ended[me] && ended[OTHER(me)] && used[me] != NONE && on_way[OTHER(me)] == 0 && !gone[me] ->
      gone[me] = 1 }
  od
}

/* Forwards the news of ends, and may report a wrong one. */
proctype third() {
end:
  do
#ifndef BUG_NO_NEWS
  :: atomic { ended[0] && !told[0] -> told[0] = 1; take_news(1) }
  :: atomic { ended[1] && !told[1] -> told[1] = 1; take_news(0) }
#endif
#ifndef STEALS
  :: atomic { !lied && !ended[0] -> lied = 1; take_news(1) }
  :: atomic { !lied && !ended[1] -> lied = 1; take_news(0) }
#endif
  od
}

proctype death() {
end:
  atomic {
    if
    :: ended[0] = 1
    :: ended[1] = 1
    :: true -> skip
    fi
  }
}

#define BOTH_LIVE (!ended[0] && !ended[1])
#define IS_RIGHT(me) (ended[me] || (!ended[OTHER(me)] || gone[me]))

proctype check() {
  timeout ->
  if
  :: BOTH_LIVE ->
    assert(!gone[0] && !gone[1]);
    assert(got[0] == wanted[1] && got[1] == wanted[0]);
    assert(used[0] + used[1] == OWN + OTHERS)
  :: else ->
    assert(IS_RIGHT(0) && IS_RIGHT(1))
  fi
}

init {
  atomic { run node(0); run node(1); run third(); run death(); run check() }
}

/* A node that leaves is never considered lost. */
#ifdef STEALS
active proctype never_lost() {
end:
  atomic { lost[0] || lost[1] -> assert(false) }
}
#endif
