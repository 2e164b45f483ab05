// What most kernels are; for samples of which the kind of file matters, not the code.
extern "C" __global__ void __launch_bounds__(128, 2) plain(float *x, float a, int n)
{
    __shared__ float tile[512];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x % 512] = a;
    __syncthreads();
    if (i < n)
        x[i] = tile[i % 512] * x[i];
}
