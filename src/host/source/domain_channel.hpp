// SPDX-License-Identifier: Apache-2.0
// Finds the port of the guest service in the XML of a domain.
#pragma once

#include <string>
#include <string_view>

namespace sukima::host {

/// The path of the Unix socket of the channel `org.sukima.guest.0` in the XML of a running domain; empty if
/// there is none. It parses the XML that libvirt writes: attributes are in quotes and contain no `<`. Linear
/// time.
std::string channel_path(std::string_view xml);

}  // namespace sukima::host
