//! The machine that matches patterns: four instructions read the graph, and one checks the variables that were read.

use smallvec::{SmallVec, smallvec};

use crate::node::alias::view_sources;
use crate::node::op::Op;
use crate::node::{Body, Node, Var};
use crate::value::dtype::{DType, Kind};
use crate::value::literal::Literal;

/// A place for one variable. Register 0 holds the variable to match.
pub type Register = u16;

/// A place for the operands that no register took.
pub type Tail = u16;

/// A place for the operands of a node that may be taken in any order.
pub type Pool = u16;

/// One step of a match. A step that fails goes back to the last [`Instruction::Scan`] that has an operand left.
#[derive(Clone)]
pub enum Instruction {
    /// The register holds an output of an application that passes `test`; its operands are laid out.
    Bind {
        /// The register that is looked at.
        register: Register,
        /// The test of the op.
        test: OpTest,
        /// The position of the output; any, for the root.
        output: Option<u32>,
        /// The places of the operands.
        operands: Operands,
    },
    /// Two registers hold the same variable.
    Compare {
        /// One.
        register: Register,
        /// The other.
        with: Register,
    },
    /// The register holds a constant with this value.
    Lookup {
        /// The register that is looked at.
        register: Register,
        /// The constant that it must be.
        literal: Literal,
    },
    /// The register takes an operand of a pool that no other register took: each in turn, until the rest matches.
    Scan {
        /// The pool that it takes from.
        pool: Pool,
        /// The operand that is tried first: the one at the position that it has in the pattern.
        first: u16,
        /// The register that takes it.
        register: Register,
    },
    /// The operands that are left in the pool go to a tail.
    Drain {
        /// The pool that it takes from.
        pool: Pool,
        /// The tail that takes them.
        tail: Tail,
    },
    /// The variables that were read so far have a property.
    Check(Check),
}

/// The places of the operands of a bound application.
#[derive(Clone, Copy)]
pub enum Operands {
    /// One by one to registers from `first` on; all others to the tail, if there is one.
    InOrder {
        /// The first register.
        first: Register,
        /// The number of registers.
        count: u16,
        /// The place of the others; without one there must be no others.
        tail: Option<Tail>,
    },
    /// To a pool, from which at least `least` are taken: all, unless it is open.
    InAnyOrder {
        /// The pool that takes them.
        pool: Pool,
        /// The number of operands that scans take.
        least: u16,
        /// Whether there may be more.
        open: bool,
    },
}

/// A test of the op of an application.
#[derive(Clone, Debug, PartialEq)]
pub enum OpTest {
    /// This one.
    Exact(Op),
    /// One of these.
    OneOf(Box<[Op]>),
    /// Any op of this kind, whatever its parameters.
    Kind(Box<str>),
    /// Any op whose outputs follow from its inputs, that writes over none of them and has no buffer of its own.
    Pure,
}

impl OpTest {
    /// Whether `op` passes.
    pub fn passes(&self, op: &Op) -> bool {
        match self {
            OpTest::Exact(wanted) => wanted == op,
            OpTest::OneOf(wanted) => wanted.contains(op),
            OpTest::Kind(kind) => *op.key().kind == **kind,
            OpTest::Pure => {
                let props = &op.key().props;
                props.pure && !props.distinct && props.destroy_map.is_empty()
            }
        }
    }
}

/// A set of element types.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DTypeSet(u16);

impl DTypeSet {
    /// Every element type.
    pub const ALL: DTypeSet = DTypeSet((1 << DType::ALL.len()) - 1);

    /// The set of these.
    pub fn new(dtypes: &[DType]) -> DTypeSet {
        DTypeSet(dtypes.iter().fold(0, |bits, &dtype| bits | 1 << dtype as u8))
    }

    /// Whether `dtype` is in the set.
    pub fn contains(self, dtype: DType) -> bool {
        self.0 & 1 << dtype as u8 != 0
    }
}

/// A property of the variables of a match; `V` is the type of their names.
#[derive(Clone, Debug)]
pub enum Check<V = Register> {
    /// The element type is in the set.
    DTypes(V, DTypeSet),
    /// It is a constant.
    Constant(V),
    /// It is no constant.
    NotConstant(V),
    /// Every variable of the tail is a constant, and of a type in the set.
    Tail {
        /// The number of the tail.
        tail: Tail,
        /// The element types that are accepted.
        dtypes: DTypeSet,
        /// Whether they must be constants.
        constant: bool,
    },
    /// The element types are equal.
    SameDType(Box<[V]>),
    /// The types are equal.
    SameType(Box<[V]>),
    /// Arithmetic between them is in one ring: all are floats, or all have one element type, so that integers wrap
    /// around in the same way everywhere.
    OneRing(Box<[V]>),
    /// Both applications have the same op.
    SameOp(V, V),
    /// The first is this output of an application, and the second is an output of the same application.
    Output(V, V, u32),
    /// The root's op views no operand, and an operand is a buffer of a distinct op, or views one.
    ReadsBuffer,
    /// The root applies its op to one element: a constant, or a number to which a view gave dimensions. The type says
    /// that each dimension has length 1.
    ReadsOneElement,
}

