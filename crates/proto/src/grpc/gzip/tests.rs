use std::io::{Read as _, Write as _};

use flate2::bufread::MultiGzDecoder;
use flate2::write::GzEncoder;
use flate2::{Compression, GzBuilder};

use super::*;
use crate::grpc::framed as plain;

/// More than any message of these tests is.
const MOST: usize = 1 << 20;

fn of(message: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(message).expect("memory takes it");
    encoder.finish().expect("memory takes it")
}

/// A message with its flag, behind its prefix.
fn prefixed(flag: u8, message: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    framed(flag, &mut out, |out| out.extend_from_slice(message));
    out
}

/// What this content is, where it comes in pieces of so many bytes.
fn unpacked(content: &[u8], cut: usize, most: usize) -> Result<Vec<u8>, BadMessage> {
    let (mut gunzip, mut out) = (Gunzip::default(), Vec::new());
    let (mut frames, mut held) = (Deframer::default(), Vec::new());
    for piece in content.chunks(cut) {
        gunzip.unpack((&mut frames, &mut held), piece, most, &mut out)?;
    }
    assert_eq!((frames.is_between(), held.len()), (true, 0), "the content is over");
    Ok(out)
}

/// The same, of one compressed message.
fn one(compressed: &[u8], most: usize) -> Result<Vec<u8>, BadMessage> {
    unpacked(&prefixed(1, compressed), usize::MAX, most).map(|content| content[PREFIX..].to_vec())
}

fn noise(length: u32) -> Vec<u8> {
    (0..length).map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8).collect()
}

#[test]
fn what_is_compressed_comes_back_however_it_is_cut() {
    let long = vec![b'x'; 100_000];
    let sent: [&[u8]; 5] = [b"a word", b"", &long, &noise(3000), b"a word"];
    let content = plain(sent).expect("short ones");
    let mut packed = Vec::new();
    let mut gzip = Gzip::default();
    gzip.messages(&content, &mut packed);
    assert!(packed.len() < 4000, "{} bytes", packed.len());
    for cut in [1, 2, 3, 5, 7, 64, 1000, usize::MAX] {
        assert_eq!(unpacked(&packed, cut, MOST), Ok(content.clone()), "cut to {cut}");
    }
    // The same once more: nothing of a message is left for the next one.
    let mut again = Vec::new();
    gzip.messages(&content, &mut again);
    assert_eq!(again, packed);
}

#[test]
fn what_is_compressed_is_gzip_to_others() {
    for message in [&b"a"[..], &vec![0; 300_000], &noise(70_000)] {
        let mut packed = Vec::new();
        Gzip::default().messages(&prefixed(0, message), &mut packed);
        assert_eq!(packed[0], 1);
        let mut found = Vec::new();
        MultiGzDecoder::new(&packed[PREFIX..]).read_to_end(&mut found).expect("gzip");
        assert_eq!(found, message);
        assert_eq!(one(&of(message), MOST), Ok(message.to_vec()), "and theirs is gzip to us");
    }
}

#[test]
fn messages_that_are_not_compressed_flow_through_between_those_that_are() {
    let content =
        [prefixed(0, b"ab"), prefixed(1, &of(b"cd")), prefixed(0, b""), prefixed(0, b"e")];
    let wanted = plain([&b"ab"[..], b"cd", b"", b"e"]).expect("short ones");
    for cut in 1..40 {
        assert_eq!(unpacked(&content.concat(), cut, MOST), Ok(wanted.clone()), "cut to {cut}");
    }
    // Nothing of them is held, however long they are.
    let (mut gunzip, mut out) = (Gunzip::default(), Vec::new());
    let (mut frames, mut held) = (Deframer::default(), Vec::new());
    let begin = [0, 255, 255, 255, 255, 7];
    gunzip.unpack((&mut frames, &mut held), &begin, 10, &mut out).expect("a begin");
    assert_eq!((out, held), (begin.to_vec(), Vec::new()));
}

