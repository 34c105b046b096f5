//! Products, with BLAS routines written here.

use std::ffi::{c_char, c_void};

use frazil_core::DType;
use frazil_runtime::*;
use proptest::prelude::*;

macro_rules! reference {
    ($gemm:ident, $gemv:ident, $dot:ident, $float:ty) => {
        /// The element of op(A) in column-major order.
        unsafe extern "C" fn $gemm(
            transa: *const c_char,
            transb: *const c_char,
            m: *const i32,
            n: *const i32,
            k: *const i32,
            alpha: *const $float,
            a: *const $float,
            lda: *const i32,
            b: *const $float,
            ldb: *const i32,
            beta: *const $float,
            c: *mut $float,
            ldc: *const i32,
        ) {
            // SAFETY: the runtime gives matrices of these sizes.
            unsafe {
                let (m, n, k) = (*m as usize, *n as usize, *k as usize);
                let (lda, ldb, ldc) = (*lda as usize, *ldb as usize, *ldc as usize);
                let (ta, tb) = (*transa as u8 == b'T', *transb as u8 == b'T');
                assert!(lda >= (if ta { k } else { m }).max(1), "lda");
                assert!(ldb >= (if tb { n } else { k }).max(1), "ldb");
                assert!(ldc >= m.max(1) && *alpha == 1.0 && *beta == 0.0);
                for j in 0..n {
                    for i in 0..m {
                        let mut sum = 0.0;
                        for p in 0..k {
                            let x = *a.add(if ta { p + i * lda } else { i + p * lda });
                            let y = *b.add(if tb { j + p * ldb } else { p + j * ldb });
                            sum += x * y;
                        }
                        *c.add(i + j * ldc) = sum;
                    }
                }
            }
        }

        unsafe extern "C" fn $gemv(
            trans: *const c_char,
            m: *const i32,
            n: *const i32,
            alpha: *const $float,
            a: *const $float,
            lda: *const i32,
            x: *const $float,
            incx: *const i32,
            beta: *const $float,
            y: *mut $float,
            incy: *const i32,
        ) {
            // SAFETY: as above.
            unsafe {
                let (m, n, lda) = (*m as usize, *n as usize, *lda as usize);
                let transposed = *trans as u8 == b'T';
                assert!(lda >= m.max(1) && *incx > 0 && *incy == 1);
                assert!(*alpha == 1.0 && *beta == 0.0);
                let (rows, columns) = if transposed { (n, m) } else { (m, n) };
                for i in 0..rows {
                    // What was there must not matter, but some routines do scale it.
                    let mut sum = *beta * *y.add(i);
                    for p in 0..columns {
                        let element = *a.add(if transposed { p + i * lda } else { i + p * lda });
                        sum += element * *x.add(p * *incx as usize);
                    }
                    *y.add(i) = sum;
                }
            }
        }

        unsafe extern "C" fn $dot(
            n: *const i32,
            x: *const $float,
            incx: *const i32,
            y: *const $float,
            incy: *const i32,
        ) -> $float {
            // SAFETY: as above.
            unsafe {
                assert!(*incx > 0 && *incy > 0);
                let at = |start: *const $float, step: i32, k: i32| *start.add((k * step) as usize);
                (0..*n).map(|k| at(x, *incx, k) * at(y, *incy, k)).sum()
            }
        }
    };
}

reference!(dgemm, dgemv, ddot, f64);
reference!(sgemm, sgemv, sdot, f32);

fn set_reference() {
    let routines: [(&str, *const c_void); 6] = [
        ("dgemm", dgemm as *const c_void),
        ("sgemm", sgemm as *const c_void),
        ("dgemv", dgemv as *const c_void),
        ("sgemv", sgemv as *const c_void),
        ("ddot", ddot as *const c_void),
        ("sdot", sdot as *const c_void),
    ];
    for (name, address) in routines {
        // SAFETY: these follow BLAS's conventions.
        unsafe { set_routine(Routine::from_name(name).unwrap(), address, Integers::Bits32) };
    }
}

/// An operand of one or two axes, of any strides, in a vector.
#[derive(Clone, Debug)]
struct Operand {
    dims: Vec<i64>,
    strides: Vec<i64>,
    start: i64,
    data: Vec<f64>,
}

impl Operand {
    fn new(dims: &[i64], fortran: bool, gap: i64, backwards: u8, stays: u8) -> Operand {
        let ndim = dims.len();
        let mut strides = vec![0; ndim];
        let (mut step, mut start) = (8 * gap, 0);
        for at in 0..ndim {
            let axis = if fortran { at } else { ndim - 1 - at };
            strides[axis] = step;
            if stays >> axis & 1 == 1 {
                strides[axis] = 0;
            } else if backwards >> axis & 1 == 1 {
                strides[axis] = -step;
                start += step * (dims[axis] - 1).max(0);
            }
            step *= dims[axis].max(1);
        }
        let data = (0..step / 8).map(|at| ((at * 7 + 3) % 11) as f64 - 4.0).collect();
        Operand { dims: dims.to_vec(), strides, start, data }
    }

    fn get(&self, position: &[i64]) -> f64 {
        let moved: i64 = position.iter().zip(&self.strides).map(|(at, step)| at * step).sum();
        self.data[((self.start + moved) / 8) as usize]
    }

    /// With two axes: a vector is a row in front, a column behind.
    fn element(&self, row: i64, column: i64, front: bool) -> f64 {
        match self.dims.len() {
            1 => self.get(&[if front { column } else { row }]),
            _ => self.get(&[row, column]),
        }
    }
}

