// SPDX-License-Identifier: Apache-2.0
// The remote interface: a node asks the workers for a task, a worker gives a task away, and the task's result
// comes or the task is aborted.
//
// check: spin -a; cc -O2 -DSAFETY -DCOLLAPSE; -m2000000
// expect: errors: 0
// check: spin -DWAITS -a; cc -O2 -DSAFETY -DCOLLAPSE; -m2000000
// expect: errors: 0
// check: spin -DBUG_LATE_COUNT -a; cc -O2 -DSAFETY; -m2000000
// expect: errors: 1
// check: spin -DBUG_KEEP_QUESTION -a; cc -O2 -DSAFETY; -m2000000
// expect: errors: 1
// check: spin -DBUG_STOP_FIRST_LOOKS -a; cc -O2 -DSAFETY; -m2000000
// expect: errors: 1
// check: spin -DBUG_TWO_ANSWERS -a; cc -O2 -DSAFETY; -m2000000
// expect: errors: 1
// check: spin -DBUG_ARRIVE -a; cc -O2 -DSAFETY; -m2000000
// expect: errors: 1
// check: spin -DBUG_WIPE -a; cc -O2 -DSAFETY; -m2000000
// expect: errors: 1
// check: spin -DBUG_NO_LOOK -a; cc -O2 -DSAFETY; -m2000000
// expect: errors: 1
// check: spin -DBUG_FINISH_TWICE -a; cc -O2 -DSAFETY; -m2000000
// expect: errors: 1
// check: spin -DBUG_DECLINE_TWICE -a; cc -O2 -DSAFETY; -m2000000
// expect: errors: 1
// check: spin -DBUG_TOLD_ONCE -a; cc -O2 -DSAFETY; -m2000000
// expect: errors: 1
// check: spin -DWAITS -DBUG_WAITS_TOO_LATE -a; cc -O2 -DSAFETY; -m2000000
// expect: errors: 1
// check: spin -DWAITS -DBUG_WAITS_IN_VAIN -a; cc -O2 -DSAFETY; -m2000000
// expect: errors: 1
//
// What is modelled: the node's thread, which makes REQUESTS requests one after the other, and two workers
// with two fibers each. A worker polls, changes fibers, begins a task, goes idle and works again, and at last
// goes idle for ever. At a slow poll it finds a task or not; in a clone a worker without a task may ask
// itself again. The first task is given away: its result comes twice (the second message is a repetition).
// The task's owner may abort it at any time before it is completed; then the task ends only because the abort
// was sent. Or the other node declines the task, because no worker has begun it there, and sends that twice:
// then the task runs here, or is given away once more. With WAITS a request may require that the fiber that
// gives a task waits (giver::waits): the node lets the fiber continue at any time after the answer. In that
// case the model does not follow the task any further.
//
// Not explored: a giver that waits while the node makes its next request, or whose worker runs other work
// while the giver waits.
//
// What must hold:
//   each request is answered exactly once (a node that waits for ever is an invalid end state), and with "none" only
//   when all workers were asked;
//   a task that is found is given to the node or left to the workers (no task is lost or in two places);
//   a worker takes no fast poll while it owes an answer and the request to poll for it was finished;
//   a fiber that gives a task and must wait is released once, after its suspension has begun, and continues; a fiber
//   whose task was too late does not wait;
//   a task that was given away is completed once, also after it was declined, and an abort of it is sent to the node
//   that has it.
//
// Each BUG_ macro removes one safeguard:
//   BUG_LATE_COUNT        a worker is counted after it was asked
//   BUG_KEEP_QUESTION     the node does not take the question back from a worker that had gone idle
//   BUG_STOP_FIRST_LOOKS  a worker that goes idle takes the question, and publishes afterwards that it does not answer
//   BUG_TWO_ANSWERS       a worker that finds a task gives it without checking whether the node still wants one
//   BUG_ARRIVE            a worker that changes fibers does not check its flag
//   BUG_WIPE              the flag itself is the question, and the end of an entry clears it
//   BUG_NO_LOOK           give_away does not check for an abort that was written before
//   BUG_FINISH_TWICE      a result completes a task without taking it out of the list
//   BUG_DECLINE_TWICE     a task that was declined stays in the list when it is taken back
//   BUG_WAITS_TOO_LATE    a giver that must wait answers before its suspension has begun
//   BUG_WAITS_IN_VAIN     a giver waits, too, when its answer was too late, so that no thread will release it
//   BUG_TOLD_ONCE         a task that is given away once more keeps the mark that its abort was sent

#define REQUESTS 2
#define STEPS 1          /* of each worker, before it goes idle for ever */

