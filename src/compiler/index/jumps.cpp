// SPDX-License-Identifier: Apache-2.0
// Records jumps: return, break, continue, goto, and the labels to which they lead.
#include "index/recording.hpp"

namespace sukima::language {

using namespace clang;

void record_jump(const recording& to, jump_kind kind, SourceLocation keyword, token_index target,
                 const LabelDecl* label, const function_info* function) {
  const token_index t = to.of.find(keyword);
  if (t == no_token || function == nullptr) return;
  jump j{kind, t, t + 1, target, nullptr, label};
  for (token_index k = t + 1; k < to.of.tokens.size(); ++k) {
    if (to.of.tokens[k].is(tok::semi)) {
      j.end = k + 1;
      break;
    }
    if (to.of.partner[k] != no_token && to.of.partner[k] > k) k = to.of.partner[k];
  }
  if (target != no_token && (kind == jump_kind::leave_block || kind == jump_kind::next_iteration))
    for (const construct& c : to.of.constructs_in({target, target + 1}))
      if (c.kind == construct_kind::loop) j.own_loop = &c;
  to.index.jumps[t] = j;
}

void record_label(const recording& to, const LabelStmt* s, function_info* function) {
  const token_index t = to.of.find(s->getIdentLoc());
  if (function != nullptr) function->labels[s->getDecl()] = t;
  to.index.all_labels[s->getDecl()] = t;
  to.name(s->getIdentLoc(), s->getDecl());
}

void record_label_address(const recording& to, const AddrLabelExpr* e) {
  const token_index label = to.of.find(e->getLabelLoc());
  if (const token_index t = to.of.find(e->getAmpAmpLoc()); t != no_token && to.of.tokens[t].is(tok::ampamp))
    to.index.label_addresses[t] = e->getLabel();
  for (const closure_declaration& c : to.of.closures)
    for (const closure_jump& j : c.jumps)
      if (j.label == label) to.index.closure_jumps[j.keyword] = e->getLabel();
}

}  // namespace sukima::language
