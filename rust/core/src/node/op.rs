//! Ops: interned keys that say what a node computes, with the properties that the core needs.

use std::any::Any;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use once_cell::race::OnceBox;

use super::frozen::FrozenFunctionGraph;
use super::typing::OpRule;
use crate::intern::sync::Lasting;
use crate::intern::{Handle, Interned, Interner, LASTING};
use crate::value::digest::{Digest, DigestWriter};
use crate::value::dtype::DType;
use crate::value::error::Error;
use crate::value::ty::Ty;

/// One parameter of an op, in canonical form.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum Param {
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
    Bytes(Vec<u8>),
    DType(DType),
    Type(Ty),
    Op(Op),
    /// A graph that the op runs, as `Param::graph` gives it.
    Graph(FrozenFunctionGraph),
    List(Vec<Param>),
    /// Stands for an object without content of its own, such as a function defined in a notebook.
    Identity(u64),
}

impl PartialEq for Param {
    fn eq(&self, other: &Param) -> bool {
        match (self, other) {
            (Param::None, Param::None) => true,
            (Param::Bool(a), Param::Bool(b)) => a == b,
            (Param::Int(a), Param::Int(b)) => a == b,
            // By bits: a parameter is a name, not a number to compute with.
            (Param::Float(a), Param::Float(b)) => a.to_bits() == b.to_bits(),
            (Param::Text(a), Param::Text(b)) => a == b,
            (Param::Bytes(a), Param::Bytes(b)) => a == b,
            (Param::DType(a), Param::DType(b)) => a == b,
            (Param::Type(a), Param::Type(b)) => a == b,
            (Param::Op(a), Param::Op(b)) => a == b,
            (Param::Graph(a), Param::Graph(b)) => a == b,
            (Param::List(a), Param::List(b)) => a == b,
            (Param::Identity(a), Param::Identity(b)) => a == b,
            _ => false,
        }
    }
}

impl Param {
    /// The depth of graphs nested within the parameter.
    fn nesting(&self) -> u32 {
        match self {
            Param::Graph(graph) => graph.nesting() + 1,
            Param::Op(op) => op.nesting(),
            Param::List(values) => values.iter().map(Param::nesting).max().unwrap_or(0),
            _ => 0,
        }
    }

    /// The graphs that the parameter holds, with the graphs of the ops in these, in order.
    pub(crate) fn graphs<'a>(&'a self, found: &mut Vec<&'a FrozenFunctionGraph>) {
        match self {
            Param::Graph(graph) => found.push(graph),
            Param::Op(op) => op.key().params.graphs(found),
            Param::List(values) => values.iter().for_each(|value| value.graphs(found)),
            _ => {}
        }
    }

    /// The ops that the parameter holds itself, in order.
    pub(crate) fn ops<'a>(&'a self, found: &mut Vec<&'a Op>) {
        match self {
            Param::Op(op) => found.push(op),
            Param::List(values) => values.iter().for_each(|value| value.ops(found)),
            _ => {}
        }
    }

    fn write(&self, writer: &mut DigestWriter) {
        writer.byte(self.tag());
        match self {
            Param::None => {}
            Param::Bool(value) => writer.byte(*value as u8),
            Param::Int(value) => writer.word(*value as u64),
            Param::Float(value) => writer.word(value.to_bits()),
            Param::Text(value) => writer.text(value.as_bytes()),
            Param::Bytes(value) => writer.text(value),
            Param::DType(value) => writer.byte(*value as u8),
            Param::Type(value) => writer.digest(value.digest()),
            Param::Op(value) => writer.digest(value.digest()),
            Param::List(values) => {
                writer.word(values.len() as u64);
                values.iter().for_each(|value| value.write(writer));
            }
            Param::Identity(token) => writer.word(*token),
            Param::Graph(graph) => writer.digest(graph.digest()),
        }
    }

    /// The number of the kind in digests, which files keep.
    fn tag(&self) -> u8 {
        match self {
            Param::None => 0,
            Param::Bool(_) => 1,
            Param::Int(_) => 2,
            Param::Float(_) => 3,
            Param::Text(_) => 4,
            Param::Bytes(_) => 5,
            Param::DType(_) => 6,
            Param::Type(_) => 7,
            Param::Op(_) => 8,
            Param::List(_) => 9,
            Param::Identity(_) => 10,
            Param::Graph(_) => 11,
        }
    }

    fn persistable(&self) -> bool {
        match self {
            Param::Identity(_) => false,
            Param::Op(op) => op.persistable(),
            Param::Graph(graph) => graph.persistable(),
            Param::List(values) => values.iter().all(Param::persistable),
            _ => true,
        }
    }
}

