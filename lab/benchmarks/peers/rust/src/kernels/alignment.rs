// SPDX-License-Identifier: Apache-2.0
//! Scores of alignments of all pairs of protein sequences, as lab/benchmarks/kernels/alignment.hpp.

use super::random::RandomNumbers;

pub const MOST_SEQUENCES: i64 = 2000;
const ACIDS: usize = 20;
const LEAST_LENGTH: u64 = 60;
const MOST_LENGTH: usize = 260;
const OPENING: i32 = 10;
const EXTENSION: i32 = 1;

pub struct AlignmentProblem {
    sequences: Vec<Vec<u8>>,
    acid_score: [[i32; ACIDS]; ACIDS],
}

impl AlignmentProblem {
    pub fn new(sequences: usize) -> Self {
        let mut random = RandomNumbers::new(14);
        let mut acid_score = [[0; ACIDS]; ACIDS];
        for a in 0..ACIDS {
            for b in 0..=a {
                let score = if a == b { 4 + random.below(8) as i32 } else { random.below(6) as i32 - 4 };
                acid_score[a][b] = score;
                acid_score[b][a] = score;
            }
        }
        let sequences = (0..sequences)
            .map(|_| {
                let length = LEAST_LENGTH + u64::from(random.below(MOST_LENGTH as u64 - LEAST_LENGTH));
                (0..length).map(|_| random.below(ACIDS as u64) as u8).collect()
            })
            .collect();
        Self { sequences, acid_score }
    }

    /// The score of the best alignment of two sequences, row by row. A gap of n acids costs OPENING + n · EXTENSION.
    pub fn score(&self, i: usize, j: usize) -> i32 {
        let (a, b) = (&self.sequences[i], &self.sequences[j]);
        // Of a's acids up to now with the first ones of b; the best one, and the best one that ends in a gap.
        let mut best = [(0, 0); MOST_LENGTH + 1];
        for (j, best) in best[..=b.len()].iter_mut().enumerate().skip(1) {
            best.0 = -OPENING - j as i32 * EXTENSION;
            best.1 = best.0 - OPENING;
        }
        for (i, &acid) in a.iter().enumerate() {
            let scores = &self.acid_score[acid as usize];
            let mut diagonal = best[0].0;
            best[0].0 = -OPENING - (i as i32 + 1) * EXTENSION;
            let mut left = best[0].0;
            let mut left_in_gap = left - OPENING;
            for (best, &other) in best[1..].iter_mut().zip(b) {
                left_in_gap = left_in_gap.max(left - OPENING) - EXTENSION;
                best.1 = best.1.max(best.0 - OPENING) - EXTENSION;
                left = (diagonal + scores[other as usize]).max(left_in_gap).max(best.1);
                diagonal = best.0;
                best.0 = left;
            }
        }
        best[b.len()].0
    }

    /// Depends on each score and on its place. `scores` has a row for each sequence.
    pub fn result(&self, scores: &[i32]) -> String {
        let n = self.sequences.len();
        let (mut sum, mut hash) = (0i64, 0u64);
        for (i, row) in scores.chunks_exact(n).enumerate() {
            for &score in &row[i + 1..] {
                sum += i64::from(score);
                hash = hash.wrapping_mul(31).wrapping_add(score as u64);
            }
        }
        format!("{sum} {hash}")
    }
}
