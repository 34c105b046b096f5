//! The loop around a block: several blocks a turn while there are as many, then one after the other, the last one
//! under a mask.

use crate::dtype::Dtype;
use crate::vector::assembler::{
    ALL, AND_NOT, Assembler, Condition, Gpr, Mask, Memory, Operand, RAX, RBX, RCX, RDI, RDX, RSI,
    Zmm,
};
use crate::vector::instructions::Instructions;
use crate::vector::over::slot;
use crate::vector::schedule::{Schedule, Step, is_same, used_by};
use crate::vector::translate::{Action, Graph, Id, Node};
use crate::vector::{BYTES, Given, SETS, Steps};

/// The registers that hold addresses; those from the sixth on are kept for the caller.
const ADDRESSES: [Gpr; 11] =
    [RDX, Gpr(8), Gpr(9), Gpr(10), Gpr(11), RBX, Gpr(5), Gpr(12), Gpr(13), Gpr(14), Gpr(15)];
const FREE: usize = 5;

/// The mask of the elements that are left, and the masks for values.
pub(super) const LEFT: Mask = Mask(7);
const MASKS: [u8; 6] = [1, 2, 3, 4, 5, 6];
const REGISTERS: usize = 32;

/// The bytes from an element to the memory that is asked for when it is read: a page, as the processor itself looks no
/// further than the end of one.
const AHEAD: i32 = 4096;

/// Steps up to which a turn does four blocks, or two.
const FEW: usize = 12;
const SOME: usize = 40;
/// Steps up to which partial results stay in registers, for which a turn does as many blocks as there are sets.
const FOLDED: usize = 64;

/// The instructions of a function; `None` if it needs more registers than there are.
pub(super) fn write(graph: &Graph) -> Option<Vec<u8>> {
    let schedule = Schedule::of(graph);
    let steps = schedule.steps.len();
    let pressure = pressure(graph, &schedule)?;
    let held = SETS as usize * graph.folds.len();
    let blocks = match steps {
        _ if !graph.folds.is_empty() => {
            if steps <= FOLDED && pressure + held < REGISTERS {
                SETS
            } else {
                0
            }
        }
        n if n <= FEW => 4,
        n if n <= SOME => 2,
        _ => 1,
    };
    let partials = if blocks == 0 { 0 } else { held };
    let free = REGISTERS.saturating_sub(pressure + partials);
    let mut own = Function::new(graph, schedule);
    own.slots = (pressure > REGISTERS).then(Vec::new);
    own.whole(free, |own| {
        let singles = own.a.label();
        if blocks > 0 {
            own.turns(blocks, singles)?;
        }
        own.a.bind(singles);
        own.singles()
    })?;
    Some(own.a.finish())
}

/// The instructions of a function that folds a whole row; `None` if it needs more registers than there are.
pub(super) fn write_row(graph: &Graph) -> Option<Vec<u8>> {
    let schedule = Schedule::of(graph);
    let held = SETS as usize * graph.folds.len();
    let free = REGISTERS.checked_sub(pressure(graph, &schedule)? + held)?;
    if schedule.steps.len() > FOLDED {
        return None;
    }
    let mut own = Function::new(graph, schedule);
    own.whole(free, Function::fold_row)?;
    Some(own.a.finish())
}

/// The instructions of a function that lets elements go through a loop; `None` if it needs more registers than there are.
pub(super) fn write_steps(graph: &Graph, steps: Steps) -> Option<Vec<u8>> {
    let pressure = pressure(graph, &Schedule::of(graph))?;
    let of_block = steps.states + steps.constants;
    // Each register of elements takes a mask, too.
    [4, 2, 1].into_iter().find_map(|blocks| {
        let free = REGISTERS.checked_sub(pressure + blocks * of_block)?;
        let mut own = Function::new(graph, Schedule::of(graph));
        own.go_through_steps(steps, blocks, free)?;
        Some(own.a.finish())
    })
}

