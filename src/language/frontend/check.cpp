// SPDX-License-Identifier: Apache-2.0
#include "frontend/check.hpp"

namespace sukima::language {
namespace {

using namespace clang;

const char* word_of(construct_kind kind) {
  switch (kind) {
    case construct_kind::do_two: return "do_two";
    case construct_kind::loop: return "parallel for";
    case construct_kind::wind: return "dynamic_wind";
    case construct_kind::try_catch: return "try";
    case construct_kind::throw_tag: return "throw";
    case construct_kind::join: return "join";
    case construct_kind::poll: return "poll";
  }
  return "";
}

class checker {
 public:
  checker(CompilerInstance& compiler, const unit& u, const facts& f)
      : diagnostics_(compiler.getDiagnostics()), unit_(u), facts_(f) {}

  void run() {
    for (const construct& c : unit_.constructs) {
      const function_facts* f = facts_.function_at(c.whole.begin);
      if (f != nullptr && f->is_worker) continue;
      error(c.place, std::string("'") + word_of(c.kind) + "' stands in a worker function or a task_exec only" +
                         (f != nullptr ? "; write 'worker' in front of the declaration of '" +
                                             f->declaration->getNameAsString() + "'"
                                       : ""));
    }
  }

 private:
  void error(SourceLocation place, const std::string& message) {
    diagnostics_.Report(place, diagnostics_.getCustomDiagID(DiagnosticsEngine::Error, "%0")) << message;
  }

  DiagnosticsEngine& diagnostics_;
  const unit& unit_;
  const facts& facts_;
};

}  // namespace

void check(CompilerInstance& compiler, const unit& u, const facts& f) { checker(compiler, u, f).run(); }

}  // namespace sukima::language
