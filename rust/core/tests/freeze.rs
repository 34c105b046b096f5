//! Frozen graphs: one object for isomorphic graphs, and what comes back of them.

mod terms;

use frazil_core::{
    Body, Container, Digest, FrozenFunctionGraph, FunctionGraph, Node, Op, OpKey, OpProps, Origin,
    Param, Signature, Ty, Var,
};
use proptest::prelude::*;
use rustc_hash::FxHashSet;
use terms::{apply, build, canonical, constant, input, inputs, ops, recipe};

fn freeze(container: &Container, inputs: &[Var], outputs: &[Var]) -> FrozenFunctionGraph {
    FrozenFunctionGraph::new(container, inputs, outputs).unwrap()
}

/// An op with these properties, whose nodes are made by hand.
fn op(kind: &str, props: OpProps) -> Op {
    let key = OpKey { kind: kind.into(), params: Param::None, props, rule: None, arity: None };
    Op::intern(key, kind)
}

fn node(container: &Container, op: Op, inputs: &[&Var], types: &[Ty]) -> Vec<Var> {
    let inputs = inputs.iter().map(|&input| input.clone()).collect();
    let made = container.apply(op, inputs, Signature::new(types), Origin::default()).unwrap();
    made.outputs().collect()
}

proptest! {
    #[test]
    fn graphs_are_one_object_exactly_if_they_are_isomorphic(
        one in recipe(6), other in recipe(6), last in 1..4usize,
    ) {
        let container = Container::new();
        let frozen = |recipe: &[terms::Step]| {
            let inputs = inputs(&container);
            let made = build(&container, &inputs, recipe);
            let outputs = &made[made.len().saturating_sub(last)..];
            let terms = terms::terms(inputs.len(), recipe);
            let model = canonical(&terms[terms.len().saturating_sub(last)..], false);
            let folded = canonical(&terms[terms.len().saturating_sub(last)..], true);
            let graph = FunctionGraph::new(&container, &inputs, outputs).unwrap();
            (graph.freeze().unwrap(), graph.freeze_deduplicated().unwrap(), model, folded)
        };
        let (a, a_folded, a_model, a_folded_model) = frozen(&one);
        let (again, ..) = frozen(&one);
        prop_assert_eq!(&a, &again);
        let (b, b_folded, b_model, b_folded_model) = frozen(&other);
        prop_assert_eq!(a == b, a_model == b_model);
        prop_assert_eq!(a.digest() == b.digest(), a_model == b_model);
        prop_assert_eq!(a_folded == b_folded, a_folded_model == b_folded_model);
    }

    #[test]
    fn graphs_that_are_not_one_have_no_buffer_in_common(one in recipe(8), other in recipe(8)) {
        let container = Container::new();
        let frozen = |recipe: &[terms::Step]| {
            let inputs = inputs(&container);
            freeze(&container, &inputs, &build(&container, &inputs, recipe))
        };
        let (a, again, b) = (frozen(&one), frozen(&one), frozen(&other));
        let tags = |graph: &FrozenFunctionGraph| -> FxHashSet<_> {
            let tag = |node: &Node| match node.body() {
                Body::Apply { distinct, .. } => *distinct,
                _ => None,
            };
            graph.toposort().iter().filter_map(tag).collect()
        };
        prop_assert!(a.outputs() == again.outputs() && tags(&a) == tags(&again));
        prop_assert!(a == b || tags(&a).is_disjoint(&tags(&b)));
        // Put together, they have the buffers of both, and each is what it was.
        let together: Vec<Var> = a.outputs().iter().chain(b.outputs()).cloned().collect();
        let whole = FunctionGraph::new(&container, a.inputs(), &together).unwrap();
        let expected: FxHashSet<_> = tags(&a).union(&tags(&b)).copied().collect();
        prop_assert_eq!(tags(&whole.freeze().unwrap()).len(), expected.len());
        prop_assert!(freeze(&container, b.inputs(), b.outputs()) == b);
        prop_assert!(b.outputs().iter().all(|output| b.owns(output)));
    }

    #[test]
    fn the_order_of_building_does_not_matter(recipe in recipe(20), swaps in any::<u64>()) {
        // Interleaving another graph's nodes shifts every id, tag and address.
        let container = Container::new();
        let first = {
            let inputs = inputs(&container);
            let made = build(&container, &inputs, &recipe);
            freeze(&container, &inputs, &made)
        };
        let (left, right) = (inputs(&container), inputs(&container));
        let (mut made, mut noise) = (left.clone(), right.clone());
        for (at, step) in recipe.iter().enumerate() {
            if swaps >> (at % 64) & 1 == 1 {
                noise = build(&container, &noise, &recipe[at..=at]);
            }
            made = build(&container, &made, std::slice::from_ref(step));
        }
        prop_assert_eq!(freeze(&container, &left, &made), first.clone());
        let elsewhere = Container::new();
        let inputs = inputs(&elsewhere);
        let other = freeze(&elsewhere, &inputs, &build(&elsewhere, &inputs, &recipe));
        prop_assert_eq!(other.digest(), first.digest());
        prop_assert!(other != first);
    }

    #[test]
    fn unfreezing_and_binding_are_undone_by_freezing(recipe in recipe(20)) {
        let container = Container::new();
        let roots = inputs(&container);
        let made = build(&container, &roots, &recipe);
        let frozen = freeze(&container, &roots, &made);
        prop_assert_eq!(&frozen.unfreeze().freeze().unwrap(), &frozen);
        let others = inputs(&container);
        let bound = frozen.bind(&others).unwrap();
        prop_assert_eq!(&freeze(&container, &others, &bound), &frozen);
        // In another container too, where it is another object with the same digest.
        let elsewhere = Container::new();
        let others = inputs(&elsewhere);
        let bound = frozen.bind(&others).unwrap();
        prop_assert!(bound.iter().all(|var| elsewhere.holds(var)));
        prop_assert_eq!(freeze(&elsewhere, &others, &bound).digest(), frozen.digest());
    }

    #[test]
    fn nothing_is_left_of_a_dropped_graph(recipe in recipe(20)) {
        let container = Container::new();
        let roots = inputs(&container);
        let made = build(&container, &roots, &recipe);
        let before = container.stats().nodes;
        let frozen = freeze(&container, &roots, &made);
        let graph = frozen.unfreeze();
        let bound = frozen.bind(&roots).unwrap();
        drop((frozen, graph, bound));
        prop_assert_eq!(container.stats().nodes, before);
        prop_assert!(container.frozen_graphs().is_empty() && container.graphs().is_empty());
    }
}

