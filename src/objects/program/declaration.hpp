// SPDX-License-Identifier: Apache-2.0
// The declarations of a program as a text with a line for each stream and object. Two processes with the same
// text can exchange messages.
#pragma once

#include <string>
#include <string_view>

namespace sukima::objects::detail {

struct program_core;
struct stream_core;

/// Returns the type of the stream's messages, as C++ writes it.
std::string type_name(const stream_core& s);
/// Returns the text of a program's declarations.
std::string declaration_of(const program_core& p);
/// Returns the first lines that differ, as the end of a sentence; empty if the texts are the same.
std::string first_difference(std::string_view wanted, std::string_view found);

}  // namespace sukima::objects::detail
