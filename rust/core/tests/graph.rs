//! Editable graphs against a plain model: every graph is a list of terms of its own.

mod terms;

use std::rc::Rc;

use frazil_core::{Client, Container, FunctionGraph, Var};
use proptest::prelude::*;
use terms::{Step, Term, apply, build, constant, input, inputs, ops, recipe, show};

/// What a user may do with graphs; numbers are taken modulo what there is.
#[derive(Clone, Debug)]
enum Action {
    Build(Vec<Step>),
    Clone(usize),
    Replace {
        graph: usize,
        old: usize,
        new: usize,
    },
    Swap {
        graph: usize,
        one: usize,
        other: usize,
    },
    Clear(usize),
    Take(usize),
    Drop(usize),
    /// Edits within a transaction, which then fails or not.
    Transaction {
        graph: usize,
        old: usize,
        new: usize,
        fails: bool,
    },
    /// An inner transaction that fails within an outer one that may.
    Nested {
        graph: usize,
        old: usize,
        new: usize,
        fails: bool,
    },
}

fn action() -> impl Strategy<Value = Action> {
    let number = || 0..64usize;
    prop_oneof![
        2 => recipe(8).prop_map(Action::Build),
        2 => number().prop_map(Action::Clone),
        4 => (number(), number(), number())
            .prop_map(|(graph, old, new)| Action::Replace { graph, old, new }),
        1 => (number(), number(), number())
            .prop_map(|(graph, one, other)| Action::Swap { graph, one, other }),
        1 => number().prop_map(Action::Clear),
        1 => number().prop_map(Action::Take),
        1 => number().prop_map(Action::Drop),
        2 => (number(), number(), number(), any::<bool>())
            .prop_map(|(graph, old, new, fails)| Action::Transaction { graph, old, new, fails }),
        1 => (number(), number(), number(), any::<bool>())
            .prop_map(|(graph, old, new, fails)| Action::Nested { graph, old, new, fails }),
    ]
}

/// A graph and, in its model, the variables that each output is.
struct Pair {
    graph: FunctionGraph,
    model: Vec<Rc<Term>>,
}

/// The model of a variable.
fn term(var: &Var) -> Rc<Term> {
    Rc::new(match var.node().body() {
        frazil_core::Body::Apply { op, inputs, distinct } => Term::Apply {
            name: op.label().to_owned(),
            serial: distinct.map(|tag| tag.get() as usize),
            operands: inputs.iter().map(term).collect(),
        },
        frazil_core::Body::Constant(_) => Term::Constant(7),
        _ => Term::Input(
            ["x", "y", "z"].iter().position(|name| var.name().as_deref() == Some(name)).unwrap(),
        ),
    })
}

fn same(a: &Term, b: &Term) -> bool {
    match (a, b) {
        (Term::Input(a), Term::Input(b)) => a == b,
        (Term::Constant(a), Term::Constant(b)) => a == b,
        (
            Term::Apply { name, serial, operands },
            Term::Apply { name: other, serial: other_serial, operands: others },
        ) => {
            name == other
                && serial == other_serial
                && operands.len() == others.len()
                && operands.iter().zip(others).all(|(a, b)| same(a, b))
        }
        _ => false,
    }
}

/// Substitution as one would write it down: what is put in is not searched.
fn substitute(term: &Rc<Term>, pairs: &[(Rc<Term>, Rc<Term>)]) -> Rc<Term> {
    if let Some((_, new)) = pairs.iter().find(|(old, _)| same(old, term)) {
        return Rc::clone(new);
    }
    match &**term {
        Term::Apply { name, serial, operands } => Rc::new(Term::Apply {
            name: name.clone(),
            serial: *serial,
            operands: operands.iter().map(|operand| substitute(operand, pairs)).collect(),
        }),
        _ => Rc::clone(term),
    }
}

/// Replaces in graph and model.
fn replace(pair: &mut Pair, replacements: &[(Var, Var)]) {
    let terms: Vec<_> = replacements.iter().map(|(old, new)| (term(old), term(new))).collect();
    let moved: Vec<_> = terms.into_iter().filter(|(old, new)| !same(old, new)).collect();
    pair.graph.replace(replacements).unwrap();
    pair.model = pair.model.iter().map(|output| substitute(output, &moved)).collect();
}

