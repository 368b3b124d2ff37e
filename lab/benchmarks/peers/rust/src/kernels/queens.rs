// SPDX-License-Identifier: Apache-2.0
//! n queens: with bit masks, and on a board of arrays.

/// As lab/benchmarks/kernels/nqueens.hpp.
#[derive(Clone, Copy)]
pub struct Queens {
    pub columns: u32,
    pub up: u32,
    pub down: u32,
}

/// Each bit that is set, the lowest first.
pub fn set_bits(mut bits: u32) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let lowest = bits & bits.wrapping_neg();
        bits ^= lowest;
        (lowest != 0).then_some(lowest)
    })
}

pub const MOST_QUEENS: i32 = 20;

impl Queens {
    /// A board of n columns without a queen.
    pub fn empty(n: i32) -> Self {
        Self { columns: !((1 << n) - 1), up: 0, down: 0 }
    }

    pub fn complete(&self) -> bool {
        self.columns == !0
    }

    pub fn free(&self) -> u32 {
        !(self.columns | self.up | self.down)
    }

    pub fn with(&self, bit: u32) -> Self {
        Self { columns: self.columns | bit, up: (self.up | bit) << 1, down: (self.down | bit) >> 1 }
    }
}

/// As lab/benchmarks/kernels/nqueens_array.hpp.
#[derive(Clone)]
pub struct QueensBoard {
    pub n: i32,
    column: [i32; MOST_QUEENS as usize],
    taken: [i32; MOST_QUEENS as usize],
    rising: [i32; 2 * MOST_QUEENS as usize],
    falling: [i32; 2 * MOST_QUEENS as usize],
}

impl QueensBoard {
    pub fn new(n: i32) -> Self {
        const MOST: usize = MOST_QUEENS as usize;
        Self { n, column: [0; MOST], taken: [0; MOST], rising: [0; 2 * MOST], falling: [0; 2 * MOST] }
    }

    pub fn free(&self, row: i32, c: i32) -> bool {
        (self.taken[c as usize] | self.rising[(row + c) as usize] | self.falling[(row - c + self.n) as usize]) == 0
    }

    pub fn place(&mut self, row: i32, c: i32) {
        self.column[row as usize] = c;
        self.mark(row, c, 1);
    }

    pub fn remove(&mut self, row: i32, c: i32) {
        self.mark(row, c, 0);
    }

    fn mark(&mut self, row: i32, c: i32, value: i32) {
        self.taken[c as usize] = value;
        self.rising[(row + c) as usize] = value;
        self.falling[(row - c + self.n) as usize] = value;
    }
}
