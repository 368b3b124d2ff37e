// SPDX-License-Identifier: Apache-2.0
// A rayon program for the tests of `sukima run`.
use rayon::prelude::*;

fn main() {
    let sum: u64 = (1..=1_000_000u64).into_par_iter().sum();
    println!("threads {}\nresult {}", rayon::current_num_threads(), sum);
}
