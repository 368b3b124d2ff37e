// SPDX-License-Identifier: Apache-2.0
//! What the programs share: the harness and the problems, as in lab/benchmarks/harness and lab/benchmarks/kernels.

pub mod harness;
pub mod kernels;
pub mod plain;
