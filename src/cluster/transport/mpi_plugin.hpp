// SPDX-License-Identifier: Apache-2.0
// A transport for nodes that mpirun started: they exchange messages by that MPI. For each implementation of
// MPI a plug-in makes the calls (mpi/mpi_transport.cpp), so the program itself is not linked with MPI.
#pragma once

#include "transport/mpi_launch.hpp"
#include "transport/transport.hpp"

#include <memory>
#include <string>
#include <vector>

namespace sukima::cluster {

struct mpi_settings {
  unsigned nodes;       ///< as the starter states
  std::string program;  ///< version and build id, equal on all nodes
  bool finalizes;       ///< whether stop() finalises MPI if start() initialised it
};

/// The name of the function that a plug-in exports, with the version number of this interface.
inline constexpr const char* mpi_plugin_function = "sukima_cluster_mpi_1";
using mpi_plugin = transport* (*)(const mpi_settings&);

/// Returns the paths where a plug-in is searched, in that order. If SUKIMA_CLUSTER_PLUGINS is set, only that
/// folder is searched. Otherwise: beside the library or the program, in the folders of the dynamic linker,
/// beside the launcher in PATH, and in the installation folder that was set at build time.
/// \param variable  returns the value of a variable, or null
std::vector<std::string> places_of_plugin(const std::string& file, const char* (*variable)(const char* name));

/// Loads the first of these plug-ins that can be loaded.
/// \param why  gets the reason if there is none: the fault of a file that is there, else all places
/// \returns its function; null: there is none
mpi_plugin load_plugin(const std::vector<std::string>& places, std::string& why);

/// Loads the plug-in for that MPI and makes its transport.
/// \param variable  as above
/// \throws start_failure no plug-in for that MPI can be loaded
std::unique_ptr<transport> make_mpi_transport(mpi_kind kind, const mpi_settings& chosen,
                                              const char* (*variable)(const char* name));

}  // namespace sukima::cluster
