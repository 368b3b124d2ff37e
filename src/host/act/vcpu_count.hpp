// SPDX-License-Identifier: Apache-2.0
// Numbers of virtual CPUs as the values of acts, and the sign of a virtual CPU that runs.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace sukima::host {

/// The number that a value such as "4" is; nothing if it is none, or 0.
std::optional<unsigned> vcpu_count(const std::string& value);

/// Why a machine with so many virtual CPUs cannot get fewer: unplugging needs the guest's consent, and ends
/// QEMU where it emulates.
std::string none_is_unplugged(std::size_t present);

/// A virtual CPU that has run for so long since it was new has been switched on by the guest; measured: the
/// thread of one that was not needs 0.1 ms.
inline constexpr double running_seconds = 1e-3;

}  // namespace sukima::host
