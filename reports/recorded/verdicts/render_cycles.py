# A Cornell-like box by Cycles under many seeds, with the box and the default Blackman-Harris filter.
#   pip install bpy==5.0.1 && python render_cycles.py FOLDER SEEDS
import bpy, sys, os
out, n = sys.argv[1], int(sys.argv[2]); os.makedirs(out, exist_ok=True)
bpy.ops.wm.read_factory_settings(use_empty=True)
sc=bpy.context.scene
sc.render.engine='CYCLES'; sc.cycles.device='CPU'
sc.cycles.samples=16; sc.cycles.use_adaptive_sampling=False; sc.cycles.use_denoising=False
sc.cycles.max_bounces=3
sc.render.resolution_x=64; sc.render.resolution_y=64; sc.render.resolution_percentage=100
sc.render.image_settings.file_format='OPEN_EXR'; sc.render.image_settings.color_depth='32'
sc.render.threads_mode='FIXED'; sc.render.threads=1
def mat(name,c,e=0):
    m=bpy.data.materials.new(name); m.use_nodes=True; nt=m.node_tree; nt.nodes.clear()
    o=nt.nodes.new('ShaderNodeOutputMaterial')
    s=nt.nodes.new('ShaderNodeEmission' if e else 'ShaderNodeBsdfDiffuse')
    s.inputs['Color'].default_value=(*c,1)
    if e: s.inputs['Strength'].default_value=e
    nt.links.new(s.outputs[0],o.inputs[0]); return m
def quad(vs,m):
    me=bpy.data.meshes.new('q'); me.from_pydata(vs,[],[(0,1,2,3)]); me.materials.append(m)
    ob=bpy.data.objects.new('q',me); sc.collection.objects.link(ob)
w,r,g,l=mat('w',(.73,)*3),mat('r',(.65,.05,.05)),mat('g',(.12,.45,.15)),mat('l',(1,.8,.5),20)
quad([(-1,-1,-1),(1,-1,-1),(1,1,-1),(-1,1,-1)],w); quad([(-1,-1,1),(1,-1,1),(1,1,1),(-1,1,1)],w)
quad([(-1,1,-1),(1,1,-1),(1,1,1),(-1,1,1)],w); quad([(-1,-1,-1),(-1,1,-1),(-1,1,1),(-1,-1,1)],r)
quad([(1,-1,-1),(1,1,-1),(1,1,1),(1,-1,1)],g); quad([(-.25,-.25,.99),(.25,-.25,.99),(.25,.25,.99),(-.25,.25,.99)],l)
bpy.ops.mesh.primitive_cube_add(size=.6,location=(-.3,.3,-.7),rotation=(0,0,.4)); bpy.context.object.data.materials.append(w)
cd=bpy.data.cameras.new('c'); co=bpy.data.objects.new('c',cd); co.location=(0,-3.8,0); co.rotation_euler=(1.5708,0,0); sc.collection.objects.link(co); sc.camera=co
for name,width in (('cyclesBox',0.01),('cyclesBlackmanHarris',1.5)):
    sc.cycles.pixel_filter_type='BOX' if width<1 else 'BLACKMAN_HARRIS'
    if width>=1: sc.cycles.filter_width=width
    for seed in range(n):
        sc.cycles.seed=seed
        sc.render.filepath=f'{out}/{name}.{seed:03d}.exr'
        bpy.ops.render.render(write_still=True)
print('done')
