// SPDX-License-Identifier: Apache-2.0
//! A minimum spanning forest by Borůvka's method, as lab/benchmarks/kernels/forest.hpp.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use super::random::RandomNumbers;

const PIECE: usize = 4096;
const NO_KEY: u64 = !0;
const LIGHT_EDGES: f64 = 1.25;

#[derive(Clone, Copy)]
struct Edge {
    /// The weight, and below it the edge's number, so that no two are equal.
    key: u64,
    a: u32,
    b: u32,
}

/// Some of the edges. The heavy ones wait.
pub struct Piece {
    edges: Vec<Edge>,
    heavy: Vec<Edge>,
    taken: u64,
    weight: u64,
}

/// What all pieces share. Relaxed, because the end of each loop orders what the next one needs.
pub struct Components {
    parent: Vec<AtomicU32>,
    /// Each root's lightest edge.
    lightest: Vec<AtomicU64>,
    /// Heavy edges are not below it.
    pivot: u64,
}

pub fn forest_problem(n: usize) -> (Components, Vec<Piece>) {
    let mut random = RandomNumbers::new(15);
    let edges: Vec<Edge> = (0..4 * n)
        .map(|i| {
            let weight = u64::from(random.below(1 << 32));
            Edge { key: (weight << 32) + i as u64, a: random.below(n as u64), b: random.below(n as u64) }
        })
        .collect();
    let mut keys: Vec<u64> = edges.iter().step_by(edges.len() / 1000 + 1).map(|e| e.key).collect();
    let place = (LIGHT_EDGES * n as f64 / edges.len() as f64 * keys.len() as f64) as usize;
    let pivot = *keys.select_nth_unstable(place).1;
    let pieces = edges
        .chunks(PIECE)
        .map(|part| Piece { edges: part.to_vec(), heavy: Vec::new(), taken: 0, weight: 0 })
        .collect();
    let components = Components {
        parent: (0..n as u32).map(AtomicU32::new).collect(),
        lightest: (0..n).map(|_| AtomicU64::new(NO_KEY)).collect(),
        pivot,
    };
    (components, pieces)
}

impl Components {
    fn root(&self, mut v: u32) -> u32 {
        loop {
            let up = self.parent[v as usize].load(Relaxed);
            if up == v {
                return v;
            }
            let next = self.parent[up as usize].load(Relaxed);
            if next == up {
                return up;
            }
            self.parent[v as usize].store(next, Relaxed);
            v = next;
        }
    }

    fn lightest(&self, v: u32) -> &AtomicU64 {
        &self.lightest[v as usize]
    }

    fn offer(&self, v: u32, key: u64) {
        if key < self.lightest(v).load(Relaxed) {
            self.lightest(v).fetch_min(key, Relaxed);
        }
    }
}

impl Piece {
    pub fn divide(&mut self, all: &Components) {
        (self.edges, self.heavy) = self.edges.iter().copied().partition(|e| e.key < all.pivot);
    }

    /// Drops edges within a component.
    pub fn join(&mut self, all: &Components) {
        self.edges.retain_mut(|e| {
            (e.a, e.b) = (all.root(e.a), all.root(e.b));
            if e.a == e.b {
                return false;
            }
            all.lightest(e.a).store(NO_KEY, Relaxed);
            all.lightest(e.b).store(NO_KEY, Relaxed);
            true
        });
    }

    pub fn find_lightest(&self, all: &Components) {
        for e in &self.edges {
            all.offer(e.a, e.key);
            all.offer(e.b, e.key);
        }
    }

    /// Takes the edges that are the lightest ones of a component.
    pub fn hang(&mut self, all: &Components) {
        for e in &self.edges {
            let of_a = all.lightest(e.a).load(Relaxed) == e.key;
            let of_b = all.lightest(e.b).load(Relaxed) == e.key;
            if !of_a && !of_b {
                continue;
            }
            self.taken += 1;
            self.weight += e.key >> 32;
            let (from, to) = if of_a && !(of_b && e.a < e.b) { (e.a, e.b) } else { (e.b, e.a) };
            all.parent[from as usize].store(to, Relaxed);
        }
    }
}

pub fn edges_are_left(pieces: &[Piece]) -> bool {
    pieces.iter().any(|p| !p.edges.is_empty())
}

/// Returns false if there are none any more.
pub fn add_heavy(pieces: &mut [Piece]) -> bool {
    pieces.iter_mut().for_each(|p| p.edges = std::mem::take(&mut p.heavy));
    edges_are_left(pieces)
}

/// The number of edges and their weight, if they are a forest.
pub fn result(all: &Components, pieces: &[Piece]) -> Option<String> {
    let taken: u64 = pieces.iter().map(|p| p.taken).sum();
    let weight: u64 = pieces.iter().map(|p| p.weight).sum();
    let vertices = all.parent.len() as u32;
    let roots = (0..vertices).filter(|&v| all.root(v) == v).count() as u64;
    (taken + roots == u64::from(vertices)).then(|| format!("{taken} {weight}"))
}
