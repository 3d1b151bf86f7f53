// Packed columns -> integer counts, sums of n log n and sums of weights (CUDA).
//
// The planes are those of slfs.counting.planes: samples sorted by class, each class padded to words of 64
// bits. A "part" is a range of words that is counted separately: a class, or all samples. All results are
// sums of integers, so they do not depend on the order in which threads add them up.

typedef unsigned long long u64;
typedef long long i64;
typedef unsigned int u32;

constexpr u32 ALL = 0xffffffffu;

__device__ __forceinline__ u32 warp_sum(u32 value) {
    for (int step = 16; step; step >>= 1) value += __shfl_xor_sync(ALL, value, step);
    return value;
}

__device__ __forceinline__ i64 warp_sum(i64 value) {
    for (int step = 16; step; step >>= 1) value += __shfl_xor_sync(ALL, value, step);
    return value;
}

// Columns that a warp counts at once: each word of the first column is read once for all of them.
constexpr int AT_ONCE = 4;

// Sums of n log n over the tables (f, k) and (f, k, part) for two columns of 2 or 3 levels each.
// A column of 2 levels is treated as if it had an empty middle level.
extern "C" __global__ void __launch_bounds__(128, 5) pair_sums_few(
    const u64* __restrict__ own, int levels_f, const i64* __restrict__ counts_f,
    const u64* __restrict__ words, const u64* __restrict__ offset, const int* __restrict__ levels,
    const i64* __restrict__ counts, const u64* __restrict__ counts_offset,
    const u64* __restrict__ first_word, const i64* __restrict__ totals, int n_parts, u64 n_words,
    const int* __restrict__ others, int n_others, const i64* __restrict__ nlogn, i64* __restrict__ sums) {
    const int lane = threadIdx.x & 31;
    const i64 begin = ((i64)blockIdx.x * blockDim.x + threadIdx.x) / 32 * AT_ONCE;
    if (begin >= n_others) return;
    const u64* plane[AT_ONCE];
    bool three[AT_ONCE];
#pragma unroll
    for (int q = 0; q < AT_ONCE; q++) {
        const int k = others[min(begin + q, (i64)n_others - 1)];
        plane[q] = words + offset[k];
        three[q] = levels[k] == 3;
    }
    const bool three_f = levels_f == 3;
    const int mine = lane % AT_ONCE;
    const int k = others[min(begin + mine, (i64)n_others - 1)];
    const i64* counts_k = counts + counts_offset[k];
    const bool three_k = levels[k] == 3;
    i64 pooled[9] = {0, 0, 0, 0, 0, 0, 0, 0, 0}, by_part = 0;
    for (int c = 0; c < n_parts; c++) {
        u32 n[AT_ONCE][4];
#pragma unroll
        for (int q = 0; q < AT_ONCE; q++) n[q][0] = n[q][1] = n[q][2] = n[q][3] = 0;
        const u64 end = first_word[c + 1];
#pragma unroll 2
        for (u64 w = first_word[c] + lane; w < end; w += 32) {
            const u64 x0 = own[w], x1 = three_f ? own[n_words + w] : 0;
            u64 z0[AT_ONCE], z1[AT_ONCE];
#pragma unroll
            for (int q = 0; q < AT_ONCE; q++) {
                z0[q] = __ldcs(plane[q] + w);
                z1[q] = three[q] ? __ldcs(plane[q] + n_words + w) : 0;
            }
#pragma unroll
            for (int q = 0; q < AT_ONCE; q++) {
                n[q][0] += __popcll(x0 & z0[q]);
                n[q][1] += __popcll(x0 & z1[q]);
                n[q][2] += __popcll(x1 & z0[q]);
                n[q][3] += __popcll(x1 & z1[q]);
            }
        }
        i64 n00 = 0, n01 = 0, n10 = 0, n11 = 0;
#pragma unroll
        for (int q = 0; q < AT_ONCE; q++) {
            const u32 a = warp_sum(n[q][0]), b = warp_sum(n[q][1]);
            const u32 d = warp_sum(n[q][2]), e = warp_sum(n[q][3]);
            if (mine == q) n00 = a, n01 = b, n10 = d, n11 = e;
        }
        const i64 f0 = counts_f[c], f1 = three_f ? counts_f[n_parts + c] : 0;
        const i64 k0 = counts_k[c], k1 = three_k ? counts_k[n_parts + c] : 0;
        const i64 n02 = f0 - n00 - n01, n12 = f1 - n10 - n11;
        const i64 n20 = k0 - n00 - n10, n21 = k1 - n01 - n11;
        const i64 n22 = totals[c] - f0 - f1 - n20 - n21;
        const i64 cells[9] = {n00, n01, n02, n10, n11, n12, n20, n21, n22};
#pragma unroll
        for (int cell = 0; cell < 9; cell++) {
            pooled[cell] += cells[cell];
            by_part += nlogn[cells[cell]];
        }
    }
    if (lane < AT_ONCE && begin + lane < n_others) {
        i64 both = 0;
#pragma unroll
        for (int cell = 0; cell < 9; cell++) both += nlogn[pooled[cell]];
        sums[2 * (begin + lane)] = both;
        sums[2 * (begin + lane) + 1] = by_part;
    }
}

