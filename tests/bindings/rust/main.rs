// A user's program: the number with its reason.
fn main() {
    let usable = sukima_capacity::usable_cpus().unwrap_or_else(|error| {
        eprintln!("{error}");
        std::process::exit(2);
    });
    let threads = sukima_capacity::available_parallelism().expect("as before");
    let free = sukima_capacity::free_cpus(std::time::Duration::from_millis(250)).expect("as before");
    let asked = sukima_capacity::threads_unless_set("RAYON_NUM_THREADS").expect("as before");
    println!("usable {usable}\nthreads {threads}\nasked {asked}\nfree {free}");
    println!("reason {}", sukima_capacity::reason().expect("as before"));
}
