//! Elementwise application where lengths of a run are known.

mod terms;

use std::sync::Arc;

use frazil_core::node::measured::{Measured, MeasuredOperand, apply};
use frazil_core::{Container, DType, Origin, Ty, WeakScalar};
use smallvec::smallvec;
use terms::ops;

fn measured(container: &Container, declared: &[Option<u64>], lengths: &[u64]) -> MeasuredOperand {
    let var = container.input(&Ty::tensor(DType::Float64, declared), None, None);
    MeasuredOperand::Var(Measured { var, lengths: Some(Arc::from(lengths)) })
}

fn lengths_of(one: MeasuredOperand, other: MeasuredOperand) -> Option<Option<Arc<[u64]>>> {
    let container = Container::new();
    let made = apply(&container, ops()[0].clone(), smallvec![one, other], Origin::default());
    made.unwrap().map(|own| own.lengths)
}

#[test]
fn lengths_broadcast_as_types_declare_it() {
    let here = Container::new();
    let matrix = || measured(&here, &[None, None], &[2, 3]);
    let known = |lengths: &[u64]| Some(Some(Arc::from(lengths)));
    assert_eq!(lengths_of(matrix(), matrix()), known(&[2, 3]));
    assert_eq!(lengths_of(matrix(), measured(&here, &[None], &[3])), known(&[2, 3]));
    assert_eq!(lengths_of(measured(&here, &[Some(1), None], &[1, 3]), matrix()), known(&[2, 3]));
    let column = || measured(&here, &[None, Some(1)], &[2, 1]);
    assert_eq!(lengths_of(column(), measured(&here, &[None], &[3])), known(&[2, 3]));
    assert_eq!(lengths_of(matrix(), MeasuredOperand::Weak(WeakScalar::Int(2))), known(&[2, 3]));
    assert_eq!(lengths_of(measured(&here, &[], &[]), matrix()), known(&[2, 3]));
}

#[test]
fn what_would_need_a_declaration_is_left() {
    let here = Container::new();
    let vector = || measured(&here, &[None], &[3]);
    // A length 1 that no type declares, lengths that differ, lengths that nobody knows.
    assert_eq!(lengths_of(vector(), measured(&here, &[None], &[1])), None);
    assert_eq!(lengths_of(measured(&here, &[None], &[1]), measured(&here, &[None], &[1])), None);
    assert_eq!(lengths_of(vector(), measured(&here, &[None], &[4])), None);
    let var = here.input(&Ty::tensor(DType::Float64, &[None]), None, None);
    let unknown = || MeasuredOperand::Var(Measured { var: var.clone(), lengths: None });
    assert_eq!(lengths_of(vector(), unknown()), None);
    let number = MeasuredOperand::Weak(WeakScalar::Float(0.5));
    assert_eq!(lengths_of(unknown(), number), Some(None));
}
