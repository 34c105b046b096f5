//! Properties of whole graphs: one object a key, stable digests, walks, substitution, release.

use std::collections::HashMap;
use std::slice::from_ref;
use std::sync::Barrier;

use frazil_core::node::elemwise::{self, Operand};
use frazil_core::node::replace::replace;
use frazil_core::node::traverse::{needs_at_most, postorder, root_inputs, toposort};
use frazil_core::{
    Body, Container, DType, FrozenFunctionGraph, Node, Op, OpKey, OpProps, Origin, Param, Ty,
    TypeRule, Var, WeakScalar,
};
use proptest::prelude::*;
use smallvec::smallvec;

fn op(name: &str, arity: u32) -> Op {
    let key = OpKey {
        kind: name.into(),
        params: Param::None,
        props: OpProps { pure: true, ..OpProps::default() },
        rule: Some(TypeRule::Arithmetic.into()),
        arity: Some(arity),
    };
    Op::intern(key, name)
}

fn apply(container: &Container, op: Op, inputs: &[&Var]) -> Var {
    let operands = inputs.iter().map(|&input| Operand::Var(input.clone())).collect();
    elemwise::apply(container, op, operands, Origin::default()).unwrap()
}

fn vector(container: &Container, name: &str) -> Var {
    container.input(&Ty::tensor(DType::Float64, &[None]), Some(name), None)
}

/// A random graph: each entry applies a binary op to two earlier variables (inputs come first).
fn recipe() -> impl Strategy<Value = Vec<(usize, usize, usize)>> {
    prop::collection::vec((0..3usize, any::<usize>(), any::<usize>()), 1..40)
}

fn build(container: &Container, inputs: &[Var], recipe: &[(usize, usize, usize)]) -> Vec<Var> {
    let ops = [op("add", 2), op("sub", 2), op("mul", 2)];
    let mut variables = inputs.to_vec();
    for &(which, left, right) in recipe {
        let (left, right) = (left % variables.len(), right % variables.len());
        let made = apply(container, ops[which].clone(), &[&variables[left], &variables[right]]);
        variables.push(made);
    }
    variables
}

proptest! {
    #[test]
    fn equal_recipes_make_identical_nodes(recipe in recipe()) {
        let container = Container::new();
        let inputs = [vector(&container, "x"), vector(&container, "y")];
        prop_assert_eq!(
            build(&container, &inputs, &recipe),
            build(&container, &inputs, &recipe)
        );
    }

    #[test]
    fn dropping_everything_leaves_nothing(recipe in recipe()) {
        let container = Container::new();
        let inputs = vec![vector(&container, "x"), vector(&container, "y")];
        drop(build(&container, &inputs, &recipe));
        prop_assert_eq!(container.stats().nodes, 2);
        drop(inputs);
        prop_assert_eq!(container.stats().nodes, 0);
    }

    #[test]
    fn applications_are_counted_up_to_a_limit(recipe in recipe()) {
        let container = Container::new();
        let inputs = [vector(&container, "x"), vector(&container, "y")];
        let outputs = build(&container, &inputs, &recipe);
        let is_apply = |node: &&&Node| matches!(node.body(), Body::Apply { .. });
        let count = postorder(&outputs, &[]).iter().filter(is_apply).count();
        for limit in 0..count + 2 {
            prop_assert_eq!(needs_at_most(&outputs, limit), count <= limit);
        }
        let frozen = FrozenFunctionGraph::new(&container, &inputs, &outputs).unwrap();
        prop_assert_eq!(frozen.applications(), count);
    }

    #[test]
    fn toposort_puts_operands_first_and_each_node_once(recipe in recipe()) {
        let container = Container::new();
        let inputs = [vector(&container, "x"), vector(&container, "y")];
        let variables = build(&container, &inputs, &recipe);
        let outputs = [variables.last().unwrap().clone()];
        let order = toposort(&outputs, &[]);
        let position: HashMap<usize, usize> =
            order.iter().enumerate().map(|(at, node)| (node.address(), at)).collect();
        prop_assert_eq!(position.len(), order.len());
        for (at, node) in order.iter().enumerate() {
            for input in node.inputs() {
                if matches!(input.node().body(), Body::Apply { .. }) {
                    prop_assert!(position[&input.node().address()] < at);
                }
            }
        }
    }

    #[test]
    fn frozen_graphs_do_not_know_their_inputs(recipe in recipe()) {
        let container = Container::new();
        let freeze = || {
            let inputs = [vector(&container, "x"), vector(&container, "y")];
            let variables = build(&container, &inputs, &recipe);
            FrozenFunctionGraph::new(&container, &inputs, &variables[2..]).unwrap()
        };
        let (one, other) = (freeze(), freeze());
        prop_assert!(one == other);
        prop_assert_eq!(one.digest(), other.digest());
        // Another container stands for another process.
        let elsewhere = Container::new();
        let inputs = [vector(&elsewhere, "u"), vector(&elsewhere, "v")];
        let variables = build(&elsewhere, &inputs, &recipe);
        let third = FrozenFunctionGraph::new(&elsewhere, &inputs, &variables[2..]).unwrap();
        prop_assert_eq!(one.digest(), third.digest());
    }

    #[test]
    fn replacing_inputs_is_building_with_the_others(recipe in recipe()) {
        let container = Container::new();
        let [x, y, u, v] = ["x", "y", "u", "v"].map(|name| vector(&container, name));
        let from = build(&container, &[x.clone(), y.clone()], &recipe);
        let to = build(&container, &[u.clone(), v.clone()], &recipe);
        let pairs = [(x.clone(), u.clone()), (y.clone(), v.clone())];
        prop_assert_eq!(replace(&container, &from, &pairs).unwrap(), to);
        // Swapping is simultaneous, and twice is not at all.
        let swap = [(x.clone(), y.clone()), (y, x)];
        let once = replace(&container, &from, &swap).unwrap();
        prop_assert_eq!(replace(&container, &once, &swap).unwrap(), from);
    }
}

