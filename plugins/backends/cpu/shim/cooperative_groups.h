// cooperative_groups: the block, tiles of a warp, coalesced threads, the grid's indices; reductions and scans over a tile.
// Tiles of more than a warp, labelled partitions and a barrier of the whole grid do not exist here.
#pragma once

namespace cooperative_groups {

class thread_block {
 public:
  void sync() const { __syncthreads(); }
  unsigned thread_rank() const { return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x; }
  unsigned size() const { return blockDim.x * blockDim.y * blockDim.z; }
  unsigned num_threads() const { return size(); }
  dim3 group_index() const { return dim3(blockIdx); }
  dim3 thread_index() const { return dim3(threadIdx); }
  dim3 group_dim() const { return dim3(blockDim); }
  dim3 dim_threads() const { return dim3(blockDim); }
};
static KRL_INLINE thread_block this_thread_block() { return {}; }

class grid_group {
 public:
  unsigned long long thread_rank() const {
    return block_rank() * (blockDim.x * blockDim.y * blockDim.z) + thread_block().thread_rank();
  }
  unsigned long long size() const { return num_blocks() * (blockDim.x * blockDim.y * blockDim.z); }
  unsigned long long num_threads() const { return size(); }
  unsigned long long num_blocks() const { return (unsigned long long)gridDim.x * gridDim.y * gridDim.z; }
  unsigned long long block_rank() const {
    return ((unsigned long long)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  }
  dim3 block_index() const { return dim3(blockIdx); }
  dim3 dim_blocks() const { return dim3(gridDim); }
  bool is_valid() const { return false; }
  void sync() const __attribute__((error("unsupported on cpu: a barrier of the whole grid")));
};
static KRL_INLINE grid_group this_grid() { return {}; }

// What tiles and coalesced threads share: some lanes of one warp, numbered from 0.
class krl_lanes {
 public:
  KRL_INLINE krl_lanes(unsigned mask) : mask_(mask) {}
  KRL_INLINE void sync() const { __syncwarp(mask_); }
  KRL_INLINE int any(int predicate) const { return __any_sync(mask_, predicate); }
  KRL_INLINE int all(int predicate) const { return __all_sync(mask_, predicate); }
  KRL_INLINE unsigned krl_mask() const { return mask_; }

 protected:
  unsigned mask_;
};

template <unsigned Size, class Parent = void>
class thread_block_tile : public krl_lanes {
  static_assert(Size >= 1 && Size <= 32 && (Size & (Size - 1)) == 0, "unsupported on cpu: a tile of more than a warp");
  static KRL_INLINE unsigned first() { return krl_lane & ~(Size - 1); }

 public:
  KRL_INLINE thread_block_tile() : krl_lanes((Size == 32 ? ~0u : (1u << (Size & 31)) - 1) << first()) {}
  static constexpr unsigned size() { return Size; }
  static constexpr unsigned num_threads() { return Size; }
  KRL_INLINE unsigned thread_rank() const { return krl_lane & (Size - 1); }
  KRL_INLINE unsigned meta_group_rank() const { return this_thread_block().thread_rank() / Size; }
  KRL_INLINE unsigned meta_group_size() const { return (this_thread_block().size() + Size - 1) / Size; }
  template <class T>
  KRL_INLINE T shfl(T value, int rank) const { return __shfl_sync(mask_, value, rank, Size); }
  template <class T>
  KRL_INLINE T shfl_up(T value, unsigned delta) const { return __shfl_up_sync(mask_, value, delta, Size); }
  template <class T>
  KRL_INLINE T shfl_down(T value, unsigned delta) const { return __shfl_down_sync(mask_, value, delta, Size); }
  template <class T>
  KRL_INLINE T shfl_xor(T value, unsigned lanes) const { return __shfl_xor_sync(mask_, value, lanes, Size); }
  KRL_INLINE unsigned ballot(int predicate) const { return __ballot_sync(mask_, predicate) >> first(); }
  template <class T>
  KRL_INLINE unsigned match_any(T value) const { return __match_any_sync(mask_, value) >> first(); }
};

class coalesced_group : public krl_lanes {
  // The lane that has rank `rank`.
  KRL_INLINE unsigned lane_of(unsigned rank) const {
    unsigned left = mask_;
    while (rank-- != 0) left &= left - 1;
    return (unsigned)__builtin_ctz(left);
  }