/// The properties of an op by which the core orders, merges and plans its nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpProps {
    /// For each output that views inputs, those inputs.
    pub view_map: Vec<(u32, Vec<u32>)>,
    /// For each output written over inputs, those inputs.
    pub destroy_map: Vec<(u32, Vec<u32>)>,
    /// Pairs of an input that is destroyed and another that may be the very same variable.
    pub destroy_tolerates_same: Vec<(u32, u32)>,
    /// Pairs of an input that is destroyed and another that may share memory with it.
    pub destroy_tolerates_aliased: Vec<(u32, u32)>,
    /// Swapping the operands gives the same value.
    pub commutative: bool,
    /// The outputs follow from the inputs alone.
    pub pure: bool,
    /// Every application is a buffer of its own.
    pub distinct: bool,
    /// Operands and results may be complex. Other ops refuse complex operands unless they have a type rule.
    pub takes_complex: bool,
}

impl Default for OpProps {
    fn default() -> OpProps {
        OpProps {
            view_map: Vec::new(),
            destroy_map: Vec::new(),
            destroy_tolerates_same: Vec::new(),
            destroy_tolerates_aliased: Vec::new(),
            commutative: false,
            pure: true,
            distinct: false,
            takes_complex: false,
        }
    }
}

impl OpProps {
    /// Whether each application has a tag of its own: it is a buffer of its own, or it is impure, so that the next
    /// application may give another value.
    pub fn is_tagged(&self) -> bool {
        self.distinct || !self.pure
    }
}

/// The content of an op.
#[derive(Clone, Debug, PartialEq)]
pub struct OpKey {
    /// The qualified name of the class.
    pub kind: String,
    /// Its parameters.
    pub params: Param,
    /// The properties that the core needs.
    pub props: OpProps,
    /// The rule by which the core types nodes; `None` for ops whose nodes are typed elsewhere.
    pub rule: Option<OpRule>,
    /// The number of operands of an elementwise op.
    pub arity: Option<u32>,
}

impl OpKey {
    /// Whether the op is elementwise.
    pub fn is_elementwise(&self) -> bool {
        self.rule.and_then(OpRule::elementwise).is_some()
    }

    /// The digest of all parts of the key but the type rule, which the kind determines.
    fn digest(&self) -> Digest {
        let mut writer = DigestWriter::new(b'O');
        writer.text(self.kind.as_bytes());
        self.params.write(&mut writer);
        write_map(&mut writer, &self.props.view_map);
        write_map(&mut writer, &self.props.destroy_map);
        write_pairs(&mut writer, &self.props.destroy_tolerates_same);
        write_pairs(&mut writer, &self.props.destroy_tolerates_aliased);
        writer.byte(self.props.commutative as u8);
        writer.byte(self.props.pure as u8);
        writer.byte(self.props.distinct as u8 | (self.props.takes_complex as u8) << 1);
        writer.finish()
    }
}

/// The stored data of an op.
pub(crate) struct OpData {
    key: OpKey,
    label: Box<str>,
    digest: Digest,
    persistable: bool,
    wrapper: OnceBox<Box<dyn Any + Send + Sync>>,
    elementwise: OnceBox<Op>,
    nesting: u32,
}

/// An interned op: equal keys are one pointer.
///
/// The first few thousand ops live as long as the process, and copies of them are free; the common ops are among these.
/// Later ops die with their last handle. So do ops that hold a graph or have no meaning in another process, since a
/// program may define any number of these.
#[derive(Clone, PartialEq, Eq)]
pub struct Op(Handle<OpData>);

static OPS: Lasting<Arc<Interner<OpData>>> = Lasting::new(Interner::of_process);

impl Interned for OpData {
    type Owner = Interner<OpData>;
    const LASTING: u32 = LASTING;

    fn interner(ops: &Interner<OpData>) -> &Interner<OpData> {
        ops
    }

    fn hash(&self) -> u64 {
        self.digest.short()
    }

    fn same(&self, other: &OpData) -> bool {
        self.key == other.key
    }

    fn may_last(&self) -> bool {
        self.nesting == 0 && self.persistable
    }
}

