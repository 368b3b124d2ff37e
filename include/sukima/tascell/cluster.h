/* SPDX-License-Identifier: Apache-2.0 */
/* What compiled programs with `cluster worker` call besides tascell.h: tasks that may run on another node,
 * and entries that all nodes share. Implemented by libsukima-cluster. */
#ifndef SUKIMA_TASCELL_CLUSTER_H
#define SUKIMA_TASCELL_CLUSTER_H

#include <sukima/tascell/tascell.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The parts of a member that travel, and when: a sum of these. */
enum {
  SUKIMA_IN = 1, /**< with the task */
  SUKIMA_OUT = 2, /**< with its result */
  SUKIMA_ARRAY = 4, /**< the member is a pointer to an array, whose length is another member */
  SUKIMA_SIGNED = 8, /**< that length may be negative, which counts as 0 */
  SUKIMA_LATE = 16 /**< that length is an `out` member: the task makes the array */
};

/** An `in` or `out` member of a task. */
typedef struct sukima_member {
  unsigned flags;
  sukima_size offset;
  sukima_size size; /**< of the member; of an array: of one element */
  sukima_size length_offset; /**< of an array: of the member with its length, which comes before it */
  sukima_size length_size;
} sukima_member;

/** A task type whose tasks may travel: one object a program, zero but for what the macro sets. */
typedef struct sukima_travelling {
  void* point[3]; /**< the library's; the kinds of choice points name this place */
  void* form[3]; /**< the library's */
  const char* name; /**< the same on all nodes */
  void (*exec)(char* top, void* task);
  sukima_size size;
  sukima_size align;
  const sukima_member* members;
  sukima_size count;
} sukima_travelling;

/* As initial values, without the members' names, because a macro of the program may have them. */
#define SUKIMA_TRAVELLING(name, exec, task_type, members, count) \
  {{0, 0, 0}, {0, 0, 0}, name, exec, sizeof(task_type), __alignof__(task_type), members, count}
#define SUKIMA_MEMBER(flags, task_type, member) \
  {flags, __builtin_offsetof(task_type, member), sizeof(((task_type*)0)->member), 0, 0}
#define SUKIMA_ARRAY_MEMBER(flags, task_type, member, length)                                       \
  {(flags) | SUKIMA_ARRAY, __builtin_offsetof(task_type, member), sizeof(*((task_type*)0)->member), \
   __builtin_offsetof(task_type, length), sizeof(((task_type*)0)->length)}

/** Makes a task type known to the nodes. Before main; by each file that hands out such tasks. */
void sukima_register_travelling(sukima_travelling* type);

/** The C entry of a `cluster worker` function. On node 0 of several nodes it acts as sukima_enter; the others
 *  help, and receive its result. If the program runs alone, and inside a running entry, it is sukima_enter.
 *  \param name    of the function
 *  \param stays   why tasks of its file cannot leave their node; NULL: they can. For the message if
 *                 nothing of the program can leave its node
 *  \param rounds  a parallel loop of its file whose GET adds floating-point numbers up; NULL: there is none
 *  \param result  where `run` puts it; its bytes go to the other nodes
 *
 *  Ends the program with status 2 if nothing of it can leave its node, or the nodes do not come together, or
 *  nothing joins the processes that srun or a PMIx launcher has started; and under `--hope` if a loop rounds,
 *  because the nodes would get different sums. */
void sukima_cluster_enter(const char* name, const char* stays, const char* rounds,
                          void (*run)(char* top, void* frame), void* frame, void* result,
                          sukima_size result_size);

#ifdef __cplusplus
}
#endif

#endif
