// All pairs of two blocks of columns -> pairs with a high score (CUDA, 1-bit tensor cores).
//
// The counts of two columns of at most three levels in one class are the products of their two planes: a
// matrix product over bits. A thread holds whole tables in its registers, so that the score of a pair
// needs no exchange between threads. Scores are floats here: pairs that may reach the threshold are
// counted again exactly.
//
// Planes are those of scan_planes: two per column (the second one empty for two levels), each class
// padded to CHUNK bytes. The left planes of a column are interleaved, so that the registers that a product
// reads lie one after another in memory.

typedef unsigned long long u64;
typedef unsigned int u32;

constexpr int CHUNK = 64;               // bytes of a plane per stage: 512 samples
constexpr int STAGES = 3;
constexpr int ROWS_I = 256, ROWS_J = 128;  // planes of a tile: 128 x 64 columns
constexpr int COLUMNS_I = ROWS_I / 2, COLUMNS_J = ROWS_J / 2;
constexpr int THREADS = 512;            // 8 x 2 warps of 32 x 64 planes
constexpr int COPIES = (ROWS_I + ROWS_J) * CHUNK / 16 / THREADS;
constexpr int MAGIC = 0x4b000000;       // the float 2^23: with a count below 2^23 added, a float again
constexpr int STAGE_BYTES = (ROWS_I + ROWS_J) * CHUNK;

__device__ __forceinline__ void multiply(int (&c)[4], const uint4& a, u32 b0, u32 b1) {
    asm("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc "
        "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
        : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b0), "r"(b1));
}

__device__ __forceinline__ void copy_16(u32 shared, const void* global) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared), "l"(global));
}

