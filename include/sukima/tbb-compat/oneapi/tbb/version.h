// SPDX-License-Identifier: Apache-2.0
// The version of oneTBB whose interface these headers offer.
#pragma once

#include <sukima/detail/tbb/names.hpp>

#define TBB_VERSION_MAJOR 2022
#define TBB_VERSION_MINOR 0
#define TBB_VERSION_PATCH 0
#define TBB_VERSION_STRING "2022.0.0"
#define TBB_INTERFACE_VERSION_MAJOR 12
#define TBB_INTERFACE_VERSION_MINOR 140
#define TBB_INTERFACE_VERSION 12140

inline const char* TBB_runtime_version() { return TBB_VERSION_STRING; }
inline int TBB_runtime_interface_version() { return TBB_INTERFACE_VERSION; }
