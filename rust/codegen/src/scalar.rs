//! Scalar ops as instructions, which compute the same bits as the C text of the op.

use crate::dtype::{Dtype, Kind};
use crate::emit::{Emitter, suffix};
use crate::op::{Op, Reduction};
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::types::{F64, I16X8, I32, I64};
use cranelift_codegen::ir::{InstBuilder, Value};

pub(crate) use self::wide::{has_drawn_form, has_wide_form};

mod convert;
mod half;
mod wide;

/// The status of an integer to a negative power.
const NEGATIVE_POWER: i64 = 1;

impl Emitter<'_> {
    /// The op on operands of type `from`, which are converted to the types `operands` first.
    pub(crate) fn apply(
        &mut self,
        op: Op,
        from: &[Dtype],
        operands: &[Dtype],
        result: Dtype,
        args: &[Value],
    ) -> Value {
        let given: Vec<Value> =
            (0..args.len()).map(|at| self.convert(args[at], from[at], operands[at])).collect();
        self.op(op, operands, result, &given)
    }

    /// The op on operands of its own types.
    pub(crate) fn op(
        &mut self,
        op: Op,
        operands: &[Dtype],
        result: Dtype,
        args: &[Value],
    ) -> Value {
        let own = operands[operands.len() - 1];
        if op == Op::Cast {
            return self.convert(args[0], own, result);
        }
        let mixed = operands.len() == 2 && operands[0] != own;
        let is_drawn = self.drawn && has_drawn_form(op, own);
        if self.wide.is_some() && !is_drawn && (mixed || !has_wide_form(op, own)) {
            return self
                .each_lane(operands, args, result, |e, given| e.op(op, operands, result, given));
        }
        if op.is_of_scipy() {
            return self.function_of_scipy(op, own, args);
        }
        match (op, args) {
            (Op::Second, &[_, y]) => y,
            (Op::Identity | Op::DisconnectedGrad | Op::ZeroGrad, &[x]) => x,
            (Op::Where, &[holds, yes, no]) => self.select(holds, yes, no),
            (Op::Eq | Op::Neq | Op::Lt | Op::Le | Op::Gt | Op::Ge, &[x, y]) => {
                if operands[0] == operands[1] {
                    self.compare(op, own, x, y)
                } else {
                    self.compare_mixed(op, operands, x, y)
                }
            }
            (Op::Clip, &[x, low, high]) => self.clip(own, x, low, high),
            (_, &[x]) => self.unary(op, own, x),
            (_, &[x, y]) => self.binary(op, own, x, y),
            _ => unreachable!("a kernel was verified"),
        }
    }

    /// The result so far with one more value folded in.
    pub(crate) fn fold(
        &mut self,
        reduce: Reduction,
        dtype: Dtype,
        so_far: Value,
        value: Value,
    ) -> Value {
        let given = if reduce.keeps_first() { [value, so_far] } else { [so_far, value] };
        self.op(reduce.0, &[dtype; 2], dtype, &given)
    }

    fn unary(&mut self, op: Op, own: Dtype, x: Value) -> Value {
        let kind = own.kind();
        match (op, kind) {
            (Op::Neg, Kind::Float) => self.b.ins().fneg(x),
            (Op::Neg, _) => self.b.ins().ineg(x),
            (Op::Reciprocal, _) => {
                let one = self.number(own, 1.0);
                self.b.ins().fdiv(one, x)
            }
            (Op::Sqr, _) => self.binary(Op::Mul, own, x, x),
            (Op::Abs, Kind::Float) => self.b.ins().fabs(x),
            (Op::Abs, Kind::Signed) => {
                let (zero, negated) = (self.number(own, 0.0), self.b.ins().ineg(x));
                let below = self.compare(Op::Lt, own, x, zero);
                self.select(below, negated, x)
            }
            (Op::Floor, Kind::Float) => self.b.ins().floor(x),
            (Op::Ceil, Kind::Float) => self.b.ins().ceil(x),
            (Op::Trunc, Kind::Float) => self.b.ins().trunc(x),
            (Op::Rint, _) => self.b.ins().nearest(x),
            (Op::Abs | Op::Floor | Op::Ceil | Op::Trunc, _) => x,
            (Op::Sqrt, _) => self.b.ins().sqrt(x),
            (Op::Sign, _) => self.sign(own, x),
            (Op::Invert, Kind::Bool) if self.wide.is_none() => self.b.ins().bxor_imm_u(x, 1),
            (Op::Invert, _) => self.b.ins().bnot(x),
            (Op::Isnan, Kind::Float) => self.compare(Op::Neq, own, x, x),
            (Op::Isinf | Op::Isfinite, Kind::Float) => {
                let size = self.b.ins().fabs(x);
                let infinite = self.number(own, f64::INFINITY);
                let how = if op == Op::Isinf { Op::Eq } else { Op::Lt };
                self.compare(how, own, size, infinite)
            }
            (Op::Isnan | Op::Isinf, _) => self.constant(Dtype::Bool, 0),
            (Op::Isfinite, _) => self.constant(Dtype::Bool, 1),
            (Op::Signbit, Kind::Float) => {
                let whole = self.shape(crate::emit::integer(own.size()));
                let bits = self.bits(x, whole);
                self.b.ins().icmp_imm_s(IntCC::SignedLessThan, bits, 0)
            }
            (Op::Signbit, Kind::Signed) => self.b.ins().icmp_imm_s(IntCC::SignedLessThan, x, 0),
            (Op::Signbit, _) => self.constant(Dtype::Bool, 0),
            _ => self.function(op, own, &[x]),
        }
    }

    /// Calls a function of float64 that SciPy exports, and mends what it lacks.
    fn function_of_scipy(&mut self, op: Op, own: Dtype, args: &[Value]) -> Value {
        let given: Vec<Value> =
            args.iter().map(|&x| self.convert(x, own, Dtype::Float64)).collect();
        let made = match op {
            Op::LogNdtr => {
                let part = self.number(Dtype::Float64, -std::f64::consts::FRAC_1_SQRT_2);
                let above = self.b.ins().fmul(given[0], part);
                let scaled = self.call_scipy("erfcx", vec![above]);
                self.call("log_ndtr_of_scaled", Some(F64), &[given[0], scaled])
            }
            _ => self.call_scipy(op.name(), given),
        };
        self.convert(made, Dtype::Float64, own)
    }

    /// The last operand is of no use here.
    fn call_scipy(&mut self, name: &str, mut args: Vec<Value>) -> Value {
        args.push(self.b.ins().iconst(I32, 0));
        self.call(&format!("scipy_{name}"), Some(F64), &args)
    }

    fn sign(&mut self, own: Dtype, x: Value) -> Value {
        let zero = self.number(own, 0.0);
        let one = self.number(own, 1.0);
        let above = self.compare(Op::Gt, own, x, zero);
        if own.kind() == Kind::Unsigned {
            return self.select(above, one, zero);
        }
        let below = self.compare(Op::Lt, own, x, zero);
        let minus = self.number(own, -1.0);
        let rest = if own.is_float() {
            // A zero has no sign here, and a NaN stays.
            let none = self.compare(Op::Eq, own, x, zero);
            self.select(none, zero, x)
        } else {
            zero
        };
        let low = self.select(below, minus, rest);
        self.select(above, one, low)
    }

    fn binary(&mut self, op: Op, own: Dtype, x: Value, y: Value) -> Value {
        let kind = own.kind();
        match (op, kind) {
            (Op::Add, Kind::Float) => self.b.ins().fadd(x, y),
            (Op::Sub, Kind::Float) => self.b.ins().fsub(x, y),
            (Op::Mul, Kind::Float) => self.b.ins().fmul(x, y),
            (Op::Truediv, _) => self.b.ins().fdiv(x, y),
            (Op::Add | Op::Maximum | Op::Fmax | Op::Or, Kind::Bool) | (Op::Or, _) => {
                self.b.ins().bor(x, y)
            }
            (Op::Mul | Op::Minimum | Op::Fmin | Op::And, Kind::Bool) | (Op::And, _) => {
                self.b.ins().band(x, y)
            }
            (Op::Xor, _) => self.b.ins().bxor(x, y),
            (Op::Add, _) => self.b.ins().iadd(x, y),
            (Op::Sub, _) => self.b.ins().isub(x, y),
            (Op::Mul, _) => self.by_more_bits(own, [x, y], |e, x, y| e.b.ins().imul(x, y)),
            (Op::Maximum | Op::Minimum | Op::Fmax | Op::Fmin, _) => {
                let how = if matches!(op, Op::Maximum | Op::Fmax) { Op::Gt } else { Op::Lt };
                let mut wins = self.compare(how, own, x, y);
                if own.is_float() {
                    let asked = if matches!(op, Op::Fmax | Op::Fmin) { y } else { x };
                    let nan = self.compare(Op::Neq, own, asked, asked);
                    wins = self.b.ins().bor(wins, nan);
                }
                self.select(wins, x, y)
            }
            (Op::Floordiv, Kind::Float) => self.float_floordiv(own, x, y),
            (Op::Mod, Kind::Float) => self.float_mod(own, x, y),
            (Op::Copysign, _) => self.b.ins().fcopysign(x, y),
            (Op::LeftShift | Op::RightShift, _) => self.shift(op, own, x, y),
            (Op::Floordiv | Op::Mod | Op::Fmod, Kind::Signed | Kind::Unsigned) => {
                self.integer_division(op, own, x, y)
            }
            (Op::Pow, Kind::Signed | Kind::Unsigned) => self.integer_power(own, x, y),
            _ => self.function(op, own, &[x, y]),
        }
    }

    /// Calls the function that is made ahead for one element.
    fn function(&mut self, op: Op, own: Dtype, args: &[Value]) -> Value {
        let ty = own.ir();
        let form = if self.in_steps { "step" } else { "one" };
        self.call(&format!("{}_{form}_{}", op.name(), suffix(ty)), Some(ty), args)
    }

    pub(crate) fn compare(&mut self, op: Op, own: Dtype, x: Value, y: Value) -> Value {
        if own.is_float() {
            let how = match op {
                Op::Eq => FloatCC::Equal,
                Op::Neq => FloatCC::NotEqual,
                Op::Lt => FloatCC::LessThan,
                Op::Le => FloatCC::LessThanOrEqual,
                Op::Gt => FloatCC::GreaterThan,
                _ => FloatCC::GreaterThanOrEqual,
            };
            let (x, y) = (self.in_register(x), self.in_register(y));
            return self.b.ins().fcmp(how, x, y);
        }
        let signed = own.is_signed();
        let how = match op {
            Op::Eq => IntCC::Equal,
            Op::Neq => IntCC::NotEqual,
            Op::Lt if signed => IntCC::SignedLessThan,
            Op::Le if signed => IntCC::SignedLessThanOrEqual,
            Op::Gt if signed => IntCC::SignedGreaterThan,
            Op::Ge if signed => IntCC::SignedGreaterThanOrEqual,
            Op::Lt => IntCC::UnsignedLessThan,
            Op::Le => IntCC::UnsignedLessThanOrEqual,
            Op::Gt => IntCC::UnsignedGreaterThan,
            _ => IntCC::UnsignedGreaterThanOrEqual,
        };
        self.b.ins().icmp(how, x, y)
    }

    /// An int64 and a uint64, which have no common type: a negative number is less than any other.
    fn compare_mixed(&mut self, op: Op, operands: &[Dtype], x: Value, y: Value) -> Value {
        let first_is_signed = operands[0].is_signed();
        let negative =
            self.b.ins().icmp_imm_s(IntCC::SignedLessThan, if first_is_signed { x } else { y }, 0);
        let (yes, no) = (self.constant(Dtype::Bool, 1), self.constant(Dtype::Bool, 0));
        let of_negative = match op {
            Op::Eq => no,
            Op::Neq => yes,
            Op::Lt | Op::Le => {
                if first_is_signed {
                    yes
                } else {
                    no
                }
            }
            _ => {
                if first_is_signed {
                    no
                } else {
                    yes
                }
            }
        };
        let both = self.compare(op, Dtype::Uint64, x, y);
        self.select(negative, of_negative, both)
    }

    fn clip(&mut self, own: Dtype, x: Value, low: Value, high: Value) -> Value {
        match own.kind() {
            Kind::Bool => {
                let up = self.b.ins().bor(x, low);
                self.b.ins().band(up, high)
            }
            Kind::Float => {
                let up = self.kept_unless(Op::Ge, own, x, low);
                self.kept_unless(Op::Le, own, up, high)
            }
            _ => {
                let above = self.compare(Op::Gt, own, x, low);
                let up = self.select(above, x, low);
                let below = self.compare(Op::Lt, own, up, high);
                self.select(below, up, high)
            }
        }
    }

    /// `x` where it compares so with the bound or is NaN, else the bound.
    fn kept_unless(&mut self, op: Op, own: Dtype, x: Value, bound: Value) -> Value {
        let inside = self.compare(op, own, x, bound);
        let nan = self.compare(Op::Neq, own, x, x);
        let stays = self.b.ins().bor(inside, nan);
        self.select(stays, x, bound)
    }

    // ------------------------------------------------------------ division of one element

    /// The remainder, and whether it has another sign than the divisor.
    fn remainder(&mut self, own: Dtype, a: Value, b: Value) -> (Value, Value) {
        let ty = own.ir();
        let rest = self.call(&format!("fmod_one_{}", suffix(ty)), Some(ty), &[a, b]);
        let zero = self.number(own, 0.0);
        let left = self.compare(Op::Neq, own, rest, zero);
        let below = self.compare(Op::Lt, own, b, zero);
        let under = self.compare(Op::Lt, own, rest, zero);
        let apart = self.b.ins().bxor(below, under);
        (rest, self.b.ins().band(left, apart))
    }

    fn float_floordiv(&mut self, own: Dtype, a: Value, b: Value) -> Value {
        let (rest, off) = self.remainder(own, a, b);
        let (zero, one) = (self.number(own, 0.0), self.number(own, 1.0));
        let whole = self.b.ins().fsub(a, rest);
        let exact = self.b.ins().fdiv(whole, b);
        let less = self.b.ins().fsub(exact, one);
        let quotient = self.select(off, less, exact);
        let down = self.b.ins().floor(quotient);
        let gap = self.b.ins().fsub(quotient, down);
        let half = self.number(own, 0.5);
        let far = self.compare(Op::Gt, own, gap, half);
        let up = self.b.ins().fadd(down, one);
        let near = self.select(far, up, down);
        let ratio = self.b.ins().fdiv(a, b);
        let signed = self.b.ins().fcopysign(zero, ratio);
        let none = self.compare(Op::Eq, own, quotient, zero);
        let made = self.select(none, signed, near);
        let by_zero = self.compare(Op::Eq, own, b, zero);
        self.select(by_zero, ratio, made)
    }

    fn float_mod(&mut self, own: Dtype, a: Value, b: Value) -> Value {
        let (rest, off) = self.remainder(own, a, b);
        let zero = self.number(own, 0.0);
        let more = self.b.ins().fadd(rest, b);
        let moved = self.select(off, more, rest);
        let signed = self.b.ins().fcopysign(zero, b);
        let none = self.compare(Op::Eq, own, rest, zero);
        let made = self.select(none, signed, moved);
        let by_zero = self.compare(Op::Eq, own, b, zero);
        let nan = self.compare(Op::Neq, own, rest, rest);
        let stays = self.b.ins().bor(by_zero, nan);
        self.select(stays, rest, made)
    }

    /// The quotient of floats that hold the integers. It is next to a whole number only where it is one: the distance to
    /// one is at least the last digit of the dividend, which a float has to spare.
    fn division_by_floats(&mut self, op: Op, own: Dtype, a: Value, b: Value) -> Value {
        let float = if own.size() < 4 { Dtype::Float32 } else { Dtype::Float64 };
        let (zero, one) = (self.number(own, 0.0), self.number(own, 1.0));
        let by_zero = self.compare(Op::Eq, own, b, zero);
        let divisor = self.select(by_zero, one, b);
        let [a, b] = [a, divisor].map(|x| self.convert(x, own, float));
        let ratio = self.b.ins().fdiv(a, b);
        let whole = match op {
            Op::Fmod => self.b.ins().trunc(ratio),
            _ => self.b.ins().floor(ratio),
        };
        let made = if op == Op::Floordiv {
            whole
        } else {
            let back = self.b.ins().fmul(whole, b);
            self.b.ins().fsub(a, back)
        };
        let made = self.convert(made, float, own);
        self.select(by_zero, zero, made)
    }

    /// A division that traps, by zero or of the least integer by -1, is never made.
    fn integer_division(&mut self, op: Op, own: Dtype, a: Value, b: Value) -> Value {
        if self.drawn {
            return self.division_by_floats(op, own, a, b);
        }
        let (zero, one) = (self.number(own, 0.0), self.number(own, 1.0));
        let by_zero = self.compare(Op::Eq, own, b, zero);
        if !own.is_signed() {
            let divisor = self.select(by_zero, one, b);
            let made = match op {
                Op::Floordiv => self.b.ins().udiv(a, divisor),
                _ => self.b.ins().urem(a, divisor),
            };
            return self.select(by_zero, zero, made);
        }
        let minus = self.number(own, -1.0);
        let by_minus = self.compare(Op::Eq, own, b, minus);
        let odd = self.b.ins().bor(by_zero, by_minus);
        let divisor = self.select(odd, one, b);
        let rest = self.b.ins().srem(a, divisor);
        if op == Op::Fmod {
            return self.select(odd, zero, rest);
        }
        let left = self.compare(Op::Neq, own, rest, zero);
        let signs = self.b.ins().bxor(rest, divisor);
        let apart = self.compare(Op::Lt, own, signs, zero);
        let off = self.b.ins().band(left, apart);
        if op == Op::Mod {
            let more = self.b.ins().iadd(rest, divisor);
            let made = self.select(off, more, rest);
            return self.select(odd, zero, made);
        }
        let quotient = self.b.ins().sdiv(a, divisor);
        let less = self.b.ins().isub(quotient, one);
        let down = self.select(off, less, quotient);
        let negated = self.b.ins().ineg(a);
        let made = self.select(by_minus, negated, down);
        self.select(by_zero, zero, made)
    }

    /// A shift by as many bits as there are, or by a negative number, leaves nothing but the sign.
    fn shift(&mut self, op: Op, own: Dtype, x: Value, y: Value) -> Value {
        let last = i64::from(8 * own.size() - 1);
        let inside = self.b.ins().icmp_imm_u(IntCC::UnsignedLessThanOrEqual, y, last);
        if op == Op::RightShift && own.is_signed() {
            let most = self.constant(own, last as u64);
            let taken = self.select(inside, y, most);
            return self.by_more_bits(own, [x, taken], |e, x, y| e.b.ins().sshr(x, y));
        }
        let moved = self.by_more_bits(own, [x, y], |e, x, y| match op {
            Op::LeftShift => e.b.ins().ishl(x, y),
            _ => e.b.ins().ushr(x, y),
        });
        let zero = self.number(own, 0.0);
        self.select(inside, moved, zero)
    }

    /// Elements of 8 bits by way of 16, where the processor has no instruction for them.
    fn by_more_bits(
        &mut self,
        own: Dtype,
        [x, y]: [Value; 2],
        mut compute: impl FnMut(&mut Self, Value, Value) -> Value,
    ) -> Value {
        if self.wide.is_none() || own.size() > 1 {
            return compute(self, x, y);
        }
        if !self.drawn {
            let low = [x, y].map(|one| self.b.ins().swiden_low(one));
            let high = [x, y].map(|one| self.b.ins().swiden_high(one));
            // A number of more bits than eight would become the largest number that has eight.
            let kept = self.ints(I16X8, 0xff);
            let [low, high] = [low, high].map(|[x, y]| {
                let made = compute(self, x, y);
                self.b.ins().band(made, kept)
            });
            return self.b.ins().unarrow(low, high);
        }
        let more = if own.is_signed() { Dtype::Int16 } else { Dtype::Uint16 };
        let [x, y] = [x, y].map(|value| self.resized(value, own, more));
        let made = compute(self, x, y);
        self.resized(made, more, own)
    }

    fn integer_power(&mut self, own: Dtype, base: Value, exponent: Value) -> Value {
        let mut power = exponent;
        let mut negative = None;
        if own.is_signed() {
            let zero = self.number(own, 0.0);
            let below = self.compare(Op::Lt, own, exponent, zero);
            let fault = self.b.ins().iconst(I32, NEGATIVE_POWER);
            let so_far = self.status();
            let status = self.b.ins().select(below, fault, so_far);
            self.set_status(status);
            power = self.b.ins().select(below, zero, exponent);
            negative = Some((below, zero));
        }
        let (wide_base, wide_power) =
            (self.resized(base, own, Dtype::Uint64), self.resized(power, own, Dtype::Uint64));
        let made = self.call("power_of_integers", Some(I64), &[wide_base, wide_power]);
        let made = self.resized(made, Dtype::Uint64, own);
        match negative {
            None => made,
            Some((below, zero)) => self.b.ins().select(below, zero, made),
        }
    }
}
