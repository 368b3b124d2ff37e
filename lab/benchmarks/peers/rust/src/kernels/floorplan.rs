// SPDX-License-Identifier: Apache-2.0
//! The smallest rectangle for cells of several shapes, as lab/benchmarks/kernels/floorplan.hpp.

use std::sync::atomic::{AtomicI32, Ordering};

use super::random::RandomNumbers;

pub const MOST_CELLS: usize = 20;
const SIDE: i32 = 64;
const MOST_SHAPES: usize = 6;
/// Two cells touch in fewer places than both have rows, or columns, together.
const MOST_PLACES: usize = MOST_SHAPES * 24;

/// A cell on the board. The first row and column are in it, the last ones are not.
#[derive(Clone, Copy, Default)]
pub struct Place {
    top: i8,
    left: i8,
    bottom: i8,
    right: i8,
}

impl Place {
    fn mask(self) -> u64 {
        ((1 << (self.right - self.left)) - 1) << self.left
    }
    fn rows(self) -> std::ops::Range<usize> {
        self.top as usize..self.bottom as usize
    }
}

#[derive(Default)]
struct Cell {
    /// Rows and columns.
    shapes: Vec<(i32, i32)>,
    /// Earlier cells that it touches.
    left_of_it: Option<usize>,
    above_it: Option<usize>,
}

/// Shapes and neighbours of cells from a fixed seed.
pub struct Cells(Vec<Cell>);

impl Cells {
    pub fn new(n: usize) -> Self {
        let mut random = RandomNumbers::new(13);
        let mut all = Vec::new();
        for k in 0..n {
            let mut c = Cell::default();
            let area = 2 + random.below(11) as i32;
            let mut last_rows = SIDE;
            for columns in 1..=area {
                let rows = (area + columns - 1) / columns;
                if rows < last_rows && c.shapes.len() < MOST_SHAPES {
                    last_rows = rows;
                    c.shapes.push((rows, columns));
                }
            }
            if k > 0 {
                let neighbours = random.below(4);
                c.left_of_it = (neighbours != 1).then(|| k - 1);
                c.above_it = match neighbours {
                    1 => Some(k - 1),
                    2 if k == 1 => Some(0),
                    2 => Some(random.below(k as u64 - 1) as usize),
                    _ => None,
                };
            }
            all.push(c);
        }
        Self(all)
    }
}

/// Some cells on a board.
#[derive(Clone)]
pub struct Board<'a> {
    cells: &'a Cells,
    row: [u64; SIDE as usize],
    place: [Place; MOST_CELLS],
    /// Before the cell was placed.
    outline: [(i8, i8); MOST_CELLS],
    placed: usize,
    rows: i8,
    columns: i8,
}

impl<'a> Board<'a> {
    pub fn new(cells: &'a Cells) -> Self {
        Self {
            cells,
            row: [0; SIDE as usize],
            place: [Place::default(); MOST_CELLS],
            outline: [(0, 0); MOST_CELLS],
            placed: 0,
            rows: 0,
            columns: 0,
        }
    }

    pub fn placed(&self) -> usize {
        self.placed
    }
    pub fn complete(&self) -> bool {
        self.placed == self.cells.0.len()
    }
    /// Of the rectangle around all cells.
    pub fn area(&self) -> i32 {
        i32::from(self.rows) * i32::from(self.columns)
    }

    /// Places the next cell. Returns false, with nothing changed, if it would cover another one.
    pub fn add(&mut self, p: Place) -> bool {
        let mask = p.mask();
        if self.row[p.rows()].iter().any(|row| row & mask != 0) {
            return false;
        }
        self.row[p.rows()].iter_mut().for_each(|row| *row |= mask);
        self.outline[self.placed] = (self.rows, self.columns);
        self.place[self.placed] = p;
        self.placed += 1;
        self.rows = self.rows.max(p.bottom);
        self.columns = self.columns.max(p.right);
        true
    }
    /// Takes the last cell back.
    pub fn take_back(&mut self) {
        self.placed -= 1;
        let p = self.place[self.placed];
        (self.rows, self.columns) = self.outline[self.placed];
        self.row[p.rows()].iter_mut().for_each(|row| *row &= !p.mask());
    }
}

/// The places for the next cell.
pub struct Places {
    place: [Place; MOST_PLACES],
    count: usize,
}

impl Places {
    pub fn new(board: &Board) -> Self {
        let mut places = Self { place: [Place::default(); MOST_PLACES], count: 0 };
        let cell = &board.cells.0[board.placed];
        for &(rows, columns) in &cell.shapes {
            let (mut top, mut last_top, mut left, mut last_left) = (0, 0, 0, 0);
            if let Some(k) = cell.left_of_it {
                let beside = board.place[k];
                (left, last_left) = (i32::from(beside.right), i32::from(beside.right));
                (top, last_top) = ((i32::from(beside.top) - rows + 1).max(0), i32::from(beside.bottom) - 1);
            }
            if let Some(k) = cell.above_it {
                let above = board.place[k];
                (top, last_top) = (i32::from(above.bottom), i32::from(above.bottom));
                if cell.left_of_it.is_none() {
                    (left, last_left) = ((i32::from(above.left) - columns + 1).max(0), i32::from(above.right) - 1);
                }
            }
            for y in top..=last_top {
                for x in left..=last_left {
                    places.add(y, x, y + rows, x + columns);
                }
            }
        }
        places
    }

    pub fn all(&self) -> &[Place] {
        &self.place[..self.count]
    }

    fn add(&mut self, top: i32, left: i32, bottom: i32, right: i32) {
        if bottom > SIDE || right > SIDE {
            return;
        }
        self.place[self.count] = Place { top: top as i8, left: left as i8, bottom: bottom as i8, right: right as i8 };
        self.count += 1;
    }
}

/// The smallest area up to now, for all branches of a search.
pub struct LeastArea(AtomicI32);

impl LeastArea {
    pub fn new() -> Self {
        Self(AtomicI32::new(i32::MAX))
    }
    // Relaxed: nothing else is read by the area.
    pub fn promising(&self, area: i32) -> bool {
        area < self.0.load(Ordering::Relaxed)
    }
    pub fn offer(&self, area: i32) {
        self.0.fetch_min(area, Ordering::Relaxed);
    }
    pub fn area(&self) -> i32 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Default for LeastArea {
    fn default() -> Self {
        Self::new()
    }
}
