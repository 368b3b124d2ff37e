// SPDX-License-Identifier: Apache-2.0
#include "source/report.hpp"

namespace sukima::language {

using namespace clang;

namespace {

void report(DiagnosticsEngine& diagnostics, DiagnosticsEngine::Level level, SourceLocation location,
            const std::string& message) {
  diagnostics.Report(location, diagnostics.getCustomDiagID(level, "%0")) << message;
}

}  // namespace

void report_error(DiagnosticsEngine& diagnostics, SourceLocation location, const std::string& message) {
  report(diagnostics, DiagnosticsEngine::Error, location, message);
}

void report_warning(DiagnosticsEngine& diagnostics, SourceLocation location, const std::string& message) {
  report(diagnostics, DiagnosticsEngine::Warning, location, message);
}

}  // namespace sukima::language