fn check(pairs: &[Pair]) -> Result<(), TestCaseError> {
    for pair in pairs {
        let outputs = pair.graph.outputs();
        prop_assert_eq!(outputs.len(), pair.model.len());
        for (output, model) in outputs.iter().zip(&pair.model) {
            prop_assert!(same(&term(output), model), "{}", show(output));
        }
        prop_assert!(pair.graph.verify(&[]).is_ok());
        let variables = pair.graph.variables();
        for var in &variables {
            let owners = var.container().owners(var);
            prop_assert!(owners.contains(&pair.graph));
            let expected: Vec<_> =
                pairs.iter().filter(|other| other.graph.variables().contains(var)).collect();
            prop_assert_eq!(owners.len(), expected.len());
            for client in pair.graph.clients(var).unwrap() {
                match client {
                    Client::Node(node, at) => prop_assert_eq!(&node.inputs()[at], var),
                    Client::Output(at) => prop_assert_eq!(&outputs[at], var),
                }
            }
        }
        let reads: usize = variables.iter().map(|var| pair.graph.clients(var).unwrap().len()).sum();
        let nodes = pair.graph.nodes();
        let operands: usize = nodes.iter().map(|node| node.inputs().len()).sum();
        prop_assert_eq!(reads, operands + outputs.len());
        prop_assert_eq!(pair.graph.toposort().unwrap().len(), nodes.len());
    }
    Ok(())
}

proptest! {
    #[test]
    fn graphs_behave_as_if_each_had_terms_of_its_own(
        actions in prop::collection::vec(action(), 1..12),
    ) {
        let container = Container::new();
        let roots = inputs(&container);
        let mut pairs: Vec<Pair> = Vec::new();
        for action in actions {
            // Variables that a user could have at hand: those of any graph.
            let all: Vec<Var> = pairs
                .iter()
                .flat_map(|pair| pair.graph.variables())
                .chain(roots.iter().cloned())
                .collect();
            let pick = |number: usize| all[number % all.len()].clone();
            let count = pairs.len().max(1);
            match action {
                Action::Build(recipe) => {
                    let made = build(&container, &roots, &recipe);
                    let outputs = &made[made.len() - 2..];
                    pairs.push(Pair {
                        graph: FunctionGraph::new(&container, &roots, outputs).unwrap(),
                        model: outputs.iter().map(term).collect(),
                    });
                }
                Action::Clone(graph) => if let Some(pair) = pairs.get(graph % count) {
                    let copy = Pair { graph: pair.graph.clone(), model: pair.model.clone() };
                    pairs.push(copy);
                },
                Action::Replace { graph, old, new } => {
                    let replacement = [(pick(old), pick(new))];
                    if let Some(pair) = pairs.get_mut(graph % count) {
                        replace(pair, &replacement);
                    }
                }
                Action::Swap { graph, one, other } => {
                    let (one, other) = (pick(one), pick(other));
                    if let Some(pair) = pairs.get_mut(graph % count) {
                        replace(pair, &[(one.clone(), other.clone()), (other, one)]);
                    }
                }
                Action::Clear(graph) => if let Some(pair) = pairs.get_mut(graph % count) {
                    pair.graph.clear();
                    pair.model.clear();
                },
                Action::Take(graph) => if let Some(pair) = pairs.get_mut(graph % count) {
                    let model = std::mem::take(&mut pair.model);
                    let taken = Pair { graph: pair.graph.take(), model };
                    pairs.push(taken);
                },
                Action::Drop(graph) => if !pairs.is_empty() {
                    pairs.remove(graph % count);
                },
                Action::Transaction { graph, old, new, fails } => {
                    let replacement = [(pick(old), pick(new))];
                    if let Some(pair) = pairs.get_mut(graph % count) {
                        let before = pair.model.clone();
                        let copy = pair.graph.clone();
                        let outputs = copy.outputs();
                        drop(copy);
                        let mut inner = Pair { graph: pair.graph.take(), model: before.clone() };
                        let result = inner.graph.clone().transaction(|_| Ok::<_, ()>(()));
                        prop_assert!(result.is_ok());
                        let checkpoint = inner.graph.checkpoint();
                        replace(&mut inner, &replacement);
                        if fails {
                            inner.graph.restore(checkpoint);
                            inner.model = before;
                            prop_assert_eq!(inner.graph.outputs(), outputs);
                        }
                        *pair = inner;
                    }
                }
                Action::Nested { graph, old, new, fails } => {
                    let replacement = [(pick(old), pick(new))];
                    if let Some(pair) = pairs.get_mut(graph % count) {
                        let before = pair.graph.outputs();
                        let mut after = before.clone();
                        let result = pair.graph.transaction(|graph| {
                            let _ = graph.replace(&replacement);
                            after = graph.outputs();
                            let inner = graph.transaction(|graph| {
                                graph.clear();
                                Err::<(), _>("inner")
                            });
                            assert_eq!((inner, graph.outputs()), (Err("inner"), after.clone()));
                            if fails { Err("outer") } else { Ok(()) }
                        });
                        prop_assert_eq!(result.is_err(), fails);
                        let expected = if fails { before } else { after };
                        prop_assert_eq!(&pair.graph.outputs(), &expected);
                        pair.model = expected.iter().map(term).collect();
                    }
                }
            }
            check(&pairs)?;
        }
        // Graphs own their nodes, so nothing but the roots is left.
        drop(pairs);
        prop_assert_eq!(container.stats().nodes, roots.len());
    }
}