 public:
  KRL_INLINE explicit coalesced_group(unsigned mask) : krl_lanes(mask) {}
  KRL_INLINE unsigned size() const { return (unsigned)__popc(mask_); }
  KRL_INLINE unsigned num_threads() const { return size(); }
  KRL_INLINE unsigned thread_rank() const { return (unsigned)__popc(mask_ & ((1u << krl_lane) - 1)); }
  template <class T>
  KRL_INLINE T shfl(T value, unsigned rank) const { return krl_shuffle(mask_, value, lane_of(rank % size())); }
  template <class T>
  KRL_INLINE T shfl_down(T value, unsigned delta) const {
    const unsigned rank = thread_rank() + delta;
    return krl_shuffle(mask_, value, rank < size() ? lane_of(rank) : krl_lane);
  }
  template <class T>
  KRL_INLINE T shfl_up(T value, unsigned delta) const {
    const unsigned rank = thread_rank();
    return krl_shuffle(mask_, value, rank >= delta ? lane_of(rank - delta) : krl_lane);
  }
};
static KRL_INLINE coalesced_group coalesced_threads() { return coalesced_group(__activemask()); }

template <unsigned Size>
static KRL_INLINE thread_block_tile<Size> tiled_partition(const thread_block&) { return {}; }
template <unsigned Size, unsigned Outer, class Parent>
static KRL_INLINE thread_block_tile<Size> tiled_partition(const thread_block_tile<Outer, Parent>&) {
  static_assert(Size <= Outer, "a tile lies inside of the one it divides");
  return {};
}
template <class Group>
void tiled_partition(const Group&, unsigned) __attribute__((error("unsupported on cpu: a tile whose size is no constant")));
template <class Group>
static KRL_INLINE void sync(const Group& group) { group.sync(); }

template <class T = void>
struct plus { KRL_INLINE T operator()(T a, T b) const { return a + b; } };
template <class T = void>
struct less { KRL_INLINE T operator()(T a, T b) const { return b < a ? b : a; } };
template <class T = void>
struct greater { KRL_INLINE T operator()(T a, T b) const { return a < b ? b : a; } };
template <class T = void>
struct bit_and { KRL_INLINE T operator()(T a, T b) const { return a & b; } };
template <class T = void>
struct bit_or { KRL_INLINE T operator()(T a, T b) const { return a | b; } };
template <class T = void>
struct bit_xor { KRL_INLINE T operator()(T a, T b) const { return a ^ b; } };

// The combination of every thread's value, in every thread.
template <unsigned Size, class Parent, class T, class Op>
static KRL_INLINE T reduce(const thread_block_tile<Size, Parent>& tile, T value, Op op) {
  for (unsigned d = Size / 2; d > 0; d /= 2) value = op(value, tile.shfl_xor(value, d));
  return value;
}
template <class T, class Op>
static KRL_INLINE T reduce(const coalesced_group& group, T value, Op op) {
  T total = group.shfl(value, 0);
  for (unsigned rank = 1; rank < group.size(); ++rank) total = op(total, group.shfl(value, rank));
  return total;
}
template <unsigned Size, class Parent, class T, class Op>
static KRL_INLINE T inclusive_scan(const thread_block_tile<Size, Parent>& tile, T value, Op op) {
  for (unsigned d = 1; d < Size; d *= 2) {
    const T below = tile.shfl_up(value, d);
    if (tile.thread_rank() >= d) value = op(below, value);
  }
  return value;
}
template <unsigned Size, class Parent, class T>
static KRL_INLINE T inclusive_scan(const thread_block_tile<Size, Parent>& tile, T value) {
  return inclusive_scan(tile, value, plus<T>());
}
template <unsigned Size, class Parent, class T>
static KRL_INLINE T exclusive_scan(const thread_block_tile<Size, Parent>& tile, T value) {
  const T below = tile.shfl_up(inclusive_scan(tile, value), 1);
  return tile.thread_rank() == 0 ? T() : below;
}

// Copies of a group: here they are done when the call returns, and `wait` is the group's barrier.
template <class Group, class T>
static KRL_INLINE void memcpy_async(const Group& group, T* to, const T* from, size_t bytes) {
  for (size_t i = group.thread_rank(); i < bytes / sizeof(T); i += group.size()) to[i] = from[i];
}
template <class Group>
static KRL_INLINE void wait(const Group& group) { group.sync(); }

}  // namespace cooperative_groups