// The same for any number of levels with planes: the threads of a warp count one pair, with two tables in
// shared memory.
__device__ __forceinline__ void count_pair(
    const u64* __restrict__ plane_f, int levels_f, const i64* __restrict__ counts_f,
    const u64* __restrict__ plane_k, int levels_k, const i64* __restrict__ counts_k,
    const u64* __restrict__ first_word, int n_parts, u64 n_words, int* table, int* pooled,
    const i64* __restrict__ nlogn, i64* __restrict__ sums) {
    const int lane = threadIdx.x & 31;
    const int last_f = levels_f - 1, last_k = levels_k - 1, n_cells = levels_f * levels_k;
    for (int cell = lane; cell < n_cells; cell += 32) pooled[cell] = 0;
    i64 by_part = 0;
    for (int c = 0; c < n_parts; c++) {
        const u64 low = first_word[c], end = first_word[c + 1];
        for (int a = 0; a < last_f; a++)
            for (int b = 0; b < last_k; b++) {
                u32 count = 0;
                for (u64 w = low + lane; w < end; w += 32)
                    count += __popcll(plane_f[a * n_words + w] & plane_k[b * n_words + w]);
                count = warp_sum(count);
                if (lane == 0) table[a * levels_k + b] = count;
            }
        __syncwarp();
        for (int a = lane; a < last_f; a += 32) {
            i64 rest = counts_f[a * n_parts + c];
            for (int b = 0; b < last_k; b++) rest -= table[a * levels_k + b];
            table[a * levels_k + last_k] = rest;
        }
        __syncwarp();
        for (int b = lane; b < levels_k; b += 32) {
            i64 rest = counts_k[b * n_parts + c];
            for (int a = 0; a < last_f; a++) rest -= table[a * levels_k + b];
            table[last_f * levels_k + b] = rest;
        }
        __syncwarp();
        for (int cell = lane; cell < n_cells; cell += 32) {
            pooled[cell] += table[cell];
            by_part += nlogn[table[cell]];
        }
        __syncwarp();
    }
    i64 both = 0;
    for (int cell = lane; cell < n_cells; cell += 32) both += nlogn[pooled[cell]];
    both = warp_sum(both);
    by_part = warp_sum(by_part);
    if (lane == 0) sums[0] = both, sums[1] = by_part;
}

// One column against others, each counted by a warp.
extern "C" __global__ void pair_sums_any(
    const u64* __restrict__ own, int levels_f, const i64* __restrict__ counts_f,
    const u64* __restrict__ words, const u64* __restrict__ offset, const int* __restrict__ levels,
    const i64* __restrict__ counts, const u64* __restrict__ counts_offset,
    const u64* __restrict__ first_word, int n_parts, u64 n_words,
    const int* __restrict__ others, int n_others, int most_cells, const i64* __restrict__ nlogn,
    i64* __restrict__ sums) {
    extern __shared__ int tables[];
    const int warp = threadIdx.x >> 5;
    const i64 place = (i64)blockIdx.x * (blockDim.x >> 5) + warp;
    if (place >= n_others) return;
    int* table = tables + 2 * warp * most_cells;
    const int k = others[place];
    count_pair(own, levels_f, counts_f, words + offset[k], levels[k], counts + counts_offset[k], first_word,
               n_parts, n_words, table, table + most_cells, nlogn, sums + 2 * place);
}

// A list of pairs, each counted by a warp.
extern "C" __global__ void pair_sums_listed(
    const u64* __restrict__ words, const u64* __restrict__ offset, const int* __restrict__ levels,
    const i64* __restrict__ counts, const u64* __restrict__ counts_offset,
    const u64* __restrict__ first_word, int n_parts, u64 n_words,
    const int* __restrict__ pairs, int n_pairs, int most_cells, const i64* __restrict__ nlogn,
    i64* __restrict__ sums) {
    extern __shared__ int tables[];
    const int warp = threadIdx.x >> 5;
    const i64 place = (i64)blockIdx.x * (blockDim.x >> 5) + warp;
    if (place >= n_pairs) return;
    int* table = tables + 2 * warp * most_cells;
    const int f = pairs[2 * place], k = pairs[2 * place + 1];
    count_pair(words + offset[f], levels[f], counts + counts_offset[f], words + offset[k], levels[k],
               counts + counts_offset[k], first_word, n_parts, n_words, table, table + most_cells, nlogn,
               sums + 2 * place);
}

