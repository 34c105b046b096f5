//! Orders of graphs that destroy inputs, against all orders tried in a model of memory.

mod memory;

use std::collections::HashMap;
use std::slice::from_ref;

use frazil_core::order::destroy::{Conflict, Witness, orderings, toposort};
use frazil_core::{Container, DType, Error, Node, Var, WeakScalar, traverse};
use memory::*;
use proptest::prelude::*;

/// A witness names facts that anyone can check.
fn check(witness: &Witness, outputs: &[Var], protected: &[Var]) {
    let path = witness.path();
    assert!(path.first[0] == *witness.destroyed() && path.second[0] == *witness.other());
    assert!(path.root() == &witness.root && path.second.last() == Some(&witness.root));
    match &witness.conflict {
        Conflict::Constant => assert!(witness.root.constant().is_some()),
        Conflict::Borrowed => panic!("nothing is borrowed here"),
        Conflict::Protected(var) => assert!(protected.contains(var)),
        Conflict::Output { position, var } => assert!(outputs[*position] == *var),
        Conflict::Destroyed { by, input } => {
            assert!(*by != witness.destroyer || *input != witness.input);
        }
        Conflict::Operand { input } => assert_ne!(*input, witness.input),
        Conflict::Reader { node, between, .. } => assert!(!between.contains(node)),
    }
    assert!(witness.to_string().contains("cannot write over its input"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4 * ProptestConfig::default().cases))]

    #[test]
    fn a_graph_is_consistent_exactly_if_some_order_runs(recipe in recipe(8)) {
        let container = Container::new();
        let graph = build(&container, &ops(), &recipe);
        let (outputs, protected) = (&graph.outputs, &graph.protected);
        // A protected variable that the outputs do not need is not computed.
        let rules = Rules { outputs, protected };
        let writes = Writes::new();
        let memory = Memory::new(&graph.leaves, |_| true, &writes);
        let needed = |var: &&Var| {
            let nodes = traverse::postorder(outputs, &[]);
            nodes.contains(&var.node())
        };
        let here: Vec<Var> = protected.iter().filter(needed).cloned().collect();
        let found = toposort(outputs, &[], &here);
        prop_assert_eq!(found.is_ok(), some_order_runs(&memory, &rules));
        match found {
            Ok(order) => {
                prop_assert_eq!(order.len(), traverse::toposort(outputs, &[]).len());
                prop_assert!(runs(order, memory, &rules));
            }
            Err(inconsistent) => check(inconsistent.witness(), outputs, &here),
        }
    }

    #[test]
    fn orderings_are_what_the_order_honours(recipe in recipe(12)) {
        let container = Container::new();
        let graph = build(&container, &ops(), &recipe);
        let Ok(orderings) = orderings(&graph.outputs, &[], &graph.protected) else {
            prop_assert!(toposort(&graph.outputs, &[], &graph.protected).is_err());
            return Ok(());
        };
        let order = toposort(&graph.outputs, &[], &graph.protected).unwrap();
        let at: HashMap<usize, usize> =
            order.iter().enumerate().map(|(at, node)| (node.address(), at)).collect();
        for (destroyer, readers) in orderings.iter() {
            prop_assert_eq!(orderings.readers(destroyer), readers);
            for reader in readers {
                prop_assert!(at[&reader.address()] < at[&destroyer.address()]);
            }
        }
        if orderings.is_empty() {
            prop_assert!(order == traverse::toposort(&graph.outputs, &[]));
        }
    }

    #[test]
    fn the_order_follows_from_the_graph_alone(recipe in recipe(12), noise in 0usize..50) {
        let order = |noise: usize| {
            let container = Container::new();
            let _kept = memory::noise(&container, noise);
            let graph = build(&container, &ops(), &recipe);
            let at: HashMap<(usize, u32), usize> =
                graph.vars.iter().enumerate().map(|(at, var)| (var.identity(), at)).collect();
            let first = |node: &Node| at[&node.outputs().next().unwrap().identity()];
            match toposort(&graph.outputs, &[], &graph.protected) {
                Ok(order) => order.into_iter().map(first).collect::<Vec<_>>(),
                Err(error) => vec![usize::MAX, first(&error.witness().destroyer)],
            }
        };
        prop_assert_eq!(order(0), order(noise));
    }
}

fn message(outputs: &[Var], protected: &[Var]) -> String {
    let error = orderings(outputs, &[], protected).unwrap_err();
    check(error.witness(), outputs, protected);
    Error::from(error).to_string()
}

#[test]
fn a_destroyer_draws_its_readers_in_front() {
    let container = Container::new();
    let (x, y) = (input(&container, "x"), input(&container, "y"));
    let written = one(&container, set(), &[&x, &y]);
    let seen = one(&container, view(), &[&x]);
    let read = one(&container, add(), &[&seen, &y]);
    let outputs = [written.clone(), read.clone()];
    let order = toposort(&outputs, &[], &[]).unwrap();
    assert!(order == [seen.node(), read.node(), written.node()]);
    let orderings = orderings(&outputs, &[], &[]).unwrap();
    assert_eq!((orderings.len(), orderings.is_empty()), (1, false));
    assert_eq!(orderings.readers(written.node()), [seen.node().clone(), read.node().clone()]);
    assert!(orderings.readers(read.node()).is_empty());
}

