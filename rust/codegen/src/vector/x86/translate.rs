//! Instructions of Cranelift on registers of 128 bits as a graph of the same instructions on registers of 512 bits or 256.

use crate::dtype::Dtype;
use crate::vector::x86::short_forms::have_short_forms;
use crate::vector::{Block, Effect, Given, Partials, Registers};
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
    /// The first, shifted by the second.
    Shift(ShiftOp, Id, Id),
    /// As elements of the node's size.
    Convert(Conversion, Id),
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
    /// The first, except where the second is zero, negative, infinite or NaN: there the third says the result.
    Edges([Id; 3]),
    /// Elements behind the address that is an argument, by distances in bytes.
    Gather(usize, Dtype, Id),
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
    /// The larger of two, with a sign or without.
    Most(bool),
    /// The smaller of two, with a sign or without.
    Least(bool),
}

/// Shifts by more than the last bit leave nothing, or the sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum ShiftOp {
    Left,
    Right,
    RightWithSign,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Conversion {
    /// An integer with more bits, with a sign or without.
    Wider(bool),
    /// The lowest bits of an integer.
    Narrower,
    Float,
    /// A float of an integer, with a sign or without.
    FromInteger(bool),
    /// The whole part; where it does not fit, the least integer.
    ToInteger,
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
            | Node::Convert(_, x)
            | Node::Mantissa(x)
            | Node::Exponent(x)
            | Node::Entry { at: x, .. }
            | Node::Gather(.., x) => vec![x],
            Node::Float(_, x, y)
            | Node::Integer(_, x, y)
            | Node::Shift(_, x, y)
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

impl Effect<Id> {
    pub(super) fn node(self) -> Id {
        match self {
            Effect::Keep { value, .. }
            | Effect::Write { value, .. }
            | Effect::Fold { value, .. }
            | Effect::Flag { value, .. }
            | Effect::Next { value, .. }
            | Effect::Leave { value } => value,
        }
    }

    /// Whether it need not wait until all operands of the block are read.
    pub(super) fn is_at_once(self) -> bool {
        matches!(self, Effect::Keep { .. } | Effect::Fold { .. } | Effect::Flag { .. })
    }
}

/// The work on a block of so many elements.
pub(super) struct Graph {
    pub(super) registers: Registers,
    /// As many as a register holds of the widest.
    pub(super) lanes: u32,
    pub(super) nodes: Vec<Node>,
    /// The bytes of an element of each node; of a comparison, those of what is compared.
    pub(super) sizes: Vec<u32>,
    pub(super) effects: Vec<Effect<Id>>,
    pub(super) folds: Vec<Partials>,
    /// The folds of bools.
    pub(super) flags: Vec<Partials>,
    /// The tables of functions.
    pub(super) tables: Vec<[u64; 16]>,
    /// The number of arguments of a row.
    pub(super) arguments: usize,
}

/// The graph of a block; `None` if an instruction is not known.
pub(super) fn translate(block: &Block) -> Option<Graph> {
    let dfg = &block.e.b.func.dfg;
    let params = dfg.block_params(block.block);
    let mut own = Translation {
        dfg,
        nodes: block.given.iter().map(|&given| Node::Given(given)).collect(),
        sizes: params.iter().map(|&param| size_of(dfg, param)).collect(),
        known: HashMap::new(),
        computed: HashMap::new(),
        tables: Vec::new(),
    };
    // A function comes after its argument.
    for ((at, &given), &value) in block.given.iter().enumerate().zip(params) {
        let id = match given {
            Given::Applied { function, of } => {
                let of = own.element(of)?;
                own.applied(function, of)?
            }
            Given::Gathered { at, dtype, of } => own.gathered(at, dtype, of)?,
            _ => at,
        };
        own.known.insert(value, id);
    }
    let mut effects = Vec::new();
    for &effect in &block.effects {
        effects.push(match effect {
            Effect::Keep { at, dtype, value } => {
                Effect::Keep { at, dtype, value: own.stored(dtype, value)? }
            }
            Effect::Write { at, dtype, value } => {
                Effect::Write { at, dtype, value: own.stored(dtype, value)? }
            }
            Effect::Fold { of, value } => Effect::Fold { of, value: own.element(value)? },
            Effect::Flag { of, value } => Effect::Flag { of, value: own.mask(value)? },
            Effect::Next { state, value } => Effect::Next { state, value: own.element(value)? },
            Effect::Leave { value } => Effect::Leave { value: own.mask(value)? },
        });
    }
    let Translation { nodes, sizes, tables, .. } = own;
    let of_values = nodes.iter().zip(&sizes).filter(|own| !own.0.is_mask()).map(|own| *own.1);
    let registers = block.registers;
    let lanes = registers.bytes() / of_values.max().unwrap_or(1);
    let made = Graph {
        registers,
        lanes,
        nodes,
        sizes,
        effects,
        folds: block.folds.clone(),
        flags: block.flags.clone(),
        tables,
        arguments: block.arguments,
    };
    (registers.have_masks() || have_short_forms(&made)).then_some(made)
}

/// The bytes of an element of a value.
fn size_of(dfg: &DataFlowGraph, value: Value) -> u32 {
    dfg.value_type(value).lane_type().bytes()
}

pub(super) struct Translation<'f> {
    dfg: &'f DataFlowGraph,
    nodes: Vec<Node>,
    pub(super) sizes: Vec<u32>,
    pub(super) tables: Vec<[u64; 16]>,
    known: HashMap<Value, Id>,
    computed: HashMap<(Node, u32), Id>,
}

