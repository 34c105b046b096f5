//! The partial results of folds over rows. They stand in sets, which blocks of elements use in turn. So a sum has the
//! same bits as with every other linker.

use crate::dtype::Dtype;
use crate::emit::{Emitter, REGISTER, suffix};
use crate::kernel::Write;
use crate::op::Reduction;
use crate::registers::SETS;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{FuncRef, InstBuilder, StackSlot, Value};
use cranelift_frontend::Variable;
use frazil_runtime::TURNS;

/// Levels of partial float sums.
const LEVELS: u32 = frazil_runtime::LEVELS as u32;
/// Blocks after which float sums are carried to the next level, and so on.
pub(crate) const CARRIED: i64 = SETS as i64 * TURNS;
pub(crate) const CARRIED_TWICE: i64 = CARRIED * TURNS;

/// The place of a fold's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// Into the output of a write; the partial results may go on from row to row.
    Write(usize),
    /// It is a value of the kernel.
    Value(usize),
}

/// The fold of a write or of a value.
pub(crate) struct Folding {
    pub(crate) target: Target,
    pub(crate) write: Write,
    pub(crate) reduce: Reduction,
    pub(crate) lanes: u32,
    slot: StackSlot,
    blocks: Variable,
    /// The function that sets the partial results to the identity, if there is one.
    fill: Option<FuncRef>,
}

impl Folding {
    pub(crate) fn new(e: &mut Emitter, target: Target, write: Write, lanes: u32) -> Folding {
        let reduce = write.reduce.expect("a fold reduces");
        let levels = if reduce.has_levels(write.dtype) { LEVELS } else { 1 };
        let slot = e.stack(SETS * lanes * levels * write.dtype.size());
        let zero = e.i64(0);
        let blocks = e.variable(I64, zero);
        let identity = reduce.identity(write.dtype);
        let size = write.dtype.size();
        let bytes = SETS * lanes * size;
        let own = e.vectors.filter(|own| bytes.is_multiple_of(own.bytes()));
        let fill =
            own.map(|own| e.vector_function(crate::vector::fill(own, identity, size, bytes)));
        Folding { target, write, reduce, lanes, slot, blocks, fill }
    }

    /// The write that is folded into, if there is one.
    pub(crate) fn write_number(&self) -> Option<usize> {
        match self.target {
            Target::Write(k) => Some(k),
            Target::Value(_) => None,
        }
    }

    fn dtype(&self) -> Dtype {
        self.write.dtype
    }

    /// The partial results of a set of all levels.
    fn width(&self) -> u32 {
        SETS * self.lanes
    }

    /// Sets the partial results to the identity.
    pub(crate) fn start(&self, e: &mut Emitter) {
        let (dtype, size) = (self.dtype(), self.dtype().size());
        let bytes = self.width() * size;
        let place = e.stack_address(self.slot);
        if let Some(fill) = self.fill {
            let zero = e.i64(0);
            e.call_vectors(fill, place, zero);
            e.b.def_var(self.blocks, zero);
            return;
        }
        let bits = self.reduce.identity(dtype);
        let one = e.constant(dtype, bits);
        let by = if bytes.is_multiple_of(REGISTER) { REGISTER } else { size };
        let value = if by == size {
            one
        } else {
            let ty = dtype.ir().by(REGISTER / size).expect("a register");
            e.b.ins().splat(ty, one)
        };
        for offset in (0..bytes).step_by(by as usize) {
            e.b.ins().store(crate::emit::flags(), value, place, offset as i32);
        }
        let zero = e.i64(0);
        e.b.def_var(self.blocks, zero);
    }

    /// The set that the next block folds into.
    pub(crate) fn enter_block(&self, e: &mut Emitter) -> Value {
        let offset = self.turn(e);
        let place = self.sets(e);
        e.b.ins().iadd(place, offset)
    }

    /// The address of the sets.
    pub(crate) fn sets(&self, e: &mut Emitter) -> Value {
        e.stack_address(self.slot)
    }

    /// The bytes from there to the set that the next block folds into.
    pub(crate) fn turn(&self, e: &mut Emitter) -> Value {
        let blocks = self.blocks(e);
        let turn = e.b.ins().band_imm_u(blocks, i64::from(SETS - 1));
        let shift = (self.lanes * self.dtype().size()).trailing_zeros();
        e.b.ins().ishl_imm_u(turn, i64::from(shift))
    }

    /// The number of blocks that were folded.
    pub(crate) fn blocks(&self, e: &mut Emitter) -> Value {
        e.b.use_var(self.blocks)
    }

