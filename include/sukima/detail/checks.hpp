// SPDX-License-Identifier: Apache-2.0
// The checked mode: operations check that they get the context of the function that calls them.
//
// It is on in builds without NDEBUG; -DSUKIMA_CHECKED=0 or =1 overrides this. Sources with and without checks
// may be linked together, and with any build of the library. Templates that differ between the modes are in
// an inline namespace of the mode (SUKIMA_NAMESPACE, SUKIMA_DETAIL_NAMESPACE), so the linker never confuses
// their instances. Types that functions exchange are outside it.
#pragma once

#if !defined(SUKIMA_CHECKED)
#if defined(NDEBUG)
#define SUKIMA_CHECKED 0
#else
#define SUKIMA_CHECKED 1
#endif
#endif

#if SUKIMA_CHECKED
#define SUKIMA_NAMESPACE sukima::inline checked
#define SUKIMA_DETAIL_NAMESPACE sukima::detail::inline checked
#else
#define SUKIMA_NAMESPACE sukima::inline unchecked
#define SUKIMA_DETAIL_NAMESPACE sukima::detail::inline unchecked
#endif

namespace SUKIMA_DETAIL_NAMESPACE {

/// The mode, as a type: member functions of classes outside the inline namespace have it as their
/// last template parameter.
struct checks {
  static constexpr bool on = SUKIMA_CHECKED;
};

}  // namespace SUKIMA_DETAIL_NAMESPACE
