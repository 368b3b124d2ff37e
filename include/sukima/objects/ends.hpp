// SPDX-License-Identifier: Apache-2.0
// The two ends of a stream: in and out.
#pragma once

#include <sukima/objects/in.hpp>
#include <sukima/objects/out.hpp>
