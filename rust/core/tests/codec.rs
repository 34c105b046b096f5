//! Frozen graphs as bytes: the same object comes back, and no bytes can do harm.

mod terms;

use frazil_core::persist::codec::{decode, encode};
use frazil_core::{
    ConstantData, Container, DType, Error, FrozenFunctionGraph, Op, OpKey, OpProps, Origin, Param,
    Signature, Ty, Var,
};
use proptest::prelude::*;
use terms::{apply, build, constant, input, inputs, ops, recipe};

fn none(_: &str, _: &Param) -> Result<Option<Op>, Error> {
    Ok(None)
}

/// A graph with every kind of parameter, a graph among them, a distinct node, several outputs and odd constants.
fn rich(container: &Container) -> FrozenFunctionGraph {
    let inner = OpKey {
        kind: "inner \"quoted\" \u{1f9ca}".into(),
        params: Param::List(vec![Param::Text("a\"\\\n\u{e9}".into()), Param::Bytes(vec![0, 255])]),
        props: OpProps::default(),
        rule: None,
        arity: None,
    };
    let inner = Op::intern(inner, "inner");
    let ty = Ty::tensor(DType::Float32, &[None, Some(3)]);
    let held = {
        let roots = inputs(container);
        let sum = apply(container, ops()[0].clone(), &[&roots[0], &roots[1]]);
        FrozenFunctionGraph::new(container, &roots, &[sum, constant(container, 7)]).unwrap()
    };
    let params = vec![
        Param::None,
        Param::Bool(true),
        Param::Int(i64::MIN),
        Param::Float(-0.0),
        Param::Float(f64::from_bits(0x7ff8_0000_0000_0001)),
        Param::Float(1e300),
        Param::DType(DType::UInt16),
        Param::Type(ty.clone()),
        Param::Op(inner),
        Param::List(vec![Param::List(Vec::new()), Param::Int(3)]),
        Param::graph(&held).unwrap(),
    ];
    let key = OpKey {
        kind: "rich.Split".into(),
        params: Param::List(params),
        props: OpProps { distinct: true, ..OpProps::default() },
        rule: None,
        arity: None,
    };
    let split = Op::intern(key, "Split{(0,)}");
    let x = container.input(&ty, None, None);
    let float = ConstantData::new(
        DType::Float32,
        &[2, 2],
        &[1.5f32, -0.0, f32::NAN, f32::from_bits(0xffc0_0001)].map(f32::to_le_bytes).concat(),
    );
    let bytes = ConstantData::new(DType::Int8, &[3], &[0x80, 0xff, 0x7f]);
    let empty = ConstantData::new(DType::Bool, &[0, 4], &[]);
    let mut operands: Vec<Var> =
        [float, bytes, empty].into_iter().map(|data| container.constant(data.unwrap())).collect();
    operands.push(x.clone());
    let signature = Signature::new(&[ty, Ty::scalar(DType::Bool)]);
    let made = container.apply(split, operands.into_iter().collect(), signature, Origin::default());
    let outputs: Vec<Var> = made.unwrap().outputs().collect();
    let outputs = [outputs[1].clone(), outputs[0].clone(), x.clone()];
    FrozenFunctionGraph::new(container, &[x], &outputs).unwrap()
}

proptest! {
    #[test]
    fn graphs_come_back(recipe in recipe(20)) {
        ops();
        let container = Container::new();
        let roots = inputs(&container);
        let made = build(&container, &roots, &recipe);
        let graph = FrozenFunctionGraph::new(&container, &roots, &made).unwrap();
        let bytes = encode(&graph).unwrap();
        prop_assert_eq!(&decode(&container, &bytes, &mut none).unwrap(), &graph);
        let elsewhere = decode(&Container::new(), &bytes, &mut none).unwrap();
        prop_assert_eq!(elsewhere.digest(), graph.digest());
        prop_assert_eq!(encode(&elsewhere).unwrap(), bytes);
    }

    #[test]
    fn random_bytes_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let container = Container::new();
        prop_assert!(decode(&container, &bytes, &mut none).is_err());
        let headed = [b"frazilg\x03", &bytes[..]].concat();
        prop_assert!(decode(&container, &headed, &mut none).is_err());
        prop_assert_eq!(container.stats().nodes, 0);
    }

    #[test]
    fn altered_bytes_are_refused(at in any::<prop::sample::Index>(), bit in 0..8u32, more in 0..3usize) {
        let container = Container::new();
        // An op that holds a graph goes with its last node.
        let graph = rich(&container);
        let mut bytes = encode(&graph).unwrap();
        for step in 0..=more {
            let length = bytes.len();
            bytes[(at.index(length) + step * 17) % length] ^= 1 << bit;
        }
        // A varint can be written in more than one way: what decodes must be the graph that was written.
        match decode(&container, &bytes, &mut none) {
            Ok(made) => prop_assert_eq!(made, graph),
            Err(error) => prop_assert!(!error.to_string().is_empty()),
        }
    }
}

