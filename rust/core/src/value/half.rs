//! Numbers of 16 bits, IEEE 754's binary16: to and from wider floats, by their bits.

/// The number with these bits, which a wider float holds exactly.
pub fn from_half(bits: u16) -> f32 {
    let sign = u32::from(bits & 0x8000) << 16;
    let magnitude = u32::from(bits & 0x7fff) << 13;
    let value = match bits >> 10 & 0x1f {
        // The smallest have no leading one: the difference of two numbers that do.
        0 => f32::from_bits(magnitude + (113 << 23)) - f32::from_bits(113 << 23),
        31 => f32::from_bits(magnitude | 0x7f80_0000),
        _ => f32::from_bits(magnitude + (112 << 23)),
    };
    f32::from_bits(value.to_bits() | sign)
}

/// The bits of the nearest number; of two that are equally near, the bits of the even one.
pub fn to_half(value: f64) -> u16 {
    nearest(to_odd(value))
}

/// A number of 24 digits that rounds to the same numbers of fewer digits: its last digit is set if any digit that is
/// cut off is.
fn to_odd(value: f64) -> f32 {
    let near = value as f32;
    if f64::from(near) == value || value.is_nan() {
        return near;
    }
    let above = u32::from(f64::from(near).abs() > value.abs());
    f32::from_bits((near.to_bits() - above) | 1)
}

fn nearest(value: f32) -> u16 {
    let bits = value.to_bits() & 0x7fff_ffff;
    let magnitude = if bits > 0x7f80_0000 {
        0x7e00 | bits >> 13 & 0x3ff
    } else if bits >= 143 << 23 {
        0x7c00
    } else if bits < 113 << 23 {
        // The sum has its last digit where the smallest numbers have theirs.
        let aligned = f32::from_bits(bits) + f32::from_bits(126 << 23);
        aligned.to_bits() - (126 << 23)
    } else {
        let odd = bits >> 13 & 1;
        (bits - (112 << 23) + 0xfff + odd) >> 13
    };
    (value.to_bits() >> 16 & 0x8000 | magnitude) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_numbers_come_back() {
        for bits in 0..=u16::MAX {
            let wide = from_half(bits);
            if wide.is_nan() {
                assert_eq!(to_half(wide.into()), bits | 0x200);
            } else {
                assert_eq!(to_half(wide.into()), bits, "{wide}");
            }
        }
    }

    #[test]
    fn what_lies_between_goes_to_the_nearer_and_ties_to_even() {
        for bits in 0..0x7bff_u16 {
            let (low, high) = (f64::from(from_half(bits)), f64::from(from_half(bits + 1)));
            let middle = (low + high) / 2.0;
            assert_eq!(to_half(middle), bits + bits % 2);
            assert_eq!(to_half(middle.next_down()), bits);
            assert_eq!(to_half(middle.next_up()), bits + 1);
            assert_eq!(to_half(-middle.next_up()), (bits + 1) | 0x8000);
        }
    }

    #[test]
    fn large_and_tiny_numbers_have_limits() {
        assert_eq!(from_half(0x3c01), 1.0 + 1.0 / 1024.0);
        assert_eq!(from_half(1), 2f32.powi(-24));
        assert_eq!(from_half(0x7bff), 65504.0);
        assert_eq!(to_half(65520.0), 0x7c00);
        assert_eq!(to_half(65520f64.next_down()), 0x7bff);
        assert_eq!(to_half(f64::MAX), 0x7c00);
        assert_eq!(to_half(f64::NEG_INFINITY), 0xfc00);
        assert_eq!(to_half(-0.0), 0x8000);
        assert_eq!(to_half(-1e-300), 0x8000);
        assert_eq!(to_half(f64::NAN) & 0x7e00, 0x7e00);
    }
}
