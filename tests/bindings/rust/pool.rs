// A user's program with rayon's pool.
use rayon::prelude::*;

fn main() {
    sukima_capacity::size_rayon!().expect("the first use of the pool");
    let sum: u64 = (1..=1000u64).into_par_iter().sum();
    println!("pool {}\nsum {sum}", rayon::current_num_threads());
}
