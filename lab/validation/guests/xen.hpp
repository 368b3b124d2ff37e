// SPDX-License-Identifier: Apache-2.0
// Guests of Xen, which runs in an emulated machine and reports steal time to them.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "guests/comparison.hpp"

namespace sukima::guests {

/// Starts the emulated machine with an image of build-xen-image.sh, and waits until it has switched itself
/// off.
/// \param folder for its console's text
/// \return the text on its console
/// \throws std::runtime_error if it does not end within `patience`, with the end of that text
std::string run_xen(const std::filesystem::path& image, const std::filesystem::path& folder,
                    std::chrono::seconds patience);

/// Reads what the first domain (dom0-init.sh) printed about its guests.
/// \param threads that were busy in each
std::vector<comparison> read_xen(const std::string& console, unsigned threads);

}  // namespace sukima::guests
