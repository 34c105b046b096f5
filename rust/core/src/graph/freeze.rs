//! Frozen graphs: closed graphs over nominal inputs, one object for all that are isomorphic.
//!
//! Freezing puts nominals in place of the inputs and numbers the tags of distinct nodes 1, 2, ... as a walk from the
//! outputs meets them. The result does not depend on the place and the order in which the graph was built, so
//! isomorphic graphs have the very same outputs, and a table of weak references makes one object of them. The outputs
//! that users see have tags of the graph's own instead (`node/frozen.rs`), so two graphs never share a buffer.

use once_cell::race::OnceBox;
use rustc_hash::{FxHashMap, FxHashSet};

use super::function_graph::FunctionGraph;
use crate::intern::Handle;
use crate::node::alias;
use crate::node::alike;
use crate::node::container::Container;
use crate::node::frozen::{Frozen, FrozenFunctionGraph};
use crate::node::op::{Op, Param};
use crate::node::replace::{Afresh, Rebuild, rebuild};
use crate::node::{Body, Inputs, Node, Var};
use crate::order::destroy;
use crate::value::digest::DigestWriter;
use crate::value::error::Error;
use crate::value::id::DistinctTag;
use crate::value::ty::Signature;

impl Param {
    /// The parameter that stands for `graph`: the equal graph of the one container that all ops share.
    ///
    /// So an op is the same in every container. The first call takes as long as binding the graph does.
    pub fn graph(graph: &FrozenFunctionGraph) -> Result<Param, Error> {
        graph.in_global().map(Param::Graph)
    }
}

/// The greatest depth of graphs within ops of graphs: walking down or freeing them may use the stack.
pub const MAX_NESTING: u32 = 32;

impl FrozenFunctionGraph {
    /// The graph that computes `outputs` from `inputs`, which may be any variables but constants.
    ///
    /// An input that no output needs stays an input. A root input that is not listed is an error that names it.
    /// `container` is for graphs without variables; other graphs live in the container of their variables.
    pub fn new(
        container: &Container,
        inputs: &[Var],
        outputs: &[Var],
    ) -> Result<FrozenFunctionGraph, Error> {
        check_inputs(inputs)?;
        freeze(container, inputs, outputs, Tags::apart())
    }

    /// The same, with distinct nodes folded into one where op, inputs and types are equal.
    ///
    /// A graph that destroys such a node is refused: two buffers would become one.
    pub fn deduplicated(
        container: &Container,
        inputs: &[Var],
        outputs: &[Var],
    ) -> Result<FrozenFunctionGraph, Error> {
        check_inputs(inputs)?;
        freeze(container, inputs, outputs, Tags::folded())
    }

    /// The graph in which every occurrence of one of `inputs` is an input; constants and whole expressions may be
    /// inputs.
    ///
    /// If one expression contains another, the outer one becomes the input.
    pub fn from_structural_inputs(
        container: &Container,
        inputs: &[Var],
        outputs: &[Var],
    ) -> Result<FrozenFunctionGraph, Error> {
        check_twice(inputs)?;
        freeze(container, inputs, outputs, Tags::apart())
    }

    /// The applications in an order that runs: operands first, and a destroyer after all readers.
    pub fn toposort(&self) -> &[Node] {
        let frozen = &self.0;
        let (order, outputs) = match self.own() {
            Some(own) => (&own.order, &own.outputs),
            None => (&frozen.order, &frozen.outputs),
        };
        order.get_or_init(|| {
            let order = destroy::toposort(outputs, &frozen.inputs, &[]);
            // A graph with destroyers had an order when it was frozen; a graph without may run in any order.
            Box::new(order.unwrap_or_default().into_iter().cloned().collect())
        })
    }

    /// The kinds of all ops: of the graph's nodes, of ops that these hold, and of the nodes of graphs that they hold.
    /// Each once, in no order that means anything.
    pub fn kinds(&self) -> Vec<&str> {
        let (mut kinds, mut seen, mut walked) =
            (FxHashSet::default(), FxHashSet::default(), FxHashSet::default());
        let mut graphs = vec![self];
        while let Some(graph) = graphs.pop() {
            let new = walked.insert(graph.0.address());
            let mut ops = if new { alike::ops(graph.toposort()) } else { Vec::new() };
            while let Some(op) = ops.pop() {
                if seen.insert(op.address()) {
                    let key = op.key();
                    kinds.insert(key.kind.as_str());
                    key.params.ops(&mut ops);
                    key.params.graphs(&mut graphs);
                }
            }
        }
        kinds.into_iter().collect()
    }

