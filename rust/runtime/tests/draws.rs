//! Draws: which numbers a program draws, in which order, from which state.

mod arrays;
mod kernels;

use std::ffi::c_void;

use arrays::elements;
use frazil_core::DType;
use frazil_runtime::*;

/// A state of these tests: numbers that count up from it.
fn counting_from(first: u64) -> Vec<u64> {
    vec![4, first, 0, 0, 0, 0, 0]
}

unsafe extern "C" fn count(state: *mut c_void) -> u64 {
    // SAFETY: the state starts with a number.
    unsafe {
        let number = state.cast::<u64>();
        *number += 1;
        *number
    }
}

/// What samplers get: a state and four functions.
#[repr(C)]
struct Stream {
    state: *mut c_void,
    functions: [usize; 4],
}

/// The mean, and so many standard deviations above it as numbers were drawn.
unsafe extern "C" fn normal(stream: *mut Stream, mean: f64, deviation: f64) -> f64 {
    // SAFETY: the runtime gives the stream.
    mean + deviation * unsafe { count((*stream).state) } as f64
}

unsafe extern "C" fn fill(stream: *mut Stream, length: isize, to: *mut f64) {
    for at in 0..length {
        // SAFETY: the runtime gives the stream, and room for so many.
        unsafe { to.offset(at).write(count((*stream).state) as f64) };
    }
}

fn install() {
    let state = counting_from(7);
    // SAFETY: the functions are what the runtime takes them for.
    unsafe {
        set_sampler("random_normal", normal as *const c_void);
        set_sampler("random_standard_exponential_inv_fill", fill as *const c_void);
        assert!(set_bit_generator(
            BitGenerator::Sfc64,
            [count as *const () as usize; 4],
            &state,
            &[8, 9]
        ));
    }
}

struct NoParts;

impl Parts for NoParts {
    fn constant(&mut self, _: DType, _: &Layout, _: &[u8]) -> Result<KeptArray, ForeignError> {
        Err("there are no constants".into())
    }

    fn kernel(&mut self, _: usize) -> Option<KernelPart> {
        None
    }

    fn function(
        &mut self,
        _: usize,
        _: usize,
    ) -> Option<std::sync::Arc<dyn frazil_runtime::Foreign>> {
        None
    }
}

/// `means[?] + deviations[?, 1]` times as many numbers as there are.
fn program() -> Program {
    let mut builder = Builder::new();
    let state = builder.input(ArrayType::new(DType::UInt64, &[None])).unwrap();
    let means = builder.input(ArrayType::new(DType::Float64, &[None])).unwrap();
    let deviations = builder.input(ArrayType::new(DType::Float64, &[None, Some(1)])).unwrap();
    let dims = [builder.size_of(deviations, 0).unwrap(), builder.size_of(means, 0).unwrap()];
    let normal = Distribution::find("normal", DType::Float64).unwrap();
    let outputs = builder.draw(normal, state, &[means, deviations], &dims).unwrap();
    builder.finish(&outputs).unwrap()
}

fn run(
    program: &Program,
    state: &[u64],
    means: &[f64],
    deviations: &[f64],
) -> Result<(Vec<u64>, Vec<f64>), Error> {
    let vector =
        |dtype, data: *const u8, dims| ArrayRef { dtype, data, dims, strides: &[8], owner: None };
    let lengths = [[state.len() as i64], [means.len() as i64]];
    let column = [deviations.len() as i64, 1];
    let inputs = [
        vector(DType::UInt64, state.as_ptr().cast(), &lengths[0]),
        vector(DType::Float64, means.as_ptr().cast(), &lengths[1]),
        ArrayRef {
            dtype: DType::Float64,
            data: deviations.as_ptr().cast(),
            dims: &column,
            strides: &[8, 8],
            owner: None,
        },
    ];
    // SAFETY: the arrays outlive the run.
    let mut run = unsafe { program.bind(&inputs)? };
    run.execute(&Conduct::ALONE)?;
    let next = run.take_output(0).unwrap();
    Ok((elements(&next), elements(&run.take_output(1).unwrap())))
}

#[test]
fn numbers_are_drawn_in_c_order() {
    install();
    let program = program();
    assert!(program.draws());
    // SAFETY: there are no kernels.
    let again = unsafe { Program::from_bytes(&program.to_bytes(), &mut NoParts) }.unwrap();
    assert_eq!(again.lines(), program.lines());
    for program in [program, again] {
        let (means, deviations) = ([0.0, 100.0, 200.0], [1.0, 0.5]);
        let (next, drawn) = run(&program, &counting_from(10), &means, &deviations).unwrap();
        assert_eq!(drawn, [11.0, 112.0, 213.0, 7.0, 107.5, 208.0]);
        assert_eq!(next, counting_from(16));
        let (next, drawn) = run(&program, &counting_from(10), &means, &[]).unwrap();
        assert_eq!((next, drawn), (counting_from(10), vec![]));
    }
}

#[test]
fn parameters_and_states_are_checked() {
    install();
    let program = program();
    let fault = |state: &[u64], deviation: f64| {
        run(&program, state, &[0.0], &[1.0, deviation]).unwrap_err().fault
    };
    let wrong = fault(&counting_from(1), -2.0);
    assert_eq!(wrong.to_string(), "scale < 0, given -2");
    assert_eq!(wrong.class(), ErrorClass::Value);
    assert!(matches!(fault(&[4; 6], 1.0), Fault::GeneratorState));
    let missing = [1, 1, 1, 1, 1, 0, 0];
    assert!(matches!(fault(&missing, 1.0), Fault::RoutineMissing { routine: "PCG64" }));
}

#[test]
fn all_numbers_may_come_at_once() {
    install();
    let mut builder = Builder::new();
    let state = builder.input(ArrayType::new(DType::UInt64, &[None])).unwrap();
    let count = builder.size_literal(10_000).unwrap();
    let filled = Distribution::find("standard_exponential_inv", DType::Float64).unwrap();
    let outputs = builder.draw(filled, state, &[], &[count]).unwrap();
    let program = builder.finish(&outputs).unwrap();
    let state = counting_from(0);
    let input = ArrayRef {
        dtype: DType::UInt64,
        data: state.as_ptr().cast(),
        dims: &[7],
        strides: &[8],
        owner: None,
    };
    // SAFETY: the array outlives the run.
    let mut run = unsafe { program.bind(&[input]) }.unwrap();
    run.execute(&Conduct::ALONE).unwrap();
    let drawn: Vec<f64> = elements(&run.take_output(1).unwrap());
    assert!(drawn.iter().enumerate().all(|(at, &number)| number == (at + 1) as f64));
}

#[test]
fn what_no_draw_takes_is_refused() {
    let mut builder = Builder::new();
    let state = builder.input(ArrayType::new(DType::UInt64, &[None])).unwrap();
    let float = builder.input(ArrayType::new(DType::Float64, &[None])).unwrap();
    let normal = Distribution::find("normal", DType::Float64).unwrap();
    assert!(builder.draw(normal, float, &[float, float], &[]).is_err());
    assert!(builder.draw(normal, state, &[float], &[]).is_err());
    assert!(builder.draw(normal, state, &[float, state], &[]).is_err());
    assert!(builder.draw(normal, state, &[float, float], &[]).is_err());
    assert!(builder.draw(normal, state, &[float, float], &[Size(0)]).is_err());
}
