// SPDX-License-Identifier: Apache-2.0
// Numbers of virtual CPUs as values of acts, and the running time that shows that a virtual CPU is switched
// on.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace sukima::host {

/// Parses a value such as "4"; nothing if it is not a number, or is 0.
std::optional<unsigned> vcpu_count(const std::string& value);

/// Explains why a machine with this many virtual CPUs cannot get fewer: unplugging needs the guest's consent,
/// and ends QEMU if it emulates the CPUs.
std::string none_is_unplugged(std::size_t present);

/// A virtual CPU that has run for this long since it was new has been switched on by the guest. Measured: the
/// thread of a virtual CPU that was not switched on runs for 0.1 ms.
inline constexpr double running_seconds = 1e-3;

}  // namespace sukima::host
