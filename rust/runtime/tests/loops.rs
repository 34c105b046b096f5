//! Loops: what kernels get, and what is said where operands do not fit.

mod arrays;
mod kernels;

use std::ffi::c_char;

use arrays::{Array, elements, floats, run, vector};
use frazil_core::DType;
use frazil_runtime::*;
use kernels::{add_slots, fail, sizes, sum, sum_slot, whole, write};

/// `out = a0 + a1 + ... + a19`.
unsafe extern "C" fn add_twenty(
    ptr: *const *mut c_char,
    n_outer: i64,
    n_inner: i64,
    _: *const i64,
) -> i32 {
    assert_eq!(n_outer, 1);
    for j in 0..n_inner as usize {
        // SAFETY: the runtime gives twenty operands and a result of this many elements.
        unsafe {
            let at = |k: usize| (*ptr.add(k)).cast::<f64>().add(j);
            *at(20) = (0..20).map(|k| *at(k)).sum();
        }
    }
    0
}

/// `y = x * total`, where `total` is the sum of the row, which is written too; the products go
/// through a buffer.
unsafe extern "C" fn times_total(
    ptr: *const *mut c_char,
    n_outer: i64,
    n_inner: i64,
    stride: *const i64,
) -> i32 {
    for i in 0..n_outer {
        // SAFETY: the runtime gives whole rows of an operand and a result, one total a row, and a
        // buffer for a row.
        unsafe {
            let row = |k: usize| (*ptr.add(k)).offset((i * *stride.add(k)) as isize).cast::<f64>();
            // The buffer has room for several rows; one at a time, each is its first.
            let buffer = (*ptr.add(3)).cast::<f64>();
            let total: f64 = (0..n_inner as usize).map(|j| *row(0).add(j)).sum();
            for j in 0..n_inner as usize {
                *buffer.add(j) = *row(0).add(j) * total;
            }
            for j in 0..n_inner as usize {
                *row(1).add(j) = *buffer.add(j);
            }
            *row(2) = total;
        }
    }
    0
}

/// `y[at[i], j] += x[at[i], j]`, where `x` and `y` are matrices and `at` is given as float64.
unsafe extern "C" fn move_rows(
    ptr: *const *mut c_char,
    n_outer: i64,
    n_inner: i64,
    stride: *const i64,
) -> i32 {
    for i in 0..n_outer {
        // SAFETY: the runtime gives an index a row, a source and a target with a table each that
        // says how they move along the row and how far apart their rows are, and a report.
        unsafe {
            let own = |k: usize| (*ptr.add(k)).offset((i * *stride.add(k)) as isize);
            let table = |k: usize| (*ptr.add(k)).cast::<i64>();
            let index = *own(0).cast::<f64>() as i64;
            if !(0..*table(3).add(1)).contains(&index) {
                *table(5) = 0;
                *table(5).add(1) = index;
                return 2;
            }
            for j in 0..n_inner {
                let at = |k: usize, table: *mut i64| {
                    let offset = index * *table.add(2) + j * *table;
                    own(k).offset(offset as isize).cast::<f64>()
                };
                *at(2, table(4)) += *at(1, table(3));
            }
        }
    }
    0
}

fn is<T: Send + Sync>(_: &T) {}

#[test]
fn kernels_run_one_after_another_on_any_shape() {
    let mut builder = Builder::new();
    let x = builder.input(vector(&[None, None])).unwrap();
    let y = builder.input(vector(&[None, None])).unwrap();
    let total = add_slots(&mut builder, x, y);
    let twice = add_slots(&mut builder, total, total);
    let all = sum_slot(&mut builder, twice);
    let program = builder.finish(&[twice, all]).unwrap();
    is(&program);
    for dims in [[2, 3], [1, 1], [0, 3], [2, 3], [40, 50], [2, 3]] {
        let a = Array::range(&dims);
        let expected: Vec<f64> = a.data.iter().map(|value| 4.0 * value).collect();
        let sum = expected.iter().sum();
        assert_eq!(floats(&program, &[&a, &a]), [expected, vec![sum]]);
    }
}

