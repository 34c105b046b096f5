//! A frozen graph as a flat list, which the codec and the text form write.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::node::container::Container;
use crate::node::frozen::FrozenFunctionGraph;
use crate::node::op::{Op, Param};
use crate::node::traverse::postorder;
use crate::node::{Body, Inputs, Var};
use crate::value::constant::ConstantData;
use crate::value::digest::Digest;
use crate::value::error::Error;
use crate::value::id::{DistinctTag, Origin};
use crate::value::ty::{Signature, Ty};

/// A graph, its list, and its ops in the order in which they are met.
pub(crate) type Listed = (FrozenFunctionGraph, Listing, Vec<Op>);

/// `graph` and all graphs that ops in it hold: each once, after the graphs that it needs itself.
pub(crate) fn inner_first(graph: &FrozenFunctionGraph) -> Vec<Listed> {
    let mut met = FxHashSet::default();
    let mut done = Vec::new();
    // Graphs that are not finished, each with the graphs of its ops that are still to be listed.
    let mut open: Vec<(Listed, Vec<FrozenFunctionGraph>)> = Vec::new();
    let mut next = Some(graph.clone());
    while let Some(graph) = next.take() {
        if met.insert(graph.address()) {
            let (listing, ops) = Listing::of(&graph);
            let mut held = Vec::new();
            ops.iter().for_each(|op| op.key().params.graphs(&mut held));
            let held = held.into_iter().rev().cloned().collect();
            open.push(((graph, listing, ops), held));
        }
        while next.is_none()
            && let Some((_, held)) = open.last_mut()
        {
            next = held.pop();
            if next.is_none() {
                done.extend(open.pop().map(|(listed, _)| listed));
            }
        }
    }
    done
}

/// Finds the op of this kind with these parameters if the process has none yet, or reports that there is none.
pub type Resolve<'a> = dyn FnMut(&str, &Param) -> Result<Option<Op>, Error> + 'a;

/// An output of a node in the list, in which inputs come first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ListedOutput {
    pub(crate) at: u32,
    pub(crate) output: u32,
}

/// A constant, or an op applied to nodes before it.
pub(crate) enum ListedNode {
    Constant(ConstantData),
    Apply { op: u32, tag: Option<u64>, inputs: Vec<ListedOutput>, types: Vec<Ty> },
}

/// Operands stand before their users.
pub(crate) struct Listing {
    pub(crate) inputs: Vec<Ty>,
    pub(crate) nodes: Vec<ListedNode>,
    pub(crate) outputs: Vec<ListedOutput>,
}

/// An op by its kind and parameters; the digest, if there is one, must be that of the op.
pub(crate) struct NamedOp {
    pub(crate) kind: String,
    pub(crate) params: Param,
    pub(crate) digest: Option<Digest>,
}

impl NamedOp {
    /// The op of this process.
    pub(crate) fn find(&self, resolve: &mut Resolve<'_>) -> Result<Op, Error> {
        let mut known = Op::named(&self.kind, &self.params);
        let kind = || self.kind.clone();
        if known.is_empty()
            && let Some(op) = resolve(&self.kind, &self.params)?
        {
            if op.key().kind != self.kind || op.key().params != self.params {
                return Err(Error::OpChanged { kind: kind() });
            }
            known.push(op);
        }
        let Some(expected) = self.digest else {
            return match &known[..] {
                [] => Err(Error::UnknownOp { kind: kind() }),
                [op] => Ok(op.clone()),
                [op, ..] => Err(Error::OpRedefined { label: op.label().to_owned(), kind: kind() }),
            };
        };
        match known.iter().find(|op| op.digest() == expected) {
            Some(op) => Ok(op.clone()),
            None if known.is_empty() => Err(Error::UnknownOp { kind: kind() }),
            None => Err(Error::OpChanged { kind: kind() }),
        }
    }
}

impl Listing {
    /// The list of `graph`, and its ops in the order in which they are met.
    pub(crate) fn of(graph: &FrozenFunctionGraph) -> (Listing, Vec<Op>) {
        let mut places: FxHashMap<usize, u32> = FxHashMap::default();
        for (at, input) in graph.inputs().iter().enumerate() {
            places.insert(input.node().address(), at as u32);
        }
        let (mut nodes, mut ops) = (Vec::new(), Vec::new());
        let mut numbers: FxHashMap<Op, u32> = FxHashMap::default();
        let place = |places: &FxHashMap<usize, u32>, var: &Var| ListedOutput {
            at: places[&var.node().address()],
            output: var.index() as u32,
        };
        for node in postorder(graph.canonical_outputs(), graph.inputs()) {
            let listed = match node.body() {
                Body::Apply { op, inputs, distinct } => {
                    let number = *numbers.entry(op.clone()).or_insert_with(|| {
                        ops.push(op.clone());
                        (ops.len() - 1) as u32
                    });
                    ListedNode::Apply {
                        op: number,
                        tag: distinct.map(DistinctTag::get),
                        inputs: inputs.iter().map(|input| place(&places, input)).collect(),
                        types: node.signature().types().to_vec(),
                    }
                }
                Body::Constant(data) => ListedNode::Constant((**data).clone()),
                Body::Input { .. } | Body::Nominal { .. } => {
                    unreachable!("a frozen graph has no roots but its inputs, where the walk stops")
                }
            };
            places.insert(node.address(), (graph.inputs().len() + nodes.len()) as u32);
            nodes.push(listed);
        }
        let listing = Listing {
            inputs: graph.inputs().iter().map(|input| input.ty().clone()).collect(),
            nodes,
            outputs: graph
                .canonical_outputs()
                .iter()
                .map(|output| place(&places, output))
                .collect(),
        };
        (listing, ops)
    }

    /// The graph, in `container`. A list that describes no valid graph is an error.
    pub(crate) fn build(
        self,
        container: &Container,
        ops: &[Op],
    ) -> Result<FrozenFunctionGraph, Error> {
        let nominals: Vec<Var> = self
            .inputs
            .iter()
            .enumerate()
            .map(|(position, ty)| container.nominal(position as u32, ty))
            .collect();
        let mut places: Vec<Inputs> =
            nominals.iter().map(|nominal| Inputs::from_iter([nominal.clone()])).collect();
        let find = |places: &[Inputs], place: &ListedOutput| -> Result<Var, Error> {
            let found = places.get(place.at as usize).and_then(|at| at.get(place.output as usize));
            found.cloned().ok_or(Error::NoSuchPlace { at: place.at, output: place.output })
        };
        for listed in self.nodes {
            let made = match listed {
                ListedNode::Constant(data) => Inputs::from_iter([container.constant(data)]),
                ListedNode::Apply { op, tag, inputs, types } => {
                    let op = ops.get(op as usize).ok_or(Error::NoSuchOp { number: op })?;
                    let inputs = inputs.iter().map(|place| find(&places, place)).collect::<Result<
                        Inputs,
                        Error,
                    >>(
                    )?;
                    op.check_arity(inputs.len())?;
                    let tag = tag.and_then(DistinctTag::new);
                    if tag.is_some() != op.key().props.is_tagged() {
                        return Err(Error::TagMismatch { op: op.label().to_owned() });
                    }
                    let signature = Signature::new(&types);
                    container
                        .apply_tagged(op.clone(), inputs, signature, tag, Origin::default())?
                        .outputs()
                        .collect()
                }
            };
            places.push(made);
        }
        let outputs = self
            .outputs
            .iter()
            .map(|place| find(&places, place))
            .collect::<Result<Vec<Var>, Error>>()?;
        FrozenFunctionGraph::new(container, &nominals, &outputs)
    }
}
