//! What the runtime costs beside its kernels: calls, loop nests, binding of shapes, small products.

use std::ffi::{c_char, c_void};
use std::hint::black_box;
use std::sync::Arc;

use criterion::{Criterion, criterion_group, criterion_main};
use frazil_benches as _;
use frazil_core::DType;
use frazil_runtime::*;
use kernels::{twice, whole};

#[path = "../../rust/runtime/tests/kernels/mod.rs"]
mod kernels;

/// Touches nothing: what is measured is how it is reached.
unsafe extern "C" fn nothing(_: *const *mut c_char, _: i64, _: i64, _: *const i64) -> i32 {
    0
}

/// A naive product: the cost of the call around it is what counts.
unsafe extern "C" fn gemm(
    _transa: *const c_char,
    _transb: *const c_char,
    m: *const i32,
    n: *const i32,
    k: *const i32,
    _alpha: *const f64,
    a: *const f64,
    lda: *const i32,
    b: *const f64,
    ldb: *const i32,
    _beta: *const f64,
    c: *mut f64,
    ldc: *const i32,
) {
    // SAFETY: the runtime gives matrices of these sizes, neither transposed.
    unsafe {
        for j in 0..*n as usize {
            for i in 0..*m as usize {
                let at = |p: usize| *a.add(i + p * *lda as usize) * *b.add(p + j * *ldb as usize);
                *c.add(i + j * *ldc as usize) = (0..*k as usize).map(at).sum();
            }
        }
    }
}

fn chain(ndim: usize, kernels: usize, function: KernelFn) -> Program {
    let mut builder = Builder::new();
    let ty = ArrayType::new(DType::Float64, &vec![None; ndim]);
    let mut slot = builder.input(ty).unwrap();
    let axes = whole(ndim);
    for _ in 0..kernels {
        let dims: Vec<Size> = (0..ndim).map(|axis| builder.size_of(slot, axis).unwrap()).collect();
        let write =
            WriteSpec { dtype: DType::Float64, axes: axes.clone(), identity: None, fold: None };
        let reads = [(slot, axes.clone())];
        // SAFETY: the kernels take a float64 operand and a result that move along the inner
        // dimension.
        let slots = unsafe { builder.loop_kernel(function, Box::new(()), &dims, &reads, &[write]) };
        slot = slots.unwrap()[0];
    }
    builder.finish(&[slot]).unwrap()
}

fn array<'a>(data: &'a [f64], dims: &'a [i64], strides: &'a [i64]) -> ArrayRef<'a> {
    ArrayRef { dtype: DType::Float64, data: data.as_ptr().cast(), dims, strides, owner: None }
}

fn call(program: &Program, inputs: &[ArrayRef<'_>], output: &mut [f64]) {
    // SAFETY: the arrays outlive the run, and the output is as large as the program's.
    unsafe {
        let mut run = program.bind(black_box(inputs)).unwrap();
        run.set_output(0, output.as_mut_ptr().cast());
        run.execute(&Conduct::ALONE).unwrap();
    }
}

fn calls(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("call");
    let data = [1.0];
    let mut output = [0.0];
    for kernels in [1, 10] {
        let program = chain(0, kernels, twice);
        group.bench_function(format!("{kernels} scalar kernels"), |bencher| {
            bencher.iter(|| call(&program, &[array(&data, &[], &[])], &mut output));
        });
    }
    group.finish();
}

fn loop_nests(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("loop nest");
    let data = vec![1.0; 100_000];
    let mut output = vec![0.0; 100_000];
    let program = chain(3, 1, nothing);
    let mut nest = |name: &str, dims: &[i64], strides: &[i64]| {
        group.bench_function(name, |bencher| {
            bencher.iter(|| call(&program, &[array(&data, dims, strides)], &mut output));
        });
    };
    nest("contiguous", &[10, 100, 10], &[8000, 80, 8]);
    nest("100 outer positions", &[100, 10, 10], &[1600, 160, 8]);
    nest("packed, 10000 elements", &[10, 100, 10], &[16000, 160, 16]);
    group.finish();
}

fn binding(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("bind");
    let data = [1.0; 64];
    let mut output = [0.0; 64];
    let program = chain(1, 10, nothing);
    group.bench_function("hit, 10 kernels", |bencher| {
        bencher.iter(|| call(&program, &[array(&data, &[8], &[8])], &mut output));
    });
    let mut length = 0;
    group.bench_function("miss, 10 kernels", |bencher| {
        bencher.iter(|| {
            length = (length + 1) % 64;
            call(&program, &[array(&data, &[length], &[8])], &mut output);
        });
    });
    group.finish();
}

fn dots(criterion: &mut Criterion) {
    // SAFETY: the routine follows BLAS's conventions for what this benchmark asks.
    unsafe { set_routine(Routine::Dgemm, gemm as *const c_void, Integers::Bits32) };
    let mut builder = Builder::new();
    let ty = ArrayType::new(DType::Float64, &[None, None]);
    let [a, b] = [ty.clone(), ty].map(|ty| builder.input(ty).unwrap());
    let product = builder.dot(a, b).unwrap();
    let program = builder.finish(&[product]).unwrap();
    let data = [1.0; 9];
    let mut output = [0.0; 9];
    let matrix = array(&data, &[3, 3], &[24, 8]);
    criterion.bench_function("dot 3x3", |bencher| {
        bencher.iter(|| call(&program, &[matrix, matrix], &mut output));
    });
}

/// Programs within programs: what a call of one costs, and a thousand steps of a loop.
fn nested(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("nested");
    let data = [1.0];
    let mut output = [0.0];
    let inner = Arc::new(chain(0, 1, nothing));
    let mut builder = Builder::new();
    let mut slot = builder.input(ArrayType::new(DType::Float64, &[])).unwrap();
    let number = builder.nest(Arc::clone(&inner), Origin(0)).unwrap();
    for _ in 0..10 {
        slot = builder.run(number, None, &[slot]).unwrap()[0];
    }
    let program = builder.finish(&[slot]).unwrap();
    group.bench_function("10 runs", |bencher| {
        bencher.iter(|| call(&program, &[array(&data, &[], &[])], &mut output));
    });
    for (name, stacked) in [("1000 steps", vec![]), ("1000 steps, stacked", vec![0])] {
        let mut builder = Builder::new();
        let slot = builder.input(ArrayType::new(DType::Float64, &[])).unwrap();
        let made = builder.nest(Arc::clone(&inner), Origin(0)).and_then(|program| {
            let steps = builder.size_literal(1000)?;
            let states = vec![(slot, Next::Output(0))];
            let (sequences, others, until) = (vec![], vec![], None);
            builder.scan(&ScanSpec { program, steps, sequences, states, others, stacked, until })
        });
        let program = builder.finish(&made.unwrap().finals).unwrap();
        group.bench_function(name, |bencher| {
            bencher.iter(|| call(&program, &[array(&data, &[], &[])], &mut output));
        });
    }
    group.finish();
}

criterion_group!(benches, calls, loop_nests, binding, dots, nested);
criterion_main!(benches);