fn small(container: &Container) -> (Vec<Var>, Var, FunctionGraph) {
    let roots: Vec<Var> = ["x", "y"].iter().map(|name| input(container, name)).collect();
    let sum = apply(container, ops()[0].clone(), &[&roots[0], &roots[1]]);
    let graph = FunctionGraph::new(container, &roots, std::slice::from_ref(&sum)).unwrap();
    (roots, sum, graph)
}

#[test]
fn a_replacement_may_need_what_it_replaces() {
    let container = Container::new();
    let (roots, sum, graph) = small(&container);
    let (add, exp) = (ops()[0].clone(), ops()[2].clone());
    let of = |x: &Var| apply(&container, exp.clone(), &[x]);
    graph.replace(&[(sum.clone(), of(&sum))]).unwrap();
    assert_eq!(graph.outputs(), [of(&sum)]);
    // Also if the graph has it already, and through one another.
    graph.replace(&[(sum.clone(), of(&sum))]).unwrap();
    assert_eq!(graph.outputs(), [of(&of(&sum))]);
    let (x, y) = (&roots[0], &roots[1]);
    graph.replace(&[(x.clone(), of(y)), (y.clone(), of(x))]).unwrap();
    let crossed = apply(&container, add, &[&of(y), &of(x)]);
    assert_eq!(graph.outputs(), [of(&of(&crossed))]);
    graph.verify(&[]).unwrap();
}

#[test]
fn a_root_that_the_graph_does_not_have_is_refused_or_imported() {
    let container = Container::new();
    let (roots, sum, graph) = small(&container);
    let z = input(&container, "z");
    let error = graph.replace(&[(roots[0].clone(), z.clone())]).unwrap_err();
    assert!(error.to_string().starts_with("the graph needs input z of type int64[]"));
    assert_eq!(graph.outputs(), [sum]);
    graph.replace_importing(&[(roots[0].clone(), z.clone())]).unwrap();
    assert_eq!(graph.inputs(), [roots[0].clone(), roots[1].clone(), z]);
}

#[test]
fn replacements_fit_or_are_refused() {
    let (container, elsewhere) = (Container::new(), Container::new());
    let (roots, sum, graph) = small(&container);
    let float = container.input(&frazil_core::Ty::scalar(frazil_core::DType::Float64), None, None);
    assert!(graph.replace(&[(roots[0].clone(), float)]).is_err());
    assert!(graph.replace(&[(roots[0].clone(), input(&elsewhere, "far"))]).is_err());
    assert_eq!(graph.outputs(), [sum.clone()]);
    // A constant is known by its content, wherever it was made.
    graph.replace(&[(roots[0].clone(), constant(&elsewhere, 7))]).unwrap();
    let seven = constant(&container, 7);
    assert_eq!(graph.outputs(), [apply(&container, ops()[0].clone(), &[&seven, &roots[1]])]);
    // What the graph does not have is replaced by nothing.
    graph.replace(&[(sum, roots[0].clone())]).unwrap();
}

