// SPDX-License-Identifier: Apache-2.0
//! How many CPUs this process may use: the smallest of its affinity mask, its cpuset, and the CPU quotas of its control
//! group and of all visible groups above. `SUKIMA_CPUS` in the environment overrides them all.
//!
//! ```no_run
//! let threads = sukima_capacity::available_parallelism()?; // as std::thread::available_parallelism
//! println!("{threads} threads: {}", sukima_capacity::reason()?);
//! # Ok::<(), std::io::Error>(())
//! ```
#![warn(missing_docs)]

mod c;

use std::ffi::CStr;
use std::io::{Error, ErrorKind, Result};
use std::num::NonZeroUsize;
use std::os::raw::c_char;
use std::ptr;
use std::time::Duration;

/// A report of the C library, which is freed with it.
struct Report(ptr::NonNull<c::Report>);

impl Report {
    fn read() -> Result<Report> {
        // SAFETY: a null pointer stands for the default options.
        let pointer = unsafe { c::sukima_capacity_explain(ptr::null()) };
        let report = Report(ptr::NonNull::new(pointer).ok_or(ErrorKind::OutOfMemory)?);
        match report.get().error {
            error if error.is_null() => Ok(report),
            error => Err(Error::new(ErrorKind::InvalidInput, text(error))),
        }
    }

    fn get(&self) -> &c::Report {
        // SAFETY: the report does not change until it is freed.
        unsafe { self.0.as_ref() }
    }

    fn limits(&self) -> &[c::Limit] {
        let report = self.get();
        // SAFETY: a report has at least the limit of the online CPUs, so the pointer is not null.
        unsafe { std::slice::from_raw_parts(report.limits, report.limit_count) }
    }
}

impl Drop for Report {
    fn drop(&mut self) {
        // SAFETY: the pointer came from sukima_capacity_explain() and is freed once.
        unsafe { c::sukima_capacity_report_free(self.0.as_ptr()) }
    }
}

fn text(pointer: *const c_char) -> String {
    // SAFETY: texts of reports end with a zero, and are copied while the report exists.
    unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned()
}

/// CPU time a second that this process may use, in CPUs: a fraction such as 1.5 under a quota. Takes about 0.1 ms.
///
/// # Errors
/// `InvalidInput` with a sentence if `SUKIMA_CPUS` is not a number of CPUs.
pub fn usable_cpus() -> Result<f64> {
    Ok(Report::read()?.get().facts.usable)
}

/// The sentence that explains `usable_cpus()`, with the file that it comes from.
///
/// # Errors
/// As `usable_cpus`.
pub fn reason() -> Result<String> {
    let report = Report::read()?;
    let binding = report.limits().iter().find(|limit| limit.is_binding != 0);
    Ok(binding.map_or_else(String::new, |limit| format!("{} ({})", text(limit.text), text(limit.file))))
}

/// How many threads to start: `usable_cpus()`, rounded up, so that all of a quota is used.
///
/// # Errors
/// As `usable_cpus`.
pub fn available_parallelism() -> Result<NonZeroUsize> {
    Ok(threads_for(usable_cpus()?))
}

/// CPUs that the neighbours and the hypervisor leave to this process now. Measures for that long; half a second is good.
///
/// # Errors
/// As `usable_cpus`.
pub fn free_cpus(duration: Duration) -> Result<f64> {
    let mut estimate = c::Estimate { usable: 0.0, low: 0.0, high: 0.0, threads: 0.0, basis: 0 };
    // SAFETY: a null pointer stands for the default options, 0 for as many threads as may run at the same moment.
    let code = unsafe {
        c::sukima_capacity_estimate_once(ptr::null(), 0.0, duration.as_secs_f64(), &mut estimate)
    };
    match code {
        0 => Ok(estimate.usable),
        _ => Err(Report::read().err().unwrap_or_else(|| Error::from_raw_os_error(code))),
    }
}

/// A number of CPUs, such as `free_cpus`, as a number of threads: rounded up, at least one.
pub fn threads_for(cpus: f64) -> NonZeroUsize {
    // SAFETY: a null pointer stands for the default policy.
    let threads = unsafe { c::sukima_capacity_threads(cpus, ptr::null()) };
    NonZeroUsize::new(threads as usize).expect("at least one thread")
}

/// For a pool's builder that takes 0 as "your own choice", such as rayon's: 0 if the user has set this variable to a
/// number above 0, otherwise `available_parallelism()`. The builder ignores other values (an empty one, 0, a word), and
/// would then use all CPUs.
///
/// # Errors
/// As `usable_cpus`.
pub fn threads_unless_set(variable: &str) -> Result<usize> {
    let number = std::env::var(variable).ok().and_then(|text| text.parse::<usize>().ok());
    match number {
        Some(1..) => Ok(0),
        _ => Ok(available_parallelism()?.get()),
    }
}

/// Builds rayon's global pool with `available_parallelism()` threads, unless `RAYON_NUM_THREADS` is a number above 0.
/// Call it before the first use of the pool: rayon cannot change the size later. Gives
/// `Result<(), Box<dyn std::error::Error>>`.
#[macro_export]
macro_rules! size_rayon {
    () => {
        (|| -> ::std::result::Result<(), ::std::boxed::Box<dyn ::std::error::Error>> {
            let threads = $crate::threads_unless_set("RAYON_NUM_THREADS")?;
            ::rayon::ThreadPoolBuilder::new().num_threads(threads).build_global()?;
            Ok(())
        })()
    };
}
