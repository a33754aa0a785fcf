// Allocations that fail (see fault/failing_new.h).
#include "fault/failing_new.h"

#include <cstdlib>
#include <new>

namespace {

thread_local std::uint64_t made = 0;
thread_local std::uint64_t failing = ~std::uint64_t{0};

void count() {
  if (made++ == failing) throw std::bad_alloc();
}

}  // namespace

#ifdef NMB_TEST_WRAPPED_NEW
// A sanitizer has the operators already: the linker puts these ahead of them, for all that is
// linked into the program.
extern "C" {
void* __real__Znwm(std::size_t size);
void* __real__ZnwmSt11align_val_t(std::size_t size, std::align_val_t alignment);
void* __wrap__Znwm(std::size_t size) {
  count();
  return __real__Znwm(size);
}
void* __wrap__ZnwmSt11align_val_t(std::size_t size, std::align_val_t alignment) {
  count();
  return __real__ZnwmSt11align_val_t(size, alignment);
}
}
#else
namespace {

void* allocate(std::size_t size, std::size_t alignment) {
  count();
  size = (size + alignment - 1) / alignment * alignment;
  void* const memory = std::aligned_alloc(alignment, size == 0 ? alignment : size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(std::size_t size) { return allocate(size, __STDCPP_DEFAULT_NEW_ALIGNMENT__); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return allocate(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
#endif

namespace nmb::test {

void fail_allocation(std::uint64_t number) {
  made = 0;
  failing = number;
}

std::uint64_t stop_failing() {
  failing = ~std::uint64_t{0};
  return made;
}

}  // namespace nmb::test
