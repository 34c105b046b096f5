//! Text to graphs.

use rustc_hash::FxHashMap;

use super::{GRAPH, is_kind};
use crate::node::container::Container;
use crate::node::frozen::FrozenFunctionGraph;
use crate::node::op::{Op, Param};
use crate::persist::codec::MAX_PARAM_DEPTH;
use crate::persist::listing::{ListedNode, ListedOutput, Listing, NamedOp, Resolve};
use crate::value::constant::ConstantData;
use crate::value::dtype::DType;
use crate::value::error::Error;
use crate::value::half::to_half;
use crate::value::ty::{Dim, Ty};

/// The graph that `text` describes, in `container`; the same object as the printed graph, if it lives there.
///
/// A text that describes no graph is an error with line and column.
pub fn parse(
    container: &Container,
    text: &str,
    resolve: &mut Resolve<'_>,
) -> Result<FrozenFunctionGraph, Error> {
    let mut parser = Parser { text, at: 0, graphs: FxHashMap::default(), resolve };
    let (listing, ops) = parser.graph()?;
    listing.build(container, &ops)
}

struct Parser<'a, 'r, 'f> {
    text: &'a str,
    at: usize,
    /// The graphs that ops may hold, by name.
    graphs: FxHashMap<&'a str, FrozenFunctionGraph>,
    resolve: &'r mut Resolve<'f>,
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

fn is_number(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.' | ':')
}

impl<'a> Parser<'a, '_, '_> {
    fn graph(&mut self) -> Result<(Listing, Vec<Op>), Error> {
        let mut ops = Vec::new();
        let mut numbers: FxHashMap<&'a str, u32> = FxHashMap::default();
        loop {
            let name = self.word("the name of an op, or `graph`", is_word)?;
            if name == GRAPH {
                break;
            }
            self.expect("=")?;
            if numbers.contains_key(name) || self.graphs.contains_key(name) {
                return Err(self.error(format!("the op {name} is defined twice")));
            }
            if self.accept_word(GRAPH) {
                // The container of the graphs of all ops.
                let graph = self.listing(&numbers)?.build(Container::global(), &ops)?;
                self.graphs.insert(name, graph);
            } else {
                ops.push(self.op(MAX_PARAM_DEPTH)?);
                numbers.insert(name, (ops.len() - 1) as u32);
            }
        }
        let listing = self.listing(&numbers)?;
        match self.peek() {
            None => Ok((listing, ops)),
            Some(_) => Err(self.error("expected `,`".to_owned())),
        }
    }

    fn listing(&mut self, ops: &FxHashMap<&'a str, u32>) -> Result<Listing, Error> {
        let mut inputs = Vec::new();
        if self.peek() == Some('*') {
            loop {
                self.expect("*")?;
                let position: u32 = self.number("the position of an input")?;
                if position as usize != inputs.len() {
                    return Err(self.error(format!("expected input *{}", inputs.len())));
                }
                self.expect(":")?;
                inputs.push(self.ty()?);
                if !self.accept(",") {
                    break;
                }
            }
        }
        let count = inputs.len() as u32;
        let mut nodes = Vec::new();
        while self.accept("%") {
            let number: u32 = self.number("the number of a node")?;
            if number as usize != nodes.len() {
                return Err(self.error(format!("expected node %{}", nodes.len())));
            }
            self.expect("=")?;
            nodes.push(self.node(ops, count)?);
        }
        let end = self.word("`return` or a node", is_word)?;
        if end != "return" {
            return Err(self.error("expected `return` or a node".to_owned()));
        }
        let mut outputs = Vec::new();
        if matches!(self.peek(), Some('*' | '%')) {
            outputs.push(self.place(count)?);
            while self.accept(",") {
                outputs.push(self.place(count)?);
            }
        }
        Ok(Listing { inputs, nodes, outputs })
    }

    fn node(&mut self, ops: &FxHashMap<&str, u32>, inputs: u32) -> Result<ListedNode, Error> {
        let start = self.at;
        let word = self.word("an op or a type", is_word)?;
        if self.peek() == Some('[') {
            self.at = start;
            let ty = self.ty()?;
            return self.constant(ty).map(ListedNode::Constant);
        }
        let op =
            *ops.get(word).ok_or_else(|| self.error(format!("no op {word} is defined above")))?;
        let tag = match self.accept("#") {
            true => Some(self.number("a tag")?),
            false => None,
        };
        if tag == Some(0) {
            return Err(self.error("tags count from 1".to_owned()));
        }
        self.expect("(")?;
        let mut operands = Vec::new();
        while !self.accept(")") {
            if !operands.is_empty() {
                self.expect(",")?;
            }
            operands.push(self.place(inputs)?);
        }
        self.expect(":")?;
        let mut types = vec![self.ty()?];
        while self.accept(",") {
            types.push(self.ty()?);
        }
        Ok(ListedNode::Apply { op, tag, inputs: operands, types })
    }

