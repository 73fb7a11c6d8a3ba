// ---- what the launcher takes from the language: C++ here, C where kernels are embedded

#define CF_UNUSED [[maybe_unused]]
#define CF_THREAD_LOCAL thread_local
#define CF_ATOMIC(type) std::atomic<type>
#define CF_LOAD(place) (place).load(std::memory_order_acquire)
#define CF_STORE(place, value) (place).store(value, std::memory_order_release)
// Whether the value was that of `expected` and is the new one now; `expected` is then what it was.
#define CF_EXCHANGE(place, expected, value) (place).compare_exchange_strong(expected, value)