fn product(a: &Operand, b: &Operand, dtype: DType) -> Result<(Vec<i64>, Vec<f64>), Error> {
    set_reference();
    let mut builder = Builder::new();
    let mut input = |operand: &Operand| {
        builder.input(ArrayType::new(dtype, &vec![None; operand.dims.len()])).unwrap()
    };
    let (x, y) = (input(a), input(b));
    let dot = builder.dot(x, y).unwrap();
    let program = builder.finish(&[dot]).unwrap();
    let single = dtype == DType::Float32;
    let narrow = |operand: &Operand| -> Vec<f32> {
        operand.data.iter().map(|&value| value as f32).collect()
    };
    let halves = |operand: &Operand| -> Vec<i64> {
        operand.strides.iter().map(|stride| if single { stride / 2 } else { *stride }).collect()
    };
    let (a32, b32) = (narrow(a), narrow(b));
    let (a_strides, b_strides) = (halves(a), halves(b));
    fn array<'a>(
        dtype: DType,
        operand: &'a Operand,
        narrow: &[f32],
        strides: &'a [i64],
    ) -> ArrayRef<'a> {
        let data: *const u8 = if dtype == DType::Float32 {
            narrow.as_ptr().cast::<u8>().wrapping_offset((operand.start / 2) as isize)
        } else {
            operand.data.as_ptr().cast::<u8>().wrapping_offset(operand.start as isize)
        };
        ArrayRef { dtype, data, dims: &operand.dims, strides, owner: None }
    }
    let inputs = [array(dtype, a, &a32, &a_strides), array(dtype, b, &b32, &b_strides)];
    // SAFETY: the arrays outlive the run.
    let mut run = unsafe { program.bind(&inputs)? };
    let dims = run.output(0).unwrap().dims.to_vec();
    // A NaN in the result's memory must not shine through.
    let count = dims.iter().product::<i64>() as usize;
    let mut wide = vec![f64::NAN; count];
    let mut thin = vec![f32::NAN; count];
    let start: *mut u8 = if single { thin.as_mut_ptr().cast() } else { wide.as_mut_ptr().cast() };
    // SAFETY: the vector has the output's elements and outlives the run.
    unsafe { run.set_output(0, start) };
    run.execute(&Conduct::ALONE)?;
    drop(run);
    let result = if single { thin.iter().map(|&value| value.into()).collect() } else { wide };
    Ok((dims, result))
}

fn operand(dims: Vec<i64>) -> impl Strategy<Value = Operand> {
    let flags = || prop_oneof![2 => Just(0u8), 1 => 0..4u8];
    (any::<bool>(), 1..3i64, flags(), flags())
        .prop_map(move |(fortran, gap, back, stays)| Operand::new(&dims, fortran, gap, back, stays))
}

/// Lengths of what is small, of what is near, and some for BLAS.
fn length() -> impl Strategy<Value = i64> {
    prop_oneof![4 => 0..6i64, 3 => 9..40i64, 1 => 60..160i64]
}

fn pair() -> impl Strategy<Value = (Operand, Operand)> {
    (length(), length(), length(), any::<bool>(), any::<bool>()).prop_flat_map(
        |(rows, inner, columns, vector_a, vector_b)| {
            let a = if vector_a { vec![inner] } else { vec![rows, inner] };
            let b = if vector_b { vec![inner] } else { vec![inner, columns] };
            (operand(a), operand(b))
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6 * ProptestConfig::default().cases))]

    #[test]
    fn products_agree_with_a_naive_sum((a, b) in pair(), single in any::<bool>()) {
        let dtype = if single { DType::Float32 } else { DType::Float64 };
        let (dims, result) = product(&a, &b, dtype).unwrap();
        let rows = if a.dims.len() == 2 { a.dims[0] } else { 1 };
        let columns = if b.dims.len() == 2 { b.dims[1] } else { 1 };
        let inner = b.dims[0];
        let expected_dims = [&a.dims[..a.dims.len() - 1], &b.dims[1..]].concat();
        prop_assert_eq!(dims, expected_dims);
        let mut expected = Vec::new();
        for row in 0..rows {
            for column in 0..columns {
                let term = |k: i64| a.element(row, k, true) * b.element(k, column, false);
                expected.push((0..inner).map(term).sum::<f64>());
            }
        }
        prop_assert_eq!(result, expected);
    }
}

#[test]
fn lengths_must_agree() {
    let (a, b) = (Operand::new(&[2, 3], false, 1, 0, 0), Operand::new(&[1, 2], false, 1, 0, 0));
    let text = product(&a, &b, DType::Float64).unwrap_err().to_string();
    assert!(text.starts_with("dot: shapes (2, 3) and (1, 2) are not aligned: 3 != 1"), "{text}");
}

#[test]
fn what_blas_cannot_count_is_an_error() {
    let b = Operand::new(&[1], false, 1, 0, 0);
    let mut builder = Builder::new();
    let x = builder.input(ArrayType::new(DType::Float64, &[None])).unwrap();
    let y = builder.input(ArrayType::new(DType::Float64, &[None])).unwrap();
    let dot = builder.dot(x, y).unwrap();
    let program = builder.finish(&[dot]).unwrap();
    let long = ArrayRef {
        dtype: DType::Float64,
        data: b.data.as_ptr().cast(),
        dims: &[1 << 32],
        strides: &[8],
        owner: None,
    };
    // SAFETY: binding fails before anything is read.
    let error = unsafe { program.bind(&[long, long]) }.err().unwrap();
    assert!(matches!(error.fault, Fault::BlasTooLarge { length: 4294967296 }));
    assert_eq!(error.class(), ErrorClass::Value);
}
