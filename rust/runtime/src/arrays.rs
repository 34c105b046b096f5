//! Arrays, how they lie in memory, and what goes over them element by element or line by line.

pub(crate) mod array;
pub(crate) mod axis_lines;
pub(crate) mod layout;
pub(crate) mod scalar;
pub(crate) mod search;
pub(crate) mod sort;
pub(crate) mod strided;
pub(crate) mod view;
pub(crate) mod walk;
