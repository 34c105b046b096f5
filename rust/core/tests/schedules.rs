//! The shared tables under a model checker, which tries schedules of threads that real ones seldom meet.

#![cfg(feature = "shuttle")]

mod laws;
mod terms;

use frazil_core::rewrite::ruleset::RuleSet;
use frazil_core::rewrite::sweep::rewrite;
use frazil_core::{
    Container, DType, FrozenFunctionGraph, FunctionGraph, Op, OpKey, OpProps, Origin, Param,
    Signature, Ty, Var,
};
use shuttle::thread;
use terms::{apply, input, ops};

const SCHEDULES: usize = 1000;

fn check(body: impl Fn() + Send + Sync + 'static + Clone) {
    shuttle::check_random(body.clone(), SCHEDULES);
    shuttle::check_pct(body, SCHEDULES, 3);
}

/// `exp(exp(x))`: a node that another keeps alive.
fn pair(container: &Container, x: &Var) -> Var {
    apply(container, ops()[2].clone(), &[&apply(container, ops()[2].clone(), &[x])])
}

#[test]
fn interning_meets_release() {
    check(|| {
        let container = Container::new();
        let x = input(&container, "x");
        let workers: Vec<_> = (0..3)
            .map(|_| {
                let (container, x) = (container.clone(), x.clone());
                thread::spawn(move || {
                    drop(pair(&container, &x));
                    let (one, other) = (pair(&container, &x), pair(&container, &x));
                    assert!(one == other);
                    one
                })
            })
            .collect();
        let made: Vec<Var> = workers.into_iter().map(|worker| worker.join().unwrap()).collect();
        assert!(made.windows(2).all(|two| two[0] == two[1]));
        assert_eq!(container.stats().nodes, 3);
        drop(made);
        assert_eq!(container.stats().nodes, 1);
    });
}

#[test]
fn the_last_handle_goes_once() {
    check(|| {
        let container = Container::new();
        let x = input(&container, "x");
        let last = pair(&container, &x);
        let workers: Vec<_> = (0..2)
            .map(|_| {
                let last = last.clone();
                thread::spawn(move || drop(last))
            })
            .collect();
        drop((last, x));
        let again = input(&container, "y");
        workers.into_iter().for_each(|worker| worker.join().unwrap());
        assert_eq!(container.stats().nodes, 1);
        drop(again);
    });
}

#[test]
fn a_container_outlives_its_nodes() {
    check(|| {
        let container = Container::new();
        let x = input(&container, "x");
        let worker = thread::spawn({
            let x = x.clone();
            move || pair(&x.container(), &x)
        });
        drop(container);
        let here = pair(&x.container(), &x);
        drop(x);
        let there = worker.join().unwrap();
        assert!(here == there);
        assert_eq!(there.container().stats().nodes, 3);
    });
}

#[test]
fn equal_graphs_freeze_to_one() {
    check(|| {
        let container = Container::new();
        let freeze = |container: &Container| {
            let x = input(container, "x");
            let output = pair(container, &x);
            FrozenFunctionGraph::new(container, &[x], &[output]).unwrap()
        };
        let workers: Vec<_> = (0..2)
            .map(|_| {
                let container = container.clone();
                thread::spawn(move || {
                    drop(freeze(&container));
                    freeze(&container)
                })
            })
            .collect();
        let made: Vec<_> = workers.into_iter().map(|worker| worker.join().unwrap()).collect();
        assert!(made[0] == made[1]);
        drop(made);
        assert!(container.frozen_graphs().is_empty());
        assert_eq!(container.stats().nodes, 0);
    });
}

/// An op that runs the graph of `exp(exp(x))`.
fn holder(container: &Container) -> Op {
    let x = input(container, "x");
    let output = pair(container, &x);
    let graph = FrozenFunctionGraph::new(container, &[x], &[output]).unwrap();
    let params = Param::List(vec![Param::graph(&graph).unwrap()]);
    let key =
        OpKey { kind: "holds".into(), params, props: OpProps::default(), rule: None, arity: None };
    Op::intern(key, "holds")
}

/// `op` applied to a new input.
fn applied(container: &Container, op: Op) -> Var {
    let x = input(container, "x");
    let signature = x.node().signature().clone();
    let node = container.apply(op, [x].into_iter().collect(), signature, Origin::default());
    node.unwrap().outputs().next().unwrap()
}

fn nothing_is_held(container: &Container) {
    for container in [container, Container::global()] {
        assert!(container.frozen_graphs().is_empty());
        assert_eq!(container.stats().nodes, 0);
    }
}

