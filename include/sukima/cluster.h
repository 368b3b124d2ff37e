/* SPDX-License-Identifier: Apache-2.0 */
/* Facts about the nodes that run a program in the Tascell language (docs/cluster.md). `sukima cc` links the
 * library for programs with `cluster worker`, and with the option --cluster. */
#ifndef SUKIMA_CLUSTER_H
#define SUKIMA_CLUSTER_H

#ifdef __cplusplus
extern "C" {
#endif

/** \addtogroup cluster
 *  @{ */

#if defined(__SUKIMA_SEQUENTIAL__)
/* `sukima cc --sequential`: no nodes, and no library. */
static __inline__ unsigned sukima_cluster_nodes(void) { return 1; }
static __inline__ unsigned sukima_cluster_node(void) { return 0; }
static __inline__ unsigned long long sukima_cluster_given(void) { return 0; }
#else
/** The number of nodes that run this program; 1: it runs alone. Any thread. */
unsigned sukima_cluster_nodes(void);
/** The number of this node, from 0. Any thread. */
unsigned sukima_cluster_node(void);
/** The number of tasks that this node has given to others so far. Any thread. */
unsigned long long sukima_cluster_given(void);
#endif

/** @} */

#ifdef __cplusplus
}
#endif

#endif