#[test]
fn table_of_heads() {
    let named = |builder: GzBuilder| {
        let mut encoder = builder.write(Vec::new(), Compression::fast());
        encoder.write_all(b"abc").expect("memory takes it");
        encoder.finish().expect("memory takes it")
    };
    let all = || GzBuilder::new().mtime(7).extra(vec![1; 300]).filename("n").comment("c");
    let whole = named(all());
    assert_eq!(one(&whole, MOST), Ok(b"abc".to_vec()));
    let mut with_sum = of(b"abc");
    with_sum[3] = HAS_SUM;
    with_sum.splice(10..10, [1, 2]);
    assert_eq!(one(&with_sum, MOST), Ok(b"abc".to_vec()));
    let mut reserved = of(b"abc");
    reserved[3] = 0x20;
    assert_eq!(one(&reserved, MOST), Err(BadMessage::Form));
    for end in 0..whole.len() {
        assert_eq!(one(&whole[..end], MOST), Err(BadMessage::CutOff), "{end} bytes of it");
    }
}

#[test]
fn table_of_what_is_wrong() {
    let (good, mut sum, mut length) = (of(b"abcabcabc"), of(b"abc"), of(b"abc"));
    let (of_sum, of_length) = (sum.len() - 8, length.len() - 4);
    sum[of_sum] ^= 1;
    length[of_length] ^= 1;
    let broken = [&HEAD[..], &[0xff; 20]].concat();
    for (what, compressed, bad) in [
        ("no gzip", b"\x78\x9cabc".to_vec(), BadMessage::Form),
        ("no DEFLATE", broken, BadMessage::Form),
        ("nothing", Vec::new(), BadMessage::CutOff),
        ("half of it", good[..good.len() / 2].to_vec(), BadMessage::CutOff),
        ("another sum", sum, BadMessage::Sum),
        ("another length", length, BadMessage::Sum),
        ("something behind it", [&good[..], b"x"].concat(), BadMessage::Form),
        ("a second one that breaks off", [&good[..], &good[..9]].concat(), BadMessage::CutOff),
    ] {
        assert_eq!(one(&compressed, MOST), Err(bad), "{what}");
    }
    assert_eq!(one(&[of(b"ab"), of(b""), of(b"cd")].concat(), MOST), Ok(b"abcd".to_vec()));
    assert_eq!(unpacked(&[2], 1, MOST), Err(BadMessage::Flag));
}

#[test]
fn a_bomb_goes_off_at_the_limit() {
    let bomb = of(&vec![0; 500_000]);
    assert!(bomb.len() < 1000, "{} bytes", bomb.len());
    let (mut gunzip, mut out) = (Gunzip::default(), Vec::new());
    let (mut frames, mut held) = (Deframer::default(), Vec::new());
    let content = prefixed(1, &bomb);
    let told = gunzip.unpack((&mut frames, &mut held), &content, 1000, &mut out);
    assert_eq!(told, Err(BadMessage::TooLong));
    assert!(out.capacity() < 5000, "{} bytes", out.capacity());
    assert_eq!(BadMessage::TooLong.class(), ErrorClass::TooBig);
    // Several members are one message.
    let several = [of(&[0; 600]), of(&[0; 600])].concat();
    assert_eq!(one(&several, 1000), Err(BadMessage::TooLong));
    for (length, told) in [(1000, Ok(1000)), (1001, Err(BadMessage::TooLong))] {
        let found = one(&of(&vec![7; length]), 1000).map(|found| found.len());
        assert_eq!(found, told, "{length} bytes");
    }
    // Of one that is long before it is inflated nothing is kept.
    let mut held = Vec::new();
    let begin = [1, 255, 255, 255, 255, 7];
    let told = gunzip.unpack((&mut Deframer::default(), &mut held), &begin, 1000, &mut out);
    assert_eq!((told, held.len()), (Err(BadMessage::TooLong), 0));
    // What can't be made smaller is as long as it is once it is inflated.
    assert_eq!(one(&of(&noise(1000)), 1000), Ok(noise(1000)));
}
