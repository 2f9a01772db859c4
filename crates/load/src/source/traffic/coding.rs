//! Content codings of replies (RFC 9110 section 8.4): what was compressed, as it was before.
//!
//! Knows gzip, deflate, br and zstd by crates that others keep. Must not know what content is for.

use std::io::{self, Read};

use brotli_decompressor::Decompressor;
use flate2::bufread::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use ruzstd::decoding::StreamingDecoder;

/// How content is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Coding {
    Gzip,
    Deflate,
    Brotli,
    Zstd,
    /// None that is known.
    Unknown,
}

/// The codings of a reply, in the order in which they were applied. More than two are as good as unknown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Codings([Option<Coding>; 2]);

impl Codings {
    /// Adds those of a Content-Encoding field.
    pub(crate) fn add(&mut self, field: &[u8]) {
        let names = field.split(|byte| *byte == b',').map(<[u8]>::trim_ascii);
        for name in names.filter(|name| !name.is_empty()) {
            let coding = match name.to_ascii_lowercase().as_slice() {
                b"identity" => continue,
                b"gzip" | b"x-gzip" => Coding::Gzip,
                b"deflate" => Coding::Deflate,
                b"br" => Coding::Brotli,
                b"zstd" => Coding::Zstd,
                _ => Coding::Unknown,
            };
            match &mut self.0 {
                [first @ None, _] => *first = Some(coding),
                [_, second @ None] => *second = Some(coding),
                [_, second] => *second = Some(Coding::Unknown),
            }
        }
    }

    /// Is there one?
    pub(crate) fn is_any(self) -> bool {
        self.0[0].is_some()
    }

    /// Lays what was compressed into `out`, no more than so many bytes.
    ///
    /// # Errors
    /// Why it can't be had, in words.
    pub(crate) fn undo(self, content: &[u8], out: &mut Vec<u8>, most: usize) -> Result<(), String> {
        out.clear();
        let [first, second] = self.0;
        let mut within = Vec::new();
        let mut content = content;
        if let Some(second) = second {
            read(second, content, &mut within, most)?;
            content = &within;
        }
        if let Some(first) = first {
            return read(first, content, out, most);
        }
        out.extend_from_slice(content);
        Ok(())
    }
}

fn read(coding: Coding, content: &[u8], out: &mut Vec<u8>, most: usize) -> Result<(), String> {
    let name = match coding {
        Coding::Gzip => "gzip",
        Coding::Deflate => "deflate",
        Coding::Brotli => "br",
        Coding::Zstd => "zstd",
        Coding::Unknown => {
            return Err("its content has a coding other than gzip, deflate, br, zstd".to_owned());
        }
    };
    if content.is_empty() {
        return Ok(());
    }
    let told = match coding {
        Coding::Gzip => all_of(MultiGzDecoder::new(content), out, most),
        // Some send what RFC 1951 describes without the wrapping of RFC 1950 that RFC 9110 wants.
        Coding::Deflate => all_of(ZlibDecoder::new(content), out, most).or_else(|_| {
            out.clear();
            all_of(DeflateDecoder::new(content), out, most)
        }),
        Coding::Brotli => all_of(Decompressor::new(content, 4096), out, most),
        Coding::Zstd => StreamingDecoder::new(content)
            .map_err(|error| io::Error::other(error.to_string()))
            .and_then(|decoder| all_of(decoder, out, most)),
        Coding::Unknown => Ok(()),
    };
    told.map_err(|error| format!("its content is said to be {name}, and can't be read: {error}"))
}

fn all_of(decoder: impl Read, out: &mut Vec<u8>, most: usize) -> io::Result<()> {
    decoder.take(most as u64 + 1).read_to_end(out)?;
    if out.len() > most {
        return Err(io::Error::other(format!("it is over {} MiB", most >> 20)));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    const TEXT: &[u8] = br#"{"items":[1,2,3],"items again":[1,2,3]}"#;

    fn codings(field: &str) -> Codings {
        let mut codings = Codings::default();
        codings.add(field.as_bytes());
        codings
    }

    fn undone(field: &str, content: &[u8]) -> Result<Vec<u8>, String> {
        let mut out = b"left over".to_vec();
        codings(field).undo(content, &mut out, 1000)?;
        Ok(out)
    }

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(text).expect("a Vec");
        encoder.finish().expect("a Vec")
    }

    fn zlib(text: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(text).expect("a Vec");
        encoder.finish().expect("a Vec")
    }

    /// Made by the reference implementations (`brotli -c`, `zstd -c`).
    const BROTLI: &[u8] = include_bytes!("coding/text.br");
    const ZSTD: &[u8] = include_bytes!("coding/text.zst");

    #[test]
    fn what_was_compressed_is_as_it_was() {
        let both = gzip(&zlib(TEXT));
        let bare = &zlib(TEXT)[2..];
        let rows: [(&str, &[u8]); 10] = [
            ("", TEXT),
            ("identity", TEXT),
            ("gzip", &gzip(TEXT)),
            ("X-GZip", &gzip(TEXT)),
            ("deflate", &zlib(TEXT)),
            ("deflate", &bare[..bare.len() - 4]),
            ("deflate, gzip", &both),
            ("br", BROTLI),
            ("zstd", ZSTD),
            ("identity , gzip", &gzip(TEXT)),
        ];
        for (field, content) in rows {
            assert_eq!(undone(field, content).as_deref(), Ok(TEXT), "{field}");
            assert_eq!(codings(field).is_any(), !matches!(field, "" | "identity"), "{field}");
        }
        assert_eq!(undone("gzip", b"").as_deref(), Ok(&b""[..]), "a reply without content");
    }

    #[test]
    fn what_can_not_be_read_is_told() {
        for (field, content) in [
            ("gzip", TEXT),
            ("gzip", &gzip(TEXT)[..30]),
            ("br", &BROTLI[..5]),
            ("zstd", TEXT),
            ("zstd", &ZSTD[..ZSTD.len() - 3]),
            ("deflate", TEXT),
            ("compress", TEXT),
            ("gzip, gzip, gzip", TEXT),
        ] {
            assert!(undone(field, content).is_err(), "{field}");
        }
        let told = undone("gzip", &gzip(&[0; 5000])).expect_err("it is long");
        assert!(told.contains("it is over"), "{told}");
    }
}
