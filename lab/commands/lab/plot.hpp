// SPDX-License-Identifier: Apache-2.0
// Plots of experiments by the installed Python script.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "shared/drawing.hpp"

namespace sukima::cli::lab {

/// Finds the script that draws reports. \throws usage_error if the script or its Python is missing
sukima::lab::drawing_script find_plotter();

/// Draws FOLDER/EXPERIMENT.png and .svg of each experiment of a report, and a heat map of the claims over
/// many cells.
/// \returns the files
/// \throws usage_error as find_plotter; std::runtime_error if the script fails
std::vector<std::filesystem::path> draw(const nlohmann::ordered_json& report,
                                        const std::filesystem::path& folder);

}  // namespace sukima::cli::lab
