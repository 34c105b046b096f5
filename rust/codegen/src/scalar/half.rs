//! Conversions of 16-bit floats to and from wider floats, by their bits, as in the C text and in the core.

use crate::dtype::Dtype;
use crate::emit::Emitter;
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::types::{F32, F64, I16, I32};
use cranelift_codegen::ir::{InstBuilder, Value};

/// The bits of a float32 that is infinite.
const INFINITE: i64 = 0x7f80_0000;
/// All bits of a float32 but its sign.
const MAGNITUDE: i64 = 0x7fff_ffff;

impl Emitter<'_> {
    /// The float32 of the same value.
    pub(super) fn widened_half(&mut self, x: Value) -> Value {
        let whole = self.shape(I32);
        let bits = self.b.ins().uextend(whole, x);
        let sign = self.b.ins().band_imm_u(bits, 0x8000);
        let sign = self.b.ins().ishl_imm_u(sign, 16);
        let magnitude = self.b.ins().band_imm_u(bits, 0x7fff);
        let magnitude = self.b.ins().ishl_imm_u(magnitude, 13);
        let normal = self.b.ins().iadd_imm_s(magnitude, 112 << 23);
        let special = self.b.ins().bor_imm_u(magnitude, INFINITE);
        let small = self.small(magnitude);
        let limit = self.int(I32, 31 << 23);
        let high = self.b.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, magnitude, limit);
        let limit = self.int(I32, 1 << 23);
        let low = self.b.ins().icmp(IntCC::UnsignedLessThan, magnitude, limit);
        let made = self.select(high, special, normal);
        let made = self.select(low, small, made);
        let made = self.b.ins().bor(made, sign);
        self.bits(made, self.shape(F32))
    }

    /// The bits of the smallest numbers, which have no leading one: the difference of two that do.
    fn small(&mut self, magnitude: Value) -> Value {
        let shifted = self.b.ins().iadd_imm_s(magnitude, 113 << 23);
        let shifted = self.bits(shifted, self.shape(F32));
        let least = self.constant(Dtype::Float32, 113 << 23);
        let small = self.b.ins().fsub(shifted, least);
        self.bits(small, self.shape(I32))
    }

    /// The nearest number of 16 bits; of two that are as near, the even one.
    pub(super) fn narrowed_to_half(&mut self, x: Value, from: Dtype) -> Value {
        let x = if from == Dtype::Float64 { self.rounded_to_odd(x) } else { x };
        let bits = self.bits(x, self.shape(I32));
        let magnitude = self.b.ins().band_imm_u(bits, MAGNITUDE);
        let made = self.nearest(magnitude);
        let sign = self.b.ins().ushr_imm_u(bits, 16);
        let sign = self.b.ins().band_imm_u(sign, 0x8000);
        let made = self.b.ins().bor(made, sign);
        let half = self.shape(I16);
        self.b.ins().ireduce(half, made)
    }

    fn nearest(&mut self, magnitude: Value) -> Value {
        let odd = self.b.ins().ushr_imm_u(magnitude, 13);
        let odd = self.b.ins().band_imm_u(odd, 1);
        let rounded = self.b.ins().iadd_imm_s(magnitude, 0xfff - (112 << 23));
        let rounded = self.b.ins().iadd(rounded, odd);
        let normal = self.b.ins().ushr_imm_u(rounded, 13);
        // The sum has its last digit where the smallest numbers have theirs.
        let (whole, half) =
            (self.bits(magnitude, self.shape(F32)), self.constant(Dtype::Float32, 126 << 23));
        let aligned = self.b.ins().fadd(whole, half);
        let aligned = self.bits(aligned, self.shape(I32));
        let small = self.b.ins().iadd_imm_s(aligned, -(126 << 23));
        let payload = self.b.ins().ushr_imm_u(magnitude, 13);
        let payload = self.b.ins().band_imm_u(payload, 0x3ff);
        let quiet = self.b.ins().bor_imm_u(payload, 0x7e00);
        let infinite = self.constant(Dtype::Int32, 0x7c00);
        let mut made = normal;
        for (limit, how, other) in [
            (113 << 23, IntCC::UnsignedLessThan, small),
            (143 << 23, IntCC::UnsignedGreaterThanOrEqual, infinite),
            (INFINITE, IntCC::UnsignedGreaterThan, quiet),
        ] {
            let limit = self.int(I32, limit);
            let holds = self.b.ins().icmp(how, magnitude, limit);
            made = self.select(holds, other, made);
        }
        made
    }

    /// A float32 that rounds to the same number of fewer digits: what is cut off sets its last
    /// digit.
    fn rounded_to_odd(&mut self, x: Value) -> Value {
        let (single, double) = (self.shape(F32), self.shape(F64));
        let near = self.b.ins().fdemote(single, x);
        let back = self.b.ins().fpromote(double, near);
        let (size, given) = (self.b.ins().fabs(back), self.b.ins().fabs(x));
        let bits = self.bits(near, self.shape(I32));
        let less = self.b.ins().iadd_imm_s(bits, -1);
        let above = self.b.ins().fcmp(FloatCC::GreaterThan, size, given);
        let bits = self.select(above, less, bits);
        let odd = self.b.ins().bor_imm_u(bits, 1);
        let apart = self.b.ins().fcmp(FloatCC::NotEqual, back, x);
        let made = self.select(apart, odd, bits);
        self.bits(made, single)
    }
}
