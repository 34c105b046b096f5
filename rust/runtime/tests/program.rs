//! Programs built and run without Python.

mod arrays;
mod kernels;

use std::sync::Arc;
use std::thread;

use arrays::{Array, elements, floats, run, vector};
use frazil_core::DType;
use frazil_runtime::*;
use kernels::{add_slots, fail, sum_slot, write};

#[test]
fn inputs_are_checked() {
    let mut builder = Builder::new();
    let x = builder.input(vector(&[Some(3), None])).unwrap();
    let program = builder.finish(&[x]).unwrap();
    let text = |array: &Array| run(&program, &[array]).unwrap_err().to_string();
    assert_eq!(
        text(&Array::range(&[2, 1])),
        "input 0 has shape (2, 1), but its type says (3, None)"
    );
    assert!(text(&Array::range(&[2])).contains("1-d array of float64, not a 2-d one"));
    assert!(run(&program, &[]).unwrap_err().to_string().contains("takes 1 inputs, 0 were given"));
}

#[test]
fn outputs_never_share_memory() {
    let mut builder = Builder::new();
    let x = builder.input(vector(&[None, None])).unwrap();
    let y = add_slots(&mut builder, x, x);
    let t = builder.transpose(y, &[1, 0]).unwrap();
    let program = builder.finish(&[x, t, y, y]).unwrap();
    let x = Array::range(&[2, 2]);
    let outputs = run(&program, &[&x]).unwrap();
    let mut starts: Vec<*mut u8> = outputs.iter().map(|array| array.buffer.as_ptr()).collect();
    starts.push(x.data.as_ptr().cast_mut().cast());
    starts.sort();
    starts.dedup();
    assert_eq!(starts.len(), 5);
    let values: Vec<Vec<f64>> = outputs.iter().map(elements).collect();
    let doubled = vec![0.0, 2.0, 4.0, 6.0];
    assert_eq!(values, [x.data, vec![0.0, 4.0, 2.0, 6.0], doubled.clone(), doubled]);
}

#[test]
fn a_copied_reshape_and_its_source_are_both_outputs() {
    // The reshape of a transposed result is no view: it is copied into memory that its source was
    // made in.
    let mut builder = Builder::new();
    let x = builder.input(vector(&[None, None])).unwrap();
    let t = builder.transpose(x, &[1, 0]).unwrap();
    let y = add_slots(&mut builder, t, t);
    let six = builder.size_literal(6).unwrap();
    let flat = builder.reshape(y, &[six]).unwrap();
    let program = builder.finish(&[flat, y]).unwrap();
    let expected = vec![0.0, 6.0, 2.0, 8.0, 4.0, 10.0];
    assert_eq!(floats(&program, &[&Array::range(&[2, 3])]), [expected.clone(), expected]);
}

#[test]
fn views_are_chained_without_copies() {
    let mut builder = Builder::new();
    let x = builder.input(vector(&[None, None])).unwrap();
    let [one, two, minus] = [1, 2, -1].map(|value| builder.size_literal(value).unwrap());
    let view = [
        Index::Range { start: None, stop: None, step: minus },
        Index::Range { start: Some(one), stop: None, step: two },
    ];
    let odd = builder.slice(x, &view).unwrap();
    let wide = builder.expand_dims(odd, &[1]).unwrap();
    let dropped = builder.drop_dims(wide, &[1]).unwrap();
    let flat = builder.reshape(dropped, &[minus]).unwrap();
    let row = builder.slice(dropped, &[Index::At(minus)]).unwrap();
    let stretched = builder.broadcast_to(row, &[two, two]).unwrap();
    let program = builder.finish(&[flat, stretched]).unwrap();
    let outputs = floats(&program, &[&Array::range(&[3, 4])]);
    assert_eq!(outputs, [vec![9.0, 11.0, 5.0, 7.0, 1.0, 3.0], vec![1.0, 3.0, 1.0, 3.0]]);
}

#[test]
fn updates_leave_their_operand_alone() {
    let mut builder = Builder::new();
    let x = builder.input(vector(&[None, None])).unwrap();
    let value = builder.input(vector(&[None])).unwrap();
    let [zero, one] = [0, 1].map(|at| builder.size_literal(at).unwrap());
    let all = Index::Range { start: None, stop: None, step: one };
    let set = builder.set(x, &[all, Index::At(zero)], value).unwrap();
    let more = builder.increment(set, &[Index::At(one)], value).unwrap();
    let program = builder.finish(&[set, more]).unwrap();
    let (x, value) = (Array::range(&[2, 2]), Array::new(&[2], &[10.0, 20.0]));
    let outputs = floats(&program, &[&x, &value]);
    assert_eq!(outputs, [[10.0, 1.0, 20.0, 3.0], [10.0, 1.0, 30.0, 23.0]]);
    assert_eq!(x, Array::range(&[2, 2]));
    let error = run(&program, &[&x, &Array::range(&[3])]).unwrap_err();
    assert_eq!(error.to_string(), "an array of shape (3,) does not broadcast to (2,)");
}

