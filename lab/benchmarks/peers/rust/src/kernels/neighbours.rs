// SPDX-License-Identifier: Apache-2.0
//! The nearest other one of each of n points, as lab/benchmarks/kernels/neighbours.hpp.

use super::random::RandomNumbers;

/// Points that have no order.
const LEAF: usize = 8;
/// Points that are put in order without forking.
pub const GRAIN: usize = 1024;

#[derive(Clone, Copy)]
pub struct Point {
    x: [f64; 3],
    pub number: u32,
}

struct Candidate {
    squared_distance: f64,
    number: u32,
}

pub fn random_points(n: usize) -> Vec<Point> {
    let mut random = RandomNumbers::new(16);
    (0..n).map(|i| Point { x: [random.real(), random.real(), random.real()], number: i as u32 }).collect()
}

pub fn next(axis: usize) -> usize {
    (axis + 1) % 3
}

/// Puts the middle point in its place. The others are before and after it.
pub fn divide(points: &mut [Point], axis: usize) -> (&mut [Point], &mut [Point]) {
    let middle = points.len() / 2;
    let (before, _, after) = points.select_nth_unstable_by(middle, |a, b| a.x[axis].total_cmp(&b.x[axis]));
    (before, after)
}

/// Makes a tree of the points.
pub fn order(points: &mut [Point], axis: usize) {
    if points.len() <= LEAF {
        return;
    }
    let (before, after) = divide(points, axis);
    order(before, next(axis));
    order(after, next(axis));
}

fn consider(from: &Point, other: &Point, nearest: &mut Candidate) {
    let [x, y, z] = std::array::from_fn(|k| other.x[k] - from.x[k]);
    let squared = x * x + y * y + z * z;
    if squared < nearest.squared_distance && other.number != from.number {
        *nearest = Candidate { squared_distance: squared, number: other.number };
    }
}

fn find_in(from: &Point, points: &[Point], axis: usize, nearest: &mut Candidate) {
    if points.len() <= LEAF {
        return points.iter().for_each(|p| consider(from, p, nearest));
    }
    let (before, rest) = points.split_at(points.len() / 2);
    let (middle, after) = rest.split_first().expect("there are more than LEAF points");
    let beyond = from.x[axis] - middle.x[axis];
    consider(from, middle, nearest);
    let (near, far) = if beyond < 0.0 { (before, after) } else { (after, before) };
    find_in(from, near, next(axis), nearest);
    if beyond * beyond < nearest.squared_distance {
        find_in(from, far, next(axis), nearest);
    }
}

/// The number of the nearest other point. The points are a tree.
pub fn nearest(points: &[Point], from: &Point) -> u32 {
    let mut nearest = Candidate { squared_distance: f64::INFINITY, number: from.number };
    find_in(from, points, 0, &mut nearest);
    nearest.number
}

/// Depends on each point's neighbour. `found` is in the points' order.
pub fn result(points: &[Point], found: &[u32]) -> u64 {
    let mut by_number = vec![0; points.len()];
    for (p, &number) in points.iter().zip(found) {
        by_number[p.number as usize] = number;
    }
    by_number.iter().fold(0, |hash: u64, &number| hash.wrapping_mul(31).wrapping_add(u64::from(number)))
}
