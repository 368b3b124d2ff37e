// SPDX-License-Identifier: Apache-2.0
// How long predictions and plans take.
#include <gtest/gtest.h>

#include <chrono>
#include <objects/shared/planner.hpp>

#include "examples.hpp"

namespace {

using namespace sukima::objects::model;

double seconds_of(const auto& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

TEST(speed, of_a_prediction) {
  const description program = examples::pipeline_of(256, 1e9, 300, 16, 200);
  for (const execution_model model : all_models) {
    configuration how = examples::configuration_of(program, model);
    for (std::size_t i = 0; i < how.groups.size(); i++) how.groups[i] = i / 64;
    prediction result;
    // No agreement: all events that a prediction may take.
    const effort all = {.agreement = 0};
    const double seconds = seconds_of([&] { result = predict(program, how, examples::machine_of(2), all); });
    std::printf("%s: %.1f million events a second, %.1f ms\n", std::string(name_of(model)).c_str(),
                static_cast<double>(result.events) / seconds / 1e6, seconds * 1e3);
    EXPECT_LE(seconds, 0.05) << name_of(model);
    EXPECT_GE(static_cast<double>(result.events) / seconds, 5e6) << name_of(model);
  }
}

TEST(speed, of_a_plan_for_256_objects) {
  const description program = examples::pipeline_of(256, 1e6, 2000, 16, 500);
  plan_request request;
  request.where = examples::machine_of(2);
  const double seconds = seconds_of([&] { make_plan(program, request); });
  std::printf("256 objects: %.2f s\n", seconds);
  EXPECT_LE(seconds, 5);
}

}  // namespace
