// SPDX-License-Identifier: Apache-2.0
//! main of the programs: arguments, repetitions, checks, one JSON line for each repetition; see lab/benchmarks/README.md.

use std::process::{Command, ExitCode};
use std::time::Instant;

use lexopt::prelude::*;
use serde_json::{json, Value};

const SIZES: &str = include_str!("../../../kernels/sizes.json");

/// Benchmarks run on an ordinary thread with room for deep recursions.
const STACK_BYTES: usize = 1 << 30;

/// Address space for the stacks of workers: some runtimes nest stolen jobs without a bound.
const WORKER_STACK_BYTES: usize = 1 << 28;

/// CPU seconds (user and system, all threads) that this process has used.
pub fn process_cpu_seconds() -> f64 {
    // SAFETY: a rusage of zeros is valid, and a valid place for the answer.
    let used = unsafe {
        let mut used: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &mut used);
        used
    };
    let seconds = |t: libc::timeval| t.tv_sec as f64 + t.tv_usec as f64 * 1e-6;
    seconds(used.ru_utime) + seconds(used.ru_stime)
}

/// Seconds of the monotonic clock, which all processes share.
fn monotonic_seconds() -> f64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the place for the answer is valid, and the clock exists.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut now) };
    now.tv_sec as f64 + now.tv_nsec as f64 * 1e-9
}

pub enum Error {
    WrongResult(String),
    BadArgument(String),
}

pub fn wrong(message: impl Into<String>) -> Error {
    Error::WrongResult(message.into())
}

pub fn bad(message: impl Into<String>) -> Error {
    Error::BadArgument(message.into())
}

/// One repetition: what is asked for, and what was measured.
pub struct Run {
    pub size: i64,
    pub workers: usize,
    /// In a tuned program: how many levels of the search fork.
    pub depth: i32,
    pub seconds: f64,
    pub cpu_seconds: f64,
    /// When the measured part began, by the monotonic clock.
    started: f64,
    result: String,
    fields: Vec<(&'static str, f64)>,
}

impl Run {
    pub fn new(size: i64, workers: usize) -> Self {
        Self {
            size,
            workers,
            depth: 0,
            seconds: 0.0,
            cpu_seconds: 0.0,
            started: monotonic_seconds(),
            result: String::new(),
            fields: Vec::new(),
        }
    }

    pub fn size_between(&self, least: i64, most: i64) -> Result<i64, Error> {
        if (least..=most).contains(&self.size) {
            return Ok(self.size);
        }
        Err(bad(format!("size {} is out of range: use --size {least} to {most}", self.size)))
    }

    /// Says that the measured part begins now; `time` does so itself.
    pub fn started_now(&mut self) {
        self.started = monotonic_seconds();
    }

    /// Calls the region and records its wall-clock and CPU time.
    pub fn time<R>(&mut self, region: impl FnOnce() -> R) -> R {
        let cpu = process_cpu_seconds();
        self.started = monotonic_seconds();
        let start = Instant::now();
        let result = region();
        self.seconds = start.elapsed().as_secs_f64();
        self.cpu_seconds = process_cpu_seconds() - cpu;
        result
    }

    /// Times batches of calls and records the median batch's seconds for one call.
    pub fn time_median(&mut self, calls: usize, batch: usize, mut one: impl FnMut()) {
        let cpu = process_cpu_seconds();
        let seconds = (0..calls.div_ceil(batch)).map(|_| {
            let start = Instant::now();
            for _ in 0..batch {
                one();
            }
            start.elapsed().as_secs_f64() / batch as f64
        });
        self.seconds = quantile(seconds.collect(), 0.5);
        self.cpu_seconds = process_cpu_seconds() - cpu;
    }

    pub fn result(&mut self, result: impl ToString) {
        self.result = result.to_string();
    }

    pub fn field(&mut self, name: &'static str, value: f64) {
        self.fields.push((name, value));
    }
}

/// The q-quantile (nearest rank) of the values.
pub fn quantile(mut values: Vec<f64>, q: f64) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values[(q * (values.len() - 1) as f64).round() as usize]
}

pub type Measure = fn(&mut Run) -> Result<(), Error>;

pub struct Benchmark {
    pub name: &'static str,
    pub measure: Measure,
    /// The tuned program, with a cut-off depth.
    pub tuned: Option<Measure>,
    /// Every repetition has a fresh process in which nothing was started.
    pub cold: bool,
}

pub const fn warm(name: &'static str, measure: Measure) -> Benchmark {
    Benchmark { name, measure, tuned: None, cold: false }
}

/// A search that also has a tuned program, which is measured if there is a --depth.
pub const fn search(name: &'static str, measure: Measure, tuned: Measure) -> Benchmark {
    Benchmark { name, measure, tuned: Some(tuned), cold: false }
}

pub const fn cold(name: &'static str, measure: Measure) -> Benchmark {
    Benchmark { name, measure, tuned: None, cold: true }
}

/// The description of a program's system.
pub struct System {
    pub name: &'static str,
    /// Starts the system with that many workers, for the rest of the process.
    pub start: fn(usize),
    /// A little parallel work, so that all threads exist.
    pub warm_up: fn(),
    pub benchmarks: Vec<Benchmark>,
}

struct Options {
    name: String,
    size: Option<i64>,
    workers: usize,
    repetitions: i64,
    depth: Option<i32>,
    started: bool,
}

enum Request {
    List,
    Help,
    Measure(Options),
}

