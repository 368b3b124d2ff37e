// SPDX-License-Identifier: Apache-2.0
// Guests of Xen, which runs in an emulated machine: they are told what the hypervisor takes.
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
/// \return what the machine said on its console
/// \throws std::runtime_error if it does not end within `patience`, with its last words
std::string run_xen(const std::filesystem::path& image, const std::filesystem::path& folder,
                    std::chrono::seconds patience);

/// Reads what the first domain (dom0-init.sh) said about its guests.
/// \param threads that were busy in each
std::vector<comparison> read_xen(const std::string& console, unsigned threads);

}  // namespace sukima::guests
