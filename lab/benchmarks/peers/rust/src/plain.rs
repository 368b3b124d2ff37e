// SPDX-License-Identifier: Apache-2.0
//! The searches as plain recursions on one board, changed and changed back, as lab/benchmarks/sequential/searches.hpp: what tuned
//! programs do below their cut-off depth.

use crate::kernels::cover::ExactCover;
use crate::kernels::floorplan::{Board, LeastArea, Places};
use crate::kernels::pentomino::{FittingPlacements, PentominoBoard, Pieces};
use crate::kernels::queens::{set_bits, Queens, QueensBoard};
use crate::kernels::uts;

/// The ways to fill the remaining rows.
pub fn solutions(q: Queens) -> i64 {
    solutions_of_words(q.columns, q.up, q.down)
}

/// The words by themselves: a structure would be passed in memory.
fn solutions_of_words(columns: u32, up: u32, down: u32) -> i64 {
    let q = Queens { columns, up, down };
    if q.complete() {
        return 1;
    }
    let mut sum = 0;
    for bit in set_bits(q.free()) {
        let next = q.with(bit);
        sum += solutions_of_words(next.columns, next.up, next.down);
    }
    sum
}

/// The ways to fill the rows from `row` on. The board is the same afterwards.
pub fn board_solutions(board: &mut QueensBoard, row: i32) -> i64 {
    if row == board.n {
        return 1;
    }
    let mut sum = 0;
    for column in 0..board.n {
        if !board.free(row, column) {
            continue;
        }
        board.place(row, column);
        sum += board_solutions(board, row + 1);
        board.remove(row, column);
    }
    sum
}

/// The fillings of the rest of the board, from free cell k, with the pieces from place `used` on. The board is the same
/// afterwards.
pub fn fillings(pieces: &Pieces, board: &mut PentominoBoard, k: i32, used: i32) -> i64 {
    let mut sum = 0;
    let mut room = FittingPlacements::room();
    for &(how, chosen) in room.find(pieces, board, k, used) {
        board.place(k, used, chosen, how);
        if board.complete() {
            sum += 1;
        } else {
            let free = board.first_free(k);
            if !board.hopeless(free) {
                sum += fillings(pieces, board, free, used + 1);
            }
        }
        board.remove(k, used, chosen, how);
    }
    sum
}

/// The nodes of the tree from that node on.
pub fn nodes(tree: &uts::Tree, node: &uts::Node) -> i64 {
    1 + (0..node.children(tree)).map(|i| nodes(tree, &node.child(i))).sum::<i64>()
}

/// The covers that extend this state, which is the same afterwards.
pub fn covers(state: &mut ExactCover) -> i64 {
    if state.complete() {
        return 1;
    }
    let mut sum = 0;
    let mut option = state.first_option();
    while option != 0 {
        if state.choose(option) {
            sum += covers(state);
            state.take_back(option);
        }
        option = state.next_option(option);
    }
    sum
}

/// Finds the smallest area of the boards that extend this one, which is the same afterwards.
pub fn floorplans(board: &mut Board, least: &LeastArea) {
    if !least.promising(board.area()) {
        return;
    }
    if board.complete() {
        return least.offer(board.area());
    }
    let places = Places::new(board);
    for &place in places.all() {
        if board.add(place) {
            floorplans(board, least);
            board.take_back();
        }
    }
}