bool wanted = false;     /* bit 0 of the word */
bool asking = false;     /* the node has not yet asked all workers */
byte count = 0;          /* the remaining bits of the word; both change in one step */
bool answers[2];         /* worker::answers_remote */
bool asked[2];           /* worker::asked_by_node */
bool flag[2];            /* flag_remote */
bool high[4];            /* the limits of the fibers are raised: worker w has 2 w and 2 w + 1 */
byte current[2];         /* fiber of a worker, 0 or 1 */
bool requested[2];       /* the node has finished its request to poll */
#ifdef WAITS
bool waits = false;      /* giver_waits_ */
byte suspension[2];      /* of a worker's fiber. 0: it runs, 1: it waits, or is about to, 2: it may continue */
byte giver = 0;          /* known to the node: the worker whose fiber waits, plus 1; or 0 */
#endif
byte answered = 0;       /* answers to the current request */
bool got_task = false;   /* the answer was a task */
byte found = 0, given = 0, left = 0;   /* tasks */

/* A task that was given away. */
bool is_listed = false, aborts = false, abort_written = false;
bool abort_reported = false; /* given_task::abort_reported */
bool abort_known = false;   /* the node that has the task knows of the abort */
byte queued = 0;         /* how often the task is in the injector queue */
byte completed = 0;

/* abort_given() checks the list once. */
inline send_abort() {
  if
  :: is_listed && !abort_reported -> abort_reported = true; abort_known = true
  :: else
  fi
}

inline answer(is_task) {
  answered++;
  assert(answered == 1);
  if
  :: is_task -> given++; got_task = true
  :: else -> assert(!asking)        /* the answer is "none" only after all workers were asked */
  fi
}

/* One step, as the CAS in reply(): takes one off the count, and answers with a task or without. */
inline reply(is_task) {
  atomic {
    assert(count > 0);
    count--;
    if
#ifdef BUG_TWO_ANSWERS
    :: is_task -> wanted = false; answer(true)
    :: !is_task && wanted && count == 0 -> wanted = false; answer(false)
#else
    :: wanted && (is_task || count == 0) -> wanted = false; answer(is_task)
#endif
    :: else -> if :: is_task -> left++ :: else fi
    fi
  }
}

/* set_question(), at a poll of a clone that had no task: the next poll is slow again. */
inline ask_itself_again() {
  atomic { was = asked[w]; asked[w] = true };
  if :: was -> reply(false) :: else fi;
  was = false;
  flag[w] = true;
  high[2 * w + current[w]] = true
}

/* The worker has nothing to run: it publishes that it does not answer, and takes the question. */
inline go_idle() {
  answers[w] = false;
  atomic { mine = asked[w]; asked[w] = false; requested[w] = false };
  if :: mine -> reply(false) :: else fi;
  mine = false
}
/* The worker runs work again. */
inline work_again() {
  answers[w] = true;
  if :: flag[w] -> high[2 * w + current[w]] = true :: else fi        /* execute() */
}

#ifdef WAITS
/* As reply(true), of a giver that must wait. */
inline reply_waiting() {
  atomic {
    assert(count > 0);
    count--;
    if
    :: wanted -> wanted = false; giver = w + 1; answer(true); accepted = true
    :: else -> left++
    fi
  }
}
/* reply_and_wait() and wait_at_poll(). */
inline reply_and_wait() {
#ifndef BUG_WAITS_TOO_LATE
  suspension[w] = 1;
#endif
  reply_waiting();
#ifdef BUG_WAITS_IN_VAIN
  accepted = true;
#endif
  if
  :: accepted ->
#ifdef BUG_WAITS_TOO_LATE
     suspension[w] = 1;
#endif
     go_idle();
     suspension[w] == 2;
     work_again()
  :: else
  fi;
  atomic { suspension[w] = 0; accepted = false }
}
/* The node releases the giver, if the giver waits. */
inline let_go() {
  atomic {
    if
    :: giver != 0 -> assert(suspension[giver - 1] == 1); suspension[giver - 1] = 2; giver = 0
    :: else
    fi
  }
}
#endif

