// SPDX-License-Identifier: Apache-2.0
//! The cut-off of a search, as lab/benchmarks/fork_join/cut_off.hpp.

/// Where a search stops forking.
pub trait CutOff: Copy + Sync {
    fn reached(self, level: i32) -> bool;
}

/// The search forks at every node.
#[derive(Clone, Copy)]
pub struct Nowhere;

impl CutOff for Nowhere {
    fn reached(self, _: i32) -> bool {
        false
    }
}

/// Nodes in the first N levels fork; those below are plain sequential code.
#[derive(Clone, Copy)]
pub struct Depth(pub i32);

impl CutOff for Depth {
    fn reached(self, level: i32) -> bool {
        level >= self.0
    }
}