#[test]
fn a_chain_of_destroyers_is_no_conflict() {
    let container = Container::new();
    let (x, y) = (input(&container, "x"), input(&container, "y"));
    let first = one(&container, set(), &[&x, &y]);
    let read = one(&container, add(), &[&first, &y]);
    let second = one(&container, set(), &[&first, &y]);
    let order = [second.clone(), read.clone()];
    assert!(toposort(&order, &[], &[]).unwrap() == [first.node(), read.node(), second.node()]);
}

#[test]
fn distinct_buffers_are_destroyed_apart() {
    let container = Container::new();
    let x = input(&container, "x");
    let update = || {
        let buffer = one(&container, fresh(), &[&x]);
        one(&container, set(), &[&one(&container, view(), &[&buffer]), &x])
    };
    assert_eq!(orderings(&[update(), update()], &[], from_ref(&x)).unwrap().len(), 2);
}

#[test]
fn what_is_an_input_of_the_graph_is_a_root_of_it() {
    let container = Container::new();
    let x = input(&container, "x");
    let seen = one(&container, view(), &[&x]);
    let outputs = [one(&container, set(), &[&seen, &seen])];
    assert!(orderings(&outputs, from_ref(&seen), &[]).is_err());
    let outputs = [one(&container, set(), &[&seen, &x])];
    assert!(orderings(&outputs, &[], &[]).is_err());
    assert_eq!(orderings(&outputs, &[seen, x], &[]).unwrap().len(), 1);
}

#[test]
fn conflicts_are_told_with_the_views_between() {
    let container = Container::new();
    let (x, y) = (input(&container, "x"), input(&container, "y"));
    let seen = one(&container, view(), &[&x]);
    let constant = container.constant(WeakScalar::Float(1.0).constant(DType::Float64).unwrap());
    let written = one(&container, set(), &[&seen, &y]);
    assert_eq!(
        message(&[one(&container, set(), &[&constant, &y])], &[]),
        "set cannot write over its input 0, constant <float64[]>: constant <float64[]> never changes; give set \
         a copy of it"
    );
    assert_eq!(
        message(from_ref(&written), from_ref(&x)),
        "set cannot write over its input 0, view.out, a view of x: x is protected; give set a copy"
    );
    assert_eq!(
        message(&[written.clone(), x.clone()], &[]),
        "set cannot write over its input 0, view.out, a view of x: output 1 of the graph, x, is read after all \
         nodes; return a copy of it"
    );
    assert_eq!(
        message(&[written.clone(), one(&container, set(), &[&x, &y])], &[]),
        "set cannot write over its input 0, x: set writes over its input 0, view.out, a view of x; give one of \
         them a copy"
    );
    assert_eq!(
        message(&[one(&container, set(), &[&x, &seen])], &[]),
        "set cannot write over its input 0, x: it reads the same memory as its input 1, view.out, a view of x; \
         give it a copy, or let its op name (0, 1) in destroy_tolerates_aliased"
    );
    let used = one(&container, add(), &[&written, &y]);
    assert_eq!(
        message(&[one(&container, add(), &[&x, &used])], &[]),
        "set cannot write over its input 0, view.out, a view of x: add reads x, and cannot run before set, \
         which it needs by way of add; give one of them a copy"
    );
}

#[test]
fn two_destroyers_that_read_what_the_other_destroys_cannot_run() {
    let container = Container::new();
    let (x, y) = (input(&container, "x"), input(&container, "y"));
    let outputs = [one(&container, set(), &[&x, &y]), one(&container, set(), &[&y, &x])];
    let error = orderings(&outputs, &[], &[]).unwrap_err();
    assert!(error.witness().reader() == Some(outputs[1].node()));
    assert!(message(&outputs, &[]).ends_with("cannot run before set; give one of them a copy"));
}

#[test]
fn a_deep_graph_is_ordered_without_recursion() {
    let container = Container::new();
    let x = input(&container, "x");
    let mut var = one(&container, fresh(), &[&x]);
    let mut readers = Vec::new();
    for _ in 0..100_000 {
        readers.push(one(&container, add(), &[&var, &x]));
        var = one(&container, set(), &[&var, &x]);
    }
    readers.insert(0, var);
    assert_eq!(toposort(&readers, &[], &[x]).unwrap().len(), 200_001);
}

#[test]
fn an_output_can_be_an_input_while_its_siblings_are_computed() {
    let container = Container::new();
    let (x, y) = (input(&container, "x"), input(&container, "y"));
    let both = apply(&container, pair(), &[&x], 2);
    // As an input, the second output is no view of x, and needs no run of the node.
    let written = one(&container, set(), &[&both[1], &y]);
    let outputs = [written.clone(), one(&container, add(), &[&both[0], &x])];
    assert!(orderings(&outputs, &[], from_ref(&x)).is_err());
    let inputs = [both[1].clone(), x.clone(), y];
    let order = toposort(&outputs, &inputs, from_ref(&x)).unwrap();
    assert!(order == [written.node(), both[0].node(), outputs[1].node()]);
    assert!(orderings(&outputs, &inputs, from_ref(&both[1])).is_err());
    let [written, read] = outputs;
    let outputs = [read.clone(), written.clone()];
    let order = toposort(&outputs, &inputs, from_ref(&x)).unwrap();
    assert!(order == [both[0].node(), read.node(), written.node()]);
}
