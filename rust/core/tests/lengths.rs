//! Lengths that nodes remember: kept as long as the node, and never the other way round.

mod terms;

use std::sync::Barrier;

use frazil_core::{Container, DType, Lengths, Node, Origin, Signature, Ty, Var};
use proptest::prelude::*;
use smallvec::SmallVec;
use terms::{input, op};

fn vector() -> Ty {
    Ty::tensor(DType::Float64, &[None])
}

fn made(container: &Container, name: &'static str, inputs: &[&Var], ty: Ty) -> Var {
    let inputs: SmallVec<[Var; 2]> = inputs.iter().map(|&input| input.clone()).collect();
    let arity = inputs.len() as u32;
    container
        .apply(op(name, arity, false), inputs, Signature::new(&[ty]), Origin::default())
        .unwrap()
        .outputs()
        .next()
        .unwrap()
}

/// A vector computed from others, and the length of one.
fn row(container: &Container, inputs: &[&Var]) -> Var {
    made(container, "row", inputs, vector())
}

fn length(container: &Container, of: &Var) -> Var {
    made(container, "length", &[of], Ty::scalar(DType::Int64))
}

fn remember(node: &Node, length: Var) -> bool {
    node.remember_lengths(Lengths::new(node, vec![Some(vec![length])]).unwrap())
}

#[test]
fn they_live_as_long_as_the_node() {
    let container = Container::new();
    let x = container.input(&vector(), Some("x"), None);
    let y = row(&container, &[&x]);
    assert!(y.node().lengths().is_none());
    assert!(remember(y.node(), length(&container, &x)));
    assert_eq!(container.stats().nodes, 3);
    let known = y.node().lengths().unwrap();
    assert_eq!(known.of_outputs().collect::<Vec<_>>(), [Some(&[length(&container, &x)][..])]);
    // The first ones stay.
    assert!(!remember(y.node(), input(&container, "n")));
    assert_eq!(y.node().lengths().unwrap(), known);
    drop(known);
    drop(y);
    assert_eq!(container.stats().nodes, 1);
    // The same node again knows nothing of it.
    assert!(row(&container, &[&x]).node().lengths().is_none());
}

#[test]
fn what_somebody_reads_goes_when_that_one_ends() {
    let container = Container::new();
    let x = container.input(&vector(), Some("x"), None);
    let y = row(&container, &[&x]);
    assert!(remember(y.node(), length(&container, &x)));
    let read = y.node().lengths();
    drop(y);
    assert_eq!(container.stats().nodes, 2);
    drop(read);
    assert_eq!(container.stats().nodes, 1);
}

#[test]
fn none_keeps_its_node_alive() {
    let container = Container::new();
    let other = Container::new();
    let x = container.input(&vector(), Some("x"), None);
    let y = row(&container, &[&x]);
    let z = row(&container, &[&y]);
    assert!(!remember(y.node(), length(&container, &y)));
    assert!(!remember(y.node(), length(&container, &z)));
    assert!(!remember(y.node(), input(&other, "n")));
    // Nor do two nodes keep each other.
    let w = row(&container, &[&x, &x]);
    assert!(remember(w.node(), length(&container, &y)));
    assert!(!remember(y.node(), length(&container, &w)));
    assert!(remember(y.node(), length(&container, &x)));
    drop((w, y, z));
    assert_eq!(container.stats().nodes, 1);
}

#[test]
fn they_must_fit_the_outputs() {
    let container = Container::new();
    let x = container.input(&vector(), Some("x"), None);
    let y = row(&container, &[&x]);
    let n = length(&container, &x);
    for wrong in [
        vec![],
        vec![Some(vec![])],
        vec![Some(vec![n.clone(), n.clone()])],
        vec![Some(vec![x.clone()])],
        vec![None, None],
    ] {
        let error = Lengths::new(y.node(), wrong).unwrap_err();
        assert!(error.to_string().contains("0-d int64 for each dimension"), "{error}");
    }
    assert!(y.node().remember_lengths(Lengths::new(y.node(), vec![None]).unwrap()));
}

#[test]
fn a_deep_chain_goes_without_recursion() {
    let container = Container::new();
    let x = container.input(&vector(), Some("x"), None);
    let mut last = x.clone();
    for _ in 0..50_000 {
        let next = row(&container, &[&last]);
        assert!(remember(next.node(), length(&container, &last)));
        last = next;
    }
    drop(last);
    assert_eq!(container.stats().nodes, 1);
}

#[test]
fn threads_remember_and_release() {
    let container = Container::new();
    let x = container.input(&vector(), Some("x"), None);
    let barrier = Barrier::new(3);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                barrier.wait();
                for _ in 0..2_000 {
                    let y = row(&container, &[&x]);
                    remember(y.node(), length(&container, &x));
                    let known = y.node().lengths().expect("somebody remembered them");
                    assert_eq!(known.of_outputs().count(), 1);
                }
            });
        }
    });
    assert_eq!(container.stats().nodes, 1);
}

proptest! {
    /// Whatever is remembered of whatever, in whatever order: all nodes go with their last handles.
    #[test]
    fn nothing_is_kept_for_ever(
        recipe in prop::collection::vec((0..8usize, 0..8usize), 1..12),
        known in prop::collection::vec((0..12usize, 0..12usize), 0..24),
    ) {
        let container = Container::new();
        let x = container.input(&vector(), Some("x"), None);
        let mut rows = vec![x.clone()];
        for (one, other) in recipe {
            rows.push(row(&container, &[&rows[one % rows.len()], &rows[other % rows.len()]]));
        }
        for (of, from) in known {
            let (of, from) = (&rows[of % rows.len()], &rows[from % rows.len()]);
            let had = of.node().lengths();
            let kept = remember(of.node(), length(&container, from));
            prop_assert!(!(kept && had.is_some()));
        }
        drop(rows);
        prop_assert_eq!(container.stats().nodes, 1);
    }
}
