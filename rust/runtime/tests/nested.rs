//! Programs that run programs: what the builder refuses, and where faults are blamed.

use std::sync::Arc;

use frazil_core::DType;
use frazil_runtime::*;

const VECTOR: [Option<u64>; 1] = [None];

fn float(shape: &[Option<u64>]) -> ArrayType {
    ArrayType::new(DType::Float64, shape)
}

/// `x[1:]`, then `x[1:] + y`: a state that gets shorter, if it is one.
fn shrinking() -> Arc<Program> {
    let mut builder = Builder::new();
    let x = builder.input(float(&VECTOR)).unwrap();
    builder.origin(Some(Origin(0)));
    let one = builder.size_literal(1).unwrap();
    let index = Index::Range { start: Some(one), stop: None, step: one };
    let rest = builder.slice(x, &[index]).unwrap();
    Arc::new(builder.finish(&[rest]).unwrap())
}

/// `x` with its element 3 set to that of `y`.
fn indexing() -> Arc<Program> {
    let mut builder = Builder::new();
    let x = builder.input(float(&VECTOR)).unwrap();
    let y = builder.input(float(&[])).unwrap();
    builder.origin(Some(Origin(4)));
    let three = builder.size_literal(3).unwrap();
    let made = builder.set(x, &[Index::At(three)], y).unwrap();
    Arc::new(builder.finish(&[made]).unwrap())
}

/// Runs a program over a vector of three elements.
fn run(builder: Builder, outputs: &[Slot]) -> Result<Vec<f64>, Error> {
    let program = builder.finish(outputs).unwrap();
    let data = [1.0f64, 2.0, 3.0];
    let (dims, strides) = ([3], [8]);
    let x = ArrayRef {
        dtype: DType::Float64,
        data: data.as_ptr().cast(),
        dims: &dims,
        strides: &strides,
        owner: None,
    };
    // SAFETY: the array outlives the run.
    let mut run = unsafe { program.bind(&[x])? };
    run.execute(&Conduct::ALONE)?;
    let made = run.take_output(0).unwrap();
    let count = made.layout.dims.iter().product::<i64>() as usize;
    // SAFETY: the output has so many elements.
    Ok(unsafe { std::slice::from_raw_parts(made.buffer.as_ptr().cast::<f64>(), count) }.to_vec())
}

fn spec(program: Nested, steps: Size, state: Slot) -> ScanSpec {
    ScanSpec {
        program,
        steps,
        sequences: vec![],
        states: vec![(state, Next::Output(0))],
        others: vec![],
        stacked: vec![],
        until: None,
    }
}

#[test]
fn a_state_keeps_its_shape() {
    let mut builder = Builder::new();
    let x = builder.input(float(&VECTOR)).unwrap();
    let nested = builder.nest(shrinking(), Origin(10)).unwrap();
    let steps = builder.size_literal(2).unwrap();
    builder.origin(Some(Origin(9)));
    let made = builder.scan(&spec(nested, steps, x)).unwrap();
    let error = run(builder, &made.finals).unwrap_err();
    assert_eq!(error.origin, Some(Origin(9)));
    assert_eq!(error.class(), ErrorClass::Value);
    assert_eq!(error.fault.steps(), [0]);
    let text = error.to_string();
    assert!(text.starts_with("step 0: state 0 has shape (2,) after the step"), "{text}");
    assert!(text.contains("shape (3,)"), "{text}");
}

/// The element at a position of a vector of so many elements, or of any number.
fn element(length: Option<u64>, position: i64) -> Arc<Program> {
    let mut inner = Builder::new();
    let x = inner.input(float(&[length])).unwrap();
    let at = inner.size_literal(position).unwrap();
    let made = inner.slice(x, &[Index::At(at)]).unwrap();
    Arc::new(inner.finish(&[made]).unwrap())
}

#[test]
fn another_program_runs_for_other_lengths() {
    for (length, expected) in [(3, 1.0), (5, 3.0)] {
        let mut builder = Builder::new();
        let x = builder.input(float(&VECTOR)).unwrap();
        let known = builder.nest(element(Some(length), 0), Origin(0)).unwrap();
        let any = builder.nest(element(None, -1), Origin(0)).unwrap();
        let made = builder.run(known, Some(any), &[x]).unwrap();
        assert_eq!(run(builder, &made).unwrap(), [expected]);
    }
    let mut builder = Builder::new();
    let x = builder.input(float(&VECTOR)).unwrap();
    let known = builder.nest(element(Some(3), 0), Origin(0)).unwrap();
    let vector = builder.nest(shrinking(), Origin(0)).unwrap();
    assert_eq!(builder.run(known, Some(vector), &[x]), Err(BuildError::Arms));
}

