// SPDX-License-Identifier: Apache-2.0
//! The pentomino puzzle, as lab/benchmarks/kernels/pentomino.hpp.

use std::mem::MaybeUninit;

const WIDTH: i32 = 7;
pub const MOST_PIECES: usize = 20;
pub const MOST_FORMS: i32 = 8;
const CELLS: usize = 17 * WIDTH as usize;

#[derive(Clone, Copy, Default)]
pub struct Orientation {
    cell: [i32; 5],
    pub mask: u64,
}

#[derive(Clone, Copy, Default)]
pub struct Piece {
    pub form: [Orientation; MOST_FORMS as usize],
    pub forms: i32,
}

const SHAPES: [&str; 12] = [
    "XXXXX",
    "XXXX/X...",
    "XXXX/.X..",
    "XXX/XX.",
    "XXX/X.X",
    "XXX./..XX",
    "XXX/X../X..",
    "XX./.XX/..X",
    "XX./.X./.XX",
    ".XX/XX./.X.",
    ".X./XXX/.X.",
    "XXX/.X./.X.",
];

/// The twelve pieces in all orientations.
pub struct Pieces([Piece; 12]);

impl Pieces {
    pub fn new() -> Self {
        Self(SHAPES.map(orientations))
    }
}

impl Default for Pieces {
    fn default() -> Self {
        Self::new()
    }
}

fn orientations(shape: &str) -> Piece {
    let (mut row, mut column) = (0, 0);
    let mut at = Vec::new();
    for c in shape.chars() {
        if c == '/' {
            row += 1;
            column = 0;
            continue;
        }
        if c == 'X' {
            at.push((row, column));
        }
        column += 1;
    }
    let mut piece = Piece::default();
    for turn in 0..8 {
        let mut o = Orientation::default();
        for (cell, &(mut y, mut x)) in o.cell.iter_mut().zip(&at) {
            if turn & 4 != 0 {
                (x, y) = (y, x);
            }
            if turn & 1 != 0 {
                x = -x;
            }
            if turn & 2 != 0 {
                y = -y;
            }
            *cell = y * WIDTH + x;
        }
        o.cell.sort_unstable();
        let first = o.cell[0];
        for cell in &mut o.cell {
            *cell -= first;
            o.mask |= 1 << *cell;
        }
        if !piece.form[..piece.forms as usize].iter().any(|known| known.mask == o.mask) {
            piece.form[piece.forms as usize] = o;
            piece.forms += 1;
        }
    }
    piece
}

#[derive(Clone)]
pub struct PentominoBoard {
    pub n: i32,
    piece: [i8; MOST_PIECES],
    colour: [i8; CELLS],
    full: u128,
}

impl PentominoBoard {
    pub fn new(n: i32) -> Self {
        let mut board = Self { n, piece: [0; MOST_PIECES], colour: [0; CELLS], full: !0 };
        for i in 0..n {
            board.piece[i as usize] = i as i8;
        }
        let mut inside = 0;
        for i in 0..CELLS {
            let free = i as i32 % WIDTH < 6 && inside < 5 * n;
            board.colour[i] = i8::from(!free);
            if free {
                inside += 1;
                board.full &= !(1 << i);
            }
        }
        board
    }

    pub fn forms<'a>(&self, pieces: &'a Pieces, place: i32) -> &'a Piece {
        let p = self.piece[place as usize];
        &pieces.0[if p < 12 { p as usize } else { 0 }]
    }

    pub fn complete(&self) -> bool {
        self.full == !0
    }

    pub fn first_free(&self, k: i32) -> i32 {
        k + self.window(k).trailing_ones() as i32
    }

    pub fn window(&self, k: i32) -> u64 {
        (self.full >> k) as u64
    }

    pub fn hopeless(&self, k: i32) -> bool {
        const RIGHT: u64 = 1 << 1;
        const BELOW: u64 = 1 << 7;
        const NEXT: u64 = 1 << 2 | 1 << 8;
        let w = self.window(k);
        w & BELOW != 0 && (w & RIGHT != 0 || !w & NEXT == 0)
    }

    pub fn place(&mut self, k: i32, used: i32, chosen: i32, o: &Orientation) {
        self.piece.swap(used as usize, chosen as usize);
        self.paint(k, o, self.piece[used as usize] + 2);
    }

    /// Takes back the placement with the same arguments.
    pub fn remove(&mut self, k: i32, used: i32, chosen: i32, o: &Orientation) {
        self.paint(k, o, 0);
        self.piece.swap(used as usize, chosen as usize);
    }

    fn paint(&mut self, k: i32, o: &Orientation, value: i8) {
        for cell in o.cell {
            self.colour[(k + cell) as usize] = value;
        }
        self.full ^= u128::from(o.mask) << k;
    }
}

const MOST_CHOICES: usize = MOST_PIECES * MOST_FORMS as usize;

/// All placements on the first free cell k that fit, with the pieces from place `used` of the order on: orientations,
/// each with its piece's place in the order.
pub struct FittingPlacements<'a>([MaybeUninit<(&'a Orientation, i32)>; MOST_CHOICES]);

impl<'a> FittingPlacements<'a> {
    /// Room for placements, not initialised: that would take as long as finding them.
    #[inline(always)]
    pub fn room() -> Self {
        Self([MaybeUninit::uninit(); MOST_CHOICES])
    }

    #[inline(always)]
    pub fn find(&mut self, pieces: &'a Pieces, board: &PentominoBoard, k: i32, used: i32) -> &[(&'a Orientation, i32)] {
        let window = board.window(k);
        let mut count = 0;
        for chosen in used..board.n {
            let piece = board.forms(pieces, chosen);
            for how in &piece.form[..piece.forms as usize] {
                // Without an unpredictable branch.
                self.0[count].write((how, chosen));
                count += usize::from(window & how.mask == 0);
            }
        }
        // SAFETY: the first `count` places were written; there are not more.
        unsafe { std::slice::from_raw_parts(self.0.as_ptr().cast(), count) }
    }
}
