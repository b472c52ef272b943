// Queries against a suffix tree of a reference (GPGPU-Sim: MUM, mummergpuKernel). A thread has a query: for each of its suffixes of at
// least a minimum length it goes down the tree as far as letters agree, and stores where it ended if that is deep enough. The next suffix
// begins at the suffix link of the last node, and what is known to match is not compared again.
//
// Tree and reference lie in textures of two axes, in bands of 32 and of 4 rows, so that neighbours lie under one another. The address of
// a node is x + (y << 16); (0, 0) is none, (0, 1) the root. Queries begin with a letter that is not compared, and end with 0. The original
// names its textures in the text; here they are arguments.
// kernel.ptx and kernel.ptxplus beside this file: benchmarks/make_scratchpad_samples.py

struct Match {
    unsigned node;
    short on_edge; // letters that match on the edge to the node
};

extern "C" __global__ void
mummergpuKernel(cudaTextureObject_t nodes, cudaTextureObject_t children, cudaTextureObject_t reference, Match *matches,
                const char *queries, const int *first_letter, const int *lengths, int n_queries, int min_length)
{
    const int number = __umul24(blockIdx.x, blockDim.x) + threadIdx.x;
    if (number >= n_queries) return;
    const int length = lengths[number], at = first_letter[number];
    Match *match = matches + at - __umul24(number, min_length + 1);
    const char *query = queries + at;

    unsigned node = 0, above = 0; // a node, and the one before it on the way from the root
    int known = 0;                // letters of the edge that are known to match
    int matched = 0;              // place in the query
    const int last = length - min_length;

    for (int start = 0; start <= last; start++, match++, query++) {
        if (node == 0 || matched < 1) {
            node = 1 << 16;
            matched = 1;
            known = 0;
        }
        char letter = query[matched];
        int place = 0, edge = 0; // in the reference: the next letter, and the first of the edge
        bool no_child = false;
        while (letter != 0) {
            const uint4 next = tex2D<uint4>(children, node & 0xffff, node >> 16);
            above = node;
            switch (letter) {
            case 'A': node = next.x; break;
            case 'C': node = next.y; break;
            case 'G': node = next.z; break;
            case 'T': node = next.w; break;
            default: node = 0; break;
            }
            if (node == 0) {
                no_child = true;
                break;
            }
            const uint4 found = tex2D<uint4>(nodes, node & 0xffff, node >> 16);
            edge = found.x;
            const int end = found.y;
            if (known) {
                const int letters = end - edge + 1;
                if (known >= letters) {
                    place = end + 1;
                    matched += letters;
                    known -= letters;
                } else {
                    matched += known;
                    place = edge + known;
                    known = 0;
                }
            } else {
                matched++;
                place = edge + 1;
            }
            letter = query[matched];
            bool differs = false;
            while (place <= end && letter != 0) {
                const int column = (place & 0x3ffff) >> 2, row = (place >> 18 << 2) + (place & 3);
                if (tex2D<char>(reference, column, row) != letter) {
                    differs = true;
                    break;
                }
                matched++;
                place++;
                letter = query[matched];
            }
            if (differs) break;
        }
        const unsigned reported = no_child ? above : node;
        const int on_edge = no_child ? 0 : place - edge;
        if (matched > min_length) {
            const unsigned x = reported & 0xffff, y = reported >> 16;
            match->node = (x << 5) + (y & 31) + (y >> 5 << 17);
            match->on_edge = on_edge;
        }
        known = on_edge;
        matched -= on_edge + 1;
        node = tex2D<uint4>(nodes, above & 0xffff, above >> 16).w;
    }
}
