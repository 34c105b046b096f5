//! Sizes: when they are read, and what bad ones do.

mod arrays;
mod kernels;

use arrays::{Array, elements, run, vector};
use frazil_core::DType;
use frazil_runtime::*;
use kernels::{add_slots, sum_slot};

#[test]
fn sizes_by_value_are_read_in_every_run() {
    let mut builder = Builder::new();
    let x = builder.input(vector(&[None])).unwrap();
    let at = builder.input(ArrayType::new(DType::Int64, &[])).unwrap();
    let at = builder.size_value(at).unwrap();
    let one = builder.size_literal(1).unwrap();
    let rest = Index::Range { start: Some(at), stop: None, step: one };
    let tail = builder.slice(x, &[rest]).unwrap();
    let twice = add_slots(&mut builder, tail, tail);
    let count = builder.size_of(twice, 0).unwrap();
    let count = builder.size_scalar(count).unwrap();
    let element = builder.slice(x, &[Index::At(at)]).unwrap();
    let three = builder.size_literal(3).unwrap();
    let full = builder.full(DType::Float64, element, &[three]).unwrap();
    let program = builder.finish(&[twice, twice, tail, count, full]).unwrap();
    let x = Array::range(&[4]);
    for at in [0i64, 2, 3, 2] {
        let index = [at];
        let scalar = ArrayRef {
            dtype: DType::Int64,
            data: index.as_ptr().cast(),
            dims: &[],
            strides: &[],
            owner: None,
        };
        let inputs = [x.as_ref(), scalar];
        // SAFETY: the arrays outlive the run.
        let mut run = unsafe { program.bind(&inputs) }.unwrap();
        assert_eq!(run.output(0), None);
        run.execute(&Conduct::ALONE).unwrap();
        let outputs: Vec<OwnedArray> = (0..5).map(|k| run.take_output(k).unwrap()).collect();
        let tail: Vec<f64> = x.data[at as usize..].to_vec();
        let twice: Vec<f64> = tail.iter().map(|value| 2.0 * value).collect();
        assert_eq!(elements::<f64>(&outputs[0]), twice);
        assert_eq!(elements::<f64>(&outputs[1]), twice);
        assert_eq!(elements::<f64>(&outputs[2]), tail);
        assert_eq!(elements::<i64>(&outputs[3]), [tail.len() as i64]);
        assert_eq!(elements::<f64>(&outputs[4]), [at as f64; 3]);
    }
    let index = [9i64];
    let scalar = ArrayRef {
        dtype: DType::Int64,
        data: index.as_ptr().cast(),
        dims: &[],
        strides: &[],
        owner: None,
    };
    let inputs = [x.as_ref(), scalar];
    // SAFETY: the arrays outlive the run.
    let error = unsafe { program.bind(&inputs) }.unwrap().execute(&Conduct::ALONE).unwrap_err();
    assert_eq!(error.class(), ErrorClass::Index);
}

#[test]
fn conditions_that_are_zero_stop_the_call() {
    for (asserted, class) in [(true, ErrorClass::Assertion), (false, ErrorClass::Value)] {
        let mut builder = Builder::new();
        let x = builder.input(vector(&[None])).unwrap();
        let n = builder.size_of(x, 0).unwrap();
        builder.check(n, "{a} is empty", asserted).unwrap();
        assert!(builder.check(Size(9), "no size", asserted).is_err());
        let listed = builder.size_scalar(n).unwrap();
        let program = builder.finish(&[listed]).unwrap();
        assert_eq!(elements::<i64>(&run(&program, &[&Array::range(&[2])]).unwrap()[0]), [2]);
        let error = run(&program, &[&Array::range(&[0])]).unwrap_err();
        assert_eq!((error.class(), error.to_string()), (class, "{a} is empty".to_owned()));
    }
}

#[test]
fn requirements_and_bad_sizes_stop_the_call() {
    let mut builder = Builder::new();
    let x = builder.input(vector(&[None])).unwrap();
    let n = builder.size_of(x, 0).unwrap();
    let two = builder.size_literal(2).unwrap();
    let most = builder.size_literal(i64::MAX).unwrap();
    builder.require_equal(n, two, "lengths differ").unwrap();
    let bad = builder.size_binary(SizeOp::Mul, n, most).unwrap();
    let is_two = builder.size_binary(SizeOp::Eq, n, two).unwrap();
    let fine = builder.size_where(is_two, n, bad).unwrap();
    let fine = builder.size_scalar(fine).unwrap();
    let program = builder.finish(&[fine]).unwrap();
    assert_eq!(elements::<i64>(&run(&program, &[&Array::range(&[2])]).unwrap()[0]), [2]);
    let text = run(&program, &[&Array::range(&[3])]).unwrap_err().to_string();
    assert_eq!(text, "lengths differ: 3 != 2");

    let mut builder = Builder::new();
    let x = builder.input(vector(&[None])).unwrap();
    let n = builder.size_of(x, 0).unwrap();
    let two = builder.size_literal(2).unwrap();
    assert!(builder.require_indices(n, Size(9), "").is_err());
    builder.require_indices(n, two, "{a} rows, not {b}").unwrap();
    let program = builder.finish(&[x]).unwrap();
    assert!(run(&program, &[&Array::range(&[2])]).is_ok());
    let error = run(&program, &[&Array::range(&[3])]).unwrap_err();
    assert_eq!((error.class(), error.to_string()), (ErrorClass::Index, "3 rows, not 2".to_owned()));

    let sized = |op: SizeOp, a: i64, b: i64| {
        let mut builder = Builder::new();
        let [a, b] = [a, b].map(|value| builder.size_literal(value).unwrap());
        let made = builder.size_binary(op, a, b).unwrap();
        let made = builder.size_scalar(made).unwrap();
        run(&builder.finish(&[made]).unwrap(), &[])
    };
    assert_eq!(elements::<i64>(&sized(SizeOp::Add, i64::MAX, 1).unwrap()[0]), [i64::MIN]);
    for (op, a) in [(SizeOp::Mod, 0), (SizeOp::Mod, 7), (SizeOp::FloorDiv, -7)] {
        assert_eq!(elements::<i64>(&sized(op, a, 0).unwrap()[0]), [0]);
    }
}

#[test]
fn lengths_beyond_memory_are_errors() {
    for (length, class) in
        [(i64::MAX, ErrorClass::Value), (1 << 58, ErrorClass::Memory), (-1, ErrorClass::Value)]
    {
        let mut builder = Builder::new();
        let x = builder.input(vector(&[])).unwrap();
        let length = builder.size_literal(length).unwrap();
        let full = builder.full(DType::Float64, x, &[length]).unwrap();
        let sum = sum_slot(&mut builder, full);
        let program = builder.finish(&[sum]).unwrap();
        let error = run(&program, &[&Array::new(&[], &[1.0])]).unwrap_err();
        assert_eq!(error.class(), class, "{error}");
    }
}
