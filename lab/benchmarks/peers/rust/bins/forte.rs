// SPDX-License-Identifier: Apache-2.0
//! bench-forte: heartbeat scheduling; join with an explicit worker.

#[path = "../fork_join/mod.rs"]
mod fork_join;
#[path = "../fork_join/saxpy.rs"]
mod saxpy;
#[path = "../fork_join/sums.rs"]
mod sums;

use std::process::ExitCode;

use sukima_bench_peers::harness::{self, System};

mod system {
    use forte::{ThreadPool, Worker};

    pub use crate::{saxpy::saxpy_by_join as saxpy, sums::sum_by_join as sum};

    pub struct Context<'a>(&'a Worker);

    static POOL: ThreadPool = ThreadPool::new();

    /// The thread that calls a region is one of the workers.
    pub fn start(workers: usize) {
        POOL.resize_to(workers - 1);
    }

    pub fn region<R: Send>(f: impl FnOnce(&mut Context<'_>) -> R + Send) -> R {
        POOL.with_worker(|worker| f(&mut Context(worker)))
    }

    pub fn join<A, B>(
        c: &mut Context<'_>,
        a: impl FnOnce(&mut Context<'_>) -> A + Send,
        b: impl FnOnce(&mut Context<'_>) -> B + Send,
    ) -> (A, B)
    where
        A: Send,
        B: Send,
    {
        c.0.join(|worker| a(&mut Context(worker)), |worker| b(&mut Context(worker)))
    }
}

fn main() -> ExitCode {
    let benchmarks = fork_join::benchmarks();
    harness::main(System { name: "forte", start: system::start, warm_up: fork_join::warm_up, benchmarks })
}
