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
    let spec = ScanKernelSpec {
        steps,
        backwards,
        reads: vec![(x, true, vec![2]), (start, false, vec![2]), (factor, false, vec![])],
        writes: vec![(DType::Float64, true, vec![2]), (DType::Float64, false, vec![2])],
        carries: vec![Carry { read: 1, write: 1 }],
        counts: false,
    };
    // SAFETY: the kernel takes these operands.
    let slots = unsafe { builder.scan_kernel(running, Box::new(()), spec).unwrap() };
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

/// What `running` makes of many rows, by one call.
fn at_once(x: &[f64], backwards: bool) -> (Vec<f64>, Vec<f64>) {
    let (mut start, mut factor) = ([100.0, 200.0], [2.0]);
    let (mut rows, mut last) = (vec![0.0; x.len()], vec![0.0; 2]);
    let steps = x.len() / 2;
    let first = if backwards { 2 * (steps - 1) } else { 0 };
    let pointers: [*mut c_char; 5] = [
        x[first..].as_ptr().cast_mut().cast(),
        start.as_mut_ptr().cast(),
        factor.as_mut_ptr().cast(),
        rows[first..].as_mut_ptr().cast(),
        last.as_mut_ptr().cast(),
    ];
    let step = if backwards { -16 } else { 16 };
    // SAFETY: these are the operands that the kernel takes, with so many rows.
    let status =
        unsafe { running(pointers.as_ptr(), steps as i64, 1, [step, 0, 0, step, 0].as_ptr()) };
    assert_eq!(status, 0);
    (rows, last)
}

#[test]
fn many_rows_are_done_in_pieces() {
    let x: Vec<f64> = (0..50_000).map(|k| (k % 7) as f64 - 3.0).collect();
    for backwards in [false, true] {
        let dims = [25_000, 2];
        let got = run(&program(backwards), array(&x, &dims, &[16, 8])).unwrap();
        assert_eq!(got, at_once(&x, backwards));
        let mut transposed = vec![0.0; x.len()];
        for (at, value) in x.iter().enumerate() {
            transposed[at % 2 * 25_000 + at / 2] = *value;
        }
        let packed = array(&transposed, &dims, &[8, 200_000]);
        assert_eq!(run(&program(backwards), packed).unwrap(), got);
    }
}

/// Counts up from the first operand to the second, one each step, and then ends. Writes the count
/// and the number of steps.
unsafe extern "C" fn counting(ptr: *const *mut c_char, steps: i64, _: i64, _: *const i64) -> i32 {
    // SAFETY: the runtime gives two operands and two results of one int64.
    unsafe {
        let (mut state, end) = ((*ptr).cast::<i64>().read(), (*ptr.add(1)).cast::<i64>().read());
        let done = steps.min(end - state);
        state += done;
        (*ptr.add(2)).cast::<i64>().write(state);
        (*ptr.add(3)).cast::<i64>().write(done);
        if state == end && done > 0 { 3 } else { 0 }
    }
}

fn counter(carries: Vec<Carry>) -> Result<Program, BuildError> {
    let mut builder = Builder::new();
    let number = |builder: &mut Builder| builder.input(ArrayType::new(DType::Int64, &[]));
    let (start, end, most) = (number(&mut builder)?, number(&mut builder)?, number(&mut builder)?);
    let spec = ScanKernelSpec {
        steps: builder.size_value(most)?,
        backwards: false,
        reads: vec![(start, false, vec![]), (end, false, vec![])],
        writes: vec![(DType::Int64, false, vec![]), (DType::Int64, false, vec![])],
        carries,
        counts: true,
    };
    // SAFETY: the kernel takes these operands.
    let slots = unsafe { builder.scan_kernel(counting, Box::new(()), spec)? };
    builder.finish(&slots)
}

fn count(start: i64, end: i64, most: i64, conduct: &Conduct<'_>) -> Result<[i64; 2], Error> {
    let program = counter(vec![Carry { read: 0, write: 0 }]).unwrap();
    let given = [start, end, most];
    let inputs = given.each_ref().map(|value| ArrayRef {
        dtype: DType::Int64,
        data: std::ptr::from_ref(value).cast(),
        dims: &[],
        strides: &[],
        owner: None,
    });
    // SAFETY: the arrays outlive the run.
    let mut run = unsafe { program.bind(&inputs)? };
    run.execute(conduct)?;
    // SAFETY: the outputs are one int64 each.
    Ok([0, 1]
        .map(|at| unsafe { run.take_output(at).unwrap().buffer.as_ptr().cast::<i64>().read() }))
}

#[test]
fn pieces_count_their_steps_together() {
    // A piece has 2^16 / 4 steps: ends before, at and after its last.
    for end in [1, 7, 16_383, 16_384, 16_385, 32_767, 32_768, 32_769, 99_999, 100_000] {
        assert_eq!(count(5, 5 + end, 100_000, &Conduct::ALONE).unwrap(), [5 + end, end]);
    }
    assert_eq!(count(5, 1 << 40, 100_000, &Conduct::ALONE).unwrap(), [100_005, 100_000]);
}

#[test]
fn a_long_scan_ends_when_asked_to() {
    let asked = std::cell::Cell::new(0);
    let should_stop = || {
        asked.set(asked.get() + 1);
        asked.get() > 9
    };
    let conduct = Conduct { threads: Some(1), should_stop: &should_stop };
    let error = count(0, 1 << 50, 1 << 50, &conduct).unwrap_err();
    assert_eq!(error.to_string(), "the call was interrupted");
    assert_eq!(asked.get(), 10);
}

#[test]
fn what_is_kept_fits_its_operands() {
    for (read, write) in [(2, 0), (0, 2)] {
        let error = counter(vec![Carry { read, write }]).err().unwrap();
        assert_eq!(error, BuildError::Carry("a read and a write that do not walk"));
    }
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
