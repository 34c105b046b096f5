//! Containers: who owns what, what is freed when, and what may meet.

mod terms;

use frazil_core::node::elemwise::{self, Operand};
use frazil_core::{
    Container, DType, FrozenFunctionGraph, FunctionGraph, Op, Origin, Ty, Var, WeakScalar,
};
use smallvec::smallvec;
use terms::{apply, constant, input, ops};

fn chain(container: &Container, op: Op, x: &Var, length: usize) -> Var {
    (0..length).fold(x.clone(), |last, _| apply(container, op.clone(), &[&last, x]))
}

#[test]
fn a_variable_knows_its_container() {
    let container = Container::new();
    let x = input(&container, "x");
    assert!(x.container() == container && container.holds(&x));
    assert!(!Container::new().holds(&x));
}

#[test]
fn a_container_goes_with_its_last_user() {
    let container = Container::new();
    let x = input(&container, "x");
    let address = container.address();
    drop(container);
    // A node alone keeps it.
    assert_eq!(x.container().address(), address);
    let sum = apply(Container::global(), ops()[0].clone(), &[&x, &x]);
    drop(x);
    assert_eq!(sum.container().stats().nodes, 2);
    let graph = FunctionGraph::of_outputs(Container::global(), &[sum]).unwrap();
    assert_eq!(graph.container().graphs(), std::slice::from_ref(&graph));
    let frozen = graph.freeze().unwrap();
    drop(graph);
    assert_eq!(frozen.container().frozen_graphs(), [frozen.clone()]);
}

#[test]
fn nodes_and_numbers_go_where_their_operands_are() {
    let (here, elsewhere) = (Container::new(), Container::new());
    let x = input(&here, "x");
    let operands = smallvec![Operand::Weak(WeakScalar::Int(7)), Operand::Var(x.clone()),];
    let sum = elemwise::apply(&elsewhere, ops()[0].clone(), operands, Origin::default()).unwrap();
    assert!(here.holds(&sum));
    let seven = constant(&elsewhere, 7);
    let same = apply(&elsewhere, ops()[0].clone(), &[&seven, &x]);
    assert_eq!(same, sum);
    drop(seven);
    assert_eq!(elsewhere.stats().nodes, 0);
    let y = input(&elsewhere, "y");
    let operands = smallvec![Operand::Var(x), Operand::Var(y)];
    assert!(elemwise::apply(&here, ops()[0].clone(), operands, Origin::default()).is_err());
}

#[test]
fn an_equal_constant_exists_once() {
    let container = Container::new();
    let zero = || container.constant(WeakScalar::Float(0.0).constant(DType::Float64).unwrap());
    let (one, other) = (zero(), zero());
    assert!(one == other);
    assert_eq!(container.stats().nodes, 1);
}

#[test]
fn graphs_of_foreign_variables_are_refused() {
    let (here, elsewhere) = (Container::new(), Container::new());
    let (x, y) = (input(&here, "x"), input(&elsewhere, "y"));
    let roots = [x.clone(), y.clone()];
    assert!(FunctionGraph::new(&here, &roots, &[x.clone()]).is_err());
    assert!(FrozenFunctionGraph::new(&here, &roots, &[x.clone()]).is_err());
    // Constants come along.
    let graph = FunctionGraph::new(&elsewhere, &[x], &[constant(&elsewhere, 3)]).unwrap();
    assert!(graph.outputs().iter().all(|output| here.holds(output)));
}

#[test]
fn clearing_frees_what_no_other_graph_reaches() {
    let container = Container::new();
    let x = input(&container, "x");
    let shared = chain(&container, ops()[0].clone(), &x, 10);
    let own = chain(&container, ops()[1].clone(), &shared, 5);
    let roots = [x.clone()];
    let first = FunctionGraph::new(&container, &roots, &[own]).unwrap();
    let second = FunctionGraph::new(&container, &roots, std::slice::from_ref(&shared)).unwrap();
    assert_eq!(container.stats().nodes, 16);
    assert_eq!(container.owners(&shared), [first.clone_handle(), second.clone_handle()]);
    first.clear();
    assert_eq!(container.stats().nodes, 11);
    assert_eq!(container.owners(&shared), [second.clone_handle()]);
    assert!(first.variables().is_empty() && first.freeze().is_ok());
    drop((first, shared));
    assert_eq!(container.stats().nodes, 11);
    drop(second);
    assert_eq!(container.stats().nodes, 1);
    drop((x, roots));
    assert_eq!(container.stats().nodes, 0);
}

/// A second handle to the same graph.
trait CloneHandle {
    fn clone_handle(&self) -> FunctionGraph;
}

impl CloneHandle for FunctionGraph {
    fn clone_handle(&self) -> FunctionGraph {
        let mut graphs = self.container().graphs();
        let at = graphs.iter().position(|graph| graph == self).unwrap();
        graphs.swap_remove(at)
    }
}

#[test]
fn a_chain_is_dropped_in_two_parts() {
    let container = Container::new();
    let x = input(&container, "x");
    let last = chain(&container, ops()[0].clone(), &x, 1000);
    let debris = last.into_node().drop_some(10).unwrap();
    assert_eq!(container.stats().nodes, 991);
    // Meanwhile the same nodes can be built again.
    let again = chain(&container, ops()[0].clone(), &x, 1000);
    std::thread::spawn(move || drop(debris)).join().unwrap();
    assert_eq!(container.stats().nodes, 1001);
    assert!(again.into_node().drop_some(1000).is_none());
    assert_eq!(container.stats().nodes, 1);
    assert!(x.clone().into_node().drop_some(1).is_none());
}

#[test]
fn rounds_of_building_and_dropping_leave_nothing() {
    let container = Container::new();
    let x = input(&container, "x");
    let round = || {
        let last = chain(&container, ops()[0].clone(), &x, 20_000);
        let graph = FunctionGraph::new(&container, std::slice::from_ref(&x), &[last]).unwrap();
        let copy = graph.clone();
        drop((graph.freeze().unwrap(), copy, graph));
        container.stats()
    };
    let first = round();
    assert_eq!(first.nodes, 1);
    for _ in 0..10 {
        let later = round();
        assert_eq!(later.nodes, 1);
        // Tables keep their room; they do not grow.
        assert!(later.bytes <= first.bytes + first.bytes / 4, "{later:?} after {first:?}");
    }
}

#[test]
fn threads_make_and_drop_containers() {
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for round in 0..200 {
                    let container = Container::new();
                    let x = container.input(&Ty::scalar(DType::Int64), None, None);
                    let outputs = [chain(&container, ops()[0].clone(), &x, round % 20)];
                    let graph = FunctionGraph::new(&container, &[x], &outputs).unwrap();
                    drop((container, outputs));
                    let frozen = graph.freeze().unwrap();
                    std::thread::spawn(move || drop(graph)).join().unwrap();
                    drop(frozen);
                }
            });
        }
    });
}
