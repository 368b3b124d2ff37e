// SPDX-License-Identifier: Apache-2.0
//! bench-rayon: join for two functions and for choices (several times as fast there as
//! parallel iterators, which split every short range again), parallel iterators for plain loops.

#[path = "../fork_join/mod.rs"]
mod fork_join;
#[path = "../fork_join/sums.rs"]
mod sums;
#[path = "../fork_join/throw.rs"]
mod throw;

use std::process::ExitCode;

use sukima_bench_peers::harness::{self, warm, System};

mod system {
    use std::marker::PhantomData;
    use std::sync::OnceLock;

    use rayon::prelude::*;
    use rayon::{ThreadPool, ThreadPoolBuilder};

    pub use crate::sums::sum_by_join as sum;

    /// rayon finds its worker by itself.
    #[derive(Clone, Copy)]
    pub struct Context<'a>(PhantomData<&'a ()>);

    const HERE: Context<'static> = Context(PhantomData);
    const STACK_BYTES: usize = 1 << 28;

    static POOL: OnceLock<ThreadPool> = OnceLock::new();

    pub fn start(workers: usize) {
        POOL.get_or_init(|| {
            ThreadPoolBuilder::new()
                .num_threads(workers)
                .stack_size(STACK_BYTES)
                .build()
                .expect("the threads can be started")
        });
    }

    fn pool() -> &'static ThreadPool {
        POOL.get().expect("the system was started")
    }

    pub fn region<R: Send>(f: impl FnOnce(&mut Context<'_>) -> R + Send) -> R {
        pool().install(|| f(&mut HERE.clone()))
    }

    pub fn join<A, B>(
        _: &mut Context<'_>,
        a: impl FnOnce(&mut Context<'_>) -> A + Send,
        b: impl FnOnce(&mut Context<'_>) -> B + Send,
    ) -> (A, B)
    where
        A: Send,
        B: Send,
    {
        rayon::join(|| a(&mut HERE.clone()), || b(&mut HERE.clone()))
    }

    pub fn saxpy(a: f32, x: &[f32], y: &mut [f32]) {
        pool().install(|| y.par_iter_mut().zip(x).for_each(|(y, x)| *y += a * x));
    }
}

fn main() -> ExitCode {
    let mut benchmarks = fork_join::benchmarks();
    benchmarks.push(warm("throw", throw::throw));
    harness::main(System { name: "rayon", start: system::start, warm_up: fork_join::warm_up, benchmarks })
}
