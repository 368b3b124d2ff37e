// SPDX-License-Identifier: Apache-2.0
// The threads of a runtime's background workers.
#pragma once

#include <mutex>
#include <thread>
#include <vector>

namespace sukima::detail {

struct worker;
class worker_table;

class worker_threads {
 public:
  /// \param main  the function that the thread of a worker runs
  worker_threads(worker_table& workers, void (*main)(worker&)) : workers_(workers), main_(main) {}
  worker_threads(const worker_threads&) = delete;
  worker_threads& operator=(const worker_threads&) = delete;

  /// Starts the thread of one more background worker, which has the next rank. Called by worker_controller,
  /// under its lock. \returns false if no thread or no memory is available; nothing has changed then
  bool start_one() noexcept;
  /// How many threads were started. Their workers have the ranks from 1 to this number.
  unsigned count() const noexcept { return started_; }
  /// Waits until the threads have ended.
  void join();
  /// Called in a child process after fork(), where the threads do not exist.
  void forget();

 private:
  worker_table& workers_;
  void (*const main_)(worker&);
  std::mutex starting_;
  std::vector<std::thread> threads_;  ///< guarded by starting_
  unsigned started_ = 0;  ///< used by worker_controller only, under its lock
  worker* without_thread_ = nullptr;  ///< the next worker, whose thread could not be started yet; as started_
};

/// Names the calling thread after its worker, for debuggers and profilers.
void name_thread(const worker& of) noexcept;

}  // namespace sukima::detail
