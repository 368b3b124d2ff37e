// SPDX-License-Identifier: Apache-2.0
//! phases: one region for all time steps, in each of which the rows are halved by join.

use std::time::Instant;

use sukima_bench_peers::harness::{process_cpu_seconds, quantile, Error, Run};
use sukima_bench_peers::kernels::heat::{step_row, HeatProblem};

use crate::system::{join, region, Context};

/// Points that are worth no fork: about a microsecond.
const LEAF: usize = 4096;

/// The rows from `first` on, as many as `to` has.
fn rows(c: &mut Context<'_>, n: usize, now: &[f64], first: usize, to: &mut [f64]) {
    let count = to.len() / n;
    if to.len() <= LEAF || count == 1 {
        return to.chunks_exact_mut(n).enumerate().for_each(|(i, to)| step_row(n, now, first + i, to));
    }
    let half = count / 2;
    let (upper, lower) = to.split_at_mut(half * n);
    join(c, |c| rows(c, n, now, first, upper), |c| rows(c, n, now, first + half, lower));
}

pub fn phases(run: &mut Run) -> Result<(), Error> {
    let n = run.size_between(3, 20_000)? as usize;
    let mut problem = HeatProblem::new(n);
    let steps = problem.steps();
    let mut seconds = Vec::with_capacity(steps);
    run.started_now();
    let cpu = process_cpu_seconds();
    let start = Instant::now();
    let mut last = 0.0;
    region(|c| {
        for _ in 0..steps {
            let HeatProblem { now, next, .. } = &mut problem;
            rows(c, n, now, 1, &mut next[n..(n - 1) * n]);
            problem.finish_step();
            let end = start.elapsed().as_secs_f64();
            seconds.push(end - last);
            last = end;
        }
    });
    run.seconds = last / steps as f64;
    run.cpu_seconds = process_cpu_seconds() - cpu;
    run.field("p99", quantile(seconds, 0.99));
    run.result(problem.result());
    Ok(())
}