    /// The equal graph of the global container; itself, if it lives there. It is remembered after the first call.
    pub fn in_global(&self) -> Result<FrozenFunctionGraph, Error> {
        let global = Container::global();
        if self.0.lives_in(global.storage()) {
            return Ok(self.clone());
        }
        if let Some(known) = self.0.in_global.get() {
            return Ok(known.clone());
        }
        let inputs: Vec<Var> = (0..)
            .zip(self.inputs())
            .map(|(position, input)| global.nominal(position, input.ty()))
            .collect();
        let outputs = rebuild(
            global,
            self.canonical_outputs(),
            &self.inputs().iter().cloned().zip(inputs.iter().cloned()).collect::<Vec<_>>(),
            &mut Afresh(global),
        )?;
        let graph = FrozenFunctionGraph::new(global, &inputs, &outputs)?;
        Ok(self.0.in_global.get_or_init(|| Box::new(graph)).clone())
    }

    /// An editable graph over new inputs that freezes to this one.
    pub fn unfreeze(&self) -> FunctionGraph {
        let container = self.container();
        let inputs: Vec<Var> =
            self.inputs().iter().map(|input| container.input(input.ty(), None, None)).collect();
        let outputs = self.bind(&inputs).expect("inputs of the very same types");
        FunctionGraph::new(&container, &inputs, &outputs).expect("a frozen graph is closed")
    }

    /// The outputs over `values` in place of the inputs, in the container of the values.
    ///
    /// Types are not inferred again. Distinct nodes are applied anew: two bindings share no buffer.
    pub fn bind(&self, values: &[Var]) -> Result<Vec<Var>, Error> {
        let (expected, given) = (self.inputs().len(), values.len());
        if given > expected {
            return Err(Error::TooManyValues { expected, given });
        }
        if let Some(missing) = self.inputs().get(given..).filter(|missing| !missing.is_empty()) {
            let missing = missing.iter().map(|input| input.describe()).collect();
            return Err(Error::MissingValues { missing });
        }
        for (position, (input, value)) in self.inputs().iter().zip(values).enumerate() {
            if !input.ty().accepts(value.ty()) {
                let (expected, given) = (input.ty().clone(), value.ty().clone());
                return Err(Error::ValueType { position, expected, given });
            }
        }
        let own = self.container();
        let container = own.common_container(values.iter());
        let pairs: Vec<(Var, Var)> =
            self.inputs().iter().cloned().zip(values.iter().cloned()).collect();
        rebuild(&container, self.canonical_outputs(), &pairs, &mut Afresh(&container))
    }

    /// The outputs over values in place of the inputs, given as pairs of input and value, in any order.
    pub fn bind_pairs(&self, pairs: &[(Var, Var)]) -> Result<Vec<Var>, Error> {
        let known: FxHashSet<_> = self.inputs().iter().map(Var::identity).collect();
        if let Some((unknown, _)) =
            pairs.iter().find(|(input, _)| !known.contains(&input.identity()))
        {
            return Err(Error::NotInGraph { variable: unknown.describe() });
        }
        let values: FxHashMap<_, &Var> =
            pairs.iter().map(|(input, value)| (input.identity(), value)).collect();
        let value = |input: &Var| values.get(&input.identity()).map(|&value| value.clone());
        let missing = self.inputs().iter().filter(|input| value(input).is_none());
        let missing: Vec<String> = missing.map(Var::describe).collect();
        if !missing.is_empty() {
            return Err(Error::MissingValues { missing });
        }
        let values: Vec<Var> = self.inputs().iter().filter_map(value).collect();
        self.bind(&values)
    }
}

/// Checks that `inputs` are variables that a graph can be a function of.
pub(crate) fn check_inputs(inputs: &[Var]) -> Result<(), Error> {
    match inputs.iter().find(|input| input.constant().is_some()) {
        Some(constant) => Err(Error::InvalidInput { what: constant.describe() }),
        None => check_twice(inputs),
    }
}

fn check_twice(inputs: &[Var]) -> Result<(), Error> {
    let mut seen = FxHashSet::default();
    match inputs.iter().find(|input| !seen.insert(input.identity())) {
        Some(twice) => Err(Error::DuplicateInput { name: twice.describe() }),
        None => Ok(()),
    }
}

