// SPDX-License-Identifier: Apache-2.0
// Whether mpirun, srun or another launcher started this process under MPI, by the variables that they set.
#pragma once

#include "transport/transport.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace sukima::cluster {

enum class mpi_kind : std::uint8_t { open_mpi, mpich };

/// The place of this process, as the variables of the starter state it.
struct mpi_place {
  mpi_kind kind;
  node_id node;
  unsigned nodes;
};
/// Returns nothing if no MPI started this process, or if it is the only process there.
/// \param variable  returns the value of a variable, or null
std::optional<mpi_place> started_by_mpi(const char* (*variable)(const char* name));

/// Whether srun or a PMIx launcher started this process beside others, but no MPI connects them.
/// \param variable  as above
/// \returns a sentence about that, and what to do; empty: the variables show no such start
/// \pre started_by_mpi returns nothing
std::string started_without_mpi(const char* (*variable)(const char* name));

}  // namespace sukima::cluster