impl Op {
    /// The op with this key; `label` is its short name in messages and printed graphs.
    pub fn intern(key: OpKey, label: &str) -> Op {
        let digest = key.digest();
        let ops = OPS.get();
        let known = ops.find(digest.short(), |data| data.key == key);
        let make = || {
            let (persistable, nesting) = (key.params.persistable(), key.params.nesting());
            let (wrapper, elementwise) = (OnceBox::new(), OnceBox::new());
            let label = label.into();
            Handle::intern(
                ops,
                OpData { key, label, digest, persistable, wrapper, elementwise, nesting },
            )
        };
        Op(known.unwrap_or_else(make))
    }

    /// Whether the op dies with its last handle.
    pub fn is_counted(&self) -> bool {
        self.0.is_counted()
    }

    fn data(&self) -> &OpData {
        &self.0
    }

    /// The depth of graphs nested within the op.
    pub fn nesting(&self) -> u32 {
        self.data().nesting
    }

    /// A number that no other live op has; it says nothing else.
    pub fn address(&self) -> usize {
        self.0.address()
    }

    /// The ops of this kind and these parameters that the process has; one, unless two definitions share a name.
    pub fn named(kind: &str, params: &Param) -> Vec<Op> {
        let mut ops: Vec<Op> = OPS.get().living().into_iter().map(Op).collect();
        ops.retain(|op| op.key().kind == kind && op.key().params == *params);
        ops.sort_by_key(|op| op.digest());
        ops
    }

    /// The parts of the op.
    pub fn key(&self) -> &OpKey {
        &self.data().key
    }

    /// The short name.
    pub fn label(&self) -> &str {
        &self.data().label
    }

    /// The digest of the key.
    pub fn digest(&self) -> Digest {
        self.data().digest
    }

    /// Whether the digest means the same op in another process.
    pub fn persistable(&self) -> bool {
        self.data().persistable
    }

    /// The object of this op in the host language: set once, then the same for the op's life.
    ///
    /// For an op that is counted it must not keep the op alive.
    pub fn wrapper(&self) -> &OnceBox<Box<dyn Any + Send + Sync>> {
        &self.data().wrapper
    }

    /// The op that applies this scalar op element by element; itself, if it does so already.
    pub fn elementwise(&self) -> Op {
        self.data().elementwise.get().unwrap_or(self).clone()
    }

    /// Says which op applies this scalar op element by element. The first word counts.
    ///
    /// An op that holds a graph cannot be a scalar op: it and the op that applies it would keep each other alive.
    pub fn set_elementwise(&self, op: Op) -> Result<(), Error> {
        if self.nesting() > 0 {
            return Err(Error::ScalarOpHoldsGraph { op: self.label().to_owned() });
        }
        self.data().elementwise.get_or_init(|| Box::new(op));
        Ok(())
    }

    /// Checks that the positions which the op's maps name exist in an application of this size.
    pub fn check_maps(&self, inputs: usize, outputs: usize) -> Result<(), Error> {
        let OpProps { view_map, destroy_map, .. } = &self.key().props;
        for (map, entries) in [("view_map", view_map), ("destroy_map", destroy_map)] {
            for (output, positions) in entries {
                let input = positions.iter().find(|&&input| input as usize >= inputs);
                let (what, position, count) = match input {
                    Some(&input) => ("input", input, inputs),
                    None if *output as usize >= outputs => ("output", *output, outputs),
                    None => continue,
                };
                let op = self.label().to_owned();
                return Err(Error::MapPosition { op, map, what, position, count });
            }
        }
        Ok(())
    }

    /// Checks the number of operands of an elementwise op.
    pub(crate) fn check_arity(&self, given: usize) -> Result<(), Error> {
        match self.key().arity {
            Some(expected) if expected as usize != given => {
                Err(Error::Arity { op: self.label().into(), expected: expected as usize, given })
            }
            _ => Ok(()),
        }
    }
}

fn write_map(writer: &mut DigestWriter, map: &[(u32, Vec<u32>)]) {
    writer.word(map.len() as u64);
    for (output, inputs) in map {
        writer.word(*output as u64);
        writer.word(inputs.len() as u64);
        inputs.iter().for_each(|&input| writer.word(input as u64));
    }
}

fn write_pairs(writer: &mut DigestWriter, pairs: &[(u32, u32)]) {
    writer.word(pairs.len() as u64);
    for (destroyed, other) in pairs {
        writer.word(*destroyed as u64);
        writer.word(*other as u64);
    }
}

