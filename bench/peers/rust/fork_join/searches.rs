// SPDX-License-Identifier: Apache-2.0
//! fib, nqueens, nqueens-array, pentomino and uts: a fork or a choice at every node.

use sukima_bench_peers::harness::{bad, Error, Run};
use sukima_bench_peers::kernels::pentomino::{PentominoBoard, Pieces, MOST_FORMS, MOST_PIECES};
use sukima_bench_peers::kernels::queens::{Queens, QueensBoard, MOST_QUEENS};
use sukima_bench_peers::kernels::uts;

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

fn solutions(c: &mut Context<'_>, q: Queens) -> i64 {
    if q.complete() {
        return 1;
    }
    let free = q.free();
    sum(c, 0, q.n, &|column| free >> column & 1 != 0, &|c: &mut Context<'_>, column| solutions(c, q.with(1 << column)))
}

pub fn nqueens(run: &mut Run) -> Result<(), Error> {
    let empty = Queens::new(run.size_between(1, MOST_QUEENS.into())? as i32);
    let result = run.time(|| region(|c| solutions(c, empty)));
    run.result(result);
    Ok(())
}

fn board_solutions(c: &mut Context<'_>, board: &QueensBoard, row: i32) -> i64 {
    if row == board.n {
        return 1;
    }
    sum(c, 0, board.n, &|column| board.free(row, column), &|c: &mut Context<'_>, column| {
        let mut next = board.clone();
        next.place(row, column);
        board_solutions(c, &next, row + 1)
    })
}

pub fn nqueens_array(run: &mut Run) -> Result<(), Error> {
    let empty = QueensBoard::new(run.size_between(1, MOST_QUEENS.into())? as i32);
    let result = run.time(|| region(|c| board_solutions(c, &empty, 0)));
    run.result(result);
    Ok(())
}

fn fillings(c: &mut Context<'_>, pieces: &Pieces, board: &PentominoBoard, k: i32, used: i32) -> i64 {
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
            fillings(c, pieces, &next, free, used + 1)
        }
    })
}

pub fn pentomino(run: &mut Run) -> Result<(), Error> {
    let empty = PentominoBoard::new(run.size_between(12, MOST_PIECES as i64)? as i32);
    let pieces = Pieces::new();
    let result = run.time(|| region(|c| fillings(c, &pieces, &empty, 0, 0)));
    run.result(result);
    Ok(())
}

fn nodes(c: &mut Context<'_>, tree: &uts::Tree, node: &uts::Node) -> i64 {
    let children = node.children(tree);
    if children == 0 {
        return 1;
    }
    1 + sum(c, 0, children, &|_| true, &|c: &mut Context<'_>, i| nodes(c, tree, &node.child(i)))
}

pub fn uts(run: &mut Run) -> Result<(), Error> {
    let tree = uts::published_tree(run.size).ok_or_else(|| bad(uts::SIZES))?;
    let result = run.time(|| region(|c| nodes(c, &tree, &uts::Node::root(&tree))));
    run.result(result);
    Ok(())
}
