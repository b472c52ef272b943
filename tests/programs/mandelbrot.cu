// Escape times: loops that lanes leave one by one. Products and sums rounded one by one.
extern "C" __global__ void mandelbrot(unsigned char *out, int width, float x0, float y0, float step, int most)
{
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y, n = 0;
    float cx = __fadd_rn(x0, __fmul_rn(step, px)), cy = __fadd_rn(y0, __fmul_rn(step, py)), x = 0, y = 0;
    for (; n < most; n++) {
        float xx = __fmul_rn(x, x), yy = __fmul_rn(y, y);
        if (__fadd_rn(xx, yy) > 4.0f)
            break;
        y = __fadd_rn(__fmul_rn(__fadd_rn(x, x), y), cy);
        x = __fadd_rn(__fsub_rn(xx, yy), cx);
    }
    out[py * width + px] = n;
}
