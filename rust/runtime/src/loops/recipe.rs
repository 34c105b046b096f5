//! Functions as lists of operations on registers, for who makes code of them.
//!
//! There is no second text of a function: it runs once, on lanes that write down what is asked of them. The operations
//! are those of AVX-512, so that code of them makes the bits that the functions of that level make.

use crate::loops::angles::Angles;
use crate::loops::exponential::Exponential;
use crate::loops::gamma::Gamma;
use crate::loops::lanes::{Float, Function, Lanes};
use crate::loops::logarithm::{EDGES, Logarithm};
use std::cell::RefCell;
use std::marker::PhantomData;

/// The result of an operation, by its number.
pub type OperationId = usize;

/// One operation on registers. Numbers and tables are bits, in the type of the elements.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Operation {
    /// The argument.
    Argument,
    /// These bits in all elements.
    Number(u64),
    /// A sum.
    Add(OperationId, OperationId),
    /// A difference.
    Sub(OperationId, OperationId),
    /// A product.
    Mul(OperationId, OperationId),
    /// A quotient.
    Div(OperationId, OperationId),
    /// The square root.
    Sqrt(OperationId),
    /// The product of the first two plus the third, rounded once.
    Fma(OperationId, OperationId, OperationId),
    /// Bits that both have.
    And(OperationId, OperationId),
    /// Bits that one has.
    Or(OperationId, OperationId),
    /// Where the first number is below the second, the third; else the fourth. A NaN is not.
    Below([OperationId; 4]),
    /// The entry of a table at the last four bits.
    Entry([u64; 16], OperationId),
    /// The first times 2 to the power of the floor of the second, as `vscalef` does it.
    Scale(OperationId, OperationId),
    /// The number of the smaller size, with the sign of the first, as `vrange` does it with 6.
    Nearer(OperationId, OperationId),
    /// The mantissa from 3/4 to 3/2, as `vgetmant` does it; of negative numbers NaN.
    Mantissa(OperationId),
    /// The exponent, as `vgetexp` does it.
    Exponent(OperationId),
    /// The floor.
    Floor(OperationId),
    /// The first, unless the second is a zero, infinity, NaN or negative, as `vfixupimm` says by the bits.
    Edges(OperationId, OperationId, u64),
}

/// The operations of a function; the last one is its result.
#[derive(Default)]
struct Notes {
    operations: Vec<Operation>,
    /// Whether something was asked that no operation says.
    failed: bool,
}

thread_local! {
    static NOTES: RefCell<Notes> = RefCell::default();
}

/// The operations of a function of this thread's notes.
pub(super) fn operations_of<F: Function, T: Float>() -> Option<Vec<Operation>>
where
    Noted<T>: Lanes,
{
    NOTES.take();
    let argument = note::<T>(Operation::Argument);
    let result = F::of(argument).0;
    let Notes { mut operations, failed } = NOTES.take();
    operations.truncate(result + 1);
    (!failed).then_some(operations)
}

/// A register that is an operation. Its methods are calls: written out in each function they would make these large.
#[derive(Clone, Copy)]
pub(super) struct Noted<T>(OperationId, PhantomData<T>);

fn note<T>(operation: Operation) -> Noted<T> {
    Noted(id_of(operation), PhantomData)
}

/// The number of an operation, which is noted once.
#[inline(never)]
fn id_of(operation: Operation) -> OperationId {
    NOTES.with_borrow_mut(|own| {
        let known = own.operations.iter().position(|&known| known == operation);
        known.unwrap_or_else(|| {
            own.operations.push(operation);
            own.operations.len() - 1
        })
    })
}

#[inline(never)]
fn fail() {
    NOTES.with_borrow_mut(|own| own.failed = true);
}

