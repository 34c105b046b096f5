//! `FunctionGraph`: an editable handle on immutable nodes.
//!
//! A graph is a cell that holds one immutable state: roots, names, and facts that were found about them. An edit puts
//! another state in the cell. So a copy is a cell with the same state, a rollback puts an old state in again, and no
//! other graph sees an edit.

use std::fmt;

use std::sync::Arc;

use once_cell::race::OnceBox;
use rustc_hash::FxHashMap;

use super::freeze::check_inputs;
use super::names::{Names, all_names};
use crate::intern::fork::{Held, Locks};
use crate::intern::sync::Mutex;
use crate::node::container::Container;
use crate::node::frozen::{FrozenFunctionGraph, WeakFrozen};
use crate::node::registry::Registered;
use crate::node::replace::{check_types, rebuild_keeping};
use crate::node::traverse::{needs_at_most, postorder, root_inputs};
use crate::node::{Body, Node, Var};
use crate::order::destroy::{self, Inconsistent, Orderings};
use crate::value::error::Error;

/// An editable graph from inputs to outputs. Edits go through `&self` and are atomic.
///
/// `clone` makes another graph with the same content, in constant time.
pub struct FunctionGraph(Arc<Cell>);

pub(crate) struct Cell {
    serial: u64,
    container: Container,
    state: Mutex<Arc<GraphState>>,
}

/// The state of a graph between two edits.
struct GraphState {
    inputs: Box<[Var]>,
    outputs: Box<[Var]>,
    names: Names,
    index: OnceBox<Index>,
    clients: OnceBox<Vec<Vec<Client>>>,
    shown: OnceBox<Vec<Arc<str>>>,
    order: OnceBox<Result<Box<[Node]>, Inconsistent>>,
    /// No thread waits for this lock: freezing again gives the same graph.
    frozen: Mutex<Option<WeakFrozen>>,
}

/// All that a graph owns, in its order.
struct Index {
    nodes: Box<[Node]>,
    variables: Box<[Var]>,
    positions: FxHashMap<(usize, u32), u32>,
}

/// A reader of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Client {
    /// An application, as its operand at this position.
    Node(Node, usize),
    /// The graph, as its output at this position.
    Output(usize),
}

/// An earlier state of a graph, for [`FunctionGraph::restore`].
pub struct Checkpoint(Arc<GraphState>);

impl GraphState {
    fn new(inputs: Vec<Var>, outputs: Vec<Var>, names: Names) -> GraphState {
        GraphState {
            inputs: inputs.into(),
            outputs: outputs.into(),
            names,
            index: OnceBox::new(),
            clients: OnceBox::new(),
            shown: OnceBox::new(),
            order: OnceBox::new(),
            frozen: Mutex::new(None),
        }
    }

    fn empty() -> GraphState {
        GraphState::new(Vec::new(), Vec::new(), Names::default())
    }

    /// The state after an edit of the roots: names of removed variables are removed too.
    fn edited(&self, inputs: Vec<Var>, outputs: Vec<Var>) -> GraphState {
        let mut state = GraphState::new(inputs, outputs, Names::default());
        if !self.names.is_empty() {
            state.names =
                self.names.retain(|identity| state.index().positions.contains_key(&identity));
        }
        state
    }

    fn index(&self) -> &Index {
        self.index.get_or_init(|| {
            let nodes = postorder(&self.outputs, &self.inputs);
            let mut variables: Vec<Var> = Vec::with_capacity(self.inputs.len() + nodes.len());
            let mut positions = FxHashMap::default();
            positions.reserve(self.inputs.len() + nodes.len());
            let outputs = nodes.iter().flat_map(|node| node.outputs());
            for var in self.inputs.iter().cloned().chain(outputs) {
                positions.entry(var.identity()).or_insert_with(|| {
                    variables.push(var);
                    (variables.len() - 1) as u32
                });
            }
            Box::new(Index {
                nodes: nodes.into_iter().cloned().collect(),
                variables: variables.into(),
                positions,
            })
        })
    }

    fn position(&self, var: &Var) -> Result<usize, Error> {
        match self.index().positions.get(&var.identity()) {
            Some(&position) => Ok(position as usize),
            None => Err(Error::NotInGraph { variable: var.describe() }),
        }
    }

