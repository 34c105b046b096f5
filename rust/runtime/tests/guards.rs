//! Watched runs find who goes beyond a buffer, whatever made the buffer.

use std::ffi::c_char;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use frazil_core::DType;
use frazil_runtime::*;

/// Copies its operand, and writes a zero so many bytes from the start of its result or, where
/// `FROM_END`, from its end.
unsafe extern "C" fn stray<const BYTES: isize, const FROM_END: bool>(
    ptr: *const *mut c_char,
    n_outer: i64,
    n_inner: i64,
    _: *const i64,
) -> i32 {
    assert_eq!(n_outer, 1);
    // SAFETY: the runtime gives an operand and a result of this many elements, and zones around them
    // in which the stray byte lies.
    unsafe {
        ptr::copy(*ptr, *ptr.add(1), n_inner as usize * 8);
        let start = (*ptr.add(1)).offset(if FROM_END { n_inner as isize * 8 } else { 0 });
        start.offset(BYTES).write(0);
    }
    0
}

/// Copies its operand one element farther on, so that it reads one too many.
unsafe extern "C" fn shift(ptr: *const *mut c_char, _: i64, n_inner: i64, _: *const i64) -> i32 {
    // SAFETY: as for `stray`.
    unsafe { ptr::copy((*ptr).add(8), *ptr.add(1), n_inner as usize * 8) };
    0
}

/// Copies its operand, and writes behind its row buffer.
unsafe extern "C" fn overfill(ptr: *const *mut c_char, _: i64, n_inner: i64, _: *const i64) -> i32 {
    // SAFETY: as for `stray`; the buffer has room for a whole number of lines of 64 elements.
    unsafe {
        ptr::copy(*ptr, *ptr.add(1), n_inner as usize * 8);
        (*ptr.add(2)).cast::<f64>().add(64).write(1.0);
    }
    0
}

fn vector() -> ArrayType {
    ArrayType::new(DType::Float64, &[None])
}

/// How the length of the buffers is known.
#[derive(Clone, Copy, Debug)]
enum Known {
    WhenBound,
    DuringTheRun,
}

/// `%1 = copy %0`, `%2 = loop(%1)`; the length may be known from a value only.
fn program(kernel: KernelFn, known: Known, rows: Option<Vec<DType>>) -> Program {
    let mut builder = Builder::new();
    builder.watch();
    let x = builder.input(vector()).unwrap();
    let length = builder.size_of(x, 0).unwrap();
    let length = match known {
        Known::WhenBound => length,
        Known::DuringTheRun => {
            let value = builder.size_scalar(length).unwrap();
            builder.size_value(value).unwrap()
        }
    };
    let operand = builder.copy(x).unwrap();
    let all = vec![Some(0)];
    let write = WriteSpec { dtype: DType::Float64, axes: all.clone(), identity: None, fold: None };
    let spec = LoopSpec {
        dims: vec![length],
        reads: vec![(operand, all)],
        writes: vec![write],
        rows,
        ..LoopSpec::default()
    };
    builder.origin(Some(Origin(7)));
    // SAFETY: what the kernel does beyond its operands is what the test is about.
    let made = unsafe { builder.loop_of(kernel, Box::new(()), spec, None) }.unwrap()[0];
    builder.origin(None);
    builder.finish(&[made, operand]).unwrap()
}

fn run(program: &Program, data: &[f64]) -> Result<(), Error> {
    let (dims, strides) = ([data.len() as i64], [8]);
    let x = ArrayRef {
        dtype: DType::Float64,
        data: data.as_ptr().cast(),
        dims: &dims,
        strides: &strides,
        owner: None,
    };
    // SAFETY: the array outlives the run.
    let mut run = unsafe { program.bind(&[x])? };
    run.execute(&Conduct::ALONE)
}

