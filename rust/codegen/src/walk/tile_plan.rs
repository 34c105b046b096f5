//! The plan of a kernel that goes by tiles of rows: a function of columns for each pass before the last, a function of
//! rows for the last, and the values of rows that other passes need than those that make them.

use crate::dtype::Dtype;
use crate::kernel::{LoopKernel, Pass};
use crate::row_folds::Folding;
use crate::stages::{Call, OperandPlace, Stages};
use crate::vector::{COLUMNS, Given, Registers, Sheet, code, fold_columns, tile_code};
use crate::walk::Walk;
use crate::walk::turn::Region;
use crate::walk::vector_stage::{Argument, Elements};
use std::collections::{BTreeMap, BTreeSet};

/// The bytes of an element.
const SIZE: u32 = 8;

/// A part of a tile's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Room {
    /// A value for each row.
    Value(usize),
    /// Columns of a read, of a buffer, and of what is folded.
    Read(usize),
    Buffer(usize),
    Fold(usize),
    /// Columns of what waits for a function, or is the result of one.
    Waiting(OperandPlace),
    /// Rows of a buffer.
    Rows(usize),
}

impl Room {
    /// The memory to which an argument of a function of columns points.
    pub(super) fn of(argument: Argument) -> Room {
        match argument {
            Argument::Elements(Elements::Read(k), _) => Room::Read(k),
            Argument::Elements(Elements::Buffer(k), _) => Room::Buffer(k),
            Argument::Elements(Elements::Folded(k), _) => Room::Fold(k),
            Argument::Elements(Elements::Slot(place), _) => Room::of_place(place),
            Argument::Uniform(k) => Room::Value(k),
            _ => unreachable!("columns have no other arguments"),
        }
    }

    /// The memory of an operand of a function, or of its result.
    pub(super) fn of_place(place: OperandPlace) -> Room {
        match place {
            OperandPlace::Read(k) => Room::Read(k),
            OperandPlace::Buffer(k) => Room::Buffer(k),
            _ => Room::Waiting(place),
        }
    }

    /// Its bytes, where a column has so many.
    pub(super) fn bytes(self, column: i64) -> i64 {
        match self {
            Room::Value(_) => column,
            _ => column * i64::from(COLUMNS),
        }
    }
}

/// A pass by columns.
pub(super) struct ColumnPass {
    pub(super) stages: Vec<ColumnStage>,
    /// The values that are folds, and the function of each.
    pub(super) folds: Vec<(usize, Vec<u8>)>,
}

/// A stage of a pass by columns: its function, unless it does nothing, and the functions of elements that are called after
/// it.
pub(super) struct ColumnStage {
    pub(super) code: Option<Vec<u8>>,
    pub(super) arguments: Vec<Argument>,
    pub(super) calls: Vec<Call>,
}

/// The passes of a tile.
pub(super) struct TilePlan {
    pub(super) registers: Registers,
    pub(super) first: Vec<ColumnPass>,
    pub(super) last: Vec<u8>,
    pub(super) arguments: Vec<Argument>,
    /// The reads that are brought to columns, and the buffers that are brought to rows.
    pub(super) reads: BTreeSet<usize>,
    pub(super) loads: Vec<usize>,
    /// The writes into which rows are gathered.
    pub(super) gathered: Vec<usize>,
    kept: BTreeSet<usize>,
}

impl TilePlan {
    /// The rows of a tile.
    pub(super) fn rows(&self) -> i64 {
        i64::from(self.registers.side())
    }

    /// The bytes of a value for each row of a tile.
    pub(super) fn column(&self) -> i64 {
        i64::from(self.registers.bytes())
    }

    /// Where the parts of a tile's memory are.
    pub(super) fn room(&self) -> BTreeMap<Room, i64> {
        let stages = || self.first.iter().flat_map(|own| &own.stages);
        let arguments = stages().flat_map(|own| &own.arguments);
        let mut parts: BTreeSet<Room> = arguments.map(|&own| Room::of(own)).collect();
        for call in stages().flat_map(|own| &own.calls) {
            parts.insert(Room::Waiting(OperandPlace::Value(call.value)));
            parts.extend(call.from.iter().map(|&place| Room::of_place(place)));
        }
        parts.extend(self.kept.iter().map(|&k| Room::Value(k)));
        parts.extend(self.loads.iter().map(|&k| Room::Rows(k)));
        let (mut end, column) = (0, self.column());
        let mut place = |own: Room| {
            end += own.bytes(column);
            (own, end - own.bytes(column))
        };
        parts.into_iter().map(&mut place).collect()
    }
}

