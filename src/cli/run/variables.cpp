// SPDX-License-Identifier: Apache-2.0
// The table of variables; see variables.hpp. docs/run.md has the same table for people.
#include "run/variables.hpp"

#include <base/shared/assert.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <span>

#include "shared/most_workers.hpp"

namespace sukima::cli::run {
namespace {

/// Synonyms: if the user has set one of them, none of them is set.
struct family {
  std::string_view reader;
  std::span<const std::string_view> names;      ///< variables that are set
  std::span<const std::string_view> synonyms;  ///< variables that are only read
  unsigned start_decision::* number = &start_decision::threads;
};

constexpr std::array<std::string_view, 0> none{};
constexpr std::array openmp_threads{std::string_view("OMP_NUM_THREADS")};
constexpr std::array openmp_other{std::string_view("OMP_THREAD_LIMIT")};
constexpr std::array openblas{std::string_view("OPENBLAS_NUM_THREADS")};
constexpr std::array openblas_other{std::string_view("GOTO_NUM_THREADS"),
                                    std::string_view("OMP_NUM_THREADS")};
constexpr std::array mkl{std::string_view("MKL_NUM_THREADS")};
constexpr std::array omp{std::string_view("OMP_NUM_THREADS")};
constexpr std::array blis{std::string_view("BLIS_NUM_THREADS")};
constexpr std::array blis_other{std::string_view("BLIS_JC_NT"), std::string_view("BLIS_IC_NT"),
                                std::string_view("BLIS_JR_NT"), std::string_view("BLIS_IR_NT"),
                                std::string_view("OMP_NUM_THREADS")};
constexpr std::array numexpr{std::string_view("NUMEXPR_NUM_THREADS")};
constexpr std::array numexpr_other{std::string_view("NUMEXPR_MAX_THREADS"),
                                   std::string_view("OMP_NUM_THREADS")};
constexpr std::array numba{std::string_view("NUMBA_NUM_THREADS")};
constexpr std::array polars{std::string_view("POLARS_MAX_THREADS")};
constexpr std::array rayon{std::string_view("RAYON_NUM_THREADS")};
constexpr std::array rayon_other{std::string_view("RAYON_RS_NUM_CPUS")};
constexpr std::array tokio{std::string_view("TOKIO_WORKER_THREADS")};
constexpr std::array go{std::string_view("GOMAXPROCS")};
constexpr std::array dotnet{std::string_view("DOTNET_PROCESSOR_COUNT")};
constexpr std::array dotnet_other{std::string_view("COMPlus_PROCESSOR_COUNT")};
constexpr std::array julia{std::string_view("JULIA_NUM_THREADS"), std::string_view("JULIA_CPU_THREADS")};
constexpr std::array python{std::string_view("PYTHON_CPU_COUNT")};
constexpr std::array loky{std::string_view("LOKY_MAX_CPU_COUNT")};
constexpr std::array cilk{std::string_view("CILK_NWORKERS")};
constexpr std::array cmake{std::string_view("CMAKE_BUILD_PARALLEL_LEVEL")};
constexpr std::array mpi_slots{std::string_view("OMPI_MCA_orte_set_default_slots")};

constexpr std::array counts{
    family{"OpenMP (libgomp, libomp)", openmp_threads, openmp_other},
    family{"OpenBLAS", openblas, openblas_other},
    family{"Intel MKL", mkl, omp},
    family{"BLIS", blis, blis_other},
    family{"NumExpr", numexpr, numexpr_other},
    family{"Numba", numba, none},
    family{"Polars", polars, none},
    family{"rayon", rayon, rayon_other},
    family{"tokio", tokio, none},
    family{"Go", go, none},
    family{".NET", dotnet, dotnet_other},
    family{"Julia", julia, none},
    family{"Python (os.process_cpu_count, multiprocessing)", python, none},
    family{"joblib, loky", loky, none},
    family{"OpenCilk", cilk, none},
    family{"cmake --build", cmake, none},
    family{"Open MPI: ranks of mpirun without -n", mpi_slots, none, &start_decision::slots},
};

/// A variable with a value that does not depend on the number of threads.
struct setting {
  std::string_view reader, name, value;
};

constexpr std::array waiting_names{std::string_view("OMP_WAIT_POLICY"), std::string_view("GOMP_SPINCOUNT"),
                                   std::string_view("KMP_BLOCKTIME"), std::string_view("KMP_LIBRARY")};
/// Variables that determine how OpenMP's idle threads wait if CPU is short.
constexpr std::array openmp_waiting{setting{"OpenMP (libgomp, libomp)", "OMP_WAIT_POLICY", "passive"},
                                    setting{"OpenMP (libgomp)", "GOMP_SPINCOUNT", "0"},
                                    setting{"OpenMP (libomp)", "KMP_BLOCKTIME", "0"}};
constexpr std::array other_waiting{
    setting{"OpenBLAS", "OPENBLAS_THREAD_TIMEOUT", "4"},
    setting{".NET", "DOTNET_ThreadPool_UnfairSemaphoreSpinLimit", "0"},
    setting{"Open MPI", "OMPI_MCA_mpi_yield_when_idle", "1"},
};
/// libuv's pool has 4 threads, and V8's at most 4.
constexpr unsigned usual_node_pool = 4;

class planner {
 public:
  explicit planner(environment_reader read) : read_(read) {}