#[test]
fn every_part_of_a_graph_comes_back() {
    let container = Container::new();
    let graph = rich(&container);
    let bytes = encode(&graph).unwrap();
    assert_eq!(decode(&container, &bytes, &mut none).unwrap(), graph);
}

#[test]
fn cut_bytes_are_refused() {
    let container = Container::new();
    let graph = rich(&container);
    let nodes = container.stats().nodes;
    let bytes = encode(&graph).unwrap();
    for end in 0..bytes.len() {
        assert!(decode(&container, &bytes[..end], &mut none).is_err(), "{end}");
    }
    let longer = [&bytes[..], b"x"].concat();
    assert!(decode(&container, &longer, &mut none).is_err());
    assert_eq!(container.stats().nodes, nodes);
}

#[test]
fn a_long_chain_comes_back() {
    let container = Container::new();
    let x = input(&container, "x");
    let mut chain = x.clone();
    for _ in 0..200_000 {
        chain = apply(&container, ops()[0].clone(), &[&chain, &x]);
    }
    let graph = FrozenFunctionGraph::new(&container, &[x], &[chain]).unwrap();
    let bytes = encode(&graph).unwrap();
    assert_eq!(decode(&container, &bytes, &mut none).unwrap(), graph);
}

#[test]
fn an_op_of_this_process_alone_says_so() {
    let container = Container::new();
    let key = OpKey {
        kind: "local".into(),
        params: Param::List(vec![Param::Identity(1)]),
        props: OpProps::default(),
        rule: None,
        arity: None,
    };
    let local = Op::intern(key, "Local");
    let x = input(&container, "x");
    let node = container
        .apply(local, [x.clone()].into_iter().collect(), x.ty().signature(), Origin::default())
        .unwrap();
    let outputs: Vec<Var> = node.outputs().collect();
    let graph = FrozenFunctionGraph::new(&container, &[x], &outputs).unwrap();
    assert_eq!(
        encode(&graph).unwrap_err().to_string(),
        "Local cannot be persisted: it was defined in a function or in __main__, so other processes do not know \
         it; define it in a module that they can import"
    );
}

#[test]
fn an_op_is_looked_for_and_must_be_what_it_was() {
    let container = Container::new();
    let x = input(&container, "x");
    let graph = FrozenFunctionGraph::new(
        &container,
        std::slice::from_ref(&x),
        &[apply(&container, ops()[2].clone(), &[&x])],
    )
    .unwrap();
    let bytes = encode(&graph).unwrap();
    // The same length, so that only the name differs: an op that nobody knows.
    let at = bytes.windows(9).position(|window| window == b"terms.exp").unwrap();
    let mut unknown = bytes.clone();
    unknown[at..at + 9].copy_from_slice(b"terms.foo");
    let error = decode(&container, &unknown, &mut none).unwrap_err();
    assert!(error.to_string().starts_with("no op terms.foo with these parameters"), "{error}");
    let mut asked = Vec::new();
    let mut resolve = |kind: &str, _: &Param| {
        asked.push(kind.to_owned());
        Ok(Some(ops()[2].clone()))
    };
    let error = decode(&container, &unknown, &mut resolve).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the op terms.foo is defined otherwise here than where the graph was written"
    );
    assert_eq!(asked, ["terms.foo"]);
}
