// SPDX-License-Identifier: Apache-2.0
// Calls the scripts that draw; see drawing.hpp.
#include "shared/drawing.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <stdexcept>
#include <utility>

#include <base/shared/child.hpp>
#include <base/shared/errors.hpp>
#include <base/shared/installed.hpp>

namespace sukima::lab {

drawing_script::drawing_script(const std::string& name) : script_(process::shared_data() / name) {
  if (access(script_.c_str(), R_OK) != 0)
    throw process::usage_error(
        fmt::format("--plot needs '{}', which is not there: install sukima again, or leave --plot out",
                    script_.string()));
  python_ = process::find_python_that_draws("--plot");
}

std::string drawing_script::run(const std::vector<std::string>& arguments, std::string input,
                                std::chrono::seconds limit) const {
  process::child_request request;
  request.arguments = {python_.string(), script_.string()};
  request.arguments.insert(request.arguments.end(), arguments.begin(), arguments.end());
  request.environment = {{"MPLBACKEND", "Agg"}};
  request.input = std::move(input);
  request.limit = limit;
  const process::child_result result = process::run_child(request);
  if (const std::string failure = process::describe_failure(result, limit); !failure.empty())
    throw std::runtime_error(
        fmt::format("the plot failed: {} {}: {}", script_.string(), failure, result.errors));
  return result.output;
}

}  // namespace sukima::lab