/// The arguments that are addresses of elements.
fn addresses(graph: &Graph) -> Vec<usize> {
    let loaded = graph.nodes.iter().filter_map(|node| match node {
        Node::Given(Given::Load { at, .. } | Given::LateLoad { at, .. }) => Some(*at),
        _ => None,
    });
    let written = graph.actions.iter().filter_map(|action| match action {
        Action::Keep { at, .. } | Action::Write { at, .. } => Some(*at),
        _ => None,
    });
    let mut all: Vec<usize> = loaded.chain(written).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// The most registers that the values of a block need at once, with two to spare; `None` if masks are too few.
fn pressure(graph: &Graph, schedule: &Schedule) -> Option<usize> {
    let (mut live, mut most, mut masks): (usize, usize, usize) = (0, 0, 0);
    let mut ended = vec![false; graph.nodes.len()];
    for (at, &step) in schedule.steps.iter().enumerate() {
        if let Step::Compute(id) = step {
            if graph.nodes[id].is_mask() {
                masks += 1;
            } else {
                live += 1;
            }
        }
        most = most.max(live);
        if masks >= MASKS.len() {
            return None;
        }
        for used in used_by(graph, step) {
            if schedule.ends(used, at) && !is_same(&graph.nodes[used]) && !ended[used] {
                ended[used] = true;
                if graph.nodes[used].is_mask() {
                    masks -= 1;
                } else {
                    live -= 1;
                }
            }
        }
    }
    Some(most + 2)
}

/// The place of a value of a block.
#[derive(Clone, Copy)]
pub(super) enum Place {
    Vector(Zmm),
    Mask(Mask),
    /// On the stack, in the slot of that number.
    Slot(usize),
}

/// The block of a turn that is being written.
#[derive(Clone, Copy)]
pub(super) struct Turn {
    /// Which one of the turn's blocks it is.
    pub(super) block: u32,
    pub(super) mask: Mask,
    /// Whether partial results are in registers.
    pub(super) holds_partials: bool,
}

pub(super) struct Function<'g> {
    pub(super) a: Assembler,
    pub(super) graph: &'g Graph,
    pub(super) schedule: Schedule,
    addresses: Vec<usize>,
    /// The registers of values that are the same in all blocks; others of these are read from memory.
    pub(super) same: Vec<Option<Place>>,
    pub(super) places: Vec<Option<Place>>,
    pub(super) vectors: Vec<u8>,
    pub(super) masks: Vec<u8>,
    /// The registers of each set of each fold.
    pub(super) partials: Vec<Vec<Zmm>>,
    /// The slots of the stack that hold no value, if some may, and the number of all.
    pub(super) slots: Option<Vec<usize>>,
    pub(super) slot_count: usize,
    /// The registers of the states of a loop, in the block that is being written.
    pub(super) states: Vec<Zmm>,
}

impl<'g> Function<'g> {
    fn new(graph: &'g Graph, schedule: Schedule) -> Function<'g> {
        Function {
            a: Assembler::default(),
            graph,
            schedule,
            addresses: addresses(graph),
            same: vec![None; graph.nodes.len()],
            places: vec![None; graph.nodes.len()],
            vectors: (0..REGISTERS as u8).rev().collect(),
            masks: MASKS.iter().rev().copied().collect(),
            partials: Vec::new(),
            slots: None,
            slot_count: 0,
            states: Vec::new(),
        }
    }
}

impl Function<'_> {
    pub(super) fn elements(&self) -> u32 {
        BYTES / self.graph.size
    }

