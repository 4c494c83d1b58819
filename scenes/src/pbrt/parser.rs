//! The directives of a scene file.

use super::description::{
    CameraDefinition, Description, LightDefinition, MaterialDefinition, MaterialUse, Placement, Shape,
    TextureDefinition,
};
use super::matrix::Matrix;
use super::params::{Kind, Param, Params, Values, shorten};
use super::tokens::{Token, TokenKind, Tokens};
use super::unpack::unpack;
use crate::access::FileAccess;
use crate::warning::Warnings;
use lockstep_core::{Error, Result};
use std::collections::HashMap;
use std::path::PathBuf;
use std::rc::Rc;

/// Deepest nesting of files that include each other.
const MAX_INCLUDE_DEPTH: usize = 64;

/// Most files that are included, each time counted.
const MAX_INCLUDES: usize = 20_000;

/// Deepest nesting of attribute blocks.
const MAX_NESTING: usize = 4096;

/// Reads a file's text and all that it includes.
pub(super) fn parse(bytes: &[u8], access: &FileAccess<'_>, warnings: &mut Warnings) -> Result<Description> {
    let mut parser = Parser {
        access,
        warnings,
        out: Description::default(),
        state: State::default(),
        saved: Vec::new(),
        saved_transforms: Vec::new(),
        systems: HashMap::new(),
        textures: HashMap::new(),
        objects: HashMap::new(),
        object: None,
        files: Vec::new(),
        includes: 0,
    };
    parser.text(bytes)?;
    if parser.object.is_some() || !parser.saved.is_empty() {
        parser.warnings.add("file", "it ends within an `AttributeBegin` or `ObjectBegin` that is not closed");
    }
    Ok(parser.out)
}

/// Kinds of items to which an `Attribute` gives default parameters.
const ATTRIBUTE_TARGETS: [&str; 5] = ["shape", "light", "material", "medium", "texture"];
const SHAPE: usize = 0;
const LIGHT: usize = 1;
const MATERIAL: usize = 2;
const TEXTURE: usize = 4;

/// The graphics state that attribute blocks save.
#[derive(Clone)]
struct State {
    to_world: Matrix,
    material: MaterialUse,
    area_light: Option<usize>,
    reverse: bool,
    defaults: [Rc<Vec<Param>>; 5],
    /// Whether transforms change the start of the shutter's time, and its end.
    active: [bool; 2],
}

impl Default for State {
    fn default() -> Self {
        Self {
            to_world: Matrix::IDENTITY,
            material: MaterialUse::Default,
            area_light: None,
            reverse: false,
            defaults: Default::default(),
            active: [true; 2],
        }
    }
}

/// The kind of an open block.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Block {
    Attribute,
    Object,
}

struct Parser<'a, 'b> {
    access: &'a FileAccess<'b>,
    warnings: &'a mut Warnings,
    out: Description,
    state: State,
    saved: Vec<(Block, State)>,
    saved_transforms: Vec<(Matrix, [bool; 2])>,
    systems: HashMap<String, Matrix>,
    /// By whether values are colours, and name.
    textures: HashMap<(bool, String), usize>,
    objects: HashMap<String, usize>,
    /// The object whose shapes are read.
    object: Option<usize>,
    /// The included files that are being read, the innermost last.
    files: Vec<(String, PathBuf)>,
    includes: usize,
}

impl Parser<'_, '_> {
    /// Reads a file's bytes, packed or not.
    fn text(&mut self, bytes: &[u8]) -> Result<()> {
        let room = self.access.limits.file_bytes.saturating_sub(self.out.bytes);
        let bytes = unpack(bytes, room).map_err(|message| self.warnings.error("file", message))?;
        self.out.bytes = self.out.bytes.saturating_add(bytes.len() as u64);
        if self.out.bytes > self.access.limits.file_bytes {
            let message = format!("all files together exceed {} bytes", self.access.limits.file_bytes);
            return Err(self.warnings.error("file", message));
        }
        let text = String::from_utf8_lossy(&bytes);
        let mut tokens = Tokens::new(&text);
        while let Some(token) = self.token(&mut tokens)? {
            let place = self.place(token.line);
            let TokenKind::Word(directive) = token.kind else {
                return Err(self.warnings.error(place, "a directive is expected here"));
            };
            self.directive(directive, place, &mut tokens)?;
        }
        Ok(())
    }

    fn place(&self, line: usize) -> String {
        match self.files.last() {
            Some((name, _)) => format!("{} line {line}", shorten(name)),
            None => format!("line {line}"),
        }
    }

