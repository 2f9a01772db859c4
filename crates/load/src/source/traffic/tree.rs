//! Where the values of many paths stand in a document: one pass over it for all of them.
//!
//! Knows paths and places. Must not know what is asked of the values. What leads nowhere is read, and
//! nothing of it is kept.

use std::fmt;
use std::ops::Range;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::plan::traffic::{Path, Place};
use crate::source::names::Named;

/// Paths that are looked for together, as a tree.
#[derive(Debug)]
pub(super) struct Tree {
    /// The first one is the document.
    nodes: Vec<Node>,
    /// By path: it names any number of places.
    many: Vec<bool>,
}

#[derive(Debug, Default)]
struct Node {
    members: Vec<(String, usize)>,
    elements: Vec<(usize, usize)>,
    each: Option<usize>,
    /// Paths that end here.
    ends: Vec<usize>,
    /// Paths whose list begins here.
    lists: Vec<usize>,
}

/// Where in a document the values of paths stand; its memory is used again for the next one.
#[derive(Debug, Default)]
pub(super) struct Places {
    /// By path, where it names one place.
    single: Vec<Option<Range<usize>>>,
    /// By path, where it names many: in the order of the document.
    many: Vec<Vec<Range<usize>>>,
    /// By path: what its list is of is there.
    lists: Vec<bool>,
}

impl Tree {
    pub(super) fn new(paths: &[Path]) -> Self {
        let mut tree = Self { nodes: vec![Node::default()], many: Vec::new() };
        for (index, path) in paths.iter().enumerate() {
            let (mut at, mut in_list) = (0, false);
            for place in &path.places {
                if *place == Place::Each && !in_list {
                    tree.nodes[at].lists.push(index);
                    in_list = true;
                }
                at = tree.child(at, place);
            }
            tree.nodes[at].ends.push(index);
            tree.many.push(in_list);
        }
        tree
    }

    /// The node at this place of another, which may be new.
    fn child(&mut self, of: usize, place: &Place) -> usize {
        let new = self.nodes.len();
        let node = &mut self.nodes[of];
        let known = match place {
            Place::Member(name) => node.members.iter().find(|(known, _)| known == name),
            Place::Element(index) => {
                let known = node.elements.iter().find(|(known, _)| known == index);
                if let Some((_, child)) = known {
                    return *child;
                }
                node.elements.push((*index, new));
                self.nodes.push(Node::default());
                return new;
            }
            Place::Each => {
                if let Some(child) = node.each {
                    return child;
                }
                node.each = Some(new);
                self.nodes.push(Node::default());
                return new;
            }
        };
        if let Some((_, child)) = known {
            return *child;
        }
        if let Place::Member(name) = place {
            node.members.push((name.clone(), new));
        }
        self.nodes.push(Node::default());
        new
    }

    /// Finds all places in a document.
    ///
    /// # Errors
    /// It is no JSON.
    pub(super) fn find(
        &self,
        document: &[u8],
        places: &mut Places,
    ) -> Result<(), serde_json::Error> {
        places.clear(self.many.len());
        let mut reader = serde_json::Deserializer::from_slice(document);
        let pass = Pass { tree: self, begin: document.as_ptr() as usize, places };
        Seek { pass, at: [Some(0), None] }.deserialize(&mut reader)?;
        reader.end()
    }
}

impl Places {
    fn clear(&mut self, paths: usize) {
        self.single.clear();
        self.single.resize(paths, None);
        self.many.resize_with(paths, Vec::new);
        self.many.iter_mut().for_each(Vec::clear);
        self.lists.clear();
        self.lists.resize(paths, false);
    }

    /// Where the value of a path stands that names one place.
    pub(super) fn single(&self, path: usize) -> Option<Range<usize>> {
        self.single[path].clone()
    }

    /// Where the values of a path stand that names many; none: not even the list is there.
    pub(super) fn many(&self, path: usize) -> Option<&[Range<usize>]> {
        self.lists[path].then(|| self.many[path].as_slice())
    }
}

/// One pass over a document.
struct Pass<'p> {
    tree: &'p Tree,
    /// Address of the document.
    begin: usize,
    places: &'p mut Places,
}

impl Pass<'_> {
    fn again(&mut self) -> Pass<'_> {
        Pass { tree: self.tree, begin: self.begin, places: self.places }
    }

    /// What stands at this node is there.
    fn note(&mut self, node: usize, raw: &str) {
        let begin = raw.as_ptr() as usize - self.begin;
        let place = begin..begin + raw.len();
        for &path in &self.tree.nodes[node].ends {
            if self.tree.many[path] {
                self.places.many[path].push(place.clone());
            } else {
                // Of names that stand twice the last one counts, as with most readers.
                self.places.single[path] = Some(place.clone());
            }
        }
    }
}

/// Reads the value at these nodes, the second of which is there where `[*]` and a name lead to it.
struct Seek<'p> {
    pass: Pass<'p>,
    at: [Option<usize>; 2],
}

