//! Fuzzing of the loaders of other renderers' scenes: pbrt, Mitsuba, and the meshes that their files name.

#[path = "support/fuzzing.rs"]
mod fuzzing;
mod support;

use fuzzing::{fuzz, outcome};
use support::{OBJ, png};

const PBRT: &str = "LookAt 0 0 -5  0 0 0  0 1 0\nCamera \"perspective\" \"float fov\" 40\nFilm \"rgb\" \"integer xresolution\" [8]\nWorldBegin\n\
    LightSource \"infinite\" \"rgb L\" [0.5 0.5 0.5]\nLightSource \"spot\" \"blackbody I\" 5000 \"point3 from\" [0 3 0]\n\
    Texture \"t\" \"spectrum\" \"imagemap\" \"string filename\" \"t.png\"\nTexture \"c\" \"float\" \"checkerboard\"\n\
    MakeNamedMaterial \"m\" \"string type\" \"coateddiffuse\" \"texture reflectance\" \"t\"\n\
    AttributeBegin\nTranslate 0 1 0\nScale 1 2 1\nRotate 30 0 1 0\nMaterial \"conductor\" \"float roughness\" 0.2\n\
    AreaLightSource \"diffuse\" \"rgb L\" [4 4 4]\nShape \"trianglemesh\" \"integer indices\" [0 1 2 0 2 3] \"point3 P\" [0 0 0  1 0 0  1 1 0  0 1 0] \"point2 uv\" [0 0 1 0 1 1 0 1]\nAttributeEnd\n\
    NamedMaterial \"m\"\nObjectBegin \"o\"\nShape \"sphere\" \"float radius\" 0.5\nShape \"plymesh\" \"string filename\" \"t.ply\"\nObjectEnd\n\
    TransformBegin\nTransform [1 0 0 0 0 1 0 0 0 0 1 0 2 0 0 1]\nObjectInstance \"o\"\nTransformEnd\nMaterial \"dielectric\" \"spectrum eta\" \"glass-BK7\"\n\
    Shape \"loopsubdiv\" \"integer levels\" 1 \"integer indices\" [0 1 2] \"point3 P\" [0 0 0  1 0 0  0 1 0]\n\
    Shape \"curve\" \"point3 P\" [0 0 0 0 1 0 0 2 0 0 3 0] \"float width\" 0.1\nShape \"bilinearmesh\" \"point3 P\" [0 0 0 1 0 0 0 1 0 1 1 0]\n";

const PBRT_WORDS: &str = "LookAt Camera Film Sampler Integrator WorldBegin WorldEnd AttributeBegin AttributeEnd Attribute \
    TransformBegin TransformEnd Transform ConcatTransform Identity Translate Scale Rotate CoordinateSystem CoordSysTransform \
    ActiveTransform TransformTimes ReverseOrientation Option ColorSpace MediumInterface MakeNamedMedium Shape AreaLightSource \
    LightSource Texture Material MakeNamedMaterial NamedMaterial ObjectBegin ObjectEnd ObjectInstance Include Import \
    \"perspective\" \"orthographic\" \"sphere\" \"trianglemesh\" \"plymesh\" \"bilinearmesh\" \"loopsubdiv\" \"curve\" \"cylinder\" \
    \"heightfield\" \"disk\" \"cone\" \"paraboloid\" \"hyperboloid\" \"imagemap\" \"scale\" \"mix\" \"checkerboard\" \"bilerp\" \
    \"constant\" \"infinite\" \"distant\" \"point\" \"spot\" \"goniometric\" \"projection\" \"diffuse\" \"coateddiffuse\" \"conductor\" \
    \"coatedconductor\" \"dielectric\" \"thindielectric\" \"diffusetransmission\" \"hair\" \"measured\" \"interface\" \"matte\" \
    \"plastic\" \"metal\" \"glass\" \"uber\" \"disney\" \"float:radius\" \"integer:levels\" \"integer:indices\" \"point3:P\" \
    \"normal:N\" \"point2:uv\" \"rgb:L\" \"spectrum:eta\" \"blackbody:I\" \"string:filename\" \"texture:reflectance\" \"bool:remaproughness\" \
    \"float:power\" \"integer:nu\" \"integer:nv\" \"float:Pz\" \"float:roughness\" \"float:fov\" \"float:scale\" [ ] 0 1 -1 1e30 nan \
    2147483647 4294967296 \"metal-Cu-eta\" \"stdillum-D65\" \"t.ply\" \"t.png\" \"t\" \"o\" # true false";

const MITSUBA: &str = "<scene version='3.0.0'><default name='spp' value='4'/><integrator type='path'><integer name='max_depth' value='4'/></integrator>\
    <sensor type='perspective'><float name='fov' value='40'/><transform name='to_world'><lookat origin='0,0,9' target='0,0,0' up='0,1,0'/></transform>\
    <film type='hdrfilm'><integer name='width' value='8'/><integer name='height' value='8'/></film></sensor>\
    <emitter type='constant'><rgb name='radiance' value='0.5'/></emitter><emitter type='spot'><rgb name='intensity' value='1,2,3'/></emitter>\
    <bsdf type='roughconductor' id='m'><string name='material' value='Cu'/><float name='alpha' value='0.1'/></bsdf>\
    <bsdf type='twosided' id='d'><bsdf type='diffuse'><texture type='bitmap' name='reflectance'><string name='filename' value='t.png'/></texture></bsdf></bsdf>\
    <shape type='obj'><string name='filename' value='t.obj'/><ref id='m'/></shape><shape type='ply'><string name='filename' value='t.ply'/><ref id='d'/>\
    <emitter type='area'><spectrum name='radiance' value='400:1, 700:2'/></emitter></shape>\
    <shape type='sphere'><float name='radius' value='0.5'/><bsdf type='roughdielectric'><float name='int_ior' value='1.5'/></bsdf></shape>\
    <shape type='shapegroup' id='g'><shape type='cube'/></shape><shape type='instance'><ref id='g'/><transform name='to_world'><translate x='1'/>\
    <rotate y='1' angle='30'/><scale value='2'/><matrix value='1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1'/></transform></shape>\
    <shape type='rectangle'><bsdf type='principled'><rgb name='base_color' value='#804020'/></bsdf></shape></scene>";

