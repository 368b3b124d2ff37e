// SPDX-License-Identifier: Apache-2.0
#pragma once
#error "sukima::tbb has no concurrent_lru_cache.h: build what needs it with oneTBB, without sukima::tbb"
