// SPDX-License-Identifier: Apache-2.0
#include "transport/mpi.hpp"

#include "entry/environment.hpp"

#include <base/shared/parse_number.hpp>

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>

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

/// The folder of the file that contains this code: the program, or libsukima-cluster.so.
std::string own_folder() {
  Dl_info where{};
  if (dladdr(reinterpret_cast<const void*>(&started_by_mpi), &where) == 0 || where.dli_fname == nullptr)
    return {};
  std::filesystem::path file(where.dli_fname);
  std::error_code error;
  // dladdr returned the program's name as it was called.
  if (!file.is_absolute()) file = std::filesystem::read_symlink("/proc/self/exe", error);
  return file.parent_path().string();
}

/// Returns the folder of the plug-ins beside the first `sukima` in that PATH; empty: PATH contains no
/// `sukima`.
std::string folder_beside_launcher(std::string_view path) {
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find(':', begin), path.size());
    const std::filesystem::path launcher = std::filesystem::path(path.substr(begin, end - begin)) / "sukima";
    std::error_code error;
    if (launcher.is_absolute() && access(launcher.c_str(), X_OK) == 0 &&
        std::filesystem::is_regular_file(launcher, error)) {
      const auto real = std::filesystem::canonical(launcher, error);
      return error ? std::string()
                   : (real.parent_path() / SUKIMA_PLUGINS_FROM_LAUNCHER).lexically_normal().string();
    }
    begin = end + 1;
  }
  return {};
}

}  // namespace

std::vector<std::string> places_of_plugin(const std::string& file,
                                          const char* (*variable)(const char* name)) {
  if (const char* const folder = variable(variable_plugins); folder != nullptr && *folder != 0)
    return {std::string(folder) + "/" + file};
  std::vector<std::string> all;
  if (const std::string own = own_folder(); !own.empty()) {
    all.push_back(own + "/sukima/" + file);
    all.push_back(own + "/" + file);
  }
  all.push_back(file);  // the dynamic linker searches, and the program may contain the folder of its library
  if (const char* const path = variable("PATH"))
    if (const std::string beside = folder_beside_launcher(path); !beside.empty())
      all.push_back(beside + "/" + file);
  all.push_back(std::string(SUKIMA_PLUGIN_FOLDER) + "/" + file);
  return all;
}

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

std::unique_ptr<transport> make_mpi_transport(mpi_kind kind, const mpi_settings& chosen,
                                              const char* (*variable)(const char* name)) {
  const bool open_mpi = kind == mpi_kind::open_mpi;
  const std::string file = open_mpi ? "sukima-cluster-openmpi.so" : "sukima-cluster-mpich.so";
  std::string why;
  for (const std::string& place : places_of_plugin(file, variable)) {
    // RTLD_GLOBAL: Open MPI loads its own plug-ins, which need its symbols.
    void* const plugin = dlopen(place.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (plugin == nullptr) {
      const char* const error = dlerror();
      if (why.empty() && error != nullptr) why = error;
      continue;
    }
    if (void* const made = dlsym(plugin, mpi_plugin_function))
      return std::unique_ptr<transport>(reinterpret_cast<mpi_plugin>(made)(chosen));
    why = place + " is of another version of Sukima";
  }
  throw start_failure(std::string("this program was started by ") + (open_mpi ? "Open MPI" : "MPICH") +
                      ", and the plug-in for that cannot be loaded (" + why +
                      "): install it with Sukima, name its folder in " + variable_plugins +
                      ", or start the program with sukima cluster run");
}

}  // namespace sukima::cluster
