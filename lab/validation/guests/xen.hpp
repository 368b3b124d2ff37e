// SPDX-License-Identifier: Apache-2.0
// Guests of Xen in an emulated machine. Xen reports steal time to its guests.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "guests/comparison.hpp"

namespace sukima::guests {

/// Starts the emulated machine with an image of build-xen-image.sh, and waits until the machine switches
/// itself off.
/// \param folder for its console's text
/// \return the text on its console
/// \throws std::runtime_error after `patience`, with the end of that text
std::string run_xen(const std::filesystem::path& image, const std::filesystem::path& folder,
                    std::chrono::seconds patience);

/// Parses the figures of the first domain (dom0-init.sh) about its guests.
/// \param threads number of busy threads in each guest
std::vector<comparison> read_xen(const std::string& console, unsigned threads);

}  // namespace sukima::guests
