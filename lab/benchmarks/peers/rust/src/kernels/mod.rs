// SPDX-License-Identifier: Apache-2.0
//! The problems: the same data, leaves and checks as the headers in lab/benchmarks/kernels.

pub mod alignment;
pub mod cover;
pub mod floorplan;
pub mod forest;
pub mod graph;
pub mod health;
pub mod heat;
pub mod matrix;
pub mod neighbours;
pub mod numbers;
pub mod pentomino;
pub mod queens;
pub mod random;
pub mod small;
pub mod strassen;
pub mod uts;
