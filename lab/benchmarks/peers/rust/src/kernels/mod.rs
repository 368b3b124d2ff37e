// SPDX-License-Identifier: Apache-2.0
//! The problems: the same data, leaves and checks as the headers in lab/benchmarks/kernels.

pub mod cover;
pub mod graph;
pub mod heat;
pub mod matrix;
pub mod numbers;
pub mod pentomino;
pub mod queens;
pub mod random;
pub mod small;
pub mod uts;
