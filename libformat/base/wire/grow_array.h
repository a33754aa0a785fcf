// Internal to the library. This header is public only because Metadata has members of this class
// and must inline its functions.
//
// GrowArray: a vector of plain values. The vector first allocates room for two values, and grows by
// realloc. Tens of thousands of small blocks therefore need little memory, and the arrays of a
// block with a million objects can grow in place.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

namespace nmb {

template <class T>
class GrowArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  GrowArray() = default;
  GrowArray(const GrowArray& other) { append(other.data_, other.size_); }
  GrowArray(GrowArray&& other) noexcept { swap(other); }
  GrowArray& operator=(GrowArray other) noexcept {
    swap(other);
    return *this;
  }
  ~GrowArray() {
    if (!borrowed_) std::free(data_);
  }

  std::uint32_t size() const { return size_; }
  std::uint32_t capacity() const { return capacity_; }
  bool empty() const { return size_ == 0; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }

  // Reserves room for `count` more values. Throws std::bad_alloc if memory is exhausted or the size
  // would exceed 2^32 - 1; callers should refuse such sizes earlier.
  void reserve_more(std::uint64_t count) {
    std::uint64_t need = std::uint64_t{size_} + count;
    if (need <= capacity_) return;
    if (need > std::numeric_limits<std::uint32_t>::max()) throw std::bad_alloc();
    std::uint64_t grown = std::uint64_t{capacity_} * 2;
    if (grown < 2) grown = 2;
    if (grown < need) grown = need;
    if (grown > std::numeric_limits<std::uint32_t>::max())
      grown = std::numeric_limits<std::uint32_t>::max();
    void* moved = std::realloc(borrowed_ ? nullptr : static_cast<void*>(data_), grown * sizeof(T));
    if (!moved) throw std::bad_alloc();
    if (borrowed_ && size_ > 0) std::memcpy(moved, static_cast<void*>(data_), size_ * sizeof(T));
    data_ = static_cast<T*>(moved);
    capacity_ = static_cast<std::uint32_t>(grown);
    borrowed_ = false;
  }
  void push_back(T value) {
    reserve_more(1);
    data_[size_++] = value;
  }
  // `values` may point into this array.
  void append(const T* values, std::uint64_t count) {
    if (count <= capacity_ - size_)
      copy_in(values, count);
    else
      append_two(values, count, nullptr, 0);
  }
  // `first` and `second` may point into this array.
  void append_two(const T* first, std::uint64_t first_count, const T* second,
                  std::uint64_t second_count) {
    if (first_count + second_count > capacity_ - size_) {
      const auto place_of = [this](const T* values) {
        const bool own = !std::less<>()(values, data_) && std::less<>()(values, data_ + size_);
        return own ? values - data_ : std::ptrdiff_t{-1};
      };
      const std::ptrdiff_t first_place = place_of(first), second_place = place_of(second);
      reserve_more(first_count + second_count);
      if (first_place >= 0) first = data_ + first_place;
      if (second_place >= 0) second = data_ + second_place;
    }
    copy_in(first, first_count);
    copy_in(second, second_count);
  }
  // Makes an empty array use `room`, which is memory for `count` values. Another object owns
  // `room`, which must outlive the array. If the array outgrows `room`, it moves to memory of its
  // own.
  void start_in(void* room, std::uint32_t count) {
    assert(!data_);
    data_ = static_cast<T*>(room);
    capacity_ = count;
    borrowed_ = true;
  }
  bool is_borrowed() const { return borrowed_; }
  // Makes an empty array share the values of `other`. The values of `other` must be in borrowed
  // memory, which start_in() uses. Both arrays may grow afterwards but must not change these
  // values.
  void share(const GrowArray& other) {
    assert(other.borrowed_);
    start_in(other.data_, other.size_);
    size_ = capacity_;
  }
  // Makes an empty array the owner of `room`, which is memory for `count` values. The memory must
  // come from malloc, calloc or realloc.
  void adopt(void* room, std::uint64_t count) {
    start_in(room, static_cast<std::uint32_t>(count));
    borrowed_ = false;
  }
  // Appends `count` values with all bits zero.
  void append_zeros(std::uint64_t count) {
    if (count == 0) return;
    reserve_more(count);
    std::memset(static_cast<void*>(data_ + size_), 0, count * sizeof(T));
    size_ += static_cast<std::uint32_t>(count);
  }
  // Removes all values. If the array owns its memory, it keeps the memory. If the memory is
  // borrowed, the array no longer uses it.
  void clear() {
    size_ = 0;
    if (borrowed_) *this = {};
  }
  // Frees memory that is not used.
  void shrink() {
    if (size_ == capacity_ || borrowed_) return;
    if (size_ == 0) {
      std::free(data_);
      data_ = nullptr;
    } else if (void* moved = std::realloc(static_cast<void*>(data_), size_ * sizeof(T))) {
      data_ = static_cast<T*>(moved);
    }
    capacity_ = size_;
  }
  std::span<const T> span() const { return {data_, size_}; }
  void swap(GrowArray& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
    std::swap(borrowed_, other.borrowed_);
  }

 private:
  void copy_in(const T* values, std::uint64_t count) {
    if (count == 0) return;
    std::memcpy(static_cast<void*>(data_ + size_), values, count * sizeof(T));
    size_ += static_cast<std::uint32_t>(count);
  }

  T* data_ = nullptr;
  std::uint32_t size_ = 0;
  std::uint32_t capacity_ = 0;
  bool borrowed_ = false;
};

}  // namespace nmb