impl Hash for Op {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.digest().hash(state);
    }
}

impl fmt::Debug for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.label())
    }
}

#[cfg(all(test, not(feature = "shuttle")))]
mod tests {
    use super::*;
    use crate::node::container::Container;

    fn key(kind: &str, params: Param) -> OpKey {
        OpKey { kind: kind.into(), params, props: OpProps::default(), rule: None, arity: None }
    }

    #[test]
    fn equal_keys_are_one_op() {
        let params = || Param::List(vec![Param::Int(1), Param::Float(f64::NAN)]);
        let a = Op::intern(key("k", params()), "k");
        assert_eq!(a, Op::intern(key("k", params()), "k"));
        assert_ne!(a, Op::intern(key("j", params()), "k"));
        assert_ne!(a, Op::intern(key("k", Param::Int(1)), "k"));
        let mut props = key("k", params());
        props.props.pure = false;
        assert_ne!(a, Op::intern(props, "k"));
    }

    #[test]
    fn an_op_with_a_graph_goes_with_its_last_handle() {
        let container = Container::new();
        let global = Container::global();
        let ty = Ty::tensor(DType::Float64, &[Some(41)]);
        let frozen = |container: &Container| {
            let x = container.input(&ty, None, None);
            FrozenFunctionGraph::new(container, &[x.clone()], &[x]).unwrap()
        };
        let make = |graph: &FrozenFunctionGraph| {
            let params = Param::List(vec![Param::Int(1), Param::graph(graph).unwrap()]);
            Op::intern(key("holds", params), "holds")
        };
        let graph = frozen(global);
        let op = make(&graph);
        // It is the same op, wherever the graph was built.
        assert_eq!(op, make(&frozen(&container)));
        assert_eq!(op.nesting(), 1);
        assert_eq!(Op::named("holds", &op.key().params), [op.clone()]);
        let outer = Op::intern(key("outer", Param::Op(op.clone())), "outer");
        assert_eq!(outer.nesting(), 1);
        assert!(op.set_elementwise(outer.clone()).is_err());
        let (weak, params) = (graph.downgrade(), op.key().params.clone());
        drop((op, graph));
        assert_eq!(Op::named("holds", &params).len(), 1);
        drop(outer);
        assert_eq!(Op::named("holds", &params), []);
        drop(params);
        assert!(weak.upgrade().is_none());
        assert_eq!(container.stats().nodes, 0);
    }

    #[test]
    fn what_a_program_defines_many_of_goes_with_the_last_handle() {
        const MANY: i64 = OpData::LASTING as i64;
        let make = |value| Op::intern(key("many", Param::Int(value)), "many");
        let living = || {
            let living = OPS.get().living().into_iter().map(Op);
            living.filter(|op| op.key().kind == "many" && op.is_counted()).count()
        };
        for value in 0..MANY {
            make(value);
        }
        let ops: Vec<Op> = (0..2 * MANY).map(make).collect();
        assert!(ops.iter().zip(0..).all(|(op, value)| *op == make(value)));
        let last = ops.last().unwrap();
        assert!(living() as i64 >= MANY && last.is_counted());
        assert_eq!(Op::named("many", &Param::Int(-1)), []);
        assert_eq!(Op::named("many", &last.key().params), [last.clone()]);
        drop(ops);
        assert_eq!(living(), 0);
        let local = Op::intern(key("local", Param::List(vec![Param::Identity(5)])), "local");
        assert!(local.is_counted());
    }

    #[test]
    fn an_identity_is_not_persistable() {
        let op = Op::intern(key("local", Param::List(vec![Param::Identity(3)])), "local");
        assert!(!op.persistable());
    }

    #[test]
    fn a_map_names_positions_that_exist() {
        let mut viewing = key("view", Param::None);
        viewing.props.view_map = vec![(0, vec![0, 2])];
        let op = Op::intern(viewing, "view");
        assert!(op.check_maps(3, 1).is_ok());
        assert_eq!(
            op.check_maps(2, 1).unwrap_err().to_string(),
            "the view_map of view names input 2 of a node that has 2; positions count from 0"
        );
        assert!(op.check_maps(3, 0).is_err());
    }

    #[test]
    fn zeros_of_both_signs_are_two_parameters() {
        let a = Op::intern(key("f", Param::Float(0.0)), "f");
        assert_ne!(a, Op::intern(key("f", Param::Float(-0.0)), "f"));
    }
}
