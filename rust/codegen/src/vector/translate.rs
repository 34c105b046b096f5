//! Instructions of Cranelift on registers of 128 bits as a graph of the same instructions on registers of 512 bits.

use crate::dtype::Dtype;
use crate::vector::{Block, Effect, Given, Partials};
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::immediates::Imm64;
use cranelift_codegen::ir::{DataFlowGraph, Inst, InstructionData, Opcode, Value};
use std::collections::HashMap;

/// The number of a node.
pub(super) type Id = usize;

/// A value: a register of elements, or a mask of a bit for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Node {
    Given(Given),
    /// These bits in every element.
    Constant(u64),
    Float(FloatOp, Id, Id),
    Sqrt(Id),
    /// Rounded to a whole number; the bits of the instruction say how.
    Round(u8, Id),
    Integer(IntegerOp, Id, Id),
    /// Floats, by the predicate of the instruction.
    CompareFloats(u8, Id, Id),
    CompareIntegers {
        signed: bool,
        predicate: u8,
        args: [Id; 2],
    },
    Choose {
        mask: Id,
        yes: Id,
        no: Id,
    },
    /// A mask of two.
    Masks(MaskOp, Id, Id),
    NotMask(Id),
    /// The product of the first two plus the third, rounded once.
    Fma([Id; 3]),
    Mantissa(Id),
    Exponent(Id),
    /// The entry of a table at the last four bits.
    Entry {
        table: usize,
        at: Id,
    },
    /// The first, but for what the third makes of zeros, infinities and NaN of the second.
    Edges([Id; 3]),
    /// The first number, unless it is NaN or the second is more (or less); of a NaN the first one.
    Extreme {
        largest: bool,
        args: [Id; 2],
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum FloatOp {
    Add,
    Sub,
    Mul,
    Div,
    /// Times 2 to the power of the floor.
    Scale,
    /// The one of smaller size, with the sign of the first.
    Nearer,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum IntegerOp {
    Add,
    Sub,
    Mul,
    And,
    Or,
    Xor,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum MaskOp {
    And,
    Or,
    Xor,
    Same,
}

impl Node {
    pub(super) fn args(&self) -> Vec<Id> {
        match *self {
            Node::Given(_) | Node::Constant(_) => Vec::new(),
            Node::Sqrt(x)
            | Node::Round(_, x)
            | Node::NotMask(x)
            | Node::Mantissa(x)
            | Node::Exponent(x)
            | Node::Entry { at: x, .. } => vec![x],
            Node::Float(_, x, y)
            | Node::Integer(_, x, y)
            | Node::CompareFloats(_, x, y)
            | Node::CompareIntegers { args: [x, y], .. }
            | Node::Extreme { args: [x, y], .. }
            | Node::Masks(_, x, y) => vec![x, y],
            Node::Choose { mask, yes, no } => vec![mask, yes, no],
            Node::Fma(of) | Node::Edges(of) => of.to_vec(),
        }
    }

    pub(super) fn is_mask(&self) -> bool {
        match self {
            Node::CompareFloats(..)
            | Node::CompareIntegers { .. }
            | Node::Masks(..)
            | Node::NotMask(_) => true,
            Node::Given(
                Given::Load { dtype, .. }
                | Given::LateLoad { dtype, .. }
                | Given::Uniform { dtype, .. },
            ) => *dtype == Dtype::Bool,
            _ => false,
        }
    }
}

/// What is done with a node, as [`Effect`] says.
#[derive(Clone, Copy, Debug)]
pub(super) enum Action {
    Keep { at: usize, dtype: Dtype, node: Id },
    Write { at: usize, dtype: Dtype, node: Id },
    Fold { of: usize, node: Id },
    Next { state: usize, node: Id },
    Leave { node: Id },
}

impl Action {
    pub(super) fn node(self) -> Id {
        match self {
            Action::Keep { node, .. }
            | Action::Write { node, .. }
            | Action::Fold { node, .. }
            | Action::Next { node, .. }
            | Action::Leave { node } => node,
        }
    }
}

/// The work on a block, on elements of `size` bytes.
pub(super) struct Graph {
    pub(super) size: u32,
    pub(super) nodes: Vec<Node>,
    pub(super) actions: Vec<Action>,
    pub(super) folds: Vec<Partials>,
    /// The tables of functions.
    pub(super) tables: Vec<[u64; 16]>,
    /// The number of arguments of a row.
    pub(super) arguments: usize,
}

/// The graph of a block; `None` if an instruction is not known.
pub(super) fn translate(block: &Block) -> Option<Graph> {
    let mut own = Translation {
        dfg: &block.e.b.func.dfg,
        size: block.size,
        nodes: block.given.iter().map(|&given| Node::Given(given)).collect(),
        known: HashMap::new(),
        computed: HashMap::new(),
        tables: Vec::new(),
    };
    let params = block.e.b.func.dfg.block_params(block.block);
    // What is applied comes behind what it is applied to.
    for ((at, &given), &value) in block.given.iter().enumerate().zip(params) {
        let id = match given {
            Given::Applied { function, of } => {
                let of = own.element(of)?;
                own.applied(function, of)?
            }
            _ => at,
        };
        own.known.insert(value, id);
    }
    let mut actions = Vec::new();
    for &effect in &block.effects {
        actions.push(match effect {
            Effect::Keep { at, dtype, value } => {
                Action::Keep { at, dtype, node: own.stored(dtype, value)? }
            }
            Effect::Write { at, dtype, value } => {
                Action::Write { at, dtype, node: own.stored(dtype, value)? }
            }
            Effect::Fold { of, value } => Action::Fold { of, node: own.element(value)? },
            Effect::Next { state, value } => Action::Next { state, node: own.element(value)? },
            Effect::Leave { value } => Action::Leave { node: own.mask(value)? },
        });
    }
    let Translation { nodes, tables, .. } = own;
    let (size, folds, arguments) = (block.size, block.folds.clone(), block.arguments);
    Some(Graph { size, nodes, actions, folds, tables, arguments })
}

pub(super) struct Translation<'f> {
    dfg: &'f DataFlowGraph,
    pub(super) size: u32,
    nodes: Vec<Node>,
    pub(super) tables: Vec<[u64; 16]>,
    known: HashMap<Value, Id>,
    computed: HashMap<Node, Id>,
}

impl Translation<'_> {
    /// The node, which is computed once.
    pub(super) fn add(&mut self, node: Node) -> Id {
        let nodes = &mut self.nodes;
        *self.computed.entry(node).or_insert_with(|| {
            nodes.push(node);
            nodes.len() - 1
        })
    }

    fn is_mask(&self, id: Id) -> bool {
        self.nodes[id].is_mask()
    }

    /// The node whose elements are stored as that type.
    fn stored(&mut self, dtype: Dtype, value: Value) -> Option<Id> {
        if dtype == Dtype::Bool { self.mask(value) } else { self.element(value) }
    }

    /// The value as numbers; a mask stands as all bits of its elements where Cranelift has it so.
    fn element(&mut self, value: Value) -> Option<Id> {
        let id = self.node(value)?;
        if !self.is_mask(id) {
            return Some(id);
        }
        let (yes, no) = (self.add(Node::Constant(u64::MAX)), self.add(Node::Constant(0)));
        Some(self.add(Node::Choose { mask: id, yes, no }))
    }

    /// The value as a mask: it is one, or is the same for all elements.
    fn mask(&mut self, value: Value) -> Option<Id> {
        let id = self.node(value)?;
        match self.nodes[id] {
            _ if self.is_mask(id) => Some(id),
            Node::Constant(bits) => {
                let zero = self.add(Node::Constant(0));
                let predicate = if bits == 0 { NEVER } else { ALWAYS };
                let args = [zero, zero];
                Some(self.add(Node::CompareIntegers { signed: true, predicate, args }))
            }
            _ => None,
        }
    }

    /// The node of a value; those before it come first, without recursion.
    fn node(&mut self, value: Value) -> Option<Id> {
        let mut open = vec![self.dfg.resolve_aliases(value)];
        while let Some(&next) = open.last() {
            if self.known.contains_key(&next) {
                open.pop();
                continue;
            }
            let inst = self.dfg.value_def(next).inst()?;
            let missing: Vec<Value> = self
                .dfg
                .inst_args(inst)
                .iter()
                .map(|&arg| self.dfg.resolve_aliases(arg))
                .filter(|arg| !self.known.contains_key(arg))
                .collect();
            if !missing.is_empty() && self.dfg.insts[inst].opcode() != Opcode::Splat {
                open.extend(missing);
                continue;
            }
            let made = self.instruction(inst)?;
            self.known.insert(next, made);
            open.pop();
        }
        self.known.get(&self.dfg.resolve_aliases(value)).copied()
    }

    fn instruction(&mut self, inst: Inst) -> Option<Id> {
        let args: Vec<Value> = self.dfg.inst_args(inst).to_vec();
        let data = &self.dfg.insts[inst];
        let opcode = data.opcode();
        let made = match (opcode, data) {
            (Opcode::Splat, _) => Node::Constant(self.constant(args[0])?),
            (Opcode::Bitcast, _) => return self.node(args[0]),
            (Opcode::Fcmp, InstructionData::FloatCompare { cond, .. }) => Node::CompareFloats(
                float_predicate(*cond)?,
                self.element(args[0])?,
                self.element(args[1])?,
            ),
            (Opcode::Icmp, InstructionData::IntCompare { cond, .. }) => {
                return self.compared(*cond, &args);
            }
            (Opcode::Bitselect, _) => return self.chosen(&args),
            (Opcode::Fneg, _) => self.with_sign_bit(IntegerOp::Xor, args[0])?,
            (Opcode::Fabs, _) => self.with_sign_bit(IntegerOp::And, args[0])?,
            (Opcode::Sqrt, _) => Node::Sqrt(self.element(args[0])?),
            (Opcode::Floor | Opcode::Ceil | Opcode::Trunc | Opcode::Nearest, _) => {
                let how = match opcode {
                    Opcode::Floor => 9,
                    Opcode::Ceil => 10,
                    Opcode::Trunc => 11,
                    _ => 8,
                };
                Node::Round(how, self.element(args[0])?)
            }
            (Opcode::Ineg, _) => {
                let zero = self.add(Node::Constant(0));
                Node::Integer(IntegerOp::Sub, zero, self.element(args[0])?)
            }
            (Opcode::Bnot, _) => return self.inverted(args[0]),
            (Opcode::Band | Opcode::Bor | Opcode::Bxor, _) => return self.bits(opcode, &args),
            _ => self.arithmetic(opcode, &args)?,
        };
        Some(self.add(made))
    }

    fn arithmetic(&mut self, opcode: Opcode, args: &[Value]) -> Option<Node> {
        let float = match opcode {
            Opcode::Fadd => Some(FloatOp::Add),
            Opcode::Fsub => Some(FloatOp::Sub),
            Opcode::Fmul => Some(FloatOp::Mul),
            Opcode::Fdiv => Some(FloatOp::Div),
            _ => None,
        };
        let integer = match opcode {
            Opcode::Iadd => Some(IntegerOp::Add),
            Opcode::Isub => Some(IntegerOp::Sub),
            Opcode::Imul => Some(IntegerOp::Mul),
            _ => None,
        };
        let &[x, y] = args else { return None };
        match (float, integer) {
            (Some(op), _) => Some(Node::Float(op, self.element(x)?, self.element(y)?)),
            (_, Some(op)) => Some(Node::Integer(op, self.element(x)?, self.element(y)?)),
            _ => None,
        }
    }

    /// The bits of a constant that is in all elements, as often as they fit into 64 bits.
    fn constant(&self, one: Value) -> Option<u64> {
        let inst = self.dfg.value_def(self.dfg.resolve_aliases(one)).inst()?;
        let bits = match self.dfg.insts[inst] {
            InstructionData::UnaryIeee64 { imm, .. } => imm.bits(),
            InstructionData::UnaryIeee32 { imm, .. } => u64::from(imm.bits()),
            InstructionData::UnaryImm { imm, .. } => Imm64::bits(&imm) as u64,
            _ => return None,
        };
        Some(if self.size == 4 { bits & 0xffff_ffff | bits << 32 } else { bits })
    }

    fn with_sign_bit(&mut self, op: IntegerOp, x: Value) -> Option<Node> {
        let sign = if self.size == 4 { 0x8000_0000_8000_0000 } else { 1 << 63 };
        let bits = if op == IntegerOp::Xor { sign } else { !sign };
        let bits = self.add(Node::Constant(bits));
        Some(Node::Integer(op, self.element(x)?, bits))
    }

    fn are_masks(&mut self, args: &[Value]) -> Option<bool> {
        let mut some = false;
        for &arg in args {
            let id = self.node(arg)?;
            some |= self.is_mask(id);
        }
        Some(some)
    }

    fn compared(&mut self, how: IntCC, args: &[Value]) -> Option<Id> {
        if self.are_masks(args)? {
            let (x, y) = (self.mask(args[0])?, self.mask(args[1])?);
            return match how {
                IntCC::Equal => Some(self.add(Node::Masks(MaskOp::Same, x, y))),
                IntCC::NotEqual => Some(self.add(Node::Masks(MaskOp::Xor, x, y))),
                _ => None,
            };
        }
        let (signed, predicate) = match how {
            IntCC::Equal => (true, 0),
            IntCC::NotEqual => (true, 4),
            IntCC::SignedLessThan => (true, 1),
            IntCC::SignedLessThanOrEqual => (true, 2),
            IntCC::SignedGreaterThanOrEqual => (true, 5),
            IntCC::SignedGreaterThan => (true, 6),
            IntCC::UnsignedLessThan => (false, 1),
            IntCC::UnsignedLessThanOrEqual => (false, 2),
            IntCC::UnsignedGreaterThanOrEqual => (false, 5),
            IntCC::UnsignedGreaterThan => (false, 6),
        };
        let args = [self.element(args[0])?, self.element(args[1])?];
        Some(self.add(Node::CompareIntegers { signed, predicate, args }))
    }

    fn chosen(&mut self, args: &[Value]) -> Option<Id> {
        let &[condition, yes, no] = args else { return None };
        let mask = self.mask(condition)?;
        if self.are_masks(&[yes, no])? {
            let (yes, no) = (self.mask(yes)?, self.mask(no)?);
            let other = self.add(Node::NotMask(mask));
            let first = self.add(Node::Masks(MaskOp::And, mask, yes));
            let second = self.add(Node::Masks(MaskOp::And, other, no));
            return Some(self.add(Node::Masks(MaskOp::Or, first, second)));
        }
        let (yes, no) = (self.element(yes)?, self.element(no)?);
        let made = self.extreme(mask, yes, no).unwrap_or(Node::Choose { mask, yes, no });
        Some(self.add(made))
    }

    /// Of two numbers the larger, or smaller, if that is what is chosen: the first where it is, or is NaN.
    fn extreme(&self, mask: Id, yes: Id, no: Id) -> Option<Node> {
        let Node::Masks(MaskOp::Or, wins, nan) = self.nodes[mask] else { return None };
        let Node::CompareFloats(how, x, y) = self.nodes[wins] else { return None };
        let largest = match how {
            ABOVE => true,
            BELOW => false,
            _ => return None,
        };
        let same = (x, y) == (yes, no) && self.nodes[nan] == Node::CompareFloats(UNLIKE, yes, yes);
        same.then_some(Node::Extreme { largest, args: [yes, no] })
    }

    fn inverted(&mut self, x: Value) -> Option<Id> {
        let id = self.node(x)?;
        if self.is_mask(id) {
            return Some(self.add(Node::NotMask(id)));
        }
        let all = self.add(Node::Constant(u64::MAX));
        Some(self.add(Node::Integer(IntegerOp::Xor, id, all)))
    }

    fn bits(&mut self, opcode: Opcode, args: &[Value]) -> Option<Id> {
        if self.are_masks(args)? {
            let op = match opcode {
                Opcode::Band => MaskOp::And,
                Opcode::Bor => MaskOp::Or,
                _ => MaskOp::Xor,
            };
            let (x, y) = (self.mask(args[0])?, self.mask(args[1])?);
            return Some(self.add(Node::Masks(op, x, y)));
        }
        let op = match opcode {
            Opcode::Band => IntegerOp::And,
            Opcode::Bor => IntegerOp::Or,
            _ => IntegerOp::Xor,
        };
        let (x, y) = (self.element(args[0])?, self.element(args[1])?);
        Some(self.add(Node::Integer(op, x, y)))
    }
}

/// Predicates of the instruction that compares integers, which hold for none and for all.
const NEVER: u8 = 3;
const ALWAYS: u8 = 7;
/// Predicates of the instruction that compares floats, none of which tells of NaN.
const ABOVE: u8 = 0x1e;
const BELOW: u8 = 0x11;
const UNLIKE: u8 = 4;

fn float_predicate(how: FloatCC) -> Option<u8> {
    Some(match how {
        FloatCC::Equal => 0,
        FloatCC::NotEqual => UNLIKE,
        FloatCC::LessThan => BELOW,
        FloatCC::LessThanOrEqual => 0x12,
        FloatCC::GreaterThan => ABOVE,
        FloatCC::GreaterThanOrEqual => 0x1d,
        _ => return None,
    })
}