#[test]
fn digests_of_frozen_graphs_are_the_same_in_every_process() {
    let container = Container::new();
    let x = vector(&container, "x");
    let two = container.constant(WeakScalar::Float(2.0).constant(DType::Float64).unwrap());
    let product = apply(&container, op("mul", 2), &[&x, &two]);
    let graph = FrozenFunctionGraph::new(&container, &[x], &[product]).unwrap();
    // A golden value: caches and pickles of other processes rely on it.
    assert_eq!(graph.digest().to_string(), "dd8b0c719d1f52a044dd97a4c6b76944");
}

#[test]
fn a_deep_chain_drops_without_recursion() {
    let container = Container::new();
    let x = vector(&container, "x");
    let mut chain = x.clone();
    for _ in 0..200_000 {
        chain = apply(&container, op("add", 2), &[&chain, &x]);
    }
    let outputs = [chain];
    assert_eq!(toposort(&outputs, &[]).len(), 200_000);
    assert_eq!(root_inputs(&outputs), [x]);
    drop(outputs);
    assert_eq!(container.stats().nodes, 0);
}

#[test]
fn equal_nodes_are_one_while_alive() {
    let container = Container::new();
    let x = vector(&container, "x");
    let first = apply(&container, op("add", 2), &[&x, &x]);
    let digest = first.digest();
    assert!(first == apply(&container, op("add", 2), &[&x, &x]));
    assert_eq!(container.stats().nodes, 2);
    drop(first);
    assert_eq!(container.stats().nodes, 1);
    assert_eq!(apply(&container, op("add", 2), &[&x, &x]).digest(), digest);
}

#[test]
fn constants_are_known_by_content() {
    let container = Container::new();
    let float =
        |value: f64| container.constant(WeakScalar::Float(value).constant(DType::Float64).unwrap());
    assert!(float(1.5) == float(1.5));
    let (positive, negative) = (float(0.0), float(-0.0));
    assert!(positive != negative);
    assert!(float(f64::NAN) == float(f64::NAN));
}

#[test]
fn distinct_applications_never_merge() {
    let container = Container::new();
    let key = OpKey {
        kind: "alloc".into(),
        params: Param::None,
        props: OpProps { distinct: true, ..OpProps::default() },
        rule: Some(TypeRule::Arithmetic.into()),
        arity: Some(1),
    };
    let alloc = Op::intern(key, "alloc");
    let x = vector(&container, "x");
    let (one, other) = (apply(&container, alloc.clone(), &[&x]), apply(&container, alloc, &[&x]));
    assert!(one != other);
    // Rebuilding keeps the tags, so what was apart stays apart and what was one stays one.
    let y = vector(&container, "y");
    let outputs = [one.clone(), other, one];
    let moved = replace(&container, &outputs, &[(x, y)]).unwrap();
    assert!(moved[0] != moved[1] && moved[0] == moved[2]);
}

