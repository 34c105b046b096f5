//! Frozen graphs as bytes: flat, the same in every process, checked by the graph's digest when read.
//!
//! A graph that an op holds stands before the op, so nothing is nested in the stream, however deep graphs are.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::listing::{ListedNode, ListedOutput, Listing, NamedOp, Resolve, inner_first};
use crate::node::Body;
use crate::node::container::Container;
use crate::node::frozen::FrozenFunctionGraph;
use crate::node::op::{Op, Param};
use crate::value::constant::ConstantData;
use crate::value::digest::Digest;
use crate::value::dtype::DType;
use crate::value::error::Error;
use crate::value::ty::{Dim, Ty};

/// The first bytes of a stream; the last of them is the version of the format.
const MAGIC: &[u8; 8] = b"frazilg\x03";

/// Lists within lists of parameters deeper than this are refused, so that no stream exhausts the stack.
pub(crate) const MAX_PARAM_DEPTH: usize = 64;

#[derive(Serialize, Deserialize)]
struct Stream {
    digest: [u8; 16],
    types: Vec<(u8, Vec<Dim>)>,
    /// An op stands behind the ops and graphs in its parameters, a graph behind the ops in it.
    definitions: Vec<Definition>,
    graph: GraphRecord,
}

#[derive(Serialize, Deserialize)]
enum Definition {
    Op(OpRecord),
    Graph(GraphRecord),
}

#[derive(Serialize, Deserialize)]
struct GraphRecord {
    inputs: Vec<u32>,
    nodes: Vec<NodeRecord>,
    outputs: Vec<(u32, u32)>,
}

#[derive(Serialize, Deserialize)]
struct OpRecord {
    digest: [u8; 16],
    kind: String,
    params: Vec<ParamRecord>,
}

/// A parameter; a list's members follow it.
#[derive(Serialize, Deserialize)]
enum ParamRecord {
    None,
    Bool(bool),
    Int(i64),
    Float(u64),
    Text(String),
    Bytes(Vec<u8>),
    DType(u8),
    Type(u32),
    Op(u32),
    List(u32),
    Graph(u32),
}

#[derive(Serialize, Deserialize)]
enum NodeRecord {
    Constant { ty: u32, bytes: Vec<u8> },
    Apply { op: u32, tag: Option<u64>, inputs: Vec<(u32, u32)>, types: Vec<u32> },
}

/// The bytes of `graph`. An op without a meaning in another process is an error that names it.
pub fn encode(graph: &FrozenFunctionGraph) -> Result<Vec<u8>, Error> {
    if !graph.persistable() {
        return Err(not_persistable(graph));
    }
    let mut tables = Tables::default();
    let mut listed = inner_first(graph);
    let outer = listed.pop().expect("the graph itself is the last");
    for (inner, listing, ops) in listed {
        let record = tables.graph(&listing, ops)?;
        tables.definitions.push(Definition::Graph(record));
        let number = tables.graph_numbers.len() as u32;
        tables.graph_numbers.insert(inner.address(), number);
    }
    let (_, listing, ops) = outer;
    let stream = Stream {
        digest: graph.digest().to_bytes(),
        graph: tables.graph(&listing, ops)?,
        types: tables.types,
        definitions: tables.definitions,
    };
    postcard::to_extend(&stream, MAGIC.to_vec())
        .map_err(|error| Error::Codec { reason: error.to_string() })
}

/// The graph that `bytes` were made from, in `container`; the same object, if it lives there.
///
/// Bytes that were cut or altered are an error.
pub fn decode(
    container: &Container,
    bytes: &[u8],
    resolve: &mut Resolve<'_>,
) -> Result<FrozenFunctionGraph, Error> {
    let body = bytes
        .strip_prefix(MAGIC)
        .ok_or_else(|| refuse("they do not start as a graph of this version does"))?;
    let (stream, rest): (Stream, &[u8]) = postcard::take_from_bytes(body)
        .map_err(|error| Error::Codec { reason: error.to_string() })?;
    if !rest.is_empty() {
        return Err(refuse("something follows the end"));
    }
    let types = stream
        .types
        .iter()
        .map(|(dtype, dims)| Ok(Ty::tensor(dtype_of(*dtype)?, dims)))
        .collect::<Result<Vec<Ty>, Error>>()?;
    let mut known = Known { types, ops: Vec::new(), graphs: Vec::new() };
    for definition in stream.definitions {
        match definition {
            Definition::Op(record) => {
                let mut rest = record.params.into_iter();
                let params = known.param(&mut rest, MAX_PARAM_DEPTH)?;
                if rest.next().is_some() {
                    return Err(refuse("an op has more than its parameters"));
                }
                let digest = Some(Digest::from_bytes(record.digest));
                known.ops.push(NamedOp { kind: record.kind, params, digest }.find(resolve)?);
            }
            Definition::Graph(record) => {
                // The container of the graphs of all ops.
                let graph = known.listing(record)?.build(Container::global(), &known.ops)?;
                known.graphs.push(graph);
            }
        }
    }
    let graph = known.listing(stream.graph)?.build(container, &known.ops)?;
    if graph.digest().to_bytes() != stream.digest {
        return Err(refuse("they do not give the graph that was written"));
    }
    Ok(graph)
}