#[test]
fn ops_that_hold_equal_graphs_are_one() {
    check(|| {
        let container = Container::new();
        let workers: Vec<_> = (0..2)
            .map(|_| {
                let container = container.clone();
                thread::spawn(move || {
                    drop(holder(&container));
                    holder(&container)
                })
            })
            .collect();
        let made: Vec<Op> = workers.into_iter().map(|worker| worker.join().unwrap()).collect();
        assert_eq!(made[0], made[1]);
        assert_eq!(Op::named("holds", &made[0].key().params), [made[0].clone()]);
        drop(made);
        nothing_is_held(&container);
    });
}

#[test]
fn an_op_that_holds_a_graph_goes_with_its_last_node() {
    check(|| {
        let container = Container::new();
        let op = holder(&container);
        let last = applied(&container, op.clone());
        let workers = [
            thread::spawn(move || drop(last)),
            thread::spawn({
                let container = container.clone();
                move || {
                    // It may die meanwhile, with its graph, and be made anew.
                    let again = holder(&container);
                    let var = applied(&container, again.clone());
                    assert_eq!(Op::named("holds", &again.key().params), [again]);
                    drop(var);
                }
            }),
        ];
        drop(op);
        workers.into_iter().for_each(|worker| worker.join().unwrap());
        nothing_is_held(&container);
    });
}

#[test]
fn types_go_with_their_last_handle() {
    check(|| {
        // One type may last: that is taken.
        let lasting = Ty::scalar(DType::Float64);
        let workers: Vec<_> = (0..2)
            .map(|_| {
                let lasting = lasting.clone();
                thread::spawn(move || {
                    let make = || Ty::tensor(DType::Float64, &[Some(3)]);
                    drop(make());
                    let pair = Signature::new(&[make(), lasting.clone()]);
                    assert_eq!(pair.types(), [make(), lasting]);
                    pair
                })
            })
            .collect();
        let made: Vec<_> = workers.into_iter().map(|worker| worker.join().unwrap()).collect();
        assert_eq!(made[0], made[1]);
    });
}

#[test]
fn edits_of_one_graph_are_atomic() {
    check(|| {
        let container = Container::new();
        let x = input(&container, "x");
        let graph = FunctionGraph::new(&container, &[x.clone()], &[x.clone()]).unwrap();
        let graph = std::sync::Arc::new(graph);
        let workers: Vec<_> = (0..2)
            .map(|_| {
                let (container, graph, x) = (container.clone(), graph.clone(), x.clone());
                thread::spawn(move || {
                    // The other thread may have taken the input that these outputs need.
                    let set = graph.set_outputs(&[x.clone(), pair(&container, &x)]);
                    assert!(graph.verify(&[]).is_ok());
                    let taken = graph.take();
                    assert!(set.is_ok() || taken.inputs().is_empty());
                    assert!([0, 2].contains(&taken.outputs().len()));
                })
            })
            .collect();
        workers.into_iter().for_each(|worker| worker.join().unwrap());
        assert!(graph.outputs().is_empty());
        drop(graph);
        assert_eq!(container.stats().nodes, 1);
    });
}

/// `x + -y -> x - y`.
fn differences() -> RuleSet {
    let (x, y) = (laws::scalar("x"), laws::scalar("y"));
    let left = laws::apply(laws::add(), &[&x, &laws::apply(laws::neg(), &[&y])]);
    let right = laws::apply(laws::sub(), &[&x, &y]);
    RuleSet::new(vec![laws::law("add_neg", &left, &right, &[laws::open(&x), laws::open(&y)])])
}

#[test]
fn what_is_remembered_by_weak_handles_may_die_meanwhile() {
    check(|| {
        let rules = differences();
        let (x, y) = (laws::scalar("x"), laws::scalar("y"));
        let workers: Vec<_> = (0..2)
            .map(|_| {
                let (rules, x, y) = (rules.clone(), x.clone(), y.clone());
                thread::spawn(move || {
                    // One may be letting go what the other asks for.
                    let left = laws::apply(laws::add(), &[&x, &laws::apply(laws::neg(), &[&y])]);
                    let right = rewrite(&rules, &[left]).unwrap().remove(0);
                    assert!(right == laws::apply(laws::sub(), &[&x, &y]));
                })
            })
            .collect();
        workers.into_iter().for_each(|worker| worker.join().unwrap());
        drop((rules, x, y));
        assert_eq!(Container::global().stats().nodes, 0);
    });
}