macro_rules! noted {
    ($float:ty) => {
        impl Lanes for Noted<$float> {
            type Element = $float;
            const EXPONENTIAL: &Exponential<$float> = <$float>::EXPONENTIAL;
            const LOGARITHM: &Logarithm<$float> = <$float>::LOGARITHM;
            const ANGLES: &Angles<$float> = <$float>::ANGLES;
            const GAMMA: &Gamma<$float> = <$float>::GAMMA;
            const DIGAMMA: &Gamma<$float> = <$float>::DIGAMMA;
            const IS_DOUBLE: bool = <$float>::IS_DOUBLE;

            #[inline(never)]
            fn all(x: $float) -> Self {
                note(Operation::Number(u64::from(x.to_bits())))
            }

            fn number(x: f64) -> Self {
                Self::all(<$float as Lanes>::number(x))
            }

            fn each<F: Function>(self) -> Self {
                fail();
                self
            }

            #[inline(never)]
            fn div(self, by: Self) -> Self {
                note(Operation::Div(self.0, by.0))
            }

            #[inline(never)]
            fn sqrt(self) -> Self {
                note(Operation::Sqrt(self.0))
            }

            #[inline(never)]
            fn abs(self) -> Self {
                let size = Self::bits(!(-0.0 as $float).to_bits());
                note(Operation::And(size.0, self.0))
            }

            #[inline(never)]
            fn below(self, bound: Self, yes: Self, no: Self) -> Self {
                note(Operation::Below([self.0, bound.0, yes.0, no.0]))
            }

            fn all_within(self, _: Self) -> bool {
                fail();
                true
            }

            fn all_between(self, _: Self, _: Self) -> bool {
                fail();
                true
            }

            fn if_odd(self, yes: Self, _: Self) -> Self {
                fail();
                yes
            }

            fn negated_by(self, _: Self) -> Self {
                fail();
                self
            }

            #[inline(never)]
            fn inverse_power(k: Self, _: Self) -> Self {
                let floor: Self = note(Operation::Floor(k.0));
                let negative = Self::all(0.0).sub(floor);
                note(Operation::Scale(Self::all(1.0).0, negative.0))
            }

            #[inline(never)]
            fn fma(self, by: Self, more: Self) -> Self {
                note(Operation::Fma(self.0, by.0, more.0))
            }

            #[inline(never)]
            fn add(self, other: Self) -> Self {
                note(Operation::Add(self.0, other.0))
            }

            #[inline(never)]
            fn sub(self, other: Self) -> Self {
                note(Operation::Sub(self.0, other.0))
            }

            #[inline(never)]
            fn mul(self, other: Self) -> Self {
                note(Operation::Mul(self.0, other.0))
            }

            #[inline(never)]
            fn taken_from(self, table: &[$float; 16]) -> Self {
                note(Operation::Entry(table.map(|own| u64::from(own.to_bits())), self.0))
            }

            fn within_exponents(self) -> Self {
                self // the instructions know the edges
            }

            fn within_decay(self) -> Self {
                self // the instructions know the edges
            }

            #[inline(never)]
            fn whole_power(k: Self, _: Self) -> Self {
                note(Operation::Scale(Self::all(1.0).0, k.0))
            }

            #[inline(never)]
            fn at_most(self, most: Self) -> Self {
                note(Operation::Nearer(self.0, most.0))
            }

            #[inline(never)]
            fn times_power(self, k: Self, _: Self) -> Self {
                note(Operation::Scale(self.0, k.0))
            }

            #[inline(never)]
            fn times_whole_power(self, k: Self) -> Self {
                note(Operation::Scale(self.0, k.0))
            }

            #[inline(never)]
            fn parts(self) -> (Self, Self) {
                let m: Self = note(Operation::Mantissa(self.0));
                let (of_m, of_all): (Self, Self) =
                    (note(Operation::Exponent(m.0)), note(Operation::Exponent(self.0)));
                (m, of_m.sub(of_all))
            }

            #[inline(never)]
            fn or_edges_of(self, u: Self) -> Self {
                note(Operation::Edges(self.0, u.0, EDGES))
            }

            #[inline(never)]
            fn with_sign_of(self, x: Self) -> Self {
                let sign = Self::bits((-0.0 as $float).to_bits());
                let size = Self::bits(!(-0.0 as $float).to_bits());
                let (own, other): (Self, Self) =
                    (note(Operation::And(size.0, self.0)), note(Operation::And(sign.0, x.0)));
                note(Operation::Or(own.0, other.0))
            }
        }

        impl Noted<$float> {
            fn bits(bits: impl Into<u64>) -> Self {
                note(Operation::Number(bits.into()))
            }
        }
    };
}

noted!(f64);
noted!(f32);