  bool user_has(std::string_view name) const { return read_(std::string(name).c_str()) != nullptr; }

  void keep(std::string_view name, std::string_view reader) {
    const char* const value = read_(std::string(name).c_str());
    const auto same = [&](const variable& v) { return v.name == name; };
    if (value != nullptr && std::ranges::none_of(plan_.kept, same))
      plan_.kept.push_back({std::string(name), value, std::string(reader)});
  }

  void set(std::string_view name, std::string value, std::string_view reader) {
    if (user_has(name)) {
      keep(name, reader);
    } else {
      plan_.set.push_back({std::string(name), std::move(value), std::string(reader)});
    }
  }

  void set_count(const family& one, unsigned threads) {
    bool taken = false;
    for (const auto& names : {one.names, one.synonyms}) {
      for (const std::string_view name : names) {
        taken = taken || user_has(name);
        keep(name, one.reader);
      }
    }
    if (taken) return;
    for (const std::string_view name : one.names) set(name, fmt::format("{}", threads), one.reader);
  }

  /// Adds an option to a variable that holds several options, unless it already contains that option.
  void append(std::string_view name, std::string_view option, const std::string& value,
              std::string_view reader) {
    const char* const now = read_(std::string(name).c_str());
    const std::string before = now == nullptr ? "" : now;
    if (before.find(option) != std::string::npos) {
      keep(name, reader);
      return;
    }
    plan_.set.push_back(
        {std::string(name),
         before.empty() ? fmt::format("{}{}", option, value) : fmt::format("{} {}{}", before, option, value),
         std::string(reader)});
  }

  void keep_openmp_waiting() {
    for (const std::string_view name : waiting_names) keep(name, "OpenMP");
  }

  void set_openmp_waiting() {
    if (user_sets_waiting(read_)) return;
    for (const setting& one : openmp_waiting) set(one.name, std::string(one.value), one.reader);
  }

  variable_plan take() {
    SUKIMA_ASSERT(names_are_different(), "each variable is either set or kept, and once");
    return std::move(plan_);
  }

 private:
  bool names_are_different() const {
    std::set<std::string_view> names;
    for (const auto* const list : {&plan_.set, &plan_.kept})
      for (const variable& one : *list)
        if (!names.insert(one.name).second) return false;
    return true;
  }

  environment_reader read_;
  variable_plan plan_;
};

/// The threads of Node's pools block or take work from one queue. Beside neighbours, fewer threads would only
/// get less CPU. So the pools shrink only if the user restricts the number of threads, and grow with that
/// number.
void plan_node(planner& plan, const start_decision& decision) {
  if (!decision.restricted && decision.threads <= usual_node_pool) return;
  // With a pool of one thread, a single blocking call would stop all others.
  plan.set("UV_THREADPOOL_SIZE", fmt::format("{}", std::max(decision.threads, 2U)), "Node.js, libuv");
  if (decision.threads < usual_node_pool)
    plan.append("NODE_OPTIONS", "--v8-pool-size=", fmt::format("{}", decision.threads), "Node.js (V8)");
}

}  // namespace

bool user_sets_openmp(environment_reader read) { return read("OMP_NUM_THREADS") != nullptr; }

bool user_sets_waiting(environment_reader read) {
  return std::ranges::any_of(
      waiting_names, [&](std::string_view name) { return read(std::string(name).c_str()) != nullptr; });
}

variable_plan plan_variables(const start_decision& decision, bool preloaded, environment_reader read) {
  planner plan(read);
  for (const family& one : counts) plan.set_count(one, decision.*one.number);
  // If the user requests more ranks than slots, they start as they would without this number of slots.
  plan.set("OMPI_MCA_rmaps_base_oversubscribe", "1", "Open MPI");
  plan_node(plan, decision);
  // AddressSanitizer ends programs in which another library is loaded before its own. Ours may be: it has no
  // allocator.
  if (preloaded) plan.append("ASAN_OPTIONS", "verify_asan_link_order=", "0", "AddressSanitizer");
  if (!preloaded)
    plan.append("JAVA_TOOL_OPTIONS", "-XX:ActiveProcessorCount=", fmt::format("{}", decision.threads), "JVM");
  // Sukima's runtime follows the CPU itself, so it receives only the user's own number.
  if (decision.fixed)
    plan.set("SUKIMA_WORKERS", fmt::format("{}", std::min(decision.threads, most_workers)), "Sukima");
  if (!decision.spinning) {
    plan.keep_openmp_waiting();
    // The library changes the wait policy while the program runs, and a variable would prevent that.
    if (!preloaded) plan.set_openmp_waiting();
    for (const setting& one : other_waiting) plan.set(one.name, std::string(one.value), one.reader);
  }
  return plan.take();
}

}  // namespace sukima::cli::run