    fn clients(&self) -> &[Vec<Client>] {
        self.clients.get_or_init(|| {
            let index = self.index();
            let mut clients = vec![Vec::new(); index.variables.len()];
            for node in &index.nodes {
                for (at, input) in node.inputs().iter().enumerate() {
                    let position = index.positions[&input.identity()] as usize;
                    clients[position].push(Client::Node(node.clone(), at));
                }
            }
            for (at, output) in self.outputs.iter().enumerate() {
                let position = index.positions[&output.identity()] as usize;
                clients[position].push(Client::Output(at));
            }
            Box::new(clients)
        })
    }

    fn order(&self) -> Result<&[Node], Error> {
        let order = self.order.get_or_init(|| {
            let order = destroy::toposort(&self.outputs, &self.inputs, &[]);
            Box::new(order.map(|order| order.into_iter().cloned().collect()))
        });
        order.as_deref().map_err(|inconsistent| inconsistent.clone().into())
    }

    /// The roots that the outputs need and that are not among the inputs, in the order of a walk.
    fn missing(&self) -> Vec<Var> {
        postorder(&self.outputs, &self.inputs)
            .into_iter()
            .filter(|node| matches!(node.body(), Body::Input { .. } | Body::Nominal { .. }))
            .map(|node| Var::new(node.clone(), 0))
            .collect()
    }

    fn check_closed(&self) -> Result<(), Error> {
        match self.missing().first() {
            Some(var) => Err(Error::MissingInput { name: var.describe(), ty: var.ty().clone() }),
            None => Ok(()),
        }
    }
}

/// Whether an edit may bring root inputs that are not among the graph's.
#[derive(Clone, Copy, PartialEq)]
enum Newcomers {
    Refused,
    Imported,
}

impl FunctionGraph {
    /// The graph of `outputs` as functions of `inputs`, which may be any variables but constants.
    ///
    /// A root input that is needed and not listed is an error that names it. The graph lives in the container of its
    /// variables; `container` is for graphs without variables.
    pub fn new(
        container: &Container,
        inputs: &[Var],
        outputs: &[Var],
    ) -> Result<FunctionGraph, Error> {
        check_inputs(inputs)?;
        let container = container.common_container(inputs.iter().chain(outputs));
        let (inputs, outputs) = (adopt_all(&container, inputs)?, adopt_all(&container, outputs)?);
        let state = GraphState::new(inputs, outputs, Names::default());
        state.check_closed()?;
        Ok(FunctionGraph::with_state(&container, Arc::new(state)))
    }

    /// The graph of `outputs` as functions of the root inputs that they need, in the order of a walk.
    pub fn of_outputs(container: &Container, outputs: &[Var]) -> Result<FunctionGraph, Error> {
        FunctionGraph::new(container, &root_inputs(outputs), outputs)
    }

    fn with_state(container: &Container, state: Arc<GraphState>) -> FunctionGraph {
        let registry = container.registry();
        let serial = registry.next_serial();
        let state = Mutex::new(state);
        let cell = Arc::new(Cell { serial, container: container.clone(), state });
        registry.add(serial, &cell);
        FunctionGraph(cell)
    }

    fn state(&self) -> Arc<GraphState> {
        Arc::clone(&self.0.state.lock())
    }

    /// Puts `state` in; the old state is dropped outside the lock.
    fn swap(&self, state: Arc<GraphState>) -> Arc<GraphState> {
        std::mem::replace(&mut *self.0.state.lock(), state)
    }

    /// Makes one edit, and makes it again if another thread's edit came between.
    fn edit(
        &self,
        change: impl Fn(&GraphState) -> Result<Option<GraphState>, Error>,
    ) -> Result<(), Error> {
        loop {
            let old = self.state();
            let Some(new) = change(&old)? else { return Ok(()) };
            let mut new = Arc::new(new);
            let mut current = self.0.state.lock();
            let unchanged = Arc::ptr_eq(&current, &old);
            if unchanged {
                std::mem::swap(&mut *current, &mut new);
            }
            drop(current);
            if unchanged {
                return Ok(());
            }
        }
    }

    /// The container that the graph lives in.
    pub fn container(&self) -> &Container {
        &self.0.container
    }

    /// The inputs.
    pub fn inputs(&self) -> Vec<Var> {
        self.state().inputs.to_vec()
    }

    /// The outputs.
    pub fn outputs(&self) -> Vec<Var> {
        self.state().outputs.to_vec()
    }

    /// Whether the outputs need at most `limit` applications of ops.
    pub fn needs_at_most(&self, limit: usize) -> bool {
        needs_at_most(&self.state().outputs, limit)
    }

