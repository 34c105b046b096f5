//! The loop around a block: several blocks a turn while there are as many, then one after the other, the last one
//! under a mask. Of 512 bits all those go under masks, which cost nothing there.

use crate::vector::x86::assembler::{
    ALL, Assembler, Condition, Gpr, Label, Mask, Memory, Operand, RAX, RBX, RCX, RDI, RDX, RSI,
    RSP, Zmm,
};
use crate::vector::x86::instructions::Instructions;
use crate::vector::x86::schedule::{BlockStep, Schedule, is_same, used_by};
use crate::vector::x86::tile::{BLOCKS, gathered};
use crate::vector::x86::translate::{Graph, Id, Node};
use crate::vector::x86::walked::Walked;
use crate::vector::{Effect, Given, Registers, RowPlan, RowsCode, SETS, StageCode, Steps};

/// The registers that hold addresses; those from the sixth on are kept for the caller.
pub(super) const ADDRESSES: [Gpr; 11] =
    [RDX, Gpr(8), Gpr(9), Gpr(10), Gpr(11), RBX, Gpr(5), Gpr(12), Gpr(13), Gpr(14), Gpr(15)];
const FREE: usize = 5;

/// The masks for values, where masks are no vectors.
const MASKS: [u8; 6] = [1, 2, 3, 4, 5, 6];

impl Registers {
    /// The mask of the elements that are left.
    pub(super) fn left(self) -> Mask {
        Mask(if self.have_masks() { 7 } else { 15 })
    }

    /// Those that values may be in. Of 256 bits, the first is for instructions (`short_masks.rs`).
    fn of_values(self) -> std::ops::Range<u8> {
        if self.have_masks() { 0..32 } else { 1..15 }
    }

    fn count(self) -> usize {
        self.of_values().len()
    }
}

/// The length of rows in a function of rows, and the end of the last one's arguments.
pub(super) const ROW_LENGTH: Memory = Memory::At(RSP, 0);
pub(super) const ROWS_END: Memory = Memory::At(RSP, 8);

/// The bytes from an element to the memory that is asked for when it is read: a page, as the processor itself looks no
/// further than the end of one.
pub(super) const AHEAD: i32 = 4096;

/// Steps up to which a turn does four blocks, or two.
const FEW: usize = 12;
const SOME: usize = 40;
/// Steps up to which partial results stay in registers, for which a turn does as many blocks as there are sets.
const FOLDED: usize = 64;

/// The blocks that a turn of so many steps each does, if nothing is folded.
pub(super) fn blocks_of_turn(steps: usize) -> u32 {
    match steps {
        n if n <= FEW => 4,
        n if n <= SOME => 2,
        _ => 1,
    }
}

/// The instructions of a function; `None` if it needs more registers than there are.
pub(super) fn write(graph: &Graph) -> Option<StageCode> {
    let schedule = Schedule::of(graph);
    let steps = schedule.steps.len();
    let pressure = pressure(graph, &schedule)?;
    let sets: Vec<u32> = graph.folds.iter().map(|own| own.sets_of(graph.lanes)).collect();
    let held = sets.iter().sum::<u32>() as usize;
    let registers = graph.registers.count();
    let fits = steps <= FOLDED && pressure + held < registers;
    let blocks = match steps {
        _ if held > 0 => sets.iter().copied().max()?,
        _ => blocks_of_turn(steps),
    };
    let partials = if fits { held } else { 0 };
    let free = registers.saturating_sub(pressure + partials);
    let mut own = Function::new(graph, schedule);
    own.slots = (pressure > registers).then(Vec::new);
    if held > 0 && !fits {
        own.stack_sets(held);
    }
    let rest = if fits { own.rest_of_call() } else { None };
    own.whole(free, |own| {
        own.start_flags()?;
        let (singles, decided) = (own.a.label(), own.a.label());
        if own.set_index.is_some() {
            own.turns_of_one(singles, decided)?;
        } else if held == 0 || fits {
            own.turns(blocks, rest, (singles, decided))?;
        }
        own.a.bind(singles);
        let turns_are_longer = own.set_index.is_none() && (held == 0 || fits) && blocks > 1;
        if turns_are_longer && !graph.registers.have_masks() {
            own.whole_singles()?;
        }
        own.singles()?;
        own.a.bind(decided);
        own.end_flags(false);
        Some(())
    })?;
    Some(StageCode { code: own.a.finish(), carries: rest.is_some() })
}