struct Reversed;

impl Foreign for Reversed {
    fn call(&self, inputs: &[ArrayRef<'_>]) -> Result<Vec<KeptArray>, ForeignError> {
        let [input] = inputs else { return Err("one input is needed".into()) };
        let length = input.dims[0];
        let mut data: Vec<f64> = (0..length)
            // SAFETY: the input is valid at its layout during the call.
            .map(|at| unsafe {
                input.data.offset((at * input.strides[0]) as isize).cast::<f64>().read()
            })
            .collect();
        data.reverse();
        if data.first() == Some(&-1.0) {
            return Err("refused".into());
        }
        if data.first() == Some(&-2.0) {
            return Ok(vec![]);
        }
        let dims = if data.first() == Some(&-3.0) { vec![] } else { vec![length] };
        let strides = vec![8; dims.len()];
        Ok(vec![KeptArray {
            dtype: DType::Float64,
            data: data.as_ptr().cast(),
            layout: Layout { dims: dims.into(), strides: strides.into() },
            owner: None,
            keep: Box::new(data),
        }])
    }

    fn name(&self) -> String {
        "reversed".to_owned()
    }
}

#[test]
fn foreign_functions_take_and_give_arrays() {
    let mut builder = Builder::new();
    let x = builder.input(vector(&[None])).unwrap();
    let twice = add_slots(&mut builder, x, x);
    let types = [vector(&[None])];
    builder.origin(Some(Origin(3)));
    let reversed = builder.call(Arc::new(Reversed), &[twice], &types).unwrap()[0];
    let again = add_slots(&mut builder, reversed, twice);
    let last = builder.call(Arc::new(Reversed), &[again], &types).unwrap()[0];
    let program = builder.finish(&[last, reversed, last]).unwrap();
    let outputs = floats(&program, &[&Array::new(&[3], &[1.0, 2.0, 4.0])]);
    assert_eq!(outputs, [[10.0, 8.0, 10.0], [8.0, 4.0, 2.0], [10.0, 8.0, 10.0]]);
    for (value, expected) in [
        (-0.5, "refused"),
        (-1.0, "reversed returned 0 results, 1 were declared"),
        (-1.5, "result 0 of reversed has type float64[], float64[?] was declared"),
    ] {
        let error = run(&program, &[&Array::new(&[1], &[value])]).unwrap_err();
        assert_eq!((error.to_string().as_str(), error.origin), (expected, Some(Origin(3))));
    }
}

#[test]
fn many_threads_run_one_program() {
    let mut builder = Builder::new();
    let x = builder.input(vector(&[None])).unwrap();
    let y = add_slots(&mut builder, x, x);
    let z = add_slots(&mut builder, y, x);
    let all = sum_slot(&mut builder, z);
    let program = builder.finish(&[all]).unwrap();
    thread::scope(|scope| {
        for thread in 1..9 {
            let program = &program;
            scope.spawn(move || {
                for call in 0..200 {
                    let length = (thread * 7 + call % 5) % 30;
                    let x = Array::new(&[length], &vec![thread as f64; length as usize]);
                    let expected = 3.0 * (length * thread) as f64;
                    assert_eq!(floats(program, &[&x]), [[expected]]);
                }
            });
        }
    });
}

#[test]
fn the_builder_refuses_what_does_not_fit() {
    let mut builder = Builder::new();
    let x = builder.input(vector(&[None, None])).unwrap();
    let i = builder.input(ArrayType::new(DType::Int32, &[None])).unwrap();
    let n = builder.size_of(x, 0).unwrap();
    let rest = builder.size_literal(-1).unwrap();
    let one = Index::At(n);
    let errors = [
        builder.size_of(Slot(9), 0).unwrap_err(),
        builder.size_of(x, 2).unwrap_err(),
        builder.size_value(i).unwrap_err(),
        builder.size_binary(SizeOp::Add, n, Size(9)).unwrap_err(),
        builder.transpose(x, &[0]).unwrap_err(),
        builder.transpose(x, &[0, 0]).unwrap_err(),
        builder.expand_dims(x, &[3]).unwrap_err(),
        builder.drop_dims(x, &[2]).unwrap_err(),
        builder.broadcast_to(x, &[n]).unwrap_err(),
        builder.slice(x, &[one, one, one]).unwrap_err(),
        builder.slice(x, &[Index::At(Size(9))]).unwrap_err(),
        builder.reshape(x, &[Size(9)]).unwrap_err(),
        builder.reshape(x, &[rest, rest]).unwrap_err(),
        builder.copy(Slot(9)).unwrap_err(),
        builder.set(x, &[one], i).unwrap_err(),
        builder.increment(x, &[one, one], x).unwrap_err(),
        builder.dot(x, i).unwrap_err(),
        builder.gemm(x, i, x, x, i).unwrap_err(),
        builder.cholesky(i, true, OnError::Raise).unwrap_err(),
        builder.join(&[x, i], 0).unwrap_err(),
        builder.full(DType::Float64, x, &[]).unwrap_err(),
        builder.require_equal(n, Size(9), "").unwrap_err(),
        builder.call(Arc::new(Reversed), &[Slot(9)], &[]).unwrap_err(),
    ];
    assert_eq!(errors[0], BuildError::NoSlot(Slot(9)));
    assert_eq!(errors[5], BuildError::RepeatedAxis { axis: 0 });
    let mut kernel = |reads: &[(Slot, Vec<Option<usize>>)], writes: &[WriteSpec]| {
        // SAFETY: the kernel touches nothing.
        unsafe { builder.loop_kernel(fail::<0>, Box::new(()), &[n], reads, writes) }.unwrap_err()
    };
    kernel(&[(x, vec![])], &[]);
    kernel(&[(x, vec![Some(2)])], &[]);
    let error = kernel(&[], &[write(vec![None], None)]);
    assert_eq!(error, BuildError::NotReduced { position: 0, dim: 0 });
    let mut wrong = write(vec![None], Some(0.0));
    wrong.dtype = DType::Int8;
    kernel(&[], &[wrong]);
    assert!(builder.finish(&[Slot(9)]).is_err());
}

#[test]
fn a_program_has_a_text_form() {
    let mut builder = Builder::new();
    let x = builder.input(vector(&[None, Some(3)])).unwrap();
    let y = add_slots(&mut builder, x, x);
    let total = sum_slot(&mut builder, y);
    let n = builder.size_of(y, 0).unwrap();
    let one = builder.size_literal(1).unwrap();
    let more = builder.size_binary(SizeOp::Add, n, one).unwrap();
    let view = [Index::Range { start: Some(n), stop: None, step: one }];
    let part = builder.slice(y, &view).unwrap();
    let full = builder.full(DType::Float64, total, &[more]).unwrap();
    builder.require_equal(n, one, "why").unwrap();
    let program = builder.finish(&[part, full]).unwrap();
    let expected = "\
%0 = input float64[?, 3]
n0 = %0.shape[0]
n1 = 3
n2 = %1.shape[0]
n3 = %1.shape[1]
n4 = 1
n5 = add(n2, n4)
%1 = loop k0(n0, n1) %0[0, 1] %0[0, 1] -> [0, 1]
%2 = loop k1(n2, n3) %1[0, 1] -> [_, _] from 0.0
%3 = slice %1 [n2::n4]
%4 = full %2 (n5)
require n2 == n4 \"why\"
return %3, %4";
    assert_eq!(program.lines().join("\n"), expected);
}

#[test]
fn complex_numbers_go_to_foreign_functions_only() {
    let mut builder = Builder::new();
    let x = builder.input(ArrayType::new(DType::Complex128, &[None])).unwrap();
    builder.finish(&[x]).unwrap();
    let mut builder = Builder::new();
    let x = builder.input(ArrayType::new(DType::Complex128, &[None])).unwrap();
    let copy = builder.copy(x).unwrap();
    assert!(matches!(
        builder.finish(&[copy]),
        Err(BuildError::UnsupportedDType { given: DType::Complex128, .. })
    ));
}

#[test]
fn numbers_of_16_bits_are_moved_and_not_computed_with() {
    let mut builder = Builder::new();
    let x = builder.input(ArrayType::new(DType::Float16, &[None])).unwrap();
    let copy = builder.copy(x).unwrap();
    builder.finish(&[copy]).unwrap();
    type Compute = fn(&mut Builder, Slot) -> Result<Slot, BuildError>;
    let computations: [Compute; 2] =
        [|builder, x| builder.sort(x, 0), |builder, x| builder.dot(x, x)];
    for compute in computations {
        let mut builder = Builder::new();
        let x = builder.input(ArrayType::new(DType::Float16, &[None])).unwrap();
        let made = compute(&mut builder, x).unwrap();
        assert!(matches!(
            builder.finish(&[made]),
            Err(BuildError::UnsupportedDType { given: DType::Float16, .. })
        ));
    }
}
