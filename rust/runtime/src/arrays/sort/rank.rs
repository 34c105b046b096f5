//! The order of elements, as integers.

use frazil_core::DType;

use super::network::{Cell, Ranks};

/// An unsigned integer by which elements are compared.
pub(super) trait Rank: Copy + Ord + Default + From<u8> + Into<u64> {
    /// The rank of NaN, behind all others.
    const LAST: Self;

    /// As many as are compared at once.
    type Vector: Cell;

    /// Their number.
    const LANES: usize;

    /// The same one in all lanes.
    fn vector(self) -> Self::Vector;

    /// That of a lane.
    fn lane(vector: &mut Self::Vector, lane: usize) -> &mut Self;
}

macro_rules! ranks {
    ($($rank:ty: $lanes:literal;)*) => { $(
        impl Rank for $rank {
            type Vector = Ranks<$rank, $lanes>;
            const LAST: $rank = <$rank>::MAX;
            const LANES: usize = $lanes;

            fn vector(self) -> Self::Vector {
                Ranks([self; $lanes])
            }

            #[inline(always)]
            fn lane(vector: &mut Self::Vector, lane: usize) -> &mut $rank {
                &mut vector.0[lane]
            }
        }
    )* };
}

ranks! {
    u8: 64;
    u16: 32;
    u32: 16;
    u64: 8;
}

/// Elements with an order: numbers, NaN behind all others, the two zeros equal.
///
/// Signed integers are taken for unsigned ones, so that no code is made for them: the rank of zero,
/// which is not zero with a sign, is given to whatever ranks.
pub(super) trait Ranked: Copy {
    /// An integer of the same size.
    type Rank: Rank;

    /// Compares as the element does.
    fn rank(self, zero: Self::Rank) -> Self::Rank;

    /// An element of that rank.
    fn of_rank(rank: Self::Rank, zero: Self::Rank) -> Self;

    /// The rank with these lowest bits.
    fn rank_of(bits: u64) -> Self::Rank;

    /// The rank of zero in a type, whose elements lie as these do.
    fn zero(dtype: DType) -> Self::Rank;

    /// Whether the element of its rank is another one: it is a NaN or the negative zero.
    fn is_lost(self) -> bool;
}

macro_rules! ranked {
    ($($kind:ty)*) => {
        $(impl Ranked for $kind {
            type Rank = $kind;

            #[inline(always)]
            fn rank(self, zero: $kind) -> $kind {
                self ^ zero
            }

            #[inline(always)]
            fn of_rank(rank: $kind, zero: $kind) -> $kind {
                rank ^ zero
            }

            fn rank_of(bits: u64) -> $kind {
                bits as $kind
            }

            fn zero(dtype: DType) -> $kind {
                let has_sign =
                    matches!(dtype, DType::Int8 | DType::Int16 | DType::Int32 | DType::Int64);
                if has_sign { 1 << (<$kind>::BITS - 1) } else { 0 }
            }

            #[inline(always)]
            fn is_lost(self) -> bool {
                false
            }
        })*
    };
}

ranked!(u8 u16 u32 u64);

macro_rules! ranked_float {
    ($($float:ty: $rank:ty, $sign:expr;)*) => {
        $(impl Ranked for $float {
            type Rank = $rank;

            #[inline(always)]
            fn rank(self, _: $rank) -> $rank {
                let bits = (self + 0.0).to_bits(); // the negative zero becomes the other one
                let rank = if bits & $sign == 0 { bits | $sign } else { !bits };
                if self.is_nan() { <$rank>::MAX } else { rank }
            }

            #[inline(always)]
            fn of_rank(rank: $rank, _: $rank) -> $float {
                <$float>::from_bits(if rank & $sign != 0 { rank ^ $sign } else { !rank })
            }

            fn rank_of(bits: u64) -> $rank {
                bits as $rank
            }

            fn zero(_: DType) -> $rank {
                $sign
            }

            #[inline(always)]
            fn is_lost(self) -> bool {
                self.is_nan() | (self.to_bits() == $sign)
            }
        })*
    };
}

ranked_float! {
    f32: u32, 1 << 31;
    f64: u64, 1 << 63;
}
