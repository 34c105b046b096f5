//! The work on one block: each value in a register, a mask or a place on the stack.

use crate::dtype::Dtype;
use crate::vector::x86::assembler::{ALL, AND_NOT, Gpr, Memory, Operand, RAX, RCX, RDI, Zmm};
use crate::vector::x86::function::{ADDRESSES, AHEAD, Function, Turn, ValuePlace};
use crate::vector::x86::schedule::{BlockStep, used_by};
use crate::vector::x86::translate::{Id, Node};
use crate::vector::{BYTES, Effect, Given};

impl Function<'_> {
    pub(super) fn block(&mut self, turn: Turn) -> Option<()> {
        for at in 0..self.schedule.steps.len() {
            self.make_room(at);
            match self.schedule.steps[at] {
                BlockStep::Compute(id) => self.compute(id, at, turn)?,
                BlockStep::Act(effect) => {
                    self.act(self.graph.effects[effect], turn)?;
                    self.free_ended(at, None);
                }
            }
        }
        Some(())
    }

    pub(super) fn free_ended(&mut self, at: usize, but: Option<Id>) {
        for used in used_by(self.graph, self.schedule.steps[at]) {
            if !self.schedule.ends(used, at) || Some(used) == but {
                continue;
            }
            match self.places[used].take() {
                Some(ValuePlace::Vector(own)) if !self.is_held(own) => self.vectors.push(own.0),
                Some(ValuePlace::Mask(own)) => self.free_mask(own),
                Some(ValuePlace::Slot(own)) => self.slots.get_or_insert_default().push(own),
                _ => {}
            }
        }
    }

    /// Whether a register holds a value that later blocks need.
    pub(super) fn is_held(&self, own: Zmm) -> bool {
        let gathered = self.gathered.iter().flat_map(|own| &own.1);
        self.partials.iter().flatten().chain(gathered).any(|&held| held == own)
    }

    /// The register of the present block of a gathered row.
    fn gathered_into(&self, argument: usize, turn: Turn) -> Option<Zmm> {
        let own = self.gathered.iter().find(|own| own.0 == argument)?;
        Some(own.1[turn.block as usize])
    }

    /// The register that holds an argument which is an address, if there is one.
    pub(super) fn register_of(&self, at: usize) -> Option<Gpr> {
        let number = self.addresses.iter().position(|&own| own == at).expect("it is an address");
        ADDRESSES.get(number).copied()
    }

    /// The register that holds an argument which is an address, by now.
    pub(super) fn address_in(&mut self, at: usize) -> Gpr {
        self.register_of(at).unwrap_or_else(|| {
            self.a.load(RAX, Memory::At(RDI, 8 * at as i32));
            RAX
        })
    }

    /// The elements of the block behind an argument that is an address.
    pub(super) fn elements_of(&mut self, at: usize, dtype: Dtype, turn: Turn) -> Memory {
        let base = self.address_in(at);
        let distance = turn.block * self.elements() * dtype.size();
        Memory::Indexed(base, RCX, dtype.size(), distance as i32)
    }

    fn act(&mut self, effect: Effect<Id>, turn: Turn) -> Option<()> {
        match effect {
            Effect::Keep { at, dtype, value } | Effect::Write { at, dtype, value } => {
                let scratch = Zmm(*self.vectors.last()?);
                let to = self.elements_of(at, dtype, turn);
                if dtype == Dtype::Bool {
                    let from = self.mask(value)?;
                    self.of_size(1).store_bools(to, from, scratch, turn.mask);
                    return Some(());
                }
                let (to, from) = (Operand::Vector(to), self.register(value, scratch)?);
                if let Some(held) = self.gathered_into(at, turn) {
                    self.of_registers().copy(held, from, ALL);
                    return Some(());
                }
                self.of(value).store(to, from, turn.mask);
            }
            Effect::Next { state, value } => self.step_to(state, value, turn)?,
            Effect::Leave { value } => {
                let holds = self.mask(value)?;
                self.a.masks(AND_NOT, turn.mask, holds, turn.mask);
            }
            Effect::Flag { of, value } => self.flag(of, value, turn)?,
            Effect::Fold { of, value } => {
                let scratch = Zmm(*self.vectors.last()?);
                let from = self.register(value, scratch)?;
                let Some(set) = turn.set else {
                    // Memory written under a mask is slow to read again, so all elements are written.
                    let whole = Zmm(*self.vectors.iter().rev().find(|&&own| own != from.0)?);
                    let place = Operand::Vector(self.partials_address(of, 0));
                    self.of(value).load(whole, place, ALL);
                    self.of(value).copy(whole, from, turn.mask);
                    self.of(value).store(place, whole, ALL);
                    return Some(());
                };
                if let Some(place) = self.stacked_set(of) {
                    self.of(value).store(place, from, turn.mask);
                    return Some(());
                }
                let own = self.set_of(of, set);
                if own != from {
                    self.of(value).copy(own, from, turn.mask);
                }
            }
        }
        Some(())
    }

    /// The register of a set of partial results.
    fn set_of(&self, fold: usize, set: u32) -> Zmm {
        let sets = &self.partials[fold];
        sets[set as usize % sets.len()]
    }

    /// The register that a value is in; one that is read from memory is brought to `scratch`.
    pub(super) fn register(&mut self, id: Id, scratch: Zmm) -> Option<Zmm> {
        match self.places[id].or(self.same[id]) {
            Some(ValuePlace::Vector(own)) => Some(own),
            Some(ValuePlace::Mask(_)) => None,
            Some(ValuePlace::Slot(own)) => {
                let from = self.slot(own);
                self.of_registers().load(scratch, from, ALL);
                Some(scratch)
            }
            Some(ValuePlace::Set(of)) => {
                let from = self.stacked_set(of)?;
                self.of(id).load(scratch, from, ALL);
                Some(scratch)
            }
            None => {
                let memory = self.memory_of_same(id);
                self.of(id).broadcast(scratch, memory);
                Some(scratch)
            }
        }
    }

    /// Whether instructions take an element of memory for all of a register.
    fn broadcasts(&self, id: Id) -> bool {
        self.graph.sizes[id] >= 4 && self.graph.registers.have_masks()
    }

    pub(super) fn operand(&mut self, id: Id) -> Option<Operand> {
        match self.places[id].or(self.same[id]) {
            Some(ValuePlace::Vector(own)) => Some(Operand::Register(own)),
            Some(ValuePlace::Mask(_)) => None,
            Some(ValuePlace::Slot(own)) => Some(self.slot(own)),
            Some(ValuePlace::Set(of)) => self.stacked_set(of),
            None if self.broadcasts(id) => Some(Operand::Broadcast(self.memory_of_same(id))),
            None => match self.graph.nodes[id] {
                Node::Constant(bits) => {
                    Some(Operand::Vector(Memory::Table(self.a.table([bits; 8]))))
                }
                _ if self.graph.registers.have_masks() => None,
                _ => {
                    // The last one may hold another operand.
                    let own = Zmm(*self.vectors.iter().rev().nth(1)?);
                    let memory = self.memory_of_same(id);
                    self.of(id).broadcast(own, memory);
                    Some(Operand::Register(own))
                }
            },
        }
    }

    /// The register of a result: that of the partial results which it replaces, if nothing else needs them.
    fn result(&mut self, id: Id, at: usize, turn: Turn) -> Option<Zmm> {
        if let Some(set) = turn.set
            && turn.mask == ALL
            && self.set_index.is_none()
        {
            for effect in &self.graph.effects {
                let Effect::Fold { of, value } = *effect else { continue };
                let old = self
                    .graph
                    .nodes
                    .iter()
                    .position(|own| *own == Node::Given(Given::Partial { of }));
                if value == id && old.is_some_and(|old| self.schedule.ends(old, at)) {
                    return Some(self.set_of(of, set));
                }
            }
        }
        Some(Zmm(self.vectors.pop()?))
    }

    fn compute(&mut self, id: Id, at: usize, turn: Turn) -> Option<()> {
        let node = self.graph.nodes[id];
        if node.is_mask() {
            return self.compute_mask(id, node, at, turn);
        }
        if let Node::Given(Given::Partial { of }) = node {
            if turn.set.is_some() && self.set_index.is_some() {
                self.places[id] = Some(ValuePlace::Set(of));
                return Some(());
            }
            let own = if let Some(set) = turn.set {
                self.set_of(of, set)
            } else {
                let own = Zmm(self.vectors.pop()?);
                let from = Operand::Vector(self.partials_address(of, 0));
                self.of(id).load(own, from, ALL);
                own
            };
            self.places[id] = Some(ValuePlace::Vector(own));
            return Some(());
        }
        if let Node::Given(Given::LateLoad { at, .. }) = node
            && let Some(held) = self.gathered_into(at, turn)
        {
            self.places[id] = Some(ValuePlace::Vector(held));
            return Some(());
        }
        // A register that one operand is read into must not be that of another one.
        let scratch = Zmm(*self.vectors.last()?);
        let first = node.args().first().copied();
        let to = match node {
            Node::Given(
                given @ (Given::Load { at, dtype, .. } | Given::LateLoad { at, dtype }),
            ) => {
                let own = Zmm(self.vectors.pop()?);
                let from = self.elements_of(at, dtype, turn);
                self.of(id).load(own, Operand::Vector(from), turn.mask);
                let ahead = matches!(given, Given::Load { ahead: true, .. });
                // A line of the cache is asked for once.
                let begins = (turn.block * self.bytes()).is_multiple_of(BYTES);
                let whole = self.elements() * dtype.size() == self.bytes();
                if turn.asks_ahead && ahead && begins && whole {
                    self.a.prefetch(from.after(AHEAD));
                }
                own
            }
            Node::Given(Given::Chosen(chosen)) => {
                let own = Zmm(self.vectors.pop()?);
                self.collect(chosen, own, turn);
                own
            }
            Node::Given(Given::OfRow { at, .. }) => {
                let own = Zmm(self.vectors.pop()?);
                let from = Memory::At(self.register_of(at)?, 0);
                self.of(id).broadcast(own, from);
                own
            }
            Node::Sqrt(x) | Node::Round(_, x) | Node::Mantissa(x) | Node::Exponent(x) => {
                let from = self.operand(x)?;
                self.free_ended(at, None);
                let own = self.result(id, at, turn)?;
                match node {
                    Node::Round(how, _) => self.of(id).round(how, own, from),
                    Node::Mantissa(_) => self.of(id).mantissa(own, from),
                    Node::Exponent(_) => self.of(id).exponent(own, from),
                    _ => self.of(id).sqrt(own, from),
                }
                own
            }
            Node::Gather(behind, dtype, of) => {
                let by = self.register(of, scratch)?;
                let own = self.other_than(by)?;
                self.gather(id, (behind, dtype), own, by, turn)?;
                self.free_ended(at, None);
                own
            }
            Node::Fma(_) | Node::Edges(_) | Node::Entry { .. } => self.compute_over(id, at)?,
            Node::Convert(how, x) => {
                let (from, size) = (self.register(x, scratch)?, self.graph.sizes[x]);
                self.free_ended(at, None);
                let own = self.result(id, at, turn)?;
                self.of(id).convert(how, size, own, from);
                own
            }
            Node::Float(_, x, y) | Node::Integer(_, x, y) | Node::Shift(_, x, y) => {
                let (x, y) = (self.register(x, scratch)?, self.operand(y)?);
                self.free_ended(at, None);
                let own = self.result(id, at, turn)?;
                match node {
                    Node::Float(op, ..) => self.of(id).float(op, own, x, y),
                    Node::Integer(op, ..) => self.of(id).integer(op, own, x, y),
                    Node::Shift(op, ..) => self.of(id).shift(op, own, x, y),
                    _ => unreachable!("it is one of these"),
                }
                own
            }
            Node::Choose { mask, yes, no } => {
                let (mask, no) = (self.mask(mask)?, self.register(no, scratch)?);
                let yes = self.operand(yes)?;
                self.free_ended(at, None);
                let own = self.result(id, at, turn)?;
                self.of(id).choose(own, mask, yes, no);
                own
            }
            Node::Extreme { largest, args: [yes, no] } => {
                let (yes, no) = (self.register(yes, scratch)?, self.operand(no)?);
                if yes == scratch {
                    self.vectors.pop();
                }
                let nan = self.scratch_mask()?;
                self.free_ended(at, first);
                let own = self.result(id, at, turn)?;
                self.of(id).extreme_or_nan(largest, own, yes, no, nan);
                if yes == scratch {
                    self.vectors.push(yes.0);
                }
                self.free_ended(at, None);
                own
            }
            _ => return None,
        };
        self.places[id] = Some(ValuePlace::Vector(to));
        Some(())
    }
}
