// SPDX-License-Identifier: Apache-2.0
//! fib, nqueens, nqueens-array, pentomino, uts and cover: a fork or a choice at every node, or (the tuned programs) above a
//! cut-off depth, with plain code below.

use sukima_bench_peers::harness::{bad, Error, Run};
use sukima_bench_peers::kernels::cover::{langford, ExactCover, PossibleOptions, MOST_LANGFORD};
use sukima_bench_peers::kernels::pentomino::{PentominoBoard, Pieces, MOST_FORMS, MOST_PIECES};
use sukima_bench_peers::kernels::queens::{Queens, QueensBoard, MOST_QUEENS};
use sukima_bench_peers::kernels::uts;
use sukima_bench_peers::plain;

use crate::fork_join::cut_off::{CutOff, Depth, Nowhere};
use crate::sums::sum_of_bits;
use crate::system::{join, region, sum, Context};

fn fibonacci(c: &mut Context<'_>, n: i64) -> i64 {
    if n < 2 {
        return n;
    }
    let (a, b) = join(c, |c| fibonacci(c, n - 1), |c| fibonacci(c, n - 2));
    a + b
}

pub fn fib(run: &mut Run) -> Result<(), Error> {
    let n = run.size_between(0, 60)?;
    let result = run.time(|| region(|c| fibonacci(c, n)));
    run.result(result);
    Ok(())
}

fn solutions<E: CutOff>(c: &mut Context<'_>, q: Queens, row: i32, end: E) -> i64 {
    if end.reached(row) {
        return plain::solutions(q);
    }
    if q.complete() {
        return 1;
    }
    sum_of_bits(c, q.free(), &|c: &mut Context<'_>, bit| solutions(c, q.with(bit), row + 1, end))
}

fn measure_nqueens<E: CutOff + Send>(run: &mut Run, end: E) -> Result<(), Error> {
    let empty = Queens::empty(run.size_between(1, MOST_QUEENS.into())? as i32);
    let result = run.time(|| region(|c| solutions(c, empty, 0, end)));
    run.result(result);
    Ok(())
}

pub fn nqueens(run: &mut Run) -> Result<(), Error> {
    measure_nqueens(run, Nowhere)
}

pub fn tuned_nqueens(run: &mut Run) -> Result<(), Error> {
    measure_nqueens(run, Depth(run.depth))
}

/// This branch owns the board and restores it before returning.
fn board_solutions<E: CutOff>(c: &mut Context<'_>, board: &mut QueensBoard, row: i32, end: E) -> i64 {
    if end.reached(row) {
        return plain::board_solutions(board, row);
    }
    let board = &*board;
    if row == board.n {
        return 1;
    }
    sum(c, 0, board.n, &|column| board.free(row, column), &|c: &mut Context<'_>, column| {
        let mut next = board.clone();
        next.place(row, column);
        board_solutions(c, &mut next, row + 1, end)
    })
}

fn measure_nqueens_array<E: CutOff + Send>(run: &mut Run, end: E) -> Result<(), Error> {
    let mut empty = QueensBoard::new(run.size_between(1, MOST_QUEENS.into())? as i32);
    let result = run.time(|| region(|c| board_solutions(c, &mut empty, 0, end)));
    run.result(result);
    Ok(())
}

pub fn nqueens_array(run: &mut Run) -> Result<(), Error> {
    measure_nqueens_array(run, Nowhere)
}

pub fn tuned_nqueens_array(run: &mut Run) -> Result<(), Error> {
    measure_nqueens_array(run, Depth(run.depth))
}

/// This branch owns the board and restores it before returning.
fn fillings<E: CutOff>(
    c: &mut Context<'_>,
    pieces: &Pieces,
    board: &mut PentominoBoard,
    k: i32,
    used: i32,
    end: E,
) -> i64 {
    if end.reached(used) {
        return plain::fillings(pieces, board, k, used);
    }
    let board = &*board;
    let window = board.window(k);
    let piece = |choice: i32| board.forms(pieces, used + choice / MOST_FORMS);
    let form = |choice: i32| &piece(choice).form[(choice % MOST_FORMS) as usize];
    let fits = |choice: i32| choice % MOST_FORMS < piece(choice).forms && window & form(choice).mask == 0;
    sum(c, 0, (board.n - used) * MOST_FORMS, &fits, &|c: &mut Context<'_>, choice| {
        let mut next = board.clone();
        next.place(k, used, used + choice / MOST_FORMS, form(choice));
        if next.complete() {
            return 1;
        }
        let free = next.first_free(k);
        if next.hopeless(free) {
            0
        } else {
            fillings(c, pieces, &mut next, free, used + 1, end)
        }
    })
}

fn measure_pentomino<E: CutOff + Send>(run: &mut Run, end: E) -> Result<(), Error> {
    let mut empty = PentominoBoard::new(run.size_between(12, MOST_PIECES as i64)? as i32);
    let pieces = Pieces::new();
    let result = run.time(|| region(|c| fillings(c, &pieces, &mut empty, 0, 0, end)));
    run.result(result);
    Ok(())
}

pub fn pentomino(run: &mut Run) -> Result<(), Error> {
    measure_pentomino(run, Nowhere)
}

pub fn tuned_pentomino(run: &mut Run) -> Result<(), Error> {
    measure_pentomino(run, Depth(run.depth))
}

fn nodes<E: CutOff>(c: &mut Context<'_>, tree: &uts::Tree, node: &uts::Node, end: E) -> i64 {
    if end.reached(node.height) {
        return plain::nodes(tree, node);
    }
    let children = node.children(tree);
    if children == 0 {
        return 1;
    }
    1 + sum(c, 0, children, &|_| true, &|c: &mut Context<'_>, i| nodes(c, tree, &node.child(i), end))
}

fn measure_uts<E: CutOff + Send>(run: &mut Run, end: E) -> Result<(), Error> {
    let tree = uts::published_tree(run.size).ok_or_else(|| bad(uts::SIZES))?;
    let result = run.time(|| region(|c| nodes(c, &tree, &uts::Node::root(&tree), end)));
    run.result(result);
    Ok(())
}

pub fn uts(run: &mut Run) -> Result<(), Error> {
    measure_uts(run, Nowhere)
}

pub fn tuned_uts(run: &mut Run) -> Result<(), Error> {
    measure_uts(run, Depth(run.depth))
}

/// This branch owns the state and restores it before returning.
fn covers<E: CutOff>(c: &mut Context<'_>, state: &mut ExactCover, level: i32, end: E) -> i64 {
    if end.reached(level) {
        return plain::covers(state);
    }
    let state = &*state;
    if state.complete() {
        return 1;
    }
    let options = PossibleOptions::new(state);
    let all = options.all();
    sum(c, 0, all.len() as i32, &|_| true, &|c: &mut Context<'_>, choice| {
        let mut next = state.clone();
        if next.choose(all[choice as usize]) {
            covers(c, &mut next, level + 1, end)
        } else {
            0
        }
    })
}

fn measure_cover<E: CutOff + Send>(run: &mut Run, end: E) -> Result<(), Error> {
    let mut state = langford(run.size_between(1, MOST_LANGFORD)? as i32);
    let result = run.time(|| if state.begin() { region(|c| covers(c, &mut state, 0, end)) } else { 0 });
    run.result(result);
    Ok(())
}

pub fn cover(run: &mut Run) -> Result<(), Error> {
    measure_cover(run, Nowhere)
}

pub fn tuned_cover(run: &mut Run) -> Result<(), Error> {
    measure_cover(run, Depth(run.depth))
}
