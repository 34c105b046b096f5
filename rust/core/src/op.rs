//! Ops: interned keys that say what a node computes, and what the core must know about it.

use std::any::Any;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::OnceLock;

use hashbrown::HashTable;
use parking_lot::RwLock;

use crate::digest::{Digest, DigestWriter};
use crate::dtype::DType;
use crate::error::Error;
use crate::rule::TypeRule;
use crate::ty::Ty;

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
    List(Vec<Param>),
    /// Stands for something that has no content of its own, such as a function defined in a notebook.
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
            (Param::List(a), Param::List(b)) => a == b,
            (Param::Identity(a), Param::Identity(b)) => a == b,
            _ => false,
        }
    }
}

impl Param {
    fn write(&self, writer: &mut DigestWriter) {
        match self {
            Param::None => writer.byte(0),
            Param::Bool(value) => {
                writer.byte(1);
                writer.byte(*value as u8);
            }
            Param::Int(value) => {
                writer.byte(2);
                writer.word(*value as u64);
            }
            Param::Float(value) => {
                writer.byte(3);
                writer.word(value.to_bits());
            }
            Param::Text(value) => {
                writer.byte(4);
                writer.text(value.as_bytes());
            }
            Param::Bytes(value) => {
                writer.byte(5);
                writer.text(value);
            }
            Param::DType(value) => {
                writer.byte(6);
                writer.byte(*value as u8);
            }
            Param::Type(value) => {
                writer.byte(7);
                writer.digest(value.digest());
            }
            Param::Op(value) => {
                writer.byte(8);
                writer.digest(value.digest());
            }
            Param::List(values) => {
                writer.byte(9);
                writer.word(values.len() as u64);
                values.iter().for_each(|value| value.write(writer));
            }
            Param::Identity(token) => {
                writer.byte(10);
                writer.word(*token);
            }
        }
    }

    fn persistable(&self) -> bool {
        match self {
            Param::Identity(_) => false,
            Param::Op(op) => op.persistable(),
            Param::List(values) => values.iter().all(Param::persistable),
            _ => true,
        }
    }
}

/// What the core must know of an op to order, merge and plan its nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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
}

/// What an op is made of.
#[derive(Clone, Debug, PartialEq)]
pub struct OpKey {
    /// The qualified name of what computes.
    pub kind: String,
    /// Its parameters.
    pub params: Param,
    /// What the core must know of it.
    pub props: OpProps,
    /// How an elementwise op types its result; `None` for ops whose nodes are typed elsewhere.
    pub rule: Option<TypeRule>,
    /// The number of operands of an elementwise op.
    pub arity: Option<u32>,
}

struct OpData {
    key: OpKey,
    label: Box<str>,
    digest: Digest,
    persistable: bool,
    face: OnceLock<Box<dyn Any + Send + Sync>>,
    elementwise: OnceLock<Op>,
}

/// An interned op: equal keys are one pointer, copies are free.
///
/// Ops live as long as the process, like types: a program defines few.
#[derive(Clone, Copy)]
pub struct Op(&'static OpData);

static OPS: RwLock<HashTable<&'static OpData>> = RwLock::new(HashTable::new());

impl Op {
    /// The op with this key; `label` is its short name in messages and printed graphs.
    pub fn intern(key: OpKey, label: &str) -> Op {
        let mut writer = DigestWriter::new(b'O');
        writer.text(key.kind.as_bytes());
        key.params.write(&mut writer);
        write_map(&mut writer, &key.props.view_map);
        write_map(&mut writer, &key.props.destroy_map);
        write_pairs(&mut writer, &key.props.destroy_tolerates_same);
        write_pairs(&mut writer, &key.props.destroy_tolerates_aliased);
        writer.byte(key.props.commutative as u8);
        writer.byte(key.props.pure as u8);
        writer.byte(key.props.distinct as u8);
        let digest = writer.finish();
        let persistable = key.params.persistable();
        let mut table = OPS.write();
        let entry = table.entry(
            digest.short(),
            |data| data.digest == digest && data.key == key,
            |data| data.digest.short(),
        );
        let make = || OpData {
            key: key.clone(),
            label: label.into(),
            digest,
            persistable,
            face: OnceLock::new(),
            elementwise: OnceLock::new(),
        };
        Op(entry.or_insert_with(|| Box::leak(Box::new(make()))).get())
    }

    /// The ops of this kind and these parameters that the process has; one, unless two definitions share a name.
    pub fn named(kind: &str, params: &Param) -> Vec<Op> {
        let table = OPS.read();
        let named = table.iter().filter(|data| data.key.kind == kind && data.key.params == *params);
        let mut ops: Vec<Op> = named.map(|&data| Op(data)).collect();
        ops.sort_by_key(|op| op.digest());
        ops
    }

    /// What the op is made of.
    pub fn key(self) -> &'static OpKey {
        &self.0.key
    }

    /// The short name.
    pub fn label(self) -> &'static str {
        &self.0.label
    }

    /// The digest of the key.
    pub fn digest(self) -> Digest {
        self.0.digest
    }

    /// Whether the digest means the same op in another process.
    pub fn persistable(self) -> bool {
        self.0.persistable
    }

    /// The object that stands for this op in the host language: set once, then the same for ever.
    pub fn face(self) -> &'static OnceLock<Box<dyn Any + Send + Sync>> {
        &self.0.face
    }

    /// The op that applies this scalar op element by element; itself, if it does so already.
    pub fn elementwise(self) -> Op {
        self.0.elementwise.get().copied().unwrap_or(self)
    }

    /// Says which op applies this scalar op element by element. The first word counts.
    pub fn set_elementwise(self, op: Op) {
        self.0.elementwise.get_or_init(|| op);
    }

    /// Checks that the positions which the op's maps name exist in an application of this size.
    pub fn check_maps(self, inputs: usize, outputs: usize) -> Result<(), Error> {
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
    pub(crate) fn check_arity(self, given: usize) -> Result<(), Error> {
        match self.0.key.arity {
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

impl PartialEq for Op {
    fn eq(&self, other: &Op) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl Eq for Op {}

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

#[cfg(test)]
mod tests {
    use super::*;

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
        props.props.pure = true;
        assert_ne!(a, Op::intern(props, "k"));
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
