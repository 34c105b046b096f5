//! Graphs cut into loops and calls: what holds for each cut.

mod terms;

use std::collections::HashSet;
use std::convert::Infallible;

use frazil_core::fusion::{Axes, Costs, Domain, Kind, Lengths, Misfit, Request, Value, cut};
use frazil_core::{Container, DType, Node, Origin, Signature, Ty, Var, traverse};
use proptest::prelude::*;
use terms::op;

fn vector() -> Ty {
    Ty::tensor(DType::Float64, &[None])
}

/// Elementwise nodes of a cost; `call` is none.
const OPS: [(&str, Option<u32>); 4] =
    [("cheap", Some(1)), ("dear", Some(4)), ("function", Some(20)), ("call", None)];

/// Vectors that are computed from one input, a step each: its op, and its operands among those before.
fn build(container: &Container, steps: &[(usize, usize, usize)]) -> Vec<Var> {
    let mut vars = vec![container.input(&vector(), Some("x"), None)];
    for &(which, first, second) in steps {
        let inputs = [first, second].map(|at| vars[at % vars.len()].clone());
        let own = op(OPS[which % OPS.len()].0, 2, false);
        let node =
            container.apply(own, inputs.into(), Signature::new(&[vector()]), Origin::default());
        vars.extend(node.unwrap().outputs());
    }
    vars
}

fn kinds() -> Vec<Kind> {
    let kind = |cost: Option<u32>| Kind {
        fusible: cost.is_some(),
        elementwise: cost.is_some(),
        makes_elements: cost.is_some(),
        reduces_rows: false,
        sums_short: false,
        row: None,
        is_length: false,
        cost,
        domain: Domain::Output,
        whole: false,
        operands: vec![(0, Axes::from_slice(&[0])), (1, Axes::from_slice(&[0]))],
        view: None,
        length_operands: 0..0,
    };
    OPS.iter().map(|(_, cost)| kind(*cost)).collect()
}

/// All vectors are as long as the input.
struct OneLength(Var, Var);

impl Lengths for OneLength {
    type Error = Infallible;

    fn shape(&mut self, _: &Var) -> Result<usize, Infallible> {
        Ok(0)
    }

    fn representatives(&mut self, _: usize) -> Result<Vec<Var>, Infallible> {
        Ok(vec![self.1.clone()])
    }

    fn leaves(&mut self, _: usize) -> Result<Vec<Var>, Infallible> {
        Ok(vec![self.0.clone()])
    }

    fn leaves_around(&mut self, _: &Node) -> Result<Vec<Var>, Infallible> {
        Ok(vec![self.0.clone()])
    }
}