    fn place(&mut self, inputs: u32) -> Result<ListedOutput, Error> {
        let at = if self.accept("*") {
            let position: u32 = self.number("the position of an input")?;
            if position >= inputs {
                return Err(self.error(format!("there is no input *{position}")));
            }
            Some(position)
        } else {
            self.expect("%")?;
            self.number::<u32>("the number of a node")?.checked_add(inputs)
        };
        let output = match self.accept(".") {
            true => self.number("the position of an output")?,
            false => 0,
        };
        let at = at.ok_or_else(|| self.error("there is no such node".to_owned()))?;
        Ok(ListedOutput { at, output })
    }

    fn ty(&mut self) -> Result<Ty, Error> {
        let name = self.word("a dtype", is_word)?;
        let dtype: DType = name.parse().map_err(|error: Error| self.error(error.to_string()))?;
        self.expect("[")?;
        let mut dims: Vec<Dim> = Vec::new();
        while !self.accept("]") {
            if !dims.is_empty() {
                self.expect(",")?;
            }
            dims.push(match self.accept("?") {
                true => None,
                false => Some(self.number("a length or `?`")?),
            });
        }
        Ok(Ty::tensor(dtype, &dims))
    }

    fn constant(&mut self, ty: Ty) -> Result<ConstantData, Error> {
        let mut bytes = Vec::new();
        if ty.ndim() == 0 {
            self.element(ty.dtype(), &mut bytes)?;
        } else {
            self.expect("[")?;
            while !self.accept("]") {
                if !bytes.is_empty() {
                    self.expect(",")?;
                }
                self.element(ty.dtype(), &mut bytes)?;
            }
        }
        let shape: Option<Vec<u64>> = ty.shape().iter().copied().collect();
        let shape =
            shape.ok_or_else(|| self.error("a constant's lengths are all known".to_owned()))?;
        ConstantData::new(ty.dtype(), &shape, &bytes).map_err(|error| self.error(error.to_string()))
    }

    fn element(&mut self, dtype: DType, bytes: &mut Vec<u8>) -> Result<(), Error> {
        if dtype.is_complex() {
            self.element(dtype.part(), bytes)?;
            return self.element(dtype.part(), bytes);
        }
        let word = self.word("an element", is_number)?;
        let wrong = || self.error(format!("{word} is no {dtype}"));
        match (dtype, dtype.integer_range()) {
            (DType::Float16, _) => {
                let bits = match word.strip_prefix("nan:") {
                    Some(bits) => u16::from_str_radix(bits, 16).map_err(|_| wrong())?,
                    None => to_half(float(word).ok_or_else(wrong)?),
                };
                bytes.extend_from_slice(&bits.to_le_bytes());
            }
            (DType::Float32, _) => {
                let value = match word.strip_prefix("nan:") {
                    Some(bits) => {
                        f32::from_bits(u32::from_str_radix(bits, 16).map_err(|_| wrong())?)
                    }
                    None if word == "nan" => f32::NAN,
                    None => word.parse().map_err(|_| wrong())?,
                };
                bytes.extend_from_slice(&value.to_le_bytes());
            }
            (DType::Float64, _) => {
                let value = float(word).ok_or_else(wrong)?;
                bytes.extend_from_slice(&value.to_le_bytes());
            }
            (_, Some((low, high))) => {
                let value: i128 = word.parse().map_err(|_| wrong())?;
                if value < low || value > high {
                    return Err(wrong());
                }
                bytes.extend_from_slice(&value.to_le_bytes()[..dtype.itemsize()]);
            }
            _ => bytes.push(match word {
                "true" => 1,
                "false" => 0,
                _ => return Err(wrong()),
            }),
        }
        Ok(())
    }

    fn op(&mut self, depth: usize) -> Result<Op, Error> {
        let kind = match self.peek() {
            Some('"') => self.text()?,
            _ => self.word("the kind of an op", is_kind)?.to_owned(),
        };
        let params = self.param(depth)?;
        NamedOp { kind, params, digest: None }.find(self.resolve)
    }