const MITSUBA_WORDS: &str = "<scene> </scene> <shape:type='sphere'> <shape:type='cylinder'> <shape:type='disk'> <shape:type='cube'> \
    <shape:type='rectangle'> <shape:type='serialized'> <shape:type='merge'> <shape:type='instance'> </shape> <bsdf:type='plastic'> <bsdf:type='mask'> \
    <bsdf:type='blendbsdf'> <bsdf:type='bumpmap'> <bsdf:type='normalmap'> <bsdf:type='thindielectric'> <bsdf:type='roughplastic'> <bsdf:type='principledthin'> \
    <bsdf:type='null'> <bsdf:type='phong'> <bsdf:type='ward'> </bsdf> <emitter:type='envmap'> <emitter:type='directional'> <emitter:type='point'> \
    <emitter:type='area'> </emitter> <texture:type='checkerboard'> <texture:type='bitmap'> </texture> <sensor:type='thinlens'> </sensor> <transform> </transform> \
    <ref:id='m'/> <ref:id='g'/> <include:filename='t.xml'/> <alias:id='m':as='n'/> <path:value='.'/> <float:name='alpha':value='0.5'/> \
    <integer:name='sample_count':value='9'/> <boolean:name='face_normals':value='true'/> <rgb:value='1'/> <srgb:value='#fff'/> <spectrum:value='1'/> \
    <blackbody:temperature='5000'/> <vector/> <point/> <scale:value='0'/> name= value= type= id= filename= x= y= z= angle= 'radiance' 'reflectance' \
    'to_world' 'to_uv' 'eta' 'k' 'Au' 'none' $spp &lt; &#0; <!-- --> <![CDATA[ ]]> <?xml <!DOCTYPE nan inf -1 1e30 2147483648 ' \" / > <";

const PLY: &str = "ply\nformat ascii 1.0\ncomment made\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\nproperty float nx\n\
    property float ny\nproperty float nz\nproperty float u\nproperty float v\nelement face 2\nproperty list uchar int vertex_indices\nend_header\n\
    0 0 0 0 0 1 0 0\n1 0 0 0 0 1 1 0\n1 1 0 0 0 1 1 1\n0 1 0 0 0 1 0 1\n4 0 1 2 3\n3 0 1 2\n";

const PLY_WORDS: &str = "ply format ascii binary_little_endian binary_big_endian 1.0 comment obj_info element:vertex element:face property list \
    char uchar short ushort int uint float double int8 uint8 int32 uint32 float32 float64 x y z nx ny nz u v s t red green blue alpha \
    vertex_indices vertex_index end_header 0 1 3 4 -1 4294967295 99999999999 nan inf 1e39";

/// The words of a text, with spaces for their colons.
fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(|word| format!("{} ", word.replace(':', " "))).collect()
}

/// A square as a binary file, in little or big endian.
fn binary_ply(is_little: bool) -> Vec<u8> {
    let format = if is_little { "binary_little_endian" } else { "binary_big_endian" };
    let mut bytes = format!(
        "ply\nformat {format} 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\nproperty uchar red\n\
         element face 2\nproperty list uchar uint vertex_indices\nend_header\n"
    )
    .into_bytes();
    for [x, y] in [[0f32, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]] {
        for value in [x, y, 0.0] {
            bytes.extend(if is_little { value.to_le_bytes() } else { value.to_be_bytes() });
        }
        bytes.push(200);
    }
    for corners in [[0u32, 1, 2], [0, 2, 3]] {
        bytes.push(3);
        for corner in corners {
            bytes.extend(if is_little { corner.to_le_bytes() } else { corner.to_be_bytes() });
        }
    }
    bytes
}

/// The files beside a scene.
fn beside() -> Vec<(&'static str, Vec<u8>)> {
    vec![("t.png", png()), ("t.obj", OBJ.into()), ("t.ply", PLY.into())]
}

/// Fuzzes with words that a text lists.
fn fuzz_listed(name: &str, seeds: &[Vec<u8>], listed: &str, parse: impl Fn(&[u8]) -> String) {
    let words = words(listed);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    fuzz(name, seeds, &words, parse);
}

#[test]
fn pbrt_scenes_are_survived() {
    fuzz_listed("pbrt", &[PBRT.into()], PBRT_WORDS, |bytes| outcome("t.pbrt", bytes, &beside()));
}

#[test]
fn mitsuba_scenes_are_survived() {
    fuzz_listed("mitsuba", &[MITSUBA.into()], MITSUBA_WORDS, |bytes| outcome("t.xml", bytes, &beside()));
}

#[test]
fn ply_meshes_are_survived() {
    let seeds = [PLY.into(), binary_ply(true), binary_ply(false)];
    fuzz_listed("ply", &seeds, PLY_WORDS, |bytes| outcome("t.ply", bytes, &[]));
}
