//! The instructions of all kernels, on one element or on a register of elements.

use crate::dtype::Dtype;
use crate::op::Op;
use crate::registers::Registers;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{F32, F64, I8, I8X16, I32, I32X4, I64, I64X2};
use cranelift_codegen::ir::{
    AbiParam, Block, Endianness, ExtFuncData, ExternalName, FuncRef, InstBuilder, MemFlagsData,
    Opcode, Signature, StackSlot, StackSlotData, StackSlotKind, Type, UserExternalName, Value,
};
use cranelift_codegen::isa::CallConv;
use cranelift_frontend::{FunctionBuilder, Variable};
use std::collections::HashMap;

/// The bytes of a register of elements, which every processor of its kind has.
pub(crate) const REGISTER: u32 = 16;

/// The namespace of functions that are made with a kernel.
pub(crate) const MADE: u32 = 1;

/// Writes the instructions of one kernel.
pub(crate) struct Emitter<'f> {
    pub(crate) b: FunctionBuilder<'f>,
    pub(crate) convention: CallConv,
    functions: HashMap<String, FuncRef>,
    /// The names of the functions that are called, by number.
    pub(crate) names: Vec<String>,
    /// The bytes of an element where instructions are those of registers; `None`: of one element.
    pub(crate) wide: Option<u32>,
    /// Whether instructions are drawn for registers of any size (`vector.rs`), which the processor's need not have.
    pub(crate) drawn: bool,
    /// Whether this is in the steps of a loop, where each step waits for the one before.
    pub(crate) in_steps: bool,
    /// The registers of functions of vectors (`vector.rs`), if there may be such, and those that there are.
    pub(crate) vectors: Option<Registers>,
    pub(crate) made: Vec<Vec<u8>>,
    /// Whether a call's time may go into instructions of Cranelift's: loops over elements or steps, or between short rows.
    pub(crate) is_hot: bool,
    status: Option<Variable>,
}