    pub(super) fn instructions(&mut self) -> Instructions<'_> {
        Instructions { size: self.graph.size, a: &mut self.a }
    }

    /// All of it, around the loops; `free` registers hold what is the same in all blocks.
    fn whole(&mut self, free: usize, loops: impl FnOnce(&mut Self) -> Option<()>) -> Option<()> {
        let kept = ADDRESSES.len().min(self.addresses.len()).saturating_sub(FREE);
        for &own in &ADDRESSES[FREE..FREE + kept] {
            self.a.push(own);
        }
        for (at, &own) in self.addresses.iter().zip(&ADDRESSES) {
            self.a.load(own, Memory::At(RDI, 8 * *at as i32));
        }
        let frame = self.slots.is_some().then(|| self.a.enter_frame());
        self.a.clear(RCX);
        self.enter_same(free)?;
        loops(self)?;
        self.a.clean();
        if let Some(frame) = frame {
            self.a.leave_frame(frame, self.slot_count as i32 * BYTES as i32);
        }
        for &own in ADDRESSES[FREE..FREE + kept].iter().rev() {
            self.a.pop(own);
        }
        self.a.ret();
        Some(())
    }

    /// Brings what is the same in all blocks to registers, as far as there are any.
    fn enter_same(&mut self, free: usize) -> Option<()> {
        let mut left = free;
        for id in self.schedule.same.clone() {
            let place = if self.graph.nodes[id].is_mask() {
                let Node::Given(Given::Uniform { at, .. }) = self.graph.nodes[id] else {
                    return None;
                };
                let own = Mask(self.masks.pop()?);
                self.a.load_mask(own, Memory::At(RDI, 8 * at as i32));
                Place::Mask(own)
            } else if left > 0 {
                left -= 1;
                let own = Zmm(self.vectors.pop()?);
                let memory = self.memory_of_same(id);
                self.instructions().broadcast(own, memory);
                Place::Vector(own)
            } else {
                continue;
            };
            self.same[id] = Some(place);
        }
        Some(())
    }

    pub(super) fn memory_of_same(&mut self, id: Id) -> Memory {
        match self.graph.nodes[id] {
            Node::Constant(bits) => Memory::Constant(self.a.constant(bits)),
            Node::Given(Given::Uniform { at, .. }) => Memory::At(RDI, 8 * at as i32),
            _ => unreachable!("only these are the same in all blocks"),
        }
    }

    // ------------------------------------------------------------ loops

    fn turns(&mut self, blocks: u32, singles: crate::vector::assembler::Label) -> Option<()> {
        let step = (blocks * self.elements()) as i32;
        let (top, after) = (self.a.label(), self.a.label());
        self.a.compare(RSI, step);
        self.a.jump_if(Condition::Less, singles);
        for fold in 0..self.graph.folds.len() {
            let mut sets = Vec::new();
            for set in 0..SETS {
                let own = Zmm(self.vectors.pop()?);
                let from = self.partials_address(fold, set);
                self.instructions().load(own, Operand::Vector(from), ALL);
                sets.push(own);
            }
            self.partials.push(sets);
        }
        self.a.subtract(RSI, step);
        self.a.align();
        self.a.bind(top);
        for block in 0..blocks {
            let holds_partials = !self.graph.folds.is_empty();
            self.block(Turn { block, mask: ALL, holds_partials })?;
        }
        self.a.add(RCX, step);
        self.a.subtract(RSI, step);
        self.a.jump_if(Condition::NotLess, top);
        self.a.bind(after);
        self.a.add(RSI, step);
        for (fold, sets) in std::mem::take(&mut self.partials).into_iter().enumerate() {
            for (set, own) in sets.into_iter().enumerate() {
                let to = self.partials_address(fold, set as u32);
                self.instructions().store(Operand::Vector(to), own, ALL);
                self.vectors.push(own.0);
            }
        }
        Some(())
    }

    fn singles(&mut self) -> Option<()> {
        let elements = self.elements();
        let (top, end) = (self.a.label(), self.a.label());
        self.a.compare(RSI, 0);
        self.a.jump_if(Condition::NotGreater, end);
        self.a.bind(top);
        self.a.low_bits(elements);
        self.a.mask_of_rax(LEFT);
        self.block(Turn { block: 0, mask: LEFT, holds_partials: false })?;
        for fold in 0..self.graph.folds.len() {
            let turn = Memory::At(RDI, 8 * self.graph.folds[fold].turn as i32);
            self.a.load(RAX, turn);
            self.a.add(RAX, BYTES as i32);
            self.a.and(RAX, (SETS * BYTES - 1) as i32);
            self.a.store(turn, RAX);
        }
        self.a.add(RCX, elements as i32);
        self.a.subtract(RSI, elements as i32);
        self.a.jump_if(Condition::Greater, top);
        self.a.bind(end);
        Some(())
    }

    // ------------------------------------------------------------ one block

    pub(super) fn block(&mut self, turn: Turn) -> Option<()> {
        for at in 0..self.schedule.steps.len() {
            self.make_room(at);
            match self.schedule.steps[at] {
                Step::Compute(id) => self.compute(id, at, turn)?,
                Step::Act(action) => {
                    self.act(self.graph.actions[action], turn)?;
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
                Some(Place::Vector(own)) if !self.is_partial(own) => self.vectors.push(own.0),
                Some(Place::Mask(own)) => self.masks.push(own.0),
                Some(Place::Slot(own)) => self.slots.get_or_insert_default().push(own),
                _ => {}
            }
        }
    }

    pub(super) fn is_partial(&self, own: Zmm) -> bool {
        self.partials.iter().flatten().any(|&held| held == own)
    }

    /// The elements of the block behind an argument that is an address.
    fn elements_of(&mut self, at: usize, dtype: Dtype, turn: Turn) -> Memory {
        let number = self.addresses.iter().position(|&own| own == at).expect("it is an address");
        let base = match ADDRESSES.get(number) {
            Some(&own) => own,
            None => {
                self.a.load(RAX, Memory::At(RDI, 8 * at as i32));
                RAX
            }
        };
        let distance = turn.block * self.elements() * dtype.size();
        Memory::Indexed(base, RCX, dtype.size(), distance as i32)
    }

    fn act(&mut self, action: Action, turn: Turn) -> Option<()> {
        match action {
            Action::Keep { at, dtype, node } | Action::Write { at, dtype, node } => {
                if dtype == Dtype::Bool {
                    let (from, scratch) = (self.mask(node)?, Zmm(*self.vectors.last()?));
                    let to = Operand::Vector(self.elements_of(at, dtype, turn));
                    self.instructions().store_bools(to, from, scratch, turn.mask);
                    return Some(());
                }
                let scratch = Zmm(*self.vectors.last()?);
                let from = self.register(node, scratch)?;
                let to = Operand::Vector(self.elements_of(at, dtype, turn));
                self.instructions().store(to, from, turn.mask);
            }
            Action::Next { state, node } => self.step_to(state, node, turn)?,
            Action::Leave { node } => {
                let holds = self.mask(node)?;
                self.a.masks(AND_NOT, turn.mask, holds, turn.mask);
            }
            Action::Fold { of, node } => {
                let scratch = Zmm(*self.vectors.last()?);
                let from = self.register(node, scratch)?;
                if !turn.holds_partials {
                    // What is stored under a mask is slow to be read again, so the others are stored, too.
                    let whole = Zmm(*self.vectors.iter().rev().find(|&&own| own != from.0)?);
                    let place = Operand::Vector(self.partials_address(of, 0));
                    self.instructions().load(whole, place, ALL);
                    self.instructions().copy(whole, from, turn.mask);
                    self.instructions().store(place, whole, ALL);
                    return Some(());
                }
                let own = self.partials[of][turn.block as usize];
                if own != from {
                    self.instructions().copy(own, from, turn.mask);
                }
            }
        }
        Some(())
    }

    /// The register that a value is in; one that is read from memory is brought to `scratch`.
    pub(super) fn register(&mut self, id: Id, scratch: Zmm) -> Option<Zmm> {
        match self.places[id].or(self.same[id]) {
            Some(Place::Vector(own)) => Some(own),
            Some(Place::Mask(_)) => None,
            Some(Place::Slot(own)) => {
                self.instructions().load(scratch, slot(own), ALL);
                Some(scratch)
            }
            None => {
                let memory = self.memory_of_same(id);
                self.instructions().broadcast(scratch, memory);
                Some(scratch)
            }
        }
    }

    pub(super) fn operand(&mut self, id: Id) -> Option<Operand> {
        match self.places[id].or(self.same[id]) {
            Some(Place::Vector(own)) => Some(Operand::Register(own)),
            Some(Place::Mask(_)) => None,
            Some(Place::Slot(own)) => Some(slot(own)),
            None => Some(Operand::Broadcast(self.memory_of_same(id))),
        }
    }

    pub(super) fn mask(&self, id: Id) -> Option<Mask> {
        match self.places[id].or(self.same[id]) {
            Some(Place::Mask(own)) => Some(own),
            _ => None,
        }
    }

    /// The register of a result: where it becomes partial results that nothing needs any more, theirs.
    fn result(&mut self, id: Id, at: usize, turn: Turn) -> Option<Zmm> {
        if turn.holds_partials && turn.mask == ALL {
            for action in &self.graph.actions {
                let Action::Fold { of, node } = *action else { continue };
                let old = self
                    .graph
                    .nodes
                    .iter()
                    .position(|own| *own == Node::Given(Given::Partial { of }));
                if node == id && old.is_some_and(|old| self.schedule.ends(old, at)) {
                    return Some(self.partials[of][turn.block as usize]);
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
            let own = if turn.holds_partials {
                self.partials[of][turn.block as usize]
            } else {
                let own = Zmm(self.vectors.pop()?);
                let from = Operand::Vector(self.partials_address(of, 0));
                self.instructions().load(own, from, ALL);
                own
            };
            self.places[id] = Some(Place::Vector(own));
            return Some(());
        }
        // What an operand is brought to must not be what another one is in.
        let scratch = Zmm(*self.vectors.last()?);
        let first = node.args().first().copied();
        let to = match node {
            Node::Given(
                given @ (Given::Load { at, dtype, .. } | Given::LateLoad { at, dtype }),
            ) => {
                let own = Zmm(self.vectors.pop()?);
                let from = self.elements_of(at, dtype, turn);
                self.instructions().load(own, Operand::Vector(from), turn.mask);
                if turn.mask == ALL && matches!(given, Given::Load { ahead: true, .. }) {
                    self.a.prefetch(from.after(AHEAD));
                }
                own
            }
            Node::Sqrt(x) | Node::Round(_, x) | Node::Mantissa(x) | Node::Exponent(x) => {
                let from = self.operand(x)?;
                self.free_ended(at, None);
                let own = self.result(id, at, turn)?;
                match node {
                    Node::Round(how, _) => self.instructions().round(how, own, from),
                    Node::Mantissa(_) => self.instructions().mantissa(own, from),
                    Node::Exponent(_) => self.instructions().exponent(own, from),
                    _ => self.instructions().sqrt(own, from),
                }
                own
            }
            Node::Fma(_) | Node::Edges(_) | Node::Entry { .. } => self.compute_over(node, at)?,
            Node::Float(_, x, y) | Node::Integer(_, x, y) => {
                let (x, y) = (self.register(x, scratch)?, self.operand(y)?);
                self.free_ended(at, None);
                let own = self.result(id, at, turn)?;
                match node {
                    Node::Float(op, ..) => self.instructions().float(op, own, x, y),
                    Node::Integer(op, ..) => self.instructions().integer(op, own, x, y),
                    _ => unreachable!("it is one of the two"),
                }
                own
            }
            Node::Choose { mask, yes, no } => {
                let (mask, no) = (self.mask(mask)?, self.register(no, scratch)?);
                let yes = self.operand(yes)?;
                self.free_ended(at, None);
                let own = self.result(id, at, turn)?;
                self.instructions().choose(own, mask, yes, no);
                own
            }
            Node::Extreme { largest, args: [yes, no] } => {
                let (yes, no) = (self.register(yes, scratch)?, self.operand(no)?);
                if yes == scratch {
                    self.vectors.pop();
                }
                let nan = Mask(*self.masks.last()?);
                self.free_ended(at, first);
                let own = self.result(id, at, turn)?;
                self.instructions().compare_floats(3, nan, yes, Operand::Register(yes));
                self.instructions().extreme(largest, own, yes, no);
                self.instructions().copy(own, yes, nan);
                if yes == scratch {
                    self.vectors.push(yes.0);
                }
                self.free_ended(at, None);
                own
            }
            _ => return None,
        };
        self.places[id] = Some(Place::Vector(to));
        Some(())
    }

    fn compute_mask(&mut self, id: Id, node: Node, at: usize, turn: Turn) -> Option<()> {
        let scratch = Zmm(*self.vectors.last()?);
        let to = match node {
            Node::Given(Given::Load { at, dtype, .. } | Given::LateLoad { at, dtype }) => {
                let own = Mask(self.masks.pop()?);
                let from = Operand::Vector(self.elements_of(at, dtype, turn));
                self.instructions().load_bools(own, scratch, from, turn.mask);
                own
            }
            Node::CompareFloats(_, x, y) | Node::CompareIntegers { args: [x, y], .. } => {
                let (x, y) = (self.register(x, scratch)?, self.operand(y)?);
                self.free_ended(at, None);
                let own = Mask(self.masks.pop()?);
                match node {
                    Node::CompareFloats(how, ..) => {
                        self.instructions().compare_floats(how, own, x, y);
                    }
                    Node::CompareIntegers { signed, predicate, .. } => {
                        self.instructions().compare_integers((signed, predicate), own, x, y);
                    }
                    _ => unreachable!("it is one of the two"),
                }
                own
            }
            Node::Masks(op, x, y) => {
                let (x, y) = (self.mask(x)?, self.mask(y)?);
                self.free_ended(at, None);
                let own = Mask(self.masks.pop()?);
                self.instructions().masks(op, own, x, y);
                own
            }
            Node::NotMask(x) => {
                let x = self.mask(x)?;
                self.free_ended(at, None);
                let own = Mask(self.masks.pop()?);
                self.a.not_mask(own, x);
                own
            }
            _ => return None,
        };
        self.places[id] = Some(Place::Mask(to));
        Some(())
    }
}
