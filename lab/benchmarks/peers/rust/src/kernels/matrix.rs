// SPDX-License-Identifier: Apache-2.0
//! Dense matrices and the blocks of matmul and lu, as lab/benchmarks/kernels/matrix.hpp.

use super::random::RandomNumbers;

/// A rectangle of a row-major matrix that other threads may hold other rectangles of.
#[derive(Clone, Copy)]
pub struct View {
    data: *mut f64,
    stride: usize,
    pub rows: usize,
    pub columns: usize,
}

// SAFETY: the recursions give overlapping views to parallel branches for reading only.
unsafe impl Send for View {}
unsafe impl Sync for View {}

impl View {
    /// The caller keeps the memory.
    pub(super) fn new(data: *mut f64, stride: usize, rows: usize, columns: usize) -> Self {
        Self { data, stride, rows, columns }
    }

    pub(super) fn set_zero(&self) {
        for i in 0..self.rows {
            // SAFETY: inside the rectangle; zeros are numbers.
            unsafe { self.row(i).write_bytes(0, self.columns) };
        }
    }

    pub fn part(&self, i: usize, j: usize, rows: usize, columns: usize) -> View {
        debug_assert!(i + rows <= self.rows && j + columns <= self.columns);
        // SAFETY: inside the rectangle.
        View { data: unsafe { self.data.add(i * self.stride + j) }, stride: self.stride, rows, columns }
    }

    /// # Safety
    /// i < rows; the caller indexes less than columns.
    pub(super) unsafe fn row(&self, i: usize) -> *mut f64 {
        self.data.add(i * self.stride)
    }
}

/// Sides of the blocks where the recursions end; sizes are multiples of it.
pub const BLOCK: usize = 64;

pub struct Matrix {
    n: usize,
    elements: Vec<f64>,
}

impl Matrix {
    pub fn random(n: usize, seed: u64, diagonal: f64) -> Self {
        let mut random = RandomNumbers::new(seed);
        let mut m = Self { n, elements: (0..n * n).map(|_| random.real() * 2.0 - 1.0).collect() };
        for i in 0..n {
            m.elements[i * n + i] += diagonal;
        }
        m
    }

    pub fn zero(n: usize) -> Self {
        Self { n, elements: vec![0.0; n * n] }
    }

    pub fn all(&mut self) -> View {
        View { data: self.elements.as_mut_ptr(), stride: self.n, rows: self.n, columns: self.n }
    }

    pub fn at(&self, i: usize, j: usize) -> f64 {
        self.elements[i * self.n + j]
    }

    pub fn times(&self, x: &[f64]) -> Vec<f64> {
        self.elements.chunks(self.n).map(|row| row.iter().zip(x).map(|(a, b)| a * b).sum()).collect()
    }

    /// L · (U · x), from a factorised matrix.
    pub fn product_of_factors(&self, x: &[f64]) -> Vec<f64> {
        let n = self.n;
        let y: Vec<f64> = (0..n).map(|i| (i..n).map(|j| self.at(i, j) * x[j]).sum()).collect();
        (0..n).map(|i| y[i] + (0..i).map(|j| self.at(i, j) * y[j]).sum::<f64>()).collect()
    }
}

pub fn probe(n: usize) -> Vec<f64> {
    let mut random = RandomNumbers::new(7);
    (0..n).map(|_| random.real()).collect()
}

pub fn relative_difference(a: &[f64], b: &[f64]) -> f64 {
    let greatest = a.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    a.iter().zip(b).fold(0.0, |m: f64, (x, y)| m.max((x - y).abs())) / greatest
}

/// As printf's %.5e.
pub fn six_digits(x: f64) -> String {
    let text = format!("{x:.5e}");
    let (mantissa, exponent) = text.split_once('e').expect("the format has an exponent");
    let exponent: i32 = exponent.parse().expect("the exponent is a number");
    format!("{mantissa}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs())
}

/// c += SIGN · a · b for blocks, in 4×4 tiles that stay in registers. The sides are multiples of 4.
pub fn multiply_block<const SIGN: i32>(c: View, a: View, b: View) {
    // SAFETY: indices are below the rows and columns of the views; no other branch writes c.
    unsafe {
        for i in (0..c.rows).step_by(4) {
            for j in (0..c.columns).step_by(4) {
                let mut tile = [[0.0; 4]; 4];
                for k in 0..a.columns {
                    let from = b.row(k).add(j).cast::<[f64; 4]>().read();
                    for y in 0..4 {
                        let factor = *a.row(i + y).add(k);
                        for x in 0..4 {
                            tile[y][x] += factor * from[x];
                        }
                    }
                }
                for (y, row) in tile.iter().enumerate() {
                    for (x, element) in row.iter().enumerate() {
                        *c.row(i + y).add(j + x) += f64::from(SIGN) * element;
                    }
                }
            }
        }
    }
}

/// Replaces a square block by its factors L (unit lower triangle) and U, without exchanging rows.
pub fn factorise_block(a: View) {
    // SAFETY: as above; only this branch has the block.
    unsafe {
        for k in 0..a.rows {
            for i in k + 1..a.rows {
                let f = *a.row(i).add(k) / *a.row(k).add(k);
                *a.row(i).add(k) = f;
                for j in k + 1..a.columns {
                    *a.row(i).add(j) -= f * *a.row(k).add(j);
                }
            }
        }
    }
}

/// b := L⁻¹ · b, where L is the unit lower triangle of the square block l.
pub fn solve_lower_block(l: View, b: View) {
    // SAFETY: as above; only this branch writes b.
    unsafe {
        for k in 0..l.rows {
            for i in k + 1..l.rows {
                let f = *l.row(i).add(k);
                for j in 0..b.columns {
                    *b.row(i).add(j) -= f * *b.row(k).add(j);
                }
            }
        }
    }
}

/// b := b · U⁻¹, where U is the upper triangle of the square block u.
pub fn solve_upper_block(u: View, b: View) {
    // SAFETY: as above; only this branch writes b.
    unsafe {
        for i in 0..b.rows {
            for k in 0..u.rows {
                let f = *b.row(i).add(k) / *u.row(k).add(k);
                *b.row(i).add(k) = f;
                for j in k + 1..u.columns {
                    *b.row(i).add(j) -= f * *u.row(k).add(j);
                }
            }
        }
    }
}

/// Where a side of n is cut: at half, rounded up to whole blocks.
pub fn cut(n: usize) -> usize {
    (n / BLOCK).div_ceil(2) * BLOCK
}