/// The variables that a machine has read.
#[derive(Default)]
pub struct Match<'g> {
    registers: SmallVec<[Option<&'g Var>; 12]>,
    tails: SmallVec<[SmallVec<[&'g Var; 4]>; 1]>,
    pools: SmallVec<[Taken<'g>; 2]>,
}

#[derive(Default)]
struct Taken<'g> {
    operands: &'g [Var],
    taken: SmallVec<[u16; 4]>,
}

impl<'g> Match<'g> {
    /// The variable in a register.
    pub fn get(&self, register: Register) -> &'g Var {
        self.registers[register as usize]
            .expect("the compiler fills registers before it reads them")
    }

    /// The variables in a tail.
    pub fn tail(&self, tail: Tail) -> &[&'g Var] {
        &self.tails[tail as usize]
    }

    /// All variables that were read: those of registers, some of which may be empty, and of tails.
    pub fn variables(&self) -> impl Iterator<Item = &'g Var> {
        let tails = self.tails.iter().flatten().copied();
        self.registers.iter().filter_map(|held| *held).chain(tails)
    }

    /// A match over variables that are owned elsewhere.
    pub(crate) fn of(registers: &'g [Option<Var>], tails: &'g [Vec<Var>]) -> Match<'g> {
        Match {
            registers: registers.iter().map(Option::as_ref).collect(),
            tails: tails.iter().map(|tail| tail.iter().collect()).collect(),
            pools: SmallVec::new(),
        }
    }

    pub(crate) fn to_owned(&self) -> (Vec<Option<Var>>, Vec<Vec<Var>>) {
        let registers = self.registers.iter().map(|held| held.cloned()).collect();
        let tails =
            self.tails.iter().map(|tail| tail.iter().map(|&var| var.clone()).collect()).collect();
        (registers, tails)
    }
}

/// A compiled pattern.
#[derive(Clone)]
pub struct Machine {
    pub(crate) code: Box<[Instruction]>,
    pub(crate) registers: u16,
    pub(crate) tails: u16,
    pub(crate) pools: u16,
}

impl Machine {
    /// The instructions, in the order in which they run.
    pub fn instructions(&self) -> &[Instruction] {
        &self.code
    }

    /// Calls `found` with each match at `root` until it accepts one; returns whether it did.
    ///
    /// Operands of commutative ops are tried in every order, the written one first.
    pub fn run<'g>(&self, root: &'g Var, found: &mut dyn FnMut(&Match<'g>) -> bool) -> bool {
        let mut state = Match::default();
        state.registers.resize(self.registers as usize, None);
        state.tails.resize_with(self.tails as usize, SmallVec::new);
        state.pools.resize_with(self.pools as usize, Taken::default);
        state.registers[0] = Some(root);
        self.step(0, &mut state, found)
    }

    /// Goes on from an instruction. Recurses at scans only; a pattern has few of these.
    fn step<'g>(
        &self,
        mut counter: usize,
        state: &mut Match<'g>,
        found: &mut dyn FnMut(&Match<'g>) -> bool,
    ) -> bool {
        while let Some(instruction) = self.code.get(counter) {
            counter += 1;
            let goes_on = match instruction {
                Instruction::Bind { register, test, output, operands } => {
                    bind(state, *register, test, *output, *operands)
                }
                Instruction::Compare { register, with } => state.get(*register) == state.get(*with),
                Instruction::Lookup { register, literal } => {
                    state.get(*register).constant().is_some_and(|data| literal.matches(data))
                }
                Instruction::Scan { pool, first, register } => {
                    let (pool, first) = (*pool as usize, *first);
                    let operands = state.pools[pool].operands;
                    let count = operands.len() as u16;
                    for position in
                        std::iter::once(first).chain((0..count).filter(|&at| at != first))
                    {
                        let operand = &operands[position as usize];
                        if state.pools[pool].taken.contains(&position) {
                            continue;
                        }
                        state.pools[pool].taken.push(position);
                        let depth = state.pools[pool].taken.len();
                        state.registers[*register as usize] = Some(operand);
                        if self.step(counter, state, found) {
                            return true;
                        }
                        state.pools[pool].taken.truncate(depth - 1);
                    }
                    return false;
                }
                Instruction::Drain { pool, tail } => {
                    let Taken { operands, taken } = &state.pools[*pool as usize];
                    state.tails[*tail as usize] = operands
                        .iter()
                        .enumerate()
                        .filter(|(position, _)| !taken.contains(&(*position as u16)))
                        .map(|(_, operand)| operand)
                        .collect();
                    true
                }
                Instruction::Check(check) => holds(state, check),
            };
            if !goes_on {
                return false;
            }
        }
        found(state)
    }
}

