//! Programs built and run without Python.

mod kernels;

use std::ffi::c_char;
use std::sync::Arc;
use std::thread;

use frazil_core::DType;
use frazil_runtime::*;
use kernels::{add, strides, sum, whole};

/// A `float64` array of the test.
#[derive(Clone, Debug, PartialEq)]
struct Array {
    data: Vec<f64>,
    dims: Vec<i64>,
    strides: Vec<i64>,
}

impl Array {
    fn new(dims: &[i64], data: &[f64]) -> Array {
        Array { data: data.to_vec(), dims: dims.to_vec(), strides: strides(dims) }
    }

    fn range(dims: &[i64]) -> Array {
        let count = dims.iter().product::<i64>();
        Array::new(dims, &(0..count).map(|at| at as f64).collect::<Vec<_>>())
    }

    fn as_ref(&self) -> ArrayRef<'_> {
        ArrayRef {
            dtype: DType::Float64,
            data: self.data.as_ptr().cast(),
            dims: &self.dims,
            strides: &self.strides,
            owner: None,
        }
    }
}

/// The elements of an output in C order.
fn elements<T: Copy>(array: &OwnedArray) -> Vec<T> {
    let mut offsets = vec![0];
    for (&length, &stride) in array.layout.dims.iter().zip(&array.layout.strides) {
        offsets = offsets
            .iter()
            .flat_map(|&base| (0..length).map(move |at| base + at * stride))
            .collect();
    }
    let start = array.buffer.as_ptr();
    // SAFETY: the layout of an output lies inside its buffer.
    offsets.iter().map(|&at| unsafe { start.offset(at as isize).cast::<T>().read() }).collect()
}

fn run(program: &Program, inputs: &[&Array]) -> Result<Vec<OwnedArray>, Error> {
    let inputs: Vec<ArrayRef<'_>> = inputs.iter().map(|array| array.as_ref()).collect();
    // SAFETY: the arrays outlive the run.
    let mut run = unsafe { program.bind(&inputs)? };
    run.execute(&Conduct::ALONE)?;
    Ok((0..program.outputs().len()).map(|at| run.take_output(at).unwrap()).collect())
}

fn floats(program: &Program, inputs: &[&Array]) -> Vec<Vec<f64>> {
    run(program, inputs).unwrap().iter().map(elements).collect()
}

fn vector(shape: &[Option<u64>]) -> ArrayType {
    ArrayType::new(DType::Float64, shape)
}

unsafe extern "C" fn fail<const STATUS: i32>(
    _: *const *mut c_char,
    _: i64,
    _: i64,
    _: *const i64,
) -> i32 {
    STATUS
}

fn write(axes: Vec<Option<usize>>, identity: Option<f64>) -> WriteSpec {
    let identity = identity.map(|value| Scalar::from_f64(DType::Float64, value));
    let fold = identity.map(|_| Fold::Add);
    WriteSpec { dtype: DType::Float64, axes, identity, fold }
}

fn sizes(builder: &mut Builder, slot: Slot) -> Vec<Size> {
    let ndim = builder.slot_type(slot).unwrap().1;
    (0..ndim).map(|axis| builder.size_of(slot, axis).unwrap()).collect()
}

fn add_slots(builder: &mut Builder, a: Slot, b: Slot) -> Slot {
    let dims = sizes(builder, a);
    let axes = whole(dims.len());
    let reads = [(a, axes.clone()), (b, axes.clone())];
    // SAFETY: `add` takes two float64 operands and one result that move along the inner dimension.
    unsafe { builder.loop_kernel(add, Box::new(()), &dims, &reads, &[write(axes, None)]) }.unwrap()
        [0]
}

fn sum_slot(builder: &mut Builder, of: Slot) -> Slot {
    let dims = sizes(builder, of);
    let reads = [(of, whole(dims.len()))];
    let writes = [write(vec![None; dims.len()], Some(0.0))];
    // SAFETY: `sum` takes one float64 operand and a result that stays along the inner dimension.
    unsafe { builder.loop_kernel(sum, Box::new(()), &dims, &reads, &writes) }.unwrap()[0]
}

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
            let total: f64 = (0..n_inner as usize).map(|j| *row(0).add(j)).sum();
            for j in 0..n_inner as usize {
                *row(3).add(j) = *row(0).add(j) * total;
            }
            for j in 0..n_inner as usize {
                *row(1).add(j) = *row(3).add(j);
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
        let slots = unsafe { builder.loop_of(times_total, Box::new(()), spec) }.unwrap();
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
    let refused = unsafe { builder.loop_of(times_total, Box::new(()), spec) };
    assert_eq!(refused.unwrap_err(), BuildError::NoRow);
}

