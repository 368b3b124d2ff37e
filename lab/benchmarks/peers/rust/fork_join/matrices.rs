// SPDX-License-Identifier: Apache-2.0
//! matmul and lu, by recursive halving.

use sukima_bench_peers::harness::{bad, wrong, Error, Run};
use sukima_bench_peers::kernels::matrix::{
    cut, factorise_block, multiply_block, probe, relative_difference, six_digits, solve_lower_block, solve_upper_block,
    Matrix, View, BLOCK,
};

use crate::system::{join, region, Context};

/// c += SIGN · a · b.
fn multiply<const SIGN: i32>(here: &mut Context<'_>, c: View, a: View, b: View) {
    let (m, n, k) = (c.rows, c.columns, a.columns);
    if m == BLOCK && n == BLOCK && k == BLOCK {
        multiply_block::<SIGN>(c, a, b);
    } else if m >= n && m >= k {
        let h = cut(m);
        join(
            here,
            |below| multiply::<SIGN>(below, c.part(0, 0, h, n), a.part(0, 0, h, k), b),
            |below| multiply::<SIGN>(below, c.part(h, 0, m - h, n), a.part(h, 0, m - h, k), b),
        );
    } else if n >= k {
        let h = cut(n);
        join(
            here,
            |below| multiply::<SIGN>(below, c.part(0, 0, m, h), a, b.part(0, 0, k, h)),
            |below| multiply::<SIGN>(below, c.part(0, h, m, n - h), a, b.part(0, h, k, n - h)),
        );
    } else {
        let h = cut(k);
        multiply::<SIGN>(here, c, a.part(0, 0, m, h), b.part(0, 0, h, n));
        multiply::<SIGN>(here, c, a.part(0, h, m, k - h), b.part(h, 0, k - h, n));
    }
}

/// b := L⁻¹ · b.
fn solve_lower(here: &mut Context<'_>, l: View, b: View) {
    let (n, m) = (l.rows, b.columns);
    if m > BLOCK {
        let h = cut(m);
        join(
            here,
            |below| solve_lower(below, l, b.part(0, 0, n, h)),
            |below| solve_lower(below, l, b.part(0, h, n, m - h)),
        );
    } else if n > BLOCK {
        let h = cut(n);
        let (top, bottom) = (b.part(0, 0, h, m), b.part(h, 0, n - h, m));
        solve_lower(here, l.part(0, 0, h, h), top);
        multiply::<-1>(here, bottom, l.part(h, 0, n - h, h), top);
        solve_lower(here, l.part(h, h, n - h, n - h), bottom);
    } else {
        solve_lower_block(l, b);
    }
}

/// b := b · U⁻¹.
fn solve_upper(here: &mut Context<'_>, u: View, b: View) {
    let (n, m) = (u.rows, b.rows);
    if m > BLOCK {
        let h = cut(m);
        join(
            here,
            |below| solve_upper(below, u, b.part(0, 0, h, n)),
            |below| solve_upper(below, u, b.part(h, 0, m - h, n)),
        );
    } else if n > BLOCK {
        let h = cut(n);
        let (left, right) = (b.part(0, 0, m, h), b.part(0, h, m, n - h));
        solve_upper(here, u.part(0, 0, h, h), left);
        multiply::<-1>(here, right, left, u.part(0, h, h, n - h));
        solve_upper(here, u.part(h, h, n - h, n - h), right);
    } else {
        solve_upper_block(u, b);
    }
}

fn factorise(here: &mut Context<'_>, a: View) {
    let n = a.rows;
    if n == BLOCK {
        return factorise_block(a);
    }
    let h = cut(n);
    let (top_left, top_right) = (a.part(0, 0, h, h), a.part(0, h, h, n - h));
    let (bottom_left, bottom_right) = (a.part(h, 0, n - h, h), a.part(h, h, n - h, n - h));
    factorise(here, top_left);
    join(here, |below| solve_lower(below, top_left, top_right), |below| solve_upper(below, top_left, bottom_left));
    multiply::<-1>(here, bottom_right, bottom_left, top_right);
    factorise(here, bottom_right);
}

fn matrix_size(run: &Run) -> Result<usize, Error> {
    let n = run.size_between(64, 16384)? as usize;
    if n % BLOCK == 0 {
        Ok(n)
    } else {
        Err(bad("the size must be a multiple of 64"))
    }
}

pub fn matmul(run: &mut Run) -> Result<(), Error> {
    let n = matrix_size(run)?;
    let (mut a, mut b, mut c) = (Matrix::random(n, 1, 0.0), Matrix::random(n, 2, 0.0), Matrix::zero(n));
    let (to, left, right) = (c.all(), a.all(), b.all());
    run.time(|| region(|top| multiply::<1>(top, to, left, right)));
    let x = probe(n);
    let difference = relative_difference(&a.times(&b.times(&x)), &c.times(&x));
    if difference.is_nan() || difference >= 1e-10 {
        return Err(wrong("the product is wrong"));
    }
    run.result(six_digits(c.at(n / 3, n / 2)));
    Ok(())
}

pub fn lu(run: &mut Run) -> Result<(), Error> {
    let n = matrix_size(run)?;
    let mut a = Matrix::random(n, 3, n as f64);
    let x = probe(n);
    let expected = a.times(&x);
    let all = a.all();
    run.time(|| region(|c| factorise(c, all)));
    let difference = relative_difference(&expected, &a.product_of_factors(&x));
    if difference.is_nan() || difference >= 1e-10 {
        return Err(wrong("the factors' product is not the matrix"));
    }
    run.result(six_digits(a.at(n - 1, n - 1)));
    Ok(())
}
