// SPDX-License-Identifier: Apache-2.0
//! The part of `<sukima/capacity.h>` that this crate calls. A test compares the structures with the header.
use std::os::raw::{c_char, c_double, c_int};

/// `sukima_capacity_facts`
#[repr(C)]
pub struct Facts {
    pub usable: c_double,
    pub quota: c_double,
    pub weight: c_double,
    pub quota_period_us: u64,
    pub generation: u64,
    pub cap: u32,
    pub online: u32,
    pub affinity: u32,
    pub cpuset: u32,
    pub note_count: u32,
    pub ancestors_hidden: u32,
    pub binding: c_int,
}

/// `sukima_capacity_limit`
#[repr(C)]
pub struct Limit {
    pub kind: c_int,
    pub value: c_double,
    pub period_us: u64,
    pub level: u32,
    pub is_binding: u32,
    pub file: *const c_char,
    pub text: *const c_char,
    pub periods: u64,
    pub throttled_periods: u64,
}

/// `sukima_capacity_report`
#[repr(C)]
pub struct Report {
    pub facts: Facts,
    pub limit_count: usize,
    pub limits: *const Limit,
    pub note_count: usize,
    pub notes: *const Note,
    pub error: *const c_char,
}

/// `sukima_capacity_note`
#[repr(C)]
pub struct Note {
    pub file: *const c_char,
    pub text: *const c_char,
}

/// `sukima_capacity_estimate`
#[repr(C)]
pub struct Estimate {
    pub usable: c_double,
    pub low: c_double,
    pub high: c_double,
    pub threads: c_double,
    pub basis: c_int,
}

/// `sukima_capacity_options`; only its default is used, a null pointer.
pub enum Options {}

/// `sukima_capacity_policy`; only its default is used, a null pointer.
pub enum Policy {}

extern "C" {
    pub fn sukima_capacity_explain(options: *const Options) -> *mut Report;
    pub fn sukima_capacity_report_free(report: *mut Report);
    pub fn sukima_capacity_threads(cpus: c_double, policy: *const Policy) -> u32;
    pub fn sukima_capacity_estimate_once(
        options: *const Options,
        threads: c_double,
        seconds: c_double,
        estimate: *mut Estimate,
    ) -> c_int;
}
