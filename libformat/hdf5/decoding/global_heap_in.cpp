#include "decoding/global_heap_in.h"

#include <algorithm>
#include <cstring>

#include "wire/endian.h"

namespace nmb::hdf5 {

namespace {

constexpr std::size_t kCollectionHead = 16, kObjectHead = 16;
constexpr std::size_t kUsualCollection = 4096, kMostCollection = 64 << 10;

}  // namespace

bool GlobalHeapIn::read(std::uint64_t address) {
  address_.reset();
  objects_.clear();
  if (address >= file_.size()) return false;
  const auto read_from = [&](std::size_t begin) {
    return file_.read(address + begin, std::span(bytes_).subspan(begin));
  };
  bytes_.resize(std::min<std::uint64_t>(kUsualCollection, file_.size() - address));
  if (bytes_.size() < kCollectionHead || !read_from(0) ||
      std::memcmp(bytes_.data(), "GCOL\1", 5) != 0)
    return false;
  const auto length = load_le<std::uint64_t>(bytes_.data() + 8);
  if (length < kCollectionHead || length > kMostCollection || !file_.has(address, length))
    return false;
  const std::size_t read_so_far = bytes_.size();
  bytes_.resize(length);
  if (length > read_so_far && !read_from(read_so_far)) return false;

  std::size_t position = kCollectionHead;
  while (length - position >= kObjectHead) {
    const std::byte* const head = bytes_.data() + position;
    const std::size_t index = load_le<std::uint16_t>(head);
    if (index == 0) break;  // object 0 is the free space, which comes last
    const auto bytes = load_le<std::uint64_t>(head + 8);
    position += kObjectHead;
    if (bytes > length - position) return false;
    if (index >= objects_.size()) objects_.resize(index + 1);
    if (objects_[index].present) return false;
    objects_[index] = {position, bytes, true};
    position += std::min<std::uint64_t>((bytes + 7) & ~std::uint64_t{7}, length - position);
  }
  address_ = address;
  return true;
}

std::optional<std::span<const std::byte>> GlobalHeapIn::object(std::uint64_t address,
                                                               std::uint32_t index) {
  if (address_ != address && !read(address)) return std::nullopt;
  if (index >= objects_.size() || !objects_[index].present) return std::nullopt;
  return std::span(bytes_).subspan(objects_[index].begin, objects_[index].length);
}

}  // namespace nmb::hdf5
