// SPDX-License-Identifier: Apache-2.0
// Reads the variables that mpirun, srun and launchers with PMIx set.
#include "transport/mpi_launch.hpp"

#include <base/shared/parse_number.hpp>

#include <string_view>

namespace sukima::cluster {

namespace {

/// The variables that an MPI implementation sets for the processes that it starts.
struct starter {
  mpi_kind kind;
  const char* node;
  const char* nodes;
};
// Open MPI comes first, because under its mpirun there may be variables of an outer PMI.
constexpr starter starters[]{{mpi_kind::open_mpi, "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                             {mpi_kind::mpich, "PMI_RANK", "PMI_SIZE"}};

/// Slurm's steps from this number on contain no tasks of srun: a job's script, its interactive shell.
constexpr unsigned first_special_step = 0xfffffff0;

/// The problem if several processes are not connected, and what to do.
constexpr const char* nothing_joins =
    ", and Sukima finds no MPI that connects the processes: start it with mpirun, srun --mpi=pmi2 "
    "(MPICH), srun --mpi=pmix (Open MPI) or sukima cluster run, or each process by itself with sukima "
    "cluster run -n 1";

std::optional<unsigned> number_in(const char* text) noexcept {
  return text == nullptr ? std::nullopt : parse_number<unsigned>(text);
}

/// A process in a step that srun started with several tasks.
struct slurm_task {
  unsigned number;
  unsigned tasks;
};
std::optional<slurm_task> own_slurm_task(const char* (*variable)(const char* name)) {
  // Only srun sets the number of a step's tasks. SLURM_PROCID and SLURM_NTASKS are set in a job's script,
  // too.
  const auto step = number_in(variable("SLURM_STEP_ID"));
  const auto task = number_in(variable("SLURM_PROCID"));
  const auto tasks = number_in(variable("SLURM_STEP_NUM_TASKS"));
  if (!step || *step >= first_special_step || !task || !tasks || *tasks < 2 || *task >= *tasks) return {};
  return slurm_task{*task, *tasks};
}

/// Whether srun --mpi=pmix started this process: then PMIx names a namespace of Slurm for the step, and the
/// number of the process in it.
bool has_pmix_of_slurm(const slurm_task& own, const char* (*variable)(const char* name)) {
  const char* const space = variable("PMIX_NAMESPACE");
  return space != nullptr && std::string_view(space).starts_with("slurm.pmix.") &&
         number_in(variable("PMIX_RANK")) == own.number;
}

}  // namespace

std::optional<mpi_place> started_by_mpi(const char* (*variable)(const char* name)) {
  for (const starter& by : starters) {
    const auto node = number_in(variable(by.node));
    const auto nodes = number_in(variable(by.nodes));
    if (node && nodes && *nodes > 1 && *node < *nodes) return mpi_place{by.kind, *node, *nodes};
    if (node && nodes) return {};  // it is alone there, even if srun started that mpirun's daemons
  }
  if (const auto own = own_slurm_task(variable); own && has_pmix_of_slurm(*own, variable))
    return mpi_place{mpi_kind::open_mpi, own->number, own->tasks};
  return {};
}

std::string started_without_mpi(const char* (*variable)(const char* name)) {
  // An MPI that states one process counts, too: its mpirun may run in a step of several tasks.
  for (const starter& by : starters)
    if (number_in(variable(by.node)) && number_in(variable(by.nodes))) return {};
  if (const auto own = own_slurm_task(variable))
    return "srun has started this program " + std::to_string(own->tasks) + " times" + nothing_joins;
  // A PMIx launcher does not announce the number of processes. The process with number 0 may be alone: Open
  // MPI also gives that number to a program that was started by itself and calls MPI_Init.
  const auto rank = number_in(variable("PMIX_RANK"));
  if (rank && *rank > 0)
    return std::string("a PMIx launcher has started this program several times") + nothing_joins;
  return {};
}

}  // namespace sukima::cluster
