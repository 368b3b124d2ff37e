// SPDX-License-Identifier: Apache-2.0
//! Programs of two suites: strassen, health, floorplan, alignment, forest and neighbours.

use sukima_bench_peers::harness::{bad, wrong, Error, Run};
use sukima_bench_peers::kernels::alignment::{AlignmentProblem, MOST_SEQUENCES};
use sukima_bench_peers::kernels::floorplan::{Board, Cells, LeastArea, Places, MOST_CELLS};
use sukima_bench_peers::kernels::forest::{self, forest_problem, Components, Piece};
use sukima_bench_peers::kernels::health::{Village, HEALTH_STEPS, MOST_LEVELS};
use sukima_bench_peers::kernels::matrix::{probe, relative_difference, six_digits, Matrix, View};
use sukima_bench_peers::kernels::neighbours::{self, Point};
use sukima_bench_peers::kernels::strassen::{multiply_plainly, Step, PRODUCTS, STRASSEN_LEAF};
use sukima_bench_peers::plain;

use crate::fork_join::cut_off::{CutOff, Depth, Nowhere};
use crate::sums::{each, each_of};
use crate::system::{join, region, Context};

fn multiply(c: &mut Context<'_>, to: View, a: View, b: View) {
    if to.rows <= STRASSEN_LEAF {
        return multiply_plainly(to, a, b);
    }
    let step = Step::new(to, a, b);
    each(c, 0, step.pieces(), &|_: &mut Context<'_>, piece| step.set_sums(piece));
    each(c, 0, PRODUCTS, &|c: &mut Context<'_>, which| {
        let [to, a, b] = step.product_of(which);
        multiply(c, to, a, b);
    });
    each(c, 0, step.pieces(), &|_: &mut Context<'_>, piece| step.combine(piece));
}

pub fn strassen(run: &mut Run) -> Result<(), Error> {
    let n = run.size_between(64, 16384)? as usize;
    if !n.is_power_of_two() {
        return Err(bad("the size must be a power of two: use --size 64, 128, 256, … 16384"));
    }
    let (mut a, mut b, mut product) = (Matrix::random(n, 1, 0.0), Matrix::random(n, 2, 0.0), Matrix::zero(n));
    let (to, left, right) = (product.all(), a.all(), b.all());
    run.time(|| region(|c| multiply(c, to, left, right)));
    let x = probe(n);
    let difference = relative_difference(&a.times(&b.times(&x)), &product.times(&x));
    if difference.is_nan() || difference >= 1e-9 {
        return Err(wrong("the product is wrong"));
    }
    run.result(six_digits(product.at(n / 3, n / 2)));
    Ok(())
}

fn day<E: CutOff>(c: &mut Context<'_>, village: &mut Village, level: i32, end: E) {
    if end.reached(level) {
        return village.step_plainly();
    }
    each_of(c, &mut village.below, &|c: &mut Context<'_>, v: &mut Village| day(c, v, level + 1, end));
    village.treat();
}

fn measure_health<E: CutOff + Send>(run: &mut Run, end: E) -> Result<(), Error> {
    let mut country = Village::new(0, run.size_between(1, MOST_LEVELS)? as i32, 0);
    run.time(|| {
        region(|c| {
            for _ in 0..HEALTH_STEPS {
                day(c, &mut country, 0, end);
            }
        })
    });
    run.result(country.counts().map(|count| count.to_string()).join(" "));
    Ok(())
}

pub fn health(run: &mut Run) -> Result<(), Error> {
    measure_health(run, Nowhere)
}

pub fn tuned_health(run: &mut Run) -> Result<(), Error> {
    measure_health(run, Depth(run.depth))
}

/// This branch owns the board and restores it before returning.
fn floorplans<E: CutOff>(c: &mut Context<'_>, board: &mut Board<'_>, least: &LeastArea, end: E) {
    if end.reached(board.placed() as i32) {
        return plain::floorplans(board, least);
    }
    if !least.promising(board.area()) {
        return;
    }
    if board.complete() {
        return least.offer(board.area());
    }
    let board = &*board;
    let places = Places::new(board);
    let all = places.all();
    each(c, 0, all.len(), &|c: &mut Context<'_>, choice| {
        let mut next = board.clone();
        if next.add(all[choice]) {
            floorplans(c, &mut next, least, end);
        }
    });
}

fn measure_floorplan<E: CutOff + Send>(run: &mut Run, end: E) -> Result<(), Error> {
    let cells = Cells::new(run.size_between(1, MOST_CELLS as i64)? as usize);
    let least = LeastArea::new();
    run.time(|| region(|c| floorplans(c, &mut Board::new(&cells), &least, end)));
    run.result(least.area());
    Ok(())
}

pub fn floorplan(run: &mut Run) -> Result<(), Error> {
    measure_floorplan(run, Nowhere)
}

pub fn tuned_floorplan(run: &mut Run) -> Result<(), Error> {
    measure_floorplan(run, Depth(run.depth))
}

/// The rows of scores from that one on.
fn align_rows(c: &mut Context<'_>, problem: &AlignmentProblem, n: usize, first: usize, rows: &mut [i32]) {
    let count = rows.len() / n;
    if count == 1 {
        return align_row(c, problem, first, first + 1, &mut rows[first + 1..]);
    }
    let half = count / 2;
    let (upper, lower) = rows.split_at_mut(half * n);
    join(c, |c| align_rows(c, problem, n, first, upper), |c| align_rows(c, problem, n, first + half, lower));
}

/// The scores of sequence i with those from j on.
fn align_row(c: &mut Context<'_>, problem: &AlignmentProblem, i: usize, j: usize, row: &mut [i32]) {
    match row {
        [] => {}
        [score] => *score = problem.score(i, j),
        _ => {
            let half = row.len() / 2;
            let (left, right) = row.split_at_mut(half);
            join(c, |c| align_row(c, problem, i, j, left), |c| align_row(c, problem, i, j + half, right));
        }
    }
}

pub fn alignment(run: &mut Run) -> Result<(), Error> {
    let n = run.size_between(2, MOST_SEQUENCES)? as usize;
    let problem = AlignmentProblem::new(n);
    let mut scores = vec![0; n * n];
    run.time(|| region(|c| align_rows(c, &problem, n, 0, &mut scores)));
    run.result(problem.result(&scores));
    Ok(())
}

fn rounds(c: &mut Context<'_>, all: &Components, pieces: &mut [Piece]) {
    each_of(c, pieces, &|_: &mut Context<'_>, p: &mut Piece| p.divide(all));
    loop {
        each_of(c, pieces, &|_: &mut Context<'_>, p: &mut Piece| p.join(all));
        while forest::edges_are_left(pieces) {
            each_of(c, pieces, &|_: &mut Context<'_>, p: &mut Piece| p.find_lightest(all));
            each_of(c, pieces, &|_: &mut Context<'_>, p: &mut Piece| p.hang(all));
            each_of(c, pieces, &|_: &mut Context<'_>, p: &mut Piece| p.join(all));
        }
        if !forest::add_heavy(pieces) {
            return;
        }
    }
}

pub fn forest(run: &mut Run) -> Result<(), Error> {
    let (all, mut pieces) = forest_problem(run.size_between(1, 1 << 26)? as usize);
    run.time(|| region(|c| rounds(c, &all, &mut pieces)));
    run.result(forest::result(&all, &pieces).ok_or_else(|| wrong("the edges are not a forest"))?);
    Ok(())
}

fn order(c: &mut Context<'_>, points: &mut [Point], axis: usize) {
    if points.len() <= neighbours::GRAIN {
        return neighbours::order(points, axis);
    }
    let (before, after) = neighbours::divide(points, axis);
    let next = neighbours::next(axis);
    join(c, |c| order(c, before, next), |c| order(c, after, next));
}

/// Points whose neighbours are found without forking: some microseconds.
const SOME_POINTS: usize = 16;

fn find(c: &mut Context<'_>, points: &[Point], from: &[Point], found: &mut [u32]) {
    if from.len() <= SOME_POINTS {
        return found.iter_mut().zip(from).for_each(|(found, p)| *found = neighbours::nearest(points, p));
    }
    let half = from.len() / 2;
    let (from1, from2) = from.split_at(half);
    let (found1, found2) = found.split_at_mut(half);
    join(c, |c| find(c, points, from1, found1), |c| find(c, points, from2, found2));
}

pub fn neighbours(run: &mut Run) -> Result<(), Error> {
    let n = run.size_between(2, 100_000_000)? as usize;
    let mut points = neighbours::random_points(n);
    let mut found = vec![0; n];
    run.time(|| {
        region(|c| {
            order(c, &mut points, 0);
            find(c, &points, &points, &mut found);
        })
    });
    run.result(neighbours::result(&points, &found));
    Ok(())
}