#[test]
fn a_kernel_of_rows_gets_them_whole() {
    for order in [[0, 1, 2], [2, 0, 1], [1, 2, 0]] {
        let mut builder = Builder::new();
        let x = builder.input(vector(&[None, None, None])).unwrap();
        let x = builder.transpose(x, &order).unwrap();
        let dims = sizes(&mut builder, x);
        let writes = [write(whole(3), None), write(vec![Some(0), Some(1), None], None)];
        let buffers = [DType::Float64];
        let spec = LoopSpec {
            reads: vec![(x, whole(3))],
            dims,
            writes: writes.to_vec(),
            rows: Some(buffers.to_vec()),
            ..LoopSpec::default()
        };
        // SAFETY: the kernel takes one float64 operand and two results, of which the second has an
        // element a row, and a buffer.
        let slots = unsafe { builder.loop_of(times_total, Box::new(()), spec, None) }.unwrap();
        let flat = slots.iter().map(|&slot| {
            let rest = builder.size_literal(-1).unwrap();
            builder.reshape(slot, &[rest]).unwrap()
        });
        let outputs: Vec<Slot> = flat.collect();
        let program = builder.finish(&outputs).unwrap();
        for lengths in [[2, 3, 4], [1, 1, 1], [2, 0, 3], [3, 2, 1500], [1500, 2, 2], [2, 3, 0]] {
            let array = Array::range(&lengths);
            let strides = [lengths[1] * lengths[2], lengths[2], 1];
            let [a, b, c] = order.map(|axis| (lengths[axis], strides[axis]));
            let (mut products, mut totals) = (vec![], vec![]);
            for i in 0..a.0 {
                for j in 0..b.0 {
                    let row = (0..c.0).map(|k| array.data[(i * a.1 + j * b.1 + k * c.1) as usize]);
                    let total: f64 = row.clone().sum();
                    products.extend(row.map(|value| value * total));
                    totals.push(total);
                }
            }
            assert_eq!(floats(&program, &[&array]), [products, totals]);
        }
    }
    let mut builder = Builder::new();
    let x = builder.input(vector(&[])).unwrap();
    let (reads, rows) = (vec![(x, vec![])], Some(vec![]));
    let spec = LoopSpec { reads, rows, ..LoopSpec::default() };
    // SAFETY: the builder refuses it.
    let refused = unsafe { builder.loop_of(times_total, Box::new(()), spec, None) };
    assert_eq!(refused.unwrap_err(), BuildError::NoRow);
}

/// `y += 2 x`, where `y` stays in the outer dimension.
unsafe extern "C" fn add_twice(
    ptr: *const *mut c_char,
    n_outer: i64,
    n_inner: i64,
    stride: *const i64,
) -> i32 {
    for i in 0..n_outer {
        // SAFETY: the runtime gives an operand and a result of rows of this many elements.
        unsafe {
            let row = |k: usize| (*ptr.add(k)).offset((i * *stride.add(k)) as isize).cast::<f64>();
            for j in 0..n_inner as usize {
                *row(1).add(j) += 2.0 * *row(0).add(j);
            }
        }
    }
    0
}

/// Sums over the last dimension, by `sum` where that is long. Where it is short, `add_twice` tells
/// that it did the work: its sums are twice as large.
#[test]
fn a_loop_chooses_its_kernel_by_the_last_dimension() {
    let mut builder = Builder::new();
    let x = builder.input(vector(&[None, None, None])).unwrap();
    let spec = LoopSpec {
        dims: sizes(&mut builder, x),
        reads: vec![(x, whole(3))],
        writes: vec![write(vec![Some(0), Some(1), None], Some(0.0))],
        ..LoopSpec::default()
    };
    let short = || ShortKernel { function: add_twice, keep: Box::new(()), limit: 4 };
    // SAFETY: `sum` takes an operand that moves along the last dimension and a result that does
    // not; of `add_twice` both move along the one before.
    let slot = unsafe { builder.loop_of(sum, Box::new(()), spec, Some(short())) }.unwrap()[0];
    let flat = builder.size_literal(-1).unwrap();
    let slot = builder.reshape(slot, &[flat]).unwrap();
    let program = builder.finish(&[slot]).unwrap();
    for dims in [[2, 9, 3], [2, 3, 3], [1, 5, 4], [3, 9, 5], [1, 2, 1], [2, 5, 0], [0, 5, 2]] {
        let array = Array::range(&dims);
        let is_short = (1..=4).contains(&dims[2]) && dims[2] < dims[1];
        let factor = if is_short { 2.0 } else { 1.0 };
        let row = |at: i64| (0..dims[2]).map(|k| array.data[(at * dims[2] + k) as usize]).sum();
        let sums: Vec<f64> = (0..dims[0] * dims[1]).map(row).map(|s: f64| factor * s).collect();
        assert_eq!(floats(&program, &[&array]), [sums]);
    }

    let mut builder = Builder::new();
    let x = builder.input(vector(&[None])).unwrap();
    let (dims, reads) = (sizes(&mut builder, x), vec![(x, whole(1))]);
    let spec = LoopSpec { dims, reads, ..LoopSpec::default() };
    // SAFETY: the builder refuses it.
    let refused = unsafe { builder.loop_of(sum, Box::new(()), spec, Some(short())) };
    assert_eq!(refused.unwrap_err(), BuildError::NoShortForm);
}