fn number(arguments: &mut lexopt::Parser, option: &str, least: i64, most: i64) -> Result<i64, lexopt::Error> {
    let text = arguments.value()?.string()?;
    match text.parse() {
        Ok(number) if (least..=most).contains(&number) => Ok(number),
        _ => Err(format!("{option} is '{text}', but must be {least} to {most}").into()),
    }
}

fn parse() -> Result<Request, lexopt::Error> {
    let mut o = Options { name: String::new(), size: None, workers: 1, repetitions: 1, depth: None, started: false };
    let mut arguments = lexopt::Parser::from_env();
    while let Some(argument) = arguments.next()? {
        match argument {
            Value(name) if o.name.is_empty() => o.name = name.string()?,
            Long("size") => o.size = Some(number(&mut arguments, "--size", 0, i64::from(u32::MAX))?),
            Long("workers") => o.workers = number(&mut arguments, "--workers", 1, 4096)? as usize,
            Long("repetitions") => o.repetitions = number(&mut arguments, "--repetitions", 1, 1_000_000)?,
            Long("depth") => o.depth = Some(number(&mut arguments, "--depth", 0, 1_000_000)? as i32),
            Long("started") => o.started = true,
            Long("list") => return Ok(Request::List),
            Long("help") | Short('h') => return Ok(Request::Help),
            _ => return Err(argument.unexpected()),
        }
    }
    Ok(Request::Measure(o))
}

fn line(o: &Options, run: &Run) -> String {
    let mut line = json!({"benchmark": o.name, "size": run.size, "seconds": run.seconds,
                          "cpu_seconds": run.cpu_seconds, "result": run.result});
    if o.started {
        line["started"] = json!(run.started);
    }
    for &(name, value) in &run.fields {
        line[name] = if value.fract() == 0.0 { json!(value as i64) } else { json!(value) };
    }
    line.to_string()
}

fn repeat(o: &Options, measure: Measure, size: i64, known: &Value) -> Result<(), Error> {
    for _ in 0..o.repetitions {
        let mut run = Run::new(size, o.workers);
        run.depth = o.depth.unwrap_or(0);
        measure(&mut run)?;
        if let Some(expected) = known["results"][size.to_string()].as_str() {
            if run.result != expected {
                return Err(wrong(format!("wrong result {}, expected {expected} for size {size}", run.result)));
            }
        }
        println!("{}", line(o, &run));
    }
    Ok(())
}

fn repeat_in_fresh_processes(o: &Options) -> ExitCode {
    let program = std::env::current_exe().expect("the program's path is known");
    for _ in 0..o.repetitions {
        let mut once = Command::new(&program);
        once.args([&o.name, "--workers", &o.workers.to_string(), "--repetitions", "1"]);
        if o.started {
            once.arg("--started");
        }
        if let Some(size) = o.size {
            once.args(["--size", &size.to_string()]);
        }
        match once.status() {
            Ok(status) if status.success() => (),
            Ok(status) => return ExitCode::from(status.code().map_or(1, |code| code as u8)),
            Err(error) => {
                eprintln!("cannot start {}: {error}", program.display());
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}

fn measure(system: &System, o: &Options) -> ExitCode {
    let program = format!("bench-{}", system.name);
    let Some(benchmark) = system.benchmarks.iter().find(|b| b.name == o.name) else {
        let names: Vec<_> = system.benchmarks.iter().map(|b| b.name).collect();
        let problem =
            if o.name.is_empty() { "no benchmark named".into() } else { format!("unknown benchmark '{}'", o.name) };
        eprintln!("{program}: {problem}; known are: {}", names.join(" "));
        return ExitCode::from(2);
    };
    if benchmark.cold && o.repetitions > 1 {
        return repeat_in_fresh_processes(o);
    }
    let Some(chosen) = (if o.depth.is_some() { benchmark.tuned } else { Some(benchmark.measure) }) else {
        eprintln!("{program}: {} has no tuned program: leave --depth out", o.name);
        return ExitCode::from(2);
    };
    let table: Value = serde_json::from_str(SIZES).expect("sizes.json is valid");
    let known = &table[&o.name];
    let size = o.size.unwrap_or_else(|| known["default"].as_i64().expect("every benchmark has a default size"));
    if !benchmark.cold {
        (system.start)(o.workers);
        (system.warm_up)();
    }
    match repeat(o, chosen, size, known) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Error::WrongResult(message)) => {
            eprintln!("{program}: {}: {message}", o.name);
            ExitCode::FAILURE
        }
        Err(Error::BadArgument(message)) => {
            eprintln!("{program}: {}: {message}", o.name);
            ExitCode::from(2)
        }
    }
}

pub fn main(system: System) -> ExitCode {
    // The only way to set it for chili and forte. No other thread runs yet, and the standard library has not read it.
    std::env::set_var("RUST_MIN_STACK", WORKER_STACK_BYTES.to_string());
    match parse() {
        Ok(Request::List) => {
            system.benchmarks.iter().for_each(|b| println!("{}", b.name));
            ExitCode::SUCCESS
        }
        Ok(Request::Help) => {
            println!(
                "bench-{} NAME [--size N] [--workers W] [--repetitions R] [--depth D] [--started]\nbench-{0} --list",
                system.name
            );
            ExitCode::SUCCESS
        }
        Ok(Request::Measure(o)) => std::thread::Builder::new()
            .stack_size(STACK_BYTES)
            .spawn(move || measure(&system, &o))
            .expect("a thread can be started")
            .join()
            .unwrap_or(ExitCode::FAILURE),
        Err(error) => {
            eprintln!("bench-{}: {error}; --help shows the options", system.name);
            ExitCode::from(2)
        }
    }
}