/// The instructions of a function that takes whole rows; `None` if it needs more registers than there are.
pub(super) fn write_rows(graph: &Graph, plan: Option<&RowPlan>) -> Option<RowsCode> {
    let schedule = Schedule::of(graph);
    let sets: Vec<u32> = graph.folds.iter().map(|own| own.sets_of(graph.lanes)).collect();
    let (pressure, registers) = (pressure(graph, &schedule)?, graph.registers.count());
    let parts = graph.parts_of_block();
    let of_all = registers.checked_sub(sets.iter().sum::<u32>() as usize + pressure);
    let of_blocks = of_all.is_none() && parts > 1;
    let free = match of_all {
        None if of_blocks => {
            registers.checked_sub(graph.folds.len() * parts as usize + pressure)?
        }
        _ => of_all?,
    };
    let most = SETS * parts;
    if schedule.steps.len() > FOLDED || sets.iter().any(|&own| own > most) {
        return None;
    }
    let mut own = Function::new(graph, schedule);
    if let Some(plan) = plan {
        own.addresses.extend(plan.pointers());
        own.addresses.sort_unstable();
        own.addresses.dedup();
        if own.addresses.len() > ADDRESSES.len() {
            return None;
        }
        own.walk(plan);
    }
    own.go_through_rows(free, of_blocks)?;
    // The kernel may have more lanes, for narrower elements than those of the block.
    let most = of_blocks.then_some((parts * graph.lanes) as usize);
    Some(RowsCode { code: own.a.finish(), most })
}

/// The instructions of a function of a tile; `None` if it needs more registers than there are.
pub(super) fn write_tile(graph: &Graph) -> Option<Vec<u8>> {
    let schedule = Schedule::of(graph);
    let by_blocks = !graph.registers.have_masks();
    if schedule.steps.len() > FOLDED {
        return None;
    }
    let (sets, blocks) = if by_blocks { (0, 1) } else { (SETS as usize, BLOCKS as usize) };
    let held = sets * graph.folds.len() + blocks * gathered(graph).len();
    let free = graph.registers.count().checked_sub(pressure(graph, &schedule)? + held)?;
    let mut own = Function::new(graph, schedule);
    if by_blocks {
        own.go_through_blocks_of_tile(free)?;
    } else {
        own.go_through_tile(free)?;
    }
    Some(own.a.finish())
}

/// The instructions of a function that lets elements go through a loop; `None` if it needs more registers than there are.
pub(super) fn write_steps(graph: &Graph, steps: Steps) -> Option<Vec<u8>> {
    // Whether an element goes on stands in as many bits as a register has elements.
    if graph.lanes != steps.lanes {
        return None;
    }
    let pressure = pressure(graph, &Schedule::of(graph))?;
    let of_block = steps.states + steps.constants;
    // Each register of elements takes a mask, too.
    let masks = usize::from(!graph.registers.have_masks());
    [4, 2, 1].into_iter().find_map(|blocks| {
        let held = pressure + blocks * (of_block + masks);
        let free = graph.registers.count().checked_sub(held)?;
        let mut own = Function::new(graph, Schedule::of(graph));
        own.go_through_steps(steps, blocks, free)?;
        Some(own.a.finish())
    })
}

