//! Shapes in messages.

use std::fmt;

/// A shape.
pub(super) struct Lengths<'a>(pub(super) &'a [i64]);

impl fmt::Display for Lengths<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        tuple(f, self.0.iter().map(|&length| Some(length)))
    }
}

/// A shape whose lengths may be open.
pub(super) struct Tuple<'a>(pub(super) &'a [Option<i64>]);

impl fmt::Display for Tuple<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        tuple(f, self.0.iter().copied())
    }
}

/// Writes a shape as Python does.
fn tuple(
    f: &mut fmt::Formatter<'_>,
    dims: impl ExactSizeIterator<Item = Option<i64>>,
) -> fmt::Result {
    let comma = if dims.len() == 1 { "," } else { "" };
    f.write_str("(")?;
    for (axis, dim) in dims.enumerate() {
        f.write_str(if axis > 0 { ", " } else { "" })?;
        match dim {
            Some(length) => write!(f, "{length}")?,
            None => f.write_str("None")?,
        }
    }
    write!(f, "{comma})")
}