fn refuse(reason: &str) -> Error {
    Error::Codec { reason: reason.to_owned() }
}

fn not_persistable(graph: &FrozenFunctionGraph) -> Error {
    let mut graph = graph.clone();
    loop {
        let local = graph.toposort().iter().find_map(|node| match node.body() {
            Body::Apply { op, .. } if !op.persistable() => Some(op.clone()),
            _ => None,
        });
        let Some(op) = local else { return Error::NotPersistable { op: String::new() } };
        // The op at fault may be in a graph that this graph holds.
        let mut held = Vec::new();
        op.key().params.graphs(&mut held);
        match held.into_iter().find(|held| !held.persistable()) {
            Some(inner) => graph = inner.clone(),
            None => return Error::NotPersistable { op: op.label().to_owned() },
        }
    }
}

/// Numbers types, ops and graphs as they are written.
#[derive(Default)]
struct Tables {
    types: Vec<(u8, Vec<Dim>)>,
    type_numbers: FxHashMap<Ty, u32>,
    definitions: Vec<Definition>,
    op_numbers: FxHashMap<Op, u32>,
    graph_numbers: FxHashMap<usize, u32>,
}

impl Tables {
    fn ty(&mut self, ty: &Ty) -> u32 {
        *self.type_numbers.entry(ty.clone()).or_insert_with(|| {
            self.types.push((ty.dtype() as u8, ty.shape().to_vec()));
            (self.types.len() - 1) as u32
        })
    }

    fn graph(&mut self, listing: &Listing, ops: Vec<Op>) -> Result<GraphRecord, Error> {
        let ops: Vec<u32> =
            ops.iter().map(|op| self.op(op, MAX_PARAM_DEPTH)).collect::<Result<_, _>>()?;
        let inputs = listing.inputs.iter().map(|ty| self.ty(ty)).collect();
        let pair = |place: &ListedOutput| (place.at, place.output);
        let nodes = listing.nodes.iter().map(|listed| match listed {
            ListedNode::Constant(data) => {
                NodeRecord::Constant { ty: self.ty(data.ty()), bytes: data.bytes().to_vec() }
            }
            ListedNode::Apply { op, tag, inputs, types } => NodeRecord::Apply {
                op: ops[*op as usize],
                tag: *tag,
                inputs: inputs.iter().map(pair).collect(),
                types: types.iter().map(|ty| self.ty(ty)).collect(),
            },
        });
        let nodes = nodes.collect();
        Ok(GraphRecord { inputs, nodes, outputs: listing.outputs.iter().map(pair).collect() })
    }

    fn op(&mut self, op: &Op, depth: usize) -> Result<u32, Error> {
        if let Some(&number) = self.op_numbers.get(op) {
            return Ok(number);
        }
        let mut params = Vec::new();
        self.param(op, &op.key().params, &mut params, depth)?;
        let digest = op.digest().to_bytes();
        let record = OpRecord { digest, kind: op.key().kind.clone(), params };
        self.definitions.push(Definition::Op(record));
        let number = self.op_numbers.len() as u32;
        self.op_numbers.insert(op.clone(), number);
        Ok(number)
    }

