//! Kernels that go on from row to row.

use std::ffi::c_char;
use std::sync::Arc;

use frazil_core::DType;
use frazil_runtime::*;

/// Rows of two. `out[t] = s + x[t] * w` becomes `s`, which starts as the second operand, and whose
/// last value is the second result.
unsafe extern "C" fn running(
    ptr: *const *mut c_char,
    steps: i64,
    _: i64,
    stride: *const i64,
) -> i32 {
    // SAFETY: the runtime gives three operands and two results with this many rows.
    unsafe {
        let row =
            |k: usize, t: i64| (*ptr.add(k)).offset((t * *stride.add(k)) as isize).cast::<f64>();
        let mut state = [*row(1, 0), *row(1, 0).add(1)];
        let factor = *row(2, 0);
        for t in 0..steps {
            for (j, own) in state.iter_mut().enumerate() {
                *own += *row(0, t).add(j) * factor;
                *row(3, t).add(j) = *own;
            }
        }
        *row(4, 0) = state[0];
        *row(4, 0).add(1) = state[1];
    }
    0
}

fn float(shape: &[Option<u64>]) -> ArrayType {
    ArrayType::new(DType::Float64, shape)
}

fn program(backwards: bool) -> Program {
    let mut builder = Builder::new();
    let x = builder.input(float(&[None, None])).unwrap();
    let start = builder.input(float(&[None])).unwrap();
    let factor = builder.input(float(&[])).unwrap();
    let steps = builder.size_of(x, 0).unwrap();
    let spec = RecurrenceSpec {
        steps,
        backwards,
        reads: vec![(x, true, vec![2]), (start, false, vec![2]), (factor, false, vec![])],
        writes: vec![(DType::Float64, true, vec![2]), (DType::Float64, false, vec![2])],
    };
    // SAFETY: the kernel takes these operands.
    let slots = unsafe { builder.recurrence(running, Box::new(()), spec).unwrap() };
    builder.finish(&slots).unwrap()
}

fn array<'a>(data: &'a [f64], dims: &'a [i64], strides: &'a [i64]) -> ArrayRef<'a> {
    ArrayRef { dtype: DType::Float64, data: data.as_ptr().cast(), dims, strides, owner: None }
}

fn run(program: &Program, x: ArrayRef<'_>) -> Result<(Vec<f64>, Vec<f64>), Error> {
    let (start, factor) = ([100.0, 200.0], [2.0]);
    let inputs = [x, array(&start, &[2], &[8]), array(&factor, &[], &[])];
    // SAFETY: the arrays outlive the run.
    let mut run = unsafe { program.bind(&inputs)? };
    run.execute(&Conduct::ALONE)?;
    let mut elements = |at: usize| {
        let output = run.take_output(at).unwrap();
        let count = output.layout.dims.iter().product::<i64>() as usize;
        // SAFETY: an output in C order has so many elements.
        unsafe { std::slice::from_raw_parts(output.buffer.as_ptr().cast(), count).to_vec() }
    };
    Ok((elements(0), elements(1)))
}

#[test]
fn rows_are_walked_in_both_directions() {
    let x = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
    let x = array(&x, &[3, 2], &[16, 8]);
    let (rows, last) = run(&program(false), x).unwrap();
    assert_eq!(rows, [102.0, 204.0, 108.0, 212.0, 118.0, 224.0]);
    assert_eq!(last, [118.0, 224.0]);
    let (rows, last) = run(&program(true), x).unwrap();
    assert_eq!(rows, [118.0, 224.0, 116.0, 220.0, 110.0, 212.0]);
    assert_eq!(last, [118.0, 224.0]);
}

#[test]
fn rows_with_gaps_are_packed_and_steps_with_gaps_are_not() {
    // The transpose of a matrix, and every second row of one.
    let x = [1.0, 3.0, 5.0, 2.0, 4.0, 6.0];
    let transposed = array(&x, &[3, 2], &[8, 24]);
    for backwards in [false, true] {
        let plain = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let expected = run(&program(backwards), array(&plain, &[3, 2], &[16, 8])).unwrap();
        assert_eq!(run(&program(backwards), transposed).unwrap(), expected);
        let sparse = [1.0, 2.0, 0.0, 0.0, 3.0, 4.0, 0.0, 0.0, 5.0, 6.0];
        assert_eq!(run(&program(backwards), array(&sparse, &[3, 2], &[32, 8])).unwrap(), expected);
    }
}

#[test]
fn without_steps_the_states_stay() {
    let (rows, last) = run(&program(true), array(&[], &[0, 2], &[16, 8])).unwrap();
    assert!(rows.is_empty());
    assert_eq!(last, [100.0, 200.0]);
}

#[test]
fn rows_of_another_length_are_refused() {
    let x = [0.0; 6];
    let error = run(&program(false), array(&x, &[2, 3], &[24, 8])).unwrap_err();
    assert_eq!(
        error.to_string(),
        "operand 0 (input 0) has length 3 along axis 1 where 2 is expected"
    );
}

struct Given(Vec<Box<[u8]>>);

impl Parts for Given {
    fn constant(&mut self, _: DType, _: &Layout, _: &[u8]) -> Result<KeptArray, ForeignError> {
        Err("there are no constants".into())
    }

    fn kernel(&mut self, number: usize) -> Option<KernelPart> {
        let operands = self.0.get(number)?.clone();
        Some(KernelPart { function: running, keep: Box::new(()), operands })
    }

    fn function(&mut self, _: usize, _: usize) -> Option<Arc<dyn Foreign>> {
        None
    }
}

#[test]
fn bytes_give_the_program_back() {
    let program = program(true);
    let operands: Vec<_> = program.kernels().into_iter().map(|kernel| kernel.operands).collect();
    // SAFETY: the kernel takes these operands.
    let read = |bytes: &[u8], operands| unsafe { Program::from_bytes(bytes, &mut Given(operands)) };
    let again = read(&program.to_bytes(), operands.clone()).unwrap();
    assert_eq!(again.lines(), program.lines());
    let mut others = operands.clone();
    others[0][0] ^= 1;
    assert!(matches!(read(&program.to_bytes(), others), Err(CodecError::Operands(0))));
    let bytes = program.to_bytes();
    for at in 0..bytes.len() {
        for change in [1, 128] {
            let mut altered = bytes.clone();
            altered[at] ^= change;
            if let Ok(other) = read(&altered, operands.clone()) {
                // What is no fault of the bytes runs, or says why not.
                let x = [0.0; 6];
                let _ = run(&other, array(&x, &[3, 2], &[16, 8]));
            }
        }
    }
}