__device__ __forceinline__ float log_2(float x) {
    float y;
    asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

// A column in one part (a class, or all samples): the counts of its levels, and a part of the score.
struct __align__(16) Margins {
    float n[3], own;
};

// The information of two columns in one part, in bits times samples: the sum of n log2(n scale) over the
// cells, and the parts of the columns. ``counts`` are those of the first two levels, plus MAGIC.
__device__ __forceinline__ float information(const int4 counts, const Margins& f, const Margins& k, float scale) {
    const float bias = __int_as_float(MAGIC);
    const float n00 = __int_as_float(counts.x) - bias, n01 = __int_as_float(counts.y) - bias;
    const float n10 = __int_as_float(counts.z) - bias, n11 = __int_as_float(counts.w) - bias;
    const float n02 = f.n[0] - n00 - n01, n12 = f.n[1] - n10 - n11;
    const float n20 = k.n[0] - n00 - n10, n21 = k.n[1] - n01 - n11;
    const float n22 = f.n[2] - n20 - n21;
    const float cells[9] = {n00, n01, n02, n10, n11, n12, n20, n21, n22};
    float sum = f.own + k.own;
#pragma unroll
    for (int cell = 0; cell < 9; cell++) sum += cells[cell] * log_2(fmaf(cells[cell], scale, 1e-30f));
    return sum;
}

// One of the two blocks of columns.
struct Block {
    const char* planes;      // columns x 2 x n_chunks x CHUNK bytes
    const Margins* margins;  // [part][column], the last part is all samples
    const float* slack;
    const int* levels;
    const int* ids;          // increasing
    int n_columns;
};

// A pair is reported, by the ids of its columns, if 2 N synergy + slack[i] slack[j] reaches
// limits[(levels of i - 1) (levels of j - 1)]; if ordered, only if the id of i is smaller.
extern "C" __global__ void __launch_bounds__(THREADS, 1) scan_pairs(
    const char* planes_i, const Margins* margins_i, const float* slack_i, const int* levels_i, const int* ids_i,
    int n_i, const char* planes_j, const Margins* margins_j, const float* slack_j, const int* levels_j,
    const int* ids_j, int n_j, long long plane_bytes, const int* __restrict__ first_chunk,
    int n_classes, const float* __restrict__ scales, int ordered, const float* __restrict__ limits, int capacity,
    int* __restrict__ found, int* __restrict__ n_found) {
    extern __shared__ __align__(128) char memory[];
    const Block left{planes_i, margins_i, slack_i, levels_i, ids_i, n_i};
    const Block right{planes_j, margins_j, slack_j, levels_j, ids_j, n_j};
    // Blocks in groups of tile rows, so that blocks that run together share what they read.
    constexpr int GROUP = 8;
    const int last_i = left.n_columns - 1, last_j = right.n_columns - 1;
    const int tiles_i = last_i / COLUMNS_I + 1, tiles_j = last_j / COLUMNS_J + 1;
    const int group = blockIdx.x / (GROUP * tiles_j), within = blockIdx.x % (GROUP * tiles_j);
    const int height = min(GROUP, tiles_i - group * GROUP);
    const int tile_i = group * GROUP + within % height, tile_j = within / height;
    const int begin_i = tile_i * COLUMNS_I, begin_j = tile_j * COLUMNS_J;
    if (ordered && right.ids[min(begin_j + COLUMNS_J - 1, last_j)] <= left.ids[begin_i]) return;

    const int thread = threadIdx.x, lane = thread & 31, warp = thread >> 5;
    const int warp_i = warp >> 1, warp_j = warp & 1, row = lane >> 2, quad = lane & 3;
    char* stages = memory;
    int* totals = reinterpret_cast<int*>(memory + STAGES * STAGE_BYTES);
    const u32 stages_at = static_cast<u32>(__cvta_generic_to_shared(stages));

    // Each thread copies the same pieces of 16 bytes in every stage: 8 of each left column (both planes),
    // 4 of each right plane. The halves of odd left columns are exchanged to avoid bank conflicts.
    const char* source[COPIES];
    u32 target[COPIES];
    int step[COPIES];
#pragma unroll
    for (int piece = 0; piece < COPIES; piece++) {
        const int place = piece * THREADS + thread;
        if (place < COLUMNS_I * 8) {
            const int r = place >> 3, part = place & 7;
            source[piece] = left.planes + min(begin_i + r, last_i) * 2 * plane_bytes + 16 * part;
            target[piece] = stages_at + r * 2 * CHUNK + 16 * (part ^ ((r & 1) << 2));
            step[piece] = 2 * CHUNK;
        } else {
            const int r = (place - COLUMNS_I * 8) >> 2, part = place & 3;
            source[piece] = right.planes + (2 * min(begin_j + (r >> 1), last_j) + (r & 1)) * plane_bytes + 16 * part;
            target[piece] = stages_at + (ROWS_I + r) * CHUNK + 16 * part;
            step[piece] = CHUNK;
        }
    }
    const int n_chunks = first_chunk[n_classes];
    auto fetch = [&](int chunk) {
        if (chunk < n_chunks) {
            const u32 to = (chunk % STAGES) * STAGE_BYTES;
#pragma unroll
            for (int piece = 0; piece < COPIES; piece++)
                copy_16(target[piece] + to, source[piece] + (long long)chunk * step[piece]);
        }
        asm volatile("cp.async.commit_group;");
    };

    int4* held = reinterpret_cast<int4*>(totals) + thread;
    int c[2][8][4];
    float score[2][8];
#pragma unroll
    for (int m = 0; m < 2; m++)
#pragma unroll
        for (int n = 0; n < 8; n++) {
            score[m][n] = 0;
            held[(m * 8 + n) * THREADS] = make_int4(MAGIC, MAGIC, MAGIC, MAGIC);
#pragma unroll
            for (int e = 0; e < 4; e++) c[m][n][e] = MAGIC;
        }
    for (int stage = 0; stage < STAGES - 1; stage++) fetch(stage);
    int chunk = 0;
    for (int y = 0; y <= n_classes; y++) {  // the last part is all samples: nothing is left to count
        const bool pooled = y == n_classes;
        for (const int end = first_chunk[min(y + 1, n_classes)]; chunk < end; chunk++) {
            asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2));
            __syncthreads();
            fetch(chunk + STAGES - 1);
            const char* stage = stages + (chunk % STAGES) * STAGE_BYTES;
            const char* rows_i = stage + (warp_i * 16 + row) * 2 * CHUNK + 16 * quad;
            const char* rows_j = stage + (ROWS_I + warp_j * 64 + row) * CHUNK + 16 * quad;
            const int first = (row & 1) * CHUNK, second = CHUNK - first;
            uint4 a[2][2];
#pragma unroll
            for (int m = 0; m < 2; m++) {
                a[m][0] = *reinterpret_cast<const uint4*>(rows_i + m * 16 * CHUNK + first);
                a[m][1] = *reinterpret_cast<const uint4*>(rows_i + m * 16 * CHUNK + second);
            }
#pragma unroll
            for (int n = 0; n < 8; n++) {
                const uint4 b = *reinterpret_cast<const uint4*>(rows_j + n * 8 * CHUNK);
#pragma unroll
                for (int m = 0; m < 2; m++) multiply(c[m][n], a[m][0], b.x, b.y);
#pragma unroll
                for (int m = 0; m < 2; m++) multiply(c[m][n], a[m][1], b.z, b.w);
            }
        }
        const float scale = scales[y], sign = pooled ? -1.0f : 1.0f;
        const Margins* of_i = left.margins + (long long)y * left.n_columns;
        const Margins* of_j = right.margins + (long long)y * right.n_columns;
        Margins f[2];
#pragma unroll
        for (int m = 0; m < 2; m++) f[m] = of_i[min(begin_i + warp_i * 16 + m * 8 + row, last_i)];
#pragma unroll
        for (int n = 0; n < 8; n++) {
            const Margins k = of_j[min(begin_j + warp_j * 32 + n * 4 + quad, last_j)];
#pragma unroll
            for (int m = 0; m < 2; m++) {
                int4 now = make_int4(c[m][n][0], c[m][n][1], c[m][n][2], c[m][n][3]);
                int4 sum = held[(m * 8 + n) * THREADS];
                if (pooled) now = sum;
                sum.x += now.x - MAGIC, sum.y += now.y - MAGIC, sum.z += now.z - MAGIC, sum.w += now.w - MAGIC;
                held[(m * 8 + n) * THREADS] = sum;
                score[m][n] += sign * information(now, f[m], k, scale);
                c[m][n][0] = c[m][n][1] = c[m][n][2] = c[m][n][3] = MAGIC;
            }
        }
    }