#[test]
fn indices_move_operands() {
    let program = program_that_moves_rows();
    let x = Array::range(&[2, 3]);
    let y = Array::new(&[3, 2], &[0.0; 6]);
    let run = |rows: &[f64]| run(&program, &[&Array::new(&[rows.len() as i64], rows), &x, &y]);
    let moved: Vec<Vec<f64>> = run(&[2.0, 0.0, 2.0]).unwrap().iter().map(elements).collect();
    assert_eq!(moved, [[0.0, 3.0, 0.0, 0.0, 4.0, 10.0]]);
    let fault = run(&[1.0, 3.0]).err().unwrap().fault;
    assert!(matches!(fault, Fault::Index { index: 3, axis: 0, length: 3 }), "{fault}");

    let mut builder = Builder::new();
    let x = builder.input(vector(&[None, None])).unwrap();
    let twice = IndexedSpec { slot: x, axes: vec![Some(0)], indexed: vec![0], adds: false };
    let dims = vec![builder.size_literal(1).unwrap()];
    let spec = LoopSpec { dims, sources: vec![twice], ..LoopSpec::default() };
    // SAFETY: the builder refuses it.
    let refused = unsafe { builder.loop_of(move_rows, Box::new(()), spec, None) };
    assert_eq!(refused.unwrap_err(), BuildError::RepeatedAxis { axis: 0 });
}

#[test]
fn indices_are_checked_beside_nothing() {
    let program = program_that_moves_rows();
    let run = |rows: &[f64], length: i64| {
        let (x, y) = (Array::range(&[0, length]), Array::range(&[length, 0]));
        run(&program, &[&Array::new(&[rows.len() as i64], rows), &x, &y])
    };
    for rows in [&[2.0, 0.0, 2.0][..], &[1.0; 5000], &[]] {
        let moved: Vec<Vec<f64>> = run(rows, 3).unwrap().iter().map(elements).collect();
        assert_eq!(moved, [[0.0; 0]]);
    }
    let mut many = vec![1.0; 100_000];
    many[99_999] = 3.0;
    for rows in [&[1.0, 3.0][..], &many] {
        let fault = run(rows, 3).err().unwrap().fault;
        assert!(matches!(fault, Fault::Index { index: 3, axis: 0, length: 3 }), "{fault}");
    }
    let fault = run(&[0.0], 0).err().unwrap().fault;
    assert!(matches!(fault, Fault::Index { index: 0, axis: 0, length: 0 }), "{fault}");
    assert!(run(&[], 0).is_ok());
}

