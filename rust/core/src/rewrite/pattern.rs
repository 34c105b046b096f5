//! Patterns: the left sides of rules. A pattern is written as a graph; compiling it gives a machine.
//!
//! - A root input that is declared a variable of the pattern matches every variable that its declaration accepts; where
//!   it stands again, it must be the same variable.
//! - A constant matches every constant of its value ([`Literal`]).
//! - An application matches an application of the same op, or of an op that its wildcard accepts. The operands of a
//!   commutative op match in any order.
//! - A variadic pattern variable, written as the last operand, matches all operands that are left.

use rustc_hash::FxHashMap;

use super::machine::{
    Check, DTypeSet, Instruction, Machine, OpTest, Operands, Pool, Register, Tail,
};
use crate::node::op::Op;
use crate::node::{Body, Node, Var};
use crate::value::error::Error;
use crate::value::literal::Literal;

/// More applications than this in one pattern are a mistake.
const MAX_APPLICATIONS: usize = 256;

/// More operands than these in one pattern, too.
const MAX_OPERANDS: usize = 4096;

/// A variable of a pattern, and the variables that it matches.
#[derive(Clone)]
pub struct Unknown {
    /// The root input that is written for it.
    pub var: Var,
    /// The element types that are accepted.
    pub dtypes: DTypeSet,
    /// Whether only constants are accepted.
    pub constant: bool,
    /// Whether it stands for any number of operands.
    pub variadic: bool,
}

/// An op of a pattern that stands for others. Where it stands again, it must be the same op.
#[derive(Clone)]
pub struct Wildcard {
    /// The op that is written for it.
    pub op: Op,
    /// The ops that it accepts.
    pub test: OpTest,
}

/// The place in a match of a variable of the pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keeper {
    /// In a register.
    Register(Register),
    /// In a tail.
    Tail(Tail),
}

/// The left side of a rule, compiled.
#[derive(Clone)]
pub struct Pattern {
    machine: Machine,
    test: OpTest,
    required: Heads,
    places: Vec<Keeper>,
    bound: FxHashMap<(usize, u32), Register>,
    nodes: FxHashMap<usize, Register>,
    wildcards: FxHashMap<Op, Register>,
    left: Var,
}

impl Pattern {
    /// The pattern that is written as `left`, over `unknowns`.
    ///
    /// `checks` name unknowns by their position. Every unknown must be in `left`.
    pub fn compile(
        left: &Var,
        unknowns: &[Unknown],
        wildcards: &[Wildcard],
        checks: &[Check<usize>],
    ) -> Result<Pattern, Error> {
        let Body::Apply { op, .. } = left.node().body() else {
            return Err(refuse(
                "its left side must apply an op: a variable or constant is no pattern",
            ));
        };
        let mut compiler = Compiler::new(unknowns, wildcards, checks);
        let test = compiler.test_of(op);
        compiler.compile(left)?;
        let required = required_heads(left.node(), &compiler);
        let places = unknowns
            .iter()
            .map(|unknown| compiler.place_of(unknown))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(Pattern {
            machine: Machine {
                code: compiler.code.into(),
                registers: compiler.registers,
                tails: compiler.tails,
                pools: compiler.pools,
            },
            test,
            required,
            places,
            bound: compiler.bound,
            nodes: compiler.nodes,
            wildcards: compiler.seen,
            left: left.clone(),
        })
    }

    /// The machine that matches it.
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// The test of the op at the root.
    pub fn test(&self) -> &OpTest {
        &self.test
    }

    /// The ops that must make the operands of the root, for a quick first test.
    pub fn required(&self) -> Heads {
        self.required
    }

    /// The places of the unknowns, in the order of their declaration.
    pub fn places(&self) -> &[Keeper] {
        &self.places
    }

    /// The place in a match of `var`, a part of the left side.
    pub(crate) fn register_of(&self, var: &Var) -> Option<Register> {
        self.bound.get(&var.identity()).copied()
    }

    /// The place in a match of an output of the application of `var`; `var` itself is no part of the left side.
    pub(crate) fn sibling_of(&self, var: &Var) -> Option<Register> {
        self.nodes.get(&var.node().address()).copied()
    }

    /// The place in a match of an application of the op that a wildcard matched.
    pub(crate) fn wildcard(&self, op: &Op) -> Option<Register> {
        self.wildcards.get(op).copied()
    }