impl Walk<'_, '_, '_> {
    /// The passes of a tile, before any row has begun; `None` if there are no tiles.
    pub(super) fn tile_plan(&mut self, foldings: &[Vec<Folding>]) -> Option<TilePlan> {
        let kernel = self.k;
        let is_plain = kernel.sources.is_empty() && kernel.puts.is_empty();
        let (last, first) = kernel.passes.split_last()?;
        let folds = first.iter().any(|own| !own.folds.is_empty());
        let registers = self.e.vectors?;
        if !is_plain || !folds || kernel.lanes as u32 != BLOCK {
            return None;
        }
        let made = self.foreseen_tile(registers, first, last, foldings);
        self.uniform.fill(None);
        made
    }

    fn foreseen_tile(
        &mut self,
        registers: Registers,
        first: &[Pass],
        last: &Pass,
        foldings: &[Vec<Folding>],
    ) -> Option<TilePlan> {
        let kernel = self.k;
        // Any value does: it says that each row has one.
        let known = Some(self.n_inner);
        for (k, read) in kernel.reads.iter().enumerate() {
            self.uniform[k] = if read.inner { None } else { known };
        }
        let mut columns = Vec::new();
        for (at, pass) in first.iter().enumerate() {
            for &k in &pass.uniform {
                self.uniform[k] = known;
            }
            columns.push(self.column_pass(registers, pass, &foldings[at])?);
            for &k in &pass.folds {
                self.uniform[k] = known;
            }
        }
        for &k in &last.uniform {
            self.uniform[k] = known;
        }
        let (code, arguments) = self.last_pass(registers, last, foldings.last()?)?;
        let gathered = last.writes.iter().copied().filter(|&k| {
            let own = &kernel.writes[k];
            own.inner && own.reduce.is_some()
        });
        let reads = first.iter().flat_map(|own| own.reads.iter().copied());
        let kept = kept_values(kernel, &columns, &arguments);
        Some(TilePlan {
            registers,
            first: columns,
            last: code,
            reads: reads.collect(),
            loads: last.loads.clone(),
            gathered: gathered.collect(),
            kept,
            arguments,
        })
    }

    /// The stages of a pass whose elements all have the size, or are bools.
    fn stages_of_tile(&self, pass: &Pass, foldings: &[Folding]) -> Option<Stages> {
        let stages = Stages::of(self.k, pass, |k| self.may_be_inlined(k), |_| false);
        for stage in 0..=stages.last() {
            let region = self.whole_region(pass, &stages, stage);
            let has_loops = self.longest_loop(&region).is_some();
            let folded = if stage == stages.last() { foldings } else { &[] };
            let size = self.register_size(&region, folded)?;
            let tells = stages.computed[stage].iter().any(|&k| self.tells_a_status(k));
            if size != SIZE || has_loops || tells {
                return None;
            }
        }
        Some(stages)
    }

    /// A pass by columns. Where blocks hold the steps of functions, those that are called take longer than rows that go one
    /// by one.
    fn column_pass(
        &self,
        registers: Registers,
        pass: &Pass,
        foldings: &[Folding],
    ) -> Option<ColumnPass> {
        let is_bool = |&k: &usize| self.k.dtype(k) == Dtype::Bool;
        let walked = pass.reads.iter().chain(&pass.loads).chain(&pass.stores);
        if !pass.writes.is_empty() || walked.into_iter().any(is_bool) {
            return None;
        }
        let stages = self.stages_of_tile(pass, foldings)?;
        if stages.last() > 0 && registers.have_masks() {
            return None;
        }
        let mut folds = Vec::new();
        for &k in &pass.folds {
            let write = self.k.fold_as_write(k)?;
            folds.push((k, fold_columns(registers, write.reduce?, write.dtype)?));
        }
        let made = (0..=stages.last())
            .map(|stage| self.column_stage(registers, pass, &stages, stage, foldings))
            .collect::<Option<_>>()?;
        Some(ColumnPass { stages: made, folds })
    }

    fn column_stage(
        &self,
        registers: Registers,
        pass: &Pass,
        stages: &Stages,
        stage: usize,
        foldings: &[Folding],
    ) -> Option<ColumnStage> {
        let region = self.whole_region(pass, stages, stage);
        let calls = stages.calls[stage].clone();
        let folded = if stage == stages.last() { foldings } else { &[] };
        if !self.does_anything(&region, folded) {
            return Some(ColumnStage { code: None, arguments: Vec::new(), calls });
        }
        let mut sheet = Sheet::new(registers);
        let mut own = self.sketch(&mut sheet, &region);
        own.asks_ahead = false;
        for &k in &region.given {
            let moves = pass.reads.contains(&k) || pass.loads.contains(&k);
            own.values[k] = Some(if moves || self.uniform[k].is_none() {
                self.given_to(&mut own, &region, k)
            } else {
                let (at, dtype) = (own.argument(Argument::Uniform(k)), self.k.dtype(k));
                if dtype == Dtype::Bool {
                    return None;
                }
                own.block.give(Given::Lanes { at, dtype }, dtype)
            });
        }
        self.computed_in_stage(&mut own, stages, stage);
        if stage == stages.last() {
            for &k in &pass.stores {
                let value = own.value(k);
                own.keep(Elements::Buffer(k), self.k.dtype(k), value);
            }
            for &k in &pass.folds {
                let write = self.k.fold_as_write(k)?;
                let value = own.value(write.value);
                let value = own.block.e.convert(value, self.k.dtype(write.value), write.dtype);
                own.keep(Elements::Folded(k), write.dtype, value);
            }
        }
        own.block.arguments = own.arguments.len();
        Some(ColumnStage { code: Some(code(&own.block)?), arguments: own.arguments, calls })
    }

    fn last_pass(
        &self,
        registers: Registers,
        pass: &Pass,
        foldings: &[Folding],
    ) -> Option<(Vec<u8>, Vec<Argument>)> {
        if !pass.folds.is_empty() {
            return None;
        }
        let stages = self.stages_of_tile(pass, foldings)?;
        let region = self.whole_region(pass, &stages, 0);
        if stages.last() > 0 || !self.does_anything(&region, foldings) {
            return None;
        }
        let mut sheet = Sheet::new(registers);
        let mut own = self.sketch(&mut sheet, &region);
        for &k in &region.given {
            own.values[k] = Some(self.given_to(&mut own, &region, k));
        }
        self.computed_in_stage(&mut own, &stages, 0);
        self.ended_in(&mut own, &region, foldings);
        own.block.arguments = own.arguments.len();
        Some((tile_code(&own.block)?, own.arguments))
    }

    /// The elements of whole rows, in a stage of a pass.
    fn whole_region<'p>(&self, pass: &'p Pass, stages: &'p Stages, stage: usize) -> Region<'p> {
        static NOWHERE: BTreeMap<OperandPlace, cranelift_codegen::ir::StackSlot> = BTreeMap::new();
        let given = self.given(pass, stages, stage);
        Region { pass, stages, stage, slots: &NOWHERE, chunk: self.n_inner, given }
    }
}