#[test]
fn a_fault_within_is_blamed_on_what_failed() {
    let mut builder = Builder::new();
    let x = builder.input(float(&VECTOR)).unwrap();
    let zero = builder.size_literal(0).unwrap();
    let element = builder.slice(x, &[Index::At(zero)]).unwrap();
    let nested = builder.nest(indexing(), Origin(10)).unwrap();
    builder.origin(Some(Origin(9)));
    let made = builder.run(nested, None, &[x, element]).unwrap();
    let error = run(builder, &made).unwrap_err();
    assert_eq!(error.origin, Some(Origin(14)));
    assert_eq!(error.class(), ErrorClass::Index);
    assert!(error.fault.steps().is_empty());
    assert!(matches!(error.fault.innermost(), Fault::Index { index: 3, axis: 0, length: 3 }));
}

#[test]
fn steps_and_sequences_are_checked() {
    for (steps, expected) in [
        (-1, "the number of steps is -1; it must not be negative"),
        (4, "sequence 0 has length 3, but the scan does 4 steps"),
    ] {
        let mut inner = Builder::new();
        let element = inner.input(float(&[])).unwrap();
        let nested = Arc::new(inner.finish(&[element]).unwrap());
        let mut builder = Builder::new();
        let x = builder.input(float(&VECTOR)).unwrap();
        let program = builder.nest(nested, Origin(0)).unwrap();
        let steps = builder.size_literal(steps).unwrap();
        let made = builder.scan(&ScanSpec {
            sequences: vec![x],
            states: vec![],
            stacked: vec![0],
            ..spec(program, steps, x)
        });
        let error = run(builder, &made.unwrap().stacked).unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let mut builder = Builder::new();
    let x = builder.input(float(&VECTOR)).unwrap();
    let nested = builder.nest(shrinking(), Origin(0)).unwrap();
    let steps = builder.size_literal(2).unwrap();
    let good = spec(nested, steps, x);
    assert_eq!(builder.run(Nested(3), None, &[x]), Err(BuildError::NoProgram(Nested(3))));
    assert!(matches!(builder.run(nested, None, &[]), Err(BuildError::Count { .. })));
    let wrong = ScanSpec { states: vec![(x, Next::Output(1))], ..good.clone() };
    assert_eq!(builder.scan(&wrong), Err(BuildError::NoOutput { given: 1, count: 1 }));
    let wrong = ScanSpec { states: vec![(x, Next::Input(1))], ..good.clone() };
    assert_eq!(builder.scan(&wrong), Err(BuildError::NoInput { given: 1, count: 1 }));
    let wrong = ScanSpec { stacked: vec![0, 0], ..good.clone() };
    assert_eq!(builder.scan(&wrong), Err(BuildError::StackedTwice { output: 0 }));
    let wrong = ScanSpec { until: Some(0), ..good.clone() };
    assert_eq!(builder.scan(&wrong), Err(BuildError::Until { output: 0 }));
    let wrong = ScanSpec { sequences: vec![x], states: vec![], ..good.clone() };
    assert!(matches!(builder.scan(&wrong), Err(BuildError::Rank { .. })));
    assert!(matches!(
        builder.branch(x, [(nested, &[x]), (nested, &[x])], &[None]),
        Err(BuildError::Rank { .. })
    ));

    let mut donating = Builder::new();
    let y = donating.input(float(&VECTOR)).unwrap();
    donating.donate(y).unwrap();
    let donating = Arc::new(donating.finish(&[y]).unwrap());
    let donating = builder.nest(donating, Origin(0)).unwrap();
    assert_eq!(builder.run(donating, None, &[x]), Err(BuildError::NotOwned { input: 0 }));
    assert!(builder.scan(&spec(donating, steps, x)).is_ok());
    let seen = ScanSpec { stacked: vec![0], ..spec(donating, steps, x) };
    assert_eq!(builder.scan(&seen), Err(BuildError::NotOwned { input: 0 }));
    let kept = ScanSpec { states: vec![(x, Next::Input(0))], ..spec(donating, steps, x) };
    assert_eq!(builder.scan(&kept), Err(BuildError::NotOwned { input: 0 }));
}
