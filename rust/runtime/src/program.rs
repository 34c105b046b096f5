//! A compiled program: a flat list of instructions over slots.

pub(crate) mod array_type;
pub(crate) mod builder;
pub(crate) mod codec;
pub(crate) mod foreign;
pub(crate) mod heat;
pub(crate) mod instr;
pub(crate) mod listing;
pub(crate) mod liveness;
pub(crate) mod nested;
pub(crate) mod operands;
pub(crate) mod scan_kernel;
pub(crate) mod size;

use std::any::Any;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use once_cell::race::OnceBox;

use crate::arrays::array::ArrayRef;
use crate::ids::{Nested, Origin, Size, Slot};
use crate::program::array_type::ArrayType;
use crate::program::builder::{Constant, Input, SizeInfo, SlotInfo};
use crate::program::heat::Heat;
use crate::program::instr::{Instr, InstrKind, Library};
use crate::program::listing::list;
use crate::program::liveness::Liveness;
use crate::program::nested::Part;
use crate::program::operands::Overwrite;
use crate::program::size::SizeExpr;

/// An immutable program. Any number of threads may run it at once.
pub struct Program {
    pub(crate) slots: Box<[SlotInfo]>,
    pub(crate) inputs: Box<[Input]>,
    pub(crate) constants: Box<[Constant]>,
    pub(crate) sizes: Box<[SizeExpr]>,
    pub(crate) instrs: Box<[Instr]>,
    /// The programs that instructions run.
    pub(crate) parts: Box<[Part]>,
    /// The depth of nested programs, this one included.
    pub(crate) depth: usize,
    /// The calls of foreign functions, those in nested programs included.
    calls: usize,
    /// The sizes to evaluate before instruction 0, 1, ... and after the last: when shapes are
    /// bound.
    pub(crate) bound_sizes: Box<[Box<[Size]>]>,
    /// The same for those that are evaluated in every run.
    pub(crate) run_sizes: Box<[Box<[Size]>]>,
    /// By size: whether it is evaluated in every run.
    pub(crate) late: Box<[bool]>,
    pub(crate) liveness: Liveness,
    pub(crate) outputs: Box<[Slot]>,
    pub(crate) bases: Bases,
    /// Whether runs look for faults.
    pub(crate) watched: bool,
    /// The positions of the inputs that runs may write to.
    donated: Box<[usize]>,
    /// Whether a run does more than its bound steps.
    pub(crate) dynamic: bool,
    /// Whether a run does its bound steps one after the other, and nothing in between.
    pub(crate) plain: bool,
    /// Whether the shapes of the inputs tell how much a run does, but for loops within kernels.
    pub(crate) steady: bool,
    /// The instructions of other programs that were made to run this one.
    pub(crate) users: AtomicUsize,
    pub(crate) kept: Kept,
    pub(crate) heat: Heat,
}

/// The things that the runs of a program keep for later runs. The program does not know their types.
#[derive(Default)]
pub(crate) struct Kept(OnceBox<Box<dyn Any + Send + Sync>>);

impl Kept {
    /// The kept values, none at first. They are always of one type.
    #[inline]
    pub(crate) fn get<T: Default + Send + Sync + 'static>(&self) -> &T {
        let kept = self.0.get_or_init(|| Box::new(Box::<T>::default()));
        kept.downcast_ref().expect("all runs keep things of one type")
    }
}

/// The numbering of memory: inputs, constants, the arena, outputs, then slots that have their own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bases {
    pub(crate) constants: usize,
    pub(crate) arena: usize,
    pub(crate) slots: usize,
}

impl Bases {
    fn new(inputs: usize, constants: usize, outputs: usize) -> Bases {
        let arena = inputs + constants;
        Bases { constants: inputs, arena, slots: arena + 1 + outputs }
    }

    /// The first output.
    pub(crate) fn outputs(&self) -> usize {
        self.arena + 1
    }
}

/// The sizes that are known after so many instructions: all sizes of a run, or those that shapes tell.
fn sizes_by_instr(infos: &[SizeInfo], dynamic: bool, instrs: usize) -> Box<[Box<[Size]>]> {
    let mut schedule = vec![Vec::new(); instrs + 1];
    for (at, info) in infos.iter().enumerate().filter(|(_, info)| info.dynamic == dynamic) {
        schedule[info.ready].push(Size::from_index(at));
    }
    schedule.into_iter().map(Vec::into_boxed_slice).collect()
}

/// The parts of a program.
pub(crate) struct Contents {
    pub(crate) slots: Vec<SlotInfo>,
    pub(crate) inputs: Vec<Input>,
    pub(crate) constants: Vec<Constant>,
    pub(crate) sizes: Box<[SizeExpr]>,
    pub(crate) size_infos: Vec<SizeInfo>,
    pub(crate) instrs: Vec<Instr>,
    pub(crate) parts: Vec<Part>,
    pub(crate) watched: bool,
}