/// The elements of a block.
const BLOCK: u32 = 8;

/// The values of rows that another pass needs than the one that makes them.
fn kept_values(kernel: &LoopKernel, columns: &[ColumnPass], last: &[Argument]) -> BTreeSet<usize> {
    // The pass before which each is made.
    let mut made: BTreeMap<usize, usize> = BTreeMap::new();
    let reads = kernel.reads.iter().enumerate().filter(|own| !own.1.inner);
    made.extend(reads.map(|own| (own.0, 0)));
    for (at, pass) in kernel.passes.iter().enumerate() {
        made.extend(pass.uniform.iter().map(|&k| (k, at)));
        made.extend(pass.folds.iter().map(|&k| (k, at + 1)));
    }
    let mut kept = BTreeSet::new();
    let mut use_in = |k: usize, at: Option<usize>| {
        if made.get(&k).is_some_and(|&own| Some(own) != at) {
            kept.insert(k);
        }
    };
    for (at, pass) in kernel.passes.iter().enumerate() {
        for &k in &pass.uniform {
            kernel.at(k).args.iter().for_each(|&a| use_in(a, Some(at)));
        }
        for &k in &pass.folds {
            use_in(kernel.at(k).args[0], Some(at + 1));
        }
    }
    let uniform = |own: &Argument| if let Argument::Uniform(k) = *own { Some(k) } else { None };
    let stages = columns.iter().flat_map(|own| &own.stages);
    for k in stages.flat_map(|own| &own.arguments).filter_map(uniform) {
        use_in(k, None);
    }
    let end = Some(columns.len());
    let written = kernel.writes.iter().filter(|own| !own.walks()).map(|own| own.value);
    for k in last.iter().filter_map(uniform).chain(written) {
        use_in(k, end);
    }
    kept
}
