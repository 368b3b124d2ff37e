// SPDX-License-Identifier: Apache-2.0
#include "entry/forms.hpp"

#include <sukima/cluster/call.hpp>

#include <algorithm>
#include <mutex>
#include <string_view>

namespace sukima {

namespace {

struct registered_forms {
  std::mutex lock;
  std::vector<const detail::travel_form*> all;
};
/// Made at first use and never destroyed, because static objects of other files register before main in any
/// order.
registered_forms& registered() {
  static auto* const forms = new registered_forms;
  return *forms;
}

bool comes_before(const detail::travel_form* a, const detail::travel_form* b) noexcept {
  return std::string_view(a->name) < std::string_view(b->name);
}

}  // namespace

namespace detail {

void register_travel_form(const travel_form& form) {
  registered_forms& forms = registered();
  const std::lock_guard hold(forms.lock);
  forms.all.push_back(&form);
}

}  // namespace detail

namespace cluster {

form_table::form_table() {
  registered_forms& known = registered();
  const std::lock_guard hold(known.lock);
  std::vector<const detail::travel_form*> all = known.all;
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());  // shared objects may register the same form
  std::stable_sort(all.begin(), all.end(), comes_before);
  for (auto at = all.begin(); at != all.end();) {
    const auto end = std::upper_bound(at, all.end(), *at, comes_before);
    if (end - at == 1) forms_.push_back(*at);
    at = end;
  }
}

std::optional<std::uint32_t> form_table::number_of(const detail::travel_form& form) const noexcept {
  const auto found = std::lower_bound(forms_.begin(), forms_.end(), &form, comes_before);
  if (found == forms_.end() || *found != &form) return {};
  return static_cast<std::uint32_t>(found - forms_.begin());
}

const detail::travel_form* form_table::operator[](std::uint32_t number) const noexcept {
  return number < forms_.size() ? forms_[number] : nullptr;
}

std::vector<const void*> form_table::places() const { return {forms_.begin(), forms_.end()}; }

}  // namespace cluster
}  // namespace sukima