#[test]
fn sharing_is_not_visible_but_distinctness_is() {
    let container = Container::new();
    let x = input(&container, "x");
    let [add, _, exp, fresh] = ops();
    let e = apply(&container, exp.clone(), &[&x]);
    let shared = apply(&container, add.clone(), &[&e, &e]);
    let twice = apply(
        &container,
        add.clone(),
        &[&apply(&container, exp.clone(), &[&x]), &apply(&container, exp, &[&x])],
    );
    let roots = [x.clone()];
    assert_eq!(freeze(&container, &roots, &[shared]), freeze(&container, &roots, &[twice]));

    let f = apply(&container, fresh.clone(), &[&x]);
    let one = apply(&container, add.clone(), &[&f, &f]);
    let two = apply(&container, add, &[&f, &apply(&container, fresh, &[&x])]);
    assert_ne!(
        freeze(&container, &roots, &[one.clone()]),
        freeze(&container, &roots, &[two.clone()])
    );
    let folded = |output| FrozenFunctionGraph::deduplicated(&container, &roots, &[output]).unwrap();
    assert_eq!(folded(one.clone()), folded(two));
    assert_eq!(folded(one.clone()), freeze(&container, &roots, &[one]));
}

#[test]
fn two_bindings_share_no_buffer() {
    let container = Container::new();
    let seven = constant(&container, 7);
    let buffer = apply(&container, ops()[3].clone(), &[&seven]);
    let frozen = freeze(&container, &[], &[buffer.clone(), buffer]);
    let (one, other) = (frozen.bind(&[]).unwrap(), frozen.bind(&[]).unwrap());
    assert!(one[0] == one[1] && one[0] != other[0]);
    let unfrozen = frozen.unfreeze().outputs();
    assert!(unfrozen[0] != one[0] && unfrozen[0] != frozen.outputs()[0]);
}

