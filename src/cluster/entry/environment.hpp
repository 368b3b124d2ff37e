// SPDX-License-Identifier: Apache-2.0
// The environment variables with which `sukima cluster run` describes the run to each node. The command and
// the library both use this header.
#pragma once

#include "transport/tcp.hpp"

#include <optional>
#include <string>

namespace sukima::cluster {

inline constexpr const char* variable_nodes = "SUKIMA_CLUSTER_NODES";  ///< number of nodes
inline constexpr const char* variable_node = "SUKIMA_CLUSTER_NODE";  ///< number of this node
inline constexpr const char* variable_room =
    "SUKIMA_CLUSTER_ROOM";  ///< how many nodes may join while the others run; not set: 0
inline constexpr const char* variable_join =
    "SUKIMA_CLUSTER_JOIN";  ///< host:port of the node from which this process requests a place
inline constexpr const char* variable_address = "SUKIMA_CLUSTER_ADDRESS";  ///< host:port of node 0
inline constexpr const char* variable_addresses =
    "SUKIMA_CLUSTER_ADDRESSES";  ///< addresses where the others reach each node, by node, separated by commas
// The values of LISTEN, ENDED, REPORT and OUTPUT are numbers of descriptors: entry/inherited.hpp.
inline constexpr const char* variable_files = "SUKIMA_CLUSTER_FILES";  ///< the files of these descriptors
inline constexpr const char* variable_listen = "SUKIMA_CLUSTER_LISTEN";  ///< node 0: its listening socket
inline constexpr const char* variable_port =
    "SUKIMA_CLUSTER_PORT";  ///< N or N-M: ports where a node other than 0 listens; not set: any free port
inline constexpr const char* variable_silence =
    "SUKIMA_CLUSTER_SILENCE";  ///< seconds after which a silent node is lost
inline constexpr const char* variable_hope =
    "SUKIMA_CLUSTER_HOPE";  ///< 1: hierarchical omission; 0, or not set: nodes steal
inline constexpr const char* variable_ended =
    "SUKIMA_CLUSTER_ENDED";  ///< under hierarchical omission: the descriptor tcp_settings::ended_nodes
inline constexpr const char* variable_report =
    "SUKIMA_CLUSTER_REPORT";  ///< DESCRIPTOR:MARK of the reports (protocol/report.hpp)
inline constexpr const char* variable_output =
    "SUKIMA_CLUSTER_OUTPUT";  ///< the descriptor for the output of tasks (entry/task_output.hpp)
inline constexpr const char* variable_plugins = "SUKIMA_CLUSTER_PLUGINS";  ///< folder of the MPI plug-ins
inline constexpr const char* variable_token = "SUKIMA_CLUSTER_TOKEN";  ///< the run's secret token

/// Reads the variables. If `own.nodes` is 0, this process joins the run of the node at `host` and `port`.
/// Returns nothing if this process is not a node of a cluster. Version and build id stay empty.
/// \param variable  returns the value of a variable, or null
/// \throws start_failure a value is wrong
std::optional<tcp_settings> read_environment(const char* (*variable)(const char* name));

}  // namespace sukima::cluster