// Sums of weights over the samples of several planes; weights are bit planes, one after another.
// Plane i starts at words + start[i]; a warp adds up the weights of AT_ONCE planes.
extern "C" __global__ void __launch_bounds__(256) plane_sums(
    const u64* __restrict__ words, const u64* __restrict__ start, i64 n_planes,
    const u64* __restrict__ weights, int n_weights, int n_bits, u64 n_words, i64* __restrict__ sums) {
    const int lane = threadIdx.x & 31;
    const i64 begin = ((i64)blockIdx.x * blockDim.x + threadIdx.x) / 32 * AT_ONCE;
    if (begin >= n_planes) return;
    const u64* plane[AT_ONCE];
#pragma unroll
    for (int q = 0; q < AT_ONCE; q++) plane[q] = words + start[min(begin + q, n_planes - 1)];
    for (int v = 0; v < n_weights; v++) {
        const u64* weight = weights + (u64)v * n_bits * n_words;
        i64 total[AT_ONCE] = {};
        for (u64 w = lane; w < n_words; w += 32) {
            u64 x[AT_ONCE];
            u64 part[AT_ONCE] = {};
#pragma unroll
            for (int q = 0; q < AT_ONCE; q++) x[q] = plane[q][w];
            for (int b = 0; b < n_bits; b++) {
                const u64 bits = weight[b * n_words + w];
#pragma unroll
                for (int q = 0; q < AT_ONCE; q++) part[q] += (u64)__popcll(x[q] & bits) << b;
            }
#pragma unroll
            for (int q = 0; q < AT_ONCE; q++) total[q] += part[q];
        }
#pragma unroll
        for (int q = 0; q < AT_ONCE; q++) {
            const i64 sum = warp_sum(total[q]);
            if (lane == 0 && begin + q < n_planes) sums[(begin + q) * n_weights + v] = sum;
        }
    }
}

// Number of samples of each part in several planes: counts[plane][part].
extern "C" __global__ void plane_counts(
    const u64* __restrict__ words, const u64* __restrict__ start, i64 n_planes,
    const u64* __restrict__ first_word, int n_parts, i64* __restrict__ counts) {
    const int lane = threadIdx.x & 31;
    const i64 plane = ((i64)blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (plane >= n_planes) return;
    for (int c = 0; c < n_parts; c++) {
        u32 count = 0;
        for (u64 w = first_word[c] + lane; w < first_word[c + 1]; w += 32) count += __popcll(words[start[plane] + w]);
        count = warp_sum(count);
        if (lane == 0) counts[plane * n_parts + c] = count;
    }
}

// Planes of the values 0 ... n_values - 1 of columns of a table of numbers: planes[column][value][word].
// Neighbouring threads have neighbouring columns, which are next to each other in tables in C order.
template <typename T>
__device__ __forceinline__ void pack(
    const T* __restrict__ table, i64 row_stride, i64 column_stride, const i64* __restrict__ columns, i64 n_columns,
    const int* __restrict__ source, i64 n_words, int n_values, u64* __restrict__ planes) {
    const i64 place = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    const i64 own = place % n_columns, word = place / n_columns;
    if (word >= n_words) return;
    const T* column = table + columns[own] * column_stride;
    u64 found[4] = {};
#pragma unroll 8
    for (int bit = 0; bit < 64; bit++) {
        const int row = source[64 * word + bit];
        if (row < 0) continue;
        const T value = column[row * row_stride];
#pragma unroll
        for (int v = 0; v < 4; v++) found[v] |= (u64)(value == (T)v) << bit;
    }
    for (int v = 0; v < n_values; v++) planes[(own * n_values + v) * n_words + word] = found[v];
}

#define PACK(NAME, T)                                                                                            \
    extern "C" __global__ void NAME(                                                                             \
        const T* table, i64 row_stride, i64 column_stride, const i64* columns, i64 n_columns, const int* source, \
        i64 n_words, int n_values, u64* planes) {                                                                \
        pack(table, row_stride, column_stride, columns, n_columns, source, n_words, n_values, planes);           \
    }
PACK(pack_b1, unsigned char)
PACK(pack_i1, signed char)
PACK(pack_u1, unsigned char)
PACK(pack_i2, short)
PACK(pack_u2, unsigned short)
PACK(pack_i4, int)
PACK(pack_u4, u32)
PACK(pack_i8, i64)
PACK(pack_u8, u64)
PACK(pack_f4, float)
PACK(pack_f8, double)