#[test]
fn who_writes_beyond_a_buffer_is_found() {
    let strays: [(KernelFn, usize, &str); 4] = [
        (stray::<0, true>, 1, "beyond the end"),
        (stray::<200, true>, 201, "beyond the end"),
        (stray::<-1, false>, 1, "before the start"),
        (stray::<-100, false>, 100, "before the start"),
    ];
    for known in [Known::WhenBound, Known::DuringTheRun] {
        for (kernel, far, side) in strays {
            for data in [&[1.0, 2.0, 3.0][..], &[1.0]] {
                let error = run(&program(kernel, known, None), data).unwrap_err();
                assert_eq!(error.class(), ErrorClass::Watch);
                assert_eq!(error.origin, Some(Origin(7)));
                let Fault::Trespass { ref whose, bytes, distance, edge } = error.fault else {
                    panic!("{known:?}: {error}");
                };
                assert_eq!((bytes, distance, edge), (data.len() * 8, far, side));
                assert!(whose.contains("loop k0"), "{whose}");
            }
        }
    }
}

#[test]
fn who_reads_beyond_a_buffer_reads_nan() {
    for known in [Known::WhenBound, Known::DuringTheRun] {
        let error = run(&program(shift, known, None), &[1.0, 2.0, 3.0]).unwrap_err();
        let Fault::NotANumber { ref index, .. } = error.fault else { panic!("{error}") };
        assert_eq!(index, &[2]);
    }
}

#[test]
fn who_writes_behind_a_row_buffer_is_found() {
    let rows = Some(vec![DType::Float64]);
    let error = run(&program(overfill, Known::WhenBound, rows), &[1.0, 2.0]).unwrap_err();
    let text =
        "it has written up to 8 bytes beyond the end of its scratch memory, which has 512 bytes";
    assert_eq!(error.to_string(), text);
}

#[test]
fn who_stays_inside_is_not_blamed() {
    for known in [Known::WhenBound, Known::DuringTheRun] {
        let sound = program(stray::<0, false>, known, None);
        run(&sound, &[0.0, 2.0, 3.0]).unwrap();
        run(&sound, &[0.0; 100]).unwrap();
        run(&sound, &[0.0; 2]).unwrap();
    }
}

static REMEMBERED: AtomicPtr<c_char> = AtomicPtr::new(ptr::null_mut());

/// Sums nothing, and remembers where its operand lies.
unsafe extern "C" fn remember(ptr: *const *mut c_char, _: i64, _: i64, _: *const i64) -> i32 {
    // SAFETY: the runtime gives one operand.
    REMEMBERED.store(unsafe { *ptr }, Ordering::Relaxed);
    0
}

/// Copies what it remembers.
unsafe extern "C" fn recall(ptr: *const *mut c_char, _: i64, n: i64, _: *const i64) -> i32 {
    // SAFETY: the memory is still part of the arena, and as large as the result, which may lie there.
    unsafe { ptr::copy(REMEMBERED.load(Ordering::Relaxed), *ptr.add(1), n as usize * 8) };
    0
}

#[test]
fn memory_that_was_given_back_is_poisoned() {
    let mut builder = Builder::new();
    builder.watch();
    let x = builder.input(vector()).unwrap();
    let length = builder.size_of(x, 0).unwrap();
    let operand = builder.copy(x).unwrap();
    let all = || vec![Some(0)];
    let total = WriteSpec {
        dtype: DType::Float64,
        axes: vec![None],
        identity: Some(Scalar::from_f64(DType::Float64, 0.0)),
        fold: Some(Fold::Add),
    };
    let write = WriteSpec { dtype: DType::Float64, axes: all(), identity: None, fold: None };
    let mut lines = Vec::new();
    for (kernel, of, write) in [(remember as KernelFn, operand, total), (recall, x, write)] {
        let spec = LoopSpec {
            dims: vec![length],
            reads: vec![(of, all())],
            writes: vec![write],
            ..LoopSpec::default()
        };
        // SAFETY: the kernels read and write what they are given, and what they remember.
        lines.extend(unsafe { builder.loop_of(kernel, Box::new(()), spec, None) }.unwrap());
    }
    let program = builder.finish(&lines).unwrap();
    let error = run(&program, &[1.0, 2.0, 3.0]).unwrap_err();
    assert!(matches!(&error.fault, Fault::NotANumber { index, .. } if index == &[0]), "{error}");
}