    /// The left side as it was written.
    pub fn left(&self) -> &Var {
        &self.left
    }
}

/// The ops that make the operands of an application, one bit each: a superset test that costs one comparison.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Heads(u64);

impl Heads {
    const CONSTANT: u64 = 1 << 63;

    fn of_op(op: &Op) -> u64 {
        1 << (op.digest().short() % 63)
    }

    /// The ops that make the operands of `node`.
    pub fn of(node: &Node) -> Heads {
        Heads(node.inputs().iter().fold(0, |bits, input| {
            bits | match input.node().body() {
                Body::Apply { op, .. } => Heads::of_op(op),
                Body::Constant(_) => Heads::CONSTANT,
                _ => 0,
            }
        }))
    }

    /// Whether all of `required` is here.
    pub fn include(self, required: Heads) -> bool {
        required.0 & !self.0 == 0
    }
}

fn required_heads(root: &Node, compiler: &Compiler<'_>) -> Heads {
    Heads(root.inputs().iter().fold(0, |bits, input| {
        bits | match input.node().body() {
            Body::Apply { op, .. } => match compiler.test_of(op) {
                OpTest::Exact(op) => Heads::of_op(&op),
                _ => 0,
            },
            Body::Constant(_) => Heads::CONSTANT,
            _ => match compiler.unknown(input) {
                Some((_, unknown)) if unknown.constant && !unknown.variadic => Heads::CONSTANT,
                _ => 0,
            },
        }
    }))
}

fn refuse(reason: impl Into<String>) -> Error {
    Error::Pattern { reason: reason.into() }
}

/// The unknown behind all operands that matches the others, and its number.
type Rest = (usize, Tail);

enum Task {
    /// Emit instructions that match this part of the pattern in this register.
    Visit(Var, Register),
    /// Emit a scan for this part, then instructions that match it.
    Scan(Pool, u16, Var),
    /// Emit an instruction that collects the operands that are left.
    Drain(Pool, usize, Tail),
}

struct Compiler<'a> {
    unknowns: &'a [Unknown],
    by_var: FxHashMap<(usize, u32), usize>,
    tests: FxHashMap<Op, &'a OpTest>,
    /// Checks that wait for some of their unknowns.
    waiting: Vec<&'a Check<usize>>,
    code: Vec<Instruction>,
    registers: u16,
    tails: u16,
    pools: u16,
    applications: usize,
    operands: usize,
    bound: FxHashMap<(usize, u32), Register>,
    nodes: FxHashMap<usize, Register>,
    tail_of: FxHashMap<usize, Tail>,
    seen: FxHashMap<Op, Register>,
}

