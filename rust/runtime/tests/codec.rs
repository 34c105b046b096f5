//! Programs as bytes: what is read back is what was written, and hostile bytes do no harm.

mod kernels;

use std::sync::Arc;

use frazil_core::DType;
use frazil_runtime::*;
use kernels::{add, strides, sum};
use proptest::prelude::*;

/// Gives a copy of its only operand. Bytes that were altered may give it others: those it refuses, as
/// functions of Python do.
struct Echo;

impl Foreign for Echo {
    fn call(&self, inputs: &[ArrayRef<'_>]) -> Result<Vec<KeptArray>, ForeignError> {
        let &[input] = inputs else {
            return Err(format!("echo takes one array, given {}", inputs.len()).into());
        };
        if input.dtype != DType::Float64 {
            return Err(format!("echo takes an array of float64, given {}", input.dtype).into());
        }
        let layout = Layout { dims: input.dims.into(), strides: input.strides.into() };
        let count: i64 = input.dims.iter().product();
        let mut elements = Vec::new();
        for at in 0..count {
            let (mut rest, mut offset) = (at, 0);
            for (&length, &stride) in input.dims.iter().zip(input.strides).rev() {
                offset += rest % length * stride;
                rest /= length;
            }
            // SAFETY: `at` is one of the elements.
            elements.push(unsafe { input.data.offset(offset as isize).cast::<f64>().read() });
        }
        Ok(vec![floats(&layout.dims, elements)])
    }

    fn name(&self) -> String {
        "echo".to_owned()
    }
}

/// An array in C order that keeps its elements itself.
fn floats(dims: &[i64], elements: Vec<f64>) -> KeptArray {
    KeptArray {
        dtype: DType::Float64,
        data: elements.as_ptr().cast(),
        layout: Layout { dims: dims.into(), strides: strides(dims).into() },
        owner: None,
        keep: Box::new(elements),
    }
}

/// The parts of the programs of these tests.
struct Known {
    kernels: Vec<(KernelFn, Box<[u8]>)>,
}

impl Known {
    /// Those of `program`, whose kernels are kept by their own addresses.
    fn of(program: &Program) -> Known {
        let kernels = program.kernels();
        let function = |kernel: &KernelRef<'_>| *kernel.keep.downcast_ref::<KernelFn>().unwrap();
        Known { kernels: kernels.iter().map(|k| (function(k), k.operands.clone())).collect() }
    }
}

impl Parts for Known {
    fn constant(
        &mut self,
        dtype: DType,
        layout: &Layout,
        elements: &[u8],
    ) -> Result<KeptArray, ForeignError> {
        if dtype != DType::Float64 {
            return Err("only float64 is known".into());
        }
        let (chunks, _) = elements.as_chunks::<8>();
        Ok(floats(&layout.dims, chunks.iter().map(|chunk| f64::from_ne_bytes(*chunk)).collect()))
    }

    fn kernel(&mut self, number: usize) -> Option<KernelPart> {
        let (function, operands) = self.kernels.get(number)?.clone();
        Some(KernelPart { function, keep: Box::new(function), operands })
    }