proptest! {
    #[test]
    fn each_segment_finds_in_memory_what_it_reads(
        steps in prop::collection::vec((0..4usize, 0..64usize, 0..64usize), 1..60),
        wanted in prop::collection::vec(0..64usize, 1..4),
        limit in 1..12usize,
    ) {
        let container = Container::new();
        let vars = build(&container, &steps);
        let outputs: Vec<Var> = wanted.iter().map(|at| vars[at % vars.len()].clone()).collect();
        let order: Vec<Node> = traverse::toposort(&outputs, &vars[..1]).into_iter().cloned().collect();
        let named = |node: &Node| OPS.iter().position(|(name, _)| format!("{node:?}").contains(name)).unwrap();
        let kind_of: Vec<usize> = order.iter().map(named).collect();
        let request = Request {
            order: &order,
            kinds: &kinds(),
            kind_of: &kind_of,
            inputs: &vars[..1],
            outputs: &outputs,
            given: &[],
            written: &[],
            before: &[],
            limit,
            costs: Costs { keeping: 3, function: 20 },
        };
        let mut lengths = OneLength(vars[0].clone(), terms::input(&container, "n"));
        let found = cut(&request, &mut lengths).unwrap();
        let mut stored = HashSet::from([vars[0].clone()]);
        let mut run = HashSet::new();
        for segment in &found.segments {
            prop_assert!(segment.inputs.iter().all(|x| stored.contains(x)));
            let most = if segment.in_loop.is_some() { limit } else { 1 };
            prop_assert!(segment.nodes.len() <= most);
            // The nodes follow from the inputs and outputs alone.
            let graph = traverse::toposort(&segment.outputs, &segment.inputs).into_iter();
            let inside: HashSet<usize> = graph.map(Node::address).collect();
            let steps = segment.in_loop.as_ref().map(|own| &own.steps);
            let again = steps.iter().flat_map(|steps| steps.again.iter().copied());
            let own = segment.nodes.iter().copied().chain(again);
            let known: HashSet<usize> = own.map(|at| order[at].address()).collect();
            prop_assert!(inside.is_subset(&known));
            for &at in &segment.nodes {
                prop_assert!(run.insert(at), "a node runs twice");
                prop_assert_eq!(segment.in_loop.is_some(), OPS[kind_of[at]].1.is_some());
            }
            if let Some(steps) = steps {
                prop_assert!(limit > 1 || steps.again.is_empty());
                let node = |at: &u32| &order[steps.all[*at as usize].at];
                let result = |at: &u32| node(at).outputs().next().unwrap();
                let own: Vec<usize> = steps.own.iter().map(|at| node(at).address()).collect();
                let nodes: Vec<usize> = segment.nodes.iter().map(|at| order[*at].address()).collect();
                prop_assert_eq!(own, nodes);
                for (now, step) in steps.all.iter().enumerate() {
                    // The operands of each step are those of its node, made by a step before or in memory.
                    let mut operands = Vec::new();
                    for operand in &step.operands {
                        operands.push(match operand {
                            Value::Step(at) => {
                                prop_assert!((*at as usize) < now);
                                result(at)
                            }
                            Value::Read(at) => {
                                let (x, axes) = &steps.reads[*at as usize];
                                prop_assert_eq!(&axes[..], &[0]);
                                prop_assert!(stored.contains(found.var(*x)));
                                found.var(*x).clone()
                            }
                            Value::Literal(_) => unreachable!("the graph has no constants"),
                        });
                    }
                    prop_assert_eq!(&operands[..], order[step.at].inputs());
                }
                let left: HashSet<Var> = steps.stored.iter().map(|(at, ..)| result(at)).collect();
                prop_assert_eq!(left, segment.outputs.iter().cloned().collect::<HashSet<Var>>());
            }
            stored.extend(segment.outputs.iter().cloned());
        }
        prop_assert!(outputs.iter().all(|x| stored.contains(x)));
    }
}

#[test]
fn kinds_that_do_not_fit_are_found() {
    let container = Container::new();
    let vars = build(&container, &[(0, 0, 0), (1, 1, 0)]);
    let order: Vec<Node> =
        traverse::toposort(&vars[2..], &vars[..1]).into_iter().cloned().collect();
    let check = |kinds: &[Kind], kind_of: &[usize]| {
        let request = Request {
            order: &order,
            kinds,
            kind_of,
            inputs: &vars[..1],
            outputs: &vars[2..],
            given: &[],
            written: &[],
            before: &[],
            limit: 1,
            costs: Costs { keeping: 3, function: 20 },
        };
        request.check()
    };
    assert_eq!(check(&kinds(), &[0, 1]), Ok(()));
    assert_eq!(check(&kinds(), &[0]), Err(Misfit::Count { positions: 1, nodes: 2 }));
    assert_eq!(check(&kinds(), &[0, 4]), Err(Misfit::Kind { at: 1, kind: 4, kinds: 4 }));
    let mut wide = kinds();
    wide[1].operands.push((2, Axes::from_slice(&[0])));
    assert_eq!(check(&wide, &[0, 1]), Err(Misfit::Operand { at: 1, operand: 2, operands: 2 }));
}
