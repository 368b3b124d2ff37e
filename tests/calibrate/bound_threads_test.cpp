// SPDX-License-Identifier: Apache-2.0
// Threads that are bound to CPUs, if what they run fails.
#include <calibrate/bound_threads.hpp>

#include <gtest/gtest.h>

#include <new>
#include <stdexcept>

namespace {

using namespace sukima::calibrate_detail;

TEST(bound_threads, pass_on_an_exception) {
  const unsigned cpu = allowed_cpus().front();
  bool ran = false;
  EXPECT_THROW(run_bound({{cpu, [] { throw std::bad_alloc(); }}, {cpu, [&] { ran = true; }}}),
               std::bad_alloc);
  EXPECT_TRUE(ran);
  EXPECT_THROW(run_bound({{cpu, [] { throw std::runtime_error("refused"); }}}), std::runtime_error);
}

}  // namespace
