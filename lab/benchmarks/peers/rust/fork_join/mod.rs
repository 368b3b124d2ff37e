// SPDX-License-Identifier: Apache-2.0
//! The parallel programs, written once against crate::system, as lab/benchmarks/fork_join.
//!
//! A program's `system` has `Context`, `join`, `sum`, `region` and `saxpy` in the words of its runtime.

mod cut_off;
mod matrices;
mod phases;
mod ranges;
mod searches;
mod small;
mod suites;

use sukima_bench_peers::harness::{cold, search, warm, Benchmark};

pub fn benchmarks() -> Vec<Benchmark> {
    vec![
        warm("fib", searches::fib),
        search("nqueens", searches::nqueens, searches::tuned_nqueens),
        search("nqueens-array", searches::nqueens_array, searches::tuned_nqueens_array),
        search("pentomino", searches::pentomino, searches::tuned_pentomino),
        search("uts", searches::uts, searches::tuned_uts),
        search("cover", searches::cover, searches::tuned_cover),
        warm("lu", matrices::lu),
        warm("matmul", matrices::matmul),
        warm("cmp", ranges::cmp),
        warm("grav", ranges::grav),
        warm("sort", ranges::sort),
        warm("spantree", ranges::spantree),
        warm("phases", phases::phases),
        warm("strassen", suites::strassen),
        search("health", suites::health, suites::tuned_health),
        search("floorplan", suites::floorplan, suites::tuned_floorplan),
        warm("alignment", suites::alignment),
        warm("forest", suites::forest),
        warm("neighbours", suites::neighbours),
        warm("empty", small::empty),
        warm("empty-after-silence", small::empty_after_silence),
        warm("coarse", small::coarse),
        warm("coarse-after-silence", small::coarse_after_silence),
        warm("saxpy", small::saxpy),
        warm("idle", small::idle),
        warm("idle-silence", small::idle_silence),
        cold("startup", small::startup),
        cold("memory", small::memory),
    ]
}

pub use small::warm_up;
