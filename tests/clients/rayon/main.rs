// SPDX-License-Identifier: Apache-2.0
// A rayon program for the tests of `sukima run`. With a number it does so many pieces of work, for
// lab/scripts/run-table.py.
use rayon::prelude::*;

/// Half a millisecond of work.
fn piece(seed: u64) -> u64 {
    (0..200_000).fold(seed * 2 + 1, |mut x, _| {
        x ^= x << 13;
        x ^= x >> 7;
        x ^ (x << 17)
    })
}

fn main() {
    if let Some(pieces) = std::env::args().nth(1) {
        let pieces: u64 = pieces.parse().expect("a number of pieces");
        let sum = (0..pieces).into_par_iter().map(piece).reduce(|| 0, u64::wrapping_add);
        println!("result {sum}");
        return;
    }
    let sum: u64 = (1..=1_000_000u64).into_par_iter().sum();
    println!("threads {}\nresult {}", rayon::current_num_threads(), sum);
}
