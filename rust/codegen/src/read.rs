//! Kernels from their descriptions: a line for each part, of words.
//!
//! ```text
//! loop 8 0
//! read float64 1
//! literal float64 3ff0000000000000
//! op add float64 float64,float64 0 1
//! write 2 float64 1 -
//! pass
//! varying 2
//! walked 0
//! writes 0
//! ```

use crate::dtype::Dtype;
use crate::error::CodegenError;
use crate::kernel::{
    Action, Body, Kernel, Literal, LoopKernel, Pass, Put, Read, ScanKernel, ScanRead, ScanWrite,
    Source, StateElement, Statement, Write,
};
use crate::op::{Op, Reduction};
use std::str::SplitAsciiWhitespace;

type Parsed<T> = Result<T, &'static str>;

/// The kernel that a text describes; its numbers have not been checked.
pub(crate) fn read(text: &str) -> Result<Kernel, CodegenError> {
    let mut reader = Reader::default();
    for (number, line) in text.lines().enumerate() {
        let mut words = Words(line.split_ascii_whitespace());
        let done = reader.line(&mut words).and_then(|()| words.end());
        done.map_err(|fault| CodegenError::Malformed {
            line: number + 1,
            text: line.chars().take(200).collect(),
            fault,
        })?;
    }
    reader.finish().map_err(|fault| CodegenError::Senseless(fault.to_owned()))
}

/// The words of a line.
struct Words<'t>(SplitAsciiWhitespace<'t>);

impl<'t> Words<'t> {
    fn word(&mut self) -> Parsed<&'t str> {
        self.0.next().ok_or("it is too short")
    }

    fn end(&mut self) -> Parsed<()> {
        if self.0.next().is_some() { Err("it is too long") } else { Ok(()) }
    }

    fn number(&mut self) -> Parsed<usize> {
        number(self.word()?)
    }

    fn numbers(&mut self) -> Parsed<Vec<usize>> {
        self.0.by_ref().map(number).collect()
    }

    fn flag(&mut self) -> Parsed<bool> {
        match self.word()? {
            "0" => Ok(false),
            "1" => Ok(true),
            _ => Err("a flag is 0 or 1"),
        }
    }

    fn dtype(&mut self) -> Parsed<Dtype> {
        dtype(self.word()?)
    }

    fn dtypes(&mut self) -> Parsed<Vec<Dtype>> {
        match self.word()? {
            "-" => Ok(Vec::new()),
            all => all.split(',').map(dtype).collect(),
        }
    }

    fn literal(&mut self) -> Parsed<Literal> {
        let dtype = self.dtype()?;
        let bits = u64::from_str_radix(self.word()?, 16).map_err(|_| "no bits of a literal")?;
        let size = 8 * dtype.size();
        if size < 64 && bits >> size != 0 || dtype == Dtype::Bool && bits > 1 {
            return Err("a literal has more bits than its type");
        }
        Ok(Literal { dtype, bits })
    }

    fn reduction(&mut self, dtype: Dtype) -> Parsed<Reduction> {
        Reduction::named(self.word()?, dtype).ok_or("no reduction of such elements")
    }

    fn maybe_reduction(&mut self, dtype: Dtype) -> Parsed<Option<Reduction>> {
        match self.word()? {
            "-" => Ok(None),
            name => Reduction::named(name, dtype).map(Some).ok_or("no reduction of such elements"),
        }
    }

    fn statement(&mut self) -> Parsed<Statement> {
        let op = Op::named(self.word()?).ok_or("no op has that name")?;
        let dtype = self.dtype()?;
        let operands = self.dtypes()?;
        let args = self.numbers()?;
        if args.len() != operands.len() || !op.takes(&operands, dtype) {
            return Err("the op is not defined for such operands");
        }
        Ok(Statement { action: Action::Op(op), dtype, operands, args })
    }
}

fn number(word: &str) -> Parsed<usize> {
    let known: u32 = word.parse().map_err(|_| "no number stands where one belongs")?;
    Ok(known as usize)
}

fn dtype(word: &str) -> Parsed<Dtype> {
    Dtype::named(word).ok_or("no type has that name")
}

#[derive(Default)]
struct Reader {
    made: Option<Kernel>,
    bodies: Vec<Body>,
    inside: bool,
}

impl Reader {
    fn finish(self) -> Parsed<Kernel> {
        if self.inside {
            return Err("a body of a loop has no end");
        }
        let mut made = self.made.ok_or("nothing says what it is")?;
        match &mut made {
            Kernel::Loop(own) => own.bodies = self.bodies,
            Kernel::Scan(own) => own.bodies = self.bodies,
        }
        Ok(made)
    }

