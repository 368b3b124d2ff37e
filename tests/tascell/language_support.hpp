// SPDX-License-Identifier: Apache-2.0
// The common part of the tests of generated code: the default runtime with several numbers of workers.
#pragma once

#include <sukima/sukima.h>
#include <sukima/detail/choice_point.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace language_test {

#if defined(SUKIMA_SANITIZED)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

/// The number of workers, and the steal protocol.
struct setting {
  int workers;
  const char* steal;
};

/// Tests that use the default runtime, which generated code enters.
class with_workers : public testing::TestWithParam<setting> {
 protected:
  void SetUp() override {
    setenv("SUKIMA_ELASTIC", "off", 1);
    setenv("SUKIMA_STEAL", GetParam().steal, 1);
    ASSERT_EQ(sukima_workers_set(GetParam().workers), 0);
  }
};

inline auto worker_counts() {
  return testing::Values(setting{1, "publish"}, setting{2, "publish"}, setting{4, "publish"},
                         setting{2, "request"}, setting{4, "request"}, setting{2, "indolent"},
                         setting{4, "indolent"});
}
inline std::string name_of_count(const testing::TestParamInfo<setting>& info) {
  return std::to_string(info.param.workers) + "_workers_" + info.param.steal;
}

}  // namespace language_test
