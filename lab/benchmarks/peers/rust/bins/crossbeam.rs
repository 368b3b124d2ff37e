// SPDX-License-Identifier: Apache-2.0
//! bench-crossbeam: concurrent objects as threads over crossbeam's bounded channels. It has no objects that share a
//! thread, so `--workers` changes nothing.

use std::process::ExitCode;
use std::thread;

use crossbeam_channel::{bounded, Receiver, Sender};
use sukima_bench_peers::harness::{self, warm, Error, Run, System};

const SENDERS: i64 = 8;
const RING_LENGTH: usize = 1000;
const RING_STACK_BYTES: usize = 1 << 16;

/// Records the seconds for one of n; the region's value is the result.
fn time_each(run: &mut Run, region: impl FnOnce(i64) -> i64) -> Result<(), Error> {
    let n = run.size_between(1, 1_000_000_000)?;
    let result = run.time(|| region(n));
    run.seconds /= n as f64;
    run.result(result);
    Ok(())
}

fn ping_pong(run: &mut Run) -> Result<(), Error> {
    time_each(run, |n| {
        let (to, there) = bounded::<i64>(1);
        let (back, from) = bounded::<i64>(1);
        thread::scope(|s| {
            s.spawn(move || {
                for m in there {
                    back.send(m + 1).expect("ping receives");
                }
            });
            let mut sum = 0;
            for i in 0..n {
                to.send(i).expect("pong receives");
                sum += from.recv().expect("pong answers");
            }
            drop(to);
            sum
        })
    })
}

fn send_numbers(to: &Sender<i64>, first: i64, n: i64, step: i64) {
    let mut i = first;
    while i < n {
        to.send(i).expect("the sink receives");
        i += step;
    }
}

fn stream(run: &mut Run) -> Result<(), Error> {
    time_each(run, |n| {
        let (to, from) = bounded(64);
        thread::scope(|s| {
            s.spawn(move || send_numbers(&to, 0, n, 1));
            from.iter().sum()
        })
    })
}

fn fan_in(run: &mut Run) -> Result<(), Error> {
    time_each(run, |n| {
        let (to, from) = bounded(64);
        thread::scope(|s| {
            for k in 0..SENDERS {
                let to = to.clone();
                s.spawn(move || send_numbers(&to, k, n, SENDERS));
            }
            drop(to);
            from.iter().sum()
        })
    })
}

fn pass_on(n: Option<i64>, from: Receiver<i64>, to: Sender<i64>) -> bool {
    if let Some(n) = n {
        to.send(n - 1).expect("the next one receives");
    }
    for left in from {
        if left == 0 {
            return true;
        }
        to.send(left - 1).expect("the next one receives");
    }
    false
}

fn ring(run: &mut Run) -> Result<(), Error> {
    time_each(run, |n| {
        let (mut tos, froms): (Vec<_>, Vec<_>) = (0..RING_LENGTH).map(|_| bounded(1)).unzip();
        tos.rotate_left(1);
        thread::scope(|s| {
            let all: Vec<_> = (froms.into_iter().zip(tos).enumerate())
                .map(|(i, (from, to))| {
                    thread::Builder::new()
                        .stack_size(RING_STACK_BYTES)
                        .spawn_scoped(s, move || pass_on((i == 0).then_some(n), from, to))
                        .expect("a thread can be started")
                })
                .collect();
            let ends: Vec<bool> = all.into_iter().map(|t| t.join().expect("no object panics")).collect();
            ends.iter().position(|&is_last| is_last).map_or(-1, |i| i as i64)
        })
    })
}

fn main() -> ExitCode {
    let benchmarks = vec![
        warm("objects-ping-pong", ping_pong),
        warm("objects-stream", stream),
        warm("objects-stream-apart", stream),
        warm("objects-fan-in", fan_in),
        warm("objects-ring", ring),
    ];
    harness::main(System { name: "crossbeam", start: |_| (), warm_up: || (), benchmarks })
}
