/* SPDX-License-Identifier: Apache-2.0 */
/* Programs for several nodes under hierarchical omission that kill their own nodes. HOPE_PROGRAM_DIES says
 * which nodes die and when, as NODE:STEP:COUNT,…; STEP is
 *   time     after so many microseconds
 *   send     before the COUNTth call that sends into a socket, as all that the cluster sends is
 *   receive  after the COUNTth one that has received something
 *   entry    before its COUNTth entry
 *   task     in the COUNTth leaf that it computes
 *   print    in the COUNTth piece of output, of which a half is written
 *
 * With HOPE_PROGRAM_STOPS they only stand still then, until they get SIGCONT. */
#ifndef SUKIMA_TESTS_CLUSTER_DYING_NODE_H
#define SUKIMA_TESTS_CLUSTER_DYING_NODE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What a program counts itself; the sockets are counted where this is linked. */
enum dying_node_step { dying_node_entry, dying_node_task };

/** Reads when this node dies. Before the first entry. */
void dying_node_begins(void);
/** This node comes to a step. Any thread. */
void dying_node_passes(enum dying_node_step step);
/** Writes to stdout. */
void dying_node_prints(const char* text, size_t size);
/** Says on stderr "result SUM OMITTED": of how many tasks this node has left out the rest. */
void dying_node_reports(unsigned long long sum);

#ifdef __cplusplus
}
#endif

#endif