impl<'de> DeserializeSeed<'de> for Seek<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(mut self, reader: D) -> Result<(), D::Error> {
        let [Some(node), other] = self.at else {
            return reader.deserialize_any(Walk { pass: self.pass, node: None });
        };
        let own = &self.pass.tree.nodes[node];
        for &path in &own.lists {
            self.pass.places.lists[path] = true;
        }
        if own.ends.is_empty() && other.is_none() {
            return reader.deserialize_any(Walk { pass: self.pass, node: Some(node) });
        }
        let raw = <&RawValue as serde::Deserialize>::deserialize(reader)?.get();
        for node in self.at.into_iter().flatten() {
            let own = &self.pass.tree.nodes[node];
            for &path in &own.lists {
                self.pass.places.lists[path] = true;
            }
            self.pass.note(node, raw);
            if !(own.members.is_empty() && own.elements.is_empty() && own.each.is_none()) {
                let walk = Walk { pass: self.pass.again(), node: Some(node) };
                let mut within = serde_json::Deserializer::from_str(raw);
                within.deserialize_any(walk).map_err(serde::de::Error::custom)?;
            }
        }
        Ok(())
    }
}

/// Goes on into a value from this node; none: it leads nowhere.
struct Walk<'p> {
    pass: Pass<'p>,
    node: Option<usize>,
}

impl<'de> Visitor<'de> for Walk<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut elements: A) -> Result<(), A::Error> {
        for index in 0_usize.. {
            let node = self.node.map(|node| &self.pass.tree.nodes[node]);
            let named = node.and_then(|node| {
                let found = node.elements.iter().find(|(element, _)| *element == index);
                found.map(|(_, child)| *child)
            });
            let at = both(named, node.and_then(|node| node.each));
            let seek = Seek { pass: self.pass.again(), at };
            if elements.next_element_seed(seek)?.is_none() {
                break;
            }
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut members: A) -> Result<(), A::Error> {
        let node = self.node.map(|node| &self.pass.tree.nodes[node]);
        let names = node.map_or(&[][..], |node| &node.members);
        let node_of =
            |found: &str| names.iter().find(|(name, _)| name == found).map(|(_, node)| *node);
        while let Some(named) = members.next_key_seed(Named::new(node_of))? {
            let at = both(named, node.and_then(|node| node.each));
            members.next_value_seed(Seek { pass: self.pass.again(), at })?;
        }
        Ok(())
    }
}

fn both(named: Option<usize>, each: Option<usize>) -> [Option<usize>; 2] {
    if named.is_some() { [named, each] } else { [each, None] }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What stands at each of these paths of a document: one value, or those of a list.
    fn found(paths: &[&str], document: &str) -> Vec<Option<Vec<String>>> {
        let paths: Vec<_> = paths.iter().map(|text| Path::parse(text).expect(text)).collect();
        let tree = Tree::new(&paths);
        let mut places = Places::default();
        // Memory that was used before changes nothing.
        tree.find(br#"{"a":[[1],{"b":2}],"b":3}"#, &mut places).expect("JSON");
        tree.find(document.as_bytes(), &mut places).expect("JSON");
        let text = |place: Range<usize>| document[place].to_owned();
        let of = |(index, path): (usize, &Path)| {
            if path.names_many() {
                places.many(index).map(|many| many.iter().cloned().map(text).collect())
            } else {
                places.single(index).map(|place| vec![text(place)])
            }
        };
        paths.iter().enumerate().map(of).collect()
    }

    #[test]
    fn one_pass_finds_all() {
        let document = r#" {"a": [ {"b": 1, "c": [true]}, {"b": "two"}, {"c": null} ],
            "x": {"a.b": -1.5e3, "y": {}}, "n": null} "#;
        let rows = [
            ("$.a[1].b", Some(vec![r#""two""#])),
            ("$.a[0]", Some(vec![r#"{"b": 1, "c": [true]}"#])),
            ("$.a[*].b", Some(vec!["1", r#""two""#])),
            ("$.a[*].c", Some(vec!["[true]", "null"])),
            ("$.a[*].c[*]", Some(vec!["true"])),
            ("$.a[0].b", Some(vec!["1"])),
            ("$.a[3]", None),
            ("$.a[0].b.c", None),
            ("$.x[\"a.b\"]", Some(vec!["-1.5e3"])),
            ("$.x[*]", Some(vec!["-1.5e3", "{}"])),
            ("$.x.y[*]", Some(vec![])),
            ("$.n", Some(vec!["null"])),
            ("$.n[*]", Some(vec![])),
            ("$.gone[*].a", None),
            ("$", Some(vec![document.trim()])),
        ];
        let expected: Vec<_> = rows
            .iter()
            .map(|(_, found)| {
                found.as_ref().map(|all| all.iter().map(ToString::to_string).collect::<Vec<_>>())
            })
            .collect();
        let paths: Vec<&str> = rows.iter().map(|(path, _)| *path).collect();
        assert_eq!(found(&paths, document), expected, "together");
        for (path, expected) in paths.iter().zip(&expected) {
            assert_eq!(&found(&[path], document)[0], expected, "{path} alone");
        }
    }

    #[test]
    fn the_last_of_two_members_of_a_name_counts() {
        assert_eq!(found(&["$.a"], r#"{"a":1,"a":2}"#), [Some(vec!["2".to_owned()])]);
        assert_eq!(found(&["$.\u{fc}"], r#"{"\u00fc":1}"#), [Some(vec!["1".to_owned()])]);
    }

    #[test]
    fn what_is_no_json_is_told() {
        let tree = Tree::new(&[Path::parse("$.a").expect("a path")]);
        for text in [
            "",
            "{",
            r#"{"a":1}}"#,
            r#"{"a":1,}"#,
            r#"{"a":tru}"#,
            r#"{"b":[1,}"#,
            "{\"a\":\"\u{1}\"}",
        ] {
            assert!(tree.find(text.as_bytes(), &mut Places::default()).is_err(), "{text}");
        }
        assert!(tree.find(b"{\"a\":\"\xff\"}", &mut Places::default()).is_err());
    }
}