#[test]
fn indices_move_operands() {
    let mut builder = Builder::new();
    let at = builder.input(vector(&[None])).unwrap();
    let x = builder.input(vector(&[None, None])).unwrap();
    let y = builder.input(vector(&[None, None])).unwrap();
    let turned = builder.transpose(x, &[1, 0]).unwrap();
    let dims = vec![builder.size_of(at, 0).unwrap(), builder.size_of(y, 1).unwrap()];
    let indexed = |slot| IndexedSpec { slot, axes: vec![None, Some(1)], indexed: vec![0] };
    let spec = LoopSpec {
        dims,
        reads: vec![(at, vec![Some(0), None])],
        sources: vec![indexed(turned)],
        targets: vec![indexed(y)],
        ..LoopSpec::default()
    };
    // SAFETY: the kernel takes an index that stays along the row, and a float64 source and target,
    // each with one index.
    let slots = unsafe { builder.loop_of(move_rows, Box::new(()), spec.clone()) }.unwrap();
    let program = builder.finish(&slots).unwrap();
    let x = Array::range(&[2, 3]);
    let y = Array::new(&[3, 2], &[0.0; 6]);
    let run = |rows: &[f64]| run(&program, &[&Array::new(&[rows.len() as i64], rows), &x, &y]);
    let moved: Vec<Vec<f64>> = run(&[2.0, 0.0, 2.0]).unwrap().iter().map(elements).collect();
    assert_eq!(moved, [[0.0, 3.0, 0.0, 0.0, 4.0, 10.0]]);
    let fault = run(&[1.0, 3.0]).err().unwrap().fault;
    assert!(matches!(fault, Fault::Index { index: 3, axis: 0, length: 3 }), "{fault}");

    let mut builder = Builder::new();
    let x = builder.input(vector(&[None, None])).unwrap();
    let twice = IndexedSpec { slot: x, axes: vec![Some(0)], indexed: vec![0] };
    let dims = vec![builder.size_literal(1).unwrap()];
    let spec = LoopSpec { dims, sources: vec![twice], ..LoopSpec::default() };
    // SAFETY: the builder refuses it.
    let refused = unsafe { builder.loop_of(move_rows, Box::new(()), spec) };
    assert_eq!(refused.unwrap_err(), BuildError::RepeatedAxis { axis: 0 });
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
fn requirements_and_bad_sizes_stop_the_call() {
    let mut builder = Builder::new();
    let x = builder.input(vector(&[None])).unwrap();
    let n = builder.size_of(x, 0).unwrap();
    let two = builder.size_literal(2).unwrap();
    let zero = builder.size_literal(0).unwrap();
    builder.require_equal(n, two, "lengths differ").unwrap();
    let bad = builder.size_binary(SizeOp::FloorDiv, n, zero).unwrap();
    let is_two = builder.size_binary(SizeOp::Eq, n, two).unwrap();
    let fine = builder.size_where(is_two, n, bad).unwrap();
    let fine = builder.size_scalar(fine).unwrap();
    let program = builder.finish(&[fine]).unwrap();
    assert_eq!(elements::<i64>(&run(&program, &[&Array::range(&[2])]).unwrap()[0]), [2]);
    let text = run(&program, &[&Array::range(&[3])]).unwrap_err().to_string();
    assert_eq!(text, "lengths differ: 3 != 2");

    for (op, a, b, expected) in [
        (SizeOp::Mod, 0, 0, "division by zero in a size"),
        (SizeOp::Add, i64::MAX, 1, "a size does not fit into 64 bits"),
    ] {
        let mut builder = Builder::new();
        let [a, b] = [a, b].map(|value| builder.size_literal(value).unwrap());
        let bad = builder.size_binary(op, a, b).unwrap();
        builder.size_scalar(bad).unwrap();
        let program = builder.finish(&[]).unwrap();
        let error = run(&program, &[]).unwrap_err();
        assert!(error.to_string().starts_with(expected), "{error}");
        assert_eq!(error.class(), ErrorClass::Value);
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
        builder.cholesky(i, true).unwrap_err(),
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
