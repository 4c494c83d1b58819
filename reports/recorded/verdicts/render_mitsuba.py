# Mitsuba's Cornell box under many seeds, with the box and the default Gaussian filter.
#   pip install mitsuba==3.9.1 && python render_mitsuba.py FOLDER SEEDS
import sys, os
import mitsuba as mi
mi.set_variant('scalar_rgb')
out, n = sys.argv[1], int(sys.argv[2])
os.makedirs(out, exist_ok=True)
for name in ('box','gaussian'):
    d = mi.cornell_box()
    d['sensor']['film'].update(width=64, height=64, rfilter={'type':name})
    d['integrator'] = {'type':'path','max_depth':4}
    s = mi.load_dict(d)
    for seed in range(n):
        img = mi.render(s, spp=16, seed=seed)
        mi.util.write_bitmap(f'{out}/{name}.{seed}.exr', img, write_async=False)
print('done')