    fn line(&mut self, words: &mut Words) -> Parsed<()> {
        let first = words.word()?;
        match first {
            "loop" | "scan" if self.made.is_some() => return Err("a text is one kernel"),
            "loop" => {
                let (lanes, takes_rows) = (words.number()?, words.flag()?);
                let own = LoopKernel { lanes, takes_rows, ..LoopKernel::default() };
                self.made = Some(Kernel::Loop(own));
                return Ok(());
            }
            "scan" => {
                self.made = Some(Kernel::Scan(ScanKernel::default()));
                return Ok(());
            }
            "body" if !self.inside => {
                self.inside = true;
                let (states, constants) = (words.dtypes()?, words.dtypes()?);
                self.bodies.push(Body { states, constants, ..Body::default() });
                return Ok(());
            }
            "end" if self.inside => {
                self.inside = false;
                return Ok(());
            }
            _ => {}
        }
        if self.inside {
            let body = self.bodies.last_mut().ok_or("there is no body")?;
            return body_line(first, words, body);
        }
        match &mut self.made {
            Some(Kernel::Loop(own)) => loop_line(first, words, own, &self.bodies),
            Some(Kernel::Scan(own)) => scan_line(first, words, own, &self.bodies),
            None => Err("nothing says what it is"),
        }
    }
}

fn body_line(first: &str, words: &mut Words, body: &mut Body) -> Parsed<()> {
    match first {
        "literal" => body.literals.push(words.literal()?),
        "op" | "same" => {
            body.statements.push(words.statement()?);
            body.constant.push(first == "same");
        }
        "nexts" => body.nexts = words.numbers()?,
        "condition" => body.condition = Some(words.number()?),
        _ => return Err("a body has no such part"),
    }
    Ok(())
}

/// A result of a loop of elements.
fn result(words: &mut Words, bodies: &[Body]) -> Parsed<Statement> {
    let (of, at) = (words.number()?, words.number()?);
    let body = bodies.get(of).ok_or("no loop has that number")?;
    let dtype = *body.results().get(at).ok_or("the loop has no such result")?;
    let (operands, args) = (body.operands(), words.numbers()?);
    if args.len() != operands.len() {
        return Err("the loop takes another number of operands");
    }
    Ok(Statement { action: Action::Loop { of, at }, dtype, operands, args })
}

fn loop_line(first: &str, words: &mut Words, own: &mut LoopKernel, bodies: &[Body]) -> Parsed<()> {
    match first {
        "read" => own.reads.push(Read { dtype: words.dtype()?, inner: words.flag()? }),
        "literal" => own.literals.push(words.literal()?),
        "op" => own.statements.push(words.statement()?),
        "result" => own.statements.push(result(words, bodies)?),
        "take" => {
            let (source, dtype, args) = (words.number()?, words.dtype()?, words.numbers()?);
            let operands = vec![Dtype::Int64; args.len()];
            let action = Action::Take(source);
            own.statements.push(Statement { action, dtype, operands, args });
        }
        "cumulate" | "fold" => {
            let dtype = words.dtype()?;
            let reduction = words.reduction(dtype)?;
            let folds = first == "fold";
            let action = if folds { Action::Fold(reduction) } else { Action::Cumulate(reduction) };
            let args = words.numbers()?;
            if args.len() != 1 + usize::from(folds) {
                return Err("it has another number of operands");
            }
            let operands = vec![dtype; args.len()];
            own.statements.push(Statement { action, dtype, operands, args });
        }
        "source" => own.sources.push(Source {
            dtype: words.dtype()?,
            inner: words.flag()?,
            indices: words.number()?,
        }),
        "write" => {
            let (value, dtype, inner) = (words.number()?, words.dtype()?, words.flag()?);
            let reduce = words.maybe_reduction(dtype)?;
            own.writes.push(Write { value, dtype, inner, reduce });
        }
        "put" => {
            let (value, dtype, inner) = (words.number()?, words.dtype()?, words.flag()?);
            let reduce = words.maybe_reduction(dtype)?;
            own.puts.push(Put { value, dtype, inner, reduce, args: words.numbers()? });
        }
        "buffers" => own.buffers = words.numbers()?,
        "pass" => own.passes.push(Pass::default()),
        _ => {
            let pass = own.passes.last_mut().ok_or("a kernel has no such part")?;
            let part = match first {
                "uniform" => &mut pass.uniform,
                "varying" => &mut pass.varying,
                "reads" => &mut pass.reads,
                "loads" => &mut pass.loads,
                "stores" => &mut pass.stores,
                "folds" => &mut pass.folds,
                "writes" => &mut pass.writes,
                "puts" => &mut pass.puts,
                _ => return Err("a kernel has no such part"),
            };
            *part = words.numbers()?;
        }
    }
    Ok(())
}

fn scan_line(first: &str, words: &mut Words, own: &mut ScanKernel, bodies: &[Body]) -> Parsed<()> {
    match first {
        "read" => own.reads.push(ScanRead {
            dtype: words.dtype()?,
            size: words.number()?,
            walks: words.flag()?,
        }),
        "load" => own.loads.push((words.number()?, words.number()?)),
        "literal" => own.literals.push(words.literal()?),
        "state" => own.states.push(StateElement {
            dtype: words.dtype()?,
            start: words.number()?,
            next: words.number()?,
        }),
        "op" | "same" => {
            own.statements.push(words.statement()?);
            own.constant.push(first == "same");
        }
        "result" | "same_result" => {
            own.statements.push(result(words, bodies)?);
            own.constant.push(first == "same_result");
        }
        "write" => own.writes.push(ScanWrite {
            dtype: words.dtype()?,
            walks: words.flag()?,
            values: words.numbers()?,
        }),
        "condition" => own.condition = Some(words.number()?),
        _ => return Err("a scan has no such part"),
    }
    Ok(())
}