proctype worker(byte w) {
  byte steps = STEPS;
  bool mine, is_task, was;
#ifdef WAITS
  bool accepted;
#endif
  answers[w] = true;
  do
  :: atomic { !high[2 * w + current[w]] -> assert(!(asked[w] && requested[w])) };   /* a fast poll */
     if :: steps > 0 -> steps-- :: else -> goto stop fi
  :: high[2 * w + current[w]] ->                                     /* poll_slow() */
     high[2 * w + current[w]] = false;
     if
     :: flag[w] ->                                                   /* answer() */
        flag[w] = false;
        atomic { mine = asked[w]; asked[w] = false; requested[w] = false };
        if
        :: mine ->
           is_task = false;
           if
           :: wanted -> if :: is_task = true; found++ :: skip fi
           :: else
           fi;
           if
           :: wanted && !is_task -> ask_itself_again()               /* in a clone */
#ifdef WAITS
           :: is_task && waits -> reply_and_wait()
           :: !is_task || !waits -> reply(is_task)
#else
           :: true -> reply(is_task)
#endif
           fi;
           is_task = false
        :: else
        fi;
        mine = false
     :: else
     fi
  :: steps > 0 -> steps--;                                           /* arrive() */
     current[w] = 1 - current[w];
#ifndef BUG_ARRIVE
     if :: flag[w] -> high[2 * w + current[w]] = true :: else fi
#endif
  :: steps > 0 -> steps--;                                           /* idle, and then work again */
     go_idle();
     work_again()
  od;
stop:
  /* lifecycle::enter: the worker clears its flags, then publishes that it no longer answers. */
  flag[w] = false;
#ifdef BUG_WIPE
  atomic { asked[w] = false; requested[w] = false };
#endif
#ifdef BUG_STOP_FIRST_LOOKS
  atomic { mine = asked[w]; asked[w] = false; requested[w] = false };
  answers[w] = false;
#else
  answers[w] = false;
  atomic { mine = asked[w]; asked[w] = false; requested[w] = false };
#endif
  if :: mine -> reply(false) :: else fi
}

/* The owner of the task that was given away: it may abort the task, and joins it in the end. */
proctype owner() {
  if
  :: aborts ->
     abort_written = true;                                           /* lower_abort(), request_abort_checks() */
     atomic { send_abort() }
  :: !aborts
  fi;
  completed == 1                                                     /* await() */
}

/* The node gives a task away, and gets its result, perhaps twice. If its owner aborts it, the task runs without an end
   until then, wherever it runs. The first time the other node may decline it, because no worker has begun it there. */
inline exchange_task() {
  if :: aborts = true :: skip fi;
  run owner();
  do
  :: atomic {                                                        /* give_away() */
       gives++;
#ifndef BUG_TOLD_ONCE
       abort_reported = false;
#endif
       abort_known = false;
       is_listed = true
     };
#ifndef BUG_NO_LOOK
     atomic { if :: abort_written -> send_abort() :: else fi };
#endif
     if
     :: (!aborts || abort_known) -> declined = false
     :: gives == 1 -> declined = true
     fi;
     times = 0;
     do
     :: times < 2 ->                                                 /* finish(), take_back() */
        times++;
        atomic {
          taken = is_listed;
#ifdef BUG_DECLINE_TWICE
          if :: !declined -> is_listed = false :: else fi
#else
#ifndef BUG_FINISH_TWICE
          is_listed = false
#endif
#endif
        };
        if
        :: taken && !declined -> completed++; assert(completed == 1)
        :: taken && declined -> queued++; assert(queued == 1)
        :: else
        fi
     :: times == 2 -> break
     od;
     if
     :: !declined -> break
     :: declined -> queued--                                         /* take_for_node(), and once more */
     :: declined ->                                                  /* a worker takes the task and runs it */
        queued--;
        (!aborts || abort_written);
        completed++;
        assert(completed == 1);
        break
     fi
  od;
  atomic {                                                           /* to reduce the number of states */
    gives = 0; times = 0; taken = false; declined = false;
    abort_reported = false; abort_known = false
  }
}

active proctype node() {
  byte requests = REQUESTS, w, times, gives = 0;
  bool mine, was, taken, declined, exchanged = false;
  run worker(0);
  run worker(1);
  do
  :: requests > 0 ->
     requests--;
     answered = 0;
     got_task = false;
#ifdef WAITS
     if :: waits = true :: waits = false fi;
#endif
     atomic { wanted = true; asking = true; count++ };
     w = 0;
     do
     :: w < 2 ->
        if
        :: answers[w] ->
#ifndef BUG_LATE_COUNT
           count++;
#endif
           atomic { was = asked[w]; asked[w] = true };
#ifdef BUG_LATE_COUNT
           if :: !was -> count++ :: else fi;
#else
           if :: was -> count-- :: else fi;
#endif
           flag[w] = true;
           if
#ifndef BUG_KEEP_QUESTION
           :: !answers[w] ->
              atomic { mine = asked[w]; asked[w] = false; requested[w] = false };
              if :: mine -> reply(false) :: else fi;
              mine = false
           :: answers[w] ->
#else
           :: true ->
#endif
              high[2 * w + current[w]] = true;
              atomic { if :: asked[w] -> requested[w] = true :: else fi }
           fi
        :: !answers[w]
        fi;
        w++
     :: w == 2 -> break
     od;
     asking = false;
     reply(false);
     answered == 1;                                                  /* the node sleeps until then */
#ifdef WAITS
     let_go()
#else
     if
     :: got_task && !exchanged -> exchanged = true; exchange_task()
     :: else
     fi
#endif
  :: requests == 0 -> break
  od;
  count == 0;                                                        /* no worker owes an answer for ever */
  assert(found == given + left)
}