/// The arguments that are addresses of elements.
fn addresses(graph: &Graph) -> Vec<usize> {
    let loaded = graph.nodes.iter().flat_map(|node| match node {
        Node::Given(Given::Load { at, .. } | Given::LateLoad { at, .. }) | Node::Gather(at, ..) => {
            vec![*at]
        }
        Node::Given(Given::Chosen(own)) => vec![own.at, own.indices.0],
        _ => Vec::new(),
    });
    let written = graph.effects.iter().filter_map(|effect| match effect {
        Effect::Keep { at, .. } | Effect::Write { at, .. } => Some(*at),
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
    let have_masks = graph.registers.have_masks();
    let is_mask = |id: Id| have_masks && graph.nodes[id].is_mask();
    let mut ended = vec![false; graph.nodes.len()];
    for (at, &step) in schedule.steps.iter().enumerate() {
        if let BlockStep::Compute(id) = step {
            if is_mask(id) {
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
                if is_mask(used) {
                    masks -= 1;
                } else {
                    live -= 1;
                }
            }
        }
    }
    // The values of these are in registers all the time.
    let same = schedule.same.iter().filter(|&&id| graph.nodes[id].is_mask());
    let masks = if have_masks { 0 } else { same.count() + graph.flags.len() };
    Some(most + 2 + masks)
}

/// The place of a value of a block.
#[derive(Clone, Copy)]
pub(super) enum ValuePlace {
    Vector(Zmm),
    Mask(Mask),
    /// On the stack, in the slot of that number.
    Slot(usize),
    /// Partial results of a fold on the stack, of the set whose turn it is.
    Set(usize),
}

/// The block of a turn that is being written.
#[derive(Clone, Copy)]
pub(super) struct Turn {
    /// The number of the block within the turn.
    pub(super) block: u32,
    /// The set of partial results that it folds into; `None` where they are in memory.
    pub(super) set: Option<u32>,
    pub(super) mask: Mask,
    /// Whether memory is asked for that comes later.
    pub(super) asks_ahead: bool,
}

pub(super) struct Function<'g> {
    pub(super) a: Assembler,
    pub(super) graph: &'g Graph,
    pub(super) schedule: Schedule,
    pub(super) addresses: Vec<usize>,
    /// The registers of values that are the same in all blocks; others of these are read from memory.
    pub(super) same: Vec<Option<ValuePlace>>,
    pub(super) places: Vec<Option<ValuePlace>>,
    pub(super) vectors: Vec<u8>,
    pub(super) masks: Vec<u8>,
    /// The registers of each set of each fold.
    pub(super) partials: Vec<Vec<Zmm>>,
    /// The registers of each block of the row that an argument is, into which rows are gathered.
    pub(super) gathered: Vec<(usize, Vec<Zmm>)>,
    /// The slots of the stack that hold no value, if some may, and the number of all.
    pub(super) slots: Option<Vec<usize>>,
    pub(super) slot_count: usize,
    /// Given where partial results are on the stack: the register that has the bytes to the set whose turn it is.
    pub(super) set_index: Option<Gpr>,
    /// The registers of the states of a loop, in the block that is being written.
    pub(super) states: Vec<Zmm>,
    /// Given where the function finds its rows by itself.
    pub(super) walked: Option<Walked<'g>>,
    /// The masks that folds of bools have so far, which say whether an element decided them.
    pub(super) flags: Vec<Mask>,
}

impl<'g> Function<'g> {
    fn new(graph: &'g Graph, schedule: Schedule) -> Function<'g> {
        let have_masks = graph.registers.have_masks();
        Function {
            a: Assembler::new(graph.registers),
            graph,
            schedule,
            addresses: addresses(graph),
            same: vec![None; graph.nodes.len()],
            places: vec![None; graph.nodes.len()],
            vectors: graph.registers.of_values().rev().collect(),
            masks: if have_masks { MASKS.iter().rev().copied().collect() } else { Vec::new() },
            partials: Vec::new(),
            gathered: Vec::new(),
            slots: None,
            slot_count: 0,
            set_index: None,
            states: Vec::new(),
            walked: None,
            flags: Vec::new(),
        }
    }
}

impl Function<'_> {
    pub(super) fn elements(&self) -> u32 {
        self.graph.lanes
    }

    /// The bytes of a register.
    pub(super) fn bytes(&self) -> u32 {
        self.graph.registers.bytes()
    }

    /// The mask of the elements that are left.
    pub(super) fn left(&self) -> Mask {
        self.graph.registers.left()
    }

    /// A register for a mask, which [`Function::free_mask`] gives back.
    pub(super) fn take_mask(&mut self) -> Option<Mask> {
        let have_masks = self.graph.registers.have_masks();
        let own = if have_masks { &mut self.masks } else { &mut self.vectors };
        own.pop().map(Mask)
    }

    pub(super) fn free_mask(&mut self, own: Mask) {
        let have_masks = self.graph.registers.have_masks();
        if have_masks { &mut self.masks } else { &mut self.vectors }.push(own.0);
    }

    /// A mask that may be written over until one is taken, or a vector.
    pub(super) fn scratch_mask(&self) -> Option<Mask> {
        let have_masks = self.graph.registers.have_masks();
        if have_masks { &self.masks } else { &self.vectors }.last().copied().map(Mask)
    }

    /// Instructions for elements of so many bytes.
    pub(super) fn of_size(&mut self, size: u32) -> Instructions<'_> {
        Instructions { size, lanes: self.graph.lanes, a: &mut self.a }
    }

    /// Instructions for the elements of a node.
    pub(super) fn of(&mut self, id: Id) -> Instructions<'_> {
        self.of_size(self.graph.sizes[id])
    }

    /// Instructions that look into a table of a whole register.
    pub(super) fn of_table(&mut self, id: Id) -> Instructions<'_> {
        let size = self.graph.sizes[id];
        Instructions { size, lanes: self.bytes() / size, a: &mut self.a }
    }

    /// Instructions for whole registers.
    pub(super) fn of_registers(&mut self) -> Instructions<'_> {
        Instructions { size: 8, lanes: self.bytes() / 8, a: &mut self.a }
    }

    /// All of it, around the loops; `free` registers hold what is the same in all blocks.
    fn whole(&mut self, free: usize, loops: impl FnOnce(&mut Self) -> Option<()>) -> Option<()> {
        let kept = self.keep_registers();
        self.enter_row();
        let frame = self.slots.is_some().then(|| self.a.enter_frame());
        self.a.clear(RCX);
        self.enter_same(free)?;
        loops(self)?;
        self.a.clean();
        if let Some(frame) = frame {
            self.a.leave_frame(frame, self.slot_count as i32 * self.bytes() as i32);
        }
        self.leave_registers(kept);
        Some(())
    }

    /// Puts the registers to the stack that are kept for the caller; returns how many.
    fn keep_registers(&mut self) -> usize {
        let used = self.addresses.len() + usize::from(self.set_index.is_some());
        let kept = ADDRESSES.len().min(used).saturating_sub(FREE);
        for &own in &ADDRESSES[FREE..FREE + kept] {
            self.a.push(own);
        }
        kept
    }

    fn leave_registers(&mut self, kept: usize) {
        for &own in ADDRESSES[FREE..FREE + kept].iter().rev() {
            self.a.pop(own);
        }
        self.a.ret();
    }

    /// Begins a function of rows, whose length and whose last row's end are put to the stack.
    pub(super) fn enter_rows(&mut self) -> usize {
        let kept = self.keep_registers();
        self.a.push(RDX);
        self.a.push(RSI);
        kept
    }

    pub(super) fn leave_rows(&mut self, kept: usize, status: i32) {
        self.a.clean();
        self.a.clear(RAX);
        self.a.add(RAX, status);
        self.a.add(RSP, 16);
        self.leave_registers(kept);
    }

    /// Brings the arguments of a row to registers.
    pub(super) fn enter_row(&mut self) {
        for (at, &own) in self.addresses.iter().zip(&ADDRESSES) {
            self.a.load(own, Memory::At(RDI, 8 * *at as i32));
        }
        for id in 0..self.graph.nodes.len() {
            if let (Some(ValuePlace::Mask(own)), Node::Given(Given::Uniform { at, .. })) =
                (self.same[id], self.graph.nodes[id])
            {
                self.a.load_mask(own, Memory::At(RDI, 8 * at as i32));
            }
        }
    }

    /// Brings what is the same in all blocks to registers, as far as there are any.
    fn enter_same(&mut self, free: usize) -> Option<()> {
        let mut left = free;
        let mut all = self.schedule.same.clone();
        // Instructions do not read one element of a few bits for all.
        all.sort_by_key(|&id| self.graph.sizes[id] >= 4);
        for id in all {
            let place = if self.graph.nodes[id].is_mask() {
                let Node::Given(Given::Uniform { at, .. }) = self.graph.nodes[id] else {
                    return None;
                };
                let own = self.take_mask()?;
                self.a.load_mask(own, Memory::At(RDI, 8 * at as i32));
                ValuePlace::Mask(own)
            } else if let Node::Given(Given::Lanes { at, .. }) = self.graph.nodes[id] {
                left = left.checked_sub(1)?;
                let own = Zmm(self.vectors.pop()?);
                self.a.load(RAX, Memory::At(RDI, 8 * at as i32));
                self.of(id).load(own, Operand::Vector(Memory::At(RAX, 0)), ALL);
                ValuePlace::Vector(own)
            } else if left > 0 {
                left -= 1;
                let own = Zmm(self.vectors.pop()?);
                let memory = self.memory_of_same(id);
                self.of(id).broadcast(own, memory);
                ValuePlace::Vector(own)
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

    /// Turns of so many whole blocks; `rest` is where the elements that follow once partial sums are carried are counted.
    pub(super) fn turns(
        &mut self,
        blocks: u32,
        rest: Option<Memory>,
        (singles, decided): (Label, Label),
    ) -> Option<()> {
        let step = (blocks * self.elements()) as i32;
        self.a.compare(RSI, step);
        self.a.jump_if(Condition::Less, singles);
        for fold in 0..self.graph.folds.len() {
            let mut sets = Vec::new();
            let size = self.graph.folds[fold].dtype.size();
            for set in 0..self.graph.folds[fold].sets_of(self.graph.lanes) {
                let own = Zmm(self.vectors.pop()?);
                let from = self.partials_address(fold, set);
                self.of_size(size).load(own, Operand::Vector(from), ALL);
                sets.push(own);
            }
            self.partials.push(sets);
        }
        self.a.subtract(RSI, step);
        let again = self.a.label();
        self.a.bind(again);
        self.whole_turns(blocks, decided)?;
        self.a.add(RSI, step);
        if let Some(rest) = rest {
            self.carry(rest, step, again)?;
        }
        for (fold, sets) in std::mem::take(&mut self.partials).into_iter().enumerate() {
            let size = self.graph.folds[fold].dtype.size();
            for (set, own) in sets.into_iter().enumerate() {
                let to = self.partials_address(fold, set as u32);
                self.of_size(size).store(Operand::Vector(to), own, ALL);
                self.vectors.push(own.0);
            }
        }
        Some(())
    }

    /// Turns of so many whole blocks, until `rsi`, the number of elements after the turn, is negative.
    pub(super) fn whole_turns(&mut self, blocks: u32, decided: Label) -> Option<()> {
        let step = (blocks * self.elements()) as i32;
        let top = self.a.label();
        self.a.align();
        self.a.bind(top);
        for block in 0..blocks {
            self.block(Turn { block, set: Some(block), mask: ALL, asks_ahead: true })?;
        }
        self.leave_if_decided(decided);
        self.a.add(RCX, step);
        self.a.subtract(RSI, step);
        self.a.jump_if(Condition::NotLess, top);
        Some(())
    }

    /// Whole blocks, one after the other, where a mask takes time: what was written under one of 256 bits is slow to read
    /// again.
    pub(super) fn whole_singles(&mut self) -> Option<()> {
        let elements = self.elements();
        let (top, rest) = (self.a.label(), self.a.label());
        self.a.compare(RSI, elements as i32);
        self.a.jump_if(Condition::Less, rest);
        self.a.bind(top);
        self.single(ALL)?;
        self.a.compare(RSI, elements as i32);
        self.a.jump_if(Condition::NotLess, top);
        self.a.bind(rest);
        Some(())
    }

    /// Blocks one after the other, each under a mask.
    pub(super) fn singles(&mut self) -> Option<()> {
        let elements = self.elements();
        let (top, end) = (self.a.label(), self.a.label());
        self.a.compare(RSI, 0);
        self.a.jump_if(Condition::NotGreater, end);
        self.a.bind(top);
        let mask = self.left();
        self.a.left(mask, elements);
        self.single(mask)?;
        self.a.jump_if(Condition::Greater, top);
        self.a.bind(end);
        Some(())
    }

    /// One block. What it does last is to count the elements that are left, on which a jump may depend.
    fn single(&mut self, mask: Mask) -> Option<()> {
        let elements = self.elements() as i32;
        self.block(Turn { block: 0, set: None, mask, asks_ahead: false })?;
        for fold in 0..self.graph.folds.len() {
            self.next_set(fold);
        }
        self.a.add(RCX, elements);
        self.a.subtract(RSI, elements);
        Some(())
    }
}
