// SPDX-License-Identifier: Apache-2.0
// Character sets other than UTF-8: -finput-charset and -fexec-charset, which Clang lacks.
#pragma once

#include "source/unit.hpp"

namespace sukima::language {

/// Returns Clang's view of a disk with files in a character set: regular files appear in UTF-8. A file with
/// bytes that the set does not have cannot be read. \param charset  one that the C library knows
llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> recoded_files(const std::string& charset);

/// Writes characters beyond ASCII in narrow literals as the bytes that the C compiler gives them, so that
/// Clang knows their number. Such bytes are not converted again. A literal stays unchanged if one of its
/// characters cannot be converted, if the set depends on a state or lacks ASCII, and in assembler and
/// attributes. Linear in the number of tokens.
/// \param charset  of the execution; empty: UTF-8, in which only characters in '' need this
void encode_literals(clang::Preprocessor& preprocessor, const std::string& charset, source_tokens& into);

}  // namespace sukima::language
