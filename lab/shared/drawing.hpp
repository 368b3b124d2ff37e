// SPDX-License-Identifier: Apache-2.0
// Plots by installed Python scripts.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

namespace sukima::lab {

/// A Python with matplotlib, and a script that draws.
class drawing_script {
 public:
  /// Finds both, for the option --plot. \param name a file of the installed data, such as "plot-lab.py"
  /// \throws usage_error if one of them does not exist
  explicit drawing_script(const std::string& name);

  /// Runs the script. \returns its output
  /// \throws std::runtime_error with the reason if it fails or takes longer than the limit
  std::string run(const std::vector<std::string>& arguments, std::string input,
                  std::chrono::seconds limit) const;

 private:
  std::filesystem::path script_, python_;
};

}  // namespace sukima::lab