fn freeze(
    container: &Container,
    inputs: &[Var],
    outputs: &[Var],
    mut tags: Tags,
) -> Result<FrozenFunctionGraph, Error> {
    let container = container.common_container(inputs.iter().chain(outputs)).into_owned();
    let inputs = inputs.iter().map(|x| container.adopt(x)).collect::<Result<Vec<_>, _>>()?;
    let nominals: Box<[Var]> = inputs
        .iter()
        .enumerate()
        .map(|(position, input)| container.nominal(position as u32, input.ty()))
        .collect();
    let pairs: Vec<(Var, Var)> = inputs.into_iter().zip(nominals.iter().cloned()).collect();
    let given = outputs;
    let outputs = rebuild(&container, outputs, &pairs, &mut tags)?;
    let mut order = OnceBox::new();
    if tags.destroys {
        let running = destroy::toposort(&outputs, &nominals, &[]).map_err(|nameless| {
            // The given outputs are as good, and their inputs have names.
            let inputs: Vec<Var> = pairs.into_iter().map(|(input, _)| input).collect();
            destroy::toposort(given, &inputs, &[]).err().unwrap_or(nameless)
        })?;
        tags.check_folded(&running)?;
        order =
            OnceBox::with_value(Box::new(running.into_iter().cloned().collect::<Box<[Node]>>()));
    }
    let mut writer = DigestWriter::new(b'G');
    writer.word(nominals.len() as u64);
    nominals.iter().for_each(|nominal| writer.digest(nominal.digest()));
    writer.word(outputs.len() as u64);
    outputs.iter().for_each(|output| writer.digest(output.digest()));
    if let Some(order) = order.get() {
        order.iter().for_each(|node| writer.digest(node.digest()));
    }
    let frozen = Frozen {
        serial: container.count_freeze(),
        inputs: nominals,
        outputs: outputs.into(),
        digest: writer.finish(),
        order,
        tagged: tags.next > 1,
        own: OnceBox::new(),
        members: OnceBox::new(),
        nesting: tags.nesting,
        applications: tags.applications,
        in_global: OnceBox::new(),
    };
    Ok(FrozenFunctionGraph(Handle::intern(container.storage(), frozen)))
}

/// The key in which distinct nodes that are folded into one agree.
type Folded = (Op, Inputs, Signature);

/// Gives distinct nodes their canonical tags, and refuses roots that are not among the inputs.
struct Tags {
    next: u64,
    destroys: bool,
    nesting: u32,
    applications: usize,
    /// The tag of each key, and how many nodes have it; `None` where distinct nodes stay apart.
    folded: Option<FxHashMap<Folded, (DistinctTag, u32)>>,
}

impl Tags {
    fn apart() -> Tags {
        Tags { next: 1, destroys: false, nesting: 0, applications: 0, folded: None }
    }

    fn folded() -> Tags {
        Tags { folded: Some(FxHashMap::default()), ..Tags::apart() }
    }

    /// Refuses a destroyer of a buffer that was several buffers.
    fn check_folded(&self, order: &[&Node]) -> Result<(), Error> {
        let Some(folded) = &self.folded else { return Ok(()) };
        let several: FxHashSet<DistinctTag> =
            folded.values().filter(|(_, count)| *count > 1).map(|(tag, _)| *tag).collect();
        for node in order {
            let Body::Apply { op, inputs, .. } = node.body() else { continue };
            let destroyed = op.key().props.destroy_map.iter().flat_map(|(_, inputs)| inputs);
            for root in destroyed.flat_map(|&input| alias::roots(&inputs[input as usize])) {
                if let Body::Apply { distinct: Some(tag), .. } = root.node().body()
                    && several.contains(tag)
                {
                    let (destroyer, buffer) = (op.label().to_owned(), root.describe());
                    return Err(Error::FoldedBuffer { destroyer, buffer });
                }
            }
        }
        Ok(())
    }
}

impl Rebuild for Tags {
    fn root(&mut self, root: &Node) -> Result<(), Error> {
        let var = Var::new(root.clone(), 0);
        Err(Error::MissingInput { name: var.describe(), ty: var.ty().clone() })
    }

    fn apply(&mut self, op: &Op) -> Result<(), Error> {
        self.applications += 1;
        self.destroys |= !op.key().props.destroy_map.is_empty();
        self.nesting = self.nesting.max(op.nesting());
        if op.nesting() > MAX_NESTING {
            let (op, given) = (op.label().to_owned(), op.nesting());
            return Err(Error::NestedTooDeep { op, given, most: MAX_NESTING });
        }
        Ok(())
    }

    fn tag(
        &mut self,
        _old: DistinctTag,
        op: &Op,
        inputs: &Inputs,
        signature: &Signature,
    ) -> DistinctTag {
        let mut fresh = || {
            let tag = DistinctTag::new(self.next).expect("tags count from 1");
            self.next += 1;
            tag
        };
        match &mut self.folded {
            Some(folded) if op.key().props.pure => {
                let key = (op.clone(), inputs.clone(), signature.clone());
                let (tag, count) = folded.entry(key).or_insert_with(|| (fresh(), 0));
                *count += 1;
                *tag
            }
            _ => fresh(),
        }
    }
}