#[test]
fn dead_inputs_count() {
    let container = Container::new();
    let [x, y] = ["x", "y"].map(|name| input(&container, name));
    let both = freeze(&container, &[x.clone(), y], std::slice::from_ref(&x));
    assert_ne!(both, freeze(&container, &[x.clone()], &[x.clone()]));
    assert_eq!(both.unfreeze().inputs().len(), 2);
}

#[test]
fn values_are_checked_and_missing_ones_named() {
    let container = Container::new();
    let [x, y] = ["x", "y"].map(|name| input(&container, name));
    let sum = apply(&container, ops()[0].clone(), &[&x, &y]);
    let frozen = freeze(&container, &[x.clone(), y.clone()], &[sum.clone()]);
    let error = frozen.bind(&[x.clone()]).unwrap_err();
    assert_eq!(error.to_string(), "no value is given for *1-<int64[]>");
    assert!(frozen.bind(&[x.clone(), y.clone(), y.clone()]).is_err());
    let pairs = [(frozen.inputs()[1].clone(), y.clone()), (frozen.inputs()[0].clone(), x.clone())];
    assert_eq!(frozen.bind_pairs(&pairs).unwrap(), [sum]);
    let error = frozen.bind_pairs(&pairs[..1]).unwrap_err();
    assert_eq!(error.to_string(), "no value is given for *0-<int64[]>");
    assert!(frozen.bind_pairs(&[(x.clone(), y)]).is_err());
    let float = container.input(&Ty::scalar(frazil_core::DType::Float64), None, None);
    let error = frozen.bind(&[x, float]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the value of input 1 has type float64[], expected int64[]; cast or reshape it"
    );
}

#[test]
fn expressions_and_constants_can_be_inputs_by_structure() {
    let container = Container::new();
    let x = input(&container, "x");
    let [add, _, exp, _] = ops();
    let e = apply(&container, exp, &[&x]);
    let seven = constant(&container, 7);
    let sum = apply(&container, add.clone(), &[&apply(&container, add.clone(), &[&e, &seven]), &x]);
    let lifted = FrozenFunctionGraph::from_structural_inputs(
        &container,
        &[e, seven, x.clone()],
        std::slice::from_ref(&sum),
    );
    let [a, b, c] = ["a", "b", "c"].map(|name| input(&container, name));
    let plain = apply(&container, add.clone(), &[&apply(&container, add, &[&a, &b]), &c]);
    assert_eq!(lifted.unwrap(), freeze(&container, &[a, b, c], &[plain]));
    let open = FrozenFunctionGraph::from_structural_inputs(&container, &[], &[sum]);
    assert!(open.unwrap_err().to_string().contains("needs input x"));
}

#[test]
fn one_output_of_several_can_be_an_input() {
    let container = Container::new();
    let ty = Ty::scalar(frazil_core::DType::Int64);
    let split = op("test.split", OpProps::default());
    let x = input(&container, "x");
    let parts = node(&container, split, &[&x], &[ty.clone(), ty.clone()]);
    let sum = apply(&container, ops()[0].clone(), &[&parts[0], &parts[1]]);
    // The first part is given; the second is still computed.
    let frozen = freeze(&container, &[parts[0].clone(), x.clone()], std::slice::from_ref(&sum));
    assert_eq!(frozen.toposort().len(), 2);
    let graph = FunctionGraph::new(&container, &[parts[0].clone(), x.clone()], &[sum]).unwrap();
    assert_eq!(graph.nodes().len(), 2);
    assert_eq!(graph.freeze().unwrap(), frozen);
    let open = FunctionGraph::new(&container, &parts[..1], &parts[1..]);
    assert!(open.is_err());
}

