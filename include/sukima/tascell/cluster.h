/* SPDX-License-Identifier: Apache-2.0 */
/* The functions that compiled programs with `cluster worker` call besides those of tascell.h: for tasks that
 * may run on another node, and for entries that all nodes share. libsukima-cluster implements them. */
#ifndef SUKIMA_TASCELL_CLUSTER_H
#define SUKIMA_TASCELL_CLUSTER_H

#include <sukima/tascell/tascell.h>

#ifdef __cplusplus
extern "C" {
#endif

/** When a member travels, and which form it has: a sum of these. */
enum {
  SUKIMA_IN = 1, /**< with the task */
  SUKIMA_OUT = 2, /**< with its result */
  SUKIMA_ARRAY = 4, /**< the member is a pointer to an array, whose length is another member */
  SUKIMA_SIGNED = 8, /**< the length may be negative, which counts as 0 */
  SUKIMA_LATE = 16 /**< the length is an `out` member: the task makes the array */
};

/** An `in` or `out` member of a task. */
typedef struct sukima_member {
  unsigned flags; /**< a sum of the constants above */
  sukima_size offset; /**< offset of the member in the task */
  sukima_size size; /**< size of the member; for an array: size of one element */
  sukima_size length_offset; /**< for an array: offset of the member with its length, which comes before it */
  sukima_size length_size; /**< for an array: size of that member */
} sukima_member;

/** A task type whose tasks may travel. A program has one object for each type, zero except for the members
 *  that the macro sets. */
typedef struct sukima_travelling {
  void* point[3]; /**< for the library; the kinds of choice points refer to this member */
  void* form[3]; /**< for the library */
  const char* name; /**< the same on all nodes */
  void (*exec)(char* top, void* task); /**< runs a task */
  sukima_size size;
  sukima_size align;
  const sukima_member* members;
  sukima_size count;
} sukima_travelling;

/* Initial values, without the members' names, because a macro of the program may have such a name. */
#define SUKIMA_TRAVELLING(name, exec, task_type, members, count) \
  {{0, 0, 0}, {0, 0, 0}, name, exec, sizeof(task_type), __alignof__(task_type), members, count}
#define SUKIMA_MEMBER(flags, task_type, member) \
  {flags, __builtin_offsetof(task_type, member), sizeof(((task_type*)0)->member), 0, 0}
#define SUKIMA_ARRAY_MEMBER(flags, task_type, member, length)                                       \
  {(flags) | SUKIMA_ARRAY, __builtin_offsetof(task_type, member), sizeof(*((task_type*)0)->member), \
   __builtin_offsetof(task_type, length), sizeof(((task_type*)0)->length)}

/** Registers a task type with the nodes. Each file that gives away such tasks calls it before main. */
void sukima_register_travelling(sukima_travelling* type);

/** The C entry of a `cluster worker` function. Node 0 of several nodes runs it as sukima_enter does; the
 *  others help, and receive its result. If the program runs alone, and inside a running entry, it does the
 *  same as sukima_enter.
 *  \param name    name of the function
 *  \param stays   why tasks of its file cannot leave their node; NULL: they can. For the message if no task
 *                 of the program can leave its node
 *  \param rounds  a parallel loop of its file whose GET adds up floating-point numbers; NULL: there is none
 *  \param run, frame  as for sukima_enter
 *  \param result, result_size  where `run` puts the result; its bytes are sent to the other nodes
 *
 *  Ends the program with status 2 if no task of it can leave its node, or the nodes cannot connect, or no MPI
 *  joins the processes that srun or a PMIx launcher has started. It also does so under `--hope` if a loop
 *  rounds, because the nodes would get different sums. */
void sukima_cluster_enter(const char* name, const char* stays, const char* rounds,
                          void (*run)(char* top, void* frame), void* frame, void* result,
                          sukima_size result_size);

#ifdef __cplusplus
}
#endif

#endif
