//! Graphs to text.

use std::fmt::Write;

use rustc_hash::{FxHashMap, FxHashSet};

use super::{GRAPH, is_kind};
use crate::node::frozen::FrozenFunctionGraph;
use crate::node::op::{Op, Param};
use crate::persist::listing::{ListedNode, ListedOutput, Listing, inner_first};
use crate::value::element_text;

/// The text of `graph`.
pub fn print(graph: &FrozenFunctionGraph) -> String {
    let mut names = Names::default();
    let mut ops: FxHashMap<Op, String> = FxHashMap::default();
    let mut graphs: FxHashMap<usize, String> = FxHashMap::default();
    let mut out = String::new();
    for (listed, listing, its_ops) in inner_first(graph) {
        for op in &its_ops {
            if !ops.contains_key(op) {
                let name = names.fresh(op.label());
                let _ = write!(out, "{name} = ");
                print_op(&mut out, op, &graphs);
                out.push('\n');
                ops.insert(op.clone(), name);
            }
        }
        if listed != *graph {
            let name = names.fresh("inner");
            let _ = write!(out, "{name} = ");
            graphs.insert(listed.address(), name);
        }
        let op_names: Vec<&str> = its_ops.iter().map(|op| ops[op].as_str()).collect();
        print_listing(&mut out, &listing, &op_names);
    }
    out
}

fn print_listing(out: &mut String, listing: &Listing, names: &[&str]) {
    out.push_str("graph");
    for (position, ty) in listing.inputs.iter().enumerate() {
        let _ = write!(out, "{} *{position}: {ty}", if position == 0 { "" } else { "," });
    }
    out.push('\n');
    let inputs = listing.inputs.len() as u32;
    for (number, listed) in listing.nodes.iter().enumerate() {
        let _ = write!(out, "%{number} = ");
        match listed {
            ListedNode::Constant(data) => {
                let _ = write!(out, "{} ", data.ty());
                element_text::elements(out, data);
            }
            ListedNode::Apply { op, tag, inputs: operands, types } => {
                out.push_str(names[*op as usize]);
                if let Some(tag) = tag {
                    let _ = write!(out, "#{tag}");
                }
                out.push('(');
                print_list(out, operands, |out, place| print_output(out, place, inputs));
                out.push_str("): ");
                print_list(out, types, |out, ty| {
                    let _ = write!(out, "{ty}");
                });
            }
        }
        out.push('\n');
    }
    out.push_str("return");
    for (position, place) in listing.outputs.iter().enumerate() {
        out.push_str(if position == 0 { " " } else { ", " });
        print_output(out, place, inputs);
    }
    out.push('\n');
}

/// Words made from labels, no two alike.
struct Names(FxHashSet<String>);

impl Default for Names {
    fn default() -> Names {
        Names(FxHashSet::from_iter(["graph", "return"].map(str::to_owned)))
    }
}

impl Names {
    fn fresh(&mut self, label: &str) -> String {
        let word: String =
            label.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        let word = word.trim_matches('_');
        let digit = word.starts_with(|c: char| c.is_ascii_digit());
        let base = if word.is_empty() || digit { format!("op_{word}") } else { word.to_owned() };
        let mut name = base.clone();
        let mut number = 1;
        while !self.0.insert(name.clone()) {
            number += 1;
            name = format!("{base}_{number}");
        }
        name
    }
}

fn print_list<T>(out: &mut String, items: &[T], mut print: impl FnMut(&mut String, &T)) {
    for (position, item) in items.iter().enumerate() {
        if position > 0 {
            out.push_str(", ");
        }
        print(out, item);
    }
}

fn print_output(out: &mut String, place: &ListedOutput, inputs: u32) {
    let _ = match place.at.checked_sub(inputs) {
        None => write!(out, "*{}", place.at),
        Some(listed) => write!(out, "%{listed}"),
    };
    if place.output > 0 {
        let _ = write!(out, ".{}", place.output);
    }
}

/// The names of the graphs that ops hold, by address.
type GraphNames = FxHashMap<usize, String>;

fn print_op(out: &mut String, op: &Op, graphs: &GraphNames) {
    let kind = &op.key().kind;
    // A definition that starts with this word is a graph's.
    if !kind.is_empty() && kind.chars().all(is_kind) && kind != GRAPH {
        out.push_str(kind);
    } else {
        print_text(out, kind);
    }
    out.push(' ');
    print_param(out, &op.key().params, graphs);
}

fn print_param(out: &mut String, param: &Param, graphs: &GraphNames) {
    let _ = match param {
        Param::None => write!(out, "none"),
        Param::Bool(value) => write!(out, "{value}"),
        Param::Int(value) => write!(out, "{value}"),
        Param::Float(value) => {
            element_text::float(out, *value);
            Ok(())
        }
        Param::Text(value) => {
            print_text(out, value);
            Ok(())
        }
        Param::Bytes(value) => {
            out.push_str("x\"");
            value.iter().for_each(|byte| {
                let _ = write!(out, "{byte:02x}");
            });
            write!(out, "\"")
        }
        Param::DType(value) => write!(out, "dtype {value}"),
        Param::Type(value) => write!(out, "type {value}"),
        Param::Op(value) => {
            out.push_str("op ");
            print_op(out, value, graphs);
            Ok(())
        }
        Param::List(values) => {
            out.push('[');
            print_list(out, values, |out, value| print_param(out, value, graphs));
            write!(out, "]")
        }
        // Graphs that ops hold were printed before.
        Param::Graph(value) => write!(out, "graph {}", graphs[&value.address()]),
        Param::Identity(token) => write!(out, "identity {token}"),
    };
}

fn print_text(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        let _ = match c {
            '"' | '\\' => write!(out, "\\{c}"),
            ' '..='~' => write!(out, "{c}"),
            _ => write!(out, "\\u{{{:x}}}", c as u32),
        };
    }
    out.push('"');
}