#[test]
fn an_order_is_baked_where_nodes_destroy() {
    let container = Container::new();
    let ty = Ty::scalar(frazil_core::DType::Int64);
    let destroy = OpProps { destroy_map: vec![(0, vec![0])], ..OpProps::default() };
    let update = op("test.update", destroy);
    let [x, y] = ["x", "y"].map(|name| input(&container, name));
    let buffer = apply(&container, ops()[3].clone(), &[&x]);
    let read = apply(&container, ops()[2].clone(), &[&buffer]);
    let updated = node(&container, update.clone(), &[&buffer, &y], &[ty.clone()]).remove(0);
    // The updated buffer is met first; its reader must still run before.
    let outputs = [updated.clone(), read.clone()];
    let frozen = freeze(&container, &[x.clone(), y.clone()], &outputs);
    let labels: Vec<_> = frozen
        .toposort()
        .iter()
        .map(|node| match node.body() {
            Body::Apply { op, .. } => op.label(),
            _ => "leaf",
        })
        .collect();
    assert_eq!(labels, ["fresh", "exp", "test.update"]);
    let graph = frozen.unfreeze();
    assert_eq!(graph.freeze().unwrap(), frozen);
    assert_eq!(graph.orderings(&[]).unwrap().iter().count(), 1);

    let cyclic = node(&container, update, &[&buffer, &y], &[ty.clone()]).remove(0);
    let late = apply(&container, ops()[0].clone(), &[&buffer, &cyclic]);
    let refused = FrozenFunctionGraph::new(&container, &[x.clone(), y.clone()], &[late]);
    assert!(refused.is_err());

    // Folding two buffers of which one is destroyed would change the other.
    let sibling = apply(&container, ops()[3].clone(), &[&x]);
    let outputs = [updated, apply(&container, ops()[2].clone(), &[&sibling])];
    let roots = [x, y];
    assert!(FrozenFunctionGraph::new(&container, &roots, &outputs).is_ok());
    let error = FrozenFunctionGraph::deduplicated(&container, &roots, &outputs).unwrap_err();
    assert_eq!(
        error.to_string(),
        "test.update destroys fresh.out, which stands for several distinct buffers once nodes are \
         deduplicated; freeze without dedup_nodes"
    );
}

#[test]
fn threads_freeze_to_one_object() {
    const THREADS: usize = 8;
    let container = Container::new();
    let recipe: Vec<_> = (0..60usize).map(|i| ((i % 5) as u8, i * 7 + 1, i * 13 + 2)).collect();
    let barrier = std::sync::Barrier::new(THREADS);
    for round in 0..30 {
        let frozen: Vec<(FrozenFunctionGraph, Digest)> = std::thread::scope(|scope| {
            let workers: Vec<_> = (0..THREADS)
                .map(|worker| {
                    let (container, barrier, recipe) = (&container, &barrier, &recipe);
                    scope.spawn(move || {
                        let own = &recipe[..20 + (worker + round) % 20];
                        let same = |recipe: &[terms::Step]| {
                            let inputs = inputs(container);
                            freeze(container, &inputs, &build(container, &inputs, recipe))
                        };
                        barrier.wait();
                        // Lookups meet graphs that die at this moment.
                        drop((same(recipe), same(own)));
                        let other = same(own).digest();
                        (same(recipe), other)
                    })
                })
                .collect();
            workers.into_iter().map(|worker| worker.join().unwrap()).collect()
        });
        assert!(frozen.windows(2).all(|pair| pair[0].0 == pair[1].0));
        drop(frozen);
        assert!(container.frozen_graphs().is_empty());
        assert_eq!(container.stats().nodes, 0);
    }
}