    /// The elements up to which a row has partial results of the first level alone.
    pub(crate) fn first_level(&self) -> i64 {
        CARRIED * i64::from(self.lanes)
    }

    pub(crate) fn has_levels(&self) -> bool {
        self.reduce.has_levels(self.dtype())
    }

    /// Lets the next block have the next set, and the next level the sums of this one.
    pub(crate) fn leave_block(&self, e: &mut Emitter) {
        let one = e.i64(1);
        self.leave_blocks(e, one);
    }

    /// As [`Folding::leave_block`] after several blocks, of which none but the last may end a level.
    pub(crate) fn leave_blocks(&self, e: &mut Emitter, count: Value) {
        e.advance(self.blocks, count);
        if !self.has_levels() {
            return;
        }
        let blocks = e.b.use_var(self.blocks);
        let rest = e.b.ins().band_imm_u(blocks, CARRIED - 1);
        let due = e.b.ins().icmp_imm_u(IntCC::Equal, rest, 0);
        e.when(due, |e| {
            let place = e.stack_address(self.slot);
            let turn = e.b.ins().ushr_imm_u(blocks, i64::from(CARRIED.trailing_zeros()));
            let width = e.i64(i64::from(self.width()));
            let name = format!("carry_{}", suffix(self.dtype().ir()));
            e.call(&name, None, &[place, turn, width]);
        });
    }

    /// Whether as many blocks were folded.
    pub(crate) fn is_at(&self, e: &mut Emitter, total: Value) -> Value {
        let blocks = e.b.use_var(self.blocks);
        e.b.ins().icmp(IntCC::Equal, blocks, total)
    }

    /// All partial results, of rows of `n_inner` elements, folded to one.
    pub(crate) fn total(&self, e: &mut Emitter, n_inner: Value) -> Value {
        let (dtype, width) = (self.dtype(), i64::from(self.width()));
        let place = e.stack_address(self.slot);
        if !dtype.is_float() {
            let used = self.used(e, n_inner);
            return self.total_in_order(e, used);
        }
        let mut used = e.i64(width);
        if self.reduce.has_levels(dtype) {
            let blocks = e.b.use_var(self.blocks);
            for (least, levels) in [(CARRIED, 2), (CARRIED_TWICE, i64::from(LEVELS))] {
                let many = e.b.ins().icmp_imm_s(IntCC::SignedGreaterThanOrEqual, blocks, least);
                let more = e.i64(levels * width);
                used = e.b.ins().select(many, more, used);
            }
        }
        let none = e.i64(0);
        let lanes = e.i64(i64::from(self.lanes));
        let ty = dtype.ir();
        let name = format!("fold_all_{}_{}", self.reduce.0.name(), suffix(ty));
        e.call(&name, Some(ty), &[place, used, none, lanes])
    }

    /// The number of partial results that elements were folded into: few where a row is shorter than a block. The last
    /// block of a row may have less elements than it has places.
    fn used(&self, e: &mut Emitter, n_inner: Value) -> Value {
        let lanes = e.i64(i64::from(self.lanes));
        let of_last = e.b.ins().smin(n_inner, lanes);
        let blocks = e.b.use_var(self.blocks);
        let before = e.b.ins().iadd_imm_s(blocks, -1);
        let before = e.b.ins().ishl_imm_u(before, i64::from(self.lanes.trailing_zeros()));
        let used = e.b.ins().iadd(before, of_last);
        let width = e.i64(i64::from(self.width()));
        e.b.ins().smin(used, width)
    }

    /// The first partial results folded to one. Of integers every order gives the same bits.
    fn total_in_order(&self, e: &mut Emitter, used: Value) -> Value {
        let (dtype, size) = (self.dtype(), i64::from(self.dtype().size()));
        let place = e.stack_address(self.slot);
        let first = e.load(dtype, place, 0);
        let so_far = e.variable(dtype.ir(), first);
        let offset = e.i64(size);
        let at = e.variable(I64, offset);
        let bytes = e.b.ins().ishl_imm_u(used, i64::from(self.dtype().size().trailing_zeros()));
        let own = e.begin_loop(|e| {
            let at = e.b.use_var(at);
            e.b.ins().icmp(IntCC::SignedLessThan, at, bytes)
        });
        let here = e.b.use_var(at);
        let address = e.b.ins().iadd(place, here);
        let next = e.load(dtype, address, 0);
        let old = e.b.use_var(so_far);
        let folded = e.fold(self.reduce, dtype, old, next);
        e.b.def_var(so_far, folded);
        let step = e.i64(size);
        e.advance(at, step);
        e.end_loop(own);
        e.b.use_var(so_far)
    }
}