#[test]
fn inner_inputs_hide_what_is_below_them() {
    let container = Container::new();
    let (roots, sum, _) = small(&container);
    let outer = apply(&container, ops()[2].clone(), &[&sum]);
    let graph =
        FunctionGraph::new(&container, &[sum.clone()], std::slice::from_ref(&outer)).unwrap();
    graph.replace(&[(roots[0].clone(), roots[1].clone())]).unwrap();
    assert_eq!(graph.outputs(), [outer.clone()]);
    assert!(!graph.owns(&roots[0]) && graph.owns(&sum));
    assert_eq!(graph.variables(), [sum, outer]);
}

#[test]
fn names_belong_to_graphs() {
    let container = Container::new();
    let (roots, sum, graph) = small(&container);
    let seven = constant(&container, 7);
    let product = apply(&container, ops()[1].clone(), &[&sum, &seven]);
    graph.set_outputs(std::slice::from_ref(&product)).unwrap();
    let name = |graph: &FunctionGraph, var: &Var| graph.name_of(var).unwrap().to_string();
    assert_eq!(
        [&roots[0], &sum, &seven, &product].map(|var| name(&graph, var)),
        ["x", "v2", "7", "v4"]
    );
    graph.set_name(&sum, "total").unwrap();
    let copy = graph.clone();
    copy.set_name(&sum, "v4").unwrap();
    assert_eq!((name(&graph, &sum), name(&copy, &sum)), ("total".into(), "v4".into()));
    assert_eq!(name(&copy, &product), "v4_");
    // Names stay through edits, and go with their variables.
    graph.replace(&[(roots[0].clone(), roots[1].clone())]).unwrap();
    assert!(graph.name_of(&sum).is_err());
    assert_eq!(graph.name_of(&product).unwrap_err().to_string(), "mul.out is not in the graph");
    drop((roots, sum, seven, product));
    copy.clear();
    drop(copy);
    graph.clear();
    assert_eq!(container.stats().nodes, 0);
}

#[test]
fn a_panic_rolls_back_too() {
    let container = Container::new();
    let (_, sum, graph) = small(&container);
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        graph.transaction(|graph| -> Result<(), ()> {
            graph.clear();
            panic!("on purpose")
        })
    }));
    assert!(caught.is_err());
    assert_eq!(graph.outputs(), [sum]);
}

#[test]
fn freezing_again_finds_the_same_graph() {
    let container = Container::new();
    let (_, _, graph) = small(&container);
    let frozen = graph.freeze().unwrap();
    let address = frozen.address();
    assert_eq!(graph.clone().freeze().unwrap().address(), address);
    drop(frozen);
    assert!(container.frozen_graphs().is_empty());
    assert!(graph.freeze().is_ok());
}

#[test]
fn threads_edit_one_graph_atomically() {
    let container = Container::new();
    let (roots, _, graph) = small(&container);
    let far: Vec<Var> = (0..8).map(|at| constant(&container, at + 100)).collect();
    std::thread::scope(|scope| {
        for constant in &far {
            let (graph, roots) = (&graph, &roots);
            scope.spawn(move || {
                for _ in 0..200 {
                    let outputs = graph.outputs();
                    let more: Vec<Var> =
                        outputs.iter().cloned().chain([constant.clone()]).collect();
                    let _ = graph.replace(&[(roots[0].clone(), roots[1].clone())]);
                    graph.set_outputs(&more[..more.len().min(5)]).unwrap();
                    assert!(graph.verify(&[]).is_ok());
                    drop((graph.clone(), graph.freeze().unwrap()));
                }
            });
        }
    });
    assert_eq!(container.graphs().len(), 1);
}
