// Memory from the heap of the device, and printing.
#include <cstdio>
#include <cstdlib>

// run: heap_lists(in i32[64] 0..20, out i32[64]) grid=(2) block=(32)
extern "C" __global__ void heap_lists(const int *a, int *c)
{
    struct Node { int value; Node *next; };
    int i = blockIdx.x * blockDim.x + threadIdx.x, s = 0;
    Node *list = nullptr;
    for (int k = 0; k < a[i]; k++) {
        Node *node = (Node *)malloc(sizeof(Node));
        if (node == nullptr)
            break;
        node->value = k * i;
        node->next = list;
        list = node;
    }
    while (list) {
        Node *next = list->next;
        s = s * 2 + list->value;
        free(list);
        list = next;
    }
    c[i] = s;
}

// run: heap_objects(out f64[64]) grid=(2) block=(32)
extern "C" __global__ void heap_objects(double *c)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    double *row = new double[i + 1];
    for (int k = 0; k <= i; k++)
        row[k] = k * 0.5;
    double s = 0;
    for (int k = i; k >= 0; k--)
        s = s * 0.25 + row[k];
    delete[] row;
    c[i] = s;
}

extern "C" __global__ void printing(int n, float x, const char *name)
{
    printf("no arguments\n");
    printf("%d of %s: %g, %lld, %c\n", n, name, x, 1ll << 40, 'c');
}
