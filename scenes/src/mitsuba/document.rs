//! A scene's objects: included files, parameters and aliases resolved, names as in version 3.

use super::object::{Class, Nested, Object, Property, Target, shorten};
use super::values;
use super::xml::{self, Element, place};
use crate::access::FileAccess;
use crate::limits::Budget;
use crate::warning::Warnings;
use lockstep_core::{Error, Result};
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Deepest chain of included files.
const MOST_INCLUDES: usize = 16;

/// Most files that are included, the same one counted each time.
const MOST_INCLUDED: u32 = 4096;

/// Most bytes of XML and spectra; these are text, and a scene's bulk is in its meshes.
const MOST_BYTES: u64 = 1 << 28;

/// Most parameters of a scene.
const MOST_PARAMETERS: usize = 4096;

/// Longest attribute with its parameters filled in.
const LONGEST_VALUE: usize = 1 << 24;

/// All objects of a scene.
pub(super) struct Document {
    pub(super) objects: Vec<Object>,
    /// The root.
    pub(super) root: usize,
    ids: HashMap<String, usize>,
    /// Folders that files are looked for in, besides the scene's own.
    folders: Vec<PathBuf>,
}

impl Document {
    /// Reads a scene with everything that it includes.
    ///
    /// # Errors
    /// [`Error::Scene`] with the line; [`Error::Io`] for an included file that cannot be read.
    pub(super) fn read(bytes: &[u8], access: &FileAccess<'_>, warnings: &mut Warnings) -> Result<Self> {
        let mut reader = Reader {
            access,
            out: Self { objects: Vec::new(), root: 0, ids: HashMap::new(), folders: Vec::new() },
            parameters: BTreeMap::new(),
            aliases: Vec::new(),
            elements: Budget::of_scene_elements(),
            bytes_left: MOST_BYTES,
            includes_left: MOST_INCLUDED,
        };
        reader.take_bytes(bytes.len() as u64, "file", warnings)?;
        let root = xml::parse(bytes, "", &mut reader.elements, warnings)?;
        let file: Rc<str> = "".into();
        if Class::of(&root.tag) != Some(Class::Scene) {
            return Err(warnings.error(
                place("", root.line),
                format!("the root element is `{}`, not `scene`", shorten(&root.tag)),
            ));
        }
        check_version(&root, warnings);
        reader.out.root = reader.object(&root, Class::Scene, &file, 0, warnings)?;
        for (alias, id, place) in std::mem::take(&mut reader.aliases) {
            match reader.out.ids.get(&id) {
                Some(&index) => reader.define(alias, index, &place, warnings)?,
                None => {
                    return Err(warnings.error(place, format!("there is no object `{}`", shorten(&id))));
                }
            }
        }
        Ok(reader.out)
    }

    /// The object of a nested one or a reference.
    pub(super) fn target(&self, owner: &Object, nested: &Nested, warnings: &Warnings) -> Result<usize> {
        match &nested.target {
            Target::Own(index) => Ok(*index),
            Target::Reference(id) => self.ids.get(id).copied().ok_or_else(|| {
                let near = crate::suggest::nearest(id, self.ids.keys().map(String::as_str));
                let hint = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
                let message = format!("there is no object `{}`{hint}", shorten(id));
                warnings.error(place(&owner.file, nested.line), message)
            }),
        }
    }

    /// Nested objects of a class, with their parameter's name.
    pub(super) fn children(
        &self,
        owner: &Object,
        class: Class,
        warnings: &Warnings,
    ) -> Result<Vec<(String, usize)>> {
        let mut out = Vec::new();
        for nested in &owner.nested {
            let index = self.target(owner, nested, warnings)?;
            if self.objects[index].class == class {
                out.push((nested.name.clone(), index));
            }
        }
        Ok(out)
    }

    /// A file that the scene names: in its folder, else in those that it lists.
    pub(super) fn file(&self, access: &FileAccess<'_>, name: &str) -> PathBuf {
        find(access, &self.folders, name)
    }
}

fn find(access: &FileAccess<'_>, folders: &[PathBuf], name: &str) -> PathBuf {
    let name = name.replace('\\', "/");
    let own = access.folder.join(&name);
    if own.is_file() {
        return own;
    }
    folders.iter().map(|folder| folder.join(&name)).find(|path| path.is_file()).unwrap_or(own)
}

fn check_version(root: &Element, warnings: &mut Warnings) {
    let version = root.attribute("version").and_then(|text| text.split('.').next()?.parse::<u32>().ok());
    match version {
        Some(0..=3) => {}
        Some(_) => {
            warnings.add(place("", root.line), "the scene's version is above 3; it is read as version 3")
        }
        None => warnings.add(place("", root.line), "the scene has no version; it is read as version 3"),
    }
}