impl Program {
    pub(crate) fn new(contents: Contents, outputs: &[Slot]) -> Program {
        let Contents { slots, inputs, constants, sizes, size_infos, instrs, parts, watched } =
            contents;
        let own = instrs.iter().filter(|instr| matches!(instr.kind, InstrKind::Call(_)));
        let calls = own.count() + parts.iter().map(|part| part.program.calls).sum::<usize>();
        let bound_sizes = sizes_by_instr(&size_infos, false, instrs.len());
        let run_sizes = sizes_by_instr(&size_infos, true, instrs.len());
        let late = size_infos.iter().map(|info| info.dynamic).collect();
        let dynamic =
            instrs.iter().any(|instr| instr.dynamic) || slots.iter().any(|slot| slot.dynamic);
        let varying = |instr: &Instr| {
            matches!(
                instr.kind,
                InstrKind::ScanKernel(_) | InstrKind::Call(_) | InstrKind::Inner(_)
            )
        };
        let steady = !dynamic && !instrs.iter().any(varying);
        let nested = instrs.iter().any(|instr| matches!(instr.kind, InstrKind::Inner(_)));
        let sized = run_sizes[1..].iter().any(|sizes| !sizes.is_empty());
        let plain = !dynamic && !watched && !nested && !sized;
        let bases = Bases::new(inputs.len(), constants.len(), outputs.len());
        Program {
            liveness: Liveness::new(&slots, &inputs, &instrs, &parts, outputs, watched),
            calls,
            depth: 1 + parts.iter().map(|part| part.program.depth).max().unwrap_or(0),
            donated: (0..inputs.len()).filter(|&at| inputs[at].donated).collect(),
            watched,
            slots: slots.into(),
            inputs: inputs.into(),
            constants: constants.into(),
            sizes,
            instrs: instrs.into(),
            parts: parts.into(),
            bound_sizes,
            run_sizes,
            late,
            outputs: outputs.into(),
            bases,
            dynamic,
            plain,
            steady,
            users: AtomicUsize::new(0),
            kept: Kept::default(),
            heat: Heat::default(),
        }
    }

    /// The program whose runs look for faults.
    pub(crate) fn watched(mut self) -> Program {
        self.watched = true;
        self.plain = false;
        // The caller's memory for an output has no guard zones, so nothing is made there.
        self.liveness.in_output.fill(None);
        self
    }

    /// Lets [`Program::is_due`] tell when runs have taken so much time, from now on.
    pub fn await_time(&self, time: Duration) {
        self.heat.await_time(time);
    }

    /// Whether runs have taken the time that a caller waits for; true once.
    #[inline]
    pub fn is_due(&self) -> bool {
        self.heat.take_due()
    }

    /// The types of the inputs.
    pub fn inputs(&self) -> impl ExactSizeIterator<Item = &ArrayType> {
        self.inputs.iter().map(|input| &input.ty)
    }

    /// Whether inputs have the lengths that its types state.
    pub(crate) fn takes_lengths(&self, inputs: &[ArrayRef<'_>]) -> bool {
        self.inputs().zip(inputs).all(|(ty, input)| ty.admits(input.dims))
    }

    /// The positions of the inputs that a run may write to.
    pub fn donated(&self) -> &[usize] {
        &self.donated
    }

    /// The element type and rank of each output.
    pub fn outputs(&self) -> impl ExactSizeIterator<Item = (frazil_core::DType, usize)> + '_ {
        self.outputs.iter().map(|slot| {
            let info = self.slots[slot.index()];
            (info.dtype, info.ndim)
        })
    }

    /// The routines of [`crate::set_routine`] that a run calls.
    pub fn library(&self) -> Option<Library> {
        let own = self.instrs.iter().filter_map(|instr| instr.kind.library());
        own.chain(self.parts.iter().filter_map(|part| part.program.library())).max()
    }

    /// Whether a run draws random numbers.
    pub fn draws(&self) -> bool {
        let own = |instr: &Instr| matches!(instr.kind, InstrKind::Draw(_));
        self.instrs.iter().any(own) || self.parts.iter().any(|part| part.program.draws())
    }

    /// Whether a run sorts elements.
    pub fn sorts(&self) -> bool {
        let own = |instr: &Instr| matches!(instr.kind, InstrKind::Sort { .. });
        self.instrs.iter().any(own) || self.parts.iter().any(|part| part.program.sorts())
    }

    /// The number of calls of foreign functions in it and in the programs that it runs.
    pub fn call_count(&self) -> usize {
        self.calls
    }

    /// Text form: inputs, constants, sizes, instructions and outputs, one a line; then each program
    /// that instructions run, indented.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = self.definitions();
        lines.extend((0..self.instrs.len()).map(|at| self.line(at)));
        lines.push(self.results());
        lines.extend(self.nested_lines());
        lines
    }

    /// Text form of the inputs, constants and sizes, one a line.
    pub fn definitions(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for input in &self.inputs {
            let donated = if input.donated { " donated" } else { "" };
            lines.push(format!("{} = input {}{donated}", input.slot, input.ty));
        }
        for constant in &self.constants {
            let array = &constant.array;
            let dims = list(&array.layout.dims);
            lines.push(format!("{} = constant {}[{dims}]", constant.slot, array.dtype));
        }
        for (at, expr) in self.sizes.iter().enumerate() {
            lines.push(format!("{} = {expr}", Size::from_index(at)));
        }
        lines
    }

    /// Text form of the outputs.
    pub fn results(&self) -> String {
        format!("return {}", list(&self.outputs))
    }

    /// Text form of the programs that instructions run: the name of each, and its lines, indented.
    pub fn nested_lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for (at, part) in self.parts.iter().enumerate() {
            lines.push(format!("{}:", Nested::from_index(at)));
            lines.extend(part.program.lines().into_iter().map(|line| format!("    {line}")));
        }
        lines
    }

    /// Text form of an instruction.
    ///
    /// # Panics
    /// If there is no instruction of this number.
    pub fn line(&self, at: usize) -> String {
        let kind = &self.instrs[at].kind;
        let in_place = |write: &Overwrite| self.liveness.over[write.to.index()].is_some();
        let some = kind.overwrites().iter().any(in_place);
        format!("{kind}{}", if some { " in place" } else { "" })
    }

    /// The origin to blame for a fault of the instruction that makes an output.
    pub fn output_origin(&self, output: usize) -> Option<Origin> {
        let made_by = self.slots[self.outputs.get(output)?.index()].made_by?;
        self.instrs[made_by].origin
    }
}
