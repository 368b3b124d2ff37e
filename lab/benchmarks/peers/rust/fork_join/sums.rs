// SPDX-License-Identifier: Apache-2.0
//! Adding up over choices with nothing but join.

use std::ops::AddAssign;

use sukima_bench_peers::kernels::queens::set_bits;

use crate::system::{join, Context};

/// The most choices that are gathered on the stack; longer ranges are halved first.
const FEW: usize = 160;

/// Adds up f(i) for the i in [first, last) that `admissible` admits, in parallel.
pub fn sum_by_join<T, A, F>(c: &mut Context<'_>, first: i32, last: i32, admissible: &A, f: &F) -> T
where
    T: Send + Default + AddAssign,
    A: Fn(i32) -> bool + Sync,
    F: Fn(&mut Context<'_>, i32) -> T + Sync,
{
    if (last - first) as usize > FEW {
        let middle = first + (last - first) / 2;
        let (mut a, b) =
            join(c, |c| sum_by_join(c, first, middle, admissible, f), |c| sum_by_join(c, middle, last, admissible, f));
        a += b;
        return a;
    }
    let mut choices = [0u8; FEW];
    let mut count = 0;
    for i in 0..(last - first) as u8 {
        choices[count] = i;
        count += usize::from(admissible(first + i32::from(i)));
    }
    halves(c, &choices[..count], &|c: &mut Context<'_>, i| f(c, first + i32::from(i)))
}

/// Calls f(i) for each i in [first, last), in parallel.
pub fn each<F>(c: &mut Context<'_>, first: usize, last: usize, f: &F)
where
    F: Fn(&mut Context<'_>, usize) + Sync,
{
    match last - first {
        0 => {}
        1 => f(c, first),
        n => {
            let middle = first + n / 2;
            join(c, |c| each(c, first, middle, f), |c| each(c, middle, last, f));
        }
    }
}

/// Calls f for each item, in parallel.
pub fn each_of<T, F>(c: &mut Context<'_>, items: &mut [T], f: &F)
where
    T: Send,
    F: Fn(&mut Context<'_>, &mut T) + Sync,
{
    match items {
        [] => {}
        [only] => f(c, only),
        _ => {
            let (left, right) = items.split_at_mut(items.len() / 2);
            join(c, |c| each_of(c, left, f), |c| each_of(c, right, f));
        }
    }
}

/// Adds up f of each bit that is set.
pub fn sum_of_bits<T, F>(c: &mut Context<'_>, bits: u32, f: &F) -> T
where
    T: Send + Default + AddAssign,
    F: Fn(&mut Context<'_>, u32) -> T + Sync,
{
    let mut choices = [0; 32];
    let mut count = 0;
    for bit in set_bits(bits) {
        choices[count] = bit;
        count += 1;
    }
    halves(c, &choices[..count], f)
}

/// Adds up f of the choices.
fn halves<T, C, F>(c: &mut Context<'_>, choices: &[C], f: &F) -> T
where
    T: Send + Default + AddAssign,
    C: Copy + Sync,
    F: Fn(&mut Context<'_>, C) -> T + Sync,
{
    match choices {
        [] => T::default(),
        &[only] => f(c, only),
        _ => {
            let (left, right) = choices.split_at(choices.len() / 2);
            let (mut a, b) = join(c, |c| halves(c, left, f), |c| halves(c, right, f));
            a += b;
            a
        }
    }
}