    fn function(&mut self, number: usize, results: usize) -> Option<Arc<dyn Foreign>> {
        (number < 512 && results == 1).then(|| Arc::new(Echo) as Arc<dyn Foreign>)
    }
}

fn read(bytes: &[u8], parts: &mut Known) -> Result<Program, CodecError> {
    // SAFETY: the kernels of these tests are loops over the operands that their programs had.
    unsafe { Program::from_bytes(bytes, parts) }
}

const ADD: KernelFn = add;
const SUM: KernelFn = sum;

/// A program of two inputs of this rank that itself runs one.
fn inner(ndim: usize) -> Arc<Program> {
    let ty = ArrayType::new(DType::Float64, &vec![None; ndim]);
    let mut innermost = Builder::new();
    let x = innermost.input(ty.clone()).unwrap();
    let made = innermost.copy(x).unwrap();
    let echoed = innermost.call(Arc::new(Echo), &[made], std::slice::from_ref(&ty)).unwrap();
    let innermost = innermost.finish(&[made, echoed[0]]).unwrap();
    let mut builder = Builder::new();
    builder.origin(Some(Origin(3)));
    let (a, b) = (builder.input(ty.clone()).unwrap(), builder.input(ty).unwrap());
    let number = builder.nest(Arc::new(innermost), Origin(5)).unwrap();
    let made = builder.run(number, None, &[a]).unwrap();
    let sum = builder.increment(made[1], &[], b).unwrap();
    Arc::new(builder.finish(&[sum, made[0]]).unwrap())
}

/// A program of two matrix inputs and a constant, made by one instruction after another.
fn program(choices: &[(u8, u8, u8)]) -> Program {
    let mut builder = Builder::new();
    let ty = ArrayType::new(DType::Float64, &[None, Some(3)]);
    let mut slots = vec![builder.input(ty.clone()).unwrap()];
    let elements = (0..6).map(f64::from).collect();
    slots.push(builder.constant(floats(&[2, 3], elements)).unwrap());
    slots.push(builder.input(ty).unwrap());
    for (at, &(kind, first, second)) in choices.iter().enumerate() {
        builder.origin((kind % 2 == 0).then_some(Origin(at as u32)));
        let (a, b) = (slots[first as usize % slots.len()], slots[second as usize % slots.len()]);
        let (_, ndim) = builder.slot_type(a).unwrap();
        let dims: Vec<Size> = (0..ndim).map(|axis| builder.size_of(a, axis).unwrap()).collect();
        let all: Vec<Option<usize>> = (0..ndim).map(Some).collect();
        let dtype = DType::Float64;
        let made = match kind % 17 {
            0 | 1 if ndim > 0 => {
                let reads = [(a, all.clone()), (a, all.clone())];
                let writes = [WriteSpec { dtype, axes: all, identity: None, fold: None }];
                // SAFETY: `add` takes two float64 operands and a result, all moving.
                unsafe { builder.loop_kernel(ADD, Box::new(ADD), &dims, &reads, &writes) }
                    .map(|slots| slots[0])
            }
            2 if ndim > 0 => {
                let identity = Some(Scalar::from_f64(dtype, 0.0));
                let writes =
                    [WriteSpec { dtype, axes: vec![None; ndim], identity, fold: Some(Fold::Add) }];
                let reads = [(a, all)];
                // SAFETY: `sum` takes a float64 operand and a result that stays.
                unsafe { builder.loop_kernel(SUM, Box::new(SUM), &dims, &reads, &writes) }
                    .map(|slots| slots[0])
            }
            3 => builder.transpose(a, &(0..ndim).rev().collect::<Vec<_>>()),
            4 if ndim < 4 => builder.expand_dims(a, &[second as usize % (ndim + 1)]),
            5 => {
                let two = builder.size_literal(2).unwrap();
                builder.broadcast_to(a, &[&[two], &dims[..]].concat())
            }
            6 => {
                let step = builder.size_literal(if second % 2 == 0 { -1 } else { 2 }).unwrap();
                builder.slice(a, &[Index::Range { start: None, stop: None, step }])
            }
            7 => {
                let rest = builder.size_literal(-1).unwrap();
                builder.reshape(a, &[rest])
            }
            8 => builder.copy(a),
            9 => {
                let zero = builder.size_literal(0).unwrap();
                builder.set(a, &[Index::At(zero)], b)
            }
            10 => builder.increment(a, &[], b),
            11 => {
                let scale = builder.size_literal(second.into()).unwrap();
                let length = dims.first().copied().unwrap_or(scale);
                let product = builder.size_binary(SizeOp::Mul, length, scale).unwrap();
                let size = builder.size_where(length, product, scale).unwrap();
                builder.require_equal(size, product, "the same").unwrap();
                builder.require_indices(product, size, "the same").unwrap();
                builder.check(length, "not empty", second % 2 == 0).unwrap();
                continue;
            }
            14..=16 if ndim > 0 => {
                let nested = builder.nest(inner(ndim), Origin(at as u32)).unwrap();
                match kind % 17 {
                    14 => builder.run(nested, None, &[a, b]).map(|slots| slots[0]),
                    15 => {
                        let flag = builder.size_literal(second.into()).unwrap();
                        let flag = builder.size_scalar(flag).unwrap();
                        let lengths = match second % 2 {
                            0 => vec![None, None],
                            _ => {
                                let size = |axis| builder.size_of(a, axis).unwrap();
                                vec![None, Some((0..ndim).map(size).collect())]
                            }
                        };
                        let arms = [(nested, &[a, b][..]), (nested, &[b, a])];
                        builder.branch(flag, arms, &lengths).map(|slots| slots[1])
                    }
                    _ => {
                        let nested = builder.nest(inner(ndim - 1), Origin(7)).unwrap();
                        let steps = builder.size_literal(i64::from(second % 4)).unwrap();
                        let zero = builder.size_literal(0).unwrap();
                        let row = builder.slice(a, &[Index::At(zero)]).unwrap();
                        let next = if second % 2 == 0 { Next::Output(1) } else { Next::Input(0) };
                        let states = vec![(row, next)];
                        let (sequences, others, stacked) =
                            (vec![a], vec![], vec![second as usize % 2]);
                        let program = nested;
                        let spec = ScanSpec {
                            program,
                            steps,
                            sequences,
                            states,
                            others,
                            stacked,
                            until: None,
                        };
                        builder.scan(&spec).map(|made| made.stacked[0])
                    }
                }
            }
            12 => builder
                .call(Arc::new(Echo), &[a], &[ArrayType::new(dtype, &vec![None; ndim])])
                .map(|slots| slots[0]),
            _ => {
                let one = builder.constant(floats(&[], vec![1.5])).unwrap();
                builder.full(dtype, one, &dims)
            }
        };
        // What the builder refuses is left out.
        slots.extend(made.ok());
    }
    builder.finish(&slots).unwrap()
}

fn run(program: &Program) -> Result<Vec<Vec<u64>>, String> {
    let elements: Vec<f64> = (0..6).map(|at| f64::from(at) / 2.0).collect();
    let array = floats(&[2, 3], elements);
    let inputs = vec![array.as_ref(); 2];
    // SAFETY: the array outlives the run.
    let mut run = unsafe { program.bind(&inputs) }.map_err(|error| error.to_string())?;
    run.execute(&Conduct::ALONE).map_err(|error| format!("{error} {:?}", error.origin))?;
    let mut outputs = Vec::new();
    for position in 0..program.outputs().len() {
        let OwnedArray { buffer, layout, dtype } = run.take_output(position).unwrap();
        let bytes = layout.dims.iter().product::<i64>() as usize * dtype.itemsize();
        // SAFETY: an output fills its memory without gaps.
        let bytes = unsafe { std::slice::from_raw_parts(buffer.as_ptr(), bytes) };
        outputs.push(bytes.iter().map(|&byte| byte.into()).collect());
    }
    Ok(outputs)
}

fn choices() -> impl Strategy<Value = Vec<(u8, u8, u8)>> {
    prop::collection::vec((0..17u8, any::<u8>(), any::<u8>()), 0..10)
}

/// A program is read back whole from its bytes.
fn check_that_it_comes_back(choices: &[(u8, u8, u8)]) {
    let program = program(choices);
    let bytes = program.to_bytes();
    let again = read(&bytes, &mut Known::of(&program)).unwrap();
    assert_eq!(again.lines(), program.lines());
    assert_eq!(again.to_bytes(), bytes);
    assert_eq!(run(&again), run(&program));
}

/// A program whose bytes were altered is refused, or runs: what is refused then is an error of the
/// call.
fn check_that_it_is_safe(choices: &[(u8, u8, u8)], edits: &[(usize, u8)]) {
    let program = program(choices);
    let mut bytes = program.to_bytes();
    for &(at, byte) in edits {
        bytes[at] = byte;
    }
    if let Ok(altered) = read(&bytes, &mut Known::of(&program)) {
        // Arrays that would fill the machine are not tried.
        let text = altered.lines().join(" ");
        let mut numbers = text.split(|c: char| !c.is_ascii_digit()).filter(|n| !n.is_empty());
        if numbers.all(|number| number.parse().is_ok_and(|number: u32| number < 1000)) {
            let _ = run(&altered);
        }
    }
}

#[test]
fn programs_that_failed_once() {
    check_that_it_comes_back(&[(2, 0, 0), (0, 0, 0), (16, 14, 148)]);
    check_that_it_is_safe(&[(2, 0, 0), (0, 0, 0), (16, 124, 33)], &[(0, 0)]);
}

/// Every byte of a program that calls functions, one after the other, becomes another one: among
/// them the number of operands of a call.
#[test]
fn a_call_of_other_operands_is_refused() {
    let choices = [(12, 0, 0), (14, 0, 2), (12, 3, 0)];
    for at in 0..program(&choices).to_bytes().len() {
        for byte in [0, 1, 2, 255] {
            check_that_it_is_safe(&choices, &[(at, byte)]);
        }
    }
}

proptest! {
    #[test]
    fn a_program_comes_back_whole(choices in choices()) {
        check_that_it_comes_back(&choices);
    }

    #[test]
    fn altered_bytes_are_refused_or_run_safely(
        choices in choices(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let length = program(&choices).to_bytes().len();
        let edits: Vec<_> = edits.iter().map(|(at, byte)| (at.index(length), *byte)).collect();
        check_that_it_is_safe(&choices, &edits);
    }

    #[test]
    fn bytes_that_were_cut_or_continued_are_refused(choices in choices(), byte in any::<u8>()) {
        let program = program(&choices);
        let mut bytes = program.to_bytes();
        for end in 0..bytes.len() {
            prop_assert!(read(&bytes[..end], &mut Known::of(&program)).is_err());
        }
        bytes.push(byte);
        prop_assert!(matches!(
            read(&bytes, &mut Known::of(&program)),
            Err(CodecError::Surplus)
        ));
    }
}

#[test]
fn constants_are_told_by_their_elements() {
    let mut array = floats(&[2, 3], (0..6).map(f64::from).collect());
    array.layout = Layout { dims: [3, 2].as_slice().into(), strides: [8, 24].as_slice().into() };
    let mut builder = Builder::new();
    let slot = builder.constant(array).unwrap();
    let program = builder.finish(&[slot]).unwrap();
    let again = read(&program.to_bytes(), &mut Known { kernels: Vec::new() }).unwrap();
    // SAFETY: there are no inputs.
    let mut run = unsafe { again.bind(&[]) }.unwrap();
    run.execute(&Conduct::ALONE).unwrap();
    let output = run.take_output(0).unwrap();
    assert_eq!(output.layout.dims[..], [3, 2]);
    // SAFETY: the output has six elements.
    let elements = unsafe { std::slice::from_raw_parts(output.buffer.as_ptr().cast::<f64>(), 6) };
    assert_eq!(elements, [0.0, 3.0, 1.0, 4.0, 2.0, 5.0]);
}

#[test]
fn kernels_and_functions_are_those_that_were_written() {
    let program = program(&[(0, 0, 0), (2, 0, 0), (12, 0, 0)]);
    let bytes = program.to_bytes();
    let mut parts = Known::of(&program);
    parts.kernels.pop();
    assert!(matches!(read(&bytes, &mut parts), Err(CodecError::NoKernel(1))));
    let mut parts = Known::of(&program);
    parts.kernels.swap(0, 1);
    assert!(matches!(read(&bytes, &mut parts), Err(CodecError::Operands(0))));
    assert!(matches!(read(b"frazilp\x00", &mut Known::of(&program)), Err(CodecError::Magic)));
}

#[test]
fn programs_are_nested_so_deep_and_no_deeper() {
    let mut program = inner(1);
    for depth in 3.. {
        let mut builder = Builder::new();
        let x = builder.input(ArrayType::new(DType::Float64, &[None])).unwrap();
        let Ok(number) = builder.nest(Arc::clone(&program), Origin(0)) else {
            assert_eq!(depth, 33);
            break;
        };
        let inputs = if depth == 3 { vec![x, x] } else { vec![x] };
        let made = builder.run(number, None, &inputs).unwrap();
        program = Arc::new(builder.finish(&made[..1]).unwrap());
    }
    let bytes = program.to_bytes();
    let again = read(&bytes, &mut Known { kernels: Vec::new() }).unwrap();
    assert_eq!(again.lines(), program.lines());
    assert_eq!(again.call_count(), 1);
}
