// ---- values of lanes nearby

// The lane of the thread; warps run through the block along x first.
__device__ __forceinline__ int cf_lane()
{
  return (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % 32;
}

// The lanes of the warp that there are: the last warp of a block may be cut.
__device__ __forceinline__ unsigned cf_lanes()
{
  const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  const unsigned left = blockDim.x * blockDim.y * blockDim.z - thread / 32 * 32;
  return left < 32 ? (1u << left) - 1 : 0xffffffffu;
}

// Those of `lanes`, all of which come here together, for which the condition holds.
__device__ __forceinline__ unsigned cf_lanes_where(unsigned lanes, bool condition)
{
  return __ballot_sync(lanes, condition);
}

// What the neighbour along x, one step up or down, holds as `own`. The neighbour may be in another row of the block, in
// another warp, or not in `lanes`, all of which come here together: then the value is read where it is.
template <typename T> __device__ __forceinline__ T cf_next(unsigned lanes, int step, T own, const T &there)
{
  const T taken = step > 0 ? __shfl_down_sync(lanes, own, 1) : __shfl_up_sync(lanes, own, 1);
  const unsigned x = threadIdx.x + step, lane = cf_lane() + step;  // below 0 is a large number
  const bool held = x < blockDim.x && lane < 32 && (lanes >> lane % 32 & 1u);
  return held ? taken : there;
}
