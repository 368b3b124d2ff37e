// SPDX-License-Identifier: Apache-2.0
//! The small benchmarks: what a region costs besides its work, and what a system costs before it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use sukima_bench_peers::harness::{bad, quantile, wrong, Error, Run};
use sukima_bench_peers::kernels::small::{
    nothing, short_work, sleep_milliseconds, status_bytes, thread_cpu_seconds, use_cpu, SaxpyProblem,
};

use crate::system::{self, join, region, Context};

fn leaves(c: &mut Context<'_>, depth: i32) -> i64 {
    if depth == 0 {
        return 1;
    }
    let (a, b) = join(c, |c| leaves(c, depth - 1), |c| leaves(c, depth - 1));
    a + b
}

/// Some milliseconds of forks, for all threads to join in.
pub fn warm_up() {
    let start = Instant::now();
    while start.elapsed() < Duration::from_millis(5) {
        assert_eq!(region(|c| leaves(c, 10)), 1 << 10);
    }
}

fn fork_nothing() {
    region(|c| join(c, |_| nothing(), |_| nothing()));
}

pub fn empty(run: &mut Run) -> Result<(), Error> {
    const BATCH: usize = 50;
    let calls = run.size_between(BATCH as i64, 100_000_000)? as usize;
    run.time_median(calls, BATCH, fork_nothing);
    run.result("ok");
    Ok(())
}

pub fn empty_after_silence(run: &mut Run) -> Result<(), Error> {
    let calls = run.size_between(1, 100_000)?;
    let mut cpu = 0.0;
    let seconds = (0..calls).map(|_| {
        sleep_milliseconds(1);
        let mut once = Run::new(1, run.workers);
        once.time(fork_nothing);
        cpu += once.cpu_seconds;
        once.seconds
    });
    run.seconds = quantile(seconds.collect(), 0.5);
    run.cpu_seconds = cpu;
    run.result("ok");
    Ok(())
}

fn time_coarse(run: &mut Run, seconds_each: f64) {
    run.time(|| region(|c| join(c, |_| use_cpu(seconds_each), |_| use_cpu(seconds_each))));
    run.result("ok");
}

pub fn coarse(run: &mut Run) -> Result<(), Error> {
    let seconds = run.size_between(1, 60_000)? as f64 * 1e-3;
    time_coarse(run, seconds);
    Ok(())
}

pub fn coarse_after_silence(run: &mut Run) -> Result<(), Error> {
    sleep_milliseconds(run.size_between(0, 3_600_000)?);
    time_coarse(run, 0.1);
    Ok(())
}

pub fn saxpy(run: &mut Run) -> Result<(), Error> {
    let mut p = SaxpyProblem::new(run.size_between(1, 1 << 28)? as usize);
    let (calls, batch) = (p.calls(), p.batch());
    run.time_median(calls, batch, || system::saxpy(p.a, &p.x, &mut p.y));
    if !p.right() {
        return Err(wrong("an element is wrong"));
    }
    run.result("ok");
    Ok(())
}

/// All CPU time that the process uses beyond the sequential task's is waste.
pub fn idle(run: &mut Run) -> Result<(), Error> {
    let seconds = run.size_between(1, 600_000)? as f64 * 1e-3;
    let task = move || {
        let own = thread_cpu_seconds();
        use_cpu(seconds);
        thread_cpu_seconds() - own
    };
    let (task_cpu, ()) = run.time(|| region(|c| join(c, |_| task(), |_| nothing())));
    run.cpu_seconds = (run.cpu_seconds - task_cpu).max(0.0);
    run.result("ok");
    Ok(())
}

pub fn idle_silence(run: &mut Run) -> Result<(), Error> {
    let silence = run.size_between(1, 600_000)?;
    warm_up();
    run.time(|| sleep_milliseconds(silence));
    run.result("ok");
    Ok(())
}

pub fn startup(run: &mut Run) -> Result<(), Error> {
    if run.size != 1 {
        return Err(bad("there is no such size: use --size 1"));
    }
    let bytes = status_bytes("VmRSS");
    let workers = run.workers;
    let (a, b) = run.time(|| {
        system::start(workers);
        region(|c| join(c, |_| 1, |_| 1))
    });
    if a + b != 2 {
        return Err(wrong("a branch did not run"));
    }
    run.field("bytes", status_bytes("VmRSS") - bytes);
    run.result(1);
    Ok(())
}

/// Levels below this one, each a fork of a short branch and the next level.
fn descend(c: &mut Context<'_>, levels: i64, work: &AtomicU64) -> i64 {
    if levels == 0 {
        return 0;
    }
    let ((), below) = join(
        c,
        |_| {
            work.fetch_add(short_work(1), Ordering::Relaxed);
        },
        |c| descend(c, levels - 1, work),
    );
    below + 1
}

pub fn memory(run: &mut Run) -> Result<(), Error> {
    let levels = run.size_between(1, 100_000_000)?;
    let bytes = status_bytes("VmHWM");
    let work = AtomicU64::new(0);
    system::start(run.workers);
    let done = run.time(|| region(|c| descend(c, levels, &work)));
    if work.into_inner() != short_work(1).wrapping_mul(levels as u64) {
        return Err(wrong("a short branch is missing"));
    }
    run.field("bytes", status_bytes("VmHWM") - bytes);
    run.result(done);
    Ok(())
}
