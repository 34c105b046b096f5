//! Values that instructions write over one of their operands, and values that make room for others.

use crate::vector::x86::assembler::{ALL, Memory, Operand, RSP, Zmm};
use crate::vector::x86::function::{Function, ValuePlace};
use crate::vector::x86::schedule::used_by;
use crate::vector::x86::translate::{Id, Node};

/// The registers that a step needs besides those of its operands.
const ROOM: usize = 3;

impl Function<'_> {
    /// A slot of the stack as an operand.
    pub(super) fn slot(&self, number: usize) -> Operand {
        Operand::Vector(Memory::At(RSP, number as i32 * self.bytes() as i32))
    }

    /// Moves values to the stack, if the function may use it, until a step has the registers that it needs. Values
    /// whose last use is latest go first.
    pub(super) fn make_room(&mut self, at: usize) {
        while self.slots.is_some() && self.vectors.len() < ROOM {
            let Some((id, own)) = self.used_last(at) else { return };
            let number = self.slots.get_or_insert_default().pop().unwrap_or_else(|| {
                self.slot_count += 1;
                self.slot_count - 1
            });
            let to = self.slot(number);
            self.of_registers().store(to, own, ALL);
            self.places[id] = Some(ValuePlace::Slot(number));
            self.vectors.push(own.0);
        }
    }

    /// The value in a register whose last use is latest, and which this step does not need.
    fn used_last(&self, at: usize) -> Option<(Id, Zmm)> {
        let steps = &self.schedule.steps[at..];
        let next = |id: Id| steps.iter().position(|&step| used_by(self.graph, step).contains(&id));
        let held = self.places.iter().enumerate().filter_map(|(id, &place)| match place {
            Some(ValuePlace::Vector(own)) if !self.is_held(own) => Some((id, own, next(id)?)),
            _ => None,
        });
        let last = held.filter(|own| own.2 > 0).max_by_key(|own| (own.2, own.0))?;
        Some((last.0, last.1))
    }

    /// Computes what is written over one of its operands, and returns its register.
    pub(super) fn compute_over(&mut self, id: Id, at: usize) -> Option<Zmm> {
        match self.graph.nodes[id] {
            Node::Fma([x, y, z]) => {
                let over = [x, y, z].into_iter().find(|&own| self.dying(own, at).is_some());
                if over == Some(z) {
                    let own = self.taken(z, at)?;
                    let scratch = Zmm(*self.vectors.last()?);
                    let (x, y) = (self.register(x, scratch)?, self.operand(y)?);
                    self.of(id).add_product(own, x, y);
                    self.free_ended(at, Some(z));
                    return Some(own);
                }
                let (x, y) = if over == Some(y) { (y, x) } else { (x, y) };
                let own = self.taken(x, at)?;
                let scratch = Zmm(*self.vectors.last()?);
                let (by, z) = (self.register(y, scratch)?, self.operand(z)?);
                self.of(id).multiply_add(own, by, z);
                self.free_ended(at, over);
                Some(own)
            }
            Node::Edges([x, of, how]) => {
                let over = self.dying(x, at).map(|_| x);
                let own = self.taken(x, at)?;
                let scratch = Zmm(*self.vectors.last()?);
                let (of, how) = (self.register(of, scratch)?, self.operand(how)?);
                self.of(id).edges(own, of, how);
                self.free_ended(at, over);
                Some(own)
            }
            Node::Entry { table, at: index } => {
                let bits = self.graph.tables[table];
                let over = self.dying(index, at).map(|_| index);
                let own = self.taken(index, at)?;
                if self.graph.sizes[id] == 4 {
                    let all = std::array::from_fn(|k| bits[2 * k] | bits[2 * k + 1] << 32);
                    let all = Operand::Vector(Memory::Table(self.a.table(all)));
                    self.of_table(id).entries(own, own, all);
                } else {
                    let [low, high] = [0, 8].map(|first| {
                        let half = std::array::from_fn(|k| bits[first + k]);
                        Operand::Vector(Memory::Table(self.a.table(half)))
                    });
                    let scratch = Zmm(*self.vectors.last()?);
                    self.of_registers().load(scratch, low, ALL);
                    self.of_table(id).entries_of_two(own, scratch, high);
                }
                self.free_ended(at, over);
                Some(own)
            }
            _ => None,
        }
    }

    /// The register of a value that nothing needs after a step.
    fn dying(&self, id: Id, at: usize) -> Option<Zmm> {
        match self.places[id] {
            Some(ValuePlace::Vector(own)) if self.schedule.ends(id, at) && !self.is_held(own) => {
                Some(own)
            }
            _ => None,
        }
    }

    /// A register with that value, to be written over: its own, if nothing needs it after the step, or a new one.
    fn taken(&mut self, id: Id, at: usize) -> Option<Zmm> {
        if let Some(own) = self.dying(id, at) {
            return Some(own);
        }
        let own = Zmm(self.vectors.pop()?);
        let from = self.register(id, own)?;
        if from != own {
            self.of_registers().copy(own, from, ALL);
        }
        Some(own)
    }
}
