//! Loops that elements go through, each until it leaves: several registers of elements take each step together.

use crate::vector::x86::assembler::{
    ALL, Condition, Gpr, Mask, Memory, OR, Operand, RAX, RCX, RDI, RDX, RSI, Zmm,
};
use crate::vector::x86::function::{Function, Turn, ValuePlace};
use crate::vector::x86::translate::{Id, Node};
use crate::vector::{Given, Steps};

/// The register that holds the address of a state or constant.
const OPERAND: Gpr = Gpr(8);

/// A register of elements on its way.
struct Lanes {
    /// Its states and constants.
    given: Vec<Zmm>,
    live: Mask,
}

impl Function<'_> {
    /// All of it, for so many registers of elements a turn; `free` registers hold constants of the block.
    pub(super) fn go_through_steps(
        &mut self,
        steps: Steps,
        blocks: usize,
        free: usize,
    ) -> Option<()> {
        self.enter_constants(free)?;
        let mut all = Vec::new();
        for _ in 0..blocks {
            let given = (0..steps.states + steps.constants).map(|_| self.vectors.pop().map(Zmm));
            let given = given.collect::<Option<Vec<Zmm>>>()?;
            all.push(Lanes { given, live: self.take_mask()? });
        }
        let step = blocks as i32 * self.elements() as i32;
        let (turn, next, end) = (self.a.label(), self.a.label(), self.a.label());
        self.a.clear(RCX);
        self.a.load(RAX, Memory::At(RDI, 8 * steps.live() as i32));
        self.a.compare(RSI, 0);
        self.a.jump_if(Condition::NotGreater, end);
        self.a.bind(turn);
        for (block, own) in all.iter().enumerate() {
            self.a.load_bits(own.live, Memory::At(RAX, 2 * block as i32), self.graph.lanes);
        }
        self.test_live(&all);
        self.a.jump_if(Condition::Zero, next);
        self.take_steps(steps, &all)?;
        for state in 0..steps.states {
            self.a.load(OPERAND, Memory::At(RDI, 8 * state as i32));
            for (block, own) in all.iter().enumerate() {
                let to = self.element_of_turn(block);
                self.of_registers().store(to, own.given[state], ALL);
            }
        }
        for (block, own) in all.iter().enumerate() {
            self.a.store_bits(Memory::At(RAX, 2 * block as i32), own.live, self.graph.lanes);
        }
        self.a.bind(next);
        self.a.add(RCX, step);
        self.a.add(RAX, 2 * blocks as i32);
        self.a.subtract(RSI, step);
        self.a.jump_if(Condition::Greater, turn);
        self.a.bind(end);
        self.a.clean();
        self.a.ret();
        Some(())
    }

    pub(super) fn enter_constants(&mut self, free: usize) -> Option<()> {
        let is_constant = |id: &Id| matches!(self.graph.nodes[*id], Node::Constant(_));
        let constants: Vec<Id> = self.schedule.same.iter().copied().filter(is_constant).collect();
        for id in constants.into_iter().take(free) {
            let own = Zmm(self.vectors.pop()?);
            let memory = self.memory_of_same(id);
            self.of(id).broadcast(own, memory);
            self.same[id] = Some(ValuePlace::Vector(own));
        }
        Some(())
    }

    /// Reads the states and constants, and takes steps until there is none left or nothing goes on.
    fn take_steps(&mut self, steps: Steps, all: &[Lanes]) -> Option<()> {
        for at in 0..steps.states + steps.constants {
            self.a.load(OPERAND, Memory::At(RDI, 8 * at as i32));
            for (block, own) in all.iter().enumerate() {
                let from = self.element_of_turn(block);
                self.of_registers().load(own.given[at], from, ALL);
            }
        }
        self.a.load(RDX, Memory::At(RDI, 8 * steps.most() as i32));
        let (top, done) = (self.a.label(), self.a.label());
        self.a.align();
        self.a.bind(top);
        for (block, own) in all.iter().enumerate() {
            for (id, node) in self.graph.nodes.iter().enumerate() {
                if let Node::Given(Given::Uniform { at, .. }) = *node {
                    self.same[id] = Some(ValuePlace::Vector(own.given[at]));
                }
            }
            self.states = own.given[..steps.states].to_vec();
            let block = block as u32;
            self.block(Turn { block, set: None, mask: own.live, asks_ahead: false })?;
        }
        self.test_live(all);
        self.a.jump_if(Condition::Zero, done);
        self.a.subtract(RDX, 1);
        self.a.jump_if(Condition::Greater, top);
        self.a.bind(done);
        Some(())
    }

    fn test_live(&mut self, all: &[Lanes]) {
        let mut some = all[0].live;
        for own in &all[1..] {
            self.a.masks(OR, self.left(), some, own.live);
            some = self.left();
        }
        self.a.test_mask(some, self.graph.lanes);
    }

    fn element_of_turn(&self, block: usize) -> Operand {
        let distance = block as i32 * self.bytes() as i32;
        let size = self.bytes() / self.graph.lanes;
        Operand::Vector(Memory::Indexed(OPERAND, RCX, size, distance))
    }

    /// Lets a state have a value, in the elements that go on. `None` if that is another state, or a constant.
    pub(super) fn step_to(&mut self, state: usize, node: Id, turn: Turn) -> Option<()> {
        if let Node::Given(Given::Uniform { at, .. }) = self.graph.nodes[node]
            && at == state
        {
            return Some(());
        }
        let Some(ValuePlace::Vector(from)) = self.places[node] else { return None };
        let own = self.states[state];
        self.of(node).copy(own, from, turn.mask);
        Some(())
    }
}
