// Spills, an array and an inlined call in little code: the seed of the fuzz target that reads line tables.
__device__ __forceinline__ int add(int a, int b)
{
    return a + b * 3;
}

extern "C" __global__ void __maxnreg__(24) small(const int *in, int *out, int n)
{
    int v[24], w[2];
#pragma unroll
    for (int k = 0; k < 24; k++)
        v[k] = in[k * n];
    w[n & 1] = w[~n & 1] = n;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 24; k++)
        out[k * n] = add(v[k], v[23 - k]) + w[k & n & 1];
}