/// `y[at] += x.T[at]` for matrices `x` and `y`.
fn program_that_moves_rows() -> Program {
    let mut builder = Builder::new();
    let at = builder.input(vector(&[None])).unwrap();
    let x = builder.input(vector(&[None, None])).unwrap();
    let y = builder.input(vector(&[None, None])).unwrap();
    let turned = builder.transpose(x, &[1, 0]).unwrap();
    let dims = vec![builder.size_of(at, 0).unwrap(), builder.size_of(y, 1).unwrap()];
    let indexed =
        |slot| IndexedSpec { slot, axes: vec![None, Some(1)], indexed: vec![0], adds: true };
    let spec = LoopSpec {
        dims,
        reads: vec![(at, vec![Some(0), None])],
        sources: vec![indexed(turned)],
        targets: vec![indexed(y)],
        ..LoopSpec::default()
    };
    // SAFETY: the kernel takes an index that stays along the row, and a float64 source and target,
    // each with one index.
    let slots = unsafe { builder.loop_of(move_rows, Box::new(()), spec, None) }.unwrap();
    builder.finish(&slots).unwrap()
}

#[test]
fn a_kernel_may_have_many_operands() {
    let mut builder = Builder::new();
    let x = builder.input(vector(&[None])).unwrap();
    let dims = sizes(&mut builder, x);
    let reads = vec![(x, whole(1)); 20];
    let writes = [write(whole(1), None)];
    // SAFETY: the kernel takes twenty float64 operands and one result, all moving.
    let slots =
        unsafe { builder.loop_kernel(add_twenty, Box::new(()), &dims, &reads, &writes) }.unwrap();
    let program = builder.finish(&slots).unwrap();
    assert_eq!(floats(&program, &[&Array::range(&[3])]), [[0.0, 20.0, 40.0]]);
}

#[test]
fn transposed_operands_give_transposed_results() {
    let mut builder = Builder::new();
    let x = builder.input(vector(&[None, None])).unwrap();
    let t = builder.transpose(x, &[1, 0]).unwrap();
    let sum = add_slots(&mut builder, t, t);
    let program = builder.finish(&[sum]).unwrap();
    let x = Array::range(&[2, 3]);
    let inputs = [x.as_ref()];
    // SAFETY: the array outlives the run.
    let bound = unsafe { program.bind(&inputs) }.unwrap();
    assert_eq!(bound.output(0).unwrap().strides, [8, 24]);
    assert_eq!(bound.output(0).unwrap().dims, [3, 2]);
    drop(bound);
    assert_eq!(floats(&program, &[&x]), [[0.0, 6.0, 2.0, 8.0, 4.0, 10.0]]);
}

#[test]
fn a_wrong_length_names_operand_and_axis() {
    let mut builder = Builder::new();
    let x = builder.input(vector(&[None])).unwrap();
    let y = builder.input(vector(&[None])).unwrap();
    builder.origin(Some(Origin(7)));
    let sum = add_slots(&mut builder, x, y);
    let program = builder.finish(&[sum]).unwrap();
    let error = run(&program, &[&Array::range(&[3]), &Array::range(&[1])]).unwrap_err();
    assert_eq!(error.origin, Some(Origin(7)));
    assert_eq!(error.class(), ErrorClass::Value);
    let text = error.to_string();
    assert!(text.starts_with("operand 1 (input 1) has length 1 along axis 0 where 3 is"), "{text}");
    assert!(text.contains("broadcast"), "{text}");
    assert_eq!(floats(&program, &[&Array::range(&[2]), &Array::range(&[2])]), [[0.0, 2.0]]);
}

#[test]
fn the_status_of_a_kernel_is_an_error() {
    let mut builder = Builder::new();
    let x = builder.input(vector(&[])).unwrap();
    let status = |kernel: KernelFn, builder: &mut Builder| {
        // SAFETY: the kernel touches nothing.
        unsafe { builder.loop_kernel(kernel, Box::new(()), &[], &[(x, vec![])], &[]) }.unwrap();
    };
    status(fail::<0>, &mut builder);
    status(fail::<7>, &mut builder);
    let program = builder.finish(&[]).unwrap();
    let fault = run(&program, &[&Array::new(&[], &[1.0])]).unwrap_err().fault;
    assert!(matches!(fault, Fault::Kernel { status: 7 }));

    let mut builder = Builder::new();
    builder.input(vector(&[])).unwrap();
    status(fail::<1>, &mut builder);
    let program = builder.finish(&[]).unwrap();
    let error = run(&program, &[&Array::new(&[], &[1.0])]).unwrap_err();
    assert_eq!(error.class(), ErrorClass::Value);
    assert_eq!(error.to_string(), "integers to negative integer powers are not allowed");
}