    /// Every variable of the graph: the inputs, then all that the outputs need, operands first.
    pub fn variables(&self) -> Vec<Var> {
        self.state().index().variables.to_vec()
    }

    /// Every application of the graph, operands first.
    pub fn nodes(&self) -> Vec<Node> {
        let state = self.state();
        let applied = |node: &&Node| matches!(node.body(), Body::Apply { .. });
        state.index().nodes.iter().filter(applied).cloned().collect()
    }

    /// Whether `var` is one of the graph's variables.
    pub fn owns(&self, var: &Var) -> bool {
        self.0.container.holds(var) && self.state().position(var).is_ok()
    }

    /// The readers of `var`: applications in the graph's order, then outputs.
    pub fn clients(&self, var: &Var) -> Result<Vec<Client>, Error> {
        let state = self.state();
        let position = state.position(var)?;
        Ok(state.clients()[position].clone())
    }

    /// The name of `var` in this graph: the one given, the value of a constant, or one by position.
    pub fn name_of(&self, var: &Var) -> Result<Arc<str>, Error> {
        let state = self.state();
        let position = state.position(var)?;
        let shown =
            state.shown.get_or_init(|| Box::new(all_names(&state.names, &state.index().variables)));
        Ok(Arc::clone(&shown[position]))
    }

    /// Calls `var` by `name` in this graph.
    pub fn set_name(&self, var: &Var, name: &str) -> Result<(), Error> {
        self.edit(|state| {
            state.position(var)?;
            let names = state.names.with(var, name);
            Ok(Some(GraphState::new(state.inputs.to_vec(), state.outputs.to_vec(), names)))
        })
    }

    /// The applications in an order that runs: operands first, and a destroyer after all readers.
    pub fn toposort(&self) -> Result<Vec<Node>, Error> {
        self.state().order().map(<[Node]>::to_vec)
    }

    /// For each node that destroys an input, the readers that must run before it.
    pub fn orderings(&self, protected: &[Var]) -> Result<Orderings, Error> {
        let state = self.state();
        Ok(destroy::orderings(&state.outputs, &state.inputs, protected)?)
    }

    /// Checks the whole graph: it is closed and in one container, types and positions fit the ops, and it has an order.
    pub fn verify(&self, protected: &[Var]) -> Result<(), Error> {
        let state = self.state();
        check_inputs(&state.inputs)?;
        state.check_closed()?;
        for node in postorder(&state.outputs, &state.inputs) {
            if let Body::Apply { op, inputs, .. } = node.body() {
                op.check_maps(inputs.len(), node.signature().types().len())?;
            }
            for var in node.inputs().iter().cloned().chain(node.outputs()) {
                if !self.0.container.holds(&var) {
                    return Err(Error::ForeignContainer { variable: var.describe() });
                }
            }
        }
        destroy::orderings(&state.outputs, &state.inputs, protected)?;
        Ok(())
    }

    /// Replaces each variable by a value, all at once; the values are not searched for further replacements.
    ///
    /// A variable that is not in the graph, or is replaced by itself, changes nothing. A value may be computed from the
    /// variable that it replaces: then it comes between that variable and its readers. A value that needs a root input
    /// which the graph does not have would leave it open: an error, and the graph stays as it was.
    pub fn replace(&self, replacements: &[(Var, Var)]) -> Result<(), Error> {
        self.substitute(replacements, Newcomers::Refused)
    }

    /// The same; root inputs that the graph does not have become its last inputs.
    pub fn replace_importing(&self, replacements: &[(Var, Var)]) -> Result<(), Error> {
        self.substitute(replacements, Newcomers::Imported)
    }

    fn substitute(&self, replacements: &[(Var, Var)], newcomers: Newcomers) -> Result<(), Error> {
        let container = &self.0.container;
        let pairs: Vec<(Var, Var)> = replacements
            .iter()
            .filter(|(old, new)| old != new)
            .map(|(old, new)| Ok((old.clone(), container.adopt(new)?)))
            .collect::<Result<_, Error>>()?;
        check_types(&pairs)?;
        self.edit(|state| {
            let outputs = rebuild_keeping(container, &state.outputs, &pairs, &state.inputs)?;
            if *outputs == *state.outputs {
                return Ok(None);
            }
            let mut inputs = state.inputs.to_vec();
            let new = GraphState::new(inputs.clone(), outputs.clone(), Names::default());
            match newcomers {
                Newcomers::Refused => new.check_closed()?,
                Newcomers::Imported => inputs.extend(new.missing()),
            }
            Ok(Some(state.edited(inputs, outputs)))
        })
    }

