// Classes: operators, constructors, inheritance, destructors that do something, members of static kind.

class Complex {
  public:
    __host__ __device__ Complex(float re = 0, float im = 0) : re_(re), im_(im) {}
    __device__ Complex operator+(const Complex &o) const { return {re_ + o.re_, im_ + o.im_}; }
    __device__ Complex operator*(const Complex &o) const { return {re_ * o.re_ - im_ * o.im_, re_ * o.im_ + im_ * o.re_}; }
    __device__ float norm() const { return re_ * re_ + im_ * im_; }
    __device__ explicit operator bool() const { return re_ != 0 || im_ != 0; }

  private:
    float re_, im_;
};

class Counter {
  public:
    __device__ explicit Counter(int *place) : place_(place) { *place_ += 1; }
    __device__ ~Counter() { *place_ *= 2; }

  private:
    int *place_;
};

struct Base { int first; __device__ int twice() const { return 2 * first; } };
struct Derived : Base {
    static constexpr int offset = 7;
    int second;
    __device__ Derived(int a, int b) : Base{a}, second(b) {}
    __device__ int total() const { return twice() + second + offset; }
};

// run: mandelbrot(out i32[1024], i32=32, i32=32) grid=(4,4) block=(8,8)
extern "C" __global__ void mandelbrot(int *c, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    Complex point(x * 0.09375f - 2.0f, y * 0.0625f - 1.0f), z;
    int steps = 0;
    while (steps < 50 && z.norm() < 4.0f) {
        z = z * z + point;
        steps++;
    }
    c[y * width + x] = z ? steps : -steps;
}

// run: objects(in i32[333], out i32[333], i32=333) grid=(3) block=(128)
extern "C" __global__ void objects(const int *a, int *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int place = a[i];
    {
        Counter first(&place);
        if (place & 1)
            Counter second(&place);
        place += Derived(a[i], i).total();
    }
    c[i] = place;
}
