// Kernels around tinybvh's traversal for dumped rays, behind its traverse.cl. A ray is its origin, its least distance,
// which is zero, its direction and its greatest distance. A hit is distance, barycentric coordinates and triangle; of any
// hit only the distance counts, negative where something is in the way.

float safe_reciprocal( const float x )
{
	return fabs( x ) > 1e-12f ? 1.0f / x : copysign( 1e30f, x );
}

float3 safe_reciprocals( const float4 v )
{
	return (float3)( safe_reciprocal( v.x ), safe_reciprocal( v.y ), safe_reciprocal( v.z ) );
}

float4 any_hit( const bool occluded, const float tmax )
{
	return (float4)( occluded ? -1.0f : tmax, 0, 0, 0 );
}

#define FETCH                                                                                                          \
	const uint i = get_global_id( 0 );                                                                                 \
	if (i >= count) return;                                                                                            \
	const float4 O = rays[2 * i], D = rays[2 * i + 1];                                                                 \
	const float3 rD = safe_reciprocals( D );

#ifdef SIMD_AABBTEST
#define WIDE( v, w ) (float4)( (v).xyz, w )
#else
#define WIDE( v, w ) (v).xyz
#endif

void kernel closest_BVH_GPU( const global struct BVHNode* nodes, const global uint* indices, const global float4* vertices,
	const global float4* rays, global float4* hits, const uint count )
{
	FETCH
	hits[i] = traverse_ailalaine( nodes, indices, vertices, 0, O.xyz, D.xyz, rD, D.w, 0 );
}

void kernel any_BVH_GPU( const global struct BVHNode* nodes, const global uint* indices, const global float4* vertices,
	const global float4* rays, global float4* hits, const uint count )
{
	FETCH
	hits[i] = any_hit( isoccluded_ailalaine( nodes, indices, vertices, 0, O.xyz, D.xyz, rD, D.w ), D.w );
}

void kernel closest_BVH4_GPU( const global float4* nodes, const global float4* rays, global float4* hits, const uint count )
{
	FETCH
	hits[i] = traverse_gpu4way( nodes, O.xyz, D.xyz, rD, D.w );
}

void kernel any_BVH4_GPU( const global float4* nodes, const global float4* rays, global float4* hits, const uint count )
{
	FETCH
	hits[i] = any_hit( isoccluded_gpu4way( nodes, O.xyz, D.xyz, rD, D.w ), D.w );
}

void kernel closest_BVH8_CWBVH( global const float4* nodes, global const float4* triangles,
	const global float4* rays, global float4* hits, const uint count )
{
	FETCH
	hits[i] = traverse_cwbvh( nodes, triangles, WIDE( O, 1 ), WIDE( D, 0 ), WIDE( (float4)( rD, 0 ), 1 ), D.w, 0 );
}

void kernel any_BVH8_CWBVH( global const float4* nodes, global const float4* triangles,
	const global float4* rays, global float4* hits, const uint count )
{
	FETCH
	hits[i] = any_hit( isoccluded_cwbvh( nodes, triangles, WIDE( O, 1 ), WIDE( D, 0 ), WIDE( (float4)( rD, 0 ), 1 ), D.w ), D.w );
}
