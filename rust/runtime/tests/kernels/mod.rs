//! Kernels and layouts for tests and benchmarks of the runtime, each of which uses some of them.

#![allow(dead_code)]

use std::ffi::c_char;

/// `out = a + b`, everything moving along the inner dimension.
pub unsafe extern "C" fn add(
    ptr: *const *mut c_char,
    n_outer: i64,
    n_inner: i64,
    stride: *const i64,
) -> i32 {
    for i in 0..n_outer {
        // SAFETY: the runtime gives two operands and a result of this many rows.
        unsafe {
            let row = |k: usize| (*ptr.add(k)).offset((i * *stride.add(k)) as isize).cast::<f64>();
            for j in 0..n_inner as usize {
                *row(2).add(j) = *row(0).add(j) + *row(1).add(j);
            }
        }
    }
    0
}

/// `out += a`, reduced over the inner dimension.
pub unsafe extern "C" fn sum(
    ptr: *const *mut c_char,
    n_outer: i64,
    n_inner: i64,
    stride: *const i64,
) -> i32 {
    for i in 0..n_outer {
        // SAFETY: the runtime gives an operand of this many rows and one result a row.
        unsafe {
            let row = |k: usize| (*ptr.add(k)).offset((i * *stride.add(k)) as isize).cast::<f64>();
            *row(1) += (0..n_inner as usize).map(|j| *row(0).add(j)).sum::<f64>();
        }
    }
    0
}

/// `out = a + a`, both moving.
pub unsafe extern "C" fn twice(
    ptr: *const *mut c_char,
    n_outer: i64,
    n_inner: i64,
    stride: *const i64,
) -> i32 {
    for i in 0..n_outer {
        // SAFETY: the runtime gives an operand and a result of this many rows.
        unsafe {
            let row = |k: usize| (*ptr.add(k)).offset((i * *stride.add(k)) as isize).cast::<f64>();
            for j in 0..n_inner as usize {
                *row(1).add(j) = 2.0 * *row(0).add(j);
            }
        }
    }
    0
}

/// The axes of an operand that moves along every dimension.
pub fn whole(ndim: usize) -> Vec<Option<usize>> {
    (0..ndim).map(Some).collect()
}

/// The strides of an array of float64 in C order.
pub fn strides(dims: &[i64]) -> Vec<i64> {
    let mut strides = vec![8; dims.len()];
    for axis in (1..dims.len()).rev() {
        strides[axis - 1] = strides[axis] * dims[axis].max(1);
    }
    strides
}
