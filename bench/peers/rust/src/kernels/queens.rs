// SPDX-License-Identifier: Apache-2.0
//! n queens: with bit masks, and on a board of arrays.

/// As bench/kernels/nqueens.hpp.
#[derive(Clone, Copy)]
pub struct Queens {
    pub n: i32,
    columns: u32,
    up: u32,
    down: u32,
}

pub const MOST_QUEENS: i32 = 20;

impl Queens {
    pub fn new(n: i32) -> Self {
        Self { n, columns: 0, up: 0, down: 0 }
    }

    fn all(&self) -> u32 {
        (1 << self.n) - 1
    }

    pub fn complete(&self) -> bool {
        self.columns == self.all()
    }

    pub fn free(&self) -> u32 {
        self.all() & !(self.columns | self.up | self.down)
    }

    pub fn with(&self, bit: u32) -> Self {
        Self { n: self.n, columns: self.columns | bit, up: (self.up | bit) << 1, down: (self.down | bit) >> 1 }
    }
}

/// As bench/kernels/nqueens_array.hpp.
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
        self.taken[c as usize] == 0
            && self.rising[(row + c) as usize] == 0
            && self.falling[(row - c + self.n) as usize] == 0
    }

    pub fn place(&mut self, row: i32, c: i32) {
        self.column[row as usize] = c;
        self.taken[c as usize] = 1;
        self.rising[(row + c) as usize] = 1;
        self.falling[(row - c + self.n) as usize] = 1;
    }
}