fn bind<'g>(
    state: &mut Match<'g>,
    register: Register,
    test: &OpTest,
    output: Option<u32>,
    operands: Operands,
) -> bool {
    let var = state.get(register);
    let node: &'g Node = var.node();
    let Body::Apply { op, inputs, .. } = node.body() else { return false };
    if !test.passes(op) || output.is_some_and(|output| output as usize != var.index()) {
        return false;
    }
    // Rules are laws of real numbers: `|x| ** 2` is `x ** 2` for real numbers only.
    if var.ty().is_complex() || inputs.iter().any(|input| input.ty().is_complex()) {
        return false;
    }
    match operands {
        Operands::InOrder { first, count, tail } => {
            let count = count as usize;
            if inputs.len() < count || (tail.is_none() && inputs.len() > count) {
                return false;
            }
            for (position, input) in inputs[..count].iter().enumerate() {
                state.registers[first as usize + position] = Some(input);
            }
            if let Some(tail) = tail {
                state.tails[tail as usize] = inputs[count..].iter().collect();
            }
        }
        Operands::InAnyOrder { pool, least, open } => {
            let least = least as usize;
            let fits = if open { inputs.len() >= least } else { inputs.len() == least };
            if !fits || inputs.len() > u16::MAX as usize {
                return false;
            }
            let pool = &mut state.pools[pool as usize];
            pool.operands = inputs;
            pool.taken.clear();
        }
    }
    true
}

fn holds(state: &Match<'_>, check: &Check) -> bool {
    let dtype = |register: &Register| state.get(*register).ty().dtype();
    match check {
        Check::DTypes(register, set) => set.contains(dtype(register)),
        Check::Constant(register) => state.get(*register).constant().is_some(),
        Check::NotConstant(register) => state.get(*register).constant().is_none(),
        Check::Tail { tail, dtypes, constant } => state.tail(*tail).iter().all(|var| {
            dtypes.contains(var.ty().dtype()) && (!constant || var.constant().is_some())
        }),
        Check::SameDType(registers) => all_equal(registers.iter().map(dtype)),
        Check::SameType(registers) => {
            all_equal(registers.iter().map(|register| state.get(*register).ty()))
        }
        Check::OneRing(registers) => {
            registers.iter().all(|register| dtype(register).kind() == Kind::Float)
                || all_equal(registers.iter().map(dtype))
        }
        Check::Output(register, of, output) => {
            let var = state.get(*register);
            var.node() == state.get(*of).node() && var.index() == *output as usize
        }
        Check::SameOp(a, b) => op_of(state.get(*a)) == op_of(state.get(*b)),
        Check::ReadsBuffer => reads_buffer(state.get(0)),
        Check::ReadsOneElement => state.get(0).node().inputs().iter().any(is_shaped_number),
    }
}

fn is_shaped_number(var: &Var) -> bool {
    let shape = var.ty().shape();
    if shape.is_empty() || shape.iter().any(|&length| length != Some(1)) {
        return false;
    }
    var.constant().is_some()
        || matches!(view_sources(var).as_slice(), [source] if source.ty().ndim() == 0)
}

/// Buffers behind more views than these are not searched for, since every node is searched.
const VIEWS: usize = 16;

fn reads_buffer(var: &Var) -> bool {
    let Body::Apply { op, inputs, .. } = var.node().body() else { return false };
    op.key().props.view_map.is_empty() && inputs.iter().any(is_buffer)
}

fn is_buffer(var: &Var) -> bool {
    let mut pending: SmallVec<[&Var; 2]> = smallvec![var];
    for _ in 0..VIEWS {
        let Some(var) = pending.pop() else { return false };
        if op_of(var).is_some_and(|op| op.key().props.distinct) {
            return true;
        }
        pending.extend(view_sources(var));
    }
    false
}

fn all_equal<T: PartialEq>(mut values: impl Iterator<Item = T>) -> bool {
    let Some(first) = values.next() else { return true };
    values.all(|value| value == first)
}

fn op_of(var: &Var) -> Option<&Op> {
    match var.node().body() {
        Body::Apply { op, .. } => Some(op),
        _ => None,
    }
}
