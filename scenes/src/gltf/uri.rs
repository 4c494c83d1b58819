//! References to data: `data:` URIs and relative paths.

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use std::path::{Path, PathBuf};

/// Target of a URI.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// Bytes within the URI, with their media type.
    Data { media_type: String, bytes: Vec<u8> },
    /// A file beside the document.
    File(PathBuf),
}

const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Resolves a URI of a document in `folder`; the error is a sentence.
pub(super) fn resolve(uri: &str, folder: &Path) -> Result<Target, String> {
    if let Some(rest) = uri.strip_prefix("data:") {
        return data(rest);
    }
    if let Some((scheme, _)) = uri.split_once(':')
        && !scheme.contains(['/', '.', '%', ' '])
    {
        return Err(match scheme {
            "" => "the URI begins with a colon".into(),
            _ => format!(
                "URIs of the scheme `{}` are not followed; use a relative path",
                super::check::shorten(scheme)
            ),
        });
    }
    let path = percent_decode(uri)?;
    let path = String::from_utf8(path).map_err(|_| "the URI is not UTF-8 once decoded".to_string())?;
    if path.is_empty() || path.contains('\0') {
        return Err("the URI is empty or has a zero byte".into());
    }
    let path = Path::new(&path);
    if path.has_root() || path.is_absolute() {
        return Err("absolute paths are not followed; use a relative one".into());
    }
    Ok(Target::File(folder.join(path)))
}

fn data(rest: &str) -> Result<Target, String> {
    let Some((header, body)) = rest.split_once(',') else {
        return Err("the data URI has no comma before its data".into());
    };
    let mut parts = header.split(';');
    let media_type = parts.next().unwrap_or_default().to_ascii_lowercase();
    let mut is_base64 = false;
    for part in parts {
        if is_base64 {
            return Err("`base64` must be the last part of a data URI's header".into());
        }
        match part {
            "base64" => is_base64 = true,
            part if part.contains('=') => {}
            _ => return Err("a parameter of the data URI has no value".into()),
        }
    }
    let bytes = if is_base64 && !body.contains('%') {
        BASE64.decode(body).map_err(|e| format!("the data URI's base64 is damaged: {e}"))?
    } else if is_base64 {
        BASE64.decode(percent_decode(body)?).map_err(|e| format!("the data URI's base64 is damaged: {e}"))?
    } else {
        percent_decode(body)?
    };
    Ok(Target::Data { media_type, bytes })
}

fn percent_decode(text: &str) -> Result<Vec<u8>, String> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            out.push(byte);
            continue;
        }
        let digit = |b: Option<u8>| b.and_then(|b| char::from(b).to_digit(16));
        match (digit(bytes.next()), digit(bytes.next())) {
            (Some(high), Some(low)) => out.push((high * 16 + low) as u8),
            _ => return Err("a percent sign in the URI is not followed by two hexadecimal digits".into()),
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolved(uri: &str) -> Result<Target, String> {
        resolve(uri, Path::new("folder"))
    }

    #[test]
    fn files_lie_beside_the_document() {
        assert_eq!(resolved("a%20b/c.png"), Ok(Target::File("folder/a b/c.png".into())));
        assert_eq!(resolved("../t/x.png"), Ok(Target::File("folder/../t/x.png".into())));
    }

    #[test]
    fn data_is_decoded() {
        let data = |media_type: &str, bytes: &[u8]| {
            Ok(Target::Data { media_type: media_type.into(), bytes: bytes.into() })
        };
        assert_eq!(
            resolved("data:application/octet-stream;base64,AQI="),
            data("application/octet-stream", &[1, 2])
        );
        assert_eq!(
            resolved("data:application/octet-stream;base64,AQI"),
            data("application/octet-stream", &[1, 2])
        );
        assert_eq!(resolved("data:,a%41"), data("", b"aA"));
    }

    #[test]
    fn what_cannot_be_followed_is_refused() {
        for uri in [
            ":",
            "http://example.com/x",
            "file:///etc/passwd",
            "/etc/passwd",
            "",
            "a%0",
            "a%00",
            "data:",
            "data:x;;base64,AA==",
            "data:;base64,`",
        ] {
            assert!(resolved(uri).is_err(), "{uri}");
        }
    }
}
