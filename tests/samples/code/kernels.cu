// One kernel for each thing that a reader of machine code must know. make_samples.py builds the samples from it.

__device__ __forceinline__ float mix(float a, float b)
{
    return a * 1.5f + b;
}

__device__ __forceinline__ float blend(float a, float b, float c)
{
    return mix(a, b) * mix(b, c);
}

extern "C" __global__ void plain(float *x, float a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = a * x[i];
}

// More values alive than registers are allowed.
extern "C" __global__ void __maxnreg__(24) spill(const float *in, float *out, int n)
{
    float v[24];
#pragma unroll
    for (int k = 0; k < 24; k++)
        v[k] = in[threadIdx.x + k * n];
    __syncthreads();
    float sum = 0;
#pragma unroll
    for (int k = 0; k < 24; k++)
        sum = blend(sum, v[k], v[23 - k]);
#pragma unroll
    for (int k = 0; k < 24; k++)
        out[threadIdx.x + k * n] = v[k] * sum;
}

// Local memory that is no spill: an array with an index known at run time only.
extern "C" __global__ void local_array(const int *in, float *out, int n)
{
    float v[16];
    for (int k = 0; k < 16; k++)
        v[k] = in[k] * 0.5f;
    for (int k = 0; k < n; k++)
        v[in[k] & 15] += 1.0f;
    out[threadIdx.x] = v[in[threadIdx.x] & 15];
}

// Both at once.
extern "C" __global__ void __maxnreg__(32)
    spill_and_array(const int *at, const double *in, double *out, int n)
{
    double v[14], w[16];
    for (int k = 0; k < 16; k++)
        w[k] = in[k] + n;
    for (int k = 0; k < n; k++)
        w[at[k] & 15] += in[k];
#pragma unroll
    for (int k = 0; k < 14; k++)
        v[k] = in[threadIdx.x + k * n];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 14; k++)
        out[threadIdx.x + k * n] = v[k] * v[13 - k] + w[at[k] & 15];
}

extern "C" __global__ void tile(float *x)
{
    __shared__ float t[32][33];
    extern __shared__ float more[];
    t[threadIdx.y][threadIdx.x] = x[threadIdx.y * 32 + threadIdx.x];
    __syncthreads();
    x[threadIdx.x * 32 + threadIdx.y] = t[threadIdx.x][threadIdx.y] + more[threadIdx.x];
}

extern "C" __global__ void barriers(float *x)
{
    asm volatile("bar.sync 1, 64;");
    x[threadIdx.x] += 1;
    asm volatile("bar.sync 5, 64;");
    x[threadIdx.x + 1] += 1;
    __syncthreads();
}

template <typename T, int N> struct box {
    T at[N];
};

template <typename T, int N> __global__ void templated(box<T, N> b, T *out)
{
    out[threadIdx.x] = b.at[threadIdx.x % N];
}
template __global__ void templated<double, 4>(box<double, 4>, double *);

__device__ __noinline__ int depth(int n)
{
    return n < 2 ? 1 : depth(n - 1) + depth(n - 2);
}

extern "C" __global__ void recursive(int *x)
{
    x[threadIdx.x] = depth(x[threadIdx.x]);
}

#if __CUDA_ARCH__ >= 900
extern "C" __global__ void __cluster_dims__(4, 2, 1) clustered(float *x)
{
    x[threadIdx.x] += 1;
}
#endif

extern "C" __global__ void __launch_bounds__(192) bounded(float *x)
{
    x[threadIdx.x] += 1;
}