impl Translation<'_> {
    /// The node, of elements of so many bytes, which is computed once.
    pub(super) fn add(&mut self, node: Node, size: u32) -> Id {
        let (nodes, sizes) = (&mut self.nodes, &mut self.sizes);
        *self.computed.entry((node, size)).or_insert_with(|| {
            nodes.push(node);
            sizes.push(size);
            nodes.len() - 1
        })
    }

    fn add_mask(&mut self, node: Node) -> Id {
        self.add(node, 1)
    }

    fn is_mask(&self, id: Id) -> bool {
        self.nodes[id].is_mask()
    }

    /// The node whose elements are stored as that type.
    fn stored(&mut self, dtype: Dtype, value: Value) -> Option<Id> {
        if dtype == Dtype::Bool { self.mask(value) } else { self.element(value) }
    }

    /// The value as numbers.
    pub(super) fn element(&mut self, value: Value) -> Option<Id> {
        self.node(value).filter(|&id| !self.is_mask(id))
    }

    /// The value as a mask: it is one, or is the same for all elements.
    fn mask(&mut self, value: Value) -> Option<Id> {
        let id = self.node(value)?;
        match self.nodes[id] {
            _ if self.is_mask(id) => Some(id),
            Node::Constant(bits) => {
                let zero = self.add(Node::Constant(0), 4);
                let predicate = if bits == 0 { NEVER } else { ALWAYS };
                let args = [zero, zero];
                Some(self.add(Node::CompareIntegers { signed: true, predicate, args }, 4))
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
        let size = size_of(self.dfg, self.dfg.first_result(inst));
        let made = match (opcode, data) {
            (Opcode::Splat, _) => {
                let of = self.dfg.value_def(self.dfg.resolve_aliases(args[0])).inst()?;
                Node::Constant(self.constant(of, size)?)
            }
            (Opcode::Iconst | Opcode::F32const | Opcode::F64const, _) => {
                Node::Constant(self.constant(inst, size)?)
            }
            (Opcode::Bitcast, _) => return self.node(args[0]),
            (Opcode::Fcmp, InstructionData::FloatCompare { cond, .. }) => {
                let [x, y] = [self.element(args[0])?, self.element(args[1])?];
                let made = Node::CompareFloats(float_predicate(*cond)?, x, y);
                return Some(self.add(made, size_of(self.dfg, args[0])));
            }
            (Opcode::Icmp, InstructionData::IntCompare { cond, .. }) => {
                return self.compared(*cond, &args);
            }
            (Opcode::Bitselect, _) => return self.chosen(&args),
            (Opcode::Fneg, _) => self.with_sign_bit(IntegerOp::Xor, args[0])?,
            (Opcode::Fabs, _) => self.with_sign_bit(IntegerOp::And, args[0])?,
            (Opcode::Fcopysign, _) => return self.copied_sign(&args),
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
                let zero = self.add(Node::Constant(0), size);
                Node::Integer(IntegerOp::Sub, zero, self.element(args[0])?)
            }
            (Opcode::Bnot, _) => return self.inverted(args[0]),
            (Opcode::Band | Opcode::Bor | Opcode::Bxor, _) => return self.bits(opcode, &args),
            _ => match conversion(opcode) {
                Some(how) => Node::Convert(how, self.element(args[0])?),
                None => self.arithmetic(opcode, &args)?,
            },
        };
        Some(self.add(made, size))
    }

    fn arithmetic(&mut self, opcode: Opcode, args: &[Value]) -> Option<Node> {
        let &[x, y] = args else { return None };
        let [x, y] = [self.element(x)?, self.element(y)?];
        Some(match opcode {
            Opcode::Fadd => Node::Float(FloatOp::Add, x, y),
            Opcode::Fsub => Node::Float(FloatOp::Sub, x, y),
            Opcode::Fmul => Node::Float(FloatOp::Mul, x, y),
            Opcode::Fdiv => Node::Float(FloatOp::Div, x, y),
            Opcode::Iadd => Node::Integer(IntegerOp::Add, x, y),
            Opcode::Isub => Node::Integer(IntegerOp::Sub, x, y),
            Opcode::Imul => Node::Integer(IntegerOp::Mul, x, y),
            Opcode::Ishl => Node::Shift(ShiftOp::Left, x, y),
            Opcode::Ushr => Node::Shift(ShiftOp::Right, x, y),
            Opcode::Sshr => Node::Shift(ShiftOp::RightWithSign, x, y),
            _ => return None,
        })
    }

    /// The bits of a constant that is in all elements, as often as they fit into 64 bits.
    fn constant(&self, inst: Inst, size: u32) -> Option<u64> {
        let bits = match self.dfg.insts[inst] {
            InstructionData::UnaryIeee64 { imm, .. } => imm.bits(),
            InstructionData::UnaryIeee32 { imm, .. } => u64::from(imm.bits()),
            InstructionData::UnaryImm { imm, .. } => Imm64::bits(&imm) as u64,
            _ => return None,
        };
        Some(in_64_bits(bits, size))
    }

    fn sign_bit(&mut self, size: u32) -> Id {
        self.add(Node::Constant(in_64_bits(1 << (8 * size - 1), size)), size)
    }

    fn with_sign_bit(&mut self, op: IntegerOp, x: Value) -> Option<Node> {
        let size = size_of(self.dfg, x);
        let sign = in_64_bits(1 << (8 * size - 1), size);
        let bits = if op == IntegerOp::Xor { sign } else { !sign };
        let bits = self.add(Node::Constant(bits), size);
        Some(Node::Integer(op, self.element(x)?, bits))
    }

    fn copied_sign(&mut self, args: &[Value]) -> Option<Id> {
        let size = size_of(self.dfg, args[0]);
        let (sign, from) = (self.sign_bit(size), self.element(args[1])?);
        let sign = self.add(Node::Integer(IntegerOp::And, from, sign), size);
        let magnitude = self.with_sign_bit(IntegerOp::And, args[0])?;
        let magnitude = self.add(magnitude, size);
        Some(self.add(Node::Integer(IntegerOp::Or, magnitude, sign), size))
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
            return Some(self.compared_masks(how, x, y));
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
        let size = size_of(self.dfg, args[0]);
        let args = [self.element(args[0])?, self.element(args[1])?];
        Some(self.add(Node::CompareIntegers { signed, predicate, args }, size))
    }

    /// Bools: false is less than true.
    fn compared_masks(&mut self, how: IntCC, x: Id, y: Id) -> Id {
        let (op, x, y, inverted) = match how {
            IntCC::Equal => (MaskOp::Same, x, y, None),
            IntCC::NotEqual => (MaskOp::Xor, x, y, None),
            IntCC::UnsignedLessThan | IntCC::SignedGreaterThan => (MaskOp::And, y, x, Some(())),
            IntCC::UnsignedGreaterThan | IntCC::SignedLessThan => (MaskOp::And, x, y, Some(())),
            IntCC::UnsignedLessThanOrEqual | IntCC::SignedGreaterThanOrEqual => {
                (MaskOp::Or, y, x, Some(()))
            }
            IntCC::UnsignedGreaterThanOrEqual | IntCC::SignedLessThanOrEqual => {
                (MaskOp::Or, x, y, Some(()))
            }
        };
        let y = if inverted.is_some() { self.add_mask(Node::NotMask(y)) } else { y };
        self.add_mask(Node::Masks(op, x, y))
    }

    fn chosen(&mut self, args: &[Value]) -> Option<Id> {
        let &[condition, yes, no] = args else { return None };
        let mask = self.mask(condition)?;
        if self.are_masks(&[yes, no])? {
            let (yes, no) = (self.mask(yes)?, self.mask(no)?);
            let other = self.add_mask(Node::NotMask(mask));
            let first = self.add_mask(Node::Masks(MaskOp::And, mask, yes));
            let second = self.add_mask(Node::Masks(MaskOp::And, other, no));
            return Some(self.add_mask(Node::Masks(MaskOp::Or, first, second)));
        }
        let size = size_of(self.dfg, yes);
        let (yes, no) = (self.element(yes)?, self.element(no)?);
        let made = self.extreme(mask, yes, no).unwrap_or(Node::Choose { mask, yes, no });
        Some(self.add(made, size))
    }

    /// The larger of two numbers, or the smaller, if that is chosen: of floats the first where it is, or is NaN.
    fn extreme(&self, mask: Id, yes: Id, no: Id) -> Option<Node> {
        if let Node::CompareIntegers { signed, predicate, args } = self.nodes[mask]
            && args == [yes, no]
        {
            return match predicate {
                1 | 2 => Some(Node::Integer(IntegerOp::Least(signed), yes, no)),
                5 | 6 => Some(Node::Integer(IntegerOp::Most(signed), yes, no)),
                _ => None,
            };
        }
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
            return Some(self.add_mask(Node::NotMask(id)));
        }
        let size = size_of(self.dfg, x);
        let all = self.add(Node::Constant(u64::MAX), size);
        Some(self.add(Node::Integer(IntegerOp::Xor, id, all), size))
    }

    fn bits(&mut self, opcode: Opcode, args: &[Value]) -> Option<Id> {
        if self.are_masks(args)? {
            let op = match opcode {
                Opcode::Band => MaskOp::And,
                Opcode::Bor => MaskOp::Or,
                _ => MaskOp::Xor,
            };
            let (x, y) = (self.mask(args[0])?, self.mask(args[1])?);
            return Some(self.add_mask(Node::Masks(op, x, y)));
        }
        let op = match opcode {
            Opcode::Band => IntegerOp::And,
            Opcode::Bor => IntegerOp::Or,
            _ => IntegerOp::Xor,
        };
        let size = size_of(self.dfg, args[0]);
        let (x, y) = (self.element(args[0])?, self.element(args[1])?);
        Some(self.add(Node::Integer(op, x, y), size))
    }
}

/// The conversion that an instruction does.
fn conversion(opcode: Opcode) -> Option<Conversion> {
    Some(match opcode {
        Opcode::Sextend => Conversion::Wider(true),
        Opcode::Uextend => Conversion::Wider(false),
        Opcode::Ireduce => Conversion::Narrower,
        Opcode::Fpromote | Opcode::Fdemote => Conversion::Float,
        Opcode::FcvtFromSint => Conversion::FromInteger(true),
        Opcode::FcvtFromUint => Conversion::FromInteger(false),
        // A number that does not fit is not converted.
        Opcode::FcvtToSintSat => Conversion::ToInteger,
        _ => return None,
    })
}

/// The bits of an element as often as they fit into 64.
pub(super) fn in_64_bits(bits: u64, size: u32) -> u64 {
    let whole = if size == 8 { bits } else { bits & ((1 << (8 * size)) - 1) };
    (0..8 / size).fold(0, |all, at| all | whole << (8 * size * at))
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
