// SPDX-License-Identifier: Apache-2.0
//! Reads traces with dial9's own decoder and prints what it saw, as proof that our files are its
//! format: `dial9check FILE...` prints one JSON object, events by schema name, summed over the
//! files. Files are raw or one gzip member, as dial9's reader takes them.
//!
//! Exit 1, with the file and the byte, on anything that decoder cannot read or would only skip: a
//! decode error, bytes left over, a pooled string or stack that no pool entry precedes, a second
//! gzip member.

use dial9_trace_format::decoder::{Decoder, RawEvent};
use dial9_trace_format::types::FieldValueRef;
use std::collections::BTreeMap;
use std::io::Read;

type Counts = BTreeMap<String, u64>;

fn unpacked(bytes: Vec<u8>) -> Result<Vec<u8>, String> {
    if !bytes.starts_with(&[0x1f, 0x8b]) {
        return Ok(bytes);
    }
    let mut decoder = flate2::bufread::GzDecoder::new(&bytes[..]);
    let mut out = Vec::new();
    decoder.read_to_end(&mut out).map_err(|why| format!("gzip: {why}"))?;
    match decoder.into_inner().len() {
        0 => Ok(out),
        rest => Err(format!("{rest} bytes follow the first gzip member")),
    }
}

/// The first field of the event that refers to a pool entry which is not there.
fn dangling(event: &RawEvent<'_, '_>) -> Option<String> {
    for (name, value) in event.field_names().zip(event.fields) {
        let known = match value {
            FieldValueRef::PooledString(id) => event.string_pool.get(*id).is_some(),
            FieldValueRef::PooledStackFrames(id) => event.stack_pool.get(*id).is_some(),
            _ => true,
        };
        if !known {
            return Some(format!("{}.{name} at {} ns", event.name, event.timestamp_ns));
        }
    }
    None
}

fn check(path: &str, counts: &mut Counts) -> Result<(), String> {
    let bytes = unpacked(std::fs::read(path).map_err(|why| why.to_string())?)?;
    let mut decoder = Decoder::new(&bytes).ok_or("no trace header")?;
    decoder
        .try_for_each_event(|event| {
            *counts.entry(event.name.to_string()).or_default() += 1;
            dangling(&event).map_or(Ok(()), |what| Err(format!("{what}: no such pool entry")))
        })
        .map_err(|why| why.to_string())?;
    match decoder.data_len() - decoder.position() {
        0 => Ok(()),
        rest => Err(format!("{rest} bytes left over at byte {}", decoder.position())),
    }
}

fn main() {
    let paths: Vec<String> = std::env::args().skip(1).collect();
    if paths.is_empty() {
        eprintln!("usage: dial9check FILE...");
        std::process::exit(2);
    }
    let mut counts = Counts::new();
    for path in &paths {
        if let Err(why) = check(path, &mut counts) {
            eprintln!("dial9check: {path}: {why}");
            std::process::exit(1);
        }
    }
    let lines: Vec<String> =
        counts.iter().map(|(name, cnt)| format!("\t{}: {cnt}", quoted(name))).collect();
    println!("{{\n{}\n}}", lines.join(",\n"));
}

fn quoted(name: &str) -> String {
    let mut out = String::from("\"");
    for c in name.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if u32::from(c) < 0x20 => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