    fn param(
        &mut self,
        owner: &Op,
        param: &Param,
        out: &mut Vec<ParamRecord>,
        depth: usize,
    ) -> Result<(), Error> {
        let op = || owner.label().to_owned();
        let depth = depth.checked_sub(1).ok_or_else(|| Error::ParamsTooDeep { op: op() })?;
        out.push(match param {
            Param::None => ParamRecord::None,
            Param::Bool(value) => ParamRecord::Bool(*value),
            Param::Int(value) => ParamRecord::Int(*value),
            Param::Float(value) => ParamRecord::Float(value.to_bits()),
            Param::Text(value) => ParamRecord::Text(value.clone()),
            Param::Bytes(value) => ParamRecord::Bytes(value.clone()),
            Param::DType(value) => ParamRecord::DType(*value as u8),
            Param::Type(value) => ParamRecord::Type(self.ty(value)),
            Param::Op(value) => ParamRecord::Op(self.op(value, depth)?),
            Param::List(values) => {
                out.push(ParamRecord::List(values.len() as u32));
                return values.iter().try_for_each(|value| self.param(owner, value, out, depth));
            }
            // Graphs that ops hold were written before.
            Param::Graph(value) => ParamRecord::Graph(self.graph_numbers[&value.address()]),
            Param::Identity(_) => return Err(Error::NotPersistable { op: op() }),
        });
        Ok(())
    }
}

fn dtype_of(number: u8) -> Result<DType, Error> {
    let unknown = || Error::Codec { reason: format!("there is no dtype {number}") };
    DType::ALL.get(number as usize).cloned().ok_or_else(unknown)
}

/// The values read so far.
struct Known {
    types: Vec<Ty>,
    ops: Vec<Op>,
    graphs: Vec<FrozenFunctionGraph>,
}

impl Known {
    fn ty(&self, number: u32) -> Result<Ty, Error> {
        self.types.get(number as usize).cloned().ok_or_else(|| refuse("a type is missing"))
    }

    fn listing(&self, record: GraphRecord) -> Result<Listing, Error> {
        let place = |(at, output): (u32, u32)| ListedOutput { at, output };
        let listed = |record: NodeRecord| -> Result<ListedNode, Error> {
            Ok(match record {
                NodeRecord::Constant { ty: number, bytes } => {
                    let ty = self.ty(number)?;
                    let shape: Option<Vec<u64>> = ty.shape().iter().copied().collect();
                    let shape = shape.ok_or_else(|| refuse("a constant has no shape"))?;
                    if ty.dtype() == DType::Bool && bytes.iter().any(|&byte| byte > 1) {
                        return Err(refuse("a bool is neither true nor false"));
                    }
                    ListedNode::Constant(ConstantData::new(ty.dtype(), &shape, &bytes)?)
                }
                NodeRecord::Apply { op, tag, inputs, types } => ListedNode::Apply {
                    op,
                    tag,
                    inputs: inputs.into_iter().map(place).collect(),
                    types: types.into_iter().map(|ty| self.ty(ty)).collect::<Result<_, _>>()?,
                },
            })
        };
        Ok(Listing {
            inputs: record.inputs.into_iter().map(|ty| self.ty(ty)).collect::<Result<_, _>>()?,
            nodes: record.nodes.into_iter().map(listed).collect::<Result<_, _>>()?,
            outputs: record.outputs.into_iter().map(place).collect(),
        })
    }

    fn param(
        &self,
        records: &mut std::vec::IntoIter<ParamRecord>,
        depth: usize,
    ) -> Result<Param, Error> {
        let missing = || refuse("an op's parameter is missing");
        let depth =
            depth.checked_sub(1).ok_or_else(|| refuse("an op's parameters are nested too deep"))?;
        let record = records.next().ok_or_else(|| refuse("an op's parameters end too early"))?;
        Ok(match record {
            ParamRecord::None => Param::None,
            ParamRecord::Bool(value) => Param::Bool(value),
            ParamRecord::Int(value) => Param::Int(value),
            ParamRecord::Float(bits) => Param::Float(f64::from_bits(bits)),
            ParamRecord::Text(value) => Param::Text(value),
            ParamRecord::Bytes(value) => Param::Bytes(value),
            ParamRecord::DType(number) => Param::DType(dtype_of(number)?),
            ParamRecord::Type(number) => {
                Param::Type(self.types.get(number as usize).ok_or_else(missing)?.clone())
            }
            ParamRecord::Op(number) => {
                Param::Op(self.ops.get(number as usize).ok_or_else(missing)?.clone())
            }
            ParamRecord::Graph(number) => {
                Param::Graph(self.graphs.get(number as usize).ok_or_else(missing)?.clone())
            }
            ParamRecord::List(length) => {
                if length as usize > records.len() {
                    return Err(refuse("an op's parameters end too early"));
                }
                let values = (0..length).map(|_| self.param(records, depth));
                Param::List(values.collect::<Result<_, _>>()?)
            }
        })
    }
}
