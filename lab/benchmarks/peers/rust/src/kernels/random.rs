// SPDX-License-Identifier: Apache-2.0
//! SplitMix64, with the same numbers as lab/benchmarks/kernels/random.hpp.

pub struct RandomNumbers(u64);

impl RandomNumbers {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number in [0, bound); bound is at most 2³².
    pub fn below(&mut self, bound: u64) -> u32 {
        (((self.bits() >> 32) * bound) >> 32) as u32
    }

    /// A number in [0, 1).
    pub fn real(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }
}
