//! JSON values with their pointers.
//!
//! The schema check runs first, so these helpers return `None` for anything absent or of another type instead
//! of failing a second time.

use serde_json::Value;

/// A value and its JSON pointer (RFC 6901).
#[derive(Clone, Debug)]
pub(super) struct Item<'a> {
    pub(super) value: &'a Value,
    pub(super) at: String,
}

/// Appends one step to a pointer.
pub(super) fn push_key(pointer: &mut String, key: &str) {
    pointer.push('/');
    for c in key.chars() {
        match c {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            c => pointer.push(c),
        }
    }
}

/// A whole number, in any notation.
pub(super) fn whole(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| {
        let number = value.as_f64()?;
        ((0.0..=9.0e15).contains(&number) && number.fract() == 0.0).then_some(number as u64)
    })
}

impl<'a> Item<'a> {
    /// The document itself.
    pub(super) fn root(value: &'a Value) -> Self {
        Self { value, at: String::new() }
    }

    /// The pointer of a property, present or not.
    pub(super) fn pointer(&self, key: &str) -> String {
        let mut at = self.at.clone();
        push_key(&mut at, key);
        at
    }

    /// A property.
    pub(super) fn get(&self, key: &str) -> Option<Self> {
        let value = self.value.get(key)?;
        Some(Self { value, at: self.pointer(key) })
    }

    /// Whether a property is there.
    pub(super) fn has(&self, key: &str) -> bool {
        self.value.get(key).is_some()
    }

    /// The elements of an array property; none when absent.
    pub(super) fn items(&self, key: &str) -> Vec<Self> {
        let at = self.pointer(key);
        let list = self.value.get(key).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        list.iter().enumerate().map(|(i, value)| Self { value, at: format!("{at}/{i}") }).collect()
    }

    /// An element of an array property.
    pub(super) fn item(&self, key: &str, index: usize) -> Option<Self> {
        let value = self.value.get(key)?.as_array()?.get(index)?;
        Some(Self { value, at: format!("{}/{index}", self.pointer(key)) })
    }

    /// Number of elements of an array property.
    pub(super) fn len(&self, key: &str) -> usize {
        self.value.get(key).and_then(Value::as_array).map_or(0, Vec::len)
    }

    /// Names and values of an object's properties.
    pub(super) fn entries(&self) -> Vec<(&'a str, Self)> {
        let entries = self.value.as_object().into_iter().flatten();
        entries.map(|(key, value)| (key.as_str(), Self { value, at: self.pointer(key) })).collect()
    }

    /// A number property.
    pub(super) fn number(&self, key: &str) -> Option<f32> {
        self.value.get(key)?.as_f64().map(|v| v as f32)
    }

    /// A whole number property that is not negative.
    pub(super) fn whole(&self, key: &str) -> Option<u64> {
        whole(self.value.get(key)?)
    }

    /// A property that is an index into an array of the document.
    pub(super) fn index(&self, key: &str) -> Option<usize> {
        self.whole(key).and_then(|v| usize::try_from(v).ok())
    }

    /// A string property.
    pub(super) fn text(&self, key: &str) -> Option<&'a str> {
        self.value.get(key)?.as_str()
    }

    /// A true or false property; false when absent.
    pub(super) fn flag(&self, key: &str) -> bool {
        self.value.get(key).and_then(Value::as_bool).unwrap_or(false)
    }

    /// A property that is an array of exactly `N` numbers.
    pub(super) fn numbers<const N: usize>(&self, key: &str) -> Option<[f64; N]> {
        let list = self.value.get(key)?.as_array()?;
        let mut out = [0.0; N];
        if list.len() != N {
            return None;
        }
        for (value, slot) in list.iter().zip(&mut out) {
            *slot = value.as_f64()?;
        }
        Some(out)
    }

    /// A property that is an array of exactly `N` numbers, in single precision.
    pub(super) fn floats<const N: usize>(&self, key: &str) -> Option<[f32; N]> {
        self.numbers::<N>(key).map(|v| v.map(|x| x as f32))
    }

    /// The object that an extension adds here.
    pub(super) fn extension(&self, name: &str) -> Option<Self> {
        self.get("extensions")?.get(name)
    }

    /// A name for messages, if the object has one.
    pub(super) fn name(&self) -> Option<&'a str> {
        self.text("name").filter(|name| !name.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointers_escape_their_separators() {
        let value = serde_json::json!({"a/b": {"~": [1, 2.0]}});
        let root = Item::root(&value);
        let inner = root.get("a/b").unwrap();
        assert_eq!(inner.items("~")[1].at, "/a~1b/~0/1");
        assert_eq!(value.pointer("/a~1b/~0/1"), Some(&serde_json::json!(2.0)));
    }

    #[test]
    fn whole_numbers_may_be_written_as_fractions() {
        assert_eq!(whole(&serde_json::json!(3.0)), Some(3));
        assert_eq!(whole(&serde_json::json!(3.5)), None);
        assert_eq!(whole(&serde_json::json!(-1)), None);
        assert_eq!(whole(&serde_json::json!("1")), None);
    }
}