impl<'f> Emitter<'f> {
    pub(crate) fn new(
        b: FunctionBuilder<'f>,
        convention: CallConv,
        vectors: Option<Registers>,
    ) -> Emitter<'f> {
        Emitter {
            b,
            convention,
            functions: HashMap::new(),
            names: Vec::new(),
            wide: None,
            drawn: false,
            in_steps: false,
            vectors,
            made: Vec::new(),
            is_hot: false,
            status: None,
        }
    }

    /// The parameters of the kernel: pointers, the length of both dimensions, strides.
    pub(crate) fn enter(&mut self) -> [Value; 4] {
        let entry = self.b.create_block();
        self.b.append_block_params_for_function_params(entry);
        self.b.switch_to_block(entry);
        self.b.seal_block(entry);
        let zero = self.b.ins().iconst(I32, 0);
        self.status = Some(self.variable(I32, zero));
        let given = self.b.block_params(entry);
        [given[0], given[1], given[2], given[3]]
    }

    pub(crate) fn set_status(&mut self, value: Value) {
        let status = self.status.expect("a kernel was entered");
        self.b.def_var(status, value);
    }

    pub(crate) fn status(&mut self) -> Value {
        let status = self.status.expect("a kernel was entered");
        self.b.use_var(status)
    }

    // ------------------------------------------------------------ types

    /// The number of elements of a value.
    pub(crate) fn lanes(&self) -> u32 {
        self.wide.map_or(1, |size| REGISTER / size)
    }

    /// The type of values; a bool in a register is a mask as wide as the other elements.
    pub(crate) fn ty(&self, dtype: Dtype) -> Type {
        match (self.wide, dtype) {
            (None, _) => dtype.ir(),
            (Some(size), Dtype::Bool) => integer(size).by(REGISTER / size).expect("a register"),
            (Some(size), _) => dtype.ir().by(REGISTER / size).expect("a register"),
        }
    }

    /// The type of elements of an integer or float.
    pub(crate) fn shape(&self, one: Type) -> Type {
        self.wide.map_or(one, |size| one.by(REGISTER / size).expect("a register"))
    }

    /// The value of these bits.
    pub(crate) fn constant(&mut self, dtype: Dtype, bits: u64) -> Value {
        let wide = self.wide;
        let one = match (wide, dtype) {
            (_, Dtype::Float32) => self.b.ins().f32const(f32::from_bits(bits as u32)),
            (_, Dtype::Float64) => self.b.ins().f64const(f64::from_bits(bits)),
            (Some(size), Dtype::Bool) => self.int(integer(size), -(bits as i64)),
            _ => self.int(dtype.ir(), bits as i64),
        };
        match wide {
            None => one,
            Some(_) => {
                let ty = self.ty(dtype);
                self.b.ins().splat(ty, one)
            }
        }
    }

    /// The value of a number that the type holds exactly.
    pub(crate) fn number(&mut self, dtype: Dtype, number: f64) -> Value {
        let bits = match dtype {
            Dtype::Float32 => u64::from((number as f32).to_bits()),
            Dtype::Float64 => number.to_bits(),
            _ => number as i64 as u64,
        };
        self.constant(dtype, bits)
    }

    /// An integer of one element; its low bits count.
    pub(crate) fn int(&mut self, ty: Type, value: i64) -> Value {
        let kept = match ty.bits() {
            64 => value,
            bits => value & ((1 << bits) - 1),
        };
        self.b.ins().iconst(ty, kept)
    }

    /// An integer, or a register of it.
    pub(crate) fn ints(&mut self, ty: Type, value: i64) -> Value {
        let one = self.int(ty.lane_type(), value);
        if ty.is_vector() { self.b.ins().splat(ty, one) } else { one }
    }

    pub(crate) fn i64(&mut self, value: i64) -> Value {
        self.b.ins().iconst(I64, value)
    }

    /// The same bits as another type of that size.
    pub(crate) fn bits(&mut self, value: Value, to: Type) -> Value {
        if self.b.func.dfg.value_type(value) == to {
            return value;
        }
        let order = MemFlagsData::new().with_endianness(Endianness::Little);
        self.b.ins().bitcast(to, order, value)
    }

    /// The value, which no instruction reads from memory. Cranelift lets comparisons of floats do so where there is no
    /// AVX, though their operands have to be aligned then, and nothing is.
    pub(crate) fn in_register(&mut self, value: Value) -> Value {
        let dfg = &self.b.func.dfg;
        let ty = dfg.value_type(value);
        let load =
            dfg.value_def(value).inst().filter(|&own| dfg.insts[own].opcode() == Opcode::Load);
        if self.vectors.is_some() || !ty.is_vector() || load.is_none() {
            return value;
        }
        let bits = self.bits(value, ty.as_int());
        self.bits(bits, ty)
    }

    /// A value of one element in all elements of a register.
    pub(crate) fn spread(&mut self, dtype: Dtype, value: Value) -> Value {
        let Some(size) = self.wide else { return value };
        let ty = self.ty(dtype);
        let value = if dtype == Dtype::Bool { self.as_mask(value, size) } else { value };
        self.b.ins().splat(ty, value)
    }

    /// A mask of one element, of a bool.
    fn as_mask(&mut self, value: Value, size: u32) -> Value {
        let full = self.widened(value, integer(size));
        self.b.ins().ineg(full)
    }

    fn widened(&mut self, value: Value, to: Type) -> Value {
        if to == I8 { value } else { self.b.ins().uextend(to, value) }
    }

    /// One element of a register.
    pub(crate) fn lane(&mut self, dtype: Dtype, value: Value, lane: u32) -> Value {
        let one = self.b.ins().extractlane(value, lane as u8);
        if dtype != Dtype::Bool {
            return one;
        }
        let byte = if self.wide == Some(1) { one } else { self.b.ins().ireduce(I8, one) };
        self.b.ins().band_imm_u(byte, 1)
    }

    /// A register of these elements.
    pub(crate) fn gathered(&mut self, dtype: Dtype, elements: &[Value]) -> Value {
        let size = self.wide.expect("a register");
        let ty = self.ty(dtype);
        let mut made = None;
        for (lane, &one) in elements.iter().enumerate() {
            let one = if dtype == Dtype::Bool { self.as_mask(one, size) } else { one };
            made = Some(match made {
                None => self.b.ins().scalar_to_vector(ty, one),
                Some(so_far) => self.b.ins().insertlane(so_far, one, lane as u8),
            });
        }
        made.expect("a register has elements")
    }

    /// The results of `compute` for the elements, one by one.
    pub(crate) fn each_lane(
        &mut self,
        operands: &[Dtype],
        args: &[Value],
        result: Dtype,
        mut compute: impl FnMut(&mut Self, &[Value]) -> Value,
    ) -> Value {
        let (wide, lanes) = (self.wide, self.lanes());
        let mut made = Vec::new();
        for lane in 0..lanes {
            let given: Vec<Value> =
                operands.iter().zip(args).map(|(&own, &arg)| self.lane(own, arg, lane)).collect();
            self.wide = None;
            made.push(compute(self, &given));
            self.wide = wide;
        }
        self.gathered(result, &made)
    }

    /// `yes` where the bool holds, else `no`.
    pub(crate) fn select(&mut self, holds: Value, yes: Value, no: Value) -> Value {
        if self.wide.is_none() {
            return self.b.ins().select(holds, yes, no);
        }
        let ty = self.b.func.dfg.value_type(yes);
        let mask = self.bits(holds, ty);
        self.b.ins().bitselect(mask, yes, no)
    }

    // ------------------------------------------------------------ memory

    /// The element at an address, or a register of those that begin there.
    pub(crate) fn load(&mut self, dtype: Dtype, address: Value, offset: i32) -> Value {
        if let (Some(size), Dtype::Bool) = (self.wide, dtype) {
            return self.load_mask(size, address, offset);
        }
        let ty = self.ty(dtype);
        let loaded = self.b.ins().load(ty, flags(), address, offset);
        if dtype == Dtype::Bool { self.held(loaded) } else { loaded }
    }

    /// A bool from a byte of memory, which may be any that is not zero, or a mask from a register of such.
    fn held(&mut self, byte: Value) -> Value {
        let ty = self.b.func.dfg.value_type(byte);
        let zero = self.ints(ty, 0);
        self.b.ins().icmp(IntCC::NotEqual, byte, zero)
    }

    /// A mask of elements of `size` bytes, from the bools that begin at an address.
    fn load_mask(&mut self, size: u32, address: Value, offset: i32) -> Value {
        let bytes = match size {
            1 => self.b.ins().load(I8X16, flags(), address, offset),
            2 => self.b.ins().sload8x8(flags(), address, offset),
            4 => {
                let four = self.b.ins().load(I32, flags(), address, offset);
                let one = self.b.ins().scalar_to_vector(I32X4, four);
                let bytes = self.bits(one, I8X16);
                let pairs = self.b.ins().swiden_low(bytes);
                self.b.ins().swiden_low(pairs)
            }
            _ => {
                let lanes: Vec<Value> = (0..self.lanes())
                    .map(|lane| self.b.ins().load(I8, flags(), address, offset + lane as i32))
                    .collect();
                let held: Vec<Value> = lanes.iter().map(|&byte| self.held(byte)).collect();
                return self.gathered(Dtype::Bool, &held);
            }
        };
        self.held(bytes)
    }

    /// Writes a mask of elements of `size` bytes as bools.
    fn store_mask(&mut self, size: u32, mask: Value, address: Value, offset: i32) {
        if size == 8 {
            for lane in 0..self.lanes() {
                let one = self.lane(Dtype::Bool, mask, lane);
                self.b.ins().store(flags(), one, address, offset + lane as i32);
            }
            return;
        }
        let mut bytes = mask;
        for _ in 0..size.trailing_zeros() {
            bytes = self.b.ins().snarrow(bytes, bytes);
        }
        let ones = self.ints(I8X16, 1);
        let bools = self.b.ins().band(bytes, ones);
        let kept = match size {
            1 => bools,
            2 => {
                let halves = self.bits(bools, I64X2);
                self.b.ins().extractlane(halves, 0)
            }
            _ => {
                let quarters = self.bits(bools, I32X4);
                self.b.ins().extractlane(quarters, 0)
            }
        };
        self.b.ins().store(flags(), kept, address, offset);
    }

    pub(crate) fn store(&mut self, dtype: Dtype, value: Value, address: Value, offset: i32) {
        if let (Some(size), Dtype::Bool) = (self.wide, dtype) {
            return self.store_mask(size, value, address, offset);
        }
        self.b.ins().store(flags(), value, address, offset);
    }

    /// Memory that lives as long as the call.
    pub(crate) fn stack(&mut self, bytes: u32) -> StackSlot {
        let slot = StackSlotData::new(StackSlotKind::ExplicitSlot, bytes, 4);
        self.b.create_sized_stack_slot(slot)
    }

    pub(crate) fn stack_address(&mut self, slot: StackSlot) -> Value {
        self.b.ins().stack_addr(I64, slot, 0)
    }

    // ------------------------------------------------------------ calls

    /// Calls a function of that name; returns its result.
    pub(crate) fn call(&mut self, name: &str, result: Option<Type>, args: &[Value]) -> Value {
        let function = match self.functions.get(name) {
            Some(&known) => known,
            None => self.import(name, result, args),
        };
        let call = self.b.ins().call(function, args);
        self.b.inst_results(call).first().copied().unwrap_or(args[0])
    }

    fn import(&mut self, name: &str, result: Option<Type>, args: &[Value]) -> FuncRef {
        let mut signature = Signature::new(self.convention);
        for &arg in args {
            let ty = self.b.func.dfg.value_type(arg);
            signature.params.push(AbiParam::new(ty));
        }
        signature.returns.extend(result.map(AbiParam::new));
        let signature = self.b.import_signature(signature);
        let index = self.names.len() as u32;
        let user = UserExternalName { namespace: 0, index };
        let name_of = self.b.func.declare_imported_user_function(user);
        let function = self.b.import_function(ExtFuncData {
            name: ExternalName::user(name_of),
            signature,
            colocated: false,
            patchable: false,
        });
        self.names.push(name.to_owned());
        self.functions.insert(name.to_owned(), function);
        function
    }

    /// A function that is made with the kernel, of the address of its arguments and a number of elements.
    pub(crate) fn vector_function(&mut self, code: Vec<u8>) -> FuncRef {
        let mut signature = Signature::new(self.convention);
        signature.params.extend([AbiParam::new(I64); 2]);
        self.made_function(code, signature)
    }

    /// A function that is made with the kernel, of the address of the arguments of rows, the number of elements of each
    /// and the end of the arguments or the number of rows; it returns a status.
    pub(crate) fn rows_function(&mut self, code: Vec<u8>) -> FuncRef {
        let mut signature = Signature::new(self.convention);
        signature.params.extend([AbiParam::new(I64); 3]);
        signature.returns.push(AbiParam::new(I32));
        self.made_function(code, signature)
    }

    fn made_function(&mut self, code: Vec<u8>, signature: Signature) -> FuncRef {
        let signature = self.b.import_signature(signature);
        let user = UserExternalName { namespace: MADE, index: self.made.len() as u32 };
        self.made.push(code);
        let name = self.b.func.declare_imported_user_function(user);
        self.b.import_function(ExtFuncData {
            name: ExternalName::user(name),
            signature,
            colocated: true,
            patchable: false,
        })
    }

    /// Calls a function for many elements: `args` are where results go, the operands, and the number of elements.
    pub(crate) fn call_many(&mut self, op: Op, dtype: Dtype, args: &[Value]) {
        let name = format!("{}_many_{}", op.name(), suffix(dtype.ir()));
        self.call(&name, None, args);
    }

    pub(crate) fn call_vectors(&mut self, function: FuncRef, arguments: Value, count: Value) {
        self.b.ins().call(function, &[arguments, count]);
    }

    /// Calls a function without operands.
    pub(crate) fn ask(&mut self, name: &str, result: Type) -> Value {
        let function = match self.functions.get(name) {
            Some(&known) => known,
            None => self.import(name, Some(result), &[]),
        };
        let call = self.b.ins().call(function, &[]);
        self.b.inst_results(call)[0]
    }

    // ------------------------------------------------------------ control

    pub(crate) fn variable(&mut self, ty: Type, value: Value) -> Variable {
        let made = self.b.declare_var(ty);
        self.b.def_var(made, value);
        made
    }

    /// Adds to a variable.
    pub(crate) fn advance(&mut self, variable: Variable, by: Value) {
        let old = self.b.use_var(variable);
        let new = self.b.ins().iadd(old, by);
        self.b.def_var(variable, new);
    }

    /// Begins a loop that goes on as long as `holds` is true; [`Emitter::end_loop`] ends it.
    pub(crate) fn begin_loop(&mut self, holds: impl FnOnce(&mut Self) -> Value) -> Loop {
        self.is_hot = true;
        self.begin_outer_loop(holds)
    }

    /// As [`Emitter::begin_loop`], of turns whose time goes into functions that they call or loops within them.
    pub(crate) fn begin_outer_loop(&mut self, holds: impl FnOnce(&mut Self) -> Value) -> Loop {
        let (head, body, after) =
            (self.b.create_block(), self.b.create_block(), self.b.create_block());
        self.b.ins().jump(head, &[]);
        self.b.switch_to_block(head);
        let more = holds(self);
        self.b.ins().brif(more, body, &[], after, &[]);
        self.b.switch_to_block(body);
        self.b.seal_block(body);
        Loop { head, after }
    }

    pub(crate) fn end_loop(&mut self, own: Loop) {
        self.b.ins().jump(own.head, &[]);
        self.b.seal_block(own.head);
        self.b.switch_to_block(own.after);
        self.b.seal_block(own.after);
    }

    /// Leaves a loop where `holds` is true.
    pub(crate) fn leave_if(&mut self, own: &Loop, holds: Value) {
        let on = self.b.create_block();
        self.b.ins().brif(holds, own.after, &[], on, &[]);
        self.b.switch_to_block(on);
        self.b.seal_block(on);
    }

    /// Does something only where `holds` is true.
    pub(crate) fn when(&mut self, holds: Value, inside: impl FnOnce(&mut Self)) {
        let own = self.begin_if(holds);
        inside(self);
        self.end_if(own);
    }

    /// Begins code that runs only if `holds` is true; [`Emitter::end_if`] ends it.
    pub(crate) fn begin_if(&mut self, holds: Value) -> If {
        let (then, after) = (self.b.create_block(), self.b.create_block());
        self.b.ins().brif(holds, then, &[], after, &[]);
        self.b.switch_to_block(then);
        self.b.seal_block(then);
        If { after }
    }

    /// Ends code that runs only if the condition holds, and has left the kernel.
    pub(crate) fn end_unreached(&mut self, own: If) {
        self.b.switch_to_block(own.after);
        self.b.seal_block(own.after);
    }

    pub(crate) fn end_if(&mut self, own: If) {
        self.b.ins().jump(own.after, &[]);
        self.b.switch_to_block(own.after);
        self.b.seal_block(own.after);
    }

    /// Ends code that runs only if the condition holds, and begins code that runs otherwise.
    pub(crate) fn begin_else(&mut self, own: If) -> If {
        let after = self.b.create_block();
        self.b.ins().jump(after, &[]);
        self.b.switch_to_block(own.after);
        self.b.seal_block(own.after);
        If { after }
    }

    /// Returns a status where `holds` is true, once `inside` has reported.
    pub(crate) fn fail_if(&mut self, holds: Value, status: i64, inside: impl FnOnce(&mut Self)) {
        let (then, after) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(then);
        self.b.ins().brif(holds, then, &[], after, &[]);
        self.b.switch_to_block(then);
        self.b.seal_block(then);
        inside(self);
        let status = self.b.ins().iconst(I32, status);
        self.b.ins().return_(&[status]);
        self.b.switch_to_block(after);
        self.b.seal_block(after);
    }
}

/// A loop that is being written.
pub(crate) struct Loop {
    head: Block,
    after: Block,
}

/// Code under a condition, while it is being written.
pub(crate) struct If {
    after: Block,
}

/// Memory may lie anywhere, and is the kernel's to read and write.
pub(crate) fn flags() -> MemFlagsData {
    MemFlagsData::new().with_notrap().with_endianness(Endianness::Little)
}

/// The integer of so many bytes.
pub(crate) fn integer(size: u32) -> Type {
    Type::int_with_byte_size(size as u16).expect("a power of two")
}

/// The suffix of functions of such floats.
pub(crate) fn suffix(ty: Type) -> &'static str {
    match ty {
        F32 => "f4",
        F64 => "f8",
        _ => unreachable!("functions take floats"),
    }
}
