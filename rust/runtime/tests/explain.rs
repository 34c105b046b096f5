//! What programs tell of themselves, without Python.

use frazil_core::DType;
use frazil_runtime::*;

/// Counts from 0 to the length of a vector, and joins the vector to itself.
fn program() -> Program {
    let mut builder = Builder::new();
    let x = builder.input(ArrayType::new(DType::Float64, &[None])).unwrap();
    let length = builder.size_of(x, 0).unwrap();
    let [zero, one] = [0, 1].map(|value| builder.size_literal(value).unwrap());
    builder.origin(Some(Origin(0)));
    let count = builder.range(zero, one, length).unwrap();
    builder.origin(Some(Origin(1)));
    let twice = builder.join(&[x, x], 0).unwrap();
    builder.finish(&[count, twice]).unwrap()
}

fn call(program: &Program, n: usize) {
    let data = vec![1.0; n];
    let input = ArrayRef {
        dtype: DType::Float64,
        data: data.as_ptr().cast(),
        dims: &[n as i64],
        strides: &[8],
        owner: None,
    };
    // SAFETY: the array outlives the run.
    let mut run = unsafe { program.bind(&[input]) }.unwrap();
    run.execute(&Conduct::ALONE).unwrap();
}

#[test]
fn sizes_are_told_for_shapes() {
    let program = program();
    let without = program.explain(None).unwrap();
    let with = program.explain(Some(&[vec![3]])).unwrap();
    assert_eq!(without.len(), 2);
    for (a, b) in without.iter().zip(&with) {
        assert_eq!((&a.text, a.origin, a.kernel), (&b.text, b.origin, None));
        assert!(a.sizes.is_empty() && a.shapes.is_empty());
    }
    assert_eq!(with[0].origin, Some(Origin(0)));
    assert_eq!(with[0].sizes, [Some(0), Some(1), Some(3)]);
    assert_eq!(with[0].shapes, [Some(vec![3])]);
    assert_eq!(with[1].origin, Some(Origin(1)));
    assert_eq!(with[1].shapes, [Some(vec![6])]);
    assert!(program.explain(Some(&[vec![3, 4]])).is_err());
    assert!(program.explain(Some(&[])).is_err());
}

#[test]
fn bindings_are_counted() {
    let program = program();
    for n in [2, 2, 3, 2, 3, 4] {
        call(&program, n);
    }
    assert_eq!(program.bindings(), Bindings { made: 3, found: 3 });
    program.explain(Some(&[vec![9]])).unwrap();
    assert_eq!(program.bindings(), Bindings { made: 3, found: 3 });
}

#[test]
fn every_call_of_many_threads_is_counted() {
    let program = program();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..50).for_each(|n| call(&program, n % 3)));
        }
    });
    let Bindings { made, found } = program.bindings();
    assert_eq!(made + found, 200);
    assert!(made >= 3);
}