    /// Replaces the outputs by others over the same inputs.
    pub fn set_outputs(&self, outputs: &[Var]) -> Result<(), Error> {
        let outputs = adopt_all(&self.0.container, outputs)?;
        self.edit(|state| {
            let new = state.edited(state.inputs.to_vec(), outputs.clone());
            new.check_closed()?;
            Ok(Some(new))
        })
    }

    /// The frozen graph that is isomorphic to this one.
    pub fn freeze(&self) -> Result<FrozenFunctionGraph, Error> {
        let state = self.state();
        let known = state.frozen.try_lock().and_then(|known| known.as_ref()?.upgrade());
        if let Some(frozen) = known {
            return Ok(frozen);
        }
        let frozen = FrozenFunctionGraph::new(&self.0.container, &state.inputs, &state.outputs)?;
        let before = state.frozen.try_lock().map(|mut known| known.replace(frozen.downgrade()));
        drop(before);
        Ok(frozen)
    }

    /// The same, with equal distinct nodes folded into one; see [`FrozenFunctionGraph::deduplicated`].
    pub fn freeze_deduplicated(&self) -> Result<FrozenFunctionGraph, Error> {
        let state = self.state();
        FrozenFunctionGraph::deduplicated(&self.0.container, &state.inputs, &state.outputs)
    }

    /// Releases all that the graph holds; it stays valid, and empty.
    pub fn clear(&self) {
        drop(self.swap(Arc::new(GraphState::empty())));
    }

    /// Another graph with this one's content, which becomes empty.
    pub fn take(&self) -> FunctionGraph {
        let state = self.swap(Arc::new(GraphState::empty()));
        FunctionGraph::with_state(&self.0.container, state)
    }

    /// The state of the graph.
    pub fn checkpoint(&self) -> Checkpoint {
        Checkpoint(self.state())
    }

    /// Puts an earlier state of the graph back.
    pub fn restore(&self, checkpoint: Checkpoint) {
        drop(self.swap(checkpoint.0));
    }

    /// Runs `body`; if it fails or panics, the graph has its earlier state again. Transactions nest.
    pub fn transaction<T, E>(
        &self,
        body: impl FnOnce(&FunctionGraph) -> Result<T, E>,
    ) -> Result<T, E> {
        struct Rollback<'a>(&'a FunctionGraph, Option<Checkpoint>);
        impl Drop for Rollback<'_> {
            fn drop(&mut self) {
                if let Some(checkpoint) = self.1.take() {
                    self.0.restore(checkpoint);
                }
            }
        }
        let mut rollback = Rollback(self, Some(self.checkpoint()));
        let result = body(self);
        if result.is_ok() {
            rollback.1 = None;
        }
        result
    }

    /// A number that no other live graph has; it says nothing else.
    pub fn address(&self) -> usize {
        Arc::as_ptr(&self.0) as usize
    }
}

fn adopt_all(container: &Container, vars: &[Var]) -> Result<Vec<Var>, Error> {
    vars.iter().map(|var| container.adopt(var)).collect()
}

impl Clone for FunctionGraph {
    fn clone(&self) -> FunctionGraph {
        FunctionGraph::with_state(&self.0.container, self.state())
    }
}

impl PartialEq for FunctionGraph {
    /// Whether both are the same graph. To ask whether two graphs are equal, freeze them.
    fn eq(&self, other: &FunctionGraph) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for FunctionGraph {}

impl fmt::Debug for FunctionGraph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.state();
        write!(f, "FunctionGraph({:?} -> {:?})", state.inputs, state.outputs)
    }
}

impl Container {
    /// The live graphs in the container, in the order in which they were made.
    pub fn graphs(&self) -> Vec<FunctionGraph> {
        self.registry().living().into_iter().map(FunctionGraph).collect()
    }

    /// The live graphs that own `var`, in the order in which they were made.
    pub fn owners(&self, var: &Var) -> Vec<FunctionGraph> {
        self.graphs().into_iter().filter(|graph| graph.owns(var)).collect()
    }
}

impl Registered for Cell {}

impl Locks for Cell {
    fn hold<'a>(&'a self, _: &mut Vec<Arc<dyn Locks>>) -> Held<'a> {
        Box::new(self.state.lock())
    }
}

impl Drop for Cell {
    fn drop(&mut self) {
        self.container.registry().forget(self.serial);
    }
}
