// Matching short queries against a suffix tree of a reference (GPGPU-Sim's MUM, mummergpuKernel). A thread aligns one
// query: from each of its letters on it follows the tree until a letter differs, then goes on from the suffix link of
// the last node. What the original writes for every start and reports on the host, the longest match, is kept here in
// registers.
//
// Inner nodes have the numbers 0 (the root) to inner - 1; inner + s is the leaf of the suffix that begins at s.

struct Node {
    ushort4 children; // by the next letter, 0 = none
    ushort4 path;     // the suffix link; the place where the string of the node first occurs, and its length
};

extern "C" __global__ void __launch_bounds__(256)
mummergpuKernel(const Node *nodes, const unsigned char *reference, int reference_length, int inner,
                const unsigned char *queries, int length, int n_queries, int min_match, unsigned *matches)
{
    int query = blockIdx.x * blockDim.x + threadIdx.x;
    if (query >= n_queries) return;
    const unsigned char *text = queries + query * length;

    int node = 0, depth = 0, link = 0; // the last node passed, the length of its string, and its suffix link
    int place = 0;                     // where what has matched occurs first
    int known = 0;                     // letters from `start` on that are known to occur
    unsigned best = 0;                 // length, start and place in one word

    for (int start = 0; start + min_match <= length; start++) {
        while (start + depth < length) {
            int letter = text[start + depth];
            ushort4 child = nodes[node].children;
            int next = letter & 2 ? (letter & 1 ? child.w : child.z) : (letter & 1 ? child.y : child.x);
            if (next == 0) {
                known = depth;
                break;
            }
            int end, next_link = 0;
            if (next < inner) {
                ushort4 below = nodes[next].path;
                next_link = below.x;
                place = below.y;
                end = below.z;
            } else {
                place = next - inner;
                end = reference_length - place;
            }
            int at = max(known, depth + 1); // the first letter of the edge has led here
            while (at < end && start + at < length && reference[place + at] == text[start + at]) at++;
            known = at;
            if (at < end || next >= inner) break;
            node = next;
            link = next_link;
            depth = end;
        }
        if (known > best >> 24) best = known << 24 | start << 16 | place;
        // the next suffix: without its first letter, what is known is still known
        if (known > 0) known--;
        if (node != 0) {
            ushort4 path = nodes[link].path;
            node = link;
            link = path.x;
            place = path.y;
            depth--;
        } else {
            place++;
        }
    }
    matches[query] = best;
}
