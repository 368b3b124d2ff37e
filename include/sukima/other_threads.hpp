// SPDX-License-Identifier: Apache-2.0
// other_threads: declares threads of other runtimes that compute beside the workers.
#pragma once

#include <cstdint>

namespace sukima {
/// \addtogroup runtime
/// @{

/// Declares that threads of another runtime compute in this process, such as those of a parallel region of
/// OpenMP or of a library, as long as the object exists. Runtimes with `settings::elastic` then run fewer
/// workers, but at least one each, so that the threads get CPUs. The workers resume when the object is
/// destroyed.
///
///     const sukima::other_threads team(omp_get_max_threads());
///     #pragma omp parallel for
///
/// `sukima run` does this for each parallel region of OpenMP by itself (docs/openmp.md). If several objects
/// exist at a time, their numbers of threads are added. Constructor and destructor cost some nanoseconds
/// while no thread is inside a runtime; otherwise they wake the runtime's monitor, which changes the number
/// of workers. Any thread may use this class.
class other_threads {
 public:
  /// \param threads how many threads compute, the calling thread included; 0 and 1 change nothing
  explicit other_threads(unsigned threads) noexcept;
  ~other_threads();
  other_threads(const other_threads&) = delete;
  other_threads& operator=(const other_threads&) = delete;

 private:
  std::uint64_t begun_;
};

/// @}
}  // namespace sukima
