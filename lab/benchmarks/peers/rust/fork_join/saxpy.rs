// SPDX-License-Identifier: Apache-2.0
//! A plain loop with nothing but join.

use crate::system::{join, region, Context};

/// Elements of a loop that are worth no fork.
const LOOP_LEAF: usize = 1024;

/// y += a · x by halves.
pub fn saxpy_by_join(a: f32, x: &[f32], y: &mut [f32]) {
    fn part(c: &mut Context<'_>, a: f32, x: &[f32], y: &mut [f32]) {
        if y.len() <= LOOP_LEAF {
            return y.iter_mut().zip(x).for_each(|(y, x)| *y += a * x);
        }
        let half = y.len() / 2;
        let (x1, x2) = x.split_at(half);
        let (y1, y2) = y.split_at_mut(half);
        join(c, |c| part(c, a, x1, y1), |c| part(c, a, x2, y2));
    }
    region(|c| part(c, a, x, y));
}
