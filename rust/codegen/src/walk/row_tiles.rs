//! Tiles of short rows side by side, as many as a register has elements. In the passes before the last, it has one of each
//! row: no row waits for the fold of the one before, and no register is half empty. The last pass goes along the rows
//! again, and may fold them into one. Functions that are no part of the loop over elements are called for all of a tile.

use crate::kernel::Action;
use crate::row_folds::Folding;
use crate::stages::{Call, OperandPlace};
use crate::vector::{COLUMNS, Registers, SETS, columns_of_rows, rows_of_columns};
use crate::walk::Walk;
use crate::walk::tile_plan::{ColumnPass, ColumnStage, Room, TilePlan};
use crate::walk::vector_stage::{Argument, Elements};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{FuncRef, InstBuilder, StackSlot, Value};
use std::collections::BTreeMap;

/// The bytes from the value of one row to that of the next, and those of a line of the cache.
const ELEMENT: i64 = 8;
const LINE: i64 = 64;

/// Memory for a tile: where it begins, and where each part of it is.
pub(super) struct TileRoom {
    base: Value,
    places: BTreeMap<Room, i64>,
    /// The bytes of a value for each row.
    column: i64,
    /// The bytes to the values of the present row, in each part that has one for each row.
    row: Value,
}

impl Walk<'_, '_, '_> {
    /// Goes through the rows tile by tile, if rows are short enough; returns the number of rows done.
    pub(super) fn tiles(
        &mut self,
        n_outer: Value,
        moving: usize,
        foldings: &[Vec<Folding>],
        totals: &[Vec<Option<Value>>],
    ) -> Value {
        let zero = self.e.i64(0);
        let (Some(last), Some(plan)) = (foldings.last(), self.tile_plan(foldings)) else {
            return zero;
        };
        let whole = self.e.b.ins().band_imm_s(n_outer, -plan.rows());
        let fits = self.fits_tiles(&plan, last);
        let all = self.e.b.ins().select(fits, whole, zero);
        let (places, column) = (plan.room(), plan.column());
        let base = self.tile_memory(&places, column);
        self.tile = Some(TileRoom { base, places, column, row: zero });
        let row = self.e.variable(I64, zero);
        let some = self.e.b.ins().icmp_imm_s(IntCC::SignedGreaterThan, all, 0);
        let condition = self.e.begin_if(some);
        let functions = self.enter_columns(&plan);
        let own = self.e.begin_outer_loop(|e| {
            let row = e.b.use_var(row);
            e.b.ins().icmp(IntCC::SignedLessThan, row, all)
        });
        let first = self.e.b.use_var(row);
        self.one_tile(&plan, &functions, first, moving, last);
        let step = self.e.i64(plan.rows());
        self.e.advance(row, step);
        self.e.end_loop(own);
        for (own, &total) in last.iter().zip(totals.last().expect("there is a pass")) {
            self.end_folding(own, total, None);
        }
        self.e.end_if(condition);
        self.tile = None;
        self.uniform.fill(None);
        self.e.b.use_var(row)
    }

    /// Whether rows have 1 to [`COLUMNS`] elements, and the outputs that the last pass folds into are the same for all
    /// rows.
    fn fits_tiles(&mut self, plan: &TilePlan, last: &[Folding]) -> Value {
        let most = i64::from(COLUMNS);
        let mut holds = self.e.b.ins().icmp_imm_s(IntCC::SignedLessThanOrEqual, self.n_inner, most);
        let some = self.e.b.ins().icmp_imm_s(IntCC::SignedGreaterThan, self.n_inner, 0);
        holds = self.e.b.ins().band(holds, some);
        let folded = last.iter().filter_map(Folding::write_number);
        for k in folded.chain(plan.gathered.iter().copied()) {
            let stride = self.stride(self.write_pointer(k));
            let stays = self.e.b.ins().icmp_imm_s(IntCC::Equal, stride, 0);
            holds = self.e.b.ins().band(holds, stays);
        }
        holds
    }

    /// Memory on the stack that begins at a line of the cache.
    fn tile_memory(&mut self, places: &BTreeMap<Room, i64>, column: i64) -> Value {
        let bytes = places.keys().map(|own| own.bytes(column)).sum::<i64>() + LINE;
        let slot = self.e.stack(bytes as u32);
        let start = self.e.stack_address(slot);
        let after = self.e.b.ins().iadd_imm_s(start, LINE - 1);
        self.e.b.ins().band_imm_s(after, -LINE)
    }

    fn tile_room(&self) -> &TileRoom {
        self.tile.as_ref().expect("this is in a tile")
    }

    /// The address of a part of the memory.
    fn room(&mut self, of: Room) -> Value {
        let own = self.tile_room();
        let (base, place) = (own.base, own.places[&of]);
        self.e.b.ins().iadd_imm_s(base, place)
    }

    /// The address of the present row's value in a part of the memory.
    fn of_row(&mut self, of: Room) -> Value {
        let (row, room) = (self.tile_room().row, self.room(of));
        self.e.b.ins().iadd(room, row)
    }

    /// A value of the present row that was kept.
    pub(super) fn kept_in_tile(&mut self, k: usize) -> Option<Value> {
        self.tile.as_ref()?.places.get(&Room::Value(k))?;
        let (address, dtype) = (self.of_row(Room::Value(k)), self.k.dtype(k));
        let made = self.e.load(dtype, address, 0);
        self.uniform[k] = Some(made);
        Some(made)
    }

    /// Knows a value of the present row, and keeps it if it is needed later.
    fn know(&mut self, k: usize, value: Value) {
        self.uniform[k] = Some(value);
        if self.tile_room().places.contains_key(&Room::Value(k)) {
            let (address, dtype) = (self.of_row(Room::Value(k)), self.k.dtype(k));
            self.e.store(dtype, value, address, 0);
        }
    }

    // ------------------------------------------------------------ one tile

    /// The functions, and the arguments of those for columns, which are the same in all tiles.
    fn enter_columns(&mut self, plan: &TilePlan) -> TileFunctions {
        let mut columns = Vec::new();
        for own in &plan.first {
            let stages = own.stages.iter().map(|own| self.enter_column_stage(own)).collect();
            let folds = own.folds.iter().map(|own| self.e.vector_function(own.1.clone()));
            columns.push(PassFunctions { stages, folds: folds.collect() });
        }
        let turns = |wanted: bool, own: fn(Registers) -> Vec<u8>, walk: &mut Self| {
            wanted.then(|| walk.e.vector_function(own(plan.registers)))
        };
        let to_columns = turns(!plan.reads.is_empty(), columns_of_rows, self);
        let to_rows = turns(!plan.loads.is_empty(), rows_of_columns, self);
        let last = self.e.rows_function(plan.last.clone());
        TileFunctions { columns, to_columns, to_rows, last }
    }

    /// The function of a stage, and the address of its arguments.
    fn enter_column_stage(&mut self, own: &ColumnStage) -> Option<(FuncRef, Value)> {
        let code = own.code.clone()?;
        let slot = self.e.stack(8 * own.arguments.len() as u32);
        let place = self.e.stack_address(slot);
        for (at, &argument) in own.arguments.iter().enumerate() {
            let address = self.room(Room::of(argument));
            self.e.b.ins().store(crate::emit::flags(), address, place, 8 * at as i32);
        }
        Some((self.e.vector_function(code), place))
    }

    /// A pass by columns: its stages, and the functions of elements that are called between them, for all of a tile.
    fn column_pass_of_tile(&mut self, own: &ColumnPass, functions: &PassFunctions, count: Value) {
        for (stage, function) in own.stages.iter().zip(&functions.stages) {
            if let &Some((function, place)) = function {
                self.e.call_vectors(function, place, count);
            }
            for call in &stage.calls {
                self.call_for_tile(call, count);
            }
        }
        for (&(k, _), &function) in own.folds.iter().zip(&functions.folds) {
            let columns = self.room(Room::Fold(k));
            self.e.call_vectors(function, columns, self.n_inner);
        }
    }

    fn call_for_tile(&mut self, call: &Call, count: Value) {
        let own = self.k.at(call.value);
        let Action::Op(op) = own.action else { unreachable!("only ops are called") };
        let mut args = vec![self.room(Room::Waiting(OperandPlace::Value(call.value)))];
        args.extend(call.from.iter().map(|&place| self.room(Room::of_place(place))));
        args.push(count);
        self.e.call_many(op, own.dtype, &args);
    }

    fn one_tile(
        &mut self,
        plan: &TilePlan,
        functions: &TileFunctions,
        first: Value,
        moving: usize,
        foldings: &[Folding],
    ) {
        let slot = self.e.stack(24);
        self.reads_to_columns(plan, functions, slot, first);
        let count = self.e.b.ins().imul_imm_s(self.n_inner, plan.rows());
        for (at, own) in plan.first.iter().enumerate() {
            self.each_row(|walk| walk.values_of_row(at));
            self.column_pass_of_tile(own, &functions.columns[at], count);
        }
        let bytes = 8 * plan.arguments.len() as i64;
        let table = self.e.stack((plan.rows() * bytes) as u32);
        self.each_row(|walk| {
            walk.values_of_row(plan.first.len());
            walk.arguments_of_row(plan, table, foldings);
            walk.uniform_writes();
            walk.next_row(moving);
        });
        for &k in &plan.loads {
            let (columns, rows) = (self.room(Room::Buffer(k)), self.room(Room::Rows(k)));
            let arguments = self.e.stack_address(slot);
            self.e.b.ins().store(crate::emit::flags(), columns, arguments, 0);
            self.e.b.ins().store(crate::emit::flags(), rows, arguments, 8);
            let function = functions.to_rows.expect("there are buffers");
            self.e.call_vectors(function, arguments, self.n_inner);
        }
        let start = self.e.stack_address(table);
        let end = self.e.b.ins().iadd_imm_s(start, plan.rows() * bytes);
        self.e.b.ins().call(functions.last, &[start, self.n_inner, end]);
        let several =
            self.e.b.ins().icmp_imm_s(IntCC::SignedGreaterThan, self.n_inner, self.k.lanes as i64);
        let (one, two) = (self.e.i64(plan.rows()), self.e.i64(2 * plan.rows()));
        let blocks = self.e.b.ins().select(several, two, one);
        for own in foldings {
            own.leave_blocks(self.e, blocks);
        }
    }

    /// Copies the rows of the reads to columns.
    fn reads_to_columns(
        &mut self,
        plan: &TilePlan,
        functions: &TileFunctions,
        slot: StackSlot,
        first: Value,
    ) {
        for &k in &plan.reads {
            let stride = self.stride(k);
            let begins = self.e.b.ins().icmp_imm_s(IntCC::Equal, first, 0);
            let moves = self.e.b.ins().icmp_imm_s(IntCC::NotEqual, stride, 0);
            // A read that is the same for all rows was copied for the first tile.
            let needed = self.e.b.ins().bor(begins, moves);
            let (pointer, columns) = (self.pointer(k), self.room(Room::Read(k)));
            let n_inner = self.n_inner;
            self.e.when(needed, |e| {
                let arguments = e.stack_address(slot);
                for (at, value) in [pointer, stride, columns].into_iter().enumerate() {
                    e.b.ins().store(crate::emit::flags(), value, arguments, 8 * at as i32);
                }
                let function = functions.to_columns.expect("there are reads");
                e.call_vectors(function, arguments, n_inner);
            });
        }
    }

    /// Does something for each row of the tile.
    fn each_row(&mut self, inside: impl FnOnce(&mut Self)) {
        let (zero, column) = (self.e.i64(0), self.tile_room().column);
        let at = self.e.variable(I64, zero);
        let own = self.e.begin_loop(|e| {
            let at = e.b.use_var(at);
            e.b.ins().icmp_imm_s(IntCC::SignedLessThan, at, column)
        });
        self.uniform.fill(None);
        let here = self.e.b.use_var(at);
        self.tile.as_mut().expect("this is in a tile").row = here;
        inside(self);
        let step = self.e.i64(ELEMENT);
        self.e.advance(at, step);
        self.e.end_loop(own);
    }

    /// The values of the present row that pass number `at` needs first.
    fn values_of_row(&mut self, at: usize) {
        let kernel = self.k;
        if at == 0 {
            let row = self.tile_room().row;
            let number = self.e.b.ins().ushr_imm_u(row, i64::from(ELEMENT.trailing_zeros()));
            for (k, read) in kernel.reads.iter().enumerate().filter(|own| !own.1.inner) {
                let (pointer, stride) = (self.pointer(k), self.stride(k));
                let offset = self.e.b.ins().imul(number, stride);
                let address = self.e.b.ins().iadd(pointer, offset);
                let value = self.e.load(read.dtype, address, 0);
                self.know(k, value);
            }
        } else {
            for &k in &kernel.passes[at - 1].folds {
                let own = kernel.fold_as_write(k).expect("a kernel was verified");
                let reduce = own.reduce.expect("a fold reduces");
                let from = self.of_row(Room::Fold(k));
                let made = self.e.load(own.dtype, from, 0);
                let start = self.uniform_value(kernel.at(k).args[0]);
                let folded = self.e.fold(reduce, own.dtype, start, made);
                self.know(k, folded);
            }
        }
        for &k in &kernel.passes[at].uniform {
            let made = self.uniform_statement(k);
            self.know(k, made);
        }
    }

    /// Stores the arguments of the last pass for the present row.
    fn arguments_of_row(&mut self, plan: &TilePlan, table: StackSlot, foldings: &[Folding]) {
        let row = self.tile_room().row;
        let start = self.e.stack_address(table);
        let offset = self.e.b.ins().imul_imm_s(row, plan.arguments.len() as i64);
        let place = self.e.b.ins().iadd(start, offset);
        for (at, &argument) in plan.arguments.iter().enumerate() {
            let value = match argument {
                Argument::Elements(Elements::Read(k), _) => self.pointer(k),
                Argument::Elements(Elements::Write(k), _) => self.pointer(self.write_pointer(k)),
                Argument::Elements(Elements::Buffer(k), _) => {
                    let rows = self.room(Room::Rows(k));
                    let offset = self.e.b.ins().imul_imm_s(row, i64::from(COLUMNS));
                    self.e.b.ins().iadd(rows, offset)
                }
                Argument::Uniform(k) => self.uniform_argument(k),
                Argument::Sets(of) => foldings[of].sets(self.e),
                Argument::Turn(_) if !plan.registers.have_masks() => self.first_set_of_row(),
                _ => continue,
            };
            self.e.b.ins().store(crate::emit::flags(), value, place, 8 * at as i32);
        }
    }

    /// The bytes to the set that the present row's first block folds into.
    fn first_set_of_row(&mut self) -> Value {
        let (row, lanes) = (self.tile_room().row, self.k.lanes as i64);
        let several = self.e.b.ins().icmp_imm_s(IntCC::SignedGreaterThan, self.n_inner, lanes);
        let of_one = self.e.b.ins().imul_imm_s(row, lanes);
        let of_two = self.e.b.ins().ishl_imm_u(of_one, 1);
        let bytes = self.e.b.ins().select(several, of_two, of_one);
        self.e.b.ins().band_imm_s(bytes, i64::from(SETS) * lanes * ELEMENT - 1)
    }
}

/// The functions of tiles.
struct TileFunctions {
    /// Those of each pass before the last.
    columns: Vec<PassFunctions>,
    /// The functions that turn rows to columns and back, if anything is turned.
    to_columns: Option<FuncRef>,
    to_rows: Option<FuncRef>,
    last: FuncRef,
}

/// The functions of a pass by columns.
struct PassFunctions {
    /// For each stage: its function, and the address of its arguments.
    stages: Vec<Option<(FuncRef, Value)>>,
    folds: Vec<FuncRef>,
}
