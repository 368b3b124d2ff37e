// SPDX-License-Identifier: Apache-2.0
//! cmp, grav, sort and spantree: halves of arrays, loops, and shared lists of pending vertices.

use std::sync::atomic::{AtomicU32, Ordering};

use sukima_bench_peers::harness::{wrong, Error, Run};
use sukima_bench_peers::kernels::graph::{Graph, NO_VERTEX, SPANTREE_SHARE};
use sukima_bench_peers::kernels::numbers::{
    equal_pairs, merge_run, sort_run, CmpProblem, Force, GravProblem, SortProblem, CMP_LEAF, MERGE_LEAF, SORT_LEAF,
};

use crate::system::{join, region, sum, Context};

fn pairs(c: &mut Context<'_>, a: &[u32], b: &[u32]) -> i64 {
    if a.len() <= CMP_LEAF && b.len() <= CMP_LEAF {
        return equal_pairs(a, b);
    }
    let (first, second) = if a.len() >= b.len() {
        let (left, right) = a.split_at(a.len() / 2);
        join(c, |c| pairs(c, left, b), |c| pairs(c, right, b))
    } else {
        let (left, right) = b.split_at(b.len() / 2);
        join(c, |c| pairs(c, a, left), |c| pairs(c, a, right))
    };
    first + second
}

pub fn cmp(run: &mut Run) -> Result<(), Error> {
    let problem = CmpProblem::new(run.size_between(1, 1 << 24)? as usize);
    let result = run.time(|| region(|c| pairs(c, &problem.a, &problem.b)));
    if result != problem.expected() {
        return Err(wrong(format!("wrong number of pairs {result}")));
    }
    run.result(result);
    Ok(())
}

pub fn grav(run: &mut Run) -> Result<(), Error> {
    let g = GravProblem { n: run.size_between(0, 2000)? as i32 };
    let every = |_| true;
    let plane =
        |c: &mut Context<'_>, x| -> Force { sum(c, -g.n, g.n + 1, &every, &|_: &mut Context<'_>, y| g.line(x, y)) };
    let result = run.time(|| region(|c| sum(c, -g.n, g.n + 1, &every, &plane)));
    run.result(result.as_text());
    Ok(())
}

fn merge<'a>(c: &mut Context<'_>, mut a: &'a [u32], mut b: &'a [u32], to: &mut [u32]) {
    if to.len() <= MERGE_LEAF {
        return merge_run(a, b, to);
    }
    if a.len() < b.len() {
        std::mem::swap(&mut a, &mut b);
    }
    let (a1, a2) = a.split_at(a.len() / 2);
    let (b1, b2) = b.split_at(b.partition_point(|x| *x < a2[0]));
    let (to1, to2) = to.split_at_mut(a1.len() + b1.len());
    join(c, |c| merge(c, a1, b1, to1), |c| merge(c, a2, b2, to2));
}

fn merge_sort(c: &mut Context<'_>, a: &mut [u32], buffer: &mut [u32], into_buffer: bool) {
    if a.len() <= SORT_LEAF {
        return sort_run(a, buffer, into_buffer);
    }
    let half = a.len() / 2;
    let (a1, a2) = a.split_at_mut(half);
    let (b1, b2) = buffer.split_at_mut(half);
    join(c, |c| merge_sort(c, a1, b1, !into_buffer), |c| merge_sort(c, a2, b2, !into_buffer));
    if into_buffer {
        merge(c, a1, a2, buffer);
    } else {
        merge(c, b1, b2, a);
    }
}

pub fn sort(run: &mut Run) -> Result<(), Error> {
    let mut problem = SortProblem::new(run.size_between(1, 1 << 30)? as usize);
    let (data, buffer) = (&mut problem.data, &mut problem.buffer);
    run.time(|| region(|c| merge_sort(c, data, buffer, false)));
    if !problem.sorted() {
        return Err(wrong("the numbers are not in order"));
    }
    run.result(problem.sum);
    Ok(())
}

fn search(c: &mut Context<'_>, g: &Graph, parent: &[AtomicU32], mut pending: Vec<u32>) {
    while let Some(v) = pending.pop() {
        for &u in g.neighbours(v) {
            // Relaxed: a vertex's parent is the only thing that searchers exchange.
            let entry = &parent[u as usize];
            if entry.load(Ordering::Relaxed) == NO_VERTEX
                && entry.compare_exchange(NO_VERTEX, v, Ordering::Relaxed, Ordering::Relaxed).is_ok()
            {
                pending.push(u);
            }
        }
        if pending.len() > 2 * SPANTREE_SHARE {
            let newer = pending.split_off(pending.len() / 2);
            join(c, |c| search(c, g, parent, newer), |c| search(c, g, parent, pending));
            return;
        }
    }
}

pub fn spantree(run: &mut Run) -> Result<(), Error> {
    let g = Graph::new(run.size_between(1, 1 << 27)? as usize);
    let parent: Vec<AtomicU32> =
        (0..g.vertices()).map(|v| AtomicU32::new(if v == 0 { 0 } else { NO_VERTEX })).collect();
    run.time(|| region(|c| search(c, &g, &parent, vec![0])));
    if let Some(fault) = g.fault(&parent) {
        return Err(wrong(fault));
    }
    run.result(g.vertices());
    Ok(())
}
