// SPDX-License-Identifier: Apache-2.0
// The port of the guest service in the XML of a domain.
#pragma once

#include <string>
#include <string_view>

namespace sukima::host {

/// The path of the Unix socket of the channel `org.sukima.guest.0`, as the XML of a running domain names it;
/// empty if there is none. It reads what libvirt writes: attributes in quotes, and no `<` in them. Linear
/// time.
std::string channel_path(std::string_view xml);

}  // namespace sukima::host
