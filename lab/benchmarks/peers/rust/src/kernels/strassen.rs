// SPDX-License-Identifier: Apache-2.0
//! The sums and products of a step of Strassen's method, as lab/benchmarks/kernels/strassen.hpp.

use super::matrix::{multiply_block, View, BLOCK};

/// Rows of the matrices that are multiplied as usual.
pub const STRASSEN_LEAF: usize = 128;
pub const PRODUCTS: usize = 7;
const TEMPORARIES: usize = 11;

/// to = a · b, as usual.
pub fn multiply_plainly(to: View, a: View, b: View) {
    to.set_zero();
    for i in (0..to.rows).step_by(BLOCK) {
        for j in (0..to.columns).step_by(BLOCK) {
            for k in (0..a.columns).step_by(BLOCK) {
                multiply_block::<1>(
                    to.part(i, j, BLOCK, BLOCK),
                    a.part(i, k, BLOCK, BLOCK),
                    b.part(k, j, BLOCK, BLOCK),
                );
            }
        }
    }
}

/// One step: the sums for all pieces, the products, then `combine` for all pieces. Parts of a kind are independent.
pub struct Step {
    half: usize,
    /// Four sums of quarters of a, four of b, three products.
    temporary: [View; TEMPORARIES],
    to: [View; 4],
    a: [View; 4],
    b: [View; 4],
    /// What the temporaries look into.
    _memory: Vec<f64>,
}

fn quarters(m: View) -> [View; 4] {
    let h = m.rows / 2;
    [m.part(0, 0, h, h), m.part(0, h, h, h), m.part(h, 0, h, h), m.part(h, h, h, h)]
}

impl Step {
    pub fn new(to: View, a: View, b: View) -> Self {
        let half = to.rows / 2;
        let mut memory = Vec::with_capacity(TEMPORARIES * half * half);
        let all = View::new(memory.as_mut_ptr(), half, TEMPORARIES * half, half);
        let temporary = std::array::from_fn(|i| all.part(i * half, 0, half, half));
        Self { half, temporary, to: quarters(to), a: quarters(a), b: quarters(b), _memory: memory }
    }

    /// A piece has as many rows as a block.
    pub fn pieces(&self) -> usize {
        self.half / BLOCK
    }

    pub fn set_sums(&self, piece: usize) {
        let t = &self.temporary;
        // SAFETY: the rows are inside the views, and no other piece has these rows of the temporaries.
        unsafe {
            for i in piece * BLOCK..(piece + 1) * BLOCK {
                let [a11, a12, a21, a22] = self.a.map(|m| m.row(i));
                let [b11, b12, b21, b22] = self.b.map(|m| m.row(i));
                for j in 0..self.half {
                    let s1 = *a21.add(j) + *a22.add(j);
                    let s2 = s1 - *a11.add(j);
                    t[0].row(i).add(j).write(s1);
                    t[1].row(i).add(j).write(s2);
                    t[2].row(i).add(j).write(*a11.add(j) - *a21.add(j));
                    t[3].row(i).add(j).write(*a12.add(j) - s2);
                }
                for j in 0..self.half {
                    let t1 = *b12.add(j) - *b11.add(j);
                    let t2 = *b22.add(j) - t1;
                    t[4].row(i).add(j).write(t1);
                    t[5].row(i).add(j).write(t2);
                    t[6].row(i).add(j).write(*b22.add(j) - *b12.add(j));
                    t[7].row(i).add(j).write(t2 - *b21.add(j));
                }
            }
        }
    }

    /// The target and the factors of a product.
    pub fn product_of(&self, which: usize) -> [View; 3] {
        let t = &self.temporary;
        match which {
            0 => [t[8], self.a[0], self.b[0]],
            1 => [self.to[0], self.a[1], self.b[2]],
            2 => [self.to[1], t[3], self.b[3]],
            3 => [self.to[2], self.a[3], t[7]],
            4 => [self.to[3], t[0], t[4]],
            5 => [t[9], t[1], t[5]],
            _ => [t[10], t[2], t[6]],
        }
    }

    pub fn combine(&self, piece: usize) {
        // SAFETY: as in set_sums, for the rows of the target.
        unsafe {
            for i in piece * BLOCK..(piece + 1) * BLOCK {
                let [to11, to12, to21, to22] = self.to.map(|m| m.row(i));
                let [first, sixth, seventh] = [8, 9, 10].map(|k: usize| self.temporary[k].row(i));
                for j in 0..self.half {
                    let u2 = *first.add(j) + *sixth.add(j);
                    let u3 = u2 + *seventh.add(j);
                    let fifth = *to22.add(j);
                    *to11.add(j) += *first.add(j);
                    *to12.add(j) += u2 + fifth;
                    *to21.add(j) = u3 - *to21.add(j);
                    *to22.add(j) = u3 + fifth;
                }
            }
        }
    }
}
