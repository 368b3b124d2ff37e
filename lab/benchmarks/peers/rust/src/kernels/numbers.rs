// SPDX-License-Identifier: Apache-2.0
//! cmp, grav and sort: as lab/benchmarks/kernels/cmp.hpp, grav.hpp and sort.hpp.

use std::collections::HashMap;
use std::ops::AddAssign;

use super::matrix::six_digits;
use super::random::RandomNumbers;

pub const CMP_LEAF: usize = 128;

pub struct CmpProblem {
    pub a: Vec<u32>,
    pub b: Vec<u32>,
}

impl CmpProblem {
    pub fn new(n: usize) -> Self {
        let mut random = RandomNumbers::new(4);
        let a = (0..n).map(|_| random.below(n as u64)).collect();
        let b = (0..n).map(|_| random.below(n as u64)).collect();
        Self { a, b }
    }

    pub fn expected(&self) -> i64 {
        let mut times = HashMap::new();
        for x in &self.a {
            *times.entry(x).or_insert(0i64) += 1;
        }
        self.b.iter().map(|x| times.get(x).copied().unwrap_or(0)).sum()
    }
}

/// The equal pairs; four elements of a at a time, so that an element of b is read once for four comparisons.
pub fn equal_pairs(a: &[u32], b: &[u32]) -> i64 {
    let fours = a.chunks_exact(4);
    let rest = fours.remainder().iter().map(|x| i64::from(b.iter().map(|y| u32::from(x == y)).sum::<u32>()));
    let matches =
        |x: &[u32], y| u32::from(x[0] == y) + u32::from(x[1] == y) + u32::from(x[2] == y) + u32::from(x[3] == y);
    rest.sum::<i64>() + fours.map(|x| i64::from(b.iter().map(|&y| matches(x, y)).sum::<u32>())).sum::<i64>()
}

#[derive(Clone, Copy, Default)]
pub struct Force {
    x: f64,
    y: f64,
    z: f64,
}

impl AddAssign for Force {
    fn add_assign(&mut self, f: Force) {
        self.x += f.x;
        self.y += f.y;
        self.z += f.z;
    }
}

impl Force {
    pub fn as_text(&self) -> String {
        format!("{} {} {}", six_digits(self.x), six_digits(self.y), six_digits(self.z))
    }
}

pub struct GravProblem {
    pub n: i32,
}

impl GravProblem {
    pub fn line(&self, x: i32, y: i32) -> Force {
        let n = f64::from(self.n);
        let (px, py, pz) = (n + 1.5, n + 2.25, n + 3.125);
        let mut sum = Force::default();
        let (dx, dy) = (f64::from(x) - px, f64::from(y) - py);
        let across = dx * dx + dy * dy;
        for z in -self.n..=self.n {
            let dz = f64::from(z) - pz;
            let inverse = 1.0 / (across + dz * dz);
            let cubed = inverse * inverse.sqrt();
            sum.x += cubed;
            sum.z += dz * cubed;
        }
        sum.y = sum.x * dy;
        sum.x *= dx;
        sum
    }
}

pub const SORT_LEAF: usize = 4096;
pub const MERGE_LEAF: usize = 8192;
const RUN_LENGTH: usize = 24;

pub struct SortProblem {
    pub data: Vec<u32>,
    pub buffer: Vec<u32>,
    pub sum: u64,
}

impl SortProblem {
    pub fn new(n: usize) -> Self {
        let mut random = RandomNumbers::new(5);
        let data: Vec<u32> = (0..n).map(|_| random.bits() as u32).collect();
        let sum = data.iter().map(|&x| u64::from(x)).sum();
        Self { data, buffer: vec![0; n], sum }
    }

    pub fn sorted(&self) -> bool {
        let now: u64 = self.data.iter().map(|&x| u64::from(x)).sum();
        now == self.sum && self.data.is_sorted()
    }
}

fn insertion_sort(a: &mut [u32]) {
    for i in 1..a.len() {
        let x = a[i];
        let mut j = i;
        while j > 0 && x < a[j - 1] {
            a[j] = a[j - 1];
            j -= 1;
        }
        a[j] = x;
    }
}

/// Merges a and b into `to` (as long as both together), without a branch on the comparison.
pub fn merge_run(a: &[u32], b: &[u32], to: &mut [u32]) {
    assert_eq!(a.len() + b.len(), to.len());
    let (mut i, mut j) = (0, 0);
    // SAFETY: i < a.len() and j < b.len() inside the loop, and to has i + j < to.len().
    unsafe {
        while i < a.len() && j < b.len() {
            let (x, y) = (*a.get_unchecked(i), *b.get_unchecked(j));
            let second = y < x;
            *to.get_unchecked_mut(i + j) = if second { y } else { x };
            j += usize::from(second);
            i += usize::from(!second);
        }
    }
    let (rest_of_a, rest_of_b) = to[i + j..].split_at_mut(a.len() - i);
    rest_of_a.copy_from_slice(&a[i..]);
    rest_of_b.copy_from_slice(&b[j..]);
}

/// Sorts a, with the result in a or, if into_buffer, in the buffer of the same length.
pub fn sort_run(a: &mut [u32], buffer: &mut [u32], into_buffer: bool) {
    if a.len() <= RUN_LENGTH {
        insertion_sort(a);
        if into_buffer {
            buffer.copy_from_slice(a);
        }
        return;
    }
    let half = a.len() / 2;
    let (a1, a2) = a.split_at_mut(half);
    let (b1, b2) = buffer.split_at_mut(half);
    sort_run(a1, b1, !into_buffer);
    sort_run(a2, b2, !into_buffer);
    if into_buffer {
        merge_run(a1, a2, buffer);
    } else {
        merge_run(b1, b2, a);
    }
}
