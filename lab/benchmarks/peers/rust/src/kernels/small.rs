// SPDX-License-Identifier: Apache-2.0
//! What the small benchmarks run, as lab/benchmarks/kernels/small.hpp and saxpy.hpp.

use std::hint::black_box;
use std::time::Duration;

/// CPU seconds of the calling thread.
pub fn thread_cpu_seconds() -> f64 {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: t is a valid place for the answer.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut t) };
    t.tv_sec as f64 + t.tv_nsec as f64 * 1e-9
}

pub fn use_cpu(seconds: f64) {
    let end = thread_cpu_seconds() + seconds;
    let mut x = 1u64;
    while thread_cpu_seconds() < end {
        for _ in 0..1000 {
            x = black_box(x.wrapping_mul(6364136223846793005).wrapping_add(1));
        }
    }
}

pub fn sleep_milliseconds(ms: i64) {
    std::thread::sleep(Duration::from_millis(ms as u64));
}

#[inline(never)]
pub fn nothing() {
    black_box(());
}

#[inline(never)]
pub fn short_work(mut x: u64) -> u64 {
    for _ in 0..100 {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    x
}

/// A size in bytes from /proc/self/status.
pub fn status_bytes(name: &str) -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    line.and_then(|l| l.trim().strip_suffix(" kB")?.trim().parse::<f64>().ok()).unwrap_or(0.0) * 1024.0
}

pub struct SaxpyProblem {
    pub a: f32,
    pub x: Vec<f32>,
    pub y: Vec<f32>,
}

impl SaxpyProblem {
    pub fn new(n: usize) -> Self {
        Self { a: 0.5, x: (0..n).map(|i| (2 * (i % 8)) as f32).collect(), y: vec![0.0; n] }
    }

    pub fn batch(&self) -> usize {
        (100_000 / self.x.len()).max(1)
    }

    pub fn calls(&self) -> usize {
        (100_000_000 / self.x.len() + 1).min(1_000_000) / self.batch() * self.batch() + self.batch()
    }

    pub fn right(&self) -> bool {
        self.y.iter().zip(&self.x).all(|(y, x)| *y == self.calls() as f32 * self.a * x)
    }
}
