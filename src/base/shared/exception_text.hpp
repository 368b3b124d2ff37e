// SPDX-License-Identifier: Apache-2.0
// The names of types and the texts of exceptions, for messages to people.
#pragma once

#include <cxxabi.h>

#include <cstdlib>
#include <exception>
#include <memory>
#include <string>
#include <typeinfo>

namespace sukima {

/// Returns a C++ name in readable form; if that is not possible, the name itself.
inline std::string demangled(const char* name) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(name, nullptr, nullptr, &status),
                                                    std::free);
  return text != nullptr ? text.get() : name;
}

/// Returns the text of the exception that is being handled; if it has none, its type. \pre in a handler
inline std::string handled_exception_text() {
  try {
    throw;
  } catch (const std::exception& e) {
    const char* const text = e.what();
    if (text != nullptr && *text != '\0') return text;
    return "an exception of the type " + demangled(typeid(e).name()) + " without a text";
  } catch (...) {
    const std::type_info* const type = abi::__cxa_current_exception_type();
    if (type == nullptr) return "an exception of another language";
    return "an exception of the type " + demangled(type->name());
  }
}

}  // namespace sukima