    fn error(&self, tokens: &Tokens<'_>, message: impl Into<String>) -> Error {
        self.warnings.error(self.place(tokens.line()), message)
    }

    fn token<'t>(&self, tokens: &mut Tokens<'t>) -> Result<Option<Token<'t>>> {
        tokens.next().map_err(|message| self.error(tokens, message))
    }

    fn peek<'t, 'p>(&self, tokens: &'p mut Tokens<'t>) -> Result<Option<&'p TokenKind<'t>>> {
        let line = tokens.line();
        tokens.peek().map_err(|message| self.warnings.error(self.place(line), message))
    }

    fn directive(&mut self, name: &str, place: String, tokens: &mut Tokens<'_>) -> Result<()> {
        match name {
            "Identity" => self.transform(Matrix::IDENTITY, true),
            "Translate" => {
                let v = self.numbers(tokens)?;
                self.transform(Matrix::translation(v), false);
            }
            "Scale" => {
                let v = self.numbers(tokens)?;
                self.transform(Matrix::scaling(v), false);
            }
            "Rotate" => {
                let [angle, x, y, z] = self.numbers(tokens)?;
                let turn = Matrix::rotation(angle, [x, y, z]);
                let turn =
                    turn.ok_or_else(|| self.error(tokens, "the axis of a rotation must not be zero"))?;
                self.transform(turn, false);
            }
            "LookAt" => {
                let [a, b, c, d, e, f, g, h, i] = self.numbers(tokens)?;
                let view = Matrix::look_at([a, b, c], [d, e, f], [g, h, i]);
                let message = "the eye must not be at the point that it looks at, nor `up` along the view";
                let view = view.ok_or_else(|| self.error(tokens, message))?;
                self.transform(view, false);
            }
            "Transform" | "ConcatTransform" => {
                let m = self.numbers::<16>(tokens)?;
                self.transform(Matrix::from_columns(&m), name == "Transform");
            }
            "CoordinateSystem" => {
                let name = self.string(tokens)?;
                self.systems.insert(name, self.state.to_world);
            }
            "CoordSysTransform" => {
                let name = self.string(tokens)?;
                match self.systems.get(&name) {
                    Some(system) => self.state.to_world = *system,
                    None => {
                        let message = format!("there is no coordinate system `{}`", shorten(&name));
                        return Err(self.error(tokens, message));
                    }
                }
            }
            "ActiveTransform" => {
                let word = self.token(tokens)?.map(|token| token.kind);
                self.state.active = match word {
                    Some(TokenKind::Word("StartTime")) => [true, false],
                    Some(TokenKind::Word("EndTime")) => [false, true],
                    Some(TokenKind::Word("All")) => [true; 2],
                    _ => return Err(self.error(tokens, "`StartTime`, `EndTime` or `All` is expected")),
                };
                if self.state.active != [true; 2] {
                    self.warnings
                        .add(place, "motion is not rendered: transforms are those of the start time");
                }
            }
            "TransformTimes" => {
                self.numbers::<2>(tokens)?;
            }
            "TransformBegin" => {
                if self.saved_transforms.len() >= MAX_NESTING {
                    return Err(self
                        .warnings
                        .error(place, format!("blocks are nested more than {MAX_NESTING} deep")));
                }
                self.saved_transforms.push((self.state.to_world, self.state.active));
            }
            "TransformEnd" => {
                let Some((to_world, active)) = self.saved_transforms.pop() else {
                    return Err(self.warnings.error(place, "there is no `TransformBegin` before this"));
                };
                (self.state.to_world, self.state.active) = (to_world, active);
            }
            "AttributeBegin" => self.open(Block::Attribute, &place)?,
            "AttributeEnd" => self.close(Block::Attribute, &place)?,
            "Attribute" => self.attribute(tokens)?,
            "ReverseOrientation" => self.state.reverse = !self.state.reverse,
            "WorldBegin" => {
                self.state.to_world = Matrix::IDENTITY;
                self.systems.insert("world".into(), Matrix::IDENTITY);
            }
            "WorldEnd" => self.out.has_end = true,
            "Camera" => {
                let class = self.string(tokens)?;
                let params = self.params(&place, None, tokens)?;
                let from_world = self.state.to_world;
                if let Some(to_world) = from_world.inverse() {
                    self.systems.insert("camera".into(), to_world);
                }
                self.out.camera = Some(CameraDefinition { class, params, from_world });
            }
            "Film" => {
                self.string(tokens)?;
                let params = self.params(&place, None, tokens)?;
                let side = |name: &str, default: f64| match params.get(name).map(|p| &p.values) {
                    Some(Values::Numbers(v)) if v.len() == 1 => v[0],
                    _ => default,
                };
                self.out.film = Some([side("xresolution", 1280.0), side("yresolution", 720.0)]);
            }
            "Integrator" | "SurfaceIntegrator" => self.integrator(&place, tokens)?,
            "Sampler" | "PixelFilter" | "Accelerator" | "Renderer" => {
                self.string(tokens)?;
                self.params(&place, None, tokens)?;
            }
            "Option" => {
                self.params(&place, None, tokens)?;
            }
            "ColorSpace" => {
                let name = self.string(tokens)?;
                if !name.eq_ignore_ascii_case("srgb") {
                    let message = format!("colours of the space `{}` are taken as sRGB's", shorten(&name));
                    self.warnings.add(place, message);
                }
            }
            "Include" | "Import" => self.include(name == "Import", &place, tokens)?,
            "MakeNamedMedium" | "Volume" | "VolumeIntegrator" => {
                self.string(tokens)?;
                self.params(&place, None, tokens)?;
                self.warnings.add(place, "media are not rendered; space is empty");
            }
            "MediumInterface" => {
                self.string(tokens)?;
                if matches!(self.peek(tokens)?, Some(TokenKind::Quoted(_))) {
                    self.string(tokens)?;
                }
            }
            _ => self.content(name, place, tokens)?,
        }
        if !self.state.to_world.is_finite() {
            return Err(self.error(tokens, "the transform is not finite"));
        }
        Ok(())
    }

    /// Directives that add something to the scene.
    fn content(&mut self, name: &str, place: String, tokens: &mut Tokens<'_>) -> Result<()> {
        match name {
            "Shape" => {
                let class = self.string(tokens)?;
                let params = self.params(&place, Some(SHAPE), tokens)?;
                let State { to_world, material, reverse, .. } = self.state.clone();
                let mut area_light = self.state.area_light;
                if self.object.is_some() && area_light.take().is_some() {
                    self.warnings.add(place, "shapes of objects that are placed as instances do not emit");
                }
                let shape = Shape { class, params, to_world, material, area_light, reverse };
                match self.object {
                    Some(object) => self.out.objects[object].push(shape),
                    None => self.out.shapes.push(shape),
                }
            }
            "AreaLightSource" => {
                let class = self.string(tokens)?;
                let params = self.params(&place, Some(LIGHT), tokens)?;
                if class != "diffuse" && class != "area" {
                    let message = format!("there is no area light `{}`; known is `diffuse`", shorten(&class));
                    return Err(self.warnings.error(place, message));
                }
                self.out.area_lights.push(params);
                self.state.area_light = Some(self.out.area_lights.len() - 1);
            }
            "LightSource" => {
                let class = self.string(tokens)?;
                let params = self.params(&place, Some(LIGHT), tokens)?;
                self.out.lights.push(LightDefinition { class, params, to_world: self.state.to_world });
            }
            "Texture" => {
                let (name, kind, class) = (self.string(tokens)?, self.string(tokens)?, self.string(tokens)?);
                let params = self.params(&place, Some(TEXTURE), tokens)?;
                let colors = match kind.as_str() {
                    "float" => false,
                    "spectrum" | "color" => true,
                    _ => return Err(self.warnings.error(place, "a texture's type is `float` or `spectrum`")),
                };
                self.textures.insert((colors, name), self.out.textures.len());
                self.out.textures.push(TextureDefinition { colors, class, params });
            }
            "Material" => {
                let class = self.string(tokens)?;
                let params = self.params(&place, Some(MATERIAL), tokens)?;
                self.state.material = MaterialUse::Index(self.out.materials.len());
                self.out.materials.push(MaterialDefinition { name: String::new(), class, params });
            }
            "MakeNamedMaterial" => {
                let name = self.string(tokens)?;
                let params = self.params(&place, Some(MATERIAL), tokens)?;
                let class = params.strings("type").first().cloned();
                let Some(class) = class else {
                    return Err(self.warnings.error(place, "a named material needs a `string type`"));
                };
                self.out.named_materials.insert(name.clone(), self.out.materials.len());
                self.out.materials.push(MaterialDefinition { name, class, params });
            }
            "NamedMaterial" => {
                let name = self.string(tokens)?;
                self.state.material = match self.out.named_materials.get(&name) {
                    Some(&index) => MaterialUse::Index(index),
                    None => MaterialUse::Named(name),
                };
            }
            "ObjectBegin" => {
                let name = self.string(tokens)?;
                if self.object.is_some() {
                    return Err(self.warnings.error(place, "objects are not nested"));
                }
                self.open(Block::Object, &place)?;
                self.objects.insert(name, self.out.objects.len());
                self.object = Some(self.out.objects.len());
                self.out.objects.push(Vec::new());
            }
            "ObjectEnd" => {
                self.close(Block::Object, &place)?;
                self.object = None;
            }
            "ObjectInstance" => {
                let name = self.string(tokens)?;
                if self.object.is_some() {
                    return Err(self.warnings.error(place, "an object does not place others"));
                }
                let Some(&object) = self.objects.get(&name) else {
                    let message = format!("there is no object `{}`", shorten(&name));
                    return Err(self.warnings.error(place, message));
                };
                self.out.placements.push(Placement { object, to_world: self.state.to_world, place });
            }
            other => {
                let message = format!("there is no directive `{}`", shorten(other));
                return Err(self.warnings.error(place, message));
            }
        }
        Ok(())
    }

    /// Replaces the current transform, or applies another one before it.
    fn transform(&mut self, map: Matrix, replace: bool) {
        if self.state.active[0] {
            self.state.to_world = if replace { map } else { self.state.to_world.then(&map) };
        }
    }

    fn open(&mut self, block: Block, place: &str) -> Result<()> {
        if self.saved.len() >= MAX_NESTING {
            return Err(self
                .warnings
                .error(place, format!("blocks are nested more than {MAX_NESTING} deep")));
        }
        self.saved.push((block, self.state.clone()));
        Ok(())
    }

    fn close(&mut self, block: Block, place: &str) -> Result<()> {
        match self.saved.pop() {
            Some((opened, state)) if opened == block => {
                self.state = state;
                Ok(())
            }
            _ => Err(self.warnings.error(place, "no block of this kind was opened last")),
        }
    }

    fn attribute(&mut self, tokens: &mut Tokens<'_>) -> Result<()> {
        let place = self.place(tokens.line());
        let target = self.string(tokens)?;
        let Some(target) = ATTRIBUTE_TARGETS.iter().position(|known| *known == target) else {
            let message = format!("attributes belong to one of {}", ATTRIBUTE_TARGETS.join(", "));
            return Err(self.error(tokens, message));
        };
        let params = self.params(&place, Some(target), tokens)?;
        self.state.defaults[target] = Rc::new(params.list);
        Ok(())
    }

    /// The path length that the file asks for is an option of the program.
    fn integrator(&mut self, place: &str, tokens: &mut Tokens<'_>) -> Result<()> {
        self.string(tokens)?;
        let params = self.params(place, None, tokens)?;
        if let Some(Values::Numbers(depth)) = params.get("maxdepth").map(|p| &p.values)
            && let &[depth] = depth.as_slice()
        {
            let message =
                format!("the file asks for paths of {depth} bounces; `--bounces {depth}` renders them");
            self.warnings.add(place, message);
        }
        Ok(())
    }

    fn include(&mut self, import: bool, place: &str, tokens: &mut Tokens<'_>) -> Result<()> {
        let name = self.string(tokens)?;
        let path = self.access.folder.join(&name);
        let fail = |message: String| Err(self.warnings.error(place, message));
        if self.files.len() >= MAX_INCLUDE_DEPTH {
            return fail(format!("files include each other more than {MAX_INCLUDE_DEPTH} deep"));
        }
        if self.includes >= MAX_INCLUDES {
            return fail(format!("more than {MAX_INCLUDES} files are included"));
        }
        self.includes += 1;
        let bytes = match self.access.read(&path) {
            Ok(bytes) => bytes,
            Err(error) => return fail(format!("the file is not included: {error}")),
        };
        let full = path.canonicalize().unwrap_or(path);
        if self.files.iter().any(|(_, open)| *open == full) {
            return fail(format!("the file `{}` includes itself", shorten(&name)));
        }
        self.files.push((name, full));
        let state = import.then(|| self.state.clone());
        self.text(&bytes)?;
        if let Some(state) = state {
            self.state = state;
        }
        self.files.pop();
        Ok(())
    }

    /// A string in quotes.
    fn string(&self, tokens: &mut Tokens<'_>) -> Result<String> {
        match self.token(tokens)?.map(|token| token.kind) {
            Some(TokenKind::Quoted(text)) => Ok(text.into_owned()),
            _ => Err(self.error(tokens, "a string in quotes is expected here")),
        }
    }

    /// Exactly `N` numbers, in brackets or not.
    fn numbers<const N: usize>(&self, tokens: &mut Tokens<'_>) -> Result<[f64; N]> {
        let bracketed = matches!(self.peek(tokens)?, Some(TokenKind::Open));
        if bracketed {
            self.token(tokens)?;
        }
        let mut out = [0.0; N];
        for slot in &mut out {
            let word = match self.token(tokens)?.map(|token| token.kind) {
                Some(TokenKind::Word(word)) => word,
                _ => return Err(self.error(tokens, format!("{N} numbers are expected here"))),
            };
            *slot = self.number(word, tokens)?;
        }
        if bracketed && !matches!(self.token(tokens)?.map(|token| token.kind), Some(TokenKind::Close)) {
            return Err(self.error(tokens, format!("`]` is expected after {N} numbers")));
        }
        Ok(out)
    }

    fn number(&self, word: &str, tokens: &Tokens<'_>) -> Result<f64> {
        match word.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(value),
            _ => Err(self.error(tokens, format!("`{}` is not a finite number", shorten(word)))),
        }
    }

    /// The parameters that follow, after those that an `Attribute` gave to all of this kind.
    fn params(&self, place: &str, defaults: Option<usize>, tokens: &mut Tokens<'_>) -> Result<Params> {
        let mut out = Params { list: Vec::new(), place: place.to_string() };
        if let Some(target) = defaults {
            out.list.extend(self.state.defaults[target].iter().cloned());
        }
        while let Some(TokenKind::Quoted(_)) = self.peek(tokens)? {
            let declaration = self.string(tokens)?;
            let mut words = declaration.split_ascii_whitespace();
            let (kind, name) = (words.next().unwrap_or_default(), words.next());
            let (Some(kind), Some(name), None) = (Kind::parse(kind), name, words.next()) else {
                let message = format!("`{}` is not a known type and a name", shorten(&declaration));
                return Err(self.error(tokens, message));
            };
            let values = self.values(kind, tokens)?;
            let mut param = Param::new(kind, name.to_string(), values);
            if let (Kind::Texture, Values::Strings(names)) = (kind, &param.values)
                && let Some(name) = names.first()
            {
                param.textures =
                    [false, true].map(|colors| self.textures.get(&(colors, name.clone())).copied());
            }
            out.list.push(param);
        }
        Ok(out)
    }

    /// One value, or several in brackets.
    fn values(&self, kind: Kind, tokens: &mut Tokens<'_>) -> Result<Values> {
        let (mut numbers, mut strings, mut flags) = (Vec::new(), Vec::new(), Vec::new());
        let bracketed = matches!(self.peek(tokens)?, Some(TokenKind::Open));
        if bracketed {
            self.token(tokens)?;
        }
        loop {
            match self.token(tokens)?.map(|token| token.kind) {
                Some(TokenKind::Close) if bracketed => break,
                Some(TokenKind::Quoted(text)) => strings.push(text.into_owned()),
                Some(TokenKind::Word(word @ ("true" | "false"))) => flags.push(word == "true"),
                Some(TokenKind::Word(word)) => numbers.push(self.number(word, tokens)?),
                _ => return Err(self.error(tokens, "a value is expected here")),
            }
            if !bracketed {
                break;
            }
        }
        let values = match (numbers.is_empty(), strings.is_empty(), flags.is_empty()) {
            (true, false, true) => Values::Strings(strings),
            (true, true, false) => Values::Flags(flags),
            (_, true, true) => Values::Numbers(numbers),
            _ => return Err(self.error(tokens, "values of several types are mixed")),
        };
        let fits = match kind {
            Kind::Flag => !matches!(values, Values::Numbers(_)),
            Kind::String | Kind::Texture => matches!(values, Values::Strings(_)),
            Kind::Spectrum => !matches!(values, Values::Flags(_)),
            Kind::Vector(n) => matches!(&values, Values::Numbers(v) if v.len().is_multiple_of(n)),
            _ => matches!(values, Values::Numbers(_)),
        };
        if fits {
            return Ok(values);
        }
        Err(self.error(tokens, "the values are not of the parameter's type"))
    }
}
