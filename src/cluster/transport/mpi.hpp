// SPDX-License-Identifier: Apache-2.0
// Nodes that mpirun started, connected by that MPI. A plug-in for each implementation calls MPI
// (mpi/mpi_transport.cpp), so a program itself is linked with no MPI.
#pragma once

#include "transport/transport.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sukima::cluster {

enum class mpi_kind : std::uint8_t { open_mpi, mpich };

/// The contents of the starter's variables.
struct mpi_place {
  mpi_kind kind;
  node_id node;
  unsigned nodes;
};
/// Nothing: this process was not started by an MPI, or it is alone there.
/// \param variable  the value of a variable, or null
std::optional<mpi_place> started_by_mpi(const char* (*variable)(const char* name));

/// Whether srun or a PMIx launcher started this process beside others, and no MPI joins them.
/// \param variable  as above
/// \returns a sentence about that, and what to do; empty: it was not, as far as the variables show
/// \pre started_by_mpi returns nothing
std::string started_without_mpi(const char* (*variable)(const char* name));

struct mpi_settings {
  unsigned nodes;       ///< as the starter says
  std::string program;  ///< version and build id: the same on all nodes
  bool finalizes;       ///< by stop(), if it was start() that initialised MPI
};

/// The name of what a plug-in exports, with the number of this interface.
inline constexpr const char* mpi_plugin_function = "sukima_cluster_mpi_1";
using mpi_plugin = transport* (*)(const mpi_settings&);

/// The places of a plug-in, in the order of the search. With SUKIMA_CLUSTER_PLUGINS it is that folder only.
/// Otherwise: beside the library or the program, where the dynamic linker looks, beside the launcher of PATH,
/// and in the folder of the installation as it was built.
/// \param variable  the value of a variable, or null
std::vector<std::string> places_of_plugin(const std::string& file, const char* (*variable)(const char* name));

/// \param variable  as above
/// \throws start_failure there is no plug-in for that MPI
std::unique_ptr<transport> make_mpi_transport(mpi_kind kind, const mpi_settings& chosen,
                                              const char* (*variable)(const char* name));

}  // namespace sukima::cluster
