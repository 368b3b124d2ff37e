// SPDX-License-Identifier: Apache-2.0
//! phases: as lab/benchmarks/kernels/phases.hpp.

use super::matrix::six_digits;

pub struct HeatProblem {
    pub n: usize,
    pub now: Vec<f64>,
    pub next: Vec<f64>,
}

impl HeatProblem {
    pub fn new(n: usize) -> Self {
        let mut now = vec![0.0; n * n];
        now[..n].fill(1.0);
        Self { n, next: now.clone(), now }
    }

    pub fn steps(&self) -> usize {
        (600_000_000 / (self.n * self.n)).clamp(50, 100_000)
    }

    pub fn finish_step(&mut self) {
        std::mem::swap(&mut self.now, &mut self.next);
    }

    pub fn result(&self) -> String {
        six_digits(self.now.iter().sum::<f64>() / (self.n * self.n) as f64)
    }
}

/// One row of a time step: `now` is the whole plate, `to` the row's place in the next one.
#[inline(never)]
pub fn step_row(n: usize, now: &[f64], row: usize, to: &mut [f64]) {
    let above = &now[(row - 1) * n..row * n];
    let here = &now[row * n..(row + 1) * n];
    let below = &now[(row + 1) * n..(row + 2) * n];
    let to = &mut to[..n];
    for i in 1..n - 1 {
        to[i] = here[i] + 0.2 * (above[i] + below[i] + here[i - 1] + here[i + 1] - 4.0 * here[i]);
    }
}
