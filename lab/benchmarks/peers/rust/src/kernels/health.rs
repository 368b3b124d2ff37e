// SPDX-License-Identifier: Apache-2.0
//! Patients in a tree of villages, as lab/benchmarks/kernels/health.hpp.

use super::random::RandomNumbers;

pub const HEALTH_STEPS: usize = 730;
pub const MOST_LEVELS: i64 = 8;
const VILLAGES_BELOW: u64 = 6;
const ASSESSMENT_STEPS: i32 = 3;
const TREATMENT_STEPS: i32 = 10;
// Of a thousand: healthy people who fall ill, patients who are sent on, and patients who need a treatment.
const FALLS_ILL: u32 = 10;
const IS_SENT: u32 = 300;
const IS_TREATED: u32 = 500;

#[derive(Clone, Copy, Default)]
struct Patient {
    left: i32,
    steps: i32,
    hospitals: i32,
}

/// Patients who fell ill, were healed, were sent on; their steps and hospitals.
pub type Counts = [u64; 5];

pub struct Village {
    random: RandomNumbers,
    level: i32,
    people: i32,
    free_staff: i32,
    pub below: Vec<Village>,
    waiting: Vec<Patient>,
    assessed: Vec<Patient>,
    treated: Vec<Patient>,
    /// To the village above, which takes them in its step.
    sent: Vec<Patient>,
    counts: Counts,
}

impl Village {
    /// Level 0 is the whole country.
    pub fn new(level: i32, levels: i32, number: u64) -> Self {
        let size = 1 << (levels - 1 - level);
        let below = if level + 1 == levels {
            Vec::new()
        } else {
            (0..VILLAGES_BELOW).map(|i| Self::new(level + 1, levels, number * VILLAGES_BELOW + i)).collect()
        };
        Self {
            random: RandomNumbers::new(((level as u64) << 32) + number),
            level,
            people: 8 * size,
            free_staff: 2 * size,
            below,
            waiting: Vec::new(),
            assessed: Vec::new(),
            treated: Vec::new(),
            sent: Vec::new(),
            counts: [0; 5],
        }
    }

    /// One step of this village alone, after those of the villages below it.
    pub fn treat(&mut self) {
        for i in 0..self.below.len() {
            let mut sent = std::mem::take(&mut self.below[i].sent);
            sent.drain(..).for_each(|p| self.arrive(p));
            self.below[i].sent = sent;
        }
        self.end_treatments();
        self.end_assessments();
        self.assess_waiting();
        for _ in 0..self.people {
            if self.random.below(1000) < FALLS_ILL {
                self.counts[0] += 1;
                self.arrive(Patient::default());
            }
        }
    }

    /// One step of this village and of all below it.
    pub fn step_plainly(&mut self) {
        self.below.iter_mut().for_each(Village::step_plainly);
        self.treat();
    }

    pub fn counts(&self) -> Counts {
        let mut sum = self.counts;
        for v in &self.below {
            sum.iter_mut().zip(v.counts()).for_each(|(s, c)| *s += c);
        }
        sum
    }

    fn arrive(&mut self, mut p: Patient) {
        p.hospitals += 1;
        if self.free_staff == 0 {
            return self.waiting.push(p);
        }
        self.free_staff -= 1;
        p.left = ASSESSMENT_STEPS;
        self.assessed.push(p);
    }

    fn heal(&mut self, p: Patient) {
        self.free_staff += 1;
        self.counts[1] += 1;
        self.counts[3] += p.steps as u64;
        self.counts[4] += p.hospitals as u64;
    }

    fn end_treatments(&mut self) {
        let mut list = std::mem::take(&mut self.treated);
        list.retain_mut(|p| {
            p.steps += 1;
            p.left -= 1;
            if p.left <= 0 {
                self.heal(*p);
            }
            p.left > 0
        });
        self.treated = list;
    }

    fn end_assessments(&mut self) {
        let mut list = std::mem::take(&mut self.assessed);
        list.retain_mut(|p| {
            p.steps += 1;
            p.left -= 1;
            if p.left > 0 {
                return true;
            }
            if self.level > 0 && self.random.below(1000) < IS_SENT {
                self.free_staff += 1;
                self.counts[2] += 1;
                self.sent.push(*p);
            } else if self.random.below(1000) < IS_TREATED {
                self.treated.push(Patient { left: TREATMENT_STEPS, ..*p });
            } else {
                self.heal(*p);
            }
            false
        });
        self.assessed = list;
    }

    fn assess_waiting(&mut self) {
        let count = self.waiting.len().min(self.free_staff as usize);
        self.free_staff -= count as i32;
        self.assessed.extend(self.waiting.drain(..count).map(|p| Patient { left: ASSESSMENT_STEPS, ..p }));
        self.waiting.iter_mut().for_each(|p| p.steps += 1);
    }
}