#[test]
fn threads_share_nodes() {
    const THREADS: usize = 8;
    let container = Container::new();
    let inputs = [vector(&container, "x"), vector(&container, "y")];
    let recipe: Vec<_> = (0..60usize).map(|i| (i % 3, i * 7 + 1, i * 13 + 2)).collect();
    let barrier = Barrier::new(THREADS);
    for _ in 0..50 {
        let built: Vec<Vec<Var>> = std::thread::scope(|scope| {
            let workers: Vec<_> = (0..THREADS)
                .map(|_| {
                    scope.spawn(|| {
                        barrier.wait();
                        // Building and dropping while others do, so lookups meet dying nodes.
                        drop(build(&container, &inputs, &recipe));
                        let kept = build(&container, &inputs, &recipe);
                        drop(build(&container, &inputs, &recipe[..30]));
                        kept
                    })
                })
                .collect();
            workers.into_iter().map(|worker| worker.join().unwrap()).collect()
        });
        assert!(built.windows(2).all(|pair| pair[0] == pair[1]));
        drop(built);
        assert_eq!(container.stats().nodes, 2);
    }
}

#[test]
fn foreign_variables_are_refused() {
    let (here, there) = (Container::new(), Container::new());
    let x = vector(&here, "x");
    let y = vector(&there, "y");
    let operands = smallvec![Operand::Var(x), Operand::Var(y)];
    let error = elemwise::apply(&here, op("add", 2), operands, Origin::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "y belongs to another container; build it in this one, or freeze its graph and bind that to variables of \
         this one"
    );
}

#[test]
fn shapes_broadcast_where_the_type_says_one() {
    let container = Container::new();
    let tensor =
        |shape: &[Option<u64>]| container.input(&Ty::tensor(DType::Float64, shape), None, None);
    let add = op("add", 2);
    let sum = apply(&container, add.clone(), &[&tensor(&[None, Some(1)]), &tensor(&[Some(3)])]);
    assert_eq!(sum.ty().shape(), [None, Some(3)]);
    let sum = apply(&container, add.clone(), &[&tensor(&[None]), &tensor(&[Some(4)])]);
    assert_eq!(sum.ty().shape(), [Some(4)]);
    let operands =
        smallvec![Operand::Var(tensor(&[Some(2), Some(3)])), Operand::Var(tensor(&[Some(2)]))];
    let error = elemwise::apply(&container, add, operands, Origin::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "add: operand 1 of type float64[2] does not broadcast against float64[2, 3]: lengths 2 and 3 \
         on axis 1 (counted from the last) differ and neither is 1"
    );
}

#[test]
fn python_numbers_take_the_dtype_of_their_operands() {
    let container = Container::new();
    let add = op("add", 2);
    let result = |dtype, scalar| {
        let x = container.input(&Ty::scalar(dtype), None, None);
        let operands = smallvec![Operand::Var(x), Operand::Weak(scalar)];
        elemwise::apply(&container, add.clone(), operands, Origin::default())
            .map(|variable| variable.ty().dtype())
    };
    assert_eq!(result(DType::Float32, WeakScalar::Float(1.5)).unwrap(), DType::Float32);
    assert_eq!(result(DType::Int8, WeakScalar::Int(1)).unwrap(), DType::Int8);
    assert_eq!(result(DType::Int8, WeakScalar::Float(1.0)).unwrap(), DType::Float64);
    assert_eq!(result(DType::Bool, WeakScalar::Int(1)).unwrap(), DType::Int64);
    assert_eq!(result(DType::UInt8, WeakScalar::Bool(true)).unwrap(), DType::UInt8);
    assert!(result(DType::Int8, WeakScalar::Int(300)).is_err());
}

#[test]
fn an_input_that_is_not_listed_is_named() {
    let container = Container::new();
    let (x, y) = (vector(&container, "x"), vector(&container, "y"));
    let sum = apply(&container, op("add", 2), &[&x, &y]);
    let missing = FrozenFunctionGraph::new(&container, from_ref(&x), from_ref(&sum));
    assert_eq!(
        missing.err().unwrap().to_string(),
        "the graph needs input y of type float64[?], which is not among its inputs; add it to the inputs"
    );
    let twice = FrozenFunctionGraph::new(&container, &[x.clone(), x.clone(), y], &[sum]);
    assert_eq!(twice.err().unwrap().to_string(), "x is listed twice among the inputs");
    let constant = container.constant(WeakScalar::Int(1).constant(DType::Int64).unwrap());
    assert!(FrozenFunctionGraph::new(&container, &[constant], &[x]).is_err());
}

#[test]
fn walks_stop_at_blockers() {
    let container = Container::new();
    let x = vector(&container, "x");
    let inner = apply(&container, op("add", 2), &[&x, &x]);
    let outer = [apply(&container, op("mul", 2), &[&inner, &x])];
    let nodes: Vec<&Node> = postorder(&outer, from_ref(&inner));
    assert_eq!(nodes.len(), 2);
    assert_eq!(toposort(&outer, &[inner]).len(), 1);
}
