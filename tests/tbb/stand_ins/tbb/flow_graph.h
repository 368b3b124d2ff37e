// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <oneapi/tbb/flow_graph.h>
