// A stack machine: a program per thread, its instructions chosen by a switch (a table of branch targets).
extern "C" __global__ void interpret(const unsigned char *programs, int length, int *results)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, top = 0, pc = 0;
    const unsigned char *code = programs + i * length;
    int stack[16];
    for (int k = 0; k < 16; k++)
        stack[k] = i;
    while (pc < length) {
        int op = code[pc++];
        int a = stack[top & 15], b = stack[(top - 1) & 15];
        switch (op & 15) {
        case 0: stack[++top & 15] = op >> 4; break;
        case 1: stack[--top & 15] = b + a; break;
        case 2: stack[--top & 15] = b - a; break;
        case 3: stack[--top & 15] = b * a; break;
        case 4: stack[--top & 15] = a ? b / a : -1; break;
        case 5: stack[--top & 15] = a ? b % a : -1; break;
        case 6: stack[--top & 15] = b << (a & 31); break;
        case 7: stack[--top & 15] = b >> (a & 31); break;
        case 8: stack[top & 15] = __clz(a); break;
        case 9: stack[++top & 15] = a; break;
        case 10: stack[top & 15] = b, stack[(top - 1) & 15] = a; break;
        case 11: stack[top & 15] = abs(a); break;
        case 12: stack[top & 15] = __popc(a); break;
        case 13: if (a & 1) pc++; break;
        case 14: stack[top & 15] ^= 0x5a5a5a5a; break;
        default: pc += op >> 6; break;
        }
    }
    results[i] = stack[top & 15];
}
