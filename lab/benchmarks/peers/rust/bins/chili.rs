// SPDX-License-Identifier: Apache-2.0
//! bench-chili: heartbeat scheduling; join is all there is. A panic out of a join is not safe there, so no throw.

#[path = "../fork_join/mod.rs"]
mod fork_join;
#[path = "../fork_join/saxpy.rs"]
mod saxpy;
#[path = "../fork_join/sums.rs"]
mod sums;

use std::process::ExitCode;

use sukima_bench_peers::harness::{self, System};

mod system {
    use std::num::NonZero;
    use std::sync::OnceLock;

    use chili::{Config, Scope, ThreadPool};

    pub use crate::sums::sum_by_join as sum;

    pub type Context<'a> = Scope<'a>;

    static POOL: OnceLock<ThreadPool> = OnceLock::new();

    /// The thread that calls a region is one of the workers.
    pub fn start(workers: usize) {
        POOL.get_or_init(|| {
            ThreadPool::with_config(Config { thread_count: NonZero::new(workers), ..Config::default() })
        });
    }

    pub fn region<R: Send>(f: impl FnOnce(&mut Context<'_>) -> R + Send) -> R {
        f(&mut POOL.get().expect("the system was started").scope())
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
        c.join(a, b)
    }

    pub use crate::saxpy::saxpy_by_join as saxpy;
}

fn main() -> ExitCode {
    let benchmarks = fork_join::benchmarks();
    harness::main(System { name: "chili", start: system::start, warm_up: fork_join::warm_up, benchmarks })
}