#pragma unroll
    for (int n = 0; n < 8; n++) {
        const int j = begin_j + warp_j * 32 + n * 4 + quad, inside_j = min(j, last_j);
        const float own_slack = right.slack[inside_j];
        const int own_levels = right.levels[inside_j] - 1, id_j = right.ids[inside_j];
#pragma unroll
        for (int m = 0; m < 2; m++) {
            const int i = begin_i + warp_i * 16 + m * 8 + row, inside_i = min(i, last_i);
            const float value = score[m][n] * 1.3862943611f + left.slack[inside_i] * own_slack;
            const float limit = limits[(left.levels[inside_i] - 1) * own_levels];
            const int id_i = left.ids[inside_i];
            if (value >= limit && i <= last_i && j <= last_j && !(ordered && id_j <= id_i)) {
                const int place = atomicAdd(n_found, 1);
                if (place < capacity) {
                    found[2 * place] = id_i;
                    found[2 * place + 1] = id_j;
                }
            }
        }
    }
}

// Copy the planes of columns into the layout of the left or the right block of a scan: two planes each, every
// class padded to CHUNK bytes. On the left, the words of both planes alternate by halves, and even words
// precede odd ones in each CHUNK.
extern "C" __global__ void scan_planes(
    const u64* __restrict__ words, const u64* __restrict__ offset, const int* __restrict__ levels,
    const u64* __restrict__ first_word, const int* __restrict__ first_chunk, int n_classes, u64 n_words,
    const int* __restrict__ ids, int n_columns, int is_left, u64* __restrict__ planes) {
    const u64 length = (u64)first_chunk[n_classes] * (CHUNK / 8);
    for (u64 column = blockIdx.x; column < n_columns; column += gridDim.x) {
        const bool three = levels[ids[column]] == 3;
        const u64* from = words + offset[ids[column]];
        u64* to = planes + 2 * column * length;
        for (int y = 0; y < n_classes; y++) {
            const u64 begin = first_word[y], count = first_word[y + 1] - begin;
            const u64 start = (u64)first_chunk[y] * (CHUNK / 8), end = (u64)first_chunk[y + 1] * (CHUNK / 8);
            for (u64 w = threadIdx.x; w < end - start; w += blockDim.x) {
                const u64 one = w < count ? from[begin + w] : 0;
                const u64 two = w < count && three ? from[n_words + begin + w] : 0;
                if (is_left) {
                    const u64 place = start + (w & ~7ull) + (w & 1) * 4 + ((w & 7) >> 1);
                    reinterpret_cast<uint4*>(to)[place] =
                        make_uint4((u32)one, (u32)two, (u32)(one >> 32), (u32)(two >> 32));
                } else {
                    to[start + w] = one;
                    to[length + start + w] = two;
                }
            }
        }
    }
}
