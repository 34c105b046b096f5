//! Conversions of elements between types.

use crate::dtype::{Dtype, Kind};
use crate::emit::Emitter;
use crate::op::Op;
use crate::scalar::wide::has_wide_form;
use cranelift_codegen::ir::{InstBuilder, Value};

impl Emitter<'_> {
    /// The value as another type, as NumPy's `astype` has it.
    pub(crate) fn convert(&mut self, x: Value, from: Dtype, to: Dtype) -> Value {
        if from == to {
            return x;
        }
        if self.wide.is_some() {
            let other = |own: Dtype| matches!(own.kind(), Kind::Bool | Kind::Half);
            let alike = from.ir() == to.ir() && !other(from) && !other(to);
            if alike {
                return x;
            }
            let draws = self.drawn && from != Dtype::Bool;
            if draws {
                return self.converted(x, from, to);
            }
            return match (from.kind(), to.kind()) {
                // A half of 1 has no bits that are known here.
                (Kind::Bool, Kind::Half) if self.drawn => {
                    let x = self.convert(x, from, Dtype::Float32);
                    self.convert(x, Dtype::Float32, to)
                }
                (_, Kind::Bool) if has_wide_form(Op::Neq, from) => {
                    let zero = self.number(from, 0.0);
                    self.compare(Op::Neq, from, x, zero)
                }
                (Kind::Bool, _) => {
                    let (one, zero) = (self.number(to, 1.0), self.number(to, 0.0));
                    self.select(x, one, zero)
                }
                _ => self.each_lane(&[from], &[x], to, |e, given| e.convert(given[0], from, to)),
            };
        }
        self.converted(x, from, to)
    }

    fn converted(&mut self, x: Value, from: Dtype, to: Dtype) -> Value {
        let ty = self.ty(to);
        match (from.kind(), to.kind()) {
            (Kind::Half, _) => {
                let x = self.widened_half(x);
                self.convert(x, Dtype::Float32, to)
            }
            (Kind::Float, Kind::Half) => self.narrowed_to_half(x, from),
            (_, Kind::Half) => {
                let x = self.convert(x, from, Dtype::Float32);
                self.narrowed_to_half(x, Dtype::Float32)
            }
            (_, Kind::Bool) => {
                let zero = self.number(from, 0.0);
                self.compare(Op::Neq, from, x, zero)
            }
            (Kind::Float, Kind::Float) if to == Dtype::Float64 => self.b.ins().fpromote(ty, x),
            (Kind::Float, Kind::Float) => self.b.ins().fdemote(ty, x),
            (Kind::Float, _) => self.float_to_integer(x, from, to),
            (_, Kind::Float) => {
                let signed = from.is_signed();
                let through = match (signed, from.size() < 4) {
                    (_, true) | (true, _) if from.size() < 8 => Dtype::Int32,
                    (true, _) => Dtype::Int64,
                    _ => from,
                };
                let x = self.resized(x, from, through);
                if through.is_signed() {
                    self.b.ins().fcvt_from_sint(ty, x)
                } else {
                    self.b.ins().fcvt_from_uint(ty, x)
                }
            }
            _ => self.resized(x, from, to),
        }
    }

    /// An integer, or a bool, with another number of bits.
    pub(super) fn resized(&mut self, x: Value, from: Dtype, to: Dtype) -> Value {
        let (own, wanted) = (self.shape(from.ir()), self.shape(to.ir()));
        if own.bits() == wanted.bits() {
            x
        } else if own.bits() > wanted.bits() {
            self.b.ins().ireduce(wanted, x)
        } else if from.is_signed() {
            self.b.ins().sextend(wanted, x)
        } else {
            self.b.ins().uextend(wanted, x)
        }
    }

    /// The integer part. A float that is out of range becomes the least integer of the type in
    /// between.
    fn float_to_integer(&mut self, x: Value, from: Dtype, to: Dtype) -> Value {
        match to {
            Dtype::Uint64 => {
                let half = self.number(from, 9_223_372_036_854_775_808.0);
                let high = self.compare(Op::Ge, from, x, half);
                let less = self.b.ins().fsub(x, half);
                let part = self.select(high, less, x);
                let whole = self.truncated(part, from, Dtype::Int64);
                let top = self.constant(Dtype::Int64, i64::MIN as u64);
                let other = self.b.ins().bxor(whole, top);
                self.select(high, other, whole)
            }
            Dtype::Int64 | Dtype::Uint32 => {
                let whole = self.truncated(x, from, Dtype::Int64);
                self.resized(whole, Dtype::Int64, to)
            }
            _ => {
                let whole = self.truncated(x, from, Dtype::Int32);
                self.resized(whole, Dtype::Int32, to)
            }
        }
    }

    fn truncated(&mut self, x: Value, from: Dtype, to: Dtype) -> Value {
        if self.drawn {
            // The instruction gives the least integer by itself.
            let ty = self.ty(to);
            return self.b.ins().fcvt_to_sint_sat(ty, x);
        }
        let (x, from) = match to {
            Dtype::Int32 => (self.convert(x, from, Dtype::Float64), Dtype::Float64),
            _ => (x, from),
        };
        let (low, high, how) = match to {
            Dtype::Int32 => (-2_147_483_649.0, 2_147_483_648.0, Op::Gt),
            _ => (-9_223_372_036_854_775_808.0, 9_223_372_036_854_775_808.0, Op::Ge),
        };
        let (low, high) = (self.number(from, low), self.number(from, high));
        let above = self.compare(how, from, x, low);
        let below = self.compare(Op::Lt, from, x, high);
        let fits = self.b.ins().band(above, below);
        let zero = self.number(from, 0.0);
        let safe = self.b.ins().select(fits, x, zero);
        let whole = self.b.ins().fcvt_to_sint_sat(to.ir(), safe);
        let least =
            self.int(to.ir(), if to == Dtype::Int32 { i64::from(i32::MIN) } else { i64::MIN });
        self.b.ins().select(fits, whole, least)
    }
}
