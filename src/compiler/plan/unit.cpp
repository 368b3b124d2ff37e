// SPDX-License-Identifier: Apache-2.0
// Plans the whole unit, declaration by declaration.
#include "plan/functions.hpp"
#include "plan/input.hpp"
#include "plan/side_texts.hpp"
#include "plan/tokens.hpp"
#include "plan/unwind.hpp"
#include "plan/worker_functions.hpp"

namespace sukima::language {

using namespace clang;

namespace {

/// Returns the end of the external declaration that begins at `t`, or the end of its part before a function's
/// own text.
token_index end_of_declaration(const plan_input& in, token_index t, token_index next_function) {
  const auto count = static_cast<token_index>(in.unit.tokens.size());
  token_index end = t;
  while (end < count) {
    const token_index k = end;
    if (in.unit.partner[k] != no_token && in.unit.partner[k] > k) end = in.unit.partner[k];
    ++end;
    if (in.unit.roles[k] == token_role::pragma ||
        (in.unit.tokens[k].is(tok::semi) && in.unit.roles[k] != token_role::keyword) ||
        in.unit.roles[k] == token_role::system || end == next_function)
      break;
  }
  return end;
}

/// Plans a declaration of plain C or of worker functions.
void plan_declaration(planner& p, token_range range) {
  const context plain;
  if (p.in.unit.origins[range.begin] != no_token)
    side_texts(p, p.out.unit, p.in.unit.origins[range.begin], plain);
  p.out.before_function = sheet();
  if (!p.in.options.sequential) declare_workers(p, range);
  sheet text;
  plan_tokens(p, text, range, plain);
  SUKIMA_ASSERT(p.out.after_function.steps().empty(), "only a function has text behind it");
  p.out.unit.append(p.out.before_function);
  p.out.unit.append(std::move(text));
}

void plan_includes(planner& p) {
  p.out.unit.text(p.in.options.sequential ? "#include <sukima/tascell/sequential.h>\n"
                                          : "#include <sukima/tascell/tascell.h>\n");
  if (!p.in.options.sequential && !p.in.unit.cluster_keywords.empty())
    p.out.unit.text("#include <sukima/tascell/cluster.h>\n");
  if (!p.in.unit.closures.empty() || !p.in.unit.closure_types.empty() || !p.in.calls_of_c.empty())
    p.out.unit.text(p.in.unwinding ? "#include <sukima/tascell/unwind.h>\n"
                                   : "#include <sukima/tascell/closure.h>\n");
}

}  // namespace

sheet plan_unit(CompilerInstance& compiler, const unit& u, const semantic_index& index,
                const plan_options& options) {
  const plan_input in = input_of(compiler, u, index, options);
  planner p{in};
  // A closure `add` of `sum` and a construct of `sum_add` have similar names, so they must not have equal
  // numbers.
  p.names.closure_count = static_cast<unsigned>(u.constructs.size());
  plan_includes(p);
  auto function = index.functions.begin();
  auto local = u.worker_locals.begin();
  const auto end = static_cast<token_index>(u.tokens.size());
  for (token_index t = 0; t < end;) {
    while (function != index.functions.end() && function->whole.begin < t) ++function;
    const token_index next_function = function != index.functions.end() ? function->whole.begin : no_token;
    [[maybe_unused]] const token_index planned = t;
    if (next_function == t) {
      const unwound* const own = in.unwinding ? in.unwinding->find(&*function) : nullptr;
      own != nullptr ? plan_unwound_function(p, *own) : plan_function(p, *function);
      t = function->whole.end;
    } else {
      token_range one{t, end_of_declaration(in, t, next_function)};
      // Other words may precede `worker_local`: static, const, volatile …
      if (local != u.worker_locals.end() && one.holds(local->begin) && !options.sequential) {
        one.end = local++->end;
        plan_worker_local(p, one);
      } else if (u.roles[t] != token_role::system) {
        plan_declaration(p, one);
      }
      t = one.end;
    }
    SUKIMA_ASSERT(t > planned && (planned == next_function || t <= next_function),
                  "the declarations of a unit follow each other");
  }
  SUKIMA_ASSERT(function == index.functions.end() || std::next(function) == index.functions.end(),
                "each function is planned");
  side_texts(p, p.out.unit, no_token, context());
  SUKIMA_ASSERT_VALID(p.names);
  SUKIMA_ASSERT(p.names.next_text == u.source.texts.size(), "each comment and directive has been considered");
  SUKIMA_ASSERT(p.function.bodies.empty(), "the body of each 'try' has been planned");
  p.out.unit.end_line();
  return std::move(p.out.unit);
}

}  // namespace sukima::language
