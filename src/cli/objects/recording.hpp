// SPDX-License-Identifier: Apache-2.0
// Turns the recording that the library made of a program (src/objects/recording/recording.hpp) into a
// description.
#pragma once

#include <objects/shared/description.hpp>

#include <string>
#include <string_view>

namespace sukima::cli::objects {

/// Parses a recording.
/// \param program the name of the program, for the description
/// \throws usage_error if the recorded program failed, or the recording is not complete
/// \throws description_error if a description cannot express the observations
sukima::objects::model::description description_of(std::string_view recording, const std::string& program);

}  // namespace sukima::cli::objects
