// SPDX-License-Identifier: Apache-2.0
//! throw: a search for n queens that ends by a panic after 0, 1, … 100 % of the solutions, for runtimes that let
//! panics out of a join.

use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Instant;

use sukima_bench_peers::harness::{process_cpu_seconds, quantile, wrong, Error, Run};
use sukima_bench_peers::kernels::queens::{Queens, MOST_QUEENS};

use crate::sums::sum_of_bits;
use crate::system::{region, Context};

fn search(c: &mut Context<'_>, q: Queens, left: &AtomicI64) -> i64 {
    if q.complete() {
        // Relaxed: the counter publishes nothing else.
        if left.fetch_sub(1, Ordering::Relaxed) == 1 {
            resume_unwind(Box::new(Instant::now()));
        }
        return 0;
    }
    sum_of_bits(c, q.free(), &|c: &mut Context<'_>, bit| search(c, q.with(bit), left))
}

pub fn throw(run: &mut Run) -> Result<(), Error> {
    let empty = Queens::empty(run.size_between(4, MOST_QUEENS.into())? as i32);
    let left = AtomicI64::new(i64::MAX);
    region(|c| search(c, empty, &left));
    let found = i64::MAX - left.into_inner();
    let mut seconds = Vec::new();
    let cpu = process_cpu_seconds();
    for percent in 0..=100 {
        let left = AtomicI64::new((found * percent / 100).max(1));
        let caught = catch_unwind(AssertUnwindSafe(|| region(|c| search(c, empty, &left))));
        if let Err(payload) = caught {
            let thrown_at = payload.downcast::<Instant>().map_err(|_| wrong("a panic of another kind"))?;
            seconds.push(thrown_at.elapsed().as_secs_f64());
        }
    }
    if seconds.len() != 101 {
        return Err(wrong(format!("caught {} of 101 panics", seconds.len())));
    }
    run.cpu_seconds = process_cpu_seconds() - cpu;
    run.seconds = quantile(seconds.clone(), 0.5);
    run.field("p99", quantile(seconds, 0.99));
    run.result(found);
    Ok(())
}
