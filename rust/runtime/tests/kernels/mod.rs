//! Kernels and layouts for tests and benchmarks of the runtime, each of which uses some of them.

#![allow(dead_code)]

use std::ffi::c_char;

use frazil_core::DType;
use frazil_runtime::*;

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

/// Does nothing and says so.
pub unsafe extern "C" fn fail<const STATUS: i32>(
    _: *const *mut c_char,
    _: i64,
    _: i64,
    _: *const i64,
) -> i32 {
    STATUS
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

pub fn write(axes: Vec<Option<usize>>, identity: Option<f64>) -> WriteSpec {
    let identity = identity.map(|value| Scalar::from_f64(DType::Float64, value));
    let fold = identity.map(|_| Fold::Add);
    WriteSpec { dtype: DType::Float64, axes, identity, fold }
}

pub fn sizes(builder: &mut Builder, slot: Slot) -> Vec<Size> {
    let ndim = builder.slot_type(slot).unwrap().1;
    (0..ndim).map(|axis| builder.size_of(slot, axis).unwrap()).collect()
}

pub fn add_slots(builder: &mut Builder, a: Slot, b: Slot) -> Slot {
    let dims = sizes(builder, a);
    let axes = whole(dims.len());
    let reads = [(a, axes.clone()), (b, axes.clone())];
    // SAFETY: `add` takes two float64 operands and one result that move along the inner dimension.
    unsafe { builder.loop_kernel(add, Box::new(()), &dims, &reads, &[write(axes, None)]) }.unwrap()
        [0]
}

pub fn sum_slot(builder: &mut Builder, of: Slot) -> Slot {
    let dims = sizes(builder, of);
    let reads = [(of, whole(dims.len()))];
    let writes = [write(vec![None; dims.len()], Some(0.0))];
    // SAFETY: `sum` takes one float64 operand and a result that stays along the inner dimension.
    unsafe { builder.loop_kernel(sum, Box::new(()), &dims, &reads, &writes) }.unwrap()[0]
}