/// Words joined by underscores: versions below 2 wrote `toWorld` and `intIOR`.
fn snake_case(name: &str) -> String {
    let mut out = String::with_capacity(name.len() + 4);
    let mut before = '_';
    for c in name.chars() {
        if c.is_ascii_uppercase() && (before.is_ascii_lowercase() || before.is_ascii_digit()) {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
        before = c;
    }
    out
}

struct Reader<'a, 'b> {
    access: &'a FileAccess<'b>,
    out: Document,
    parameters: BTreeMap<String, String>,
    /// New name, identifier and place.
    aliases: Vec<(String, String, String)>,
    elements: Budget,
    bytes_left: u64,
    includes_left: u32,
}

impl Reader<'_, '_> {
    fn take_bytes(&mut self, count: u64, place: &str, warnings: &Warnings) -> Result<()> {
        let message = || format!("the scene's text and spectra exceed {MOST_BYTES} bytes");
        self.bytes_left =
            self.bytes_left.checked_sub(count).ok_or_else(|| warnings.error(place, message()))?;
        Ok(())
    }

    fn define(&mut self, id: String, index: usize, place: &str, warnings: &Warnings) -> Result<()> {
        if self.out.ids.insert(id.clone(), index).is_some() {
            return Err(warnings.error(place, format!("the name `{}` is used twice", shorten(&id))));
        }
        Ok(())
    }

    /// Adds an object with all that it contains, and returns its index.
    fn object(
        &mut self,
        element: &Element,
        class: Class,
        file: &Rc<str>,
        depth: usize,
        warnings: &mut Warnings,
    ) -> Result<usize> {
        let at = place(file, element.line);
        let attribute = |name| self.filled(element.attribute(name).unwrap_or_default(), &at, warnings);
        let (plugin, id) = (attribute("type")?, attribute("id")?);
        let mut object = Object {
            class,
            plugin,
            id: id.clone(),
            file: file.clone(),
            line: element.line,
            properties: Vec::new(),
            nested: Vec::new(),
        };
        for child in &element.children {
            self.child(&mut object, child, file, depth, warnings)?;
        }
        let index = self.out.objects.len();
        self.out.objects.push(object);
        if !id.is_empty() {
            self.define(id, index, &at, warnings)?;
        }
        Ok(index)
    }

    fn child(
        &mut self,
        owner: &mut Object,
        element: &Element,
        file: &Rc<str>,
        depth: usize,
        warnings: &mut Warnings,
    ) -> Result<()> {
        let at = place(file, element.line);
        let needed = |name: &str| {
            let missing = || warnings.error(&at, format!("the element `{}` needs `{name}`", element.tag));
            element.attribute(name).ok_or_else(missing)
        };
        match element.tag.as_str() {
            "default" => {
                let (name, value) = (needed("name")?, self.filled(needed("value")?, &at, warnings)?);
                if name.is_empty() || self.parameters.len() >= MOST_PARAMETERS {
                    let message =
                        format!("a parameter needs a name, and there are at most {MOST_PARAMETERS}");
                    return Err(warnings.error(at, message));
                }
                // The first value stays, so that a scene can set what it includes.
                self.parameters.entry(name.to_owned()).or_insert(value);
                return Ok(());
            }
            "include" => {
                let name = self.filled(needed("filename")?, &at, warnings)?;
                return self.include(owner, &name, &at, depth, warnings);
            }
            "alias" => {
                let (id, alias) = (needed("id")?.to_owned(), needed("as")?.to_owned());
                self.aliases.push((alias, id, at));
                return Ok(());
            }
            "path" => {
                let name = self.filled(needed("value")?, &at, warnings)?;
                self.out.folders.push(self.access.folder.join(name.replace('\\', "/")));
                return Ok(());
            }
            "ref" => {
                let target = Target::Reference(self.filled(needed("id")?, &at, warnings)?);
                let name = self.name(element, &at, warnings)?;
                owner.nested.push(Nested { name, target, line: element.line });
                return Ok(());
            }
            _ => {}
        }
        let name = self.name(element, &at, warnings)?;
        if let Some(value) = self.value(element, &at, warnings)? {
            if owner.properties.iter().any(|property| property.name == name) {
                return Err(warnings.error(at, format!("the property `{}` is given twice", shorten(&name))));
            }
            owner.properties.push(Property::new(name, value, element.line));
            return Ok(());
        }
        let Some(class) = Class::of(&element.tag).filter(|class| *class != Class::Scene) else {
            return Err(warnings.error(at, format!("the element `{}` is not known", shorten(&element.tag))));
        };
        let index = self.object(element, class, file, depth, warnings)?;
        owner.nested.push(Nested { name, target: Target::Own(index), line: element.line });
        Ok(())
    }

    fn name(&self, element: &Element, at: &str, warnings: &Warnings) -> Result<String> {
        let name = element.attribute("name").unwrap_or_default();
        Ok(snake_case(&self.filled(name, at, warnings)?))
    }

    /// The value of an element that is a property.
    fn value(
        &mut self,
        element: &Element,
        at: &str,
        warnings: &mut Warnings,
    ) -> Result<Option<super::object::Value>> {
        let filled = self.filled_element(element, at, warnings)?;
        let (access, folders) = (self.access, &self.out.folders);
        let mut taken = 0;
        let left = self.bytes_left;
        let mut read_file = |name: &str| {
            let bytes = access.read(&find(access, folders, name)).map_err(|error| error.to_string())?;
            taken += bytes.len() as u64;
            if taken > left { Err("the scene's text is too large".into()) } else { Ok(bytes) }
        };
        let value = values::value(filled.as_ref().unwrap_or(element), &mut read_file);
        self.take_bytes(taken, at, warnings)?;
        value.transpose().map_err(|message| warnings.error(at, message))
    }

    /// A copy of an element with its parameters filled in, where it has any.
    fn filled_element(&self, element: &Element, at: &str, warnings: &Warnings) -> Result<Option<Element>> {
        let has = |e: &Element| e.attributes.iter().any(|(_, value)| value.contains('$'));
        if Class::of(&element.tag).is_some_and(|_| element.attribute("type").is_some())
            || !(has(element) || element.children.iter().any(has))
        {
            return Ok(None);
        }
        let copy = |e: &Element| {
            let fill =
                |(name, value): &(String, String)| Ok((name.clone(), self.filled(value, at, warnings)?));
            let attributes: Result<Vec<_>> = e.attributes.iter().map(fill).collect();
            Ok::<_, Error>(Element {
                tag: e.tag.clone(),
                attributes: attributes?,
                line: e.line,
                children: Vec::new(),
            })
        };
        let mut out = copy(element)?;
        out.children = element.children.iter().map(copy).collect::<Result<_>>()?;
        Ok(Some(out))
    }

    /// A text with the values of its parameters, `$name`; the longest name that fits is meant.
    fn filled(&self, text: &str, at: &str, warnings: &Warnings) -> Result<String> {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(dollar) = rest.find('$') {
            out.push_str(&rest[..dollar]);
            let after = &rest[dollar + 1..];
            let fits = self.parameters.iter().filter(|(name, _)| after.starts_with(name.as_str()));
            let Some((name, value)) = fits.max_by_key(|(name, _)| name.len()) else {
                let message = format!("the parameter `${}` has no `default`", shorten(after));
                return Err(warnings.error(at, message));
            };
            out.push_str(value);
            rest = &after[name.len()..];
            if out.len() > LONGEST_VALUE {
                return Err(warnings.error(at, "the value is too long with its parameters filled in"));
            }
        }
        out.push_str(rest);
        Ok(out)
    }

    /// Adds the contents of an included file to the object around it.
    fn include(
        &mut self,
        owner: &mut Object,
        name: &str,
        at: &str,
        depth: usize,
        warnings: &mut Warnings,
    ) -> Result<()> {
        if depth >= MOST_INCLUDES {
            let message =
                format!("files include each other deeper than {MOST_INCLUDES}; does one include itself?");
            return Err(warnings.error(at, message));
        }
        self.includes_left = self
            .includes_left
            .checked_sub(1)
            .ok_or_else(|| warnings.error(at, format!("more than {MOST_INCLUDED} files are included")))?;
        let path = find(self.access, &self.out.folders, name);
        let bytes = self.access.read(&path)?;
        self.take_bytes(bytes.len() as u64, at, warnings)?;
        let file: Rc<str> = Path::new(name).to_string_lossy().into();
        let root = xml::parse(&bytes, &file, &mut self.elements, warnings)?;
        // A file holds a scene, whose contents are meant, or one object.
        let contents = if Class::of(&root.tag) == Some(Class::Scene) {
            &root.children[..]
        } else {
            std::slice::from_ref(&root)
        };
        for child in contents {
            self.child(owner, child, &file, depth + 1, warnings)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::object::Value;
    use super::*;
    use crate::LoadOptions;

    fn read_in(folder: &Path, text: &str) -> Result<Document> {
        let options = LoadOptions { data_folder: Some(folder.join("none")), ..LoadOptions::default() };
        let access = FileAccess::new(Some(folder), &options);
        Document::read(text.as_bytes(), &access, &mut Warnings::new("s.xml"))
    }

    fn read(text: &str) -> Result<Document> {
        read_in(tempfile::tempdir().unwrap().path(), text)
    }

    fn refused(document: Result<Document>, words: &str) {
        let error = document.err().map(|error| error.to_string()).unwrap_or_default();
        assert!(error.contains(words), "`{error}` lacks `{words}`");
    }

    #[test]
    fn names_of_old_versions_are_those_of_the_new() {
        let names = ["toWorld", "intIOR", "maxDepth", "uscale", "kReflectance", "to_uv", "alpha_u"];
        let wanted = ["to_world", "int_ior", "max_depth", "uscale", "k_reflectance", "to_uv", "alpha_u"];
        assert_eq!(names.map(snake_case), wanted);
    }

    #[test]
    fn parameters_are_filled_in_and_the_first_value_stays() {
        let document = read(
            "<scene version='3.0.0'><default name='a' value='1'/><default name='ab' value='2.5'/>\n\
             <default name='a' value='7'/><integrator type='path'><float name='x' value='$ab'/>\n\
             <string name='y' value='$a-$a'/></integrator></scene>",
        )
        .unwrap();
        let object = &document.objects[0];
        assert_eq!((object.plugin.as_str(), object.line), ("path", 2));
        let values: Vec<&Value> = object.properties.iter().map(|p| &p.value).collect();
        assert_eq!(values, [&Value::Number(2.5), &Value::Text("1-1".into())]);
        refused(read("<scene version='3'>\n<integrator type='$x'/></scene>"), "line 2: the parameter `$x`");
    }

    #[test]
    fn references_and_aliases_are_followed() {
        let document = read(
            "<scene version='3.0.0'><bsdf type='diffuse' id='a'/><alias id='a' as='b'/>\
             <shape type='sphere'><ref name='bsdf' id='b'/></shape><shape type='cube'>\n<ref id='aa'/></shape></scene>",
        )
        .unwrap();
        let warnings = Warnings::new("s.xml");
        let shape = &document.objects[1];
        assert_eq!(document.children(shape, Class::Bsdf, &warnings).unwrap(), [("bsdf".to_string(), 0)]);
        let missing =
            document.children(&document.objects[2], Class::Bsdf, &warnings).unwrap_err().to_string();
        assert!(missing.contains("line 2: there is no object `aa`; did you mean `a`?"), "{missing}");
        refused(read("<scene version='3'><bsdf id='a'/><bsdf id='a'/></scene>"), "used twice");
        refused(read("<scene version='3'><alias id='a' as='b'/></scene>"), "no object `a`");
    }

    #[test]
    fn included_files_add_their_objects_with_their_own_places() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        std::fs::write(path.join("m.xml"), "<scene version='3.0.0'>\n<bsdf type='$kind' id='a'/></scene>")
            .unwrap();
        std::fs::write(path.join("one.xml"), "<shape type='cube'/>").unwrap();
        let text = "<scene version='3.0.0'><default name='kind' value='plastic'/><include filename='m.xml'/>\
                    <include filename='one.xml'/></scene>";
        let document = read_in(path, text).unwrap();
        let found: Vec<_> = document.objects.iter().map(|o| (o.plugin.as_str(), o.place())).collect();
        assert_eq!(found[0], ("plastic", "m.xml line 2".to_string()));
        assert_eq!(found[1].0, "cube");
        std::fs::write(path.join("loop.xml"), "<scene><include filename='loop.xml'/></scene>").unwrap();
        refused(read_in(path, "<scene version='3'><include filename='loop.xml'/></scene>"), "include itself");
        refused(read_in(path, "<scene version='3'><include filename='no.xml'/></scene>"), "no.xml");
    }

    #[test]
    fn files_that_include_each_other_twice_do_not_unfold_without_bound() {
        let folder = tempfile::tempdir().unwrap();
        for i in 0..15 {
            let next = format!("<include filename='{}.xml'/>", i + 1);
            std::fs::write(
                folder.path().join(format!("{i}.xml")),
                format!("<scene>{}</scene>", next.repeat(40)),
            )
            .unwrap();
        }
        std::fs::write(folder.path().join("15.xml"), "<scene/>").unwrap();
        refused(
            read_in(folder.path(), "<scene version='3'><include filename='0.xml'/></scene>"),
            "files are included",
        );
    }

    #[test]
    fn mistakes_are_named() {
        refused(read("<bsdf type='diffuse'/>"), "not `scene`");
        refused(read("<scene version='3'>\n<thing/></scene>"), "line 2: the element `thing`");
        refused(
            read("<scene version='3'>\n<shape type='cube'><float name='a' value='b'/></shape></scene>"),
            "line 2",
        );
        refused(
            read(
                "<scene version='3'><shape><float name='a' value='1'/><float name='a' value='1'/></shape></scene>",
            ),
            "given twice",
        );
    }
}