impl<'a> Compiler<'a> {
    fn new(
        unknowns: &'a [Unknown],
        wildcards: &'a [Wildcard],
        checks: &'a [Check<usize>],
    ) -> Compiler<'a> {
        Compiler {
            unknowns,
            by_var: unknowns
                .iter()
                .enumerate()
                .map(|(position, unknown)| (unknown.var.identity(), position))
                .collect(),
            tests: wildcards.iter().map(|wildcard| (wildcard.op.clone(), &wildcard.test)).collect(),
            waiting: checks.iter().collect(),
            code: Vec::new(),
            registers: 1,
            tails: 0,
            pools: 0,
            applications: 0,
            operands: 0,
            bound: FxHashMap::default(),
            nodes: FxHashMap::default(),
            tail_of: FxHashMap::default(),
            seen: FxHashMap::default(),
        }
    }

    fn unknown(&self, var: &Var) -> Option<(usize, &'a Unknown)> {
        let position = *self.by_var.get(&var.identity())?;
        Some((position, &self.unknowns[position]))
    }

    fn test_of(&self, op: &Op) -> OpTest {
        self.tests.get(op).map_or_else(|| OpTest::Exact(op.clone()), |&test| test.clone())
    }

    fn place_of(&self, unknown: &Unknown) -> Result<Keeper, Error> {
        let identity = unknown.var.identity();
        let place = match self.tail_of.get(&self.by_var[&identity]) {
            Some(&tail) => Some(Keeper::Tail(tail)),
            None => self.bound.get(&identity).copied().map(Keeper::Register),
        };
        place.ok_or_else(|| {
            refuse(format!(
                "its left side does not contain {}, so nothing would stand for it",
                unknown.var.describe()
            ))
        })
    }

    fn compile(&mut self, left: &Var) -> Result<(), Error> {
        let mut tasks = vec![Task::Visit(left.clone(), 0)];
        while let Some(task) = tasks.pop() {
            match task {
                Task::Visit(var, register) => self.visit(&var, register, &mut tasks)?,
                Task::Scan(pool, first, var) => {
                    let register = self.registers;
                    self.registers += 1;
                    self.code.push(Instruction::Scan { pool, first, register });
                    tasks.push(Task::Visit(var, register));
                }
                Task::Drain(pool, unknown, tail) => {
                    self.code.push(Instruction::Drain { pool, tail });
                    self.check_tail(unknown, tail);
                }
            }
        }
        match self.waiting.is_empty() {
            true => Ok(()),
            false => {
                Err(refuse("a guard names a variable that its left side does not contain once"))
            }
        }
    }

    fn visit(&mut self, var: &Var, register: Register, tasks: &mut Vec<Task>) -> Result<(), Error> {
        let identity = var.identity();
        if let Some(&with) = self.bound.get(&identity) {
            self.code.push(Instruction::Compare { register, with });
            return Ok(());
        }
        match var.node().body() {
            Body::Constant(data) => {
                self.code.push(Instruction::Lookup { register, literal: Literal::of(data) });
            }
            Body::Apply { op, inputs, .. } => {
                self.bound.insert(identity, register);
                let address = var.node().address();
                if let Some(&other) = self.nodes.get(&address) {
                    self.check(Check::Output(register, other, var.index() as u32));
                    return Ok(());
                }
                self.nodes.insert(address, register);
                self.bind(var, op, inputs, register, tasks)?;
            }
            Body::Input { .. } | Body::Nominal { .. } => {
                let Some((_, unknown)) = self.unknown(var) else {
                    return Err(refuse(format!(
                        "{} is no parameter of the rule: a pattern is written over these only",
                        var.describe()
                    )));
                };
                if unknown.variadic {
                    return Err(refuse(format!(
                        "{} stands for several operands, so it must be the last operand of an op",
                        var.describe()
                    )));
                }
                self.bound.insert(identity, register);
                if unknown.dtypes != DTypeSet::ALL {
                    self.check(Check::DTypes(register, unknown.dtypes));
                }
                if unknown.constant {
                    self.check(Check::Constant(register));
                }
                self.release_checks();
            }
        }
        Ok(())
    }

    fn bind(
        &mut self,
        var: &Var,
        op: &Op,
        inputs: &[Var],
        register: Register,
        tasks: &mut Vec<Task>,
    ) -> Result<(), Error> {
        self.applications += 1;
        self.operands += inputs.len();
        if self.operands > MAX_OPERANDS {
            return Err(refuse(format!("its left side has more than {MAX_OPERANDS} operands")));
        }
        if self.applications > MAX_APPLICATIONS {
            return Err(refuse(format!(
                "its left side has more than {MAX_APPLICATIONS} operations"
            )));
        }
        let (inputs, tail) = self.without_tail(inputs)?;
        let test = self.test_of(op);
        let commutative = match &test {
            OpTest::Exact(op) => op.key().props.commutative,
            OpTest::OneOf(ops) => ops.iter().all(|op| op.key().props.commutative),
            OpTest::Kind(_) | OpTest::Pure => false,
        };
        let output = (register != 0).then(|| var.index() as u32);
        let wildcard = !matches!(test, OpTest::Exact(_));
        let count = inputs.len() as u16;
        if commutative && inputs.len() + tail.iter().len() > 1 {
            let pool = self.pools;
            self.pools += 1;
            let operands = Operands::InAnyOrder { pool, least: count, open: tail.is_some() };
            self.code.push(Instruction::Bind { register, test, output, operands });
            self.scan_pool(pool, inputs, tail, tasks);
        } else {
            let first = self.registers;
            self.registers += count;
            let operands = Operands::InOrder { first, count, tail: tail.map(|(_, tail)| tail) };
            self.code.push(Instruction::Bind { register, test, output, operands });
            self.visit_operands(first, inputs, tail, tasks);
        }
        if wildcard {
            match self.seen.get(op) {
                Some(&with) => self.check(Check::SameOp(register, with)),
                None => {
                    self.seen.insert(op.clone(), register);
                }
            }
        }
        Ok(())
    }

    /// The operands that match one operand each, and the unknown behind them that matches the rest.
    fn without_tail<'v>(&mut self, inputs: &'v [Var]) -> Result<(&'v [Var], Option<Rest>), Error> {
        let Some((last, others)) = inputs.split_last() else { return Ok((inputs, None)) };
        match self.unknown(last) {
            Some((position, unknown)) if unknown.variadic => {
                let tail = self.tails;
                self.tails += 1;
                if self.tail_of.insert(position, tail).is_some() {
                    return Err(refuse(format!(
                        "{} stands for several operands, so it can stand in one place only",
                        last.describe()
                    )));
                }
                Ok((others, Some((position, tail))))
            }
            _ => Ok((inputs, None)),
        }
    }

    /// Looks for operands in any order, the strictest first.
    fn scan_pool(&mut self, pool: Pool, inputs: &[Var], tail: Option<Rest>, tasks: &mut Vec<Task>) {
        let mut order: Vec<(u16, &Var)> = (0..).zip(inputs).collect();
        order.sort_by_key(|(_, input)| self.freedom(input));
        if let Some((position, tail)) = tail {
            tasks.push(Task::Drain(pool, position, tail));
        }
        tasks
            .extend(order.into_iter().rev().map(|(at, input)| Task::Scan(pool, at, input.clone())));
    }

    /// Goes through operands in registers from `first` on. Cheap tests come first, as an application costs a step for
    /// each operand.
    fn visit_operands(
        &mut self,
        first: Register,
        inputs: &[Var],
        tail: Option<Rest>,
        tasks: &mut Vec<Task>,
    ) {
        if let Some((position, tail)) = tail {
            self.check_tail(position, tail);
        }
        let mut order: Vec<(&Var, Register)> = inputs.iter().zip(first..).collect();
        order.sort_by_key(|(input, _)| self.unknown(input).is_none() && !is_leaf(input));
        tasks.extend(
            order.into_iter().rev().map(|(input, register)| Task::Visit(input.clone(), register)),
        );
    }

    /// The freedom of a part of a pattern, least for the strictest; operands in any order are looked for by it.
    fn freedom(&self, var: &Var) -> u8 {
        match var.node().body() {
            Body::Constant(_) => 0,
            Body::Apply { .. } => 1,
            _ if self.bound.contains_key(&var.identity()) => 0,
            _ => match self.unknown(var) {
                Some((_, unknown)) if unknown.constant => 2,
                _ => 3,
            },
        }
    }

    fn check(&mut self, check: Check) {
        self.code.push(Instruction::Check(check));
    }

    fn check_tail(&mut self, unknown: usize, tail: Tail) {
        let Unknown { dtypes, constant, .. } = self.unknowns[unknown];
        if constant || dtypes != DTypeSet::ALL {
            self.check(Check::Tail { tail, dtypes, constant });
        }
    }

    /// Emits the checks whose unknowns all have registers.
    fn release_checks(&mut self) {
        let waiting = std::mem::take(&mut self.waiting);
        for check in waiting {
            match self.placed(check) {
                Some(placed) => self.check(placed),
                None => self.waiting.push(check),
            }
        }
    }

    /// The check over registers, if all its unknowns have one.
    fn placed(&self, check: &Check<usize>) -> Option<Check> {
        let register = |&position: &usize| -> Option<Register> {
            self.bound.get(&self.unknowns.get(position)?.var.identity()).copied()
        };
        let all =
            |positions: &[usize]| positions.iter().map(register).collect::<Option<Box<[_]>>>();
        Some(match check {
            Check::DTypes(position, set) => Check::DTypes(register(position)?, *set),
            Check::Constant(position) => Check::Constant(register(position)?),
            Check::NotConstant(position) => Check::NotConstant(register(position)?),
            Check::Tail { tail, dtypes, constant } => {
                Check::Tail { tail: *tail, dtypes: *dtypes, constant: *constant }
            }
            Check::SameDType(positions) => Check::SameDType(all(positions)?),
            Check::SameType(positions) => Check::SameType(all(positions)?),
            Check::OneRing(positions) => Check::OneRing(all(positions)?),
            Check::SameOp(a, b) => Check::SameOp(register(a)?, register(b)?),
            Check::Output(a, b, output) => Check::Output(register(a)?, register(b)?, *output),
            Check::ReadsBuffer => Check::ReadsBuffer,
            Check::ReadsOneElement => Check::ReadsOneElement,
        })
    }
}

fn is_leaf(var: &Var) -> bool {
    !matches!(var.node().body(), Body::Apply { .. })
}
