// SPDX-License-Identifier: Apache-2.0
//! The random graph of spantree, as lab/benchmarks/kernels/spantree.hpp.

use std::sync::atomic::{AtomicU32, Ordering};

use super::random::RandomNumbers;

pub const NO_VERTEX: u32 = !0;
pub const SPANTREE_SHARE: usize = 256;

pub struct Graph {
    first: Vec<u32>,
    neighbours: Vec<u32>,
}

impl Graph {
    pub fn new(n: usize) -> Self {
        const EDGES_EACH: usize = 4;
        let mut random = RandomNumbers::new(6);
        let mut to = vec![0u32; n * EDGES_EACH];
        for v in 0..n {
            for e in 0..EDGES_EACH {
                to[v * EDGES_EACH + e] = random.below(if e == 0 && v > 0 { v } else { n } as u64);
            }
        }
        let mut first = vec![0u32; n + 1];
        for v in 0..n {
            for e in 0..EDGES_EACH {
                first[v] += 1;
                first[to[v * EDGES_EACH + e] as usize] += 1;
            }
        }
        let mut sum = 0;
        for f in &mut first {
            sum += std::mem::replace(f, sum);
        }
        let mut next = first[..n].to_vec();
        let mut neighbours = vec![0; sum as usize];
        let mut add = |from: usize, to: u32| {
            neighbours[next[from] as usize] = to;
            next[from] += 1;
        };
        for v in 0..n {
            for e in 0..EDGES_EACH {
                let u = to[v * EDGES_EACH + e];
                add(v, u);
                add(u as usize, v as u32);
            }
        }
        Self { first, neighbours }
    }

    pub fn vertices(&self) -> usize {
        self.first.len() - 1
    }

    pub fn neighbours(&self, v: u32) -> &[u32] {
        &self.neighbours[self.first[v as usize] as usize..self.first[v as usize + 1] as usize]
    }

    /// What is wrong with a spanning tree with root 0.
    pub fn fault(&self, parent: &[AtomicU32]) -> Option<String> {
        let of = |v: u32| parent[v as usize].load(Ordering::Relaxed);
        if of(0) != 0 {
            return Some("the root is not its own parent".into());
        }
        let mut reaches_root = vec![false; self.vertices()];
        reaches_root[0] = true;
        let mut path = Vec::new();
        for v in 0..self.vertices() as u32 {
            path.clear();
            let mut u = v;
            while !reaches_root[u as usize] {
                if of(u) == NO_VERTEX {
                    return Some(format!("vertex {u} has no parent"));
                }
                if path.len() == self.vertices() {
                    return Some(format!("vertex {v} is on a circle"));
                }
                if !self.neighbours(u).contains(&of(u)) {
                    return Some(format!("the parent of vertex {u} is not a neighbour of it"));
                }
                path.push(u);
                u = of(u);
            }
            for &u in &path {
                reaches_root[u as usize] = true;
            }
        }
        None
    }
}
