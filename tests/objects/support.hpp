// SPDX-License-Identifier: Apache-2.0
// The common part of the tests of objects. Each test runs with every way to run objects.
#pragma once

#include <sukima/objects.hpp>
#include <sukima/sukima.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace support {

using namespace std::chrono_literals;
using sukima::usage_error;
using sukima::objects::capacity;
using sukima::objects::in;
using sukima::objects::out;
using sukima::objects::program;
using sukima::objects::send_result;

/// For waits that must not time out, however long a thread is stopped. ctest ends a hanging test earlier.
inline constexpr std::chrono::hours no_limit{1};

#if defined(SUKIMA_SANITIZED)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

/// A folder for one test, which exists as long as this object.
class own_folder {
 public:
  own_folder() {
    std::string name = (std::filesystem::temp_directory_path() / "sukima-objects-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder " + name);
    path_ = name;
  }
  own_folder(const own_folder&) = delete;
  own_folder& operator=(const own_folder&) = delete;
  ~own_folder() { std::filesystem::remove_all(path_); }
  std::string file(const char* name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

/// Sets SUKIMA_OBJECTS as long as this object exists.
class model_chosen {
 public:
  explicit model_chosen(const std::string& name) { setenv("SUKIMA_OBJECTS", name.c_str(), 1); }
  model_chosen(const model_chosen&) = delete;
  model_chosen& operator=(const model_chosen&) = delete;
  ~model_chosen() { unsetenv("SUKIMA_OBJECTS"); }
};

inline sukima::settings with_workers(unsigned workers) {
  sukima::settings s;
  s.workers = workers;
  s.elastic = false;
  return s;
}

/// Forks, and the join waits for a branch that another worker runs. If no worker takes the branch in time,
/// the join does not wait.
inline void fork_and_wait() {
  std::atomic<bool> is_taken{false}, may_end{false};
  sukima::fork2(
      [&] {
        for (int polls = 0; polls < 10'000 && !is_taken; ++polls) {
          std::this_thread::yield();
          sukima::fork2([] {}, [] {});
        }
        may_end = true;
      },
      [&] {
        is_taken = true;
        while (!may_end) std::this_thread::yield();
      });
}

/// The text of the exception of that type that f throws.
template <class E, class F> std::string text_of(F f) {
  try {
    f();
  } catch (const E& e) {
    return e.what();
  }
  ADD_FAILURE() << "nothing of that type was thrown";
  return {};
}

/// Tests that run with every model. Objects without a group are divided among four workers.
class models : public testing::TestWithParam<const char*> {
 protected:
  model_chosen chosen{GetParam()};
  sukima::runtime runtime{with_workers(4)};
};
inline auto all_models() {
  return testing::Values("simulated", "workers:simulated", "threads", "threads:simulated");
}
inline std::string name_of_model(const testing::TestParamInfo<const char*>& of) {
  std::string name = of.param;
  for (char& c : name)
    if (c == ':') c = '_';
  return name;
}

}  // namespace support