    fn param(&mut self, depth: usize) -> Result<Param, Error> {
        let Some(depth) = depth.checked_sub(1) else {
            return Err(self.error("the parameters are nested too deep".to_owned()));
        };
        if self.accept("[") {
            let mut values = Vec::new();
            while !self.accept("]") {
                if !values.is_empty() {
                    self.expect(",")?;
                }
                values.push(self.param(depth)?);
            }
            return Ok(Param::List(values));
        }
        if self.peek() == Some('"') {
            return self.text().map(Param::Text);
        }
        let word = self.word("a parameter", is_number)?;
        Ok(match word {
            "none" => Param::None,
            "true" => Param::Bool(true),
            "false" => Param::Bool(false),
            "dtype" => {
                let name = self.word("a dtype", is_word)?;
                let dtype = name.parse().map_err(|error: Error| self.error(error.to_string()))?;
                Param::DType(dtype)
            }
            "type" => Param::Type(self.ty()?),
            "op" => Param::Op(self.op(depth)?),
            GRAPH => {
                let name = self.word("the name of a graph", is_word)?;
                let graph = self.graphs.get(name).cloned();
                Param::Graph(
                    graph.ok_or_else(|| self.error(format!("no graph {name} is defined above")))?,
                )
            }
            "identity" => Param::Identity(self.number("a token")?),
            "x" if self.peek() == Some('"') => Param::Bytes(self.bytes()?),
            _ => match word.parse::<i64>() {
                Ok(value) => Param::Int(value),
                Err(_) => Param::Float(
                    float(word).ok_or_else(|| self.error(format!("{word} is no parameter")))?,
                ),
            },
        })
    }

    fn text(&mut self) -> Result<String, Error> {
        self.expect("\"")?;
        let mut value = String::new();
        loop {
            let c = self.next_char()?;
            match c {
                '"' => return Ok(value),
                '\\' => match self.next_char()? {
                    'u' => {
                        self.expect("{")?;
                        let digits = self.word("the number of a character", is_word)?;
                        self.expect("}")?;
                        let code = u32::from_str_radix(digits, 16).ok().and_then(char::from_u32);
                        let wrong = || self.error(format!("{digits} numbers no character"));
                        value.push(code.ok_or_else(wrong)?);
                    }
                    c => value.push(c),
                },
                c => value.push(c),
            }
        }
    }

    fn bytes(&mut self) -> Result<Vec<u8>, Error> {
        let text = self.text()?;
        let pair = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
        let hex = text.len() % 2 == 0 && text.bytes().all(|c| c.is_ascii_hexdigit());
        let bytes: Option<Vec<u8>> = text.as_bytes().chunks(2).map(pair).collect();
        bytes.filter(|_| hex).ok_or_else(|| self.error("expected pairs of hex digits".to_owned()))
    }

    fn next_char(&mut self) -> Result<char, Error> {
        let c = self.text[self.at..].chars().next();
        let c = c.ok_or_else(|| self.error("the text ends within quotes".to_owned()))?;
        self.at += c.len_utf8();
        Ok(c)
    }

    fn skip_space(&mut self) {
        let rest = &self.text[self.at..];
        let mut comment = false;
        let end = rest.char_indices().find(|&(_, c)| {
            comment = c != '\n' && (comment || c == ';');
            !comment && !c.is_whitespace()
        });
        self.at += end.map_or(rest.len(), |(at, _)| at);
    }

    fn peek(&mut self) -> Option<char> {
        self.skip_space();
        self.text[self.at..].chars().next()
    }

    fn accept(&mut self, token: &str) -> bool {
        self.skip_space();
        let found = self.text[self.at..].starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    fn accept_word(&mut self, wanted: &str) -> bool {
        self.skip_space();
        let rest = &self.text[self.at..];
        let found = rest.strip_prefix(wanted).is_some_and(|rest| !rest.starts_with(is_kind));
        if found {
            self.at += wanted.len();
        }
        found
    }

    fn expect(&mut self, token: &str) -> Result<(), Error> {
        match self.accept(token) {
            true => Ok(()),
            false => Err(self.error(format!("expected `{token}`"))),
        }
    }

    fn word(&mut self, what: &str, allowed: fn(char) -> bool) -> Result<&'a str, Error> {
        self.skip_space();
        let rest = &self.text[self.at..];
        let word = &rest[..rest.find(|c| !allowed(c)).unwrap_or(rest.len())];
        if word.is_empty() {
            return Err(self.error(format!("expected {what}")));
        }
        self.at += word.len();
        Ok(word)
    }

    fn number<T: std::str::FromStr>(&mut self, what: &str) -> Result<T, Error> {
        let word = self.word(what, |c| c.is_ascii_digit())?;
        word.parse().map_err(|_| self.error(format!("{word} is too large for {what}")))
    }

    fn error(&self, reason: String) -> Error {
        let before = &self.text[..self.at];
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|&c| c != '\n').count() + 1;
        Error::Text { line, column, reason }
    }
}

fn float(word: &str) -> Option<f64> {
    match word.strip_prefix("nan:") {
        Some(bits) => u64::from_str_radix(bits, 16).ok().map(f64::from_bits),
        None if word == "nan" => Some(f64::NAN),
        None => word.parse().ok(),
    }
}
